"""Tables of ratings in memory: columns by name, or a column for each item."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pd
from harness.datasets.columns import MISSING, RATINGS
from harness.datasets.conversion import Table, convert
from harness.datasets.evidence import (
    LINES,
    NO_RATING,
    Placed,
    Wide,
    columns_of,
    is_total,
    named_columns,
    names_values,
    shape,
)
from harness.datasets.policies import ValueFormat
from harness.datasets.remedies import Remedy
from harness.errors import DataError, suggestion
from harness.notes.note import Note

Texts = NDArray[np.str_]


def table_of_frame(
    frame: pd.DataFrame, named: Mapping[str, str | int | None], name: str, values: ValueFormat
) -> Table:
    """Read the columns of ratings of a frame, by role as in the ``dataset`` part of a config."""
    names = [str(column) for column in frame.columns]
    has_index = not isinstance(frame.index, pd.RangeIndex) and not named
    if has_index and frame.index.names != [None] and not RATINGS.names_columns(names):
        frame = frame.reset_index()  # as after a pivot, or with an index of user and item
        names = [str(column) for column in frame.columns]
    return table_of_columns(names, lambda position: frame.iloc[:, position], named, name, values)


def table_of_columns(
    names: Sequence[str],
    column_at: Callable[[int], object],
    named: Mapping[str, str | int | None],
    name: str,
    values: ValueFormat,
    *,
    is_wide: bool = False,
    not_items: Sequence[str | int] | None = None,
) -> Table:
    """Read columns of ratings, of which `column_at` gives one by its position.

    A table that `is_wide` has a column for each item; that another is one is found out.
    """

    def rows(most: int | None = LINES) -> list[tuple[str, ...]]:
        columns = (texts_of(column_at(position), most) for position in range(len(names)))
        return [*zip(*columns, strict=True)]

    placed = Placed(True, {}) if is_wide else named_columns(names, rows, named, name)
    if is_wide or placed.wide is not None:
        lines = [names, *rows(None)][names_values(names) :]
        table = table_of_cells(
            np.array(lines, dtype=str),
            name,
            header=True,
            named=named,
            values=values,
            not_items=not_items,
        )
        return replace(table, notes=(*placed.notes, *table.notes))
    columns = {role: column_at(position) for role, position in placed.columns.items()}
    return convert(columns, RATINGS.kinds, name, values=values, notes=placed.notes)


def texts_of(column: Any, most: int | None) -> list[str]:
    """Return the first values of a column as text, empty for none."""
    values = column[:most]
    values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    scalars = (value if pd.api.types.is_scalar(value) else str(value) for value in values)
    return ["" if pd.isna(value) else str(value) for value in scalars]


def table_of_cells(
    cells: Texts,
    where: str,
    *,
    header: bool,
    named: Mapping[str, str | int | None],
    values: ValueFormat,
    not_items: Sequence[str | int] | None = None,
    lines: int = 0,
) -> Table:
    """Return the ratings of a matrix, of which each user has a row and each item a column.

    Parameters
    ----------
    cells : ndarray of str, shape (rows, columns)
    where : str
    header : bool
        Whether the first row names the columns.
    named : dict
        The column of ids, for the role ``user`` or ``item``, in whose place rows are.
    values : ValueFormat
    not_items : sequence of str or int, optional
        Columns that are left out; by default found.
    lines : int
        The line of the first row of a file; 0 of a table in memory.

    Raises
    ------
    DataError
        If no column holds ratings.
    """
    first = cells[0] if header else np.array([""] * cells.shape[1])
    body = cells[header:]
    n_lines = lines + header
    if header and len(body) and not (body[0, 1:] != "").any():  # pandas' name of the index
        first, body, n_lines = np.concatenate([body[0, :1], first[1:]]), body[1:], n_lines + 1
    n_rated = np.count_nonzero((body[:, 1:] != "") & (body[:, 1:] != JESTER), axis=1)
    counts = not header and body[:, 0].tolist() == n_rated.astype(str).tolist()
    found = Wide(False, None, [*range(1, body.shape[1])], [])
    if not counts:
        words = {text.casefold() for text in values.values or ()}
        found = _shape(first, body, where, header, named, not_items, words)
    notes = [_read(found, first, len(body), counts=counts)]
    if found.ids is not None and len(body) > 1 and is_total(str(body[-1, found.ids])):
        notes.append(Note("matrix-row-left-out", {"row": str(body[-1, found.ids])}))
        body = body[:-1]
    ratings = body[:, found.items]
    rated = ~np.isin(np.char.lower(ratings), [*MISSING, *NO_RATING])
    if note := _not_rated(ratings, rated):
        notes.append(note)
    if found.left_out:
        names = [str(first[at]) or at + 1 for at in found.left_out]
        notes.append(
            Note("matrix-columns-left-out", {"columns": names, "keys": {"not_items": names}})
        )
    if header and not_items is None and (alike := _alike(ratings, rated)):
        constant = [str(first[found.items[at]]) for at in alike]
        out = [*(str(first[at]) or at + 1 for at in found.left_out), *constant]
        remedy = str(Remedy({"not_items": out}))
        notes.append(Note("matrix-columns-constant", {"columns": constant, "remedy": remedy}))
    rows, columns = np.nonzero(rated)
    numbers = np.arange(1, max(body.shape) + 1).astype(str)
    ids = numbers[: len(body)] if found.ids is None else body[:, found.ids]
    items = first[found.items] if header else numbers[: len(found.items)]
    sides = [ids[rows].astype(object), items[columns].astype(object)]
    if found.items_in_rows:
        sides.reverse()

    def at(row: int) -> str:
        if row < 0:
            return where
        line = f":{rows[row] + n_lines}" if lines else f": row {rows[row]} (counted from 0)"
        return where + line

    read = {"user": sides[0], "item": sides[1], "rating": ratings[rated].astype(object)}
    return convert(read, RATINGS.kinds, where, at, values=values, notes=notes)


def _alike(ratings: Texts, rated: NDArray[np.bool_]) -> list[int]:
    """Return the columns with one text in every row, where most others have several."""
    if len(ratings) < MANY_ROWS:
        return []
    alike = rated.all(axis=0) & (ratings == ratings[:1]).all(axis=0)
    return np.flatnonzero(alike).tolist() if alike.mean() < 0.25 else []


MANY_ROWS = 10
"""Rows from which a column of equal ratings may be something else."""
JESTER = "99"
"""What Jester writes for "not rated"."""


def _shape(
    first: Texts,
    body: Texts,
    where: str,
    header: bool,
    named: Mapping[str, str | int | None],
    not_items: Sequence[str | int] | None,
    words: Collection[str],
) -> Wide:
    """Return which columns are the ids and the ratings of a matrix."""
    names = [str(name) for name in first]
    columns = columns_of(names, body[:LINES].tolist(), header=header)
    for role, name in named.items():
        if isinstance(name, str) and name not in names:
            offered = suggestion(name, names[:50])
            raise DataError(f"{where}: no column {name!r} for the {role}; {offered}")
    present = {role: at for role, at in named.items() if at is not None}
    found = shape(columns, header=header, named=present, not_items=not_items, words=words)
    if not found.items:
        raise DataError(f"{where}: no column of ratings; name columns under not_items, or []")
    return found


def _read(found: Wide, first: Texts, n_rows: int, *, counts: bool) -> Note:
    """Return what was read: how many rows and columns, and where ids are."""
    code = "matrix-read-by-item" if found.items_in_rows else "matrix-read"
    kind = "the first column counts the ratings" if counts else "rows are numbered"
    if found.ids is not None:
        kind = f"{'items' if found.items_in_rows else 'users'} in the first column"
        if found.ids:
            kind = f"ids in column {found.ids + 1}"
        if not found.items_in_rows and not RATINGS.positions([str(first[found.ids])], "user"):
            code = "matrix-read-assumed"
    sizes = [n_rows, len(found.items)]
    n_users, n_items = reversed(sizes) if found.items_in_rows else sizes
    return Note(code, {"n_users": n_users, "n_items": n_items, "users": kind,
                       "column": (found.ids or 0) + 1})  # fmt: skip


def _not_rated(texts: Texts, rated: NDArray[np.bool_]) -> Note | None:
    """Return the note on a number that stands for "not rated", as 0 or 99.

    It does where no field is empty, if it is at least as frequent as any other number and is
    either 0 below all others, or far from them.
    """
    if not rated.all():
        return None
    try:
        numbers = np.char.replace(texts, ",", ".").astype(float)
    except ValueError:
        return None
    values, counts = np.unique(numbers, return_counts=True)
    most = int(counts.argmax())
    value, others = float(values[most]), np.delete(values, most)
    reach = max(abs(others)) if len(others) else 0.0
    is_below = value == 0 and len(others) and others.min() > 0
    if not (is_below or (len(others) > 1 and abs(value) > 2 * reach)):
        return None
    share = {"n": int(counts[most]), "n_all": texts.size, "value": f"{value:g}"}
    return Note("matrix-not-rated", {**share, "keys": {"not_rated": [value]}})
