"""Read a Parquet file into converted columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from harness.datasets.columns import find_columns
from harness.datasets.conversion import Table, convert
from harness.datasets.readers.layout import NO_ROWS, TextFormat
from harness.errors import DataError, reason_of

BYTES_A_ROW = 64
"""Memory of a row while it is read: codes, rating, time, and as much again on the way."""


def parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file."""
    with _open_parquet(path, str(path)) as file:
        return list(file.schema_arrow.names)


@contextmanager
def _open_parquet(path: Path, where: str) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path) as file:  # `read_table` would import much that nothing needs
            yield file
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = reason_of(error)
        raise DataError(f"{where}: not a Parquet file that can be read ({reason})") from None


def read_parquet(path: Path, text_format: TextFormat, where: str) -> Table:
    """Read the columns of a Parquet file; `where` is for messages."""
    with _open_parquet(path, where) as file:
        names = file.schema_arrow.names
        positions = find_columns(names, text_format.columns, where, text_format.roles)
        column_names = {role: names[position] for role, position in positions.items()}
        for name in column_names.values():
            if names.count(name) > 1:
                raise DataError(
                    f"{where}: {names.count(name)} columns are called {name!r}; rename one"
                )
        check_room(file.metadata.num_rows, where)
        table = file.read(columns=list(column_names.values()))
    if not len(table):
        raise DataError(f"{where}: {NO_ROWS}")
    columns = {role: table.column(name) for role, name in column_names.items()}
    return convert(columns, text_format.roles.kinds, where)


def check_room(n_rows: int, where: str) -> None:
    """Refuse a small file that declares more rows than fit in memory."""
    free = psutil.virtual_memory().available
    if n_rows * BYTES_A_ROW > free or n_rows >= 2**31:
        raise DataError(
            f"{where}: {n_rows:,} rows take some {n_rows * BYTES_A_ROW / 2**30:,.0f} GB "
            f"and {free / 2**30:,.0f} GB are free; give fewer rows"
        )
