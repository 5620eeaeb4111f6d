"""Load ratings by name, from a file, from an object, or synthetic ones."""

from __future__ import annotations

import hashlib
import io
import math
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from harness.config.data import ColumnsSection, DatasetName, DatasetSection, SyntheticSection
from harness.datasets.archives import open_member
from harness.datasets.cache import cache_folder, hold, read_parsed, write_parsed
from harness.datasets.catalogue import ALIASES, CATALOGUE, Description
from harness.datasets.cleaning import Policy
from harness.datasets.columns import Table
from harness.datasets.lastfm import read_plays, read_plays_as_pandas
from harness.datasets.layout import TextFormat
from harness.datasets.ratings import Ratings
from harness.datasets.reading import Watched, read_file, read_text
from harness.datasets.sources import Found, fetch, find_local, inspect, most_bytes
from harness.errors import DataError, suggestion

__all__ = ["Progress", "load"]

Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` in bytes; the total is 0 when unknown."""

_PACKED = (".zip", ".gz", ".bz2", ".xz", ".tar", ".zst")


def load(
    source: Any,
    *,
    cache: Path | None = None,
    base: Path | None = None,
    progress: Progress | None = None,
) -> Ratings:
    """Return the ratings of a config, a name, a path or an object.

    Parameters
    ----------
    source : str, Path, dict, DatasetSection, DataFrame, surprise.Dataset or Ratings
        A name of the catalogue, a path, the ``dataset`` part of a config, or loaded data.
    cache : Path, optional
        Where downloads are kept; `cache_folder()` when left out.
    base : Path, optional
        Where relative paths start; the working directory when left out.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes while something is downloaded or read.

    Raises
    ------
    DataError
        If there is no such data set or file, or it holds rows that cannot be used.
    DownloadError
        If a data set is not on this machine and no source provides it.

    Examples
    --------
    >>> load("bundled")
    <Ratings ml-latest-small-2016: 100,004 ratings of 9,066 items by 671 users, 0.5 to 5>
    """
    if isinstance(source, Ratings):
        return source
    if hasattr(source, "raw_ratings") or hasattr(source, "folds_files"):
        return Ratings.from_surprise(source)
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return Ratings.from_frame(source)
    if isinstance(source, Path):
        source = {"path": str(source)}
    section = source if isinstance(source, DatasetSection) else _section(source)
    if section.name == "synthetic" or section.synthetic is not None:
        return _make_up(section.synthetic or SyntheticSection())
    if section.name is None:
        return _load_file(section, base, progress)
    what = CATALOGUE[ALIASES.get(section.name, section.name)]
    if section.like == "pandas":
        what = replace(what, content="plays, as pandas")
    if what.kind == "bundled":
        path = Path(__file__).with_name("bundled") / "ratings.parquet"
        table = read_file(path, TextFormat(), what.name)
        return Ratings.from_table(
            table, Policy(scale=what.scale), what.name, what.licence, what.citation
        )
    return _load_named(what, section, (cache or cache_folder()) / "datasets", base, progress)


def _section(source: Any) -> DatasetSection:
    try:
        return DatasetSection.model_validate(source)
    except ValidationError as error:
        if isinstance(source, str):
            names = suggestion(source, get_args(DatasetName))
            raise DataError(f"dataset: no data set is called {source!r}; {names}") from None
        faults = [
            ": ".join(["dataset", ".".join(map(str, each["loc"])), each["msg"]])
            for each in error.errors()
        ]
        raise DataError("\n".join(faults)) from None


def _make_up(section: SyntheticSection) -> Ratings:
    from harness.datasets.synthetic import make_up  # imports Numba

    return make_up(section)


def _policy(section: DatasetSection, scale: tuple[float, float] | None) -> Policy:
    return Policy(
        section.duplicates, section.missing, section.out_of_scale, scale, section.unreadable
    )


def _load_file(section: DatasetSection, base: Path | None, progress: Progress | None) -> Ratings:
    written = Path(str(section.path)).expanduser()
    path = (base or Path()) / written
    if not path.is_file():
        raise DataError(f"{written}: {_missing(path)}")
    ending = path.suffix.casefold()
    if section.format is None and ending in _PACKED:
        raise DataError(f"{written}: packed; unpack it and give the file of ratings in it")
    known = TextFormat(
        section.format,
        section.separator,
        section.header,
        section.encoding,
        _named_columns(section.columns),
        section.decimal,
    )
    table = read_file(path, known, str(written), _ticker(progress, path.stat().st_size))
    policy = _policy(section, section.scale)
    return Ratings.from_table(table, policy, path.stem)


def _named_columns(columns: ColumnsSection | None) -> dict[str, str | int | None]:
    if columns is None:
        return {}
    said = {role: getattr(columns, role) for role in columns.model_fields_set}
    return {role: said[role] for role in said if said[role] is not None or role == "timestamp"}


def _missing(path: Path) -> str:
    if path.is_dir():
        return "a folder; give the file of ratings in it"
    if path.exists():
        return "not a regular file; give a file of ratings"
    folder = path.parent
    if not folder.is_dir():
        return f"no such file, as there is no folder {folder}; check the path"
    beside = sorted(each.name for each in folder.iterdir() if each.is_file())[:50]
    return f"no such file in {folder.resolve()}; {suggestion(path.name, beside)}"


def _ticker(progress: Progress | None, total: int) -> Callable[[int], object]:
    done = 0

    def tick(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if progress:
            progress(min(done, total), total)

    return tick


def _load_named(
    what: Description,
    section: DatasetSection,
    cache: Path,
    base: Path | None,
    progress: Progress | None,
) -> Ratings:
    """Load from the stored columns, else from a copy, else from the network."""
    folder = cache / what.name
    policy = _policy(section, what.scale if math.isfinite(what.scale[1]) else None)
    given = None
    if section.path is not None:
        given = inspect((base or Path()) / Path(section.path).expanduser(), what)
    elif what.known_hash and (kept := _kept(folder, what, policy, what.known_hash)[0]):
        return kept
    with hold(folder), ExitStack() as stack:
        found, skipped = (given, []) if given else find_local(what, cache, base)
        if found is None:
            found = fetch(what, _writable(folder, stack), progress)
        identity = what.known_hash if found.pinned and what.known_hash else found.identity
        kept, remarks = _kept(folder, what, policy, identity)
        if kept is None:
            kept = _parse(found, what, policy, progress)
            _check_counts(kept, what, found)
            remarks += _keep(kept, _parsed_path(folder, what, policy, identity))
    remarks += skipped
    return replace(kept, notes=(*kept.notes, *remarks)) if remarks else kept


def _writable(folder: Path, stack: ExitStack) -> Path:
    """Return the folder or, where it cannot be written, one that lasts as long as the stack."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))


def _parsed_path(folder: Path, what: Description, policy: Policy, identity: str) -> Path:
    parts = [what.name, policy, identity, *([what.content] if what.content != "ratings" else [])]
    key = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:16]
    return folder / f"ratings-{key}.parquet"


def _kept(
    folder: Path, what: Description, policy: Policy, identity: str
) -> tuple[Ratings | None, list[str]]:
    """Return the stored columns if they are complete, else a note."""
    path = _parsed_path(folder, what, policy, identity)
    if not path.exists():
        return None, []
    try:
        return read_parsed(path, what.name, what.licence, what.citation), []
    except (DataError, OSError) as error:
        return None, [f"kept columns read again from the source: {error}"]


def _keep(ratings: Ratings, path: Path) -> list[str]:
    try:
        write_parsed(path, ratings)
    except OSError as error:
        return [f"columns not kept for the next run: {error}"]
    return []


def _parse(found: Found, what: Description, policy: Policy, progress: Progress | None) -> Ratings:
    tick = _ticker(progress, what.member_bytes)
    read = _reader(what)
    if found.packed:
        with open_member(found.path, what.member, most_bytes(what.member_bytes)) as member:
            stream = io.BufferedReader(Watched(member, tick))  # type: ignore[arg-type]
            table = read(stream, where=f"{found.path}!{what.member}")
    else:
        with found.path.open("rb") as file:
            table = read(io.BufferedReader(Watched(file, tick)), where=str(found.path))
    return Ratings.from_table(table, policy, what.name, what.licence, what.citation)


def _reader(what: Description) -> Callable[..., Table]:
    """Return what reads the ratings of a data set, called with a stream, ``where`` and ``tick``."""
    if what.content == "plays":
        return read_plays
    if what.content == "plays, as pandas":
        return read_plays_as_pandas
    order = {"user": 1, "item": 2, "rating": 3, **({"timestamp": 4} if what.timestamps else {})}
    known = TextFormat(None, what.separator, what.header, "utf-8", order)
    return partial(read_text, known=known)


def _check_counts(ratings: Ratings, what: Description, found: Found) -> None:
    """Refuse a copy without published hash that has another size than the data set."""
    if found.pinned or found.packed or what.known_hash is None:
        return
    if (len(ratings), ratings.n_users) != (what.n_ratings, what.n_users):
        raise DataError(
            f"{found.path}: {len(ratings):,} ratings by {ratings.n_users:,} users, but {what.name} "
            f"has {what.n_ratings:,} by {what.n_users:,}; leave out name to read it as your own"
        )
