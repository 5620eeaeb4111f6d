"""The reader of ARFF, Weka's files: attributes by name and type, then a row a line."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from harness._util.files import report_os_error
from harness.datasets.columns import find_columns
from harness.datasets.evidence import LINES
from harness.datasets.readers.base import (
    UNREADABLE,
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    unread,
)
from harness.datasets.readers.text import Delimited, Layout, split_line
from harness.errors import DataError

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

LONGEST = 1 << 20
_ATTRIBUTE = re.compile(r"""\s*@attribute\s+("[^"]*"|'[^']*'|\S+)""", re.IGNORECASE)
_BEGINNING = re.compile(rb"(?:\s*%[^\n]*\n)*\s*@relation\b", re.IGNORECASE)


class ARFF(Reader):
    """Tables of Weka, whose lines ``@attribute`` name the columns of the rows after ``@data``."""

    endings = (".arff",)
    label = "ARFF"

    def write_example(self, path: Path) -> None:
        """Write the example ratings."""
        head = ["@relation ratings", "@attribute user string", "@attribute item string"]
        rows = example_ratings().itertuples(index=False, name=None)
        lines = [*head, "@attribute rating numeric", "@data", *(f"{u},{i},{r}" for u, i, r in rows)]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins with a relation, perhaps after comments."""
        return _BEGINNING.match(head.removeprefix(b"\xef\xbb\xbf")) is not None

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the attributes."""
        return _attributes(path, where)[0]

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the rows; every problem has its line."""
        where = options.where
        names, n_lines = _attributes(path, where)
        rows = self.sample(path, options).rows
        if rows and rows[0][0].lstrip().startswith("{"):
            raise DataError(
                f"{where}: a sparse ARFF file, which is not read; write it with Weka's filter "
                "SparseToNonSparse"
            )
        positions = find_columns(names, options.columns, where, options.roles)
        layout = Layout(",", False, len(names), positions)
        asked = replace(options, layout=layout, skip=n_lines, comment="%", columns=positions)
        table = Delimited().read(path, asked)
        notes = unread(names, lambda: rows, options, positions)
        return replace(table, notes=(*notes, *table.notes))

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows."""
        names, n_lines = _attributes(path, options.where)
        with path.open(encoding=options.encoding or "utf-8-sig", errors="replace") as file:
            lines = islice(iter(lambda: file.readline(LONGEST), ""), n_lines, n_lines + LINES)
            texts = (line.rstrip("\r\n") for line in lines)
            rows = [tuple(split_line(text, ",")) for text in texts if text and text[0] != "%"]
        return Sample(names, rows)


def _attributes(path: Path, where: str) -> tuple[list[str], int]:
    """Return the names of the attributes, and the number of the line ``@data``."""
    names = []
    with (
        report_os_error(where, *UNREADABLE),
        path.open(encoding="utf-8-sig", errors="replace") as file,
    ):
        for number, line in enumerate(iter(lambda: file.readline(LONGEST), ""), 1):
            if found := _ATTRIBUTE.match(line):
                names.append(found[1].strip("\"'"))
            elif line.strip().casefold() == "@data":
                return names, number
    raise DataError(f"{where}: ARFF without a line @data; the file is not whole: write it again")
