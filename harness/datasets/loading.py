"""Load ratings by name, from a file, from an object, or synthetic ones."""

from __future__ import annotations

import codecs
import hashlib
import io
import json
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

from harness import files
from harness.datasets.catalogue import DataSet, cache_folder
from harness.datasets.cleaning import Policy, outliers
from harness.datasets.columns import Table, coded
from harness.datasets.download import (
    Found,
    Progress,
    fetch,
    find_local,
    inspect,
    most_bytes,
    open_member,
)
from harness.datasets.lastfm import read_plays, read_plays_as_pandas
from harness.datasets.layout import ENDINGS, RATINGS, TextFormat, find_columns, names_columns
from harness.datasets.ratings import Ratings
from harness.datasets.reading import (
    Watched,
    read_file,
    read_sample,
    read_text,
    unmarked_encoding,
)
from harness.datasets.section import DatasetName, DatasetSection, SyntheticSection
from harness.errors import DataError, suggestion

__all__ = ["Detected", "detect", "first_lines", "load", "read_kept", "write_kept"]

LOCK_PATIENCE = 3600.0
VERSION = 1
"""Raised whenever the same archive would give other columns."""
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
    table = read_file(path, known, str(written), _ticker(progress, path.stat().st_size))
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


def _ticker(progress: Progress | None, total: int) -> Callable[[int], object]:
    done = 0

    def tick(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if progress:
            progress(min(done, total), total)

    return tick


def _load_named(
    what: DataSet,
    section: DatasetSection,
    downloads: Path,
    base: Path | None,
    progress: Progress | None,
) -> Ratings:
    """Load from the kept columns, else from a copy, else from the network."""
    folder = downloads / what.name
    policy = _policy(section, what.scale if math.isfinite(what.scale[1]) else None)
    given = None
    if section.path is not None:
        given = inspect((base or Path()) / Path(section.path).expanduser(), what)
    elif what.known_hash and (kept := _kept(folder, what, policy, what.known_hash)[0]):
        return kept
    with ExitStack() as held:
        try:
            held.enter_context(files.hold(folder / ".lock", LOCK_PATIENCE))
        except TimeoutError:
            raise DataError(
                f"{folder}: another process has held it for {LOCK_PATIENCE:.0f} s; "
                "wait for it or end it"
            ) from None
        except OSError:  # no process writes to a folder to read only; a disk without locks
            pass
        found, skipped = (given, []) if given else find_local(what, downloads, base)
        if found is None:
            found = fetch(what, _writable(folder, held), progress)
        identity = what.known_hash if found.pinned and what.known_hash else found.identity
        kept, notes = _kept(folder, what, policy, identity)
        if kept is None:
            kept = _parse(found, what, policy, progress)
            _check_counts(kept, what, found)
            try:
                write_kept(_path_of_kept(folder, what, policy, identity), kept)
            except OSError as error:
                notes.append(f"columns not kept for the next run: {error}")
    return replace(kept, notes=(*kept.notes, *notes, *skipped))


def _writable(folder: Path, held: ExitStack) -> Path:
    """Return the folder or, where it cannot be written, one that lasts as long as the stack."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(held.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))


def _parse(found: Found, what: DataSet, policy: Policy, progress: Progress | None) -> Ratings:
    known = TextFormat(separator=what.separator, encoding="utf-8")
    readers: dict[str, Callable[..., Table]] = {
        "ratings": partial(read_text, known=known),
        "plays": read_plays,
        "plays, as pandas": read_plays_as_pandas,
    }
    read = readers[what.content]
    tick = _ticker(progress, what.member_bytes)
    if found.packed:
        with open_member(found.path, what.member, most_bytes(what.member_bytes), tick) as member:
            table = read(member, where=f"{found.path}!{what.member}")
    else:
        with found.path.open("rb") as file:
            table = read(io.BufferedReader(Watched(file, tick)), where=str(found.path))
    return Ratings.from_table(table, policy, what.name, what.licence, what.citation)


def _check_counts(ratings: Ratings, what: DataSet, found: Found) -> None:
    """Refuse a copy without published hash that has another size than the data set."""
    if found.pinned or found.packed or what.known_hash is None:
        return
    if (len(ratings), ratings.n_users) != (what.n_ratings, what.n_users):
        raise DataError(
            f"{found.path}: {len(ratings):,} ratings by {ratings.n_users:,} users, but {what.name} "
            f"has {what.n_ratings:,} by {what.n_users:,}; leave out name to read it as your own"
        )


def _path_of_kept(folder: Path, what: DataSet, policy: Policy, identity: str) -> Path:
    parts = [what.name, policy, identity, *([what.content] if what.content != "ratings" else [])]
    key = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:16]
    return folder / f"ratings-{key}.parquet"


def _kept(
    folder: Path, what: DataSet, policy: Policy, identity: str
) -> tuple[Ratings | None, list[str]]:
    """Return the columns of an earlier run if they are complete, else a note."""
    path = _path_of_kept(folder, what, policy, identity)
    if not path.exists():
        return None, []
    try:
        return read_kept(path, what.name, what.licence, what.citation), []
    except (DataError, OSError) as error:
        return None, [f"kept columns read again from the source: {error}"]


def write_kept(path: Path, ratings: Ratings) -> None:
    """Keep the columns of ratings for the next run as Parquet, with their fingerprint.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full; no partial file is left.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        role: pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(ids, pa.string()))
        for role, codes, ids in (
            ("user", ratings.users, ratings.user_ids),
            ("item", ratings.items, ratings.item_ids),
        )
    }
    columns["rating"] = pa.array(ratings.ratings)
    if ratings.timestamps is not None:
        columns["timestamp"] = pa.array(ratings.timestamps)
    about = {
        "version": VERSION,
        "file": path.name,
        "fingerprint": ratings.fingerprint,
        "scale": ratings.scale,
        "notes": ratings.notes,
    }
    table = pa.table(columns).replace_schema_metadata({"harness": json.dumps(about)})
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        use_dictionary=["user", "item", "rating"],
        column_encoding={"timestamp": "DELTA_BINARY_PACKED"} if "timestamp" in columns else None,
    )
    files.write_whole(path, buffer.getvalue())


