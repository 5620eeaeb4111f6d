"""How a delimited text is laid out: separator, header, fields, the position of each column."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.datasets.columns import RATINGS, Roles, find_columns, is_number, refuse_without_ratings
from harness.errors import DataError, counted, joined

NO_ROWS = "no rows of data; give a file that has some"
LONGEST_LINE = 1 << 20
"""Characters of a row; a rating takes some thirty."""
_SEPARATORS = ("::", "\t", ",", ";", "|")
_USUAL_SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}
csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))


@dataclass(frozen=True)
class TextFormat:
    """The format of a file, as far as it is known before it is opened; None is found out.

    `columns` is as in `find_columns`; `form` names the fields that a line must have, where they are
    fixed. A `layout` takes the place of all but `encoding`, `decimal` and `roles`.
    """

    kind: str | None = None
    separator: str | None = None
    header: bool | None = None
    encoding: str | None = None
    columns: Mapping[str, str | int | None] = field(default_factory=dict)
    decimal: str = "."
    roles: Roles = RATINGS
    form: str = ""
    layout: Layout | None = None

    def advice(self, encoding: str = "latin-1") -> str:
        """Return what to do about another encoding; of ratings and features a config names it."""
        is_named = self.roles is RATINGS or not self.roles.usual
        name = f", or name its encoding, as encoding: {encoding}"
        return "save the file as UTF-8" + name * is_named


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


def lay_out(first: str, text_format: TextFormat, where: str) -> Layout:
    """Find separator, header and columns from the first line and the known format."""
    roles = text_format.roles
    separator = text_format.separator or separator_of(first, text_format)
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
    if text_format.form and len(fields) != len(text_format.form.split()):
        raise DataError(
            f"{where}: {counted(len(fields), 'field')}; a line must be {text_format.form}, "
            "with blanks between"
        )
    header, columns = header_and_columns(fields, text_format, where)
    return Layout(separator, header, len(fields), columns)


def header_and_columns(
    fields: Sequence[str], text_format: TextFormat, where: str
) -> tuple[bool, dict[str, int]]:
    """Return whether a first line is a header, and the position of each column that is there."""
    roles = text_format.roles
    by_name = any(isinstance(column, str) for column in text_format.columns.values())
    header = text_format.header
    if header is None:
        header = by_name or roles.names_columns(fields)
        column = text_format.columns.get("rating")
        place = column - 1 if isinstance(column, int) else 2
        marks = fields[place : place + 1]
        if not header and not all(is_number(mark.replace(",", ".")) for mark in marks or [""]):
            header = True
            where += "".join(f": a header, it seems, as {mark!r} is no number" for mark in marks)
    if header:
        return True, find_columns(fields, text_format.columns, where, roles)
    if by_name:
        raise DataError(f"{where}: columns have names but the file no header; give positions")
    named = dict(text_format.columns)
    for position, role in enumerate(roles.kinds, 1):
        if role not in named and position <= len(fields) and position not in named.values():
            named[role] = position
    names = [f"column {n + 1}" for n in range(len(fields))]
    return False, find_columns(names, named, where, roles)


def separator_of(line: str, text_format: TextFormat) -> str:
    """Return what makes enough fields of a line; what is usual for its kind first."""
    candidates = (*_USUAL_SEPARATORS.get(text_format.kind or "", ()), *_SEPARATORS, "whitespace")
    for separator in candidates:
        if len(split_line(line, separator)) >= text_format.roles.least:
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
