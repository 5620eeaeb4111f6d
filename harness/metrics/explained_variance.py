"""Metrics of estimates against ratings: the share of their variance that the estimates explain.

Of two users, the first has three items and the second two:

>>> pairs = Pairs([0, 3, 5], [1.0, 3.0, 2.0, 1.0, 2.0], [1.0, 2.0, 3.0, 1.0, 5.0])
>>> for metric in (r2, explained_variance):
...     print(metric.name, metric(pairs).per_user.round(4).tolist(), round(metric(pairs).mean, 4))
r2 [0.0, -0.125] 0.0179
explained_variance [0.0, 0.4375] 0.1786
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from harness.metrics.arrays import Floats, Pairs
from harness.metrics.parameters import Params
from harness.metrics.rating_error import (
    UserScores,
    errors_of,
    means_of,
    mse,
    pooled_metric,
    ratio,
)

DRAPER = "Draper and Smith 1998, doi:10.1002/9781118625590"

_explained = partial(
    pooled_metric,
    source=DRAPER,
    range=(-math.inf, 1.0),
    value_needs="test ratings that are not all equal",
)


@_explained("1 - sum((rating - estimate)**2) / sum((rating - mean(rating))**2)")
def r2(pairs: Pairs, params: Params) -> UserScores:
    """Coefficient of determination: share of the ratings' variance that the estimates explain.

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
    """Return 1 - the remaining share of the ratings' variance, nan if they have none."""
    spread, pooled = _variances(pairs, pairs.ratings)
    return 1.0 - ratio(errors, spread), 1.0 - left_pooled / pooled if pooled > 0 else math.nan
