"""Metrics of estimates against ratings: their errors.

In the example of two users, the first has three items and the second two:

>>> pairs = Pairs([0, 3, 5], [1.0, 3.0, 2.0, 1.0, 2.0], [1.0, 2.0, 3.0, 1.0, 5.0])
>>> for metric in (mse, mae):
...     print(metric.name, metric(pairs).per_user.round(4).tolist(), round(metric(pairs).mean, 4))
mse [0.6667, 4.5] 2.2
mae [0.6667, 1.5] 1.0
>>> round(rmse(pairs).mean ** 2, 4)
2.2
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from harness._util.arguments import MOST_RATING, unit_fault
from harness._util.kernels import each_block, kernel
from harness.errors import MetricError
from harness.metrics.arrays import Floats, Ints, Pairs
from harness.metrics.definition import metric
from harness.metrics.parameters import ANY, WEIGHTED, Parameter, Params, words

UserScores = tuple[Floats, float]
"""Scores per user and the value over all pairs."""

HERLOCKER = "Herlocker et al. 2004, doi:10.1145/963770.963772"

pooled_metric = partial(metric, needs="pairs", cut="none", pooled=True, parameters=WEIGHTED)
_error = partial(pooled_metric, source=HERLOCKER, range=(0.0, math.inf), higher_is_better=False)


@_error("sqrt(mean((estimate - rating)**2))")
def rmse(pairs: Pairs, params: Params) -> UserScores:
    """Root mean squared error of the estimates."""
    per_user, pooled = mse.compute(pairs, params)
    return np.sqrt(per_user), math.sqrt(pooled)


@_error("mean(abs(estimate - rating))")
def mae(pairs: Pairs, params: Params) -> UserScores:
    """Mean absolute error of the estimates."""
    return means_of(pairs, np.abs(errors_of(pairs)))


@_error("mean((estimate - rating)**2)")
def mse(pairs: Pairs, params: Params) -> UserScores:
    """Mean squared error of the estimates."""
    return means_of(pairs, np.square(errors_of(pairs)))


def errors_of(pairs: Pairs) -> Floats:
    """Return the errors of the estimates, which can be squared and added."""
    if fault := unit_fault(MOST_RATING, pairs.estimates, pairs.ratings):
        raise MetricError(f"estimates and ratings: {fault}")
    return np.asarray(pairs.estimates - pairs.ratings)


def ratio(part: Floats | Ints, total: Floats | Ints, none: float = math.nan) -> Floats:
    """Divide the values of users; `none` where there is nothing to divide by."""
    return np.asarray(np.divide(part, total, out=np.full(len(part), none), where=total > 0))


def mean_of(values: Floats) -> float:
    """Return the mean of all values; nan without any."""
    return float(values.mean()) if len(values) else math.nan


def means_of(pairs: Pairs, values: Floats) -> UserScores:
    """Average values within each user, and over all pairs; nan where there is none.

    With the weights of the pairs, if they have some.
    """
    counts = np.diff(pairs.offsets)
    users = np.repeat(np.arange(pairs.n_users), counts)
    if pairs.weights is None:
        sums = np.bincount(users, weights=values, minlength=pairs.n_users)
        return ratio(sums, counts), mean_of(values)
    sums = np.bincount(users, values * pairs.weights, pairs.n_users)
    totals = np.bincount(users, pairs.weights, pairs.n_users)
    return ratio(sums, totals), float((values * pairs.weights).sum() / pairs.weights.sum())


DRAPER = "Draper and Smith 1998, doi:10.1002/9781118625590"

_explained = partial(
    pooled_metric,
    source=DRAPER,
    range=(-math.inf, 1.0),
    value_needs="test ratings that are not all equal",
)


@_explained("1 - sum((rating - estimate)**2) / sum((rating - mean(rating))**2)")
def r2(pairs: Pairs, params: Params) -> UserScores:
    """Coefficient of determination: proportion of the ratings' variance that the estimates explain.

    nan where all ratings are equal.
    """
    return _unexplained(pairs, *mse.compute(pairs, params))


@_explained("1 - var(rating - estimate) / var(rating)")
def explained_variance(pairs: Pairs, params: Params) -> UserScores:
    """As r2, but a constant error has no effect."""
    return _unexplained(pairs, *_variances(pairs, -errors_of(pairs)))


def _variances(pairs: Pairs, values: Floats) -> UserScores:
    of_users, mean = means_of(pairs, values)
    centres = np.repeat(of_users, np.diff(pairs.offsets))
    variance = means_of(pairs, np.square(values - mean))[1]
    return means_of(pairs, np.square(values - centres))[0], variance


def _unexplained(pairs: Pairs, errors: Floats, left_pooled: float) -> UserScores:
    """Return 1 - the remaining proportion of the ratings' variance, nan if they have none."""
    spread, pooled = _variances(pairs, pairs.ratings)
    return 1.0 - ratio(errors, spread), 1.0 - left_pooled / pooled if pooled > 0 else math.nan


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
    "c / (c + d), c the mean number of concordant pairs of the users who have any, d the same "
    "for discordant or tied pairs; with pooling=pairs, sums instead of means",
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

    For two items with different ratings, the pair is concordant if the better one has the greater
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


