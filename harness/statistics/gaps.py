"""Differences of means between groups of users, or of items of the same users."""

from __future__ import annotations

import numpy as np

from harness import seeds
from harness.statistics.resampling import Floats, IntervalMethod, interval_of, resampled_means

__all__ = ["gaps"]


def gaps(
    one: Floats,
    other: Floats,
    *,
    paired: bool,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
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
        Otherwise it is that of the means, each over the users with a score: those of two groups of
        users are different people.
    confidence, n_resamples, method, seed
        As in `bootstrap_interval`. Users are drawn with replacement, with all their scores. The
        acceleration of BCa is that of the empirical influence [1]_ of a user with value x among n
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
    rng, m = seeds.generator(seed, "gaps"), one.shape[1]
    if paired:
        values = one - other
        draws = resampled_means(values, n_resamples, rng)
    else:
        both = np.hstack([one, other])
        means = resampled_means(both, n_resamples, rng)
        draws = means[:, :m] - means[:, m:]
        # Of these pseudo-values the mean is the difference, and each deviation the influence of a
        # user times their number.
        known = ~np.isnan(both)
        counts = np.where(known.any(axis=0), known.sum(axis=0), np.nan)
        centres = np.where(known, both, 0.0).sum(axis=0) / counts
        parts = centres + np.where(known, both - centres, 0.0) / counts * len(both)
        values = parts[:, :m] - parts[:, m:]
    low, high = np.full((2, m), np.nan)
    for j in range(m):
        low[j], high[j] = interval_of(draws[:, j], values[:, j], confidence, method)
    with np.errstate(invalid="ignore"):
        n_known = np.count_nonzero(~np.isnan(values), axis=0)
        return np.nansum(values, axis=0) / np.where(n_known, n_known, np.nan), low, high
