"""The readers of Arrow's own file format, which Feather is, and of ORC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.datasets.readers.base import Reader, ReadOptions, to_table
from harness.datasets.readers.parquet import check_room
from harness.errors import DataError, reason_of
from harness.lazy import pa

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


class Feather(Reader):
    """Arrow IPC files, as ``DataFrame.to_feather`` writes them."""

    endings = (".feather", ".arrow", ".ipc")
    label = "Feather"

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as an Arrow file does."""
        return head.startswith(b"ARROW1")

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        from pyarrow import ipc

        where = options.where
        with _refused(where, "an Arrow file"), pa.memory_map(str(path)) as source:
            names = ipc.open_file(source).schema.names

            def columns_at(positions: list[int]) -> list[Any]:
                chosen = ipc.IpcReadOptions(included_fields=sorted(positions))
                table = ipc.open_file(source, options=chosen).read_all()
                return [table.column(sorted(positions).index(position)) for position in positions]

            return to_table(names, columns_at, options)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        from pyarrow import ipc

        with _refused(where, "an Arrow file"), pa.memory_map(str(path)) as source:
            return list(ipc.open_file(source).schema.names)


class ORC(Reader):
    """Columns of Apache ORC, of which only those that are needed are read."""

    endings = (".orc",)
    label = "ORC"

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as an ORC file does."""
        return head.startswith(b"ORC")

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        with _refused(options.where, "an ORC file"):
            file = self._opened(path)
            names = list(file.schema.names)

            def columns_at(positions: list[int]) -> list[Any]:
                check_room(file.nrows, options.where)
                table = file.read(columns=[names[position] for position in positions])
                return [table.column(names[position]) for position in positions]

            return to_table(names, columns_at, options)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        with _refused(where, "an ORC file"):
            return list(self._opened(path).schema.names)

    def _opened(self, path: Path) -> Any:
        from pyarrow import orc

        return orc.ORCFile(path)


@contextmanager
def _refused(where: str, kind: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        reason = reason_of(error)
        raise DataError(f"{where}: not {kind} that can be read ({reason})") from None
