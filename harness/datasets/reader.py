"""Read any table, a text file, a Parquet file or a frame, into converted columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.datasets.columns import Table, TableBuilder, numbered, to_arrow
from harness.datasets.delimited import TextFormat, read_text
from harness.datasets.headers import RATINGS, Roles, find_columns
from harness.errors import DataError

__all__ = ["ENDINGS", "read_file", "read_series"]

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".inter": "tsv",
    ".dat": "dat",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Kind of file by its ending."""

BYTES_A_ROW = 64
"""Memory of a row while it is read: codes, rating, time, and as much again on the way."""


def read_file(
    path: Path,
    known: TextFormat,
    where: str,
    tick: Callable[[int], object] | None = None,
) -> Table:
    """Read a file; its ending gives the kind unless `known` names one.

    Parameters
    ----------
    path : Path
        An existing file.
    known : TextFormat
        The known parts of the format; its kind may be ``parquet``.
    where : str
        What is read, for messages.
    tick : callable, optional
        Called with the number of bytes of each block of text.

    Raises
    ------
    DataError
        If it cannot be read, or lacks a column.
    """
    kind = known.kind or ENDINGS.get(path.suffix.casefold())
    if kind == "parquet":
        return _read_parquet(path, known.columns, known.roles, where)
    try:
        with path.open("rb") as file:
            return read_text(file, replace(known, kind=kind), where, tick)
    except OSError as error:
        raise DataError(f"{where}: cannot be read ({error.strerror}); check the path") from None


def read_series(columns: Mapping[str, Any], where: str, roles: Roles = RATINGS) -> Table:
    """Convert columns in memory: arrays, lists or Series, by role.

    Raises
    ------
    DataError
        If a column has the wrong type for its role, or the lengths differ.
    """
    builder = TableBuilder({role: roles.kinds[role] for role in columns})
    try:
        builder.add(
            {role: to_arrow(each, role, roles.kinds[role]) for role, each in columns.items()}
        )
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    return builder.finish(lambda row: where if row < 0 else f"{where}: {numbered(row)}")


def _read_parquet(
    path: Path, columns: Mapping[str, str | int | None], roles: Roles, where: str
) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            found = find_columns(names, columns, where, roles)
            wanted = {role: names[position] for role, position in found.items()}
            for name in wanted.values():
                if names.count(name) > 1:
                    raise DataError(
                        f"{where}: {names.count(name)} columns are called {name!r}; rename one"
                    )
            _check_room(file.metadata.num_rows, where)
            table = file.read(columns=list(wanted.values()))
        if not len(table):
            raise DataError(f"{where}: no rows of data; give a file that has some")
        builder = TableBuilder({role: roles.kinds[role] for role in wanted})
        builder.add({role: table.column(name) for role, name in wanted.items()})
        return builder.finish(lambda row: where if row < 0 else f"{where}: {numbered(row)}")
    except DataError as error:
        message = str(error)
        raise DataError(message if message.startswith(where) else f"{where}: {message}") from None
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DataError(f"{where}: not a Parquet file that can be read ({reason})") from None


def _check_room(n_rows: int, where: str) -> None:
    """Refuse a small file that declares more rows than fit in memory."""
    import psutil

    free = psutil.virtual_memory().available
    if n_rows * BYTES_A_ROW > free or n_rows >= 2**31:
        raise DataError(
            f"{where}: {n_rows:,} rows take some {n_rows * BYTES_A_ROW / 2**30:,.0f} GB "
            f"and {free / 2**30:,.0f} GB are free; give fewer rows"
        )
