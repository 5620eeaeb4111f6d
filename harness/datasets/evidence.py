"""What the first rows of a table show of its columns, and which of them is which by that.

The rules are of content, each with its reason. What they cannot decide is refused, with the keys of
a config that decide it, or is assumed in a note that names the key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from harness.datasets.columns import MISSING, RATINGS, find_columns, is_number
from harness.datasets.remedies import Remedy
from harness.errors import ColumnsError, DataError, counted, joined, listed
from harness.notes.note import Note

LINES = 200
"""Rows that are looked at."""
FEW = 5
"""Fewer rows show no order and no kind."""
MANY = 20
"""Rows from which a column is a key if its texts are all different."""
EARLIEST, LATEST = 6e8, 2.2e9
"""Seconds since 1970 that are taken for the time of a rating: 1989 to 2039."""
_UNITS = (1.0, 1e3, 1e6, 1e9)
_DATED = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}( .*)?"
    r"|([A-Z][a-z]{2},? )?\d{1,2} [A-Z][a-z]{2,8},? \d{4}( .*)?"
    r"|\d{1,2}-[A-Za-z]{3}-\d{2,4}( .*)?"
    r"|([A-Z][a-z]{2} )?[A-Z][a-z]{2,8} \d{1,2},? .*\d{4}.*"
)
MOST_RATINGS = 101
"""More distinct numbers are measured or counted, not chosen from a scale."""


MOST_WORDS = 11
"""More distinct texts that begin with a letter are names, not ratings in words."""
_IS_NAME = re.compile(r"[^\W\d_]").match


class SampledColumn:
    """One column of the first rows of a table.

    Parameters
    ----------
    position : int
        From 0.
    name : str
        Empty where there is no header.
    texts : sequence of str
        Its fields.
    """

    def __init__(self, position: int, name: str, texts: Sequence[str]) -> None:
        self.position, self.name = position, name
        self.texts = [text.strip().replace("\N{MINUS SIGN}", "-") for text in texts]
        self.present = [
            text for text in self.texts if text.casefold() not in MISSING and text not in NO_RATING
        ]

    @cached_property
    def numbers(self) -> list[float]:
        """Its numbers, with a point or a comma; empty if something else is in it."""
        texts = [text.replace(",", ".") for text in self.present]
        return [float(text) for text in texts] if all(map(is_number, texts)) else []

    @cached_property
    def is_time(self) -> bool:
        """Whether every value is a date, or a plausible time in whole seconds or smaller units."""
        if not self.present:
            return False
        if all(map(_DATED.fullmatch, self.present)):
            return True
        if not all(re.fullmatch(r"[1-9]\d*(\.\d+)?", text) for text in self.present):
            return False
        if all(map(_is_day, self.present)):
            return True
        ends = min(self.numbers), max(self.numbers)
        return any(EARLIEST * unit <= ends[0] and ends[1] <= LATEST * unit for unit in _UNITS)

    @cached_property
    def counts(self) -> bool:
        """Whether the values are 0, 1, 2 … or 1, 2, 3 … in the order of the rows."""
        n = len(self.texts)
        return n >= FEW and any(
            self.texts == [str(number) for number in range(start, start + n)] for start in (0, 1)
        )

    @property
    def is_text(self) -> bool:
        """Whether it has values, and none of them is a number."""
        texts = (text.replace(",", ".") for text in self.present)
        return bool(self.present) and not any(map(is_number, texts))

    @property
    def is_truth(self) -> bool:
        """Whether its values are true and false."""
        return {text.casefold() for text in self.present} == {"true", "false"}

    @property
    def n_distinct(self) -> int:
        """How many values it has."""
        return len({*self.present})

    @property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return bool(self.numbers) and all(number.is_integer() for number in self.numbers)

    @property
    def column(self) -> str | int:
        """What a config calls it: its name, or its position from 1."""
        return self.name or self.position + 1

    @property
    def title(self) -> str:
        """What messages call it."""
        return repr(self.name[:40]) if self.name else f"column {self.position + 1}"

    def holds(self) -> str:
        """Return in words what is in it."""
        example = listed([text[:20] for text in dict.fromkeys(self.present)], 3)
        if not self.present:
            return "nothing"
        if self.counts:
            return "row numbers"
        if self.is_time:
            return f"times ({example})"
        if self.numbers:
            low, high = min(self.numbers), max(self.numbers)
            return f"{counted(self.n_distinct, 'number')}, {low:.10g} to {high:.10g}"
        return f"{counted(self.n_distinct, 'text')} ({example})"


def _is_day(text: str) -> bool:
    """Return whether a number is a date, as 20050917."""
    if len(text) != 8 or not "19700101" <= text <= "20991231":
        return False
    try:
        datetime.strptime(text, "%Y%m%d")
    except ValueError:
        return False
    return True


class Candidate(NamedTuple):
    """A column, which role it has, and why."""

    column: str | int
    role: str
    holds: str
    why: str


class Wide(NamedTuple):
    """A table with a column for each item, or each user: where its parts are."""

    header: bool
    ids: int | None
    items: list[int]
    left_out: list[int]
    items_in_rows: bool = False


class Placed(NamedTuple):
    """What was decided: whether the first line is a header, and the column of each role.

    `wide` is there in place of columns where each item has its own column.
    """

    header: bool
    columns: dict[str, int]
    notes: tuple[Note, ...] = ()
    wide: Wide | None = None


def columns_of(
    names: Sequence[str], rows: Sequence[Sequence[str]], *, header: bool
) -> list[SampledColumn]:
    """Return the columns of some rows; rows of another length are left out."""
    rows = [row for row in rows if len(row) == len(names)]
    named = names if header else [""] * len(names)
    return [SampledColumn(at, name, [row[at] for row in rows]) for at, name in enumerate(named)]


def is_default_header(names: Sequence[str]) -> bool:
    """Return whether names are those that pandas gives: 0, 1, 2 …, perhaps beside an index.

    Examples
    --------
    >>> is_default_header(["0", "1", "2"]), is_default_header(["", "0", "1", "2"])
    (True, True)
    >>> is_default_header(["1", "2", "3"])
    False
    """
    plain = names[1:] if names and names[0] in _INDEX else names
    return 3 <= len(plain) <= 4 and [*plain] == [str(number) for number in range(len(plain))]


_INDEX = ("", "Unnamed: 0", "index")


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Return whether a first line names the columns below it; None if rows do not show it.

    It does if it has texts where all rows have numbers, and does not if it has a date as they do.
    """
    if RATINGS.positions(first, "user") and RATINGS.positions(first, "item"):
        return True
    columns = columns_of(first, rows, header=True)
    dates = [column for column in columns if column.is_time and not column.numbers]
    if any(_DATED.fullmatch(first[column.position].strip()) for column in dates):
        return False
    columns = [column for column in columns if column.numbers]
    fields = [first[c.position].strip().replace("\N{MINUS SIGN}", "-") for c in columns]
    fields = [text.replace(",", ".") for text in fields if text.casefold() not in MISSING]
    return not any(map(is_number, fields)) if fields else None


