"""The reader of Matrix Market: the row, the column and the number of each entry of a matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness._util.files import report_os_error
from harness.datasets.readers.base import (
    UNREADABLE,
    Reader,
    ReadOptions,
    by_position,
    example_ratings,
)
from harness.datasets.readers.text import Delimited
from harness.errors import DataError
from harness.notes.note import Note

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

MAGIC = b"%%matrixmarket"
LONGEST = 1 << 20


class MatrixMarket(Reader):
    """Sparse matrices of users and items, in the format of ``scipy.io.mmwrite``.

    The file numbers rows and columns from 1; these numbers are the ids.
    """

    endings = (".mtx",)
    label = "Matrix Market"
    has_mark = True
    spaces_in_ids = False

    def write_example(self, path: Path) -> None:
        """Write the example ratings, with ids in place of numbers."""
        rows = example_ratings(spaces=False)
        sizes = f"{rows['user'].nunique()} {rows['item'].nunique()} {len(rows)}"
        lines = [f"{u} {i} {r}" for u, i, r in rows.itertuples(index=False, name=None)]
        text = ["%%MatrixMarket matrix coordinate integer general", "% ratings", sizes, *lines, ""]
        path.write_text("\n".join(text), encoding="utf-8")

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as one of Matrix Market."""
        return head[: len(MAGIC)].lower() == MAGIC

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the fields, which the files do not have."""
        return ["user", "item", "rating"]

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read all entries; every problem has its line."""
        where = options.where
        sizes, n_lines = _sizes(path, where)
        fields = self.names(path, where)
        columns = {role: at for at, role in enumerate(fields, 1) if role in options.roles.kinds}
        asked = replace(
            options,
            separator="whitespace",
            header=False,
            skip=n_lines,
            columns=columns | by_position(fields, options.columns),
            form="row column number",
        )
        table = Delimited().read(path, asked)
        if len(table) != sizes[2]:
            raise DataError(
                f"{where}: {len(table):,} entries, but its line {n_lines} announces {sizes[2]:,}; "
                "the file is not whole: fetch or write it again"
            )
        note = Note("matrix-market-read", {"n_rows": sizes[0], "n_columns": sizes[1]})
        return replace(table, notes=(note, *table.notes))


def _sizes(path: Path, where: str) -> tuple[tuple[int, int, int], int]:
    """Return rows, columns and entries, and the number of the line that announces them."""
    with report_os_error(where, *UNREADABLE), path.open(encoding="utf-8", errors="replace") as file:
        words = file.readline(LONGEST).casefold().split()
        reads = f"harness.load(scipy.sparse.coo_array(scipy.io.mmread({where!r}))) reads it"
        if words[1:3] != ["matrix", "coordinate"] or words[4:] != ["general"]:
            raise DataError(
                f"{where}: a matrix of Matrix Market of the form {' '.join(words[1:])!r:.60}, and "
                f"'matrix coordinate … general' is read; {reads}"
            )
        if words[3] not in ("integer", "real"):
            raise DataError(
                f"{where}: a matrix of Matrix Market with {words[3]} entries, which hold no "
                f"ratings; where only choices are known, {reads} as ratings of 1 "
                "(docs/how-to/implicit.md)"
            )
        for number, line in enumerate(iter(lambda: file.readline(LONGEST), ""), 2):
            if line.strip() and not line.startswith("%"):
                sizes = line.split()
                if len(sizes) == 3 and all(size.isdecimal() for size in sizes):
                    return (int(sizes[0]), int(sizes[1]), int(sizes[2])), number
                break
    raise DataError(
        f"{where}: a matrix of Matrix Market without a line of its sizes, such as 10 20 35; write "
        "it again"
    )
