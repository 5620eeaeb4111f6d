"""Loops that group rows by user and order each user's items."""

from __future__ import annotations

import numpy as np

from harness.kernels import kernel
from harness.metrics.arrays import Floats, Ints, Ranks

__all__ = ["count_users", "find_levels", "order_users", "place_rows", "sort_falling"]

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
    pool: Floats,
) -> None:
    """Sort each user's rows by estimate, in place, and write down ranks, ties and the pool.

    The pool is counted out where a user's relevances are all among the `levels`, else sorted.
    """
    longest = 0
    for user in range(start, stop):
        longest = max(longest, offsets[user + 1] - offsets[user])
    spare_keys, spare = np.empty(longest), np.empty(longest)
    counts = np.zeros(len(levels), dtype=np.int64)
    for user in range(start, stop):
        a, b = offsets[user], offsets[user + 1]
        sort_falling(estimates[a:b], relevance[a:b], spare_keys, spare)
        first = a
        for entry in range(a, b):
            rank[entry] = entry - a + 1
            if entry + 1 == b or estimates[entry + 1] != estimates[entry]:
                for tied in range(first, entry + 1):
                    low[tied] = first - a + 1
                    high[tied] = entry - a + 1
                first = entry + 1
        if not _count_out(relevance[a:b], levels, counts, pool[a:b]):
            pool[a:b] = np.sort(relevance[a:b])[::-1]


@kernel
def _count_out(values: Floats, levels: Floats, counts: Ints, out: Floats) -> bool:
    """Write values from greatest to least by counting them; False if one has no level."""
    counts[:] = 0
    for value in values:
        level = 0
        while level < len(levels) and levels[level] != value:
            level += 1
        if level == len(levels):
            return False
        counts[level] += 1
    place = 0
    for level in range(len(levels)):
        for _ in range(counts[level]):
            out[place] = levels[level]
            place += 1
    return True