FAQ = "Surprise's FAQ, precision_recall_at_k: Hug 2020, doi:10.21105/joss.02174"
ESTIMATED = Parameter(
    "threshold",
    "least rating of a relevant item, and least estimate of a recommended one",
    limits=ANY,
    default="3.5",
)
PAIR_TIES = Parameter(
    "ties",
    "order of equal estimates at the cut: expected value over all orders, or input order",
    words("average", "first"),
)
_estimated = partial(
    metric, needs="pairs", cut="required", parameters=(ESTIMATED, PAIR_TIES), source=FAQ
)


@_estimated("|first k with estimate >= t and rating >= t| / |first k with estimate >= t|")
def estimated_precision(pairs: Pairs, params: Params, k: int) -> UserScores:
    """Proportion of relevant items among the first k that are estimated at the threshold or more.

    0 where none of the first k is: Surprise's FAQ computes it so. `precision` counts all k.
    """
    hits, recommended, _ = _estimated_counts(pairs, params, k)
    per_user = ratio(hits, recommended, none=0.0)
    return per_user, mean_of(per_user)


@_estimated("|first k with estimate >= t and rating >= t| / |rating >= t|")
def estimated_recall(pairs: Pairs, params: Params, k: int) -> UserScores:
    """Proportion of the relevant items among the first k, estimated at the threshold or more.

    0 where nothing is relevant: Surprise's FAQ computes it so. `recall` counts all of the first k.
    """
    hits, _, relevant = _estimated_counts(pairs, params, k)
    per_user = ratio(hits, relevant, none=0.0)
    return per_user, mean_of(per_user)


@_estimated(
    "2 |first k with estimate >= t and rating >= t| / "
    "(|first k with estimate >= t| + |rating >= t|)"
)
def estimated_f1(pairs: Pairs, params: Params, k: int) -> UserScores:
    """Harmonic mean of `estimated_precision` and `estimated_recall` of each user.

    0 where one of them is 0, as in Surprise's FAQ, where neither is blank.
    """
    hits, recommended, relevant = _estimated_counts(pairs, params, k)
    per_user = ratio(2 * hits, recommended + relevant, none=0.0)
    return per_user, mean_of(per_user)


def _estimated_counts(pairs: Pairs, params: Params, k: int) -> tuple[Floats, Floats, Floats]:
    """Count, for each user, the hits, the recommended and the relevant items."""
    least, starts = float(params["threshold"]), pairs.offsets[:-1]
    users = np.repeat(np.arange(pairs.n_users), np.diff(pairs.offsets))
    order = np.lexsort((-pairs.estimates, users))
    estimates, relevant = pairs.estimates[order], (pairs.ratings >= least)[order]
    position = np.arange(len(order)) - starts[users]
    weights = (position < k).astype(float)
    if params["ties"] == "average":  # a group at the cut counts by the part that is above it
        new = np.flatnonzero((np.diff(estimates, prepend=np.nan) != 0) | (position == 0))
        sizes = np.diff(np.append(new, len(order)))
        weights = np.repeat(np.add.reduceat(weights, new) / sizes, sizes) if len(new) else weights
    weights *= estimates >= least

    def total(values: Floats) -> Floats:
        return np.bincount(users, values, minlength=pairs.n_users).astype(np.float64)

    return total(weights * relevant), total(weights), total(relevant.astype(float))
