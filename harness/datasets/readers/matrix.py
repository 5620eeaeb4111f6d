"""The reader of matrices: a row for each user, a column for each item, a field for each rating."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from harness._util.files import report_os_error
from harness._util.libraries import pd
from harness.datasets.evidence import LINES, names_items
from harness.datasets.readers.base import (
    NO_ROWS,
    OF_TEXT,
    UNREADABLE,
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
)
from harness.datasets.readers.text import (
    Beginning,
    Delimited,
    begin,
    separator_of,
    without_comments,
)
from harness.datasets.tables import table_of_cells
from harness.errors import DataError, reason_of
from harness.notes.note import Note

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


class Matrix(Reader):
    """Ratings of users in rows and items in columns, like ``DataFrame.pivot().to_csv()``.

    The first line may name the items; an empty field is not a rating. The first column is the
    users', unless it counts the ratings of the row, as Jester's does, or holds ratings: then users
    are numbered from 1. A row is an item if the column of ids is named as items are.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    keys = OF_TEXT
    is_wide = True
    label = "matrix"

    def write_example(self, path: Path) -> None:
        """Write the example ratings, users in rows and items in columns."""
        cells = example_ratings().pivot(index="user", columns="item", values="rating")
        cells.astype("Int64").to_csv(path)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns that a matrix becomes."""
        return ["user", "item", "rating"]

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the fields of the first line, and the rows after it."""
        return Delimited().sample(path, options)

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read all ratings; every problem has its line."""
        where, header = options.where, options.header
        notes: list[Note] = []
        begun, options = begin(path, options, where, notes)
        cells, line = _cells(path, options, begun), begun.line
        if len(cells) > 2 and len({*cells[0, 1:]}) == 1 and cells[0, 1]:
            cells, line = cells[1:], line + 1  # pandas' name of the values
        if header is None:
            header = names_items(cells[0].tolist(), cells[1 : LINES + 1].tolist())
        if len(cells) <= header or cells.shape[1] < 2:
            raise DataError(f"{where}: {NO_ROWS}")
        table = table_of_cells(
            cells,
            where,
            header=header,
            named=options.columns,
            values=options,
            not_items=options.not_items,
            lines=line,
        )
        return replace(table, notes=(*notes, *begun.notes, *table.notes))


def _cells(path: Path, options: ReadOptions, begun: Beginning) -> np.ndarray:
    """Return all fields as text, of shape (lines, fields), from the first line; empty ones stay."""
    where, n_bytes = options.where, path.stat().st_size
    separator = options.separator or begun.separator or separator_of(begun.first, options)
    with report_os_error(where, *UNREADABLE):
        try:
            encoding = options.encoding or "utf-8-sig"
            with path.open(encoding=encoding) as file:
                n_lines = sum(1 for _ in file) - begun.line + 1
            # Rows that are shorter than the first are filled up: of n bytes, to n² / 4 cells.
            n_fields = len(begun.first.split(None if separator == "whitespace" else separator))
            _check_size(n_lines * n_fields * 8, n_bytes, options)
            frame = pd.read_csv(
                _without_comments(path, options, encoding) if options.comment else path,
                sep=r"\s+" if separator == "whitespace" else separator,
                header=None,
                dtype=str,
                keep_default_na=False,
                skiprows=begun.line - 1,
                skip_blank_lines=False,
                encoding=encoding,
                quotechar="'" if options.quotes == "single" else '"',
                quoting=csv.QUOTE_NONE if options.quotes == "none" else csv.QUOTE_MINIMAL,
                engine="c" if len(separator) == 1 or separator == "whitespace" else "python",
            )
        except (ValueError, pd.errors.ParserError) as error:
            raise DataError(f"{where}: not a matrix ({reason_of(error)}); check the file") from None
    frame = frame.fillna("")
    longest = max((int(column.str.len().max()) for _, column in frame.items()), default=0)
    _check_size(frame.size * longest * 4, n_bytes, options)  # as long as the longest are all
    return np.char.strip(frame.to_numpy(dtype=str))


def _without_comments(path: Path, options: ReadOptions, encoding: str) -> io.StringIO:
    """Return a text in which comments, and lines that are left out, are empty lines."""
    return io.StringIO("".join(without_comments(iter([path.read_text(encoding)]), options)))


def _check_size(n_cells_bytes: int, n_bytes: int, options: ReadOptions) -> None:
    options.limits.check_unpacked(n_cells_bytes, n_bytes, options.where, least=False)
