"""Parquet files of a run, read as files that anybody may have written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic_core import from_json

from harness.errors import ResultsError, reason_of
from harness.lazy import pa, pd, pq, psutil
from harness.results.fields import AGAIN
from harness.results.parts import Kind

SHARE_OF_MEMORY = 0.5


BYTES_PER_VALUE = 16  # most bytes of a value while a table is read: itself and its copy for pandas


def read_parts(
    path: Path, columns: Mapping[str, Kind], *, at_once: bool = False
) -> Iterator[pd.DataFrame]:
    """Read these columns of a table that may come from anybody, by row group or as a whole."""
    try:
        with pq.ParquetFile(path) as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            groups = [[*range(len(sizes))]] if at_once else [[i] for i in range(len(sizes))]
            most = sum(sizes) if at_once else max(sizes, default=0)
            needed = BYTES_PER_VALUE * most * len(columns)
            if needed > SHARE_OF_MEMORY * psutil.virtual_memory().available:
                raise ResultsError(f"{path}: would take {needed / 1e9:.0f} GB; free memory first")
            schema = file.schema_arrow
            for name, kind in columns.items():
                if schema.names.count(name) != 1 or not _holds(schema.field(name).type, kind):
                    raise ResultsError(f"{path}: no column {name!r}; {AGAIN}")
            for group in groups:
                # What the file says of pandas is not needed, and may be anything.
                table = file.read_row_groups(group, columns=list(columns))
                frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
                for name, kind in columns.items():
                    if kind == "number" and frame[name].abs().max() == math.inf:
                        raise ResultsError(f"{path}: an infinite number in {name!r}; {AGAIN}")
                yield frame[list(columns)]
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise ResultsError(f"{path}: not a table ({reason_of(error)}); {AGAIN}") from None


def _holds(data_type: pa.DataType, kind: Kind) -> bool:
    from pyarrow import types

    if types.is_null(data_type):  # nothing in it
        return True
    if types.is_dictionary(data_type):
        data_type = data_type.value_type
    if kind == "word":
        return bool(types.is_string(data_type) or types.is_large_string(data_type))
    return bool(types.is_integer(data_type) if kind == "count" else types.is_floating(data_type))


def is_mapping(text: str) -> bool:
    """Return whether a text is an object in JSON, not so deep that a reader of it would fail."""
    try:
        return isinstance(from_json(text), dict)
    except (TypeError, ValueError):
        return False
