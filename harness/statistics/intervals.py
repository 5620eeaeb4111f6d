"""Bootstrap intervals of a mean over users."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness import seeds
from harness.statistics.resamples import Floats, PairColumns, resampled_means

__all__ = ["IntervalMethod", "bootstrap_interval", "bounds", "pair_intervals"]

IntervalMethod = Literal["bca", "percentile"]

# Means that differ by less than this share of the values' range are taken to be equal.
_SLACK = 1e-12


def bootstrap_interval(
    values: Floats,
    *,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    method: IntervalMethod = "bca",
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """Return an interval for the mean of each column, from resampling the rows.

    Users are drawn with replacement, and all columns of a user together. The interval is about
    other users of the same kind; it says nothing of other splits or seeds.

    Parameters
    ----------
    values : ndarray of float64, shape (n_users, m)
        A score or a difference of scores for each user; NaN where there is none.
    confidence : float
        In (0, 1): how often such intervals contain the mean.
    n_resamples : int
        How often users are drawn.
    method : {"bca", "percentile"}
        Quantiles of the resampled means, corrected for bias and skewness [1]_ or not corrected.
    seed : int
        Seed of the resamples.

    Returns
    -------
    low, high : ndarray of float64, shape (m,)
        In the unit of the values; NaN for a column without a value, the mean itself for a column
        of equal values.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical
       Association 82(397), 1987, doi:10.1080/01621459.1987.10478410.

    Examples
    --------
    >>> low, high = bootstrap_interval(np.arange(100.0)[:, None])
    >>> low.round().tolist(), high.round().tolist()
    ([44.0], [55.0])
    """
    none = np.zeros(0, np.intp)
    return pair_intervals(
        PairColumns(values, none, none),
        values.shape[1],
        confidence=confidence,
        n_resamples=n_resamples,
        method=method,
        seed=seed,
    )


def pair_intervals(
    pairs: PairColumns,
    n_plain: int,
    *,
    confidence: float,
    n_resamples: int,
    method: IntervalMethod,
    seed: int,
) -> tuple[Floats, Floats]:
    """Return the intervals of the first columns and then those of the pairs.

    The same as `bootstrap_interval` of the columns beside the differences, but only the columns
    are resampled.

    Parameters
    ----------
    pairs : PairColumns
    n_plain : int
        How many of its columns have an interval of their own.
    confidence, n_resamples, method, seed
        As `bootstrap_interval`.
    """
    rng = seeds.generator(seed, "bootstrap")
    columns = pairs.columns.T
    means = np.ascontiguousarray(resampled_means(pairs.columns, n_resamples, rng).T)
    found = [_interval(means[i], columns[i], confidence, method) for i in range(n_plain)]
    found += [
        _interval(means[i] - means[j], columns[i] - columns[j], confidence, method)
        for i, j in zip(pairs.first, pairs.second, strict=True)
    ]
    low, high = np.array(found).reshape(-1, 2).T
    return low, high


def _interval(
    drawn: Floats, column: Floats, confidence: float, method: IntervalMethod
) -> tuple[float, float]:
    """Return the interval of one column, given the means of its resamples."""
    known = column[~np.isnan(column)]
    if len(known) == 0:
        return np.nan, np.nan
    if np.ptp(known) == 0:
        return float(known[0]), float(known[0])
    return bounds(drawn[~np.isnan(drawn)], known, confidence=confidence, method=method)


def bounds(
    means: Floats, values: Floats, *, confidence: float = 0.95, method: IntervalMethod = "bca"
) -> tuple[float, float]:
    r"""Return the bounds of an interval, given the means of the resamples.

    Parameters
    ----------
    means : ndarray of float64, shape (n_resamples,)
        Means of resamples of the values.
    values : ndarray of float64, shape (n_users,)
        Not all equal.
    confidence : float
        In (0, 1).
    method : {"bca", "percentile"}
        See `bootstrap_interval`.

    Notes
    -----
    With :math:`z` the quantile of the normal distribution at :math:`(1 - c)/2` or its complement,
    :math:`z_0 = \Phi^{-1}` (share of means below the observed one, equal ones counting half) and
    the acceleration :math:`a = \sum (x_i - \bar x)^3 / (6 (\sum (x_i - \bar x)^2)^{3/2})`, which is
    the jackknife's for a mean, a bound is the quantile of the means at
    :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`.

    Examples
    --------
    >>> bounds(np.arange(101.0), np.array([0.0, 100.0]), confidence=0.5, method="percentile")
    (25.0, 75.0)
    """
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        tails = _corrected(tails, means, values)
    low, high = np.quantile(means, tails)
    return float(low), float(high)


def _corrected(tails: Floats, means: Floats, values: Floats) -> NDArray[np.float64]:
    from scipy.special import ndtr, ndtri

    apart = values - values.mean()
    slack = _SLACK * np.ptp(values)
    observed = values.mean()
    n_below = np.count_nonzero(means < observed - slack)
    n_equal = np.count_nonzero(np.abs(means - observed) <= slack)
    bias = ndtri((n_below + n_equal / 2) / len(means))
    if not np.isfinite(bias):  # so few resamples that all lie on one side
        return tails
    acceleration = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    shifted = bias + ndtri(tails)
    corrected: Floats = ndtr(bias + shifted / (1 - acceleration * shifted))
    return corrected
