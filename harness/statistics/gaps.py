"""The gap between two groups of users, or of one user's items, with its interval."""

from __future__ import annotations

import numpy as np

from harness._util import seeds
from harness._util.arguments import checked
from harness.errors import ComparisonError
from harness.statistics.arrays import check_settings
from harness.statistics.expansion import Moments
from harness.statistics.intervals import IntervalMethod, interval_of
from harness.statistics.many_users import intervals_of_many
from harness.statistics.paired import DEFAULT_RESAMPLES, check_unit
from harness.statistics.resampling import MANY_USERS, Floats, drawn_users, resampled_means


@checked(ComparisonError)
def gaps(
    one: Floats,
    other: Floats,
    *,
    paired: bool,
    confidence: float = 0.95,
    n_resamples: int | None = None,
    method: IntervalMethod = "bca",
    seed: int = 0,
) -> tuple[Floats, Floats, Floats]:
    r"""Return the difference of the means of columns, one less the other, with its interval.

    Parameters
    ----------
    one, other : ndarray of float64, shape (n_users, m)
        Scores of the same users in two groups; NaN where a user has none.
    paired : bool
        Whether the difference is the mean over users with both scores of their difference.
        Otherwise it is the difference of the means, each over the users with a score: two groups of
        users are different people.
    confidence, n_resamples, method, seed
        As in `bootstrap_interval`. Users are sampled with replacement, with all their scores. The
        acceleration of BCa follows from the empirical influence [1]_ of a user with value x among n
        on a difference of means: :math:`(x - \bar x) / n`, negative in the second group.

    Returns
    -------
    difference, low, high : ndarray of float64, shape (m,)
        In the unit of the scores; NaN where a group has no score.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical
       Association 82(397), 1987, doi:10.1080/01621459.1987.10478410.

    Examples
    --------
    >>> men = np.append(np.arange(50.0) + 10, [np.nan] * 50)[:, None]
    >>> women = np.append([np.nan] * 50, np.arange(50.0))[:, None]
    >>> difference, low, high = gaps(men, women, paired=False)
    >>> float(difference[0]), bool(low[0] < 10 < high[0])
    (10.0, True)
    """
    check_settings(confidence, n_resamples)
    if one.ndim != 2 or one.shape[1:] != other.shape[1:] or (paired and len(one) != len(other)):
        raise ComparisonError(
            f"gaps: scores of shapes {one.shape} and {other.shape}; give a row for each user and "
            "the same columns"
        )
    check_unit("gaps: scores", one, other)
    m, values = one.shape[1], one - other if paired else _pseudo_values(one, other)
    if n_resamples is None and len(values) >= MANY_USERS:
        moments = Moments.of_columns(np.ascontiguousarray(values.T))
        return moments.mean, *intervals_of_many(moments, confidence, method, seed)
    drawn = values if paired else np.hstack([one, other])
    rng = seeds.generator(seed, "gaps")
    users = drawn_users(len(drawn), n_resamples or DEFAULT_RESAMPLES, rng)
    draws = resampled_means(drawn, users)
    if not paired:
        draws = draws[:, :m] - draws[:, m:]
    low, high = np.full((2, m), np.nan)
    for j in range(m):
        low[j], high[j] = interval_of(draws[:, j], values[:, j], confidence, method)
    with np.errstate(invalid="ignore"):
        n_known = np.count_nonzero(~np.isnan(values), axis=0)
        return np.nansum(values, axis=0) / np.where(n_known, n_known, np.nan), low, high


def _pseudo_values(one: Floats, other: Floats) -> Floats:
    """Return values of which the mean is the difference of the means of two groups.

    The deviation of each is the influence of a user times their number.
    """
    both, m = np.hstack([one, other]), one.shape[1]
    defined = ~np.isnan(both)
    counts = np.where(defined.any(axis=0), defined.sum(axis=0), np.nan)
    centres = np.where(defined, both, 0.0).sum(axis=0) / counts
    parts = centres + np.where(defined, both - centres, 0.0) / counts * len(both)
    return np.asarray(parts[:, :m] - parts[:, m:])
