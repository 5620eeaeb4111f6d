"""Which column holds the user, the item, the rating and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.datasets.columns import Kind
from harness.errors import DataError, suggestion

__all__ = ["RATINGS", "Roles", "find_columns", "names_columns"]


@dataclass(frozen=True)
class Roles:
    """The columns that are read from a file.

    Attributes
    ----------
    kinds : dict of str to {"id", "number", "time"}
        In the order that a file without header has.
    usual : dict of str to tuple of str
        Their usual names, compared without case, blanks, points, dashes and underscores. The first
        match counts.
    optional : frozenset of str
    strict : bool
        Whether two columns with usual names of one role are refused, and no config names them.
    """

    kinds: dict[str, Kind]
    usual: dict[str, tuple[str, ...]]
    optional: frozenset[str] = field(default_factory=frozenset)
    strict: bool = False

    @property
    def least(self) -> int:
        """The fewest columns that a file must have."""
        return 2 if self.strict else max(2, len(self.kinds) - len(self.optional))

    @property
    def listed(self) -> str:
        """The columns that must be there, for messages."""
        *names, last = [role for role in self.kinds if role not in self.optional] or ["columns"]
        return f"{', '.join(names)} and {last}" if names else last


_USUAL: dict[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "userindex", "reviewerid", "customerid", "visitorid"),
    "item": (
        "item", "itemid", "iid", "movieid", "movie", "productid", "product", "asin", "parentasin",
        "bookid", "isbn", "songid", "trackid", "artistid", "artist", "jokeid", "businessid",
    ),
    "rating": ("rating", "ratings", "score", "stars", "overall", "weight", "rui"),
    "timestamp": ("timestamp", "time", "unixreviewtime", "ts", "date", "datetime", "ratedat"),
}  # fmt: skip

RATINGS = Roles(
    {"user": "id", "item": "id", "rating": "number", "timestamp": "time"},
    _USUAL,
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

    Parameters
    ----------
    names : sequence of str
        The header; empty for a file without one.
    named : mapping
        From ``user``, ``item``, ``rating`` and ``timestamp`` to a name, to a position from 1, or
        to None for a timestamp that is not to be read. What it does not mention is found by its
        usual names or, in a file without header, by the order user, item, rating, timestamp.
    where : str
        What is read, for messages.
    roles : Roles
        Which columns there may be.

    Raises
    ------
    DataError
        If a column that must be there is not, a name occurs twice, or two roles fall on one column.

    Examples
    --------
    >>> find_columns(["userId", "movieId", "rating"], {}, "ratings.csv")
    {'user': 0, 'item': 1, 'rating': 2}
    >>> find_columns(["who", "what", "stars"], {"user": "who", "item": 2}, "ratings.csv")
    {'user': 0, 'item': 1, 'rating': 2}
    """
    found = {}
    lacking = []
    for role in roles.kinds:
        if role in named:
            asked = named[role]
            if asked is not None:
                found[role] = _position(asked, names, role, where)
            continue
        positions = _usual_positions(names, role, roles)
        if len(positions) > 1:
            both = " and ".join(repr(names[position]) for position in positions[:2])
            instead = (
                "" if roles.strict else f", or name one under columns, as columns: {{{role}: …}}"
            )
            raise DataError(f"{where}: both {both} may be the {role}; rename one{instead}")
        if positions:
            found[role] = positions[0]
        elif role not in roles.optional:
            lacking.append(role)
    if lacking:
        them, given = "it" if len(lacking) == 1 else "them", ": …, ".join(lacking)
        advice = f"name {them} under columns, as columns: {{{given}: …}}"
        if roles.strict:
            advice = f"add {them}, or call {them} {' and '.join(lacking)}"
        *others, last = (f"the {role}" for role in lacking)
        absent = f"{', '.join(others)} and {last}" if others else last
        raise DataError(f"{where}: no column for {absent} among {_listed(names)}; {advice}")
    for role, position in found.items():
        for other in found:
            if other != role and found[other] == position:
                raise DataError(
                    f"{where}: column {position + 1} would be both {role} and {other}; "
                    "name each of them under columns"
                )
    return found


def names_columns(fields: Sequence[str], roles: Roles = RATINGS) -> bool:
    """Return whether a first line is a header with known names.

    Examples
    --------
    >>> names_columns(["user_id:token", "item_id:token", "rating:float"])
    True
    >>> names_columns(["196", "242", "3"])
    False
    """
    wanted = [role for role in roles.kinds if role not in roles.optional]
    return all(_usual_positions(fields, role, roles) for role in wanted)


def _position(asked: str | int, names: Sequence[str], role: str, where: str) -> int:
    if isinstance(asked, int):
        if names and asked > len(names):
            raise DataError(
                f"{where}: {role} is given as column {asked} of {len(names)}; use 1 to {len(names)}"
            )
        return asked - 1
    positions = [position for position, name in enumerate(names) if name.strip() == asked]
    if not positions:
        offered = suggestion(asked, names[:50]) if names else "give its position, from 1"
        raise DataError(f"{where}: no column {asked!r} for the {role}; {offered}")
    if len(positions) > 1:
        raise DataError(
            f"{where}: {len(positions)} columns are called {asked!r}; give the position, from 1"
        )
    return positions[0]


def _usual_positions(names: Sequence[str], role: str, roles: Roles) -> list[int]:
    """Return the positions of the first usual name of a role that occurs."""
    plain = [_plain(name) for name in names]
    if roles.strict:
        return [position for position, name in enumerate(plain) if name in roles.usual[role]]
    for usual in roles.usual[role]:
        if usual in plain:
            return [position for position, name in enumerate(plain) if name == usual]
    return []


def _plain(name: str) -> str:
    """Return a name without case, punctuation and the type that RecBole writes behind it."""
    bare = name.partition(":")[0]
    return "".join(mark for mark in bare.casefold() if mark not in " _-.\"'")


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no names"
    shown = ", ".join(name[:30] for name in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown
