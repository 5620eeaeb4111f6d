"""How a file is laid out: separator, header, and which column is the user, the item, the rating."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from harness.errors import DataError, counted, joined, listed, suggestion

Kind = Literal["id", "text", "number", "time"]
"""What a column holds; an id without surrounding blanks, or any text."""

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".inter": "tsv",
    ".dat": "dat",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Kind of file by its ending."""

LONGEST_LINE = 1 << 20
"""Characters of a row; a rating takes some thirty."""

_SEPARATORS = ("::", "\t", ",", ";", "|")
_USUAL_SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.I)

csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))


def kind_of(path: Path | str) -> str | None:
    """Return the kind of a file by its ending, or None."""
    return ENDINGS.get(Path(path).suffix.casefold())


def is_number(text: str) -> bool:
    """Return whether a text is a number by the rule for files.

    Examples
    --------
    >>> is_number("4.5"), is_number("1e3"), is_number("0x10"), is_number("nan"), is_number("")
    (True, True, False, False, False)
    """
    return _NUMBER.fullmatch(text.strip(" \t")) is not None


@dataclass(frozen=True)
class Roles:
    """The columns that are read from a file, in the order that a file without header has.

    Usual names are compared without case, blanks, points, dashes and underscores, and the first
    match counts; `strict` refuses two columns with usual names of one role.
    """

    kinds: dict[str, Kind]
    usual: dict[str, tuple[str, ...]]
    optional: frozenset[str] = frozenset()
    strict: bool = False

    @property
    def required(self) -> list[str]:
        """The roles that a file must have."""
        return [role for role in self.kinds if role not in self.optional]

    @property
    def least(self) -> int:
        """The fewest columns that a file must have."""
        return 2 if self.strict else max(2, len(self.required))

    def positions(self, names: Sequence[str], role: str) -> list[int]:
        """Return the positions of the first usual name of a role that occurs; all when strict."""
        # RecBole writes the type behind a name, as user_id:token.
        plain = [re.sub(r"[ _\-.\"']", "", name.partition(":")[0].casefold()) for name in names]
        found = [usual for usual in self.usual[role] if usual in plain]
        wanted = found if self.strict else found[:1]
        return [position for position, name in enumerate(plain) if name in wanted]

    def names_columns(self, fields: Sequence[str]) -> bool:
        """Return whether a first line is a header with known names.

        Examples
        --------
        >>> RATINGS.names_columns(["user_id:token", "item_id:token", "rating:float"])
        True
        """
        return all(self.positions(fields, role) for role in self.required)


RATINGS = Roles(
    {"user": "id", "item": "id", "rating": "number", "timestamp": "time"},
    {
        "user": (
            "user", "userid", "uid", "userindex", "reviewerid", "customerid", "visitorid",
            "username", "reviewer", "customer", "visitor", "member", "memberid", "account",
            "accountid",
        ),
        "item": (
            "item", "itemid", "iid", "movieid", "movie", "productid", "product", "asin",
            "parentasin", "bookid", "isbn", "songid", "trackid", "artistid", "artist", "jokeid",
            "businessid", "sku", "book", "song", "track", "business", "joke", "article",
            "articleid",
        ),
        "rating": ("rating", "ratings", "score", "stars", "overall", "weight", "rui"),
        "timestamp": (
            "timestamp", "time", "unixreviewtime", "ts", "date", "datetime", "ratedat", "when",
            "createdat",
        ),
    },
    frozenset({"timestamp"}),
)  # fmt: skip
"""A file of ratings."""


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


def lay_out(first: str, known: TextFormat, where: str) -> Layout:
    """Find separator, header and columns from the first line and the known format."""
    roles = known.roles
    separator = known.separator or separator_of(first, known)
    fields = [legible(name.strip()) for name in split_line(first, separator)]
    if len(fields) < roles.least:
        needs_ratings = "rating" in roles.required and not roles.strict
        if needs_ratings and not roles.positions(fields, "rating"):
            _refuse_without_ratings(fields, where)
        needed = joined(roles.required) or "columns"
        raise DataError(
            f"{where}: {counted(len(fields), 'field')} separated by {separator!r}, "
            f"but {needed} make {roles.least}; name the separator, as separator: ';'"
        )
    if known.form and len(fields) != len(known.form.split()):
        raise DataError(
            f"{where}: {counted(len(fields), 'field')}; a line must be {known.form}, "
            "with blanks between"
        )
    header, columns = header_and_columns(fields, known, where)
    return Layout(separator, header, len(fields), columns)


