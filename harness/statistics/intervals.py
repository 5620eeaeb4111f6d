"""Bootstrap intervals of means over users and of their differences."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness._util.kernels import each_block
from harness._util.libraries import scipy
from harness.statistics.resampling import Floats, PairColumns

IntervalMethod = Literal["bca", "percentile"]

LEAST_COLUMNS = 64  # whose intervals are too little work for another thread
SLACK = 1e-12  # means closer than this share of the range of the values are taken to be equal


def pair_intervals(
    pairs: PairColumns,
    n_plain: int,
    confidence: float,
    means: Floats,
    method: IntervalMethod,
) -> tuple[Floats, Floats]:
    """Return the intervals of the first `n_plain` columns, and then of the pairs.

    The same as `bootstrap_interval` of the columns beside the differences, but only the columns
    are resampled.
    """
    columns = np.ascontiguousarray(pairs.columns.T)
    means = np.ascontiguousarray(means.T)
    ends = np.empty((2, n_plain + len(pairs.first)))

    def find(start: int, stop: int) -> None:
        for number in range(start, stop):
            resampled, values = means[number % len(means)], columns[number % len(means)]
            if number >= n_plain:
                i, j = pairs.first[number - n_plain], pairs.second[number - n_plain]
                resampled, values = means[i] - means[j], columns[i] - columns[j]
            ends[:, number] = interval_of(resampled, values, confidence, method)

    each_block(find, ends.shape[1], LEAST_COLUMNS)
    low, high = ends
    return low, high


def interval_of(
    means: Floats, values: Floats, confidence: float, method: IntervalMethod
) -> tuple[float, float]:
    r"""Return the interval of one column of values, given the means of its resamples.

    With :math:`z` the quantile of the normal distribution at :math:`(1 - c)/2` or its complement,
    :math:`z_0 = \Phi^{-1}` (proportion of means below the observed one, equal ones counting half)
    and the acceleration :math:`a = \sum (x_i - \bar x)^3 / (6 (\sum (x_i - \bar x)^2)^{3/2})`, a
    bound is the quantile of the means at :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`. For a
    mean this acceleration is the jackknife's, which SciPy finds in quadratic time.
    """
    means, values = _known(means), _known(values)
    if len(values) == 0:
        return np.nan, np.nan
    spread = np.ptp(values)
    if spread == 0:
        return float(values[0]), float(values[0])
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        observed, slack = values.mean(), SLACK * spread
        n_below = np.count_nonzero(means < observed - slack)
        n_equal = np.count_nonzero(means <= observed + slack) - n_below
        bias, *normal = scipy.special.ndtri([(n_below + n_equal / 2) / len(means), *tails])
        if np.isfinite(bias):  # not so few resamples that all lie on one side
            deviations = values - observed
            squares = deviations * deviations  # a power takes sixty times as long as a product
            acceleration = (squares * deviations).sum() / (6 * squares.sum() ** 1.5)
            shifted = bias + np.array(normal)
            tails = scipy.special.ndtr(bias + shifted / (1 - acceleration * shifted))
    low, high = (_quantile(means, tail) for tail in tails.tolist())
    return low, high


def _known(values: Floats) -> Floats:
    """Return the values that are not NaN; they are copied only if some are."""
    unknown = np.isnan(values)
    return values[~unknown] if unknown.any() else values


def _quantile(values: Floats, share: float) -> float:
    """Return a quantile as ``np.quantile`` does, which takes four times as long for two of them.

    >>> _quantile(np.array([4.0, 1.0, 2.0]), 0.75)
    3.0
    """
    place = share * (len(values) - 1)
    below = int(place)
    ordered = np.partition(values, below)
    low, weight = float(ordered[below]), place - below
    if not weight:
        return low
    high = float(ordered[below + 1 :].min())
    return low + (high - low) * weight if weight < 0.5 else high - (high - low) * (1 - weight)