def read_kept(path: Path, name: str, licence: str, citation: str) -> Ratings:
    """Return kept ratings, checked against their fingerprint.

    Raises
    ------
    DataError
        If the file is not what was written.
    OSError
        If it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = io.BytesIO(files.read_regular(path))
        table = pq.read_table(source, read_dictionary=["user", "item"])
        about = json.loads(table.schema.metadata[b"harness"])
        low, high = map(float, about["scale"])
        dated = "timestamp" in table.column_names
        columns = Table(
            {role: coded(table.column(role)) for role in ("user", "item")},
            {"rating": table.column("rating").to_numpy()},
            {"timestamp": table.column("timestamp").to_numpy()} if dated else {},
            lambda row: name,
        )
        policy = Policy(out_of_scale="keep", scale=(low, high))
        ratings = Ratings.from_table(columns, policy, name, licence, citation)
        ratings = replace(ratings, notes=tuple(map(str, about["notes"])))
        intact = about["version"] == VERSION and about["file"] == path.name
        intact = intact and about["fingerprint"] == ratings.fingerprint
    except (
        DataError, pa.ArrowException, LookupError, TypeError, ValueError, AttributeError,
    ) as error:  # fmt: skip
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise DataError(f"{path}: broken ({reason}); remove it") from None
    if not intact:
        raise DataError(f"{path}: not what was written; remove it")
    return ratings


@dataclass(frozen=True)
class Detected:
    """A file of ratings, as a config describes it.

    Attributes
    ----------
    section : dict
        The ``dataset`` part of a config: path, columns, scale, and what else reading needs.
    ratings : Ratings
        The usable rows of the file.
    faults : str
        Every row that the section, which decides about none, refuses; empty without one.
    """

    section: dict[str, Any]
    ratings: Ratings
    faults: str


def first_lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the columns of a file, and its first rows as text.

    Parameters
    ----------
    path : Path

    Returns
    -------
    names : list of str
        The fields of the first line of a text, whether it is a header or not.
    rows : list of lists of str
        At most `LINES`; the first line among them. None of a Parquet file.

    Raises
    ------
    DataError
        If the file cannot be read.
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

    Parameters
    ----------
    path : Path
    columns : mapping, optional
        From user, item, rating and timestamp to a name or a position from 1, for those that
        cannot be found by their usual names.

    Raises
    ------
    DataError
        If the file cannot be read, or a column is not found.

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
