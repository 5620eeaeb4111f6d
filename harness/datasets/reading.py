"""Read a text (CSV, TSV, ``::``, blanks), a Parquet file or a frame into converted columns.

Blocks of whole lines go to Arrow. A block of which it does not make one row for each line is read
record by record with the `csv` module, which gives the same rows, those that take several lines,
and the line of every fault.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.datasets.columns import Table, TableBuilder, to_arrow
from harness.datasets.layout import (
    ENDINGS,
    LONGEST_LINE,
    RATINGS,
    Layout,
    Roles,
    TextFormat,
    find_columns,
    lay_out,
    legible,
    separator_of,
    split_line,
)
from harness.errors import DataError, counted

__all__ = ["Watched", "read_columns", "read_file", "read_sample", "read_text", "unmarked_encoding"]

Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` in bytes; the total is 0 when unknown."""

BLOCK = 1 << 22
RECORDS = 1 << 16
"""Records that are converted at once."""
MOST_FAULTS = 10_000
"""Unmatched quotation marks after which a file is refused."""
BYTES_A_ROW = 64
"""Memory of a row while it is read: codes, rating, time, and as much again on the way."""

# Separators of several characters become one that no rating holds: ASCII's unit separator.
UNIT = "\x1f"
_NO_UTF_8 = re.compile("[\udc80-\udcff]")


class Watched(io.RawIOBase):
    """A stream of some `total` bytes whose progress is shown."""

    def __init__(self, stream: IO[bytes], progress: Progress | None, total: int) -> None:
        self._stream, self._progress, self.total = stream, progress, total
        self.done = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there are bytes."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.done += len(data)
        if self._progress:
            self._progress(min(self.done, self.total), self.total)
        return len(data)


def read_file(
    path: Path,
    known: TextFormat,
    where: str,
    progress: Progress | None = None,
) -> Table:
    """Read a file; its ending gives the kind unless `known` names one; `where` is for messages."""
    kind = known.kind or ENDINGS.get(path.suffix.casefold())
    if kind == "parquet":
        return _read_parquet(path, known.columns, known.roles, where)
    try:
        with path.open("rb") as file:
            stream = io.BufferedReader(Watched(file, progress, path.stat().st_size))
            return read_text(stream, replace(known, kind=kind), where)
    except OSError as error:
        raise DataError(f"{where}: cannot be read ({error.strerror}); check the path") from None


def read_columns(columns: Mapping[str, Any], where: str, roles: Roles = RATINGS) -> Table:
    """Convert columns in memory: Arrow or other arrays, lists or Series, by role."""
    builder = TableBuilder({role: roles.kinds[role] for role in columns})
    try:
        builder.add(
            {role: to_arrow(each, role, roles.kinds[role]) for role, each in columns.items()}
        )
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    return builder.finish(lambda row: where + f": row {row} (counted from 0)" * (row >= 0))


def _read_parquet(
    path: Path, columns: Mapping[str, str | int | None], roles: Roles, where: str
) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:  # `read_table` would import much that nothing needs
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
        return read_columns({role: table.column(wanted[role]) for role in wanted}, where, roles)
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


def read_text(stream: IO[bytes], known: TextFormat, where: str) -> Table:
    """Read the columns of a delimited text; every row is counted, every fault has its line.

    Faults of single rows are in the table. Raised with file and line are: no rows, a missing
    column, an encoding that does not fit, a line that never ends.
    """
    blocks = _blocks(stream, known.encoding, where)
    line, first, body = _first_line(blocks, where)
    layout = lay_out(first, known, f"{where}:{line}")
    lines = _Lines(where, line)
    if layout.header:
        body = body.partition(b"\n")[2]
        lines.next += 1
    kinds = {role: known.roles.kinds[role] for role in layout.columns}
    builder = TableBuilder(kinds, known.decimal)
    n_broken = 0
    for block in chain([body], blocks):
        columns = _parse(block, layout, lines, builder)
        if columns is None:
            n_broken += _add_records(_records(block, blocks, layout, lines), layout, lines, builder)
            if n_broken > MOST_FAULTS:
                break
        else:
            if columns:
                builder.add(columns)
            lines.next += block.count(b"\n")
    if not builder.n_rows:
        raise DataError(f"{where}: no rows of data; give a file that has some")
    return builder.finish(lines.at, lines.notes())


def read_sample(stream: IO[bytes], known: TextFormat, where: str, n_rows: int) -> list[list[str]]:
    """Return the fields of the first lines of a text, the header among them."""
    _, first, body = _first_line(_blocks(stream, known.encoding, where), where)
    separator = known.separator or separator_of(first, known)
    lines = body[: 4 * LONGEST_LINE].decode("utf-8", "replace").split("\n")
    found = (split_line(line, separator) for line in lines if line)
    return [[legible(name.strip()) for name in fields] for fields in islice(found, n_rows)]


def unmarked_encoding(start: bytes) -> str | None:
    """Return which UTF-16 a text without byte order mark is, by its first four bytes.

    Examples
    --------
    >>> unmarked_encoding("user".encode("utf-16-le")[:4]), unmarked_encoding(b"user")
    ('utf-16-le', None)
    """
    zeros = "".join("0" if byte == 0 else "x" for byte in start[:4])
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros)


