"""Read a delimited text (CSV, TSV, ``::``, blanks) into converted columns.

Blocks of whole lines go to Arrow. A block with quotation marks, or of which Arrow does not make one
row for each line, is read record by record with the `csv` module, which gives the same rows, those
that take several lines, and the line of every fault.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import itemgetter

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from harness.datasets.columns import RATINGS
from harness.datasets.conversion import SHOWN, Flaw, Table, convert
from harness.datasets.readers.base import NO_ROWS, ReadOptions
from harness.datasets.readers.beginning import TOO_LONG, find_beginning, without_comments
from harness.datasets.readers.encodings import unmarked_encoding
from harness.datasets.readers.layout import (
    LONGEST_LINE,
    Layout,
    lay_out,
    legible,
    separator_of,
    split_line,
)
from harness.datasets.value_format import ValueFormat
from harness.errors import DataError, counted
from harness.notes import Note

BLOCK = 1 << 22
MOST_FAULTS = 10_000
"""Unmatched quotation marks after which a file is refused."""


# Separators of several characters become one that no rating holds: ASCII's unit separator.
UNIT = "\x1f"
_NO_UTF_8 = re.compile("[\udc80-\udcff]")
_NOT_CLOSED = (
    "a quotation mark is opened here and not closed before a separator or a line end; double it "
    "if it belongs to the text, or remove it"
)


def read_text(stream: io.BufferedReader, options: ReadOptions, where: str) -> Table:
    """Read the columns of a delimited text; every row is counted, every fault has its line.

    Faults of single rows are in the table. Raised with file and line are: no rows, a missing
    column, an encoding that does not fit, a line that never ends.
    """
    blocks = without_comments(_blocks(stream, options, where), options)
    begun = find_beginning(blocks, options, where)
    line, body, notes = begun.line, begun.body, [*begun.notes]
    if begun.separator is not None and options.separator is None:
        options = replace(options, separator=begun.separator)
    try:
        layout = options.layout or lay_out(begun.first, options, f"{where}:{line}")
    except DataError as error:
        if not _NO_UTF_8.search(begun.first):
            raise
        raise DataError(f"{error}; the line is not UTF-8: {options.advice()}") from None
    if layout.header:
        line, body = line + 1, body.partition("\n")[2]
    elif (code := _assumption(options)) and not layout.columns.keys() <= options.columns.keys():
        order = sorted(layout.columns, key=layout.columns.__getitem__)
        notes.append(Note(code, {"order": order}))
    rows = _Rows(layout, options, line, notes)
    for block in chain([body], blocks):
        if not rows.add_block(block):
            rows.add_records(block, blocks)
            if len(rows.faults[""]) > MOST_FAULTS:
                break
    return rows.table(where, options.values)


def _assumption(options: ReadOptions) -> str:
    """Return the code of the note on columns whose order was assumed."""
    if options.roles is RATINGS:
        return "" if {"user", "item"} <= options.columns.keys() else "columns-assumed"
    return "list-columns-assumed" if options.roles.order else ""


def read_sample(
    stream: io.BufferedReader, options: ReadOptions, where: str, n_rows: int = 1
) -> tuple[str, list[list[str]]]:
    """Return the separator of a text and the fields of its first lines, the header among them."""
    blocks = without_comments(_blocks(stream, options, where), options)
    begun = find_beginning(blocks, options, where)
    separator = options.separator or begun.separator or separator_of(begun.first, options)
    lines = begun.body[: 4 * LONGEST_LINE].split("\n")
    rows = (split_line(line, separator) for line in lines if line)
    return separator, [[legible(name.strip()) for name in row] for row in islice(rows, n_rows)]


def _blocks(stream: io.BufferedReader, options: ReadOptions, where: str) -> Iterator[str]:
    r"""Yield a text in blocks of whole lines, which end with ``\n``; stray bytes as surrogates."""
    start, encoding = stream.peek(4)[:4], options.encoding
    if encoding is None and start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    elif encoding in (None, "utf-8", "utf-16") and (unmarked := unmarked_encoding(start)):
        raise DataError(
            f"{where}: UTF-16 without a byte order mark, it seems; {options.advice(unmarked)}"
        )
    encoding = encoding or "utf-8"
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    text = io.TextIOWrapper(stream, encoding, errors)
    mark, n_lines = "\ufeff", 0
    try:
        while block := text.read(BLOCK):
            if not block.endswith("\n"):
                rest = text.readline(LONGEST_LINE)
                block += rest
                if len(rest) == LONGEST_LINE and not rest.endswith("\n"):
                    line = n_lines + block.count("\n") + 1
                    raise DataError(f"{where}:{line}: {TOO_LONG}")
            n_lines += block.count("\n")
            yield block.removeprefix(mark)
            mark = ""
    except UnicodeError as error:
        raise DataError(f"{where}: not {encoding} ({error}); {options.advice()}") from None
    finally:
        if not stream.closed:
            text.detach()  # the stream is closed by its owner


def _memory_of_arrow(content: bytes) -> pa.Buffer:
    """Return a copy of bytes in Arrow's memory.

    A thread of Arrow's may release its block last: to release bytes of Python it needs the
    interpreter, and ends the process if that is already shutting down.
    """
    sink = pa.BufferOutputStream()
    sink.write(content)
    return sink.getvalue()


class _Rows:
    """The rows of a text as they are read: columns of text, lines, and what is wrong with some."""

    def __init__(self, layout: Layout, options: ReadOptions, line: int, notes: list[Note]) -> None:
        self.notes = notes
        self.layout, self.kinds, self.line = layout, options.roles.kinds, line
        self.advice = options.advice()
        self.n_rows = 0
        self.chunks: dict[str, list[pa.Array]] = {role: [] for role in layout.columns}
        self.lines: list[tuple[int, Sequence[int]]] = []  # from the row on, the line of each
        self.faults: dict[str, list[int]] = {"": [], "unreadable": []}  # rows by policy
        self.described: dict[int, str] = {}  # what is wrong with the first of them
        self.tall: list[int] = []  # the lines of rows that take several

    def add_block(self, block: str) -> bool:
        """Add a block if each of its lines is one row without fault; return whether it is."""
        layout = self.layout
        separator = layout.separator
        if layout.quoted and '"' in block:
            return False
        if not layout.is_one_byte:
            if UNIT in block:
                return False
            if separator == "whitespace":
                block = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", block)
                block = re.sub(r"[ \t]+", UNIT, block)
            else:
                block = block.replace(separator, UNIT)
            separator = UNIT
        if block.strip("\n"):
            roles = {position: role for role, position in layout.columns.items()}
            types = {role: self._type(role) for role in layout.columns}
            try:
                table = arrow_csv.read_csv(
                    pa.BufferReader(_memory_of_arrow(block.encode("utf-8", "surrogateescape"))),
                    arrow_csv.ReadOptions(
                        column_names=[roles.get(n, str(n)) for n in range(layout.n_fields)],
                        block_size=LONGEST_LINE,
                    ),
                    arrow_csv.ParseOptions(delimiter=separator, quote_char=False),
                    arrow_csv.ConvertOptions(
                        include_columns=list(types), column_types=types, null_values=[]
                    ),
                )
            except (pa.ArrowInvalid, pa.ArrowCapacityError):
                return False
            n_lines = block.count("\n") + (not block.endswith("\n"))
            lines: Sequence[int] = range(self.line, self.line + n_lines)
            if len(table) < n_lines:  # Arrow skips empty lines
                lines = [self.line + n for n, line in enumerate(block.split("\n")) if line]
            if len(table) != len(lines):
                return False
            for role in types:
                self.chunks[role] += table.column(role).chunks
            self._count(lines)
        self.line += block.count("\n")
        return True

    def add_records(self, block: str, blocks: Iterator[str]) -> None:
        """Add a block record by record; one with a fault becomes a row without values."""
        layout = self.layout
        pick, nothing = itemgetter(*layout.columns.values()), (None,) * len(layout.columns)
        rows: list[tuple[str | None, ...]] = []
        lines: list[int] = []
        for n_taken, fields, fault in _records(block, blocks, layout):
            if fault or fields not in ([], [""]):
                policy = ""
                if not fault and len(fields) != layout.n_fields:
                    policy = "unreadable"
                    fault = (
                        f"{counted(len(fields), 'field')} where the first line has "
                        f"{layout.n_fields}, separated by {layout.separator!r}"
                    )
                elif not fault and not "".join(fields).isascii():
                    fault = self._not_utf_8(fields)
                if fault:
                    if len(self.faults[policy]) < SHOWN:
                        self.described[self.n_rows + len(rows)] = fault
                    self.faults[policy].append(self.n_rows + len(rows))
                rows.append(nothing if fault else pick(fields))
                lines.append(self.line)
                if n_taken > 1:
                    self.tall.append(self.line)
            self.line += n_taken
            if len(self.faults[""]) > MOST_FAULTS:
                break
        for role, column in zip(layout.columns, zip(*rows, strict=True), strict=False):
            self.chunks[role].append(pa.array(column, self._type(role)))
        self._count(lines)

    def _type(self, role: str) -> pa.DataType:
        is_id = self.kinds[role] in ("id", "text")
        return pa.dictionary(pa.int32(), pa.string()) if is_id else pa.string()

    def _count(self, lines: Sequence[int]) -> None:
        self.lines.append((self.n_rows, lines))
        self.n_rows += len(lines)

    def _not_utf_8(self, fields: list[str]) -> str:
        """Return what is wrong with the first field that is read and holds bytes outside UTF-8."""
        for role, place in self.layout.columns.items():
            if _NO_UTF_8.search(fields[place]):
                return f"the {role} is not UTF-8; {self.advice}"
        return ""

    def table(self, where: str, values: ValueFormat) -> Table:
        """Return the converted columns of all rows."""
        if not self.n_rows:
            raise DataError(f"{where}: {NO_ROWS}")

        def at(row: int) -> str:
            if row < 0:
                return where
            first, lines = self.lines[bisect_right(self.lines, row, key=lambda part: part[0]) - 1]
            return f"{where}:{lines[row - first]}"

        flaws = [
            Flaw(policy, np.array(rows, np.int64), self.described.__getitem__)
            for policy, rows in self.faults.items()
        ]
        notes = self.notes
        if self.tall:
            notes.append(Note("several-lines", {"n": len(self.tall), "line": self.tall[0]}))
        columns = {role: pa.chunked_array(chunks) for role, chunks in self.chunks.items()}
        return convert(columns, self.kinds, where, at, values=values, notes=notes, flaws=flaws)


def _records(
    block: str, blocks: Iterator[str], layout: Layout
) -> Iterator[tuple[int, list[str], str]]:
    """Yield for each record of a block its lines, its fields, and what is wrong with it.

    Where the block ends within a record, the next one is read too. A line with a quotation mark
    that is not closed makes a record of its own.
    """
    lines = deque(io.StringIO(block, newline="\n"))
    replaced = not layout.is_one_byte
    record_lines: list[str] = []

    def source() -> Iterator[str]:
        size = 0
        while size <= LONGEST_LINE:
            if not lines and record_lines:
                lines.extend(io.StringIO(next(blocks, ""), newline="\n"))
            if not lines:
                return
            record_lines.append(lines.popleft())
            yield record_lines[-1]
            size = size + len(record_lines[-1]) if record_lines else 0

    while lines:
        records: Iterator[list[str]] = (layout.split(line.rstrip("\n")) for line in source())
        if layout.quoted:
            records = csv.reader(source(), delimiter=layout.separator, strict=True)
        try:
            for fields in records:
                fault = TOO_LONG if len(record_lines[0]) > LONGEST_LINE else ""
                if len(fields) != layout.n_fields and len(record_lines) == 1:
                    fields = _escaped(record_lines[0], layout) or fields
                if replaced and UNIT in record_lines[0]:
                    fault = "a control character (0x1f); remove it"
                yield len(record_lines), fields, fault
                record_lines.clear()
        except csv.Error:
            lines.extendleft(reversed(record_lines[1:]))
            if (escaped := _escaped(record_lines[0], layout)) is not None:
                yield 1, escaped, ""
            else:
                yield 1, [], TOO_LONG if len(record_lines[0]) > LONGEST_LINE else _NOT_CLOSED
        record_lines.clear()


def _escaped(line: str, layout: Layout) -> list[str] | None:
    r"""Return the fields of a line in which ``\"`` stands for a quotation mark; None if not all."""
    if not layout.quoted or '\\"' not in line:
        return None
    try:
        (fields,) = csv.reader([line], delimiter=layout.separator, escapechar="\\", strict=True)
    except (csv.Error, ValueError):
        return None
    return fields if len(fields) == layout.n_fields else None
