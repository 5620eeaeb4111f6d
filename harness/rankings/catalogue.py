"""Rankings of a catalogue, from a model's estimates of every item."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness._util.arguments import as_array, checked
from harness._util.kernels import each_block, kernel
from harness.errors import MetricError, counted
from harness.metrics import Rankings
from harness.metrics.arrays import Floats, Ints, Ranks
from harness.rankings.columns import as_floats
from harness.rankings.grouped import offsets_of
from harness.rankings.ties import TieKeys, order_keys


@checked(MetricError)
def rank_block(
    estimates: ArrayLike,
    judged_offsets: ArrayLike,
    judged_items: ArrayLike,
    judged_ratings: ArrayLike,
    excluded_offsets: ArrayLike | None = None,
    excluded_items: ArrayLike | None = None,
    depth: int = 0,
    tie_keys: tuple[TieKeys, TieKeys] | None = None,
    least: float = -np.inf,
) -> Rankings:
    """Rank every column of a block of users and find the ranks of the judged ones.

    User ``u`` judged the columns ``judged_items[judged_offsets[u]:judged_offsets[u + 1]]``; every
    other column has relevance 0. A judged column that is -1 (no candidate), excluded or estimated
    below `least` is not ranked but stays in the user's pool. The `depth` columns at the top of each
    list are kept in ``top_items``, equal estimates in the order of `tie_keys` (of the users and of
    the columns), or of the columns, and their estimates in ``top_estimates``.
    Equal estimates have the order of the columns under ``ties=first``. ``items`` are columns.

    >>> lists = rank_block(np.array([[1.0, 3.0, 2.0, 3.0]]), [0, 2], [3, 0], [5.0, 4.0], depth=2)
    >>> lists.rank.tolist(), lists.tie_low.tolist(), lists.tie_high.tolist()
    ([2, 4], [1, 4], [2, 4])
    >>> lists.top_items.tolist()
    [[1, 3]]
    """
    estimates, least = as_floats("estimates", estimates), float(least)
    if estimates.ndim != 2 or not 0 <= depth <= 2**31:
        raise MetricError(
            f"estimates of shape {estimates.shape}, depth {depth}; give a row for each user and a "
            "column for each item, and a depth from 0"
        )
    n_users, n_items = estimates.shape
    allowed = np.ones((n_users, n_items), dtype=bool)
    if excluded_offsets is not None and excluded_items is not None:
        users, columns = _columns("excluded", excluded_offsets, excluded_items, n_users, n_items)
        allowed[users[columns >= 0], columns[columns >= 0]] = False
    users, columns = _columns("judged", judged_offsets, judged_items, n_users, n_items)
    ratings = as_floats("judged_ratings", judged_ratings)
    if len(ratings) != len(columns) or not np.isfinite(ratings).all():
        raise MetricError(
            f"judged_ratings: {counted(len(ratings), 'value')}, some perhaps not finite, for "
            f"{counted(len(columns), 'item')}; give one finite rating for each"
        )
    pool_offsets, pool = offsets_of(users, n_users), ratings[np.lexsort((-ratings, users))]
    listed = columns >= 0
    if n_items:
        listed &= allowed[users, columns] & ~(estimates[users, columns] < least)
    users, columns, ratings = users[listed], columns[listed], ratings[listed]
    cells, n_times = np.unique(users * n_items + columns, return_counts=True)
    for cell in cells[n_times > 1][:1].tolist():
        raise MetricError(
            f"row {cell // n_items}, column {cell % n_items}: judged twice; "
            "keep one rating of each item"
        )
    candidates, n_ranked = np.empty_like(estimates), np.empty(n_users, dtype=np.int64)
    above, equal, before = np.empty((3, len(columns)), dtype=np.int32)
    offsets = offsets_of(users, n_users)

    def count(start: int, stop: int) -> None:
        row = _count(
            estimates, allowed, least, offsets, columns, start, stop,
            candidates, n_ranked, above, equal, before,
        )  # fmt: skip
        if row >= 0:
            column = np.flatnonzero(allowed[row] & ~np.isfinite(estimates[row]))[0]
            raise MetricError(
                f"row {row}, column {column}: estimate {estimates[row, column]} is not "
                "finite; give the item a value or exclude it"
            )

    each_block(count, n_users, 8)
    order = np.argsort(users * n_items + above + before)
    above, equal, before = above[order], equal[order], before[order]
    top, top_estimates = None, None
    if depth:
        top = top_columns(candidates, allowed, depth, tie_keys)
        top_estimates = np.full(top.shape, np.nan)
        top_estimates[top >= 0] = candidates[np.nonzero(top >= 0)[0], top[top >= 0]]
    ranks = above + before + 1, above + 1, above + equal
    named: Any = {"top_items": top, "top_estimates": top_estimates, "items": columns[order]}
    return Rankings(offsets, ratings[order], *ranks, n_ranked, pool_offsets, pool, **named)


def _columns(
    name: str, given_offsets: ArrayLike, given_items: ArrayLike, n_users: int, n_items: int
) -> tuple[Ints, Ints]:
    """Return the user and the column of each entry of a ragged array that came from elsewhere."""
    offsets = as_array(f"{name}_offsets", given_offsets, np.int64, MetricError)
    items = as_array(f"{name}_items", given_items, np.int64, MetricError)
    if len(offsets) != n_users + 1 or offsets[0] != 0 or offsets[-1] != len(items):
        raise MetricError(
            f"{name}_offsets: they do not divide {counted(len(items), 'item')} among "
            f"{counted(n_users, 'user')}; they must rise from 0 to the number of items"
        )
    if len(items) and (items.min() < -1 or items.max() >= n_items):
        raise MetricError(
            f"{name}_items: columns from {items.min()} to {items.max()}; "
            f"use columns from 0 to {n_items - 1}, or -1 for no candidate"
        )
    return np.repeat(np.arange(n_users), np.diff(offsets)), items


def top_columns(
    candidates: Floats, allowed: NDArray[np.bool_], depth: int, keys: tuple[TieKeys, TieKeys] | None
) -> Ranks:
    """Return the columns of the `depth` highest estimates of each row, -1 beyond the last."""
    n_users, n_items = candidates.shape
    least = np.full((n_users, 1), -np.inf)
    if depth < n_items:
        least = np.partition(candidates, n_items - depth, axis=1)[:, n_items - depth, None]
    rows, columns = np.nonzero(allowed & (candidates >= least))
    # Where more columns than there is room for have the least estimate: those of least key.
    offsets, shown = offsets_of(rows, n_users), np.ones(len(rows), dtype=bool)
    for row in np.flatnonzero(np.diff(offsets) > depth):
        above = columns[offsets[row] : offsets[row + 1]]
        tied = np.flatnonzero(candidates[row, above] == least[row])
        room = depth - (len(above) - len(tied))
        if keys is not None:
            order = order_keys(keys[0][row], keys[1][above[tied]])
            tied = tied[np.argpartition(order, room - 1)]
        shown[offsets[row] + tied[room:]] = False
    rows, columns = rows[shown], columns[shown]
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
    """Return the items of highest estimate of each user, -1 past the end; `equal` orders ties."""
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
    estimates: Floats,
    allowed: NDArray[np.bool_],
    least: float,
    offsets: Ints,
    columns: Ints,
    start: int,
    stop: int,
    candidates: Floats,
    n_ranked: Ints,
    above: Ranks,
    equal: Ranks,
    before: Ranks,
) -> int:
    """Count the columns above each judged one, those equal to it and the equal ones before it.

    A column that is not a candidate is below all others. Returned is the first user with a
    candidate whose estimate is not finite, or -1.
    """
    for user in range(start, stop):
        row = candidates[user]
        n_wrong, n_listed = 0, 0
        for column in range(len(row)):
            value, listed = estimates[user, column], allowed[user, column]
            n_wrong += listed & (value - value != 0.0)
            listed &= value >= least
            n_listed += listed
            row[column] = value if listed else -np.inf
        if n_wrong:
            return user
        n_ranked[user] = n_listed
        for column in range(len(row)):
            allowed[user, column] = row[column] > -np.inf
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
    return -1
