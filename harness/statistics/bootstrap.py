"""Sums under random signs, means over resampled users, and bootstrap intervals of the means.

Sums and means are matrix products: of a block of random vectors, one for each resample, and the
users' scores. They run on one thread of linear algebra, so that the same seed always gives the
same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness import seeds

__all__ = ["Floats", "IntervalMethod", "PairColumns", "bootstrap_interval", "sign_sums"]

Floats = NDArray[np.float64]
IntervalMethod = Literal["bca", "percentile"]

BLOCK_BYTES = 1 << 21
"""Bytes that fit in a processor's cache."""
FEWEST = 16
"""Resamples in a block, so that the users' scores are not read for each one."""
SLACK = 1e-12
"""Means that differ by less than this share of the values' range are taken to be equal."""


@dataclass(frozen=True, eq=False)
class PairColumns:
    """Differences of columns, of which sums and means are cheap.

    A sum over the difference of two columns is the difference of their sums, if the same users
    have values in both. So the columns are summed instead of the many more pairs of them; a pair
    that has users of its own gets a column of its own.
    """

    columns: Floats
    first: NDArray[np.intp]
    second: NDArray[np.intp]

    @classmethod
    def of(cls, table: Floats, first: NDArray[np.intp], second: NDArray[np.intp]) -> PairColumns:
        """Return the columns that the differences ``table[:, first] - table[:, second]`` need.

        Examples
        --------
        >>> shared = PairColumns.of(np.array([[1.0, 2.0], [4.0, np.nan]]), *np.array([[0], [1]]))
        >>> shared.differences(np.nansum(shared.columns, axis=0)).tolist()
        [-1.0]
        """
        _, pattern = np.unique(~np.isnan(table), axis=1, return_inverse=True)
        own = np.flatnonzero(pattern.ravel()[first] != pattern.ravel()[second])
        differences = table[:, first[own]] - table[:, second[own]]
        columns = np.column_stack([table, differences, np.zeros(len(table))])
        first, second = first.copy(), second.copy()
        first[own] = table.shape[1] + np.arange(len(own))
        second[own] = columns.shape[1] - 1
        return cls(columns, first, second)

    def differences(self, values: Floats) -> Floats:
        """Return what belongs to the pairs, from what belongs to the columns (the last axis)."""
        differences: Floats = values[..., self.first] - values[..., self.second]
        return differences


def sign_sums(
    values: Floats, n_resamples: int, rng: np.random.Generator, width: int = 0
) -> Iterator[Floats]:
    """Yield blocks of sums of rows under random signs, the same signs for all columns.

    Each row of a block is a resample; `width` is the number of columns of what the caller makes of
    a block, for which memory is kept free.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> [np.unique(sums).tolist() for sums in sign_sums(np.array([[1.0], [3.0]]), 100, rng)]
    [[-4.0, -2.0, 2.0, 4.0]]
    """
    n = len(values)
    n_bytes = 8 * ((n + 63) // 64)  # whole words, so that blocks of any size draw the same bits
    total = values.sum(axis=0)
    with _one_thread():
        for start, stop in _blocks(n_resamples, (*values.shape, width)):
            drawn = np.frombuffer(rng.bytes((stop - start) * n_bytes), np.uint8)
            plus = np.unpackbits(drawn.reshape(-1, n_bytes), axis=1, count=n).astype(np.float64)
            yield 2.0 * (plus @ values) - total


def resampled_means(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return means of rows drawn with replacement, the same rows for all columns.

    NaN is ignored; the mean is NaN where no row with a value was drawn.

    Examples
    --------
    >>> means = resampled_means(np.array([[0.0], [1.0]]), 1000, np.random.default_rng(0))
    >>> np.unique(means).tolist()
    [0.0, 0.5, 1.0]
    """
    n, n_columns = values.shape
    known = ~np.isnan(values)
    # Columns mostly share their users, so how many were drawn is counted once a pattern.
    patterns, of_column = np.unique(known, axis=1, return_inverse=True)
    counted = patterns.astype(np.float64)
    filled = np.where(known, values, 0.0)
    means = np.empty((n_resamples, n_columns))
    with _one_thread(), np.errstate(invalid="ignore"):
        for start, stop in _blocks(n_resamples, values.shape):
            size = stop - start
            rows = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
            times = np.bincount(rows.ravel(), minlength=size * n).reshape(size, n).astype(float)
            means[start:stop] = (times @ filled) / (times @ counted)[:, of_column.ravel()]
    return means


def _blocks(n_resamples: int, shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Divide the resamples so that the arrays of a block fit in the cache."""
    most = max(FEWEST, BLOCK_BYTES // (8 * max(*shape, 1)))
    for start in range(0, n_resamples, most):
        yield start, min(start + most, n_resamples)


def _one_thread() -> AbstractContextManager[object]:
    from threadpoolctl import threadpool_limits

    limited: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limited


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
    columns = PairColumns(values, none, none)
    return pair_intervals(columns, values.shape[1], confidence, n_resamples, method, seed)


def pair_intervals(
    pairs: PairColumns,
    n_plain: int,
    confidence: float,
    n_resamples: int,
    method: IntervalMethod,
    seed: int,
) -> tuple[Floats, Floats]:
    """Return the intervals of the first `n_plain` columns, and then those of the pairs.

    The same as `bootstrap_interval` of the columns beside the differences, but only the columns
    are resampled.
    """
    rng = seeds.generator(seed, "bootstrap")
    columns = pairs.columns.T
    means = np.ascontiguousarray(resampled_means(pairs.columns, n_resamples, rng).T)
    found = [interval_of(means[i], columns[i], confidence, method) for i in range(n_plain)]
    found += [
        interval_of(means[i] - means[j], columns[i] - columns[j], confidence, method)
        for i, j in zip(pairs.first, pairs.second, strict=True)
    ]
    low, high = np.array(found).reshape(-1, 2).T
    return low, high


def interval_of(
    means: Floats, values: Floats, confidence: float, method: IntervalMethod
) -> tuple[float, float]:
    r"""Return the interval of one column of values, given the means of its resamples.

    With :math:`z` the quantile of the normal distribution at :math:`(1 - c)/2` or its complement,
    :math:`z_0 = \Phi^{-1}` (share of means below the observed one, equal ones counting half) and
    the acceleration :math:`a = \sum (x_i - \bar x)^3 / (6 (\sum (x_i - \bar x)^2)^{3/2})`, a bound
    is the quantile of the means at :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`. For a mean
    this acceleration is the jackknife's, which SciPy finds in quadratic time.

    Examples
    --------
    >>> interval_of(np.arange(101.0), np.array([0.0, 100.0]), 0.5, "percentile")
    (25.0, 75.0)
    """
    from scipy.special import ndtr, ndtri

    means, values = means[~np.isnan(means)], values[~np.isnan(values)]
    if len(values) == 0:
        return np.nan, np.nan
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        observed, slack = values.mean(), SLACK * np.ptp(values)
        n_below = np.count_nonzero(means < observed - slack)
        n_equal = np.count_nonzero(np.abs(means - observed) <= slack)
        bias = ndtri((n_below + n_equal / 2) / len(means))
        if np.isfinite(bias):  # not so few resamples that all lie on one side
            deviations = values - observed
            acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
            shifted = bias + ndtri(tails)
            tails = ndtr(bias + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(means, tails)
    return float(low), float(high)