def _pieces(stream: IO[bytes], encoding: str | None, where: str) -> Iterator[bytes]:
    """Yield the stream as UTF-8 without byte order mark."""
    start = stream.read(4)
    pieces = chain([start], iter(lambda: stream.read(BLOCK), b""))
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and encoding in (None, "utf-16"):
        encoding = "utf-16"
    elif encoding in (None, "utf-8", "utf-16") and (unmarked := unmarked_encoding(start)):
        raise DataError(
            f"{where}: UTF-16 without a byte order mark, it seems; "
            f"name its encoding, as encoding: {unmarked}"
        )
    if encoding in (None, "utf-8"):
        yield next(pieces).removeprefix(codecs.BOM_UTF8)
        yield from pieces
        return
    mark = "\ufeff"
    try:
        for text in codecs.iterdecode(pieces, str(encoding)):
            yield text.removeprefix(mark).encode("utf-8", "surrogatepass")
            mark = ""
    except UnicodeError as error:
        raise DataError(f"{where}: not {encoding} ({error}); name its encoding") from None


def _blocks(stream: IO[bytes], encoding: str | None, where: str) -> Iterator[bytes]:
    r"""Yield a text in blocks of whole lines, some 4 MB each, which end with ``\n``."""
    rest, n_lines = b"", 0
    pieces = _pieces(stream, encoding, where)
    for piece in pieces:
        while piece.endswith(b"\r") and (more := next(pieces, b"")):
            piece += more
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        cut = piece.rfind(b"\n") + 1
        if cut:
            block, rest = rest + piece[:cut], piece[cut:]
            n_lines += block.count(b"\n")
            yield block
        else:
            rest += piece
        if len(rest) > LONGEST_LINE + BLOCK:
            raise DataError(f"{where}:{n_lines + 1}: {_too_long()}")
    if rest:
        yield rest


def _first_line(blocks: Iterator[bytes], where: str) -> tuple[int, str, bytes]:
    """Return the number and the text of the first line with data, and the block from there on."""
    line = 1
    for block in blocks:
        body = block.lstrip(b"\n")
        line += len(block) - len(body)
        if not body:
            continue
        first = body[: 2 * LONGEST_LINE].partition(b"\n")[0].decode("utf-8", "surrogateescape")
        if len(first) > LONGEST_LINE:
            raise DataError(f"{where}:{line}: {_too_long()}")
        if "\0" in first:
            raise DataError(f"{where}:{line}: null bytes; this is not text")
        return line, first, body
    raise DataError(f"{where}: no rows of data; give a file that has some")


def _too_long() -> str:
    return (
        f"a line of more than {LONGEST_LINE:,} bytes; give a file with one rating a line "
        "(line ends lost, or not text?)"
    )


