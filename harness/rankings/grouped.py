"""Rankings of pairs that are grouped by user."""

from __future__ import annotations

import numpy as np

from harness._util.arguments import checked
from harness._util.kernels import each_block, kernel
from harness.errors import MetricError
from harness.metrics import Pairs, Rankings
from harness.metrics.arrays import Floats, Ids, Ints, Ranks

SMALLEST_BLOCK = 512
FEW = 512
"""Lists this short are ordered by counting how many estimates are greater, the others by a sort."""


@checked(MetricError)
def from_grouped(pairs: Pairs, users: Ids | None = None) -> Rankings:
    """Rank the items of pairs that are grouped by user already; every item is judged.

    >>> from_grouped(Pairs([0, 2], [1.0, 2.0], [3.0, 5.0])).relevance.tolist()
    [5.0, 3.0]
    """
    offsets, estimates, grades = pairs.offsets, pairs.estimates, pairs.ratings
    for name, values in (("estimate", estimates), ("rating", grades)):
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite))
            position = int(np.searchsorted(offsets, row, side="right")) - 1
            raise MetricError(
                f"user {position if users is None else users[position]}: {name} {values[row]} is "
                f"not finite; {int((~finite).sum())} such in all: drop these rows or give them a "
                "value"
            )
    (relevance, pool), (rank, low, high) = make_room(len(estimates))
    columns, out = (offsets, estimates, grades), (relevance, pool, rank, low, high)
    counts = np.diff(offsets)
    each_block(lambda a, b: _order_few(*columns, a, b, FEW, *out), len(counts), SMALLEST_BLOCK)
    for user in np.flatnonzero(counts > FEW):
        block = slice(offsets[user], offsets[user + 1])
        order = np.argsort(-estimates[block], kind="stable")
        negative = -estimates[block][order]
        relevance[block] = grades[block][order]
        pool[block] = np.sort(grades[block])[::-1]
        rank[block] = np.arange(1, len(order) + 1)
        low[block] = np.searchsorted(negative, negative, side="left") + 1
        high[block] = np.searchsorted(negative, negative, side="right")
    return Rankings(offsets, relevance, rank, low, high, counts, offsets, pool, users=users)


def make_room(n_rows: int) -> tuple[Floats, Ranks]:
    """Return room for two columns and three of ranks: from 4 MB on, NumPy asks for large pages."""
    block = np.empty(7 * n_rows, dtype=np.int32)
    columns, ranks = block[: 4 * n_rows].view(np.float64), block[4 * n_rows :]
    return columns.reshape(2, n_rows), ranks.reshape(3, n_rows)


# Compiled, because a sort of all rows by user and estimate (np.lexsort) takes eight times as long
# as everything else here. For each row, the rows of a greater estimate and those of a greater grade
# are counted: n * n comparisons in a loop without a branch, of which processors do eight at a time.
# A row comes after those that are greater and those before it that are equal; `rank` and `high`
# count the equal ones until they get their values.
@kernel
def _order_few(
    offsets: Ints,
    estimates: Floats,
    grades: Floats,
    start: int,
    stop: int,
    most: int,
    relevance: Floats,
    pool: Floats,
    rank: Ranks,
    low: Ranks,
    high: Ranks,
) -> None:
    """Order the rows of each user who has no more than `most`, without a sort."""
    for user in range(start, stop):
        a, b = offsets[user], offsets[user + 1]
        if b - a > most:
            continue
        keys, values = estimates[a:b], grades[a:b]  # from 0, the loops below are twice as fast
        for row in range(a, b):
            rank[row] = 0
            high[row] = 0
        for row in range(b - a):
            key, value = keys[row], values[row]
            above, better = 0, 0
            for other in range(len(keys)):
                above += keys[other] > key
                better += values[other] > value
            equal, best = a + above, a + better
            place, pooled = equal + rank[equal], best + high[best]
            relevance[place] = value
            low[place] = above + 1
            rank[equal] += 1
            pool[pooled] = value
            high[best] += 1
        for row in range(a, b):
            first = low[row] - 1
            high[row] = first + rank[a + first]
        for row in range(a, b):
            rank[row] = row - a + 1


def offsets_of(users: Ints, n_users: int) -> Ints:
    """Return where the entries of each user start, once they are in the order of the users."""
    return np.concatenate(([0], np.cumsum(np.bincount(users, minlength=n_users))))
