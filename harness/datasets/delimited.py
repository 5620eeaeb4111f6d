"""The one reader of delimited text (CSV, TSV, ``::``, blanks), with the line of every fault.

Blocks of whole lines go to Arrow. If it does not give one row for each line, or fails, the block is
read record by record with the `csv` module, which gives the same rows and the faults.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.datasets.columns import Kind, Table, TableBuilder, is_number
from harness.datasets.headers import RATINGS, Roles, find_columns, names_columns
from harness.errors import DataError

__all__ = [
    "Readable",
    "TextFormat",
    "read_blocks",
    "read_sample",
    "read_text",
    "unmarked_encoding",
]

BLOCK = 1 << 24
LONGEST_LINE = 1 << 20
"""Bytes of a row; a rating takes some thirty."""
MOST_FAULTS = 10_000
"""Unmatched quotation marks after which a file is refused."""

_SEPARATORS = ("::", "\t", ",", ";", "|")
_USUAL = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",), "dat": ("::", "\t", ",", ";", "|")}
# Separators of several characters become one that no rating holds: ASCII's unit separator.
UNIT = "\x1f"


class Readable(Protocol):
    """What blocks are read from: a file, or a member of an archive."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""


@dataclass(frozen=True)
class TextFormat:
    """The format of a text file, as far as it is known before it is opened.

    Attributes
    ----------
    kind : {"csv", "tsv", "dat"} or None
        Which separators are usual.
    separator : str or None
        Detected in the first line when None.
    header : bool or None
        Detected when None.
    encoding : str or None
        UTF-8 unless a byte order mark says otherwise, when None.
    columns : mapping
        See `harness.datasets.headers.find_columns`.
    decimal : str
        The decimal mark.
    roles : Roles
        Which columns are read.
    form : str
        The fields that a line must have, where they are fixed.
    """

    kind: str | None = None
    separator: str | None = None
    header: bool | None = None
    encoding: str | None = None
    columns: Mapping[str, str | int | None] = field(default_factory=dict)
    decimal: str = "."
    roles: Roles = RATINGS
    form: str = ""


@dataclass(frozen=True)
class _Layout:
    """How a text file is laid out: separator, header, fields in a line, position of each role."""

    separator: str
    header: bool
    n_fields: int
    columns: dict[str, int]
    kinds: dict[str, Kind]

    @property
    def quoted(self) -> bool:
        """Whether a field may stand in double quotes."""
        return len(self.separator) == 1 and self.separator.isascii()

    def unify(self, block: bytes) -> tuple[bytes, str]:
        """Return a block whose fields are separated by one character, and that character."""
        if self.separator == "whitespace":
            block = re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", block)
            return re.sub(rb"[ \t]+", UNIT.encode(), block), UNIT
        if not self.quoted:
            return block.replace(self.separator.encode(), UNIT.encode()), UNIT
        return block, self.separator


def read_text(
    stream: BinaryIO | Readable,
    known: TextFormat,
    where: str,
    tick: Callable[[int], object] | None = None,
) -> Table:
    """Read the columns of a delimited text; every row is counted, every fault has its line.

    Parameters
    ----------
    stream : readable
        Bytes, from their start.
    known : TextFormat
        The known parts of the format, and the columns to read.
    where : str
        What is read, for messages.
    tick : callable, optional
        Called with the number of bytes of each block.

    Raises
    ------
    DataError
        With file and line: no rows, a missing column, an encoding that does not fit, a line that
        never ends. Faults of single rows are in the table.
    """
    layout: _Layout | None = None
    builder = TableBuilder({})
    lines = _Lines([], where)
    line, carried = 1, b""
    blocks = read_blocks(_transcoded(stream, known.encoding, where), where)
    block = next(blocks, None)
    while block is not None:
        following = next(blocks, None)
        if tick:
            tick(len(block))
        body = carried + block
        carried = b""
        if layout is None:
            n_before, first = _first_line(body, line, where)
            line += n_before
            if first is not None:
                layout = _lay_out(first, line, body, known, where)
                builder = TableBuilder(layout.kinds, known.decimal)
                body = body.lstrip(b"\n")
                if layout.header:
                    body = body.partition(b"\n")[2]
                    line += 1
        if layout is not None and body:
            columns = _parse(body, line, layout, lines, builder)
            if columns is None:
                columns, n_left = _parse_slowly(
                    body, line, layout, lines, builder, final=following is None
                )
                carried = body[len(body) - n_left :]
            line += body.count(b"\n") - carried.count(b"\n")
            if columns:
                builder.add(columns)
        block = following
    if layout is None or not builder.n_rows:
        raise DataError(f"{where}: no rows of data; give a file that has some")
    return builder.finish(lines.at, lines.notes())


