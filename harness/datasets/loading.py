"""Read the data that a config names: a file, the bundled ratings, or a copy of a data set."""

from __future__ import annotations

import codecs
import io
import math
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from harness.datasets import features
from harness.datasets.cleaning import merge_pairs, outliers
from harness.datasets.conversion import Coded, Table, convert
from harness.datasets.download import Progress, Watched, fetch, find_local, inspect, open_member
from harness.datasets.layout import RATINGS, Layout, Roles, TextFormat, header_and_columns, kind_of
from harness.datasets.ratings import Ratings, load
from harness.datasets.reading import (
    parquet_columns,
    read_file,
    read_sample,
    read_text,
    unmarked_encoding,
)
from harness.datasets.section import (
    DataSet,
    DatasetSection,
    FeatureFile,
    cache_folder,
    find_file,
    is_archive,
)
from harness.errors import DataError, reason_of
from harness.files import hold, placed
from harness.notes import Note

ROLES = tuple(RATINGS.kinds)
LOCK_PATIENCE = 3600.0
LINES = 200
"""Lines that are searched for a decimal comma."""

_PLAYS = TextFormat(
    encoding="utf-8",
    roles=Roles({"user": "text", "item": "text", "plays": "text"}, {}),
    layout=Layout("\t", False, 4, {"user": 0, "item": 2, "plays": 3}, quotes=False),
)
_SOUND_PLAYS = {
    "user": ("^[0-9a-f]{40}$", "without a SHA-1 for its user"),
    "item": (r"\S", "without an artist"),
    "plays": ("^0*[1-9][0-9]{0,8}$", "without a whole number of plays from 1"),
}


def load_file(section: DatasetSection, base: Path | None, progress: Progress | None) -> Ratings:
    """Load a file of one's own."""
    written = Path(str(section.path))
    path = find_file(written, base)
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
    return Ratings.from_table(table, path.stem, **section.policies)


def load_named(
    what: DataSet,
    section: DatasetSection,
    cache: Path | None,
    base: Path | None,
    progress: Progress | None,
) -> Ratings:
    """Load a data set from the package, from a copy on this machine, or from the network."""
    policies = section.policies
    if "duplicates" not in section.model_fields_set:
        policies["duplicates"] = what.duplicates
    if section.scale is None and math.isfinite(what.scale[1]):
        policies["scale"] = what.scale
    if what.kind == "bundled":
        path = Path(__file__).parent / "bundled/ratings.parquet"
        table = read_file(path, TextFormat(), what.name)
        return Ratings.from_table(table, what.name, what, **policies)
    notes: list[Note] = []
    with ExitStack() as held:
        if section.path is not None:
            path = inspect(placed(section.path, base), what)
        else:
            downloads = (cache or cache_folder()) / "datasets"
            path = _copy(what, downloads, base, progress, notes, held)
        where = str(path)
        if is_archive(path):
            where = f"{path}!{what.member}"
            stream = held.enter_context(open_member(path, what.member, what.member_bytes, progress))
        else:
            file = held.enter_context(path.open("rb"))
            stream = Watched(file, progress, path.stat().st_size).buffered()
        if section.like == "pandas":
            table = read_plays_as_pandas(stream, where)
        elif what.content == "plays":
            table = read_plays(stream, where)
        else:
            known = TextFormat(separator=what.separator, encoding="utf-8")
            table = read_text(stream, known, where)
        published = list(_features(what, path))
    ratings = Ratings.from_table(table, what.name, what, **policies)
    for role, described, data in published:
        ratings = features.add_published(ratings, role, described, data)
    if not is_archive(path) and what.known_hash and what.hash_of(path) is None:
        size = (len(ratings), ratings.n_users)
        if size != (what.n_ratings, what.n_users):
            raise DataError(
                f"{path}: {size[0]:,} ratings by {size[1]:,} users, but {what.name} has "
                f"{what.n_ratings:,} by {what.n_users:,}; leave out name to read it as your own"
            )
    return replace(ratings, notes=(*ratings.notes, *notes))


