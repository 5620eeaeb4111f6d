"""Parquet with one row for each list and its items nested in it, as LensKit writes by default."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness._util.libraries import pa, pc, pq
from harness.datasets.columns import Roles
from harness.datasets.exchanged import KINDS, NAMES, Written
from harness.datasets.readers.base import ReadOptions, to_table
from harness.datasets.readers.batches import check_rows
from harness.errors import DataError

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

ITEMS = "items"
"""The column of lists, whose elements have a field for each property of an item."""
MAGIC = b"PAR1"


def is_nested(path: Path) -> bool:
    """Return whether a file is Parquet with a column ``items`` of lists of structures."""
    try:
        with path.open("rb") as head:
            if head.read(len(MAGIC)) != MAGIC:
                return False
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException):  # the reader of tables says what is wrong with it
        return False
    return ITEMS in schema.names and _has_fields(schema.field(ITEMS).type)


def _has_fields(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(is_list and pa.types.is_struct(kind.value_type))


def read_nested(
    path: Path, where: str, required: tuple[str, ...], optional: tuple[str, ...], written: Written
) -> Table:
    """Read the lists as a table with one row for each item; an empty list has none.

    A DataError is raised where a column is missing or the file unpacks to more than is plausible.
    """
    roles = Roles(
        {role: KINDS[role] for role in (*required, *optional)},
        NAMES,
        frozenset(optional) - frozenset(required),
        strict=True,
        order=(),
    )
    columns = {role: at for role, at in written.columns.items() if role in roles.kinds}
    options = ReadOptions(decimal=written.decimal, columns=columns, roles=roles, where=where)
    try:
        with pq.ParquetFile(path) as file:
            metadata = file.metadata
            parts = [
                metadata.row_group(group).column(column)
                for group in range(metadata.num_row_groups)
                for column in range(metadata.num_columns)
            ]
            unpacked = sum(part.total_uncompressed_size for part in parts)
            options.limits.check_unpacked(unpacked, path.stat().st_size, where, least=False)
            check_rows(max((part.num_values for part in parts), default=0), path, options)
            lists = file.read()
    except (OSError, pa.ArrowException) as error:
        raise DataError(
            f"{where}: not a Parquet file that can be read ({error}); write it again"
        ) from None
    items = lists[ITEMS].combine_chunks()
    rows, fields = pc.list_parent_indices(items), pc.list_flatten(items)
    by_name = {name: lists[name].take(rows) for name in lists.column_names if name != ITEMS}
    for place in range(fields.type.num_fields):
        name = fields.type.field(place).name
        values = pc.struct_field(fields, [place])
        if values.null_count < len(values) or not len(values):  # LensKit ranks no unordered list
            by_name[name] = values
    names = [*by_name]
    return to_table(names, lambda places: [by_name[names[place]] for place in places], options)
