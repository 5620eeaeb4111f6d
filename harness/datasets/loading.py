"""Load ratings by name, from a file, from an object, or synthetic ones."""

from __future__ import annotations

import codecs
import io
import math
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from harness.datasets.catalogue import DataSet, cache_folder, is_archive
from harness.datasets.cleaning import Policy, outliers
from harness.datasets.columns import Table
from harness.datasets.download import fetch, find_local, inspect, open_member
from harness.datasets.lastfm import read_plays, read_plays_as_pandas
from harness.datasets.layout import ENDINGS, RATINGS, TextFormat, find_columns, names_columns
from harness.datasets.ratings import Ratings
from harness.datasets.reading import (
    Progress,
    Watched,
    read_file,
    read_sample,
    read_text,
    unmarked_encoding,
)
from harness.datasets.section import DatasetName, DatasetSection, SyntheticSection
from harness.errors import DataError, suggestion
from harness.files import hold

__all__ = ["Detected", "detect", "first_lines", "load"]

LOCK_PATIENCE = 3600.0
ROLES = tuple(RATINGS.kinds)
LINES = 200
"""Lines that are searched for a decimal comma."""

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
    section = source if isinstance(source, DatasetSection) else _section(source)
    what = section.data_set
    if what is None:
        return _load_file(section, base, progress)
    if what.kind == "synthetic":
        from harness.datasets.synthetic import make_up  # imports Numba

        return make_up(section.synthetic or SyntheticSection())
    if what.kind == "bundled":
        table = read_file(
            Path(__file__).parent / "bundled/ratings.parquet", TextFormat(), what.name
        )
        policy = Policy(scale=what.scale)
        return Ratings.from_table(table, policy, what.name, what.licence, what.citation)
    if section.like == "pandas":
        what = replace(what, content="plays, as pandas")
    return _load_named(what, section, (cache or cache_folder()) / "datasets", base, progress)


def _section(source: Any) -> DatasetSection:
    if isinstance(source, Path):
        source = {"path": str(source)}
    if not isinstance(source, str | Mapping):
        raise DataError(
            f"dataset: {repr(source)[:60]} is not ratings; give the name of a data set, a path, "
            "the dataset part of a config, a DataFrame, a surprise.Dataset or Ratings"
        )
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


def _policy(section: DatasetSection, scale: tuple[float, float] | None) -> Policy:
    return Policy(
        section.duplicates, section.missing, section.out_of_scale, scale, section.unreadable
    )


def _load_file(section: DatasetSection, base: Path | None, progress: Progress | None) -> Ratings:
    written = Path(str(section.path)).expanduser()
    path = (base or Path()) / written
    if not path.is_file():
        raise DataError(f"{written}: {_absent(path)}")
    if section.format is None and path.suffix.casefold() in _PACKED:
        raise DataError(f"{written}: packed; unpack it and give the file of ratings in it")
    columns = section.columns.model_dump(exclude_unset=True) if section.columns else {}
    known = TextFormat(
        section.format,
        section.separator,
        section.header,
        section.encoding,
        {role: each for role, each in columns.items() if each or role == "timestamp"},
        section.decimal,
    )
    table = read_file(path, known, str(written), progress)
    return Ratings.from_table(table, _policy(section, section.scale), path.stem)


def _absent(path: Path) -> str:
    if path.is_dir():
        return "a folder; give the file of ratings in it"
    if path.exists():
        return "not a regular file; give a file of ratings"
    folder = path.parent
    if not folder.is_dir():
        return f"no such file, as there is no folder {folder}; check the path"
    beside = sorted(each.name for each in folder.iterdir() if each.is_file())[:50]
    return f"no such file in {folder.resolve()}; {suggestion(path.name, beside)}"


def _load_named(
    what: DataSet,
    section: DatasetSection,
    downloads: Path,
    base: Path | None,
    progress: Progress | None,
) -> Ratings:
    """Load from a copy on this machine, else from the network."""
    policy = _policy(section, what.scale if math.isfinite(what.scale[1]) else None)
    if "duplicates" not in section.model_fields_set:
        policy = replace(policy, duplicates=what.duplicates)
    notes: list[str] = []
    with ExitStack() as held:
        if section.path is not None:
            path = inspect((base or Path()) / Path(section.path).expanduser(), what)
        else:
            path = _copy(what, downloads, base, progress, notes, held)
        read = _reader(what)
        if is_archive(path):
            opened = open_member(path, what.member, what.member_bytes, progress)
            table = read(held.enter_context(opened), where=f"{path}!{what.member}")
        else:
            file = Watched(held.enter_context(path.open("rb")), progress, path.stat().st_size)
            table = read(io.BufferedReader(file), where=str(path))
    ratings = Ratings.from_table(table, policy, what.name, what.licence, what.citation)
    if not is_archive(path) and what.known_hash and what.hash_of(path) is None:
        size = (len(ratings), ratings.n_users)
        if size != (what.n_ratings, what.n_users):
            raise DataError(
                f"{path}: {size[0]:,} ratings by {size[1]:,} users, but {what.name} has "
                f"{what.n_ratings:,} by {what.n_users:,}; leave out name to read it as your own"
            )
    return replace(ratings, notes=(*ratings.notes, *notes))


