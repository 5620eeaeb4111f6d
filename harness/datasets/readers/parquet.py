"""The reader of Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.datasets.readers.base import Reader, ReadOptions, to_table
from harness.datasets.readers.batches import check_rows, gathered, refused
from harness.lazy import pa, pq

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

BATCH = 1 << 16


class Parquet(Reader):
    """Columns of Apache Parquet, of which only those that are needed are read."""

    endings = (".parquet", ".pq")
    label = "Parquet"

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as a Parquet file does."""
        return head.startswith(b"PAR1")

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        with _opened(path, options.where) as file:
            names = file.schema_arrow.names
            is_text = [
                pa.types.is_string(kind) or pa.types.is_large_string(kind)
                for kind in file.schema_arrow.types
            ]

            def columns_at(positions: list[int]) -> list[object]:
                check_rows(file.metadata.num_rows, path, options)
                order = sorted(positions)
                chosen = [names[position] for position in order]
                _check_declared(file, chosen, path, options)
                texts = [names[position] for position in order if is_text[position]]
                # One text for a million rows stays one text.
                with pq.ParquetFile(path, read_dictionary=texts) as again:
                    batches = again.iter_batches(BATCH, columns=chosen)
                    columns = gathered(batches, path, options) or [()] * len(order)
                return [columns[order.index(position)] for position in positions]

            return to_table(names, columns_at, options)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        with _opened(path, where) as file:
            return list(file.schema_arrow.names)


def _check_declared(
    file: pq.ParquetFile, chosen: list[str], path: Path, options: ReadOptions
) -> None:
    """Refuse columns whose pages unpack to more than is plausible."""
    metadata, declared = file.metadata, 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        columns = map(row_group.column, range(row_group.num_columns))
        declared += sum(
            column.total_uncompressed_size
            for column in columns
            if column.path_in_schema.partition(".")[0] in chosen
        )
    n_bytes = path.stat().st_size
    options.limits.check_unpacked(declared, n_bytes, options.where, least=False)


@contextmanager
def _opened(path: Path, where: str) -> Iterator[pq.ParquetFile]:
    with refused(where, "a Parquet file"), pq.ParquetFile(path) as file:
        yield file  # `read_table` would import much that nothing needs
