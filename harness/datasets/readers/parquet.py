"""The reader of Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.datasets.readers.base import Reader, ReadOptions, to_table
from harness.errors import DataError, reason_of
from harness.lazy import pa, pq, psutil

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

BYTES_A_ROW = 64
"""Memory of a row while it is read: codes, rating, time, and as much again on the way."""


class Parquet(Reader):
    """Columns of Apache Parquet, of which only those that are needed are read."""

    endings = (".parquet", ".pq")
    label = "Parquet"

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as a Parquet file does."""
        return head.startswith(b"PAR1")

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        where = options.where
        with _opened(path, where) as file:
            names = file.schema_arrow.names

            def columns_at(positions: list[int]) -> list[object]:
                check_room(file.metadata.num_rows, where)
                table = file.read(columns=[names[position] for position in positions])
                return [table.column(names[position]) for position in positions]

            return to_table(names, columns_at, options)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        with _opened(path, where) as file:
            return list(file.schema_arrow.names)


@contextmanager
def _opened(path: Path, where: str) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path) as file:  # `read_table` would import much that nothing needs
            yield file
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = reason_of(error)
        raise DataError(f"{where}: not a Parquet file that can be read ({reason})") from None


def check_room(n_rows: int, where: str) -> None:
    """Refuse a small file that declares more rows than fit in memory."""
    free = psutil.virtual_memory().available
    if n_rows * BYTES_A_ROW > free or n_rows >= 2**31:
        raise DataError(
            f"{where}: {n_rows:,} rows take some {n_rows * BYTES_A_ROW / 2**30:,.0f} GB "
            f"and {free / 2**30:,.0f} GB are free; give fewer rows"
        )
