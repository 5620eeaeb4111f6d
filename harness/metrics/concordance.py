"""The order of pairs of items: whether the better rated has the greater estimate.

Of two users, the first has two concordant pairs of three, the second one of one:

>>> pairs = Pairs([0, 3, 5], [1.0, 3.0, 2.0, 1.0, 2.0], [1.0, 2.0, 3.0, 1.0, 5.0])
>>> fcp(pairs, pooling="pairs").mean, fcp(pairs).mean   # 3 / 4; 1.5 / (1.5 + 1)
(0.75, 0.6)
"""

from __future__ import annotations

import math

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Pairs
from harness.metrics.definition import metric
from harness.metrics.parameters import Parameter, Params, words
from harness.metrics.rating_error import UserScores, ratio

SMALLEST_BLOCK = 512
MOST_COMPARED = 2048
"""Up to as many items of a user, comparing all pairs is faster than sorting."""

POOLING = Parameter(
    "pooling",
    "how users are combined into the table value: mean counts, each over the users who have any, "
    "as Surprise; or all pairs alike",
    words("surprise", "pairs"),
)


@metric(
    "c / (c + d), c the mean number of concordant pairs of the users who have any, d that of "
    "discordant or tied pairs; with pooling=pairs, sums instead of means",
    "as Surprise computes it, Hug 2020, doi:10.21105/joss.02174; pooling=pairs from Koren and "
    "Sill 2013, Collaborative filtering on ordinal user feedback, IJCAI",
    parameters=(POOLING,),
    needs="pairs",
    cut="none",
    pooled=True,
    value_needs="two different test ratings of a user",
)
def fcp(pairs: Pairs, params: Params) -> UserScores:
    """Fraction of concordant pairs: how often the better rated of two items of a user has the
    greater estimate.

    Of two items with different ratings, the pair is concordant if the better one has the greater
    estimate, else discordant; equal estimates are discordant.
    """
    concordant, discordant = np.zeros((2, pairs.n_users), dtype=np.int64)
    columns = (pairs.offsets, pairs.estimates, pairs.ratings)
    each_block(
        lambda a, b: _count_order(*columns, a, b, concordant, discordant),
        pairs.n_users,
        SMALLEST_BLOCK,
    )
    for user in np.flatnonzero(np.diff(pairs.offsets) > MOST_COMPARED):
        span = slice(*pairs.offsets[user : user + 2])
        counts = _count_by_sorting(pairs.estimates[span], pairs.ratings[span])
        concordant[user], discordant[user] = counts
    both = concordant + discordant
    in_order, out_of_order = float(concordant.sum()), float(discordant.sum())
    if params["pooling"] == "surprise":
        in_order /= max(1, int((concordant > 0).sum()))
        out_of_order /= max(1, int((discordant > 0).sum()))
    total = in_order + out_of_order
    return ratio(concordant, both), in_order / total if total else math.nan


@kernel
def _count_order(
    offsets: Ints,
    estimates: Floats,
    ratings: Floats,
    start: int,
    stop: int,
    concordant: Ints,
    discordant: Ints,
) -> None:
    """Compare all pairs of a user's items: without a branch, a processor does several at a time."""
    for user in range(start, stop):
        a, b = offsets[user], offsets[user + 1]
        if b - a > MOST_COMPARED:
            continue
        estimated, rated = estimates[a:b], ratings[a:b]
        n_different, n_concordant = 0, 0
        for i in range(b - a):
            rating, estimate = rated[i], estimated[i]
            for j in range(b - a):
                worse = rated[j] < rating
                n_different += worse
                n_concordant += worse & (estimated[j] < estimate)
        concordant[user] = n_concordant
        discordant[user] = n_different - n_concordant


def _count_by_sorting(estimates: Floats, ratings: Floats) -> tuple[int, int]:
    """Count the same pairs of a user with many items, in n log(n)**2 steps; NaN is in no order."""
    defined = ratings[~np.isnan(ratings)]
    _, sizes = np.unique(defined, return_counts=True)
    n_different = (len(defined) ** 2 - int((sizes**2).sum())) // 2
    # Of equal ratings the greater estimate comes first, so that they hold no rising pair.
    estimates = estimates[np.lexsort((-estimates, ratings))][: len(defined)]
    n_concordant = _count_rising(estimates[~np.isnan(estimates)])
    return n_concordant, n_different - n_concordant


def _count_rising(values: Floats) -> int:
    """Count the pairs of which the later value is the greater one."""
    if len(values) <= MOST_COMPARED:
        counts = np.zeros((2, 1), dtype=np.int64)
        edges = np.array([0, len(values)])
        _count_order(edges, values, np.arange(float(len(values))), 0, 1, *counts)
        return int(counts[0, 0])
    first, second = np.split(values, [len(values) // 2])
    across = int(np.searchsorted(np.sort(first), second).sum())
    return across + _count_rising(first) + _count_rising(second)
