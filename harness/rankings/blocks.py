"""Ranks of judged items in a whole catalogue, computed without sorting it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import MetricError
from harness.kernels import each_block, kernel
from harness.metrics import Rankings
from harness.metrics.arrays import Floats, Ints, Ranks

__all__ = ["TieKeys", "offsets_of", "order_keys", "rank_block", "tie_keys", "top_items"]

TieKeys = NDArray[np.uint64]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SMALLEST_BLOCK = 8


def tie_keys(ids: ArrayLike) -> TieKeys:
    """Return a number for each id that depends on its text alone.

    Examples
    --------
    >>> bool(tie_keys(["1"])[0] == tie_keys([1, 2])[0])
    True
    """
    from pandas.util import hash_array

    texts = np.array([str(each) for each in np.asarray(ids).tolist()], dtype=object)
    keys: TieKeys = hash_array(texts, categorize=False)
    return keys


def order_keys(users: TieKeys, items: TieKeys) -> TieKeys:
    """Return sort keys for items with equal estimates in shown lists: the smallest comes first.

    They do not depend on the order of the input and, like random numbers, differ from user to user,
    so that no item comes first for all of them. Users and items are given by their `tie_keys`.

    Examples
    --------
    >>> items = tie_keys(["a", "b", "c"])
    >>> [np.argsort(order_keys(tie_keys([user] * 3), items)).tolist() for user in ("ann", "bob")]
    [[0, 1, 2], [0, 2, 1]]
    """
    return (users ^ items) * MULTIPLIER


def rank_block(
    estimates: Floats,
    judged_offsets: ArrayLike,
    judged_items: ArrayLike,
    judged_ratings: ArrayLike,
    excluded_offsets: ArrayLike | None = None,
    excluded_items: ArrayLike | None = None,
    depth: int = 0,
    tie_keys: tuple[TieKeys, TieKeys] | None = None,
) -> Rankings:
    """Rank every column of a block of users and find the ranks of the judged ones.

    Parameters
    ----------
    estimates : ndarray of float64, shape (n_users, n_items)
    judged_offsets : array_like of int, shape (n_users + 1,)
    judged_items : array_like of int, shape (n_judged,)
        Columns of the judged items; -1 for one that is not among the candidates. Such an item, or
        one that is excluded, is not ranked but stays in the user's pool.
    judged_ratings : array_like of float, shape (n_judged,)
        Their relevances; every other column has relevance 0.
    excluded_offsets, excluded_items : array_like of int, optional
        Columns that are not candidates of a user, for example those in training.
    depth : int
        How many columns at the top of each list to keep in ``top_items``; 0 for none.
    tie_keys : (ndarray of uint64, ndarray of uint64), optional
        Of the users and of the columns, from `tie_keys`: they order columns of equal estimate in
        ``top_items``; left out, the order of the columns does.

    Returns
    -------
    Rankings
        Equal estimates have the order of the columns under ``ties=first``.

    Raises
    ------
    MetricError
        If a candidate's estimate is missing or infinite, the shapes do not agree, a column does
        not exist, or a user judged a column twice.

    Examples
    --------
    >>> lists = rank_block(np.array([[1.0, 3.0, 2.0, 3.0]]), [0, 2], [3, 0], [5.0, 4.0], depth=2)
    >>> lists.rank.tolist(), lists.tie_low.tolist(), lists.tie_high.tolist()
    ([2, 4], [1, 4], [2, 4])
    >>> lists.top_items.tolist()
    [[1, 3]]
    """
    estimates = np.asarray(estimates, dtype=np.float64)
    n_users, n_items = estimates.shape
    allowed = np.ones((n_users, n_items), dtype=bool)
    if excluded_offsets is not None and excluded_items is not None:
        users, columns = _columns("excluded", excluded_offsets, excluded_items, n_users, n_items)
        allowed[users[columns >= 0], columns[columns >= 0]] = False
    users, columns = _columns("judged", judged_offsets, judged_items, n_users, n_items)
    ratings = np.asarray(judged_ratings, dtype=np.float64)
    if len(ratings) != len(columns) or not np.isfinite(ratings).all():
        raise MetricError(
            f"judged_ratings: {len(ratings)} values, some perhaps not finite, for "
            f"{len(columns)} items; give one finite rating for each"
        )
    for row, column in np.argwhere(allowed & ~np.isfinite(estimates))[:1].tolist():
        raise MetricError(
            f"row {row}, column {column}: estimate {estimates[row, column]} is not finite; "
            "give the item a value or exclude it"
        )
    pool_offsets, pool = offsets_of(users, n_users), ratings[np.lexsort((-ratings, users))]
    listed = (columns >= 0) & allowed[users, columns] if n_items else columns >= 0
    users, columns, ratings = users[listed], columns[listed], ratings[listed]
    cells, n_times = np.unique(users * n_items + columns, return_counts=True)
    for cell in cells[n_times > 1][:1].tolist():
        raise MetricError(
            f"row {cell // n_items}, column {cell % n_items}: judged twice; "
            "keep one rating of each item"
        )
    # A column that is no candidate is below all others.
    candidates = np.where(allowed, estimates, -np.inf)
    above, equal, before = np.empty((3, len(columns)), dtype=np.int32)
    offsets = offsets_of(users, n_users)
    each_block(
        lambda a, b: _count(candidates, offsets, columns, a, b, above, equal, before),
        n_users,
        SMALLEST_BLOCK,
    )
    order = np.lexsort((above + before, users))
    above, equal, before = above[order], equal[order], before[order]
    return Rankings(
        offsets,
        ratings[order],
        above + before + 1,
        above + 1,
        above + equal,
        allowed.sum(axis=1),
        pool_offsets,
        pool,
        top_items=_top(candidates, allowed, depth, tie_keys) if depth else None,
    )


def _columns(
    name: str, given_offsets: ArrayLike, given_items: ArrayLike, n_users: int, n_items: int
) -> tuple[Ints, Ints]:
    """Return the user and the column of each entry of a ragged array that came from elsewhere."""
    offsets, items = np.asarray(given_offsets), np.asarray(given_items, dtype=np.int64)
    if len(offsets) != n_users + 1 or offsets[0] != 0 or offsets[-1] != len(items):
        raise MetricError(
            f"{name}_offsets: they do not divide {len(items)} items among {n_users} users; "
            "they must rise from 0 to the number of items"
        )
    if len(items) and (items.min() < -1 or items.max() >= n_items):
        raise MetricError(
            f"{name}_items: columns from {items.min()} to {items.max()}; "
            f"use columns from 0 to {n_items - 1}, or -1 for no candidate"
        )
    return np.repeat(np.arange(n_users), np.diff(offsets)), items


def offsets_of(users: Ints, n_users: int) -> Ints:
    """Return where the entries of each user start, once they are in the order of the users."""
    return np.concatenate(([0], np.cumsum(np.bincount(users, minlength=n_users))))


def _top(
    candidates: Floats, allowed: NDArray[np.bool_], depth: int, keys: tuple[TieKeys, TieKeys] | None
) -> Ranks:
    """Return the columns of the `depth` highest estimates of each row, -1 beyond the last."""
    n_users, n_items = candidates.shape
    if depth < n_items:
        least = np.partition(candidates, n_items - depth, axis=1)[:, n_items - depth]
        allowed = allowed & (candidates >= least[:, None])
    rows, columns = np.nonzero(allowed)
    equal = None if keys is None else order_keys(keys[0][rows], keys[1][columns])
    return top_items(rows, columns, candidates[rows, columns], n_users, depth, equal)


def top_items(
    users: Ints,
    items: Ints | Ranks,
    estimates: Floats,
    n_users: int,
    depth: int,
    equal: TieKeys | None = None,
) -> Ranks:
    """Return the items of highest estimate of each user, -1 where the list is shorter than `depth`.

    Items of equal estimate are in the order of `equal`, left out in that of the rows.
    """
    order = np.lexsort((-estimates, users) if equal is None else (equal, -estimates, users))
    users = users[order]
    position = np.arange(len(users)) - np.searchsorted(users, users)
    shown = position < depth
    top = np.full((n_users, depth), -1, dtype=np.int32)
    top[users[shown], position[shown]] = items[order][shown]
    return top


# Compiled, because sorting whole rows takes several times as long: the rank of a judged column
# is the number of columns with a higher estimate, of which a processor compares eight at a time in
# a loop without a branch.
@kernel
def _count(
    candidates: Floats,
    offsets: Ints,
    columns: Ints,
    start: int,
    stop: int,
    above: Ranks,
    equal: Ranks,
    before: Ranks,
) -> None:
    """Count the columns above each judged one, those equal to it and the equal ones before it."""
    for user in range(start, stop):
        row = candidates[user]
        for entry in range(offsets[user], offsets[user + 1]):
            estimate = row[columns[entry]]
            n_above, n_equal, n_before = 0, 0, 0
            for other in range(len(row)):
                n_above += row[other] > estimate
                n_equal += row[other] == estimate
            if n_equal > 1:
                for other in range(columns[entry]):
                    n_before += row[other] == estimate
            above[entry], equal[entry], before[entry] = n_above, n_equal, n_before