def placed_columns(
    first: Sequence[str],
    rows: Sequence[Sequence[str]],
    named: Mapping[str, str | int | None],
    header: bool | None,
    where: str,
) -> Placed:
    """Return which column of a table is which, by names if it has them, else by what is in them.

    Parameters
    ----------
    first : sequence of str
        The fields of the first line, header or not.
    rows : sequence of sequence of str
        The lines after it.
    named : dict
        As in `harness.datasets.columns.find_columns`.
    header : bool or None
        Whether the first line is a header; None is found out.
    where : str
        For messages.

    Raises
    ------
    DataError
        If columns cannot be told, with a remedy.
    """
    by_name = any(isinstance(column, str) for column in named.values())
    shows = ""
    is_open = header is None and not RATINGS.names_columns(first)
    if is_open and not by_name and _is_from_pandas(first, rows):
        return _under_numbers(first, rows, named, where)
    if is_open and (found := _found_wide(first, rows, named)):
        return Placed(found.header, {}, (_MATRIX,), found)
    if is_open and not by_name:
        header = is_header(first, rows)
        if header is None or header:
            third = _third(first, named)
            is_text = not is_number(third.replace(",", "."))
            header = is_text if header is None else header
            if is_text and third:
                shows = f": a header, it seems, because {third!r} is not a number"
    elif header is None:
        header = True
    if header:
        return _by_name(first, rows, named, where, shows)
    if by_name:
        raise DataError(f"{where}: columns have names but the file no header; give positions")
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 2 and sum(len(row) == len(first) for row in rows) < len(rows) / 2:
        raise _no_ratings(f"{where}: no header, and lines of {lengths[0]} to {lengths[-1]} fields")
    return _by_position(columns_of(first, [first, *rows], header=False), named, where)


