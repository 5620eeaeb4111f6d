"""Ratings from a Parquet file of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.datasets.frames import numbers, seconds
from harness.datasets.headers import find_columns
from harness.datasets.rows import Coded, Rows, encode
from harness.errors import DataError

__all__ = ["read_table"]

BYTES_A_ROW = 64
"""What a row takes while it is read: codes, rating, time, and as much again in passing."""


def read_table(path: Path, columns: Mapping[str, str | int | None], where: str) -> Rows:
    """Read the columns of a Parquet file that hold ratings.

    Parameters
    ----------
    path : Path
    columns : mapping
        See `harness.datasets.headers.find_columns`.
    where : str
        What is read, for messages.

    Raises
    ------
    DataError
        If it is not Parquet, is broken, would not fit in memory, lacks a column or holds
        something else than ids and numbers in one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            found = find_columns(names, columns, where)
            _check_room(file.metadata.num_rows, where)
            _check_types(file.schema_arrow, found, where)
            table = file.read(columns=[names[position] for position in found.values()])
        by_role = {role: table.column(names[position]) for role, position in found.items()}
        if not len(table):
            raise DataError(f"{where}: no ratings; give a file that has some")
        return Rows(
            _ids(by_role["user"], "user"),
            _ids(by_role["item"], "item"),
            numbers(by_role["rating"].to_pandas()),
            seconds(by_role["timestamp"].to_pandas()) if "timestamp" in by_role else None,
        )
    except DataError as error:
        message = str(error)
        raise DataError(message if message.startswith(where) else f"{where}: {message}") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DataError(f"{where}: not a Parquet file that can be read ({reason})") from None


def _ids(column: Any, what: str) -> Coded:
    """Return text ids coded without a Python object for every row."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
        column = column.unify_dictionaries()
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.dictionary_encode().unify_dictionaries()
    else:
        return encode(column.to_pandas(), what)
    whole = column.combine_chunks()
    codes = whole.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
    return Coded(codes, whole.dictionary.to_numpy(zero_copy_only=False).astype(object))


def _check_types(schema: Any, found: Mapping[str, int], where: str) -> None:
    import pyarrow as pa

    for role, position in found.items():
        kind = schema.field(position).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise DataError(f"{where}: the {role} column holds {kind}; give text or numbers")


def _check_room(n_rows: int, where: str) -> None:
    """Refuse a file whose few bytes say that it holds more rows than memory does."""
    import psutil

    free = psutil.virtual_memory().available
    if n_rows * BYTES_A_ROW > free or n_rows >= 2**31:
        raise DataError(
            f"{where}: {n_rows:,} rows take some {n_rows * BYTES_A_ROW / 2**30:,.0f} GB "
            f"and {free / 2**30:,.0f} GB are free; give fewer rows"
        )