def _features(what: DataSet, path: Path) -> Iterator[tuple[str, FeatureFile, bytes]]:
    """Yield for users and items the first file that a copy holds: an archive, or loose files."""
    for role, files in (("user", what.users), ("item", what.items)):
        for file in files:
            with suppress(DataError, OSError):
                if is_archive(path):
                    with open_member(path, file.member, file.member_bytes) as stream:
                        data = stream.read()
                else:
                    data = path.with_name(file.name).read_bytes()
                yield role, file, data
                break


def _copy(
    what: DataSet,
    downloads: Path,
    base: Path | None,
    progress: Progress | None,
    notes: list[Note],
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
            notes.append(Note("download-not-kept", {"reason": str(error)}))
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))
        return fetch(what, folder, progress)


def read_plays(stream: io.BufferedReader, where: str) -> Table:
    """Read counts of plays from Last.fm 360K; invalid lines are left out and counted.

    A line has the user (SHA-1 of an address), the artist's MusicBrainz id (often none), the
    artist's name and the plays, separated by tabs; quotation marks and surrounding blanks are part
    of a name. Artists are identified by name, as in most publications on these data, so the few
    that have several ids become one and their plays are added up.
    """
    table = read_text(stream, _PLAYS, where)
    flaws = {flaw.policy: flaw for flaw in table.flaws}
    for row in flaws[""].rows[:1].tolist():
        raise DataError(f"{table.at(row)}: {flaws[''].describe(row)}")
    ragged = flaws["unreadable"].rows
    notes = []
    if len(ragged):
        values = {"n": len(ragged), "fault": "without four fields"}
        notes.append(Note("lines-left-out", values))
    sound = np.ones(len(table), dtype=bool)
    sound[ragged] = False
    for role, (pattern, what) in _SOUND_PLAYS.items():
        codes, ids = table.ids[role]
        passed = np.array([re.search(pattern, text) is not None for text in ids], dtype=bool)
        odd = sound & ~np.append(passed, False)[codes]
        sound &= ~odd
        if odd.any():
            notes.append(Note("lines-left-out", {"n": odd.sum(), "fault": what}))
    table = table.take(sound)
    codes, texts = table.ids.pop("plays")
    counts = np.array([float(text) if text.isdecimal() else 0 for text in texts])
    return _added_up(table.ids, counts[codes], where, notes)


def read_plays_as_pandas(stream: io.BufferedReader, where: str) -> Table:
    """Read the file of Last.fm 360K as ``pandas.read_table`` does with its defaults.

    It reads the first line as a header, and a quotation mark at the start of a name as the start of
    a quoted field, which extends over tabs and lines to the next one. Artists called NA or null
    count as missing. Many published results on these data use the remaining rows.
    """
    types = {0: "category", 2: "category", 3: "float64"}
    try:
        frame = pd.read_csv(stream, sep="\t", usecols=[0, 2, 3], dtype=types)
    except IndexError:  # pandas' own, where no line follows the header
        raise DataError(f"{where}: no plays; give a file that has some") from None
    except ValueError as error:
        reason = reason_of(error)
        raise DataError(f"{where}: not read as pandas does ({reason}); leave out like") from None
    frame.columns = pd.Index(["user", "item", "plays"])
    kept = frame.dropna()
    notes = [Note("read-as-pandas", {"n": len(frame)})]
    if len(kept) < len(frame):
        notes.append(Note("rows-left-out", {"n": len(frame) - len(kept)}))
    ids = {role: kept[role] for role in ("user", "item")}
    table = convert(ids, {"user": "id", "item": "id"}, where)
    return _added_up(table.ids, kept["plays"].to_numpy(), where, notes)


