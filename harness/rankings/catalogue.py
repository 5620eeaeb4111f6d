"""Ranks of judged items in a whole catalogue, computed without sorting it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import MetricError
from harness.kernels import each_block, kernel
from harness.metrics import Rankings
from harness.metrics.arrays import Floats, Ints, Ranks
from harness.rankings.tie_order import MULTIPLIER, TieKeys

__all__ = ["rank_block"]

SMALLEST_BLOCK = 8
RUN = 12
"""Segments this short are sorted by insertion before they are merged."""


class _Judged(NamedTuple):
    """Per user: judged columns and grades, and the columns that are no candidates."""

    offsets: Ints
    items: Ranks
    ratings: Floats
    excluded_offsets: Ints
    excluded: Ranks


class _Found(NamedTuple):
    """What the kernel writes; an entry that is no candidate gets rank 0."""

    relevance: Floats
    rank: Ranks
    low: Ranks
    high: Ranks
    n_ranked: Ints
    pool: Floats
    top: Ranks
    bad: Ints


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

    One pass over a user's estimates compares each with the sorted estimates of the judged items,
    so nothing longer than those is sorted.

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
        Of the users and of the columns, from `harness.rankings.tie_order.tie_keys`: they order
        columns of equal estimate in ``top_items``; left out, the order of the columns does.

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
    estimates = np.ascontiguousarray(estimates, dtype=np.float64)
    n_users, n_items = estimates.shape
    judged = _Judged(
        np.ascontiguousarray(judged_offsets, dtype=np.int64),
        np.ascontiguousarray(judged_items, dtype=np.int32),
        np.ascontiguousarray(judged_ratings, dtype=np.float64),
        np.zeros(n_users + 1, dtype=np.int64)
        if excluded_offsets is None
        else np.ascontiguousarray(excluded_offsets, dtype=np.int64),
        np.ascontiguousarray(() if excluded_items is None else excluded_items, dtype=np.int32),
    )
    _check(judged, n_users, n_items)
    n_judged = len(judged.items)
    found = _Found(
        np.empty(n_judged),
        np.zeros(n_judged, dtype=np.int32),
        np.zeros(n_judged, dtype=np.int32),
        np.zeros(n_judged, dtype=np.int32),
        np.empty(n_users, dtype=np.int64),
        np.empty(n_judged),
        np.full((n_users, depth), -1, dtype=np.int32),
        np.full(n_users, -1, dtype=np.int64),
    )
    nothing = np.zeros(0, dtype=np.uint64)
    keys = (nothing, nothing) if tie_keys is None else tie_keys
    each_block(
        lambda a, b: _rank(estimates, judged, *keys, depth, a, b, found), n_users, SMALLEST_BLOCK
    )
    if (found.bad >= 0).any():
        row = int(np.argmax(found.bad >= 0))
        column = int(found.bad[row])
        if column < n_items:
            raise MetricError(
                f"row {row}, column {column}: estimate {estimates[row, column]} is not finite; "
                "give the item a value or exclude it"
            )
        raise MetricError(
            f"row {row}, column {column - n_items}: judged twice; keep one rating of each item"
        )
    kept = found.rank > 0
    ends = np.concatenate(([0], np.cumsum(kept)))
    return Rankings(
        ends[judged.offsets],
        found.relevance[kept],
        found.rank[kept],
        found.low[kept],
        found.high[kept],
        found.n_ranked,
        judged.offsets,
        found.pool,
        top_items=found.top if depth else None,
    )


def _check(judged: _Judged, n_users: int, n_items: int) -> None:
    for name, offsets, items in (
        ("judged", judged.offsets, judged.items),
        ("excluded", judged.excluded_offsets, judged.excluded),
    ):
        if len(offsets) != n_users + 1 or offsets[0] != 0 or offsets[-1] != len(items):
            raise MetricError(
                f"{name}_offsets: they do not divide {len(items)} items among {n_users} users; "
                "they must rise from 0 to the number of items"
            )
        if len(items) and (int(items.min()) < -1 or int(items.max()) >= n_items):
            raise MetricError(
                f"{name}_items: columns from {items.min()} to {items.max()}; "
                f"use columns from 0 to {n_items - 1}, or -1 for no candidate"
            )
    if len(judged.ratings) != len(judged.items) or not np.isfinite(judged.ratings).all():
        raise MetricError(
            f"judged_ratings: {len(judged.ratings)} values, some perhaps not finite, for "
            f"{len(judged.items)} items; give one finite rating for each"
        )


@kernel
def _sort_falling(keys: Floats, payload: Floats, spare_keys: Floats, spare: Floats) -> None:
    """Sort keys from greatest to least and carry the payload along; equal keys keep their order.

    Parameters
    ----------
    keys, payload : ndarray of float64, shape (n,)
        Sorted in place.
    spare_keys, spare : ndarray of float64, shape (n or more,)
        Overwritten.

    Examples
    --------
    >>> keys, payload = np.array([1.0, 2.0, 2.0]), np.array([5.0, 6.0, 7.0])
    >>> _sort_falling(keys, payload, np.empty(3), np.empty(3))
    >>> payload
    array([6., 7., 5.])
    """
    n = len(keys)
    for start in range(0, n, RUN):
        stop = min(start + RUN, n)
        for i in range(start + 1, stop):
            key, value = keys[i], payload[i]
            j = i - 1
            while j >= start and keys[j] < key:
                keys[j + 1], payload[j + 1] = keys[j], payload[j]
                j -= 1
            keys[j + 1], payload[j + 1] = key, value
    width = RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            middle, stop = start + width, min(start + 2 * width, n)
            if keys[middle - 1] >= keys[middle]:
                continue
            spare_keys[:width], spare[:width] = keys[start:middle], payload[start:middle]
            left, right, place = 0, middle, start
            while left < width and right < stop:
                if spare_keys[left] >= keys[right]:
                    keys[place], payload[place] = spare_keys[left], spare[left]
                    left += 1
                else:
                    keys[place], payload[place] = keys[right], payload[right]
                    right += 1
                place += 1
            while left < width:
                keys[place], payload[place] = spare_keys[left], spare[left]
                left += 1
                place += 1
        width *= 2


@kernel
def _rank(
    estimates: Floats,
    judged: _Judged,
    user_keys: TieKeys,
    item_keys: TieKeys,
    depth: int,
    start: int,
    stop: int,
    found: _Found,
) -> None:
    n_items = estimates.shape[1]
    longest = 0
    for user in range(start, stop):
        longest = max(longest, judged.offsets[user + 1] - judged.offsets[user])
    keys, payload = np.empty(longest), np.empty(longest)
    spare_keys, spare = np.empty(longest), np.empty(longest)
    levels, above, equal = np.empty(longest + 1), np.empty(longest + 2), np.empty(longest + 1)
    level_of = np.empty(longest, dtype=np.int64)
    within = np.empty(longest, dtype=np.int64)
    # 0 a candidate, -1 excluded, else 1 + the position of the judged item.
    mark = np.zeros(n_items, dtype=np.int64)
    best, best_item = np.empty(depth), np.empty(depth, dtype=np.int32)
    best_key = np.empty(depth, dtype=np.uint64)
    for user in range(start, stop):
        a, b = judged.offsets[user], judged.offsets[user + 1]
        for i in range(judged.excluded_offsets[user], judged.excluded_offsets[user + 1]):
            if judged.excluded[i] >= 0:
                mark[judged.excluded[i]] = -1
        n = 0
        for i in range(a, b):
            item = judged.items[i]
            if item < 0 or mark[item] < 0:
                continue
            if mark[item] > 0:
                found.bad[user] = n_items + item
            mark[item] = i - a + 1
            keys[n], payload[n] = estimates[user, item], i - a
            n += 1
        _sort_falling(keys[:n], payload[:n], spare_keys, spare)
        n_levels = 0
        for i in range(n):
            if n_levels == 0 or keys[i] != levels[n_levels - 1]:
                levels[n_levels] = keys[i]
                n_levels += 1
            level_of[i] = n_levels - 1
        above[: n_levels + 1] = 0.0
        equal[:n_levels] = 0.0
        least = levels[n_levels - 1] if n_levels else np.inf

        n_ranked, n_best = 0, 0
        for item in range(n_items):
            if mark[item] < 0:
                continue
            n_ranked += 1
            estimate = estimates[user, item]
            if not np.isfinite(estimate):
                found.bad[user] = item
                break
            if estimate >= least:
                # The first level that is not above the estimate.
                left, right = 0, n_levels - 1
                while left < right:
                    middle = (left + right) // 2
                    if levels[middle] > estimate:
                        left = middle + 1
                    else:
                        right = middle
                if levels[left] == estimate:
                    equal[left] += 1.0
                    if mark[item] > 0:
                        within[mark[item] - 1] = int(equal[left])
                else:
                    above[left] += 1.0
            if depth and (n_best < depth or estimate >= best[depth - 1]):
                key = np.uint64(item)
                if len(item_keys):
                    key = (user_keys[user] ^ item_keys[item]) * MULTIPLIER  # as order_keys
                if n_best == depth and estimate == best[depth - 1] and key > best_key[depth - 1]:
                    continue
                place = n_best if n_best < depth else depth - 1
                n_best = min(n_best + 1, depth)
                while place > 0 and (
                    best[place - 1] < estimate
                    or (best[place - 1] == estimate and best_key[place - 1] > key)
                ):
                    best[place], best_item[place] = best[place - 1], best_item[place - 1]
                    best_key[place] = best_key[place - 1]
                    place -= 1
                best[place], best_item[place], best_key[place] = estimate, item, key
        found.n_ranked[user] = n_ranked
        found.top[user, :n_best] = best_item[:n_best]

        # Entries in rank order: by level, and within a level by column.
        before, i = 0, 0
        for level in range(n_levels):
            before += int(above[level])
            last = i
            while last < n and level_of[last] == level:
                spare_keys[last] = -float(within[int(payload[last])])
                last += 1
            _sort_falling(spare_keys[i:last], payload[i:last], keys, spare)
            for j in range(i, last):
                judged_item = int(payload[j])
                found.relevance[a + j] = judged.ratings[a + judged_item]
                found.rank[a + j] = before + within[judged_item]
                found.low[a + j] = before + 1
                found.high[a + j] = before + int(equal[level])
            before += int(equal[level])
            i = last
        rising = np.sort(judged.ratings[a:b])
        found.pool[a:b] = rising[::-1]
        for i in range(judged.excluded_offsets[user], judged.excluded_offsets[user + 1]):
            if judged.excluded[i] >= 0:
                mark[judged.excluded[i]] = 0
        for i in range(a, b):
            if judged.items[i] >= 0:
                mark[judged.items[i]] = 0
