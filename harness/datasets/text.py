"""Ratings from delimited text (CSV, TSV, ``::``, blanks), with the line of every fault."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from harness.datasets.cleaning import counted
from harness.datasets.frames import seconds
from harness.datasets.headers import find_columns, names_columns
from harness.datasets.lines import (
    LONGEST_LINE,
    Layout,
    Readable,
    physical_lines,
    read_blocks,
    refuse_block,
    split_line,
    too_long,
    transcoded,
)
from harness.datasets.rows import Coded, Rows
from harness.errors import DataError

__all__ = ["TextFormat", "TextRows", "read_text"]

_SEPARATORS = ("::", "\t", ",", ";", "|")
_USUAL = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",), "dat": ("::", "\t", ",", ";", "|")}
_NULLS = ["", "NA", "N/A", "na", "n/a", "NULL", "Null", "null", "None", "none", "\\N"]
_NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?[ \t]*", re.ASCII | re.I)


@dataclass(frozen=True)
class TextFormat:
    """What is known of a text file before it is opened.

    Attributes
    ----------
    kind : {"csv", "tsv", "dat"} or None
        Which separators are usual.
    separator : str or None
        Found in the first line when None.
    header : bool or None
        Found by looking when None.
    encoding : str or None
        UTF-8 unless a byte order mark says otherwise, when None.
    columns : mapping
        See `harness.datasets.headers.find_columns`.
    """

    kind: str | None = None
    separator: str | None = None
    header: bool | None = None
    encoding: str | None = None
    columns: Mapping[str, str | int | None] = field(default_factory=dict)


class TextRows(NamedTuple):
    """Rows of a text file, where each stands, and what was done to the lines."""

    rows: Rows
    at: Callable[[int], str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lines:
    """The line of each row.

    Attributes
    ----------
    starts : list of (int, ndarray or int)
        For each block its first row, and the line of each row, or of the first where the rows
        stand on consecutive lines.
    where : str
        What was read.
    """

    starts: list[tuple[int, Any]]
    where: str

    def at(self, row: int) -> str:
        """Return ``file:line`` of a row, or the file alone for -1."""
        if row < 0:
            return self.where
        first, lines = self.starts[bisect_right(self.starts, row, key=lambda start: start[0]) - 1]
        line = lines + row - first if isinstance(lines, int) else lines[row - first]
        return f"{self.where}:{line}"


def read_text(
    stream: BinaryIO | Readable,
    known: TextFormat,
    where: str,
    tick: Callable[[int], object] | None = None,
) -> TextRows:
    """Read ratings from delimited text, one a line.

    Parameters
    ----------
    stream : readable
        Bytes, from their start.
    known : TextFormat
        What need not be guessed.
    where : str
        What is read, for messages.
    tick : callable, optional
        Called with the number of bytes of each block.

    Raises
    ------
    DataError
        With file and line: no rows, a missing column, a line with another number of fields, a
        rating that is no number, bytes that are not UTF-8, a line that never ends.
    """
    import pyarrow as pa

    layout: Layout | None = None
    tables = []
    starts: list[tuple[int, Any]] = []
    n_rows, line = 0, 1
    for block in read_blocks(transcoded(stream, known.encoding, where), where):
        if tick:
            tick(len(block))
        body, n_lines = block, _count_lines(block)
        if layout is None:
            n_before, first = _first_line(block, line, where)
            if first is None:  # nothing but empty lines so far
                line += n_lines
                continue
            layout = _lay_out(first, n_before, block, known, where)
            if layout.header:
                body = block[_end_of_line(block, n_before) :]
                line, n_lines = line + n_before + 1, n_lines - n_before - 1
        table = _parse(body, line, layout, where)
        if table is not None and len(table):
            starts.append((n_rows, _row_lines(body, line, n_lines, len(table), layout)))
            tables.append(table)
            n_rows += len(table)
        line += n_lines
    if not tables or layout is None:
        raise DataError(f"{where}: no ratings; give a file that has some")
    lines = Lines(starts, where)
    return TextRows(_rows(pa.concat_tables(tables), layout, lines.at), lines.at)


def _parse(block: bytes, line: int, layout: Layout, where: str) -> Any:
    """Return the block as a table, or raise for its first bad line."""
    import pyarrow as pa
    from pyarrow import csv

    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {"user": text, "item": text, "rating": pa.float64(), "timestamp": pa.float64()}
    if "timestamp" in layout.columns:
        kinds["timestamp"] = pa.string() if layout.dates else pa.int64()
    names = [str(position) for position in range(layout.n_fields)]
    for role, position in layout.columns.items():
        names[position] = role
    unified = layout.unify(block)
    if not unified.strip(b"\r\n"):
        return None

    def read(kinds: dict[str, Any]) -> Any:
        return csv.read_csv(
            pa.BufferReader(unified),
            read_options=csv.ReadOptions(column_names=names, block_size=LONGEST_LINE),
            parse_options=csv.ParseOptions(
                delimiter=layout.single, quote_char='"' if layout.quoted else False
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(layout.columns),
                column_types={role: kinds[role] for role in layout.columns},
                null_values=_NULLS,
                strings_can_be_null=False,
            ),
        )

    try:
        try:
            table = read(kinds)
        except pa.ArrowInvalid:
            if "timestamp" not in layout.columns or layout.dates:
                raise
            table = read({**kinds, "timestamp": pa.float64()})  # seconds with a fraction
    except (pa.ArrowInvalid, pa.ArrowCapacityError) as error:
        refuse_block(block, line, layout, where, str(error).splitlines()[0][:200])
    return _with_whole_seconds(table, layout)


def _with_whole_seconds(table: Any, layout: Layout) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    place = table.schema.get_field_index("timestamp")
    if place < 0 or not pa.types.is_floating(table.schema.field(place).type):
        return table
    whole = pc.floor(table.column(place)).cast(pa.int64(), safe=False)
    return table.set_column(place, "timestamp", whole)


def _rows(table: Any, layout: Layout, at: Callable[[int], str]) -> Rows:
    """Return a table of all blocks as rows."""
    timestamps = None
    if "timestamp" in layout.columns:
        column = table.column("timestamp")
        if column.null_count:
            raise DataError(
                f"{at(int(np.argmax(column.is_null().to_numpy())))}: no timestamp "
                f"({counted(column.null_count, 'such row')} in all); mend the data, "
                "or do not read it: columns: {timestamp: null}"
            )
        timestamps = seconds(column.to_pandas(), at) if layout.dates else column.to_numpy()
    return Rows(
        _coded(table.column("user"), "user", at),
        _coded(table.column("item"), "item", at),
        table.column("rating").to_numpy(),
        timestamps,
    )


def _coded(column: Any, role: str, at: Callable[[int], str]) -> Coded:
    """Return a dictionary column with ids trimmed of blanks, and -1 for those that are empty."""
    import pyarrow.compute as pc

    whole = column.unify_dictionaries().combine_chunks()
    codes = whole.indices.to_numpy().astype(np.int32, copy=False)
    trimmed = pc.utf8_trim_whitespace(whole.dictionary)
    odd = pc.match_substring_regex(trimmed, "[\\x00-\\x1f\\x7f]")
    if pc.any(odd).as_py():
        row = int(np.argmax(odd.to_numpy(zero_copy_only=False)[codes]))
        shown = str(trimmed[codes[row]])[:40]
        raise DataError(f"{at(row)}: the {role} {shown!r} has a control character; remove it")
    if trimmed.equals(whole.dictionary) and not pc.any(pc.equal(trimmed, "")).as_py():
        return Coded(codes, trimmed.to_numpy(zero_copy_only=False))
    merged = trimmed.dictionary_encode()
    ids = merged.dictionary.to_numpy(zero_copy_only=False)
    table = merged.indices.to_numpy().astype(np.int32)
    table[ids[table] == ""] = -1
    return Coded(table[codes], ids)


def _first_line(block: bytes, line: int, where: str) -> tuple[int, str | None]:
    """Return how many empty lines a block starts with, and the line after them."""
    body = block.lstrip(b"\r\n")
    if not body:
        return 0, None
    before = block[: len(block) - len(body)]
    n_before = before.count(b"\n" if b"\n" in before else b"\r")
    text = next(physical_lines(body[: 2 * LONGEST_LINE]))
    if len(text) > LONGEST_LINE:
        raise DataError(f"{where}:{line + n_before}: {too_long()}")
    if "\0" in text:
        raise DataError(
            f"{where}:{line + n_before}: null bytes; this is not text, or it is UTF-16: "
            "name its encoding, as encoding: utf-16"
        )
    return n_before, text


def _lay_out(first: str, n_before: int, block: bytes, known: TextFormat, where: str) -> Layout:
    """Work out separator, header and columns from the first line and what is known."""
    separator = known.separator or _separator(first, known.kind)
    fields = [_legible(name.strip()) for name in split_line(first, separator)]
    where = f"{where}:{n_before + 1}"
    if len(fields) < 3:
        raise DataError(
            f"{where}: {len(fields)} field{'s' * (len(fields) != 1)} separated by "
            f"{separator!r}, but user, item and rating make three; "
            "name the separator, as separator: ';'"
        )
    by_name = any(isinstance(asked, str) for asked in known.columns.values())
    header = known.header
    if header is None:
        header = by_name or names_columns(fields)
        if not header and not _has_rating(fields, known):
            header = True
            where += ": a header, it seems, as it has no rating"
    if header:
        columns = find_columns(fields, known.columns, where)
    else:
        columns = _by_order(fields, known, where)
    sample = fields if not header else _second_line(block, n_before, separator)
    dates = False
    if "timestamp" in columns and len(sample) == len(fields):
        dates = _NUMBER.fullmatch(sample[columns["timestamp"]]) is None
    return Layout(separator, header, len(fields), columns, dates)


def _separator(line: str, kind: str | None) -> str:
    """Return what makes three fields or more of a line; what is usual for its kind first."""
    candidates = (*_USUAL.get(kind or "", ()), *_SEPARATORS, "whitespace")
    for separator in candidates:
        if len(split_line(line, separator)) >= 3:
            return separator
    return next((separator for separator in candidates if separator in line), "whitespace")


def _has_rating(fields: list[str], known: TextFormat) -> bool:
    asked = known.columns.get("rating")
    position = asked - 1 if isinstance(asked, int) else 2
    return position < len(fields) and _NUMBER.fullmatch(fields[position]) is not None


def _by_order(fields: list[str], known: TextFormat, where: str) -> dict[str, int]:
    """Return the columns of a file without header: as asked, else in the usual order."""
    asked = dict(known.columns)
    for position, role in enumerate(("user", "item", "rating", "timestamp"), 1):
        if role not in asked and position <= len(fields) and position not in asked.values():
            asked[role] = position
    if any(isinstance(column, str) for column in asked.values()):
        raise DataError(f"{where}: columns have names but the file no header; give positions")
    return find_columns([f"column {n + 1}" for n in range(len(fields))], asked, where)


def _legible(name: str) -> str:
    """Return a name without what is not UTF-8 or would not show."""
    decoded = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in decoded)


def _second_line(block: bytes, n_before: int, separator: str) -> list[str]:
    for number, line in enumerate(physical_lines(block[: 4 * LONGEST_LINE])):
        if number > n_before and line:
            return [part.strip() for part in split_line(line, separator)]
    return []


def _count_lines(block: bytes) -> int:
    mark = b"\n" if b"\n" in block else b"\r"
    return block.count(mark) + (not block.endswith(mark))


def _end_of_line(block: bytes, n_before: int) -> int:
    """Return where the line after `n_before` lines ends."""
    mark = b"\n" if b"\n" in block else b"\r"
    end = -1
    for _ in range(n_before + 1):
        end = block.find(mark, end + 1)
        if end < 0:
            return len(block)
    return end + 1


def _row_lines(block: bytes, line: int, n_lines: int, n_rows: int, layout: Layout) -> Any:
    """Return the line of the first row, or of each where empty lines stand between them."""
    if n_rows == n_lines:
        return line
    blanks = " \t" if layout.separator == "whitespace" else ""
    lines = enumerate(physical_lines(block), line)
    return np.array([number for number, text in lines if text.strip(blanks)], dtype=np.int64)
