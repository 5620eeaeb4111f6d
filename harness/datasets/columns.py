"""Which column of a file is the user, the item, the rating and the time, and its Arrow type."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pa, pc
from harness.datasets.remedies import Remedy
from harness.errors import ColumnsError, DataError, joined, listed, suggestion

Kind = Literal["id", "text", "number", "time"]
"""What a column holds; an id without surrounding blanks, or any text."""
_BESIDE = re.compile("[\\s_\\-./\"'\u200b-\u200f\u2060\ufeff\ufffd]")
"""What usual names are compared without: blanks of any kind, marks, and what does not show."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.I)


def is_number(text: str) -> bool:
    """Return whether a text is a number by the rule for files.

    Examples
    --------
    >>> is_number("4.5"), is_number("1e3"), is_number("0x10"), is_number("nan"), is_number("")
    (True, True, False, False, False)
    """
    return _NUMBER.fullmatch(text.strip(" \t")) is not None


def usual_names() -> dict[str, tuple[str, ...]]:
    """Return the usual names of columns of ratings by role, from ``columns.toml``."""
    text = Path(__file__).with_name("columns.toml").read_text(encoding="utf-8")
    return {role: tuple(entry["names"]) for role, entry in tomllib.loads(text).items()}


@dataclass(frozen=True)
class Roles:
    """The columns that are read from a file, in the order that a file without header has.

    Usual names are compared without case, blanks, points, dashes, underscores and slashes, and the
    first match counts; `strict` refuses two columns with usual names of one role. `order` is the
    order of a file without header, where it differs from `kinds`.
    """

    kinds: dict[str, Kind]
    usual: dict[str, tuple[str, ...]]
    optional: frozenset[str] = frozenset()
    strict: bool = False
    order: tuple[str, ...] = ()
    required: tuple[str, ...] = field(init=False)
    """The roles that a file must have."""
    least: int = field(init=False)
    """The fewest columns that a file must have."""

    def __post_init__(self) -> None:
        required = tuple(role for role in self.kinds if role not in self.optional)
        object.__setattr__(self, "required", required)
        object.__setattr__(self, "least", 2 if self.strict else max(2, len(required)))

    def positions(self, names: Sequence[str], role: str) -> list[int]:
        """Return the positions of the first usual name of a role that occurs; all when strict."""
        # RecBole writes the type behind a name, as user_id:token.
        plain = [_BESIDE.sub("", name.partition(":")[0].casefold()) for name in names]
        present = [usual for usual in self.usual.get(role, ()) if usual in plain]
        accepted = present[: None if self.strict else 1]
        return [position for position, name in enumerate(plain) if name in accepted]

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
    usual_names(),
    frozenset({"timestamp"}),
)
"""A file of ratings."""


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
    column_of: dict[str, int] = {}
    lacking = []
    for role in roles.kinds:
        if role in named:
            column = named[role]
            if column is not None:
                column_of[role] = _position(column, names, role, where)
            continue
        positions = roles.positions(names, role)
        if len(positions) > 1:
            one, other = (names[position] for position in positions[:2])
            instead = f", or name it, such as {Remedy({'columns': {role: one}})}"
            can_be_named = roles is RATINGS and one != other  # others have no key `columns`
            raise ColumnsError(
                f"{where}: both {one!r} and {other!r} may be the {role}",
                f"rename one{instead if can_be_named else ''}",
                [role] if roles is RATINGS else (),
            )
        if positions:
            column_of[role] = positions[0]
        elif role not in roles.optional:
            lacking.append(role)
    if lacking:
        if roles is RATINGS and "rating" in lacking and len(names) - len(column_of) < len(lacking):
            refuse_without_ratings(names, where)
        them, columns = ("it", "column") if len(lacking) == 1 else ("them", "columns")
        instead = f"add {them}"
        if roles is RATINGS:
            names_of = ",".join(f"{role}=NAME" for role in lacking)
            instead = f"name {them} under columns (typed: --data-columns {names_of})"
        advice = f"call the {columns} {joined(lacking)}, or {instead}"
        absent = joined(f"the {role}" for role in lacking)
        there = listed([name[:30] for name in names], 10) or "no names"
        finding = f"{where}: no column for {absent} among {there}"
        raise ColumnsError(finding, advice, lacking if roles is RATINGS else ())
    if len({*column_of.values()}) < len(column_of):
        by_position: dict[int, str] = {}
        for role, position in column_of.items():
            if position in by_position:
                both = by_position[position], role
                finding = f"{where}: column {position + 1} would be both {' and '.join(both)}"
                raise ColumnsError(finding, "name each of them under columns", both)
            by_position[position] = role
    return column_of


def refuse_without_ratings(names: Sequence[str], where: str) -> None:
    """Refuse columns that cannot hold ratings, unless another separator may be in them."""
    if len(names) > 1 and not any(re.search(r"[^\w .:@+-]", name) for name in names):
        beside = joined(name[:30] for name in names)
        raise ColumnsError(
            f"{where}: no column of ratings beside {beside}",
            "add one, of 1s where only choices are known (docs/how-to/implicit.md)",
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


Mask = NDArray[np.bool_]
Marker = Callable[[Mask, Callable[[int], str]], None]
"""Takes which rows are wrong, and what describes one of them."""
Number = TypeVar("Number", np.float64, np.int64)
MISSING = ("", "na", "n/a", "nan", "null", "none", "nat", "<na>", "\\n")
"""Texts without a value, in small letters."""


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a type can be cast to floats; also the type of a column without values."""
    predicates = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(is_one(kind) for is_one in predicates)


def combined(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a dictionary column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return column.unify_dictionaries().combine_chunks()
    return column


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return floats, NaN for null."""
    return np.asarray(pc.cast(column, pa.float64(), safe=False).fill_null(np.nan).to_numpy())


def shown(value: object) -> str:
    """Return a text in quotation marks, cut where it is long."""
    text = str(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")


def parse_distinct(
    column: pa.ChunkedArray,
    parse: Callable[[pa.StringArray], tuple[NDArray[Number], Mask]],
    absent: float | int,
    describe: Callable[[str], str],
    mark: Marker,
) -> NDArray[Number]:
    """Parse each distinct text once; mark the rows whose text has no value.

    Parameters
    ----------
    column : ChunkedArray of text
    parse : callable
        Takes distinct texts that are not missing, without blanks around them; returns their values
        and which have none.
    absent : number
        Of rows without a value.
    describe : callable
        Says what is wrong with a text.
    mark : callable
    """
    encoded = combined(column.dictionary_encode())
    codes = encoded.indices.fill_null(-1).to_numpy()
    texts = pc.utf8_trim(encoded.dictionary, " \t")
    is_value = pc.invert(pc.is_in(pc.utf8_lower(texts), pa.array(MISSING)))
    parsed, wrong = parse(texts.filter(is_value))
    present = np.flatnonzero(is_value)
    values = np.full(len(texts) + 1, absent, parsed.dtype)  # the last one is that of a null
    bad = np.zeros(len(texts) + 1, dtype=bool)
    values[present], bad[present] = np.where(wrong, absent, parsed), wrong
    mark(bad[codes], lambda row: describe(encoded.dictionary[codes[row]].as_py()))
    return np.asarray(values[codes])
