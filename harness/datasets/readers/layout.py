"""How a delimited text is laid out: separator, header, fields, the position of each column."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.datasets.columns import find_columns, is_number, refuse_without_ratings
from harness.datasets.readers.base import ReadOptions
from harness.errors import DataError, counted, joined

LONGEST_LINE = 1 << 20
"""Characters of a row; a rating takes some thirty."""
_SEPARATORS = ("::", "\t", ",", ";", "|")
_USUAL_SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}
csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))


class Layout(NamedTuple):
    """How a text is laid out: separator, header, fields in a line, position of each role."""

    separator: str
    header: bool
    n_fields: int
    columns: dict[str, int]
    quotes: bool = True

    @property
    def is_one_byte(self) -> bool:
        """Whether the separator is one byte, as the readers of CSV want it."""
        return len(self.separator) == 1 and self.separator.isascii()

    @property
    def quoted(self) -> bool:
        """Whether a field may be in double quotes."""
        return self.quotes and self.is_one_byte

    def split(self, line: str) -> list[str]:
        """Return the fields of one line."""
        return split_line(line, self.separator, self.quotes)


def lay_out(first: str, options: ReadOptions, where: str) -> Layout:
    """Find separator, header and columns from the first line and the known format."""
    roles = options.roles
    separator = options.separator or separator_of(first, options)
    fields = [legible(name.strip()) for name in split_line(first, separator)]
    if len(fields) < roles.least:
        needs_ratings = "rating" in roles.required and not roles.strict
        if needs_ratings and not roles.positions(fields, "rating"):
            refuse_without_ratings(fields, where)
        needed = joined(roles.required) or "columns"
        raise DataError(
            f"{where}: {counted(len(fields), 'field')} separated by {separator!r}, "
            f"but {needed} make {roles.least}; name the separator, as separator: ';'"
        )
    if options.form and len(fields) != len(options.form.split()):
        raise DataError(
            f"{where}: {counted(len(fields), 'field')}; a line must be {options.form}, "
            "with blanks between"
        )
    header, columns = header_and_columns(fields, options, where)
    return Layout(separator, header, len(fields), columns)


def header_and_columns(
    fields: Sequence[str], options: ReadOptions, where: str
) -> tuple[bool, dict[str, int]]:
    """Return whether a first line is a header, and the position of each column that is there."""
    roles = options.roles
    by_name = any(isinstance(column, str) for column in options.columns.values())
    header = options.header
    if header is None:
        header = by_name or roles.names_columns(fields)
        marks = _numbers(fields, options)
        text = next((mark for mark in marks if not is_number(mark.replace(",", "."))), None)
        if not header and text is not None:
            header = True
            where += f": a header, it seems, as {text!r} is no number" * bool(text)
    if header:
        return True, find_columns(fields, options.columns, where, roles)
    if by_name:
        raise DataError(f"{where}: columns have names but the file no header; give positions")
    named = dict(options.columns)
    for position, role in enumerate(roles.order or roles.kinds, 1):
        if role not in named and position <= len(fields) and position not in named.values():
            named[role] = position
    names = [f"column {n + 1}" for n in range(len(fields))]
    return False, find_columns(names, named, where, roles)


def _numbers(fields: Sequence[str], options: ReadOptions) -> list[str]:
    """Return the fields of a first line that are numbers in a row: those by position, or the third.

    Of pairs without numbers, any field that is one shows a row.
    """
    kinds = options.roles.kinds
    placed = [
        column - 1
        for role, column in options.columns.items()
        if isinstance(column, int) and kinds.get(role) == "number"
    ]
    marks = [fields[place] for place in placed or [2] if place < len(fields)]
    if marks or not options.roles.strict:
        return marks or [""]
    return [field for field in fields if is_number(field)] or [""]


def separator_of(line: str, options: ReadOptions) -> str:
    """Return what makes enough fields of a line; what is usual for its kind first."""
    between = line.split("\t")[1::2]
    if between and not any(between):  # as Jester's own files have it
        return "\t\t"
    candidates = (*_USUAL_SEPARATORS.get(options.kind or "", ()), *_SEPARATORS, "whitespace")
    if options.decimal == ",":  # the mark of a number before that of a field
        candidates = tuple(sorted(candidates, key=lambda mark: (mark == "whitespace", mark == ",")))
    for separator in candidates:
        if len(split_line(line, separator)) >= options.roles.least:
            return separator
    return next((separator for separator in candidates if separator in line), "whitespace")


def split_line(line: str, separator: str, quotes: bool = True) -> list[str]:
    r"""Return the fields of one line.

    Examples
    --------
    >>> split_line('1,"a, b",3', ","), split_line("1::2::3", "::")
    (['1', 'a, b', '3'], ['1', '2', '3'])
    """
    if separator == "whitespace":
        return re.split(r"[ \t]+", line.strip(" \t"))
    if len(separator) > 1 or not separator.isascii() or not quotes:
        return line.split(separator)
    return next(csv.reader([line], delimiter=separator), [])


def legible(name: str) -> str:
    """Return a name without what is not UTF-8 or would not show."""
    decoded = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in decoded)