def _added_up(
    ids: dict[str, Coded], plays: NDArray[np.float64], where: str, notes: list[Note]
) -> Table:
    """Return each pair once, at the place of its first row, with the sum of its plays."""
    if not len(plays):
        raise DataError(f"{where}: no plays; give a file that has some")
    table = Table(ids, {"rating": plays}, {}, lambda row: where)
    table, kept = merge_pairs(table, "sum", np.ones(len(table), dtype=bool))
    n_added = int((~kept).sum())
    if n_added:
        table = table.take(kept)
        notes.append(Note("plays-added", {"n": n_added}))
    return replace(table, notes=tuple(notes))


class Description(TypedDict, total=False):
    """What is found in a file, as keys of the ``dataset`` part of a config."""

    path: str
    columns: dict[str, str | int]
    encoding: str
    decimal: str
    scale: list[float]


@dataclass(frozen=True)
class Detected:
    """A file of ratings, as a config describes it.

    `section` is the ``dataset`` part of a config, `ratings` are the usable rows, and `faults` names
    every row that the section, which decides about none, refuses.
    """

    section: Description
    ratings: Ratings
    faults: str


def first_lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the fields of the first line of a file, header or not, and its first rows as text.

    There are at most `LINES` rows, the first line among them; none of a Parquet file.
    """
    kind = kind_of(find_file(path, None))
    if kind == "parquet":
        return parquet_columns(path), []
    with path.open("rb") as file:
        _, rows = read_sample(file, TextFormat(kind, encoding=_encoding(path)), str(path), LINES)
    return rows[0], rows


def detect(path: Path, columns: Mapping[str, str | int] | None = None) -> Detected:
    r"""Read a file of ratings and find its columns, its scale and its encoding.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("userId;movieId;stars\n7;10;4,5\n7;11;2,0\n")
    >>> found = detect(path)
    >>> found.section["columns"], found.section["scale"], found.section["decimal"]
    ({'user': 'userId', 'item': 'movieId', 'rating': 'stars'}, [2, 4.5], ',')
    """
    section = find_section(path, columns)
    faults = ""
    try:
        ratings = load(section)
    except DataError as error:
        faults = str(error)
        policies = {"duplicates": "first", "missing": "drop", "unreadable": "drop"}
        try:
            ratings = load({**section, **policies, "out_of_scale": "keep"})
        except DataError:  # no row is left
            raise error from None
    odd = outliers(ratings.ratings, *ratings.scale)
    usual = ratings.ratings if odd is None else ratings.ratings[~odd]
    ends = [float(usual.min()), float(usual.max())]
    if ends[0] < ends[1]:
        section["scale"] = [int(end) if end.is_integer() else end for end in ends]
    return Detected(section, ratings, faults)


def find_section(path: Path, columns: Mapping[str, str | int] | None = None) -> Description:
    """Return the ``dataset`` part of a config for a file, but for its scale.

    `columns` gives a name, or a position from 1, for roles that cannot be found by usual names.
    """
    names, rows = first_lines(path)
    known = TextFormat(header=None if rows else True, columns=columns or {})
    header, found = header_and_columns(names, known, str(path))
    written = {role: names[place] if header else place + 1 for role, place in found.items()}
    section: Description = {"path": str(path), "columns": written}
    if rows:
        if encoding := _encoding(path):
            section["encoding"] = encoding
        marks = [row[found["rating"]] for row in rows[header:] if len(row) > found["rating"]]
        if any(re.fullmatch(r"\s*-?\d+,\d+\s*", mark) for mark in marks):
            section["decimal"] = ","
    return section


def _encoding(path: Path) -> str | None:
    """Return the encoding that a config has to name; None for UTF-8, or where a mark says it."""
    with path.open("rb") as file:
        start = file.peek(4)[:4]
        if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return None
        if encoding := unmarked_encoding(start):
            return encoding
        try:
            for _ in codecs.iterdecode(iter(partial(file.read, 1 << 20), b""), "utf-8"):
                pass
        except UnicodeDecodeError:
            return "cp1252"
    return None
