"""The readers of Arrow's own file format, which Feather is, and of ORC."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness._util.libraries import pa, pq
from harness.datasets.evidence import LINES
from harness.datasets.readers.base import (
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    sample_of_columns,
    to_table,
)
from harness.datasets.readers.batches import check_rows, gathered, refused

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


MAGIC, CONTINUATION = b"ARROW1", b"\xff\xff\xff\xff"
HEAD = 4096
"""Bytes by which a stream is recognised."""
BATCH = 1 << 13
"""Rows of ORC that are read at once: its reader repeats the text of a dictionary for each."""


class Feather(Reader):
    """Arrow IPC files, written by ``DataFrame.to_feather`` for example, and Arrow's streams."""

    endings = (".feather", ".arrow", ".ipc", ".arrows")
    label = "Feather"
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings."""
        example_ratings().to_feather(path)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as an Arrow file or a stream does."""
        return head.startswith(MAGIC) or _is_stream(head)

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        from pyarrow import ipc

        with refused(options.where, "an Arrow file"), pa.memory_map(str(path)) as source:
            is_stream = _is_stream(source.read_at(HEAD, 0))
            open_one = ipc.open_stream if is_stream else ipc.open_file
            names = open_one(source).schema.names

            def columns_at(positions: list[int]) -> list[Any]:
                n_rows, n_bytes = _declared_by_stream(source) if is_stream else _declared(source)
                check_rows(n_rows, path, options)
                size = path.stat().st_size
                options.limits.check_unpacked(n_bytes, size, options.where, least=False)
                order = sorted(positions)
                source.seek(0)
                file = open_one(source, options=ipc.IpcReadOptions(included_fields=order))
                batches = file
                if not is_stream:
                    batches = map(file.get_batch, range(file.num_record_batches))
                columns = gathered(batches, path, options) or [()] * len(order)
                return [columns[order.index(position)] for position in positions]

            return to_table(names, columns_at, options, lambda: self.sample(path, options).rows)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows."""
        from pyarrow import ipc

        with refused(options.where, "an Arrow file"), pa.memory_map(str(path)) as source:
            is_stream = _is_stream(source.read_at(HEAD, 0))
            _, n_bytes = _declared_by_stream(source) if is_stream else _declared(source)
            size = path.stat().st_size
            options.limits.check_unpacked(n_bytes, size, options.where, least=False)
            source.seek(0)
            file = ipc.open_stream(source) if is_stream else ipc.open_file(source)
            if is_stream:
                batches = iter(file)
            else:
                batches = map(file.get_batch, range(file.num_record_batches))
            return _first_rows(batches, file.schema, options)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        from pyarrow import ipc

        with refused(where, "an Arrow file"), pa.memory_map(str(path)) as source:
            is_stream = _is_stream(source.read_at(HEAD, 0))
            return list((ipc.open_stream if is_stream else ipc.open_file)(source).schema.names)


class ORC(Reader):
    """Columns of Apache ORC, of which only those that are needed are read."""

    endings = (".orc",)
    label = "ORC"
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings."""
        example_ratings().to_orc(path)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as an ORC file does."""
        return head.startswith(b"ORC")

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        import pyarrow.dataset
        from pyarrow import orc

        with refused(options.where, "an ORC file"):
            file = orc.ORCFile(path)
            names = list(file.schema.names)

            def columns_at(positions: list[int]) -> list[Any]:
                check_rows(file.nrows, path, options)
                chosen = [names[position] for position in positions]
                batches = pyarrow.dataset.dataset(str(path), format="orc").to_batches(
                    columns=chosen,
                    batch_size=BATCH,
                    batch_readahead=0,
                    fragment_readahead=0,
                    use_threads=False,
                )
                return gathered(batches, path, options) or [()] * len(chosen)

            return to_table(names, columns_at, options, lambda: self.sample(path, options).rows)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows."""
        import pyarrow.dataset
        from pyarrow import orc

        with refused(options.where, "an ORC file"):
            file = orc.ORCFile(path)
            check_rows(file.nrows, path, options)
            batches = pyarrow.dataset.dataset(str(path), format="orc").to_batches(
                batch_size=LINES, batch_readahead=0, fragment_readahead=0, use_threads=False
            )
            return _first_rows(batches, file.schema, options)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        from pyarrow import orc

        with refused(where, "an ORC file"):
            return list(orc.ORCFile(path).schema.names)


def _first_rows(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, options: ReadOptions
) -> Sample:
    """Return the first rows of batches, of which the first that has some is enough."""
    for batch in batches:
        if len(batch):
            first = batch[:LINES]
            first.validate(full=True)
            return sample_of_columns(pa.Table.from_batches([first]), options.where)
    return Sample(list(schema.names), [])


def _is_stream(head: bytes) -> bool:
    """Return whether bytes are the beginning of a stream: a message that is a schema."""
    if head[:4] != CONTINUATION or len(head) < 16:
        return False
    try:
        (size,) = struct.unpack_from("<i", head, 4)
        message = _Flat.root(head[8:])
        kind = message.byte(_KIND)
    except (struct.error, LookupError):
        return False
    return 0 < size < 1 << 28 and kind == _SCHEMA


def _declared_by_stream(source: pa.NativeFile) -> tuple[int, int]:
    """Return the rows of a stream, and the bytes to which its buffers unpack, as declared."""
    n_rows = n_bytes = place = 0
    end = source.size()
    while place + 8 <= end:
        (size,) = struct.unpack("<i", source.read_at(4, place + 4))
        if size <= 0:
            break
        message = _Flat.root(source.read_at(min(size, end - place), place + 8))
        kind, body = message.byte(_KIND), message.whole(_BODY)
        batch = message.table(_HEADER)
        place += 8 + size
        if batch is not None and kind == _DICTIONARY:
            batch = batch.table(_DATA)
        if batch is not None and kind in (_DICTIONARY, _BATCH):
            n_rows += batch.whole(_LENGTH) if kind == _BATCH else 0
            n_bytes += _unpacked_size(batch, source, place)
        place += max(0, body)
    return n_rows, n_bytes


def _unpacked_size(batch: _Flat, source: pa.NativeFile, body: int) -> int:
    """Return the bytes to which the buffers of a batch unpack; those that are packed say it."""
    n_bytes = 0
    is_packed = batch.table(_COMPRESSION) is not None
    for place, size in batch.structs(_BUFFERS, "<qq"):
        if is_packed and size >= 8:
            (unpacked,) = struct.unpack("<q", source.read_at(8, body + place))
            size = size if unpacked < 0 else unpacked
        n_bytes += size
    return n_bytes


def _declared(source: pa.NativeFile) -> tuple[int, int]:
    """Return the rows of an Arrow file, and the bytes to which its buffers unpack, as declared.

    pyarrow makes room for them before it looks at any. The file's footer lists blocks, each with
    the metadata of its buffers; those that are packed begin with their size.
    """
    n_rows = n_bytes = 0
    end = source.size()
    (length,) = struct.unpack("<i", source.read_at(4, end - len(MAGIC) - 4))
    footer = _Flat.root(source.read_at(max(0, length), end - len(MAGIC) - 4 - length))
    for field in (_DICTIONARIES, _BATCHES):
        for offset, head, _, _ in footer.structs(field, "<qiiq"):
            message = source.read_at(head, offset)
            begin = 8 if message[:4] == b"\xff\xff\xff\xff" else 4
            batch = _Flat.root(message[begin:]).table(_HEADER)
            if batch is not None and field == _DICTIONARIES:
                batch = batch.table(_DATA)
            if batch is None:
                continue
            if field == _BATCHES:
                n_rows += batch.whole(_LENGTH)
            n_bytes += _unpacked_size(batch, source, offset + head)
    return n_rows, n_bytes


_DICTIONARIES, _BATCHES = 2, 3  # fields of a footer
_KIND, _HEADER, _BODY = 1, 2, 3  # of a message
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3  # kinds of messages
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # of a record batch
_DATA = 1  # of a dictionary


class _Flat:
    """A table of a FlatBuffer, as far as it is read here; pyarrow verifies the others."""

    def __init__(self, data: bytes, place: int) -> None:
        self.data, self.place = data, place
        self.fields = place - struct.unpack_from("<i", data, place)[0]

    @classmethod
    def root(cls, data: bytes) -> _Flat:
        """Return the table that a buffer begins with."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def _at(self, field: int) -> int:
        (size,) = struct.unpack_from("<H", self.data, self.fields)
        entry = 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, self.fields + entry)[0] if entry < size else 0
        return self.place + offset if offset else 0

    def whole(self, field: int) -> int:
        """Return a whole number of 64 bits, 0 where there is none."""
        place = self._at(field)
        return struct.unpack_from("<q", self.data, place)[0] if place else 0

    def byte(self, field: int) -> int:
        """Return a number of 8 bits, 0 where there is none."""
        place = self._at(field)
        return self.data[place] if place else 0

    def table(self, field: int) -> _Flat | None:
        """Return a table in this one."""
        place = self._at(field)
        if not place:
            return None
        return _Flat(self.data, place + struct.unpack_from("<I", self.data, place)[0])

    def structs(self, field: int, form: str) -> Iterator[tuple[Any, ...]]:
        """Yield the structures of a vector."""
        place = self._at(field)
        if not place:
            return
        place += struct.unpack_from("<I", self.data, place)[0]
        (length,) = struct.unpack_from("<I", self.data, place)
        size = struct.calcsize(form)
        length = min(length, (len(self.data) - place - 4) // size)
        yield from struct.iter_unpack(form, self.data[place + 4 : place + 4 + length * size])


PARQUET_BATCH = 1 << 16
BUFFER = 1 << 16
"""Bytes of a column that are held at once where only its first rows are read."""


class Parquet(Reader):
    """Columns of Apache Parquet, of which only those that are needed are read."""

    endings = (".parquet", ".pq")
    label = "Parquet"
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings."""
        example_ratings().to_parquet(path)

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
                    batches = again.iter_batches(PARQUET_BATCH, columns=chosen)
                    columns = gathered(batches, path, options) or [()] * len(order)
                return [columns[order.index(position)] for position in positions]

            return to_table(names, columns_at, options, lambda: self.sample(path, options).rows)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows."""
        with _opened(path, options.where) as file:
            check_rows(file.metadata.num_rows, path, options)
            _check_declared(file, file.schema_arrow.names, path, options)
            with pq.ParquetFile(path, buffer_size=BUFFER) as again:  # a column may be large
                return _first_rows(again.iter_batches(LINES), file.schema_arrow, options)

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