def _copy(
    what: DataSet,
    downloads: Path,
    base: Path | None,
    progress: Progress | None,
    notes: list[str],
    held: ExitStack,
) -> Path:
    """Return a copy of a data set, which one process at a time may fetch."""
    folder = downloads / what.name
    with ExitStack() as lock:
        try:
            lock.enter_context(hold(folder / ".lock", LOCK_PATIENCE))
        except TimeoutError:
            raise DataError(
                f"{folder}: another process has held it for {LOCK_PATIENCE:.0f} s; "
                "wait for it or end it"
            ) from None
        except OSError:  # no process writes to a folder to read only; a disk without locks
            pass
        path, skipped = find_local(what, downloads, base)
        notes += skipped
        if path is not None:
            return path
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            notes.append(f"download not kept for the next run: {error}")
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))
        return fetch(what, folder, progress)


def _reader(what: DataSet) -> Callable[..., Table]:
    """Return what reads the ratings of a data set, called with a stream and ``where``."""
    if what.content == "ratings":
        return partial(read_text, known=TextFormat(separator=what.separator, encoding="utf-8"))
    return read_plays if what.content == "plays" else read_plays_as_pandas


@dataclass(frozen=True)
class Detected:
    """A file of ratings, as a config describes it.

    `section` is the ``dataset`` part of a config, `ratings` are the usable rows, and `faults` names
    every row that the section, which decides about none, refuses.
    """

    section: dict[str, Any]
    ratings: Ratings
    faults: str


def first_lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the fields of the first line of a file, header or not, and its first rows as text.

    There are at most `LINES` rows, the first line among them; none of a Parquet file.
    """
    kind = ENDINGS.get(path.suffix.casefold())
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return list(pq.read_schema(path).names), []
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).splitlines()[0][:160]
            raise DataError(f"{path}: not a Parquet file that can be read ({reason})") from None
    with path.open("rb") as file:
        rows = read_sample(file, TextFormat(kind, encoding=_encoding(path)), str(path), LINES)
    return rows[0], rows


def detect(path: Path, columns: Mapping[str, str | int] | None = None) -> Detected:
    r"""Read a file of ratings and find its columns, its scale and its encoding.

    `columns` gives a name, or a position from 1, for roles that cannot be found by usual names.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("userId;movieId;stars\n7;10;4,5\n7;11;2,0\n")
    >>> found = detect(path)
    >>> found.section["columns"], found.section["scale"], found.section["decimal"]
    ({'user': 'userId', 'item': 'movieId', 'rating': 'stars'}, [2, 4.5], ',')
    """
    names, rows = first_lines(path)
    section: dict[str, Any] = {"path": str(path)}
    # A first line of ratings has a number in its third field.
    like_ratings = len(names) > 2 and re.fullmatch(r"\s*-?\d+([.,]\d*)?\s*", names[2])
    header = not rows or bool(columns) or names_columns(names) or not like_ratings
    if header:
        found = find_columns(names, dict(columns or {}), str(path))
        section["columns"] = {role: names[place] for role, place in found.items()}
    else:
        found = dict(zip(ROLES, range(len(names)), strict=False))
        section["columns"] = {role: place + 1 for role, place in found.items()}
    if rows:
        encoding = _encoding(path)
        if encoding:
            section["encoding"] = encoding
        marks = [row[found["rating"]] for row in rows[header:] if len(row) > found["rating"]]
        if any(re.fullmatch(r"\s*-?\d+,\d+\s*", mark) for mark in marks):
            section["decimal"] = ","
    faults = ""
    try:
        ratings = load(section)
    except DataError as error:
        faults = str(error)
        policies = {"duplicates": "first", "missing": "drop", "unreadable": "drop"}
        ratings = load(section | policies | {"out_of_scale": "keep"})
    odd = outliers(ratings.ratings, *ratings.scale)
    usual = ratings.ratings if odd is None else ratings.ratings[~odd]
    ends = [float(usual.min()), float(usual.max())]
    if ends[0] < ends[1]:
        section["scale"] = [int(end) if end.is_integer() else end for end in ends]
    return Detected(section, ratings, faults)


def _encoding(path: Path) -> str | None:
    """Return the encoding that a config has to name; None for UTF-8, or where a mark says it."""
    with path.open("rb") as file:
        start = file.read(4)
        if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return None
        encoding = unmarked_encoding(start)
        if encoding:
            return encoding
        file.seek(0)
        try:
            for _ in codecs.iterdecode(iter(partial(file.read, 1 << 20), b""), "utf-8"):
                pass
        except UnicodeDecodeError:
            return "cp1252"
    return None
