"""Loops that group rows by user and order each user's items."""

from __future__ import annotations

import numpy as np

from harness.kernels import kernel
from harness.metrics.arrays import Floats, Ints, Ranks

__all__ = ["count_users", "find_levels", "order_users", "place_rows", "sort_falling"]

FEW = 512
"""Lists this short are ordered by counting how many estimates are greater."""

RUN = 12
"""Stretches this short are sorted by insertion before they are merged."""

MOST_LEVELS = 32
PART = 5000
"""So many different relevances in so many rows are counted instead of sorted."""


@kernel
def count_users(codes: Ints, start: int, stop: int, counts: Ints) -> None:
    """Count the rows of each user between `start` and `stop`."""
    for row in range(start, stop):
        counts[codes[row]] += 1


@kernel
def place_rows(
    codes: Ints,
    estimates: Floats,
    ratings: Floats,
    start: int,
    stop: int,
    free: Ints,
    out_estimates: Floats,
    out_ratings: Floats,
) -> None:
    """Copy rows to the next free place of their user; `free` moves on."""
    for row in range(start, stop):
        place = free[codes[row]]
        free[codes[row]] = place + 1
        out_estimates[place] = estimates[row]
        out_ratings[place] = ratings[row]


@kernel
def sort_falling(keys: Floats, payload: Floats, spare_keys: Floats, spare: Floats) -> None:
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
    >>> sort_falling(keys, payload, np.empty(3), np.empty(3))
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
def find_levels(values: Floats) -> Floats:
    """Return the distinct values of a first part, from greatest to least; none when many.

    Examples
    --------
    >>> find_levels(np.array([3.0, 5.0, 3.0]))
    array([5., 3.])
    """
    levels = np.empty(MOST_LEVELS)
    n = 0
    for value in values[:PART]:
        known = False
        for level in range(n):
            if levels[level] == value:
                known = True
                break
        if not known:
            if n == MOST_LEVELS:
                return levels[:0]
            levels[n] = value
            n += 1
    return np.sort(levels[:n])[::-1].copy()


@kernel
def order_users(
    offsets: Ints,
    estimates: Floats,
    relevance: Floats,
    levels: Floats,
    start: int,
    stop: int,
    rank: Ranks,
    low: Ranks,
    high: Ranks,
) -> None:
    """Put each user's relevances in the order of the estimates; write down ranks and ties.

    The user's pool, the relevances from greatest to least, takes the place of the estimates. It is
    counted out where they are all among the `levels`, else sorted.
    """
    longest = 0
    for user in range(start, stop):
        longest = max(longest, offsets[user + 1] - offsets[user])
    spare_keys, spare = np.empty(longest), np.empty(longest)
    tied = np.empty(min(longest, FEW), dtype=np.int64)
    for user in range(start, stop):
        a, b = offsets[user], offsets[user + 1]
        if b - a <= FEW:
            _order_few(estimates[a:b], relevance[a:b], spare, tied, low[a:b], high[a:b])
        else:
            sort_falling(estimates[a:b], relevance[a:b], spare_keys, spare)
            _find_ties(estimates[a:b], low[a:b], high[a:b])
        for entry in range(a, b):
            rank[entry] = entry - a + 1
        if not _count_out(relevance[a:b], levels, estimates[a:b]):
            estimates[a:b] = np.sort(relevance[a:b])[::-1]


@kernel
def _order_few(
    keys: Floats, payload: Floats, spare: Floats, tied: Ints, low: Ranks, high: Ranks
) -> None:
    """Order a payload by falling key and write down the ties, without a sort.

    For each key, the greater ones are counted: n * n comparisons in a loop without a branch, of
    which processors do eight at a time, against n log n comparisons that none can foresee.
    """
    n = len(keys)
    spare[:n] = payload
    tied[:n] = 0
    for i in range(n):
        key, above = keys[i], 0
        for j in range(n):
            above += keys[j] > key
        place = above + tied[above]
        tied[above] += 1
        payload[place] = spare[i]
        low[place] = above + 1
    for place in range(n):
        first = low[place] - 1
        high[place] = first + tied[first]


@kernel
def _find_ties(keys: Floats, low: Ranks, high: Ranks) -> None:
    """Write down the first and the last rank of each group of equal keys, which are in order."""
    first = 0
    for entry in range(len(keys)):
        if entry + 1 == len(keys) or keys[entry + 1] != keys[entry]:
            low[first : entry + 1] = first + 1
            high[first : entry + 1] = entry + 1
            first = entry + 1


@kernel
def _count_out(values: Floats, levels: Floats, out: Floats) -> bool:
    """Write values from greatest to least by counting them; False if one has no level."""
    place = 0
    for level in levels:
        n_equal = 0
        for i in range(len(values)):
            n_equal += values[i] == level
        out[place : place + n_equal] = level
        place += n_equal
    return place == len(values)