def _is_from_pandas(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether names are pandas' own, beside no column but one that numbers the rows."""
    is_default = is_default_header(first) and is_header(first, rows) is False
    return is_default and (first[0] not in _INDEX or columns_of(first, rows, header=True)[0].counts)


def _third(first: Sequence[str], named: Mapping[str, str | int | None]) -> str:
    """Return the field of a first line that is a number in a row: the rating, else the third."""
    at = named.get("rating")
    at = at if isinstance(at, int) else 3
    return first[at - 1].replace("\N{MINUS SIGN}", "-") if at <= len(first) else ""


def _by_name(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    named: Mapping[str, str | int | None],
    where: str,
    shows: str,
) -> Placed:
    try:
        columns = find_columns(names, named, where + shows)
    except ColumnsError as error:
        raise with_proposal(error, columns_of(names, rows, header=True), named) from None
    return Placed(True, columns, unread_columns(names, rows, named, columns))


_MATRIX = Note("matrix-found", {"keys": {"format": "matrix"}})


def _found_wide(
    first: Sequence[str], rows: Sequence[Sequence[str]], named: Mapping[str, str | int | None]
) -> Wide | None:
    """Return the parts of a wide table of which no more than the column of ids is named."""
    if named and named.keys() not in ({"user"}, {"item"}):
        return None
    names_of_columns = [at for at in named.values() if isinstance(at, str)]
    return wide(first, rows, named) if {*names_of_columns} <= {*first} else None


def named_columns(
    names: Sequence[str],
    rows: Callable[[], Sequence[Sequence[str]]],
    named: Mapping[str, str | int | None],
    where: str,
) -> Placed:
    """Return which column of a table with names is which; `rows` gives the first ones as text.

    They are looked at where names do not tell: names that pandas gives are read as positions.
    """
    if not named and is_default_header(names):
        return _under_numbers(names, rows(), named, where)
    try:
        columns = find_columns(names, named, where)
    except ColumnsError as error:
        seen = rows()
        if (found := _found_wide(names, seen, named)) and found.header:
            return Placed(True, {}, (_MATRIX,), found)
        raise with_proposal(error, columns_of(names, seen, header=True), named) from None
    if len(names) == len(columns):
        return Placed(True, columns)
    return Placed(True, columns, unread_columns(names, rows(), named, columns))


def positioned_columns(
    rows: Sequence[Sequence[str]], named: Mapping[str, str | int | None], where: str
) -> Placed:
    """Return which value of tuples is which, which are user, item, rating and time by agreement."""
    return _agreed(_by_position(columns_of(rows[0], rows, header=False), named, where))


def _agreed(placed: Placed, *notes: Note, header: bool = False) -> Placed:
    """Return columns whose order is not assumed, with notes that say why before the others."""
    others = (note for note in placed.notes if note.code != "columns-assumed")
    return placed._replace(header=header, notes=(*notes, *others))


def _under_numbers(
    first: Sequence[str],
    rows: Sequence[Sequence[str]],
    named: Mapping[str, str | int | None],
    where: str,
) -> Placed:
    """Return the columns of a table whose names are numbers from 0, perhaps beside an index."""
    columns = columns_of(first, rows, header=False)[first[0] in _INDEX :]
    placed = _by_position(columns, named, where)
    keys = {"header": True, "columns": _positions(placed.columns)}
    note = Note("numbers-as-names", {"order": _order(placed.columns), "keys": keys})
    return _agreed(placed, note, header=True)


def unread_columns(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    named: Mapping[str, str | int | None],
    columns: Mapping[str, int],
) -> tuple[Note, ...]:
    """Return notes on columns that are not read: times of an unusual name, other items.

    Another column with a usual name of items is one if it does not go with the item that is read,
    as the id of a film goes with its title.
    """
    notes = []
    every = columns_of(names, rows, header=True)
    rest = [column for column in every if column.position not in columns.values()]
    if "timestamp" not in columns and "timestamp" not in named:
        times = [column for column in rest if column.is_time][:1]
        notes += [Note("times-unread", _unread(column, "timestamp")) for column in times]
    if "item" not in named and "item" in columns:
        item = every[columns["item"]]
        others = [column for column in rest if RATINGS.positions([column.name], "item")]
        others = [other for other in others if not _go_together(item, other)][:1]
        notes += [
            Note("items-unread", {"item": item.title, **_unread(column, "item")})
            for column in others
        ]
    return tuple(notes)


def _unread(column: SampledColumn, role: str) -> dict[str, str]:
    return {"column": column.title, "remedy": str(Remedy({"columns": {role: column.column}}))}


def _go_together(one: SampledColumn, other: SampledColumn) -> bool:
    """Return whether each value of a column goes with a single one of another, and back."""
    return len({*zip(one.texts, other.texts, strict=True)}) == one.n_distinct == other.n_distinct


def with_proposal(
    error: ColumnsError, columns: list[SampledColumn], named: Mapping[str, str | int | None]
) -> ColumnsError:
    """Return an error about columns without usual names, with those that they may be."""
    names = [column.name for column in columns]
    roles = RATINGS.positions
    taken = {role: at[0] for role in RATINGS.kinds if (at := roles(names, role))}
    taken |= {r: c - 1 for r, c in named.items() if isinstance(c, int) and c <= len(names)}
    taken |= {r: names.index(c) for r, c in named.items() if isinstance(c, str) and c in names}
    lacking = [role for role in error.roles if role not in taken]
    free = [column for column in columns if column.position not in taken.values()]
    proposed: dict[str, str | int] = {}
    of_words: dict[str, int] = {}
    ratings = [column for column in free if may_be_rating(column)]
    if not ratings and (ratings := [column for column in free if column.is_truth]):
        of_words = {"true": 1, "false": 0}
    if "rating" in lacking and ratings:
        proposed["rating"] = ratings[-1].column
        free.remove(ratings[-1])
    ids = [column for column in free if not (column.is_time or column.counts)]
    roles_of_ids = [role for role in lacking if role != "rating"]
    others = [column for column in ids if not _is_key(column)]
    ids = others if len(others) >= len(roles_of_ids) else ids
    proposed |= {role: column.column for role, column in zip(roles_of_ids, ids, strict=False)}
    at = roles(names, error.roles[0]) if error.roles and not lacking else []
    if len(at) > 1 and names[at[0]] == names[at[1]]:
        keys = Remedy({"columns": {error.roles[0]: at[0] + 1}})
        return ColumnsError(
            error.finding, f"rename one, or name it by position, such as {keys}", error.roles
        )
    if not lacking or proposed.keys() != {*lacking} or not columns[0].texts:
        return error
    named_so = {"columns": {role: proposed[role] for role in lacking}}
    keys = Remedy({**named_so, "values": of_words} if of_words else named_so)
    them, are = ("it", "column") if len(lacking) == 1 else ("them", "columns")
    advice = f"call the {are} {joined(lacking)}, or name {them}, such as {keys}"
    return ColumnsError(error.finding, advice, error.roles)


def _is_key(column: SampledColumn) -> bool:
    """Return whether the texts of all rows differ, while users and items repeat."""
    return MANY <= len(column.texts) < LINES - 1 and column.n_distinct == len(column.texts)


def may_be_rating(column: SampledColumn, most: int = MOST_RATINGS) -> bool:
    """Return whether a column holds numbers of which several rows have the same."""
    n = column.n_distinct
    varies = n > 1 or len(column.texts) < FEW
    return bool(column.numbers) and varies and n <= most and not (column.is_time or column.counts)


def _positions(columns: Mapping[str, int]) -> dict[str, int]:
    return {role: at + 1 for role, at in columns.items()}


def _order(columns: Mapping[str, int]) -> list[str]:
    return sorted(columns, key=columns.__getitem__)


def _usual(
    columns: Sequence[SampledColumn], named: Mapping[str, str | int | None]
) -> dict[str, str | int | None]:
    """Return the position from 1 of each role, in the usual order where it is not named."""
    roles = dict(named)
    for role, column in zip(RATINGS.kinds, columns, strict=False):
        if role not in roles and column.position + 1 not in roles.values():
            roles[role] = column.position + 1
    return roles


def _by_position(
    columns: list[SampledColumn], named: Mapping[str, str | int | None], where: str
) -> Placed:
    """Return the columns of rows without names, or refuse those that cannot be the usual ones."""
    if not {"user", "item", "rating"} <= named.keys() and not named:
        if is_numbered(columns):
            placed = _by_position(columns[1:], named, where)
            keys = {"columns": _positions(placed.columns)}
            note = Note("row-numbers", {"order": _order(placed.columns), "keys": keys})
            return _agreed(placed, note)
        _refuse_unusual(columns, where)
    names = [f"column {n + 1}" for n in range(columns[-1].position + 1)]
    usual = _usual(columns, named)
    notes: list[Note] = []
    if not named and (reason := _item_first(columns)):
        usual |= {"user": 2, "item": 1}
        keys = {"columns": {"user": 2, "item": 1}}
        notes.append(Note("item-first", {"reason": reason, "keys": keys}))
    found = find_columns(names, usual, where)
    if not notes and not {"user", "item"} <= named.keys() and not found.keys() <= named.keys():
        notes.append(Note("columns-assumed", {"order": _order(found)}))
    return Placed(False, found, tuple(notes))


def is_numbered(columns: Sequence[SampledColumn]) -> bool:
    """Return whether the first column numbers the rows: a user, an item and a rating follow it.

    A row number rises by one from row to row. If the fourth column is a time, the first three
    are read as usual: users may have one rating each.
    """
    if len(columns) < 4 or not columns[0].counts or columns[3].is_time:
        return False
    return may_be_rating(columns[3]) and (len(columns) == 4 or columns[4].is_time)


_REVIEWER = re.compile(r"A[0-9A-Z]{6,20}")
_PRODUCT = re.compile(r"B[0-9A-Z]{9}|\d{9}[\dX]")


_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")


def _item_first(columns: Sequence[SampledColumn]) -> str:
    """Return what shows that the first column is the item and the second the user; else empty.

    It is shown by ids of Amazon, whose reviewers begin with A and products with B or digits and
    whose files of 2018 and later have the product first; and by e-mail addresses only in the
    second column.
    """
    if len(columns) < 3 or len(columns[0].present) < FEW or not columns[1].present:
        return ""
    first, second = (column.present for column in columns[:2])
    if all(map(_PRODUCT.fullmatch, first)) and all(map(_REVIEWER.fullmatch, second)):
        return "ids of Amazon"
    has_mail = any(map(_MAIL.fullmatch, first))
    return "" if has_mail or not all(map(_MAIL.fullmatch, second)) else "e-mail addresses"


_EVENTS = "for events without ratings, see docs/how-to/implicit.md"


def _refuse_unusual(columns: Sequence[SampledColumn], where: str) -> None:
    """Refuse rows whose first columns cannot be user, item, rating and time."""
    if len(columns) < 3 or len(columns[0].texts) < 2:
        return
    times = [column for column in columns if column.is_time]
    others = [column for column in columns if not column.is_time]
    finding = ""
    if early := [column for column in times if column.position - columns[0].position < 3]:
        finding = f"{early[0].title} holds {early[0].holds()}"
    elif not columns[2].numbers and any(map(may_be_rating, columns[3:])):
        finding = f"{columns[2].title} holds no numbers, but {columns[2].holds()}"
        others = [*columns[:2], next(column for column in columns[3:] if may_be_rating(column))]
    elif columns[2].n_distinct > MOST_WORDS and all(map(_IS_NAME, columns[2].present)):
        finding = f"{columns[2].title} holds no numbers, but {columns[2].holds()}"
        others = []
    elif len(columns) > 4 and times and times[0].position - columns[0].position > 3:
        finding = f"{times[0].title} holds {times[0].holds()}, and {columns[3].title} does not"
        others = [*columns[:3]] if may_be_rating(columns[2], 21) else []
    elif len(columns) > 6 and not times:
        finding = f"{len(columns)} fields, and none of them is a time"
    elif _is_rating_first(columns):
        finding = (
            f"{columns[0].title} holds {columns[0].holds()}, {columns[2].title} "
            f"{columns[2].holds()}"
        )
        others = [*columns[1:3], columns[0]]
    elif _are_ids(columns[2]):
        finding = f"{columns[2].title} has a different whole number in every row, as ids have"
        others = [*columns[:3]]
    elif _are_alike(columns) and len(columns[0].texts) >= FEW and 4 <= len(columns) <= 7:
        finding = (
            f"{len(columns)} columns of the same numbers, {columns[0].holds().partition(', ')[2]}"
        )
        advice = (
            f"{Remedy({'format': 'matrix'})} reads a row for each user and a column for each item; "
            "for a rating a row, name user, item and rating by position under columns"
        )
        raise ColumnsError(f"{where}: no header, and {finding}", advice, ())
    if not finding:
        return
    finding = f"{where}: no header, and {finding}"
    if len(others) == 3 and may_be_rating(others[2]) | _are_ids(others[2]):
        roles = dict(zip(RATINGS.required, (other.column for other in others), strict=True))
        if times:
            roles["timestamp"] = times[0].column
        advice = f"name the columns by position, such as {Remedy({'columns': roles})}"
        if len(columns) > 4:
            exchanged = {**roles, "user": roles["item"], "item": roles["user"]}
            advice += f", or {Remedy({'columns': exchanged})} where the item comes first"
        raise ColumnsError(finding, f"{advice}; {_EVENTS}", ())
    raise _no_ratings(finding)


def _no_ratings(finding: str) -> ColumnsError:
    return ColumnsError(
        f"{finding}: it has no ratings; for choices without ratings, see docs/how-to/implicit.md",
        "else name user, item and rating by position under columns",
        RATINGS.required,
    )


def _is_rating_first(columns: Sequence[SampledColumn]) -> bool:
    """Return whether the first column has few numbers and the third many, and pairs come again.

    As users and items, the first two would be rated twice.
    """
    first, third = columns[0], columns[2]
    pairs = [*zip(first.texts, columns[1].texts, strict=True)]
    return (
        len(pairs) >= 50
        and may_be_rating(first, 11)
        and third.n_distinct > 21
        and third.is_whole
        and len({*pairs}) < len(pairs)
    )


def _are_ids(column: SampledColumn) -> bool:
    n = len(column.texts)
    return n >= 50 and column.n_distinct == n and column.is_whole and max(column.numbers) > n


def _are_alike(columns: Sequence[SampledColumn]) -> bool:
    """Return whether columns have few numbers, which all of them share."""
    if not all(column.numbers for column in columns):
        return False
    every = {number for column in columns for number in column.numbers}
    return len(every) <= 21 and all(
        min(column.numbers) <= _middle(columns) <= max(column.numbers) for column in columns
    )


def _middle(columns: Sequence[SampledColumn]) -> float:
    numbers = sorted(number for column in columns for number in column.numbers)
    return numbers[len(numbers) // 2]


NOT_ITEMS = frozenset(
    (
        "age", "gender", "sex", "mean", "average", "avg", "total", "sum", "count", "n",
        "nratings", "std", "timestamp", "time", "date", "email", "emailaddress", "mail",
        "country", "city", "zip", "zipcode", "occupation", "group", "alter", "geschlecht",
        "mittelwert", "durchschnitt", "summe",
    )
)  # fmt: skip
"""Names of columns that are not items, without blanks and in small letters."""
TOTALS = frozenset(
    ("total", "totals", "sum", "mean", "average", "gesamt", "summe", "mittelwert", "all")
)
NO_RATING = ("-", "--", "?", ".", "\N{EN DASH}", "\N{EM DASH}")
"""Texts of a field without a rating, beside those that are missing everywhere."""


def is_total(name: str) -> bool:
    """Return whether the last row of a matrix has the name of what is computed of the others."""
    return _plain(name) in TOTALS


_CORNERS = ("", "unnamed: 0", "index", "id", "name", "your name", "email", "email address")
LEAST_WIDE = 8
"""Columns from which numbers of one kind without a header are a matrix."""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def wide(
    first: Sequence[str],
    rows: Sequence[Sequence[str]],
    named: Mapping[str, str | int | None] = MappingProxyType({}),
) -> Wide | None:
    """Return the parts of a table with a column for each item, if that is certain; else None.

    It is if each row has its own id, and all other columns hold few numbers of one scale, or
    nothing. `named` may give the column of ids.
    """
    if len(first) < 3 or len(rows) < 2 or any(len(row) != len(first) for row in rows):
        return None
    if names_values(first):
        return None if not (found := wide(rows[0], rows[1:], named)) else found
    if rows[0][0] and not any(rows[0][1:]) and len(rows[0]) == len(first):
        first, rows = [rows[0][0], *first[1:]], rows[1:]  # pandas' name of the index
    rows = [["" if text.strip() in NO_RATING else text for text in row] for row in rows]
    if len(rows) > 2 and rows[-1] and is_total(rows[-1][0]):
        rows = rows[:-1]
    positions = {role: RATINGS.positions(first, role) for role in RATINGS.required}
    if positions["rating"] or (positions["user"] and positions["item"]):
        return None
    columns = columns_of(first, rows, header=True)
    found = shape(columns, header=True, named=named)
    if found.ids is None or len(found.items) < 2:
        return _without_header(first, rows)
    corner, ids = columns[found.ids], columns[found.ids]
    is_corner = bool(positions["user"] or positions["item"]) or (
        corner.name.casefold() in _CORNERS or len(found.items) >= LEAST_WIDE
    )
    names = [first[at] for at in found.items]
    if not names_items(first, rows) or len({*names}) < len(names):
        return _without_header(first, rows)
    if len(first) == 3:  # which a rating a row may have too, but no row without one of them
        is_corner = bool(positions["user"] or positions["item"]) and any(
            not text for row in rows for text in row[1:]
        )
    items = [columns[at] for at in found.items]
    are_ratings = _is_scale(columns, found.items) or _share_words(items)
    return found if is_corner and ids.n_distinct == len(ids.texts) and are_ratings else None


def names_values(first: Sequence[str]) -> bool:
    """Return whether a line has pandas' name of the values, over the names of the items.

    Examples
    --------
    >>> names_values(["", "rating", "rating"]), names_values(["Unnamed: 0", "rating", "rating.1"])
    (True, True)
    >>> names_values(["user", "10", "11"]), names_values(["user", "scene", "scene.1"])
    (False, False)
    """
    if len(first) < 3 or not first[1]:
        return False
    name, *others = first[1:]
    as_read = [f"{name}.{number}" for number in range(1, len(others) + 1)]  # by pandas
    return {*others} == {name} or (first[0] in _INDEX and others == as_read)


def names_items(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line of a matrix is a header: with a text, or with no id.

    Examples
    --------
    >>> rows = [["7", "4", "5"]]
    >>> names_items(["", "1", "2"], rows), names_items(["7", "4", ""], rows)
    (True, False)
    """
    texts = [text for text in first if text.casefold() not in MISSING]
    if not all(is_number(text.replace(",", ".")) for text in texts):
        return True
    return not first[0] and all(row[0] for row in rows)


def _share_words(columns: Sequence[SampledColumn]) -> bool:
    """Return whether columns hold the same few words, each in several of them."""
    counts = Counter(text for column in columns for text in {*column.present})
    are_texts = all(column.is_text or not column.present for column in columns)
    return are_texts and 1 < len(counts) <= MOST_WORDS and min(counts.values()) > 1


def _is_scale(columns: Sequence[SampledColumn], items: Sequence[int]) -> bool:
    """Return whether columns hold few numbers, and something in some row."""
    every = {number for at in items for number in columns[at].numbers}
    are_numbers = all(columns[at].numbers or not columns[at].present for at in items)
    return are_numbers and 0 < len(every) <= MOST_RATINGS


def _without_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> Wide | None:
    columns = columns_of(first, [first, *rows], header=False)
    if len(columns) < LEAST_WIDE or any(column.is_time for column in columns):
        return None
    found = shape(columns, header=False)
    is_one = len(found.items) >= len(columns) - 1 and _is_scale(columns, found.items)
    return found if is_one else None


def shape(
    columns: Sequence[SampledColumn],
    *,
    header: bool,
    named: Mapping[str, str | int | None] = MappingProxyType({}),
    not_items: Collection[str | int] | None = None,
    words: Collection[str] = (),
) -> Wide:
    """Return which columns of a wide table hold ids and ratings, and which are left out.

    Left out are times, texts, columns with a usual name of what is known of users, and columns
    whose numbers are all outside the range of the others. `named` gives the column of ids, as a
    ``user`` or an ``item``, `not_items` the columns to leave out, and `words` the texts, in small
    letters, that are ratings.
    """
    names = [column.name for column in columns]
    ids, items_in_rows = None, "item" in named
    for role in ("user", "item"):
        if (at := named.get(role)) is not None:
            ids = at - 1 if isinstance(at, int) else names.index(at)
    usual = {role: RATINGS.positions(names, role) for role in ("user", "item")}
    if ids is None and header and (usual["user"] or usual["item"]):
        ids = (usual["user"] or usual["item"])[0]
        items_in_rows = items_in_rows or not usual["user"]
    if ids is None and header:
        free = [column for column in columns if not column.is_time]
        texts = [column for column in free[:4] if not column.numbers and column.present]
        alone = [column for column in texts if column.n_distinct == len(column.texts)]
        if alone and alone[0] is not texts[0]:  # as a name and an address behind a first name
            texts = [column for column in alone if all("@" in t for t in column.texts)] or alone
        first = texts[:1] if texts and _plain(free[0].name) not in ("", "id") else free[:1]
        ids = first[0].position if first else None
    elif ids is None and _are_row_ids(columns):
        ids = 0
    rest = [column for column in columns if column.position != ids]
    if not_items is not None:
        left = [c for c in rest if c.name in not_items or c.position + 1 in not_items]
    else:
        left = [c for c in rest if header and (_plain(c.name) in NOT_ITEMS or c.is_time)]
        # A text alone in its column may be a rating that is broken.
        texts = [c for c in rest if header and c.is_text and len(c.present) > 1]
        texts = [c for c in texts if not {text.casefold() for text in c.present} <= {*words}]
        if not any(column.numbers for column in rest) and _share_words(texts):
            texts = []  # ratings in words
        left += [c for c in texts if c not in left]
        left += _outside([column for column in rest if column not in left]) if header else []
    out = {column.position for column in left}
    items = [column.position for column in rest if column.position not in out]
    return Wide(header, ids, items, sorted(out), items_in_rows)


def _are_row_ids(columns: Sequence[SampledColumn]) -> bool:
    """Return whether the first column has ids: one for each row, and others than the ratings."""
    first = columns[0]
    others = {number for column in columns[1:] for number in column.numbers}
    return first.n_distinct == len(first.texts) and not {*first.numbers} <= others


def _outside(columns: list[SampledColumn]) -> list[SampledColumn]:
    """Return the columns whose numbers are all far from the numbers of most others."""
    numbers = [column for column in columns if column.numbers]
    if len(numbers) < 3:
        return []
    lows = sorted(min(column.numbers) for column in numbers)
    highs = sorted(max(column.numbers) for column in numbers)
    low, high = lows[len(lows) // 2], highs[len(highs) // 2]
    reach = high - low
    many = [column for column in numbers if len(column.numbers) >= FEW]
    return [c for c in many if min(c.numbers) > high + reach or max(c.numbers) < low - reach]


def candidates(
    names: Sequence[str], rows: Sequence[Sequence[str]], roles: Mapping[str, int]
) -> list[Candidate]:
    """Return of each column what it holds, and why it has a role or none.

    Parameters
    ----------
    names : sequence of str
        Empty for rows without a header.
    rows : sequence of sequence of str
        The first ones.
    roles : dict
        The position of each role that was given.
    """
    fields = names or (rows[0] if rows else [])
    of_position = {at: role for role, at in roles.items()}
    result = []
    for column in columns_of(fields, rows, header=bool(names)):
        role = of_position.get(column.position, "")
        usual = next((r for r in RATINGS.kinds if RATINGS.positions([column.name], r)), "")
        if role:
            why = (
                "its name" if usual == role else "its name in the config" if names else "its place"
            )
        elif column.counts:
            why = "numbers the rows"
        elif column.is_time and "timestamp" not in roles:
            why = "may be the timestamp, but has an unusual name"
        elif usual:
            other = "; another column has a name that is more usual" * (usual in roles)
            why = f"may be the {usual}{other}"
        elif "rating" not in roles and rows and may_be_rating(column, 21):
            why = "may be the rating, as few numbers come again; has no usual name"
        elif not {"user", "item"} <= roles.keys() and rows:
            why = "may be the user or the item; has no usual name"
        else:
            why = "has no usual name"
        holds = column.holds() if rows else "not looked at"
        result.append(Candidate(column.column, role, holds, why))
    return result