def read_sample(
    stream: BinaryIO | Readable, known: TextFormat, where: str, n_rows: int
) -> list[list[str]]:
    """Return the fields of the first lines of a text, the header among them.

    Raises
    ------
    DataError
        If there is no line with data.
    """
    for block in read_blocks(_transcoded(stream, known.encoding, where), where):
        first = _first_line(block, 1, where)[1]
        if first is not None:
            separator = known.separator or _separator(first, known.kind, known.roles.least)
            lines = block[: 4 * LONGEST_LINE].decode("utf-8", "replace").split("\n")
            found = (_split(line, separator) for line in lines if line)
            return [[_legible(name.strip()) for name in fields] for fields in islice(found, n_rows)]
    raise DataError(f"{where}: no rows of data; give a file that has some")


def _parse(
    block: bytes, line: int, layout: _Layout, lines: _Lines, builder: TableBuilder
) -> dict[str, Any] | None:
    """Return the columns of a block if each of its lines is one row without fault, else None."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if not layout.quoted and UNIT.encode() in block:
        return None
    quotes = layout.quoted and b'"' in block
    if quotes and not _regular_quotes(block, layout.separator):
        return None
    unified, separator = layout.unify(block)
    if not unified.strip(b"\n"):
        return {}
    text = {"id": pa.dictionary(pa.int32(), pa.string())}
    roles = {position: role for role, position in layout.columns.items()}
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(unified),
            read_options=arrow_csv.ReadOptions(
                column_names=[roles.get(n, str(n)) for n in range(layout.n_fields)],
                block_size=LONGEST_LINE,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                quote_char='"' if layout.quoted else False,
                newlines_in_values=quotes,
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(layout.columns),
                column_types={
                    role: text.get(layout.kinds[role], pa.string()) for role in layout.columns
                },
                strings_can_be_null=False,
                null_values=[],
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowCapacityError):
        return None
    n_lines = unified.count(b"\n") + (not unified.endswith(b"\n"))
    if len(table) == n_lines:
        lines.add(builder.n_rows, line)
    else:  # empty lines, or rows of several lines
        ends = np.flatnonzero(np.frombuffer(unified + b"\n", np.uint8) == ord("\n"))
        filled = np.flatnonzero(np.diff(ends, prepend=-1) > 1)
        if len(table) != len(filled):
            return None
        lines.add(builder.n_rows, filled + line)
    if quotes and not _is_closed(unified, separator):
        return None
    return {role: table.column(role) for role in layout.columns}


def _regular_quotes(block: bytes, separator: str) -> bool:
    """Return whether each quotation mark opens or closes a field, or stands in a pair.

    A mark within a field without quotes does not, nor does one with text behind it.
    """
    mark, edges = b'"', (separator.encode(), b"\n")
    opening = sum(block.count(edge + mark) for edge in edges) + block.startswith(mark)
    closing = sum(block.count(mark + edge) for edge in edges) + block.endswith(mark)
    alone = any(block.count(before + mark + after) for before in edges for after in edges)
    if block.count(mark) == opening + closing and not alone:
        return True
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


def _parse_slowly(
    block: bytes,
    line: int,
    layout: _Layout,
    lines: _Lines,
    builder: TableBuilder,
    *,
    final: bool,
) -> tuple[dict[str, Any], int]:
    """Return the columns of a block record by record, and how many bytes wait for the next block.

    A line with a fault is a row without values that is marked with what is wrong.
    """
    import pyarrow as pa

    text = block.decode("utf-8", "surrogateescape")
    encoded = text.isascii() or text.encode("utf-8", "replace") == block
    cells: list[list[str | None]] = []
    places: list[int] = []
    unreadable: dict[int, str] = {}
    broken: dict[int, str] = {}
    n_left = 0
    for start, stop, fields, fault in _records(text, layout, final):
        row = builder.n_rows + len(cells)
        values: list[str | None] = [None] * len(layout.columns)
        if fault == "open":
            kept = "".join(_split_lines(text)[start:])
            n_left = len(kept.encode("utf-8", "surrogateescape"))
            break
        if fault:
            broken[row] = fault
        elif len(fields) != layout.n_fields:
            unreadable[row] = (
                f"{len(fields)} field{'s' * (len(fields) != 1)} where the first line has "
                f"{layout.n_fields}, separated by {layout.separator!r}"
            )
        elif not encoded and (role := _not_utf_8(fields, layout)):
            broken[row] = (
                f"the {role} is not UTF-8; save the file as UTF-8, "
                "or name its encoding, as encoding: latin-1"
            )
        else:
            values = [fields[position] for position in layout.columns.values()]
        cells.append(values)
        places.append(start + line)
        lines.note_height(start + line, stop - start)
        if len(broken) > MOST_FAULTS:
            break
    if not cells:
        return {}, n_left
    lines.add(builder.n_rows, np.array(places, dtype=np.int64))
    for marks, found in ((builder.unreadable, unreadable), (builder.broken, broken)):
        marks.add(np.array(list(found), dtype=np.int64), found.__getitem__)
    columns = zip(layout.columns, zip(*cells, strict=True), strict=True)
    return {role: pa.array(column, pa.string()) for role, column in columns}, n_left


def _records(
    text: str, layout: _Layout, final: bool
) -> Iterator[tuple[int, int, list[str], str | None]]:
    """Yield the first line of each record, the line after it, its fields, and what is wrong.

    The fault ``open`` stands for a record that the next block goes on with.
    """
    lines = _split_lines(text)
    if not layout.quoted:
        for number, line in enumerate(lines):
            plain = line.rstrip("\n")
            fault = _line_fault(plain, unit=True)
            fields = _split(plain, layout.separator)
            if fields not in ([], [""]):
                yield number, number + 1, fields, fault
        return
    csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))
    begin = 0
    while begin < len(lines):
        first = begin
        reader = csv.reader(
            (lines[n] for n in range(first, len(lines))), delimiter=layout.separator, strict=True
        )
        try:
            for fields in reader:
                end = first + reader.line_num
                if fields:
                    fault = _line_fault(lines[begin], unit=False)
                    yield begin, end, [] if fault else fields, fault
                begin = end
            return
        except csv.Error as error:
            size = sum(map(len, lines[begin:])) if not final else 0
            if "unexpected end" in str(error) and not final and size <= LONGEST_LINE:
                yield begin, len(lines), [], "open"
                return
            yield (
                begin,
                begin + 1,
                [],
                _line_fault(lines[begin], unit=False)
                or (
                    "a quotation mark is opened here and not closed before a separator or a "
                    "line end; double it if it belongs to the text, or remove it"
                ),
            )
            begin += 1


def _line_fault(line: str, *, unit: bool) -> str | None:
    if len(line) > LONGEST_LINE:
        return _too_long()
    return "a control character (0x1f); remove it" if unit and UNIT in line else None


def _not_utf_8(fields: list[str], layout: _Layout) -> str | None:
    """Return the first role whose field holds bytes that are not UTF-8."""
    for role, position in layout.columns.items():
        if any("\udc80" <= mark <= "\udcff" for mark in fields[position]):
            return role
    return None


class _Lines:
    """The line of each row: for each block its first row, and the line of each row or the first."""

    def __init__(self, starts: list[tuple[int, NDArray[np.int64] | int]], where: str) -> None:
        self.starts, self.where = starts, where
        self.first_tall = self.n_tall = 0

    def add(self, first_row: int, lines: NDArray[np.int64] | int) -> None:
        """Note where the rows of a block stand, in place of what was noted of it before."""
        if self.starts and self.starts[-1][0] == first_row:
            self.starts.pop()
        self.starts.append((first_row, lines))

    def note_height(self, line: int, n_lines: int) -> None:
        """Note how many lines a row takes."""
        if n_lines > 1:
            self.first_tall = self.first_tall or line
            self.n_tall += 1

    def at(self, row: int) -> str:
        """Return ``file:line`` of a row, or the file alone for -1."""
        if row < 0:
            return self.where
        first, lines = self.starts[bisect_right(self.starts, row, key=lambda start: start[0]) - 1]
        return (
            f"{self.where}:{lines + row - first if isinstance(lines, int) else lines[row - first]}"
        )

    def notes(self) -> list[str]:
        """Return what a reader has to know of the lines."""
        if not self.n_tall:
            return []
        rows = "1 row takes" if self.n_tall == 1 else f"{self.n_tall:,} rows take"
        return [
            f"{rows} several lines, within quotation marks; the first is line {self.first_tall}"
        ]


def _transcoded(stream: BinaryIO | Readable, encoding: str | None, where: str) -> Readable:
    """Return the stream as UTF-8 without byte order mark."""
    start = stream.read(4)
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and encoding in (None, "utf-16"):
        encoding = "utf-16"
    elif encoding in (None, "utf-8", "utf-16") and (unmarked := unmarked_encoding(start)):
        raise DataError(
            f"{where}: UTF-16 without a byte order mark, it seems; "
            f"name its encoding, as encoding: {unmarked}"
        )
    if encoding in (None, "utf-8"):
        return _Prefixed(start.removeprefix(codecs.BOM_UTF8), stream)
    return _Recoded(_Prefixed(start, stream), str(encoding), where)


def unmarked_encoding(start: bytes) -> str | None:
    """Return which UTF-16 a text without byte order mark is, by its first four bytes.

    Examples
    --------
    >>> unmarked_encoding("user".encode("utf-16-le")[:4]), unmarked_encoding(b"user")
    ('utf-16-le', None)
    """
    zeros = "".join("0" if byte == 0 else "x" for byte in start)
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros)


class _Prefixed:
    """A stream with some of its bytes put back."""

    def __init__(self, start: bytes, rest: BinaryIO | Readable) -> None:
        self._start, self._rest = start, rest

    def read(self, size: int, /) -> bytes:
        if self._start:
            start, self._start = self._start, b""
            return start + self._rest.read(size)
        return self._rest.read(size)


class _Recoded:
    """A stream turned into UTF-8 as it is read."""

    def __init__(self, stream: Readable, encoding: str, where: str) -> None:
        self._stream, self._encoding, self._where = stream, encoding, where
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._mark = "\ufeff"

    def read(self, size: int, /) -> bytes:
        while True:
            data = self._stream.read(size)
            try:
                text = self._decoder.decode(data, final=not data)
            except UnicodeError as error:
                raise DataError(
                    f"{self._where}: not {self._encoding} ({error}); name its encoding"
                ) from None
            if text or not data:
                text, self._mark = text.removeprefix(self._mark), ""
                return text.encode("utf-8", "surrogatepass")


def read_blocks(stream: Readable, where: str) -> Iterator[bytes]:
    r"""Yield the stream in blocks of whole lines, some 16 MB each, which end with ``\n``.

    Raises
    ------
    DataError
        If a line is longer than any rating can be.
    """
    rest = b""
    n_lines = 0
    while chunk := stream.read(BLOCK):
        if chunk.endswith(b"\r"):
            chunk += stream.read(1)
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        cut = chunk.rfind(b"\n") + 1
        if cut:
            block, rest = rest + chunk[:cut], chunk[cut:]
            n_lines += block.count(b"\n")
            yield block
        else:
            rest += chunk
        if len(rest) > LONGEST_LINE + BLOCK:
            raise DataError(f"{where}:{n_lines + 1}: {_too_long()}")
    if rest:
        yield rest


def _too_long() -> str:
    return (
        f"a line of more than {LONGEST_LINE:,} bytes; give a file with one rating a line "
        "(line ends lost, or not text?)"
    )


def _split_lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline="\n"))


def _split(line: str, separator: str) -> list[str]:
    r"""Return the fields of one line.

    Examples
    --------
    >>> _split('1,"a, b",3', ",")
    ['1', 'a, b', '3']
    >>> _split("1::2::3", "::")
    ['1', '2', '3']
    """
    if separator == "whitespace":
        return re.split(r"[ \t]+", line.strip(" \t"))
    if len(separator) > 1 or not separator.isascii():
        return line.split(separator)
    csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))
    return next(csv.reader([line], delimiter=separator), [])


def _first_line(block: bytes, line: int, where: str) -> tuple[int, str | None]:
    """Return how many empty lines a block starts with, and the line after them."""
    body = block.lstrip(b"\n")
    n_before = len(block) - len(body)
    if not body:
        return n_before, None
    first = body[: 2 * LONGEST_LINE].partition(b"\n")[0].decode("utf-8", "surrogateescape")
    if len(first) > LONGEST_LINE:
        raise DataError(f"{where}:{line + n_before}: {_too_long()}")
    if "\0" in first:
        raise DataError(f"{where}:{line + n_before}: null bytes; this is not text")
    return n_before, first


def _lay_out(first: str, line: int, block: bytes, known: TextFormat, where: str) -> _Layout:
    """Find separator, header and columns from the first line and the known format."""
    roles = known.roles
    separator = known.separator or _separator(first, known.kind, roles.least)
    fields = [_legible(name.strip()) for name in _split(first, separator)]
    where = f"{where}:{line}"
    if len(fields) < roles.least:
        raise DataError(
            f"{where}: {len(fields)} field{'s' * (len(fields) != 1)} separated by "
            f"{separator!r}, but {roles.listed} make {roles.least}; "
            "name the separator, as separator: ';'"
        )
    if known.form and len(fields) != len(known.form.split()):
        raise DataError(
            f"{where}: {len(fields)} fields; a line must be {known.form}, with blanks between"
        )
    by_name = any(isinstance(asked, str) for asked in known.columns.values())
    header = known.header
    if header is None:
        header = by_name or names_columns(fields, roles)
        if not header and not _has_rating(fields, known):
            header = True
            where += ": a header, it seems, as it has no rating"
    if header:
        columns = find_columns(fields, known.columns, where, roles)
    else:
        columns = _by_order(fields, known, where)
    return _Layout(separator, header, len(fields), columns, {r: roles.kinds[r] for r in columns})


def _separator(line: str, kind: str | None, least: int) -> str:
    """Return what makes enough fields of a line; what is usual for its kind first."""
    candidates = (*_USUAL.get(kind or "", ()), *_SEPARATORS, "whitespace")
    for separator in candidates:
        if len(_split(line, separator)) >= least:
            return separator
    return next((separator for separator in candidates if separator in line), "whitespace")


def _has_rating(fields: list[str], known: TextFormat) -> bool:
    asked = known.columns.get("rating")
    position = asked - 1 if isinstance(asked, int) else 2
    if position >= len(fields):
        return False
    return is_number(fields[position].replace(known.decimal, "."))


def _by_order(fields: list[str], known: TextFormat, where: str) -> dict[str, int]:
    """Return the columns of a file without header: as given, else in the usual order."""
    asked = dict(known.columns)
    for position, role in enumerate(known.roles.kinds, 1):
        if role not in asked and position <= len(fields) and position not in asked.values():
            asked[role] = position
    if any(isinstance(column, str) for column in asked.values()):
        raise DataError(f"{where}: columns have names but the file no header; give positions")
    return find_columns([f"column {n + 1}" for n in range(len(fields))], asked, where, known.roles)


def _legible(name: str) -> str:
    """Return a name without what is not UTF-8 or would not show."""
    decoded = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in decoded)
