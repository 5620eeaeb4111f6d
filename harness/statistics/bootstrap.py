"""Bootstrap intervals of the means of columns of any array."""

from __future__ import annotations

import numpy as np

from harness.arguments import checked
from harness.errors import ComparisonError
from harness.statistics.intervals import IntervalMethod, pair_intervals
from harness.statistics.paired import DEFAULT_RESAMPLES, check_unit, check_words
from harness.statistics.resampling import (
    MANY_USERS,
    MOST_RESAMPLES,
    Draws,
    Floats,
    PairColumns,
)


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
        from harness.statistics.many_users import intervals_of_many

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