def header_and_columns(
    fields: Sequence[str], known: TextFormat, where: str
) -> tuple[bool, dict[str, int]]:
    """Return whether a first line is a header, and the position of each column that is there."""
    roles = known.roles
    by_name = any(isinstance(column, str) for column in known.columns.values())
    header = known.header
    if header is None:
        header = by_name or roles.names_columns(fields)
        column = known.columns.get("rating")
        place = column - 1 if isinstance(column, int) else 2
        marks = fields[place : place + 1]
        if not header and not all(is_number(mark.replace(",", ".")) for mark in marks or [""]):
            header = True
            where += "".join(f": a header, it seems, as {mark!r} is no number" for mark in marks)
    if header:
        return True, find_columns(fields, known.columns, where, roles)
    if by_name:
        raise DataError(f"{where}: columns have names but the file no header; give positions")
    wanted = dict(known.columns)
    for position, role in enumerate(roles.kinds, 1):
        if role not in wanted and position <= len(fields) and position not in wanted.values():
            wanted[role] = position
    names = [f"column {n + 1}" for n in range(len(fields))]
    return False, find_columns(names, wanted, where, roles)


def separator_of(line: str, known: TextFormat) -> str:
    """Return what makes enough fields of a line; what is usual for its kind first."""
    candidates = (*_USUAL_SEPARATORS.get(known.kind or "", ()), *_SEPARATORS, "whitespace")
    for separator in candidates:
        if len(split_line(line, separator)) >= known.roles.least:
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


def find_columns(
    names: Sequence[str],
    named: Mapping[str, str | int | None],
    where: str,
    roles: Roles = RATINGS,
) -> dict[str, int]:
    """Return the position of each column that is there.

    `named` maps roles to a name, to a position from 1, or to None for a timestamp that is not to be
    read; what it does not mention is found by its usual names. `where` is for messages.

    Examples
    --------
    >>> find_columns(["who", "what", "stars"], {"user": "who", "item": 2}, "ratings.csv")
    {'user': 0, 'item': 1, 'rating': 2}
    """
    found: dict[str, int] = {}
    lacking = []
    for role in roles.kinds:
        if role in named:
            column = named[role]
            if column is not None:
                found[role] = _position(column, names, role, where)
            continue
        positions = roles.positions(names, role)
        if len(positions) > 1:
            one, other = (names[position] for position in positions[:2])
            instead = f", or name one under columns, as columns: {{{role}: …}}"
            instead *= roles is RATINGS and one != other  # others have no key `columns`
            raise DataError(
                f"{where}: both {one!r} and {other!r} may be the {role}; rename one{instead}"
            )
        if positions:
            found[role] = positions[0]
        elif role not in roles.optional:
            lacking.append(role)
    if lacking:
        if roles is RATINGS and "rating" in lacking and len(names) - len(found) < len(lacking):
            _refuse_without_ratings(names, where)
        them, columns = ("it", "column") if len(lacking) == 1 else ("them", "columns")
        instead = f"add {them}"
        if roles is RATINGS:
            instead = f"name {them} under columns, as columns: {{{': …, '.join(lacking)}: …}}"
        advice = f"call the {columns} {joined(lacking)}, or {instead}"
        absent = joined(f"the {role}" for role in lacking)
        there = listed([name[:30] for name in names], 10) or "no names"
        raise DataError(f"{where}: no column for {absent} among {there}; {advice}")
    by_position: dict[int, str] = {}
    for role, position in found.items():
        if position in by_position:
            raise DataError(
                f"{where}: column {position + 1} would be both {by_position[position]} and {role}; "
                "name each of them under columns"
            )
        by_position[position] = role
    return found


def _refuse_without_ratings(names: Sequence[str], where: str) -> None:
    """Refuse columns that cannot hold ratings, unless another separator may be in them."""
    if len(names) > 1 and not any(re.search(r"[^\w .:@+-]", name) for name in names):
        beside = joined(name[:30] for name in names)
        raise DataError(
            f"{where}: no column of ratings beside {beside}; add one, of 1s where only choices are "
            "known (docs/how-to/implicit.md)"
        )


def _position(column: str | int, names: Sequence[str], role: str, where: str) -> int:
    if isinstance(column, int):
        if column > len(names):
            raise DataError(
                f"{where}: {role} is given as column {column} of {len(names)}; "
                f"use 1 to {len(names)}"
            )
        return column - 1
    positions = [position for position, name in enumerate(names) if name.strip() == column.strip()]
    if not positions:
        offered = suggestion(column, names[:50])
        raise DataError(f"{where}: no column {column!r} for the {role}; {offered}")
    if len(positions) > 1:
        raise DataError(
            f"{where}: {len(positions)} columns are called {column!r}; give the position, from 1"
        )
    return positions[0]
