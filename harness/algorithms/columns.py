"""Ratings in columns, grouped by user or by item."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.kernels import group_rows

__all__ = [
    "Codes",
    "Floats",
    "Lists",
    "Offsets",
    "Order",
    "RatingLists",
    "mean_of_each",
    "number",
    "repeats",
    "transpose",
    "truncated",
]

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Lists(NamedTuple):
    """The ratings of every user, or of every item, one list after the other.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where the list of each user or item begins and ends.
    ids : ndarray of int32, shape (n_ratings,)
        Inner ids of the other side.
    ratings : ndarray of float64, shape (n_ratings,)
        The ratings, aligned with `ids`.
    """

    offsets: Offsets
    ids: Codes
    ratings: Floats


class Order(NamedTuple):
    """`Lists` put into the order of inner ids.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where each list begins and ends.
    ids : ndarray of int32, shape (n_ratings,)
        Inner ids of the other side, ascending within a list.
    places : ndarray of int64, shape (n_ratings,)
        Where the other side's `Lists` hold the same rating.
    """

    offsets: Offsets
    ids: Codes
    places: Offsets


class RatingLists(dict[int, list[tuple[int, float]]]):
    """The lists of (id, rating) of every user or item, each built on first use.

    Replaces Surprise's ``defaultdict(list)``: an unknown key gives an empty list, but is not
    remembered.

    Parameters
    ----------
    lists : Lists
        The ratings in columns.

    Examples
    --------
    >>> lists = RatingLists(
    ...     Lists(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([4.0, 3.0, 5.0])))
    >>> lists[0]
    [(0, 4.0), (1, 3.0)]
    >>> 1 in lists, 2 in lists, len(lists)
    (True, False, 2)
    """

    def __init__(self, lists: Lists) -> None:
        super().__init__()
        self._lists = lists

    def __missing__(self, key: Any) -> list[tuple[int, float]]:
        if key not in self:
            return []
        offsets, ids, ratings = self._lists
        rows = slice(offsets[int(key)], offsets[int(key) + 1])
        found = list(zip(ids[rows].tolist(), ratings[rows].tolist(), strict=True))
        self[int(key)] = found
        return found

    def __contains__(self, key: object) -> bool:
        try:
            return 0 <= key < len(self) and key == int(key)  # type: ignore[operator, call-overload]
        except TypeError:  # Surprise asks for names such as "UKN__42"
            return False

    def __len__(self) -> int:
        return len(self._lists.offsets) - 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the list of a key, or the default where there is none."""
        return self[key] if key in self else default  # noqa: SIM401 - that would call this again

    def keys(self) -> Any:
        """Return the inner ids, from 0."""
        return range(len(self))

    def values(self) -> Any:
        """Yield every list in the order of inner ids."""
        return (self[key] for key in self)

    def items(self) -> Any:
        """Yield every inner id with its list."""
        return ((key, self[key]) for key in self)

    def __reduce__(self) -> tuple[Any, ...]:
        return RatingLists, (self._lists,)


def mean_of_each(lists: Lists) -> Floats:
    """Return the mean rating of each user or item, shape (n,), as ``numpy.mean`` of each list.

    Examples
    --------
    >>> mean_of_each(Lists(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([4.0, 3.0, 5.0])))
    array([3.5, 5. ])
    """
    # NumPy adds pairwise; `np.add.reduceat` and other loops round differently in the last bit.
    add = np.add.reduce
    edges = pairwise(lists.offsets.tolist())
    sums = np.fromiter((add(lists.ratings[a:b]) for a, b in edges), np.float64)
    means: Floats = sums / np.diff(lists.offsets)
    return means


def truncated(lists: Lists) -> Lists:
    """Return lists with ratings cast to integers and back, as a C ``int`` would hold them.

    Examples
    --------
    >>> truncated(Lists(np.array([0, 2]), np.array([0, 1]), np.array([4.5, 3.0]))).ratings
    array([4., 3.])
    """
    return lists._replace(ratings=np.trunc(lists.ratings))


def repeats(offsets: Offsets, ids: Codes) -> npt.NDArray[np.bool_]:
    """Return which of some lists, ids ascending in each, hold an id twice; shape (n,).

    Examples
    --------
    >>> repeats(np.array([0, 2, 4]), np.array([0, 1, 1, 1]))
    array([False,  True])
    """
    same = np.zeros(len(ids) + 1, np.int64)
    same[2:] = np.cumsum(ids[1:] == ids[:-1])
    firsts = np.minimum(offsets[:-1] + 1, offsets[1:])
    repeated: npt.NDArray[np.bool_] = same[offsets[1:]] > same[firsts]
    return repeated


def number(codes: Codes, n_codes: int) -> Codes:
    """Return the distinct codes in the order in which they first appear.

    Examples
    --------
    >>> number(np.array([2, 0, 2]), 3)
    array([2, 0], dtype=int32)
    """
    first = np.full(n_codes, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    seen = np.flatnonzero(first < len(codes))
    order: Codes = seen[np.argsort(first[seen])].astype(np.int32)
    return order


def transpose(offsets: Offsets, ids: Codes, n_ids: int) -> Order:
    """Turn lists of ids by owner into lists of owners by id, owners ascending.

    Examples
    --------
    >>> transpose(np.array([0, 1, 3]), np.array([1, 0, 1]), 2)
    Order(offsets=array([0, 1, 3]), ids=array([1, 0, 1], dtype=int32), places=array([1, 0, 2]))
    """
    starts, places = group_rows(ids, n_ids)
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    return Order(starts, owners[places], places)