def _parse(
    block: bytes, layout: Layout, lines: _Lines, builder: TableBuilder
) -> dict[str, Any] | None:
    """Return the columns of a block if each of its lines is one row without fault, else None."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator = layout.separator
    quotes = layout.quoted and b'"' in block
    if quotes and not _regular_quotes(block, separator):
        return None
    if not layout.quoted:
        if UNIT.encode() in block:
            return None
        if separator == "whitespace":
            block = re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", block)
            block = re.sub(rb"[ \t]+", UNIT.encode(), block)
        else:
            block = block.replace(separator.encode(), UNIT.encode())
        separator = UNIT
    if not block.strip(b"\n"):
        return {}
    roles = {position: role for role, position in layout.columns.items()}
    text = {"id": pa.dictionary(pa.int32(), pa.string())}
    types = {role: text.get(builder.kinds[role], pa.string()) for role in layout.columns}
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block),
            arrow_csv.ReadOptions(
                column_names=[roles.get(n, str(n)) for n in range(layout.n_fields)],
                block_size=LONGEST_LINE,
            ),
            arrow_csv.ParseOptions(
                delimiter=separator,
                quote_char='"' if layout.quoted else False,
                newlines_in_values=quotes,
            ),
            arrow_csv.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                strings_can_be_null=False,
                null_values=[],
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowCapacityError):
        return None
    if quotes and not _is_closed(block, separator):
        return None
    if len(table) == block.count(b"\n") + (not block.endswith(b"\n")):
        lines.parts.append((builder.n_rows, lines.next))
    else:  # empty lines, or rows of several lines
        ends = np.flatnonzero(np.frombuffer(block + b"\n", np.uint8) == ord("\n"))
        filled = np.flatnonzero(np.diff(ends, prepend=-1) > 1)
        if len(table) != len(filled):
            return None
        lines.parts.append((builder.n_rows, filled + lines.next))
    return {role: table.column(role) for role in layout.columns}


def _regular_quotes(block: bytes, separator: str) -> bool:
    """Return whether each quotation mark opens or closes a field, or stands in a pair.

    A mark within a field without quotes does not, nor does one with text behind it.
    """
    edge = re.escape(separator.encode()) + rb"\n"
    odd = rb'(?!\A)(?<![%b"])"(?![%b"])(?!\Z)|(?<![^%b])""(?![%b"])(?!\Z)'
    return re.search(odd % (edge, edge, edge, edge), block) is None


def _is_closed(block: bytes, separator: str) -> bool:
    """Return whether the last line of a block does not end within quotes."""
    last = block.rstrip(b"\n").rpartition(b"\n")[2].decode("utf-8", "replace")
    try:
        list(csv.reader([last], delimiter=separator, strict=True))
    except csv.Error:
        return False
    return True


class _Record(NamedTuple):
    line: int
    n_lines: int
    fields: list[str]
    fault: str | None


def _add_records(
    records: Iterator[_Record], layout: Layout, lines: _Lines, builder: TableBuilder
) -> int:
    """Add records; one with a fault becomes a row without values. Return how many are broken."""
    import pyarrow as pa

    n_broken = 0
    while part := list(islice(records, RECORDS)):
        rows: list[list[str | None]] = []
        faults: dict[str, dict[int, str]] = {"": {}, "unreadable": {}}
        for row, record in enumerate(part):
            fields = record.fields
            if record.fault:
                faults[""][row] = record.fault
            elif len(fields) != layout.n_fields:
                faults["unreadable"][row] = (
                    f"{counted(len(fields), 'field')} where the first line has "
                    f"{layout.n_fields}, separated by {layout.separator!r}"
                )
            elif fault := _not_utf_8(fields, layout):
                faults[""][row] = fault
            else:
                rows.append([fields[position] for position in layout.columns.values()])
                continue
            rows.append([None] * len(layout.columns))
        lines.parts.append((builder.n_rows, np.array([record.line for record in part])))
        lines.tall += [record.line for record in part if record.n_lines > 1]
        for policy, found in faults.items():
            builder.mark(np.array(list(found), dtype=np.int64), found.__getitem__, policy)
        columns = zip(layout.columns, zip(*rows, strict=True), strict=True)
        builder.add({role: pa.array(column, pa.string()) for role, column in columns})
        n_broken += len(faults[""])
        if n_broken > MOST_FAULTS:
            break
    return n_broken


def _records(
    block: bytes, blocks: Iterator[bytes], layout: Layout, place: _Lines
) -> Iterator[_Record]:
    """Yield the records of a block, with what is wrong with a line that makes none.

    Where the block ends within a record, the next one is read too.
    """
    lines = deque(_lines_of(block))
    taken: list[str] = []

    def source() -> Iterator[str]:
        size = 0
        while size <= LONGEST_LINE:
            if not lines:
                lines.extend(_lines_of(next(blocks, b"")))
            if not lines:
                return
            taken.append(lines.popleft())
            size += len(taken[-1])
            yield taken[-1]

    csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))
    while lines:
        taken.clear()
        fault = None
        try:
            if layout.quoted:
                fields = next(csv.reader(source(), delimiter=layout.separator, strict=True))
            else:
                fields = split_line(next(source()).rstrip("\n"), layout.separator)
                fault = "a control character (0x1f); remove it" if UNIT in taken[0] else None
        except csv.Error:
            lines.extendleft(reversed(taken[1:]))
            del taken[1:]
            fields = []
            fault = (
                "a quotation mark is opened here and not closed before a separator or a "
                "line end; double it if it belongs to the text, or remove it"
            )
        if len(taken[0]) > LONGEST_LINE:
            fault = _too_long()
        if fault or fields not in ([], [""]):
            yield _Record(place.next, len(taken), fields, fault)
        place.next += len(taken)


def _lines_of(block: bytes) -> io.StringIO:
    return io.StringIO(block.decode("utf-8", "surrogateescape"), newline="\n")


def _not_utf_8(fields: list[str], layout: Layout) -> str | None:
    """Return what is wrong with the first field that is read and holds bytes outside UTF-8."""
    for role, position in layout.columns.items():
        if _NO_UTF_8.search(fields[position]):
            return (
                f"the {role} is not UTF-8; save the file as UTF-8, "
                "or name its encoding, as encoding: latin-1"
            )
    return None


class _Lines:
    """The line of each row: for each part its first row, and the line of each row or the first."""

    def __init__(self, where: str, first: int) -> None:
        self.where, self.next = where, first
        self.parts: list[tuple[int, NDArray[np.int64] | int]] = []
        self.tall: list[int] = []  # the lines of rows that take several

    def at(self, row: int) -> str:
        """Return ``file:line`` of a row, or the file alone for -1."""
        if row < 0:
            return self.where
        first, lines = self.parts[bisect_right(self.parts, row, key=lambda part: part[0]) - 1]
        line = lines + row - first if isinstance(lines, int) else lines[row - first]
        return f"{self.where}:{line}"

    def notes(self) -> list[str]:
        """Return what a reader has to know of the lines."""
        if not self.tall:
            return []
        rows = "1 row takes" if len(self.tall) == 1 else f"{len(self.tall):,} rows take"
        return [f"{rows} several lines, within quotation marks; the first is line {self.tall[0]}"]
