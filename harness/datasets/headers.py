"""Which column holds the user, the item, the rating and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.errors import DataError, suggestion

__all__ = ["find_columns", "names_columns"]

# Compared without case, blanks, points, dashes and underscores; the first that is found counts.
_USUAL = {
    "user": ("user", "userid", "uid", "userindex", "reviewerid", "customerid", "visitorid"),
    "item": (
        "item", "itemid", "iid", "movieid", "movie", "productid", "product", "asin", "parentasin",
        "bookid", "isbn", "songid", "trackid", "artistid", "artist", "jokeid", "businessid",
    ),
    "rating": ("rating", "ratings", "score", "stars", "overall", "weight", "rui"),
    "timestamp": ("timestamp", "time", "unixreviewtime", "ts", "date", "datetime", "ratedat"),
}  # fmt: skip


def find_columns(
    names: Sequence[str], named: Mapping[str, str | int | None], where: str
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

    Raises
    ------
    DataError
        If user, item or rating is not there, a name occurs twice, or two roles fall on one column.

    Examples
    --------
    >>> find_columns(["userId", "movieId", "rating"], {}, "ratings.csv")
    {'user': 0, 'item': 1, 'rating': 2}
    >>> find_columns(["who", "what", "stars"], {"user": "who", "item": 2}, "ratings.csv")
    {'user': 0, 'item': 1, 'rating': 2}
    """
    found = {}
    for role in _USUAL:
        if role in named:
            asked = named[role]
            if asked is not None:
                found[role] = _position(asked, names, role, where)
            continue
        position = _usual_position(names, role)
        if position is not None:
            found[role] = position
        elif role != "timestamp":
            raise DataError(
                f"{where}: no column for the {role} among {_listed(names)}; "
                f"name it under columns, as columns: {{{role}: …}}"
            )
    for role, position in found.items():
        for other in found:
            if other != role and found[other] == position:
                raise DataError(
                    f"{where}: column {position + 1} would be both {role} and {other}; "
                    "name each of them under columns"
                )
    return found


def names_columns(fields: Sequence[str]) -> bool:
    """Tell whether a first line is a header that can be understood.

    Examples
    --------
    >>> names_columns(["user_id:token", "item_id:token", "rating:float"])
    True
    >>> names_columns(["196", "242", "3"])
    False
    """
    return all(_usual_position(fields, role) is not None for role in ("user", "item", "rating"))


def _position(asked: str | int, names: Sequence[str], role: str, where: str) -> int:
    if isinstance(asked, int):
        if names and asked > len(names):
            raise DataError(
                f"{where}: {role} is to be column {asked} of {len(names)}; use 1 to {len(names)}"
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


def _usual_position(names: Sequence[str], role: str) -> int | None:
    plain = [_plain(name) for name in names]
    for usual in _USUAL[role]:
        if usual in plain:
            return plain.index(usual)
    return None


def _plain(name: str) -> str:
    """Return a name without case, punctuation and the type that RecBole writes behind it."""
    bare = name.partition(":")[0]
    return "".join(mark for mark in bare.casefold() if mark not in " _-.\"'")


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no names"
    shown = ", ".join(name[:30] for name in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown
