"""Ratings from loaded data of any library: tables, sparse matrices, lists of tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness._util.arguments import checked, is_number
from harness._util.libraries import pa
from harness.datasets.evidence import LINES, positioned_columns
from harness.datasets.policies import Policies, ValueFormat
from harness.datasets.ratings import Ratings
from harness.datasets.tables import table_of_columns, table_of_frame
from harness.errors import DataError, HarnessError, reason_of
from harness.notes.note import Note

SOURCES = (
    "a table of pandas, Polars, Arrow or DuckDB, a scipy.sparse matrix of users and items, a list "
    "of tuples (user, item, rating)"
)
"""What loaded data may be, beside `Ratings` and a ``surprise.Dataset``."""


class _Columns(NamedTuple):
    """Loaded data as columns: the names of all, and what gives one by its position."""

    names: list[str]
    at: Callable[[int], object]
    notes: tuple[Note, ...] = ()


def is_frame(source: object) -> bool:
    """Return whether an object is a table of pandas."""
    return hasattr(source, "columns") and hasattr(source, "iloc")


def is_table(source: object) -> bool:
    """Return whether an object is a table of any library."""
    is_lazy = hasattr(source, "collect") and hasattr(source, "lazy")
    return is_frame(source) or is_lazy or any(hasattr(source, name) for name in _EXCHANGES)


def is_matrix(source: object) -> bool:
    """Return whether an object is a sparse matrix or array of SciPy."""
    return hasattr(source, "tocoo") and hasattr(source, "shape")


def is_loaded(source: object) -> bool:
    """Return whether an object is what `of_loaded` takes."""
    is_rows = isinstance(source, list | tuple) and not isinstance(source, str)
    return not isinstance(source, type) and (is_rows or is_matrix(source) or is_table(source))


def name_of(source: object) -> str:
    """Return what loaded data are called."""
    return "matrix" if is_matrix(source) else "frame" if is_table(source) else "rows"


def of_anything(
    source: Any,
    named: Mapping[str, str | int | None] | None = None,
    values: ValueFormat | None = None,
    policies: Policies | None = None,
    written: Sequence[str] = (),
) -> Ratings:
    """Make ratings from loaded data, or say that a value is none."""
    if not is_loaded(source):
        raise no_ratings(source)
    values = values or ValueFormat()
    return of_loaded(source, named or {}, name_of(source), values, policies or {}, written)


def no_ratings(source: object) -> DataError:
    """Return the error about an object that is not ratings and does not stand for any."""
    return DataError(
        f"dataset: {repr(source)[:60]} is not ratings; give the name of a data set, a path, "
        f"the dataset part of a config, {SOURCES}, a surprise.Dataset or Ratings"
    )


def of_loaded(
    source: Any,
    named: Mapping[str, str | int | None],
    name: str,
    values: ValueFormat,
    policies: Policies,
    written: Sequence[str] = (),
) -> Ratings:
    """Make ratings from loaded data, with columns by role as in the ``dataset`` part of a config.

    Parameters
    ----------
    source : table, scipy.sparse matrix, or list of tuples
        A matrix has users as rows and items as columns, numbered from 0; what it stores is rated,
        zeros among it. A tuple is user, item, rating and perhaps time.
    named : dict
        As in `harness.datasets.columns.find_columns`.
    name : str
        What to call the data.
    values : ValueFormat
    policies : Policies
    written : sequence of str
        The keys of `OF_VALUES` that a config has: those that the data cannot follow are refused.
    """
    if is_frame(source):
        return Ratings.from_table(table_of_frame(source, named, name, values), name, **policies)
    if is_matrix(source):
        for key in written:
            raise DataError(
                f"dataset.{key}: a sparse matrix has only numbers at users and items; leave "
                f"`{key}` out"
            )
        columns = _of_matrix(source, name)
    elif is_table(source):
        table = arrow_of(source, name)
        columns = _Columns(table.column_names, table.column)
    else:
        columns, named = _of_rows(source, named, name)
    made = table_of_columns(columns.names, columns.at, named, name, values)
    made = replace(made, notes=(*columns.notes, *made.notes))
    return Ratings.from_table(made, name, **policies)


@checked(DataError)
def arrow_of(source: Any, name: str) -> pa.Table:
    """Return a table of another library than pandas as one of Arrow.

    Raises
    ------
    DataError
        For a lazy frame, and for a table that its library cannot hand over.
    """
    if hasattr(source, "collect") and hasattr(source, "lazy"):
        raise DataError(f"{name}: a lazy frame; give frame.collect()")
    kind = type(source).__name__
    for method, exchange in _EXCHANGES.items():
        if hasattr(source, method):
            try:
                table = exchange(source)
                columns = [_usual(column) for column in table.columns]
                return pa.table(columns, names=table.column_names)
            except HarnessError:
                raise
            except Exception as error:  # of another library, of any type
                raise DataError(
                    f"{name}: of type {kind}, which cannot be read ({type(error).__name__}: "
                    f"{reason_of(error)}); give a DataFrame of pandas"
                ) from error
    raise DataError(f"{name}: of type {kind}; give a DataFrame of pandas")


def _usual(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts of the types that only some libraries write as plain text."""
    kind = column.type
    if pa.types.is_dictionary(kind) and not pa.types.is_string(kind.value_type):
        column = column.cast(kind.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column


def _from_stream(table: Any) -> pa.Table:
    """Return a table that is handed over in Arrow's form, which Arrow's own has already.

    Arrow 22 and 23 end the process where they hand over views of text.
    """
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    return table.read_all() if isinstance(table, pa.RecordBatchReader) else pa.table(table)


def _from_interchange(table: Any) -> pa.Table:
    from pyarrow import interchange

    return interchange.from_dataframe(table)


def _from_pandas(table: Any) -> pa.Table:
    return pa.Table.from_pandas(table.to_pandas(), preserve_index=False)


_EXCHANGES: dict[str, Callable[[Any], pa.Table]] = {
    "__arrow_c_stream__": _from_stream,
    "__dataframe__": _from_interchange,
    "to_pandas": _from_pandas,
}
"""How tables of other libraries become Arrow's, by the method that offers it."""


def _of_matrix(source: Any, name: str) -> _Columns:
    if len(source.shape) != 2:
        raise DataError(f"{name}: a sparse array of shape {source.shape}; give users × items")
    entries = source.tocoo()
    if not is_number(entries.data):
        raise DataError(f"{name}: a matrix of {entries.data.dtype}; turn it into numbers")
    columns = entries.row, entries.col, entries.data.astype(float)
    return _Columns(["user", "item", "rating"], columns.__getitem__)


def _of_rows(
    source: Sequence[Any], named: Mapping[str, str | int | None], name: str
) -> tuple[_Columns, dict[str, str | int | None]]:
    """Return the columns of rows, and their positions by role."""
    if not source:
        raise DataError(f"{name}: no ratings; give data that have some")
    width = -1
    for row, values in enumerate(source):
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
            raise DataError(
                f"{name}: row {row} (counted from 0): {values!r:.60}; give tuples (user, item, "
                "rating), perhaps with the time"
            )
        width = len(values) if width < 0 else width
        if len(values) != width:
            raise DataError(
                f"{name}: row {row} (counted from 0) has {len(values)} values, the first {width}; "
                "give tuples of one length"
            )
    if text := next((column for column in named.values() if isinstance(column, str)), None):
        raise DataError(f"dataset.columns: {text!r}: tuples have no names; give positions, from 1")
    sample = [[*map(str, values)] for values in source[:LINES]]
    placed = positioned_columns(sample, named, name)
    roles: dict[str, str | int | None] = {role: at + 1 for role, at in placed.columns.items()}
    if "timestamp" in named and "timestamp" not in roles:
        roles["timestamp"] = None
    columns = [list(column) for column in zip(*source, strict=True)]
    names = [f"value {position}" for position in range(1, width + 1)]
    return _Columns(names, columns.__getitem__, placed.notes), roles
