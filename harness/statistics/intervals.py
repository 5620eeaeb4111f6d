"""Bootstrap intervals of means over users and of their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from harness import seeds
from harness.arguments import checked
from harness.errors import ComparisonError
from harness.kernels import each_block
from harness.lazy import scipy
from harness.statistics.paired import DEFAULT_RESAMPLES, check_unit, check_words
from harness.statistics.resampling import (
    MANY_USERS,
    MOST_RESAMPLES,
    Draws,
    Floats,
    PairColumns,
    means_of_few,
)

if TYPE_CHECKING:
    from harness.statistics.expansion import Moments

IntervalMethod = Literal["bca", "percentile"]

LEAST_COLUMNS = 64  # whose intervals are too little work for another thread
SLACK = 1e-12  # means closer than this share of the range of the values are taken to be equal


@checked(ComparisonError)
def bootstrap_interval(
    values: Floats,
    *,
    confidence: float = 0.95,
    n_resamples: int | None = None,
    method: IntervalMethod = "bca",
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """Return an interval for the mean of each column, from resampling the rows.

    Users are drawn with replacement, and all columns of a user together. The interval is about
    other users of the same kind; it says nothing of other splits or seeds.

    Parameters
    ----------
    values : array_like of float, shape (n_users, m)
        A score or a difference of scores for each user; NaN where there is none.
    confidence : float
        In (0, 1): how often such intervals contain the mean.
    n_resamples : int, optional
        How often users are drawn. By default 10,000 times, and from 10,000 users on the ends are
        computed as those of infinitely many resamples [2]_; see `harness.statistics.expansion`.
    method : {"bca", "percentile"}
        Quantiles of the resampled means, corrected for bias and skewness [1]_ or not corrected.
    seed : int
        Seed of the resamples.

    Returns
    -------
    low, high : ndarray of float64, shape (m,)
        In the unit of the values; NaN for a column without a value, the mean itself for a column
        of equal values.

    Raises
    ------
    ComparisonError
        If there are no columns, or `method` is unknown.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical
       Association 82(397), 1987, doi:10.1080/01621459.1987.10478410.
    .. [2] T. J. DiCiccio, B. Efron, "Bootstrap confidence intervals", Statistical Science 11(3),
       1996, doi:10.1214/ss/1032280214.

    Examples
    --------
    >>> low, high = bootstrap_interval(np.arange(100.0)[:, None])
    >>> low.round().tolist(), high.round().tolist()
    ([44.0], [55.0])
    """
    check_words("interval", method=(method, IntervalMethod))
    if np.ndim(values) != 2:
        raise ComparisonError(
            f"interval: values of shape {np.shape(values)}; give a column for each mean, as "
            "values[:, None]"
        )
    check_settings(confidence, n_resamples)
    none, values = np.zeros(0, np.intp), np.asarray(values, np.float64)
    check_unit("interval: values", values)
    if n_resamples is None and len(values) >= MANY_USERS:
        from harness.statistics.expansion import Moments

        moments = Moments.of_columns(np.ascontiguousarray(values.T))
        return intervals_of_many(moments, confidence, method, seed)
    columns = PairColumns(values, none, none)
    means = Draws(seed).means(values, n_resamples or DEFAULT_RESAMPLES)
    return pair_intervals(columns, values.shape[1], confidence, means, method)


def check_settings(confidence: float, n_resamples: int | None) -> None:
    """Refuse a confidence or a number of resamples that cannot be."""
    if not 0 < confidence < 1:
        raise ComparisonError(f"interval: confidence {confidence}; use one such as 0.95")
    if n_resamples is not None and not 1 <= n_resamples <= MOST_RESAMPLES:
        raise ComparisonError(f"interval: {n_resamples} resamples; use 10,000")


def intervals_of_many(
    moments: Moments, confidence: float, method: IntervalMethod, seed: int
) -> tuple[Floats, Floats]:
    """Return intervals of many users from moments; resample columns of too few effective users."""
    low, high = moments.interval(confidence, corrected=method == "bca")
    for pair in np.flatnonzero(~moments.has_interval & (moments.n_known > 0)).tolist():
        values, rng = moments.values(pair), seeds.generator(seed, "bootstrap of few", pair)
        drawn = means_of_few(values, DEFAULT_RESAMPLES, rng)
        low[pair], high[pair] = interval_of(drawn, values, confidence, method)
    return low, high


def pair_intervals(
    pairs: PairColumns,
    n_plain: int,
    confidence: float,
    means: Floats,
    method: IntervalMethod,
) -> tuple[Floats, Floats]:
    """Return the intervals of the first `n_plain` columns, and then those of the pairs.

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
    :math:`z_0 = \Phi^{-1}` (share of means below the observed one, equal ones counting half) and
    the acceleration :math:`a = \sum (x_i - \bar x)^3 / (6 (\sum (x_i - \bar x)^2)^{3/2})`, a bound
    is the quantile of the means at :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`. For a mean
    this acceleration is the jackknife's, which SciPy finds in quadratic time.
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
