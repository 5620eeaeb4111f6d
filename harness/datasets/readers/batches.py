"""Columns that come in batches, read within limits: a small file can declare any number of rows."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness._util.libraries import pa, psutil
from harness.datasets.limits import ROW
from harness.datasets.readers.base import ReadOptions
from harness.errors import DataError, reason_of

BYTES_A_ROW = 64
"""Memory of a row while it is read: codes, rating, time, and as much again on the way."""
BROKEN = (OSError, ValueError, TypeError, LookupError, ArithmeticError, struct.error)
LONG = 1_000
"""Bytes of a text from which a dictionary that holds it is taken for as large as its rows."""


def check_rows(n_rows: int, path: Path, options: ReadOptions) -> None:
    """Refuse a file that declares more rows than fit in memory, or than its size is plausible for.

    Raises
    ------
    DataError
    """
    free = psutil.virtual_memory().available
    if n_rows * BYTES_A_ROW > free or n_rows >= 2**31:
        raise DataError(
            f"{options.where}: {n_rows:,} rows take some {n_rows * BYTES_A_ROW / 2**30:,.0f} GB "
            f"and {free / 2**30:,.0f} GB are free; give fewer rows"
        )
    n_bytes = path.stat().st_size
    options.limits.check_unpacked(n_rows * ROW, n_bytes, options.where, least=False)


def gathered(
    batches: Iterable[pa.RecordBatch], path: Path, options: ReadOptions
) -> list[pa.ChunkedArray]:
    """Return the columns of batches, checked, as far as the limits for the file at `path` allow.

    Raises
    ------
    DataError
        If there is no batch, or the batches are larger than allowed.
    pyarrow.ArrowInvalid
        If offsets, codes of a dictionary or texts are not from whole data.
    """
    n_bytes, most = path.stat().st_size, 0.0
    chunks: list[list[pa.Array]] = []
    schema = getattr(batches, "schema", None)
    for batch in batches:
        schema = batch.schema
        batch.validate(full=True)
        most += sum(_size(column) for column in batch.columns)
        options.limits.check_unpacked(most, n_bytes, options.where, least=True)
        chunks = chunks or [[] for _ in batch.columns]
        for parts, column in zip(chunks, batch.columns, strict=True):
            parts.append(column)
    if schema is None:
        return []
    chunks = chunks or [[] for _ in schema]
    return [
        pa.chunked_array(parts, field.type) for parts, field in zip(chunks, schema, strict=True)
    ]


def _size(column: pa.Array) -> int:
    """Return the bytes of an array; a dictionary belongs to many batches, and counts for none."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    from pyarrow import compute as pc

    size, texts = int(column.indices.nbytes), column.dictionary
    if pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type):
        longest = pc.max(pc.binary_length(texts)).as_py() or 0
        size += longest * len(column) * (longest >= LONG)
    return size


@contextmanager
def refused(where: str, kind: str) -> Iterator[None]:
    """Turn what pyarrow says of a file into a `DataError`."""
    try:
        yield
    except (pa.ArrowException, *BROKEN) as error:
        reason = reason_of(error)
        raise DataError(f"{where}: not {kind} that can be read ({reason})") from None
