"""Metrics of estimates against ratings: errors and explained variance.

Of two users, the first has three items and the second two:

>>> pairs = Pairs([0, 3, 5], [1.0, 3.0, 2.0, 1.0, 2.0], [1.0, 2.0, 3.0, 1.0, 5.0])
>>> for metric in (mse, mae, r2, explained_variance):
...     print(metric.name, metric(pairs).per_user.round(4).tolist(), round(metric(pairs).mean, 4))
mse [0.6667, 4.5] 2.2
mae [0.6667, 1.5] 1.0
r2 [0.0, -0.125] 0.0179
explained_variance [0.0, 0.4375] 0.1786
>>> round(rmse(pairs).mean ** 2, 4)
2.2
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from harness.arguments import MOST_RATING, unit_fault
from harness.errors import MetricError
from harness.metrics.arrays import Floats, Ints, Pairs
from harness.metrics.definition import metric
from harness.metrics.parameters import WEIGHTED, Params

UserScores = tuple[Floats, float]
"""Scores per user and the value over all pairs."""

HERLOCKER = "Herlocker et al. 2004, doi:10.1145/963770.963772"
DRAPER = "Draper and Smith 1998, doi:10.1002/9781118625590"


_pooled = partial(metric, needs="pairs", cut="none", pooled=True, parameters=WEIGHTED)
_error = partial(_pooled, source=HERLOCKER, range=(0.0, math.inf), higher_is_better=False)
_explained = partial(_pooled, source=DRAPER, range=(-math.inf, 1.0))


@_error("sqrt(mean((estimate - rating)**2))")
def rmse(pairs: Pairs, params: Params) -> UserScores:
    """Root mean squared error of the estimates."""
    per_user, pooled = mse.compute(pairs, params)
    return np.sqrt(per_user), math.sqrt(pooled)


@_error("mean(abs(estimate - rating))")
def mae(pairs: Pairs, params: Params) -> UserScores:
    """Mean absolute error of the estimates."""
    return _means(pairs, np.abs(_errors(pairs)))


@_error("mean((estimate - rating)**2)")
def mse(pairs: Pairs, params: Params) -> UserScores:
    """Mean squared error of the estimates."""
    return _means(pairs, np.square(_errors(pairs)))


@_explained("1 - sum((rating - estimate)**2) / sum((rating - mean(rating))**2)")
def r2(pairs: Pairs, params: Params) -> UserScores:
    """Coefficient of determination: share of the ratings' variance that the estimates explain.

    nan where all ratings are equal.
    """
    return _unexplained(pairs, *mse.compute(pairs, params))


@_explained("1 - var(rating - estimate) / var(rating)")
def explained_variance(pairs: Pairs, params: Params) -> UserScores:
    """As r2, but a constant error has no effect."""
    return _unexplained(pairs, *_variances(pairs, -_errors(pairs)))


def _errors(pairs: Pairs) -> Floats:
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


def _means(pairs: Pairs, values: Floats) -> UserScores:
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


def _variances(pairs: Pairs, values: Floats) -> UserScores:
    of_users, mean = _means(pairs, values)
    centres = np.repeat(of_users, np.diff(pairs.offsets))
    variance = _means(pairs, np.square(values - mean))[1]
    return _means(pairs, np.square(values - centres))[0], variance


def _unexplained(pairs: Pairs, errors: Floats, left_pooled: float) -> UserScores:
    """Return 1 - the remaining share of the ratings' variance, nan if they have none."""
    spread, pooled = _variances(pairs, pairs.ratings)
    return 1.0 - ratio(errors, spread), 1.0 - left_pooled / pooled if pooled > 0 else math.nan
