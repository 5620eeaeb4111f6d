"""Metrics of estimates against ratings: their errors.

Of two users, the first has three items and the second two:

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

from harness.arguments import MOST_RATING, unit_fault
from harness.errors import MetricError
from harness.metrics.arrays import Floats, Ints, Pairs
from harness.metrics.definition import metric
from harness.metrics.parameters import WEIGHTED, Params

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
