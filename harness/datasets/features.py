"""Metadata of users and items: files and frames become columns of text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pd
from harness.datasets.catalogue import FeatureFile
from harness.datasets.columns import Kind, Roles, find_columns
from harness.datasets.conversion import SHOWN, Table, convert
from harness.datasets.members import scratch
from harness.datasets.places import find_file
from harness.datasets.readers import (
    column_names,
    is_text,
    keys_of,
    label_of,
    read_as,
    reading,
    recognised,
)
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.packed import unpacked
from harness.datasets.readers.text import Layout, read_sample, read_text
from harness.datasets.readers.workbooks import SHEET, is_workbook, sheets_of
from harness.datasets.section import FeaturesSection, ItemsSection, unneeded
from harness.errors import DataError, counted, listed
from harness.notes.note import Note
from harness.schema.sections import validated

if TYPE_CHECKING:
    from harness.datasets.ratings import Ratings


GENRES = ("genres", "genre")
"""Usual names of a column of genres."""
NO_GENRE = ("unknown", "(no genres listed)")
"""What MovieLens writes for an item without a genre."""

MOST_GENRES = 1_000
"""A column with more different ones holds something else."""

_SECTIONS: Mapping[str, type[FeaturesSection]] = {"user": FeaturesSection, "item": ItemsSection}


def add(ratings: Ratings, role: str, source: Any, base: Path | None = None) -> Ratings:
    """Return ratings with the features of a path, a section of a config, or a frame."""
    if isinstance(source, pd.DataFrame):
        section, where = _SECTIONS[role](path="frame"), f"frame of {role}s"
        if source.columns.empty:
            raise DataError(f"{where}: no column; give a column of ids and one of features")
        names = _distinct([str(name) for name in source.columns], where)
        columns = {name: source.iloc[:, place] for place, name in enumerate(names)}
        table = convert(columns, _kinds(names, names[0]), where)
    else:
        source = str(source) if isinstance(source, Path) else source
        section = validated(_SECTIONS[role], source, f"{role}s", base or Path())
        table = _read(section, base)
        first = next(iter(table.ids))
        if section.columns is None and first in _ids(ratings, role):
            raise DataError(
                f"{table.at(-1)}: the first line is not a header, because {first!r} is the id of "
                "a rated "
                f"{role}; name the columns, for example columns: [id, title, year]"
            )
    frame, notes = _aligned(ratings, role, table)
    if (genres := getattr(section, "genres", None)) is not None:
        genres = _column(list(frame.columns), "genres", genres, table.at(-1))
    return _with(ratings, role, frame, genres, notes)


def add_published(ratings: Ratings, role: str, file: FeatureFile, data: bytes) -> Ratings:
    """Return ratings with the features of a file of their data set."""
    stream: io.BufferedReader = io.BufferedReader(io.BytesIO(data))
    columns = list(file.columns)
    if not columns:
        _, (columns,) = read_sample(stream, ReadOptions(separator=file.separator), file.member)
        stream.seek(0)
    layout = Layout(file.separator, file.header, len(columns), _places(columns), quotes=file.quotes)
    options = ReadOptions(
        encoding=file.encoding, roles=Roles(_kinds(columns, columns[0]), {}), layout=layout
    )
    frame, _ = _aligned(ratings, role, read_text(stream, options, file.member))
    if file.first_flag:
        flags = frame.loc[:, file.first_flag :] == "1"
        frame = frame.drop(columns=flags.columns)
        frame["genres"] = ["|".join(flags.columns[row]) for row in flags.to_numpy()]
    if file.blanks and "genres" in frame:
        frame["genres"] = frame["genres"].str.replace(" ", "|")
    return _with(ratings, role, frame, None, [])


def genres(ratings: Ratings) -> NDArray[np.bool_]:
    """Return which genres each item has, of shape (n_items, n_genres), or raise a DataError."""
    frame = ratings.item_features
    if frame is None:
        raise DataError(
            f"{ratings.name}: no genres of items; give a file that has them, for example `items: "
            f"{{path: "
            "items.csv, genres: COLUMN}` under `dataset`, or load(ratings, items=frame)"
        )
    if "genres" not in frame or not frame["genres"].notna().any():
        listed = ", ".join(map(str, frame.columns))
        raise DataError(
            f"{ratings.name}: no genres among what is known of items ({listed}); name the column, "
            "such as items: {path: items.csv, genres: COLUMN}"
        )
    flags = flags_of(frame["genres"])
    if flags.shape[1] > MOST_GENRES:
        raise DataError(
            f"{ratings.name}: {flags.shape[1]:,} different genres, such as {flags.columns[0]!r}; "
            f"separate the genres of an item by '|', and use at most {MOST_GENRES:,}"
        )
    return flags.to_numpy(dtype=bool)


def flags_of(column: pd.Series[str]) -> pd.DataFrame:
    """Return a column of 0 and 1 for each value, where a field as ``Action|Comedy`` has several."""
    plain = column.str.strip().str.replace(r"\s*\|\s*", "|", regex=True)
    return plain.str.get_dummies("|").drop(columns="", errors="ignore")


def _with(
    ratings: Ratings, role: str, frame: pd.DataFrame, genres: str | None, notes: list[Note]
) -> Ratings:
    """Return ratings with a frame, whose genres are also called so, missing where there is none."""
    if role == "user":
        return replace(ratings, user_features=frame, notes=(*ratings.notes, *notes))
    usual = {name.casefold(): name for name in reversed(frame.columns)}
    genres = genres or next((usual[name] for name in GENRES if name in usual), None)
    if genres is not None:
        values = frame[genres]
        frame["genres"] = values.mask(values.isin([*NO_GENRE, ""]))
    return replace(ratings, item_features=frame, notes=(*ratings.notes, *notes))


def _ids(ratings: Ratings, role: str) -> NDArray[np.object_]:
    return ratings.user_ids if role == "user" else ratings.item_ids


def _read(section: FeaturesSection, base: Path | None) -> Table:
    """Read your own file; its id column comes first."""
    with (
        unpacked(find_file(section.path, base), section.path) as (path, where),
        reading(where),
        _sheet(path, where, section) as (path, where),
    ):
        return _read_plain(section, path, where)


@contextmanager
def _sheet(path: Path, where: str, section: FeaturesSection) -> Iterator[tuple[Path, str]]:
    """Yield the text of the only sheet of a workbook; another file as it is."""
    if not is_workbook(path):
        yield path, where
        return
    if fault := unneeded(section, "excel"):
        raise DataError(f"{where}: {fault}")
    with sheets_of(path, where) as sheets, scratch() as folder:
        if len(sheets) > 1:
            names = listed([sheet.name for sheet in sheets], 10)
            raise DataError(
                f"{where}: {counted(len(sheets), 'sheet')} ({names}); save the one that is meant "
                "as CSV"
            )
        place = Path(folder, f"sheet{SHEET}")
        place.write_bytes(sheets[0].open().read())
        yield place, f"{where}!{sheets[0].name}"


def _read_plain(section: FeaturesSection, path: Path, where: str) -> Table:
    kind = recognised(path, where)
    if fault := unneeded(section, kind):
        raise DataError(f"{where}: {fault}")
    if "query" in keys_of(kind):
        raise DataError(f"{where}: {label_of(kind)}; export the table that is meant as CSV")
    if kind is not None and not is_text(kind):
        names = _distinct(column_names(path, kind, where, of_ratings=False), where)
        options = ReadOptions(columns=dict(zip(names, names, strict=True)))
    else:
        options = ReadOptions(
            kind=kind, separator=section.separator, encoding=section.encoding, roles=Roles({}, {})
        )
        with path.open("rb") as file:
            separator, (fields,) = read_sample(file, options, where)
        if section.columns and len(section.columns) != len(fields):
            raise DataError(
                f"{where}: {counted(len(fields), 'field')} separated by {separator!r}, but columns "
                f"names {len(section.columns)}; name each field, or the separator"
            )
        names = _distinct(section.columns or fields, where)
        layout = Layout(separator, section.columns is None, len(names), _places(names))
        options = ReadOptions(encoding=section.encoding, layout=layout)
    chosen = _column(names, "id", section.id or 1, where)
    roles = Roles(_kinds(names, chosen), {})
    table = read_as(kind, path, replace(options, where=where, roles=roles))
    return replace(table, ids={chosen: table.ids[chosen], **table.ids})


def _column(names: list[str], role: str, column: str | int, where: str) -> str:
    return names[find_columns(names, {role: column}, where, Roles({role: "text"}, {}))[role]]


def _distinct(names: Sequence[str], where: str) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise DataError(
                f"{where}: {names.count(name)} columns are called {name!r}; rename one, or if this "
                "is not a header, name them all, for example columns: [id, title, year]"
            )
    if len(names) < 2:
        raise DataError(
            f"{where}: one column, {names[0]!r}; name the separator, such as separator: ';'"
        )
    return list(names)


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _kinds(names: Sequence[str], chosen: str) -> dict[str, Kind]:
    return {name: "id" if name == chosen else "text" for name in names}


def _aligned(ratings: Ratings, role: str, table: Table) -> tuple[pd.DataFrame, list[Note]]:
    """Return a row for each id of the ratings, in the order of their codes, and what was left."""
    (codes, names), *_ = table.ids.values()
    where = table.at(-1)
    ids = np.append(names, "").astype(object)[codes]
    faults = {  # readers describe the first ones of each kind, and no others are shown
        row: flaw.describe(row) if place < SHOWN else ""
        for flaw in table.flaws
        for place, row in enumerate(flaw.rows.tolist())
    }
    first: dict[str, int] = {}
    for row, raw_id in enumerate(ids.tolist()):
        if row in faults:
            continue
        if not raw_id:
            faults[row] = f"no id; give each {role} one"
        elif first.setdefault(raw_id, row) != row:
            faults[row] = (
                f"{role} {raw_id!r} again (first at {table.at(first[raw_id])}); "
                "keep one of the rows"
            )
    if faults:
        shown = [f"{table.at(row)}: {faults[row]}" for row in sorted(faults)[:SHOWN]]
        more = [f"{where}: {counted(len(faults) - SHOWN, 'problem')} more"] * (len(faults) > SHOWN)
        raise DataError("\n".join(shown + more))
    columns = {}
    for name, column in list(table.ids.items())[1:]:
        texts = np.array([str(text).strip() or np.nan for text in column.ids] + [np.nan], object)
        columns[name] = texts[column.codes]
    rated = _ids(ratings, role)
    features = pd.DataFrame(columns, index=pd.Index(ids, dtype=object, name=role))
    is_rated = features.index.isin(rated)
    if not is_rated.any():
        raise DataError(
            f"{where}: none of its ids, such as {ids[0]!r}, is among the {role} ids of "
            f"{ratings.name}, such as {str(rated[0])!r}; name the column of "
            f"ids: id: {list(table.ids)[-1]}"
        )
    notes = list(table.notes)
    if n_absent := len(rated) - int(is_rated.sum()):
        values = {"n": n_absent, "n_all": len(rated), "role": role, "file": where}
        notes.append(Note("features-missing", values))
    if n_unknown := int((~is_rated).sum()):
        notes.append(Note("features-ignored", {"n": n_unknown, "file": where, "role": role}))
    return features.reindex(pd.Index(rated, dtype=object, name=role)), notes
