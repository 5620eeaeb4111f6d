"""The reader of matrices: a row for each user, a column for each item, a field for each rating."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from harness._util.files import report_os_error
from harness._util.libraries import pd
from harness.datasets.columns import MISSING
from harness.datasets.conversion import convert
from harness.datasets.evidence import LINES, Wide, columns_of, names_items, shape
from harness.datasets.readers.base import NO_ROWS, Reader, ReadOptions, example_ratings
from harness.datasets.readers.text import separator_of
from harness.errors import DataError, reason_of, suggestion
from harness.notes.note import Note

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


JESTER = "99"
"""What Jester writes for "not rated"."""


class Matrix(Reader):
    """Ratings of users in rows and items in columns, as ``DataFrame.pivot().to_csv()`` writes them.

    The first line may name the items; an empty field is no rating. The first column is the users',
    unless it counts the ratings of the row, as Jester's does, or holds ratings: then users are
    numbered from 1. A row is an item if the column of ids is named as items are.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    is_text = True
    label = "matrix"

    def write_example(self, path: Path) -> None:
        """Write the example ratings, users in rows and items in columns."""
        cells = example_ratings().pivot(index="user", columns="item", values="rating")
        cells.astype("Int64").to_csv(path)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns that a matrix becomes."""
        return ["user", "item", "rating"]

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read all ratings; every fault has its line."""
        where = options.where
        cells = _cells(path, options)
        header = options.header
        if header is None:
            header = names_items(cells[0].tolist(), cells[1 : LINES + 1].tolist())
        body = cells[1:] if header else cells
        if not len(body) or body.shape[1] < 2:
            raise DataError(f"{where}: {NO_ROWS}")
        n_rated = np.count_nonzero((body[:, 1:] != "") & (body[:, 1:] != JESTER), axis=1)
        counts = not header and body[:, 0].tolist() == n_rated.astype(str).tolist()
        found = _shape(cells, options, header=header, counts=counts)
        values = body[:, found.items]
        lower = np.char.lower(values)
        rated = ~np.isin(lower, MISSING)
        notes = [_note(found, cells, len(body), counts=counts)]
        if options.not_rated is None and (note := _zeros(values, rated)):
            rated &= ~np.isin(values, ZEROS)
            notes.append(note)
        if found.left_out:
            notes.append(_left_out(found, cells, header=header))
        rows, columns = np.nonzero(rated)
        ids = np.arange(1, len(body) + 1).astype(str) if found.ids is None else body[:, found.ids]
        names = cells[0, found.items] if header else _numbers(len(found.items))
        sides = [np.asarray(ids, object)[rows], np.asarray(names, object)[columns]]
        if found.items_in_rows:
            sides.reverse()
        return convert(
            {"user": sides[0], "item": sides[1], "rating": values[rated].astype(object)},
            options.roles.kinds,
            where,
            lambda row: where if row < 0 else f"{where}:{rows[row] + 1 + header + options.skip}",
            values=options,
            notes=notes,
        )


ZEROS = ("0", "0.0", "0.00", "-0", "-0.0", "0,0")


def _numbers(n: int) -> np.ndarray:
    return np.arange(1, n + 1).astype(str)


def _shape(cells: np.ndarray, options: ReadOptions, *, header: bool, counts: bool) -> Wide:
    """Return which columns are the ids and the ratings of a matrix."""
    n_columns = cells.shape[1]
    if counts:
        return Wide(False, None, [*range(1, n_columns)], [])
    names = [str(name) for name in cells[0]]
    rows = cells[header : header + LINES].tolist()
    columns = columns_of(names, rows, header=header)
    for column in columns:
        column.present = [text for text in column.present if text != JESTER] or column.present
    for role, name in options.columns.items():
        if isinstance(name, str) and name not in names:
            raise DataError(
                f"{options.where}: no column {name!r} for the {role}; "
                f"{suggestion(name, names[:50])}"
            )
    named = {role: at for role, at in options.columns.items() if at is not None}
    found = shape(columns, header=header, named=named, not_items=options.not_items)
    if not found.items:
        raise DataError(f"{options.where}: {NO_ROWS}")
    return found


def _note(found: Wide, cells: np.ndarray, n_rows: int, *, counts: bool) -> Note:
    """Return what was read: how many rows and columns, and where ids are."""
    kind = "rows are numbered" if found.ids is None else f"ids in column {found.ids + 1}"
    if found.ids == 0:
        kind = (
            "users in the first column" if not found.items_in_rows else "items in the first column"
        )
    if counts:
        kind = "the first column counts the ratings"
    sizes = [n_rows, len(found.items)]
    n_users, n_items = reversed(sizes) if found.items_in_rows else sizes
    code = "matrix-read-by-item" if found.items_in_rows else "matrix-read"
    return Note(code, {"n_users": n_users, "n_items": n_items, "users": kind})


def _zeros(values: np.ndarray, rated: np.ndarray) -> Note | None:
    """Return the note on zeros that stand for "not rated".

    They do where no cell is empty, none is negative, and 0 is at least as frequent as any rating.
    """
    zero = np.isin(values, ZEROS)
    n_zeros = int(np.count_nonzero(zero))
    if not n_zeros or not rated.all() or np.char.startswith(values[~zero], "-").any():
        return None
    others, counts = np.unique(values[~zero], return_counts=True)
    if not len(others) or n_zeros < counts.max() or JESTER in others:
        return None
    return Note("matrix-zeros", {"n": n_zeros, "n_all": values.size, "keys": {"not_rated": [0]}})


def _left_out(found: Wide, cells: np.ndarray, *, header: bool) -> Note:
    """Return which columns were not read, with the key that reads them."""
    names = [str(cells[0, at]) if header and cells[0, at] else at + 1 for at in found.left_out]
    return Note("matrix-columns-left-out", {"columns": names, "keys": {"not_items": names}})


def _cells(path: Path, options: ReadOptions) -> np.ndarray:
    """Return all fields as text, of shape (lines, fields); empty lines stay."""
    where, n_bytes = options.where, path.stat().st_size
    with report_os_error(where, "cannot be read", "check the path", DataError):
        try:
            encoding = options.encoding or "utf-8-sig"
            with path.open(encoding=encoding) as file:
                first = next((line for line in file if line.strip()), "").rstrip("\r\n")
                n_lines = sum(1 for _ in file) + 1
            separator = options.separator or separator_of(first, options)
            # Rows that are shorter than the first are filled up: of n bytes, to n² / 4 cells.
            n_fields = len(first.split(None if separator == "whitespace" else separator))
            _check_size(n_lines * n_fields * 8, n_bytes, options)
            frame = pd.read_csv(
                path,
                sep=r"\s+" if separator == "whitespace" else separator,
                header=None,
                dtype=str,
                keep_default_na=False,
                skiprows=options.skip,
                skip_blank_lines=False,
                encoding=encoding,
                engine="c" if len(separator) == 1 or separator == "whitespace" else "python",
            )
        except (ValueError, pd.errors.ParserError) as error:
            raise DataError(f"{where}: not a matrix ({reason_of(error)}); check the file") from None
    frame = frame.fillna("")
    longest = max((int(column.str.len().max()) for _, column in frame.items()), default=0)
    _check_size(frame.size * longest * 4, n_bytes, options)  # as long as the longest are all
    return np.char.strip(frame.to_numpy(dtype=str))


def _check_size(n_cells_bytes: int, n_bytes: int, options: ReadOptions) -> None:
    options.limits.check_unpacked(n_cells_bytes, n_bytes, options.where, least=False)
