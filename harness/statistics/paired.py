"""Paired tests of the scores of two algorithms for the same users, many pairs at once.

Each takes the differences of the users' scores, one column for each pair, NaN where a user has no
score for one of the two, and gives a two-sided p-value for each column. A column without users or
without any difference has p = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness import seeds
from harness.statistics.resamples import Floats, PairColumns, sign_sums

__all__ = ["Randomised", "effect_size", "paired_t", "randomisation", "randomise", "wilcoxon"]

_EPSILON = float(np.finfo(np.float64).eps)
_LEAST_P = 1e-12
MOST_WORK = 5_000_000_000
"""Limit of users times pairs times resamples for more resamples: about two seconds."""


def paired_t(differences: Floats) -> Floats:
    """Student's paired t-test.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_users, n_pairs)
        Score of the one less score of the other; NaN where either is undefined.

    Returns
    -------
    ndarray of float64, shape (n_pairs,)
        Two-sided p-values, in [0, 1]; 1 for fewer than two users, 0 for several users who all
        differ by the same amount.

    Notes
    -----
    ``scipy.stats.ttest_1samp`` of the differences, which is ``scipy.stats.ttest_rel`` of the
    scores.

    Examples
    --------
    >>> paired_t(np.array([[1.0], [2.0], [3.0]])).round(4).tolist()
    [0.0742]
    """
    from scipy import stats

    def test(column: Floats) -> float:
        if _is_constant(column):
            return 0.0
        return float(stats.ttest_1samp(column, 0.0).pvalue)

    return _each(differences, test, fewest=2)


def wilcoxon(differences: Floats) -> Floats:
    """Wilcoxon's signed-rank test; users without a difference are left out.

    Not advised with thousands of users, for whom it rejects equal algorithms too often [1]_.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_users, n_pairs)
        Score of the one less score of the other; NaN where either is undefined.

    Returns
    -------
    ndarray of float64, shape (n_pairs,)
        Two-sided p-values of ``scipy.stats.wilcoxon``, in [0, 1].

    References
    ----------
    .. [1] N. Ihemelandu, M. D. Ekstrand, "Inference at scale: significance testing for large search
       and recommendation experiments", SIGIR 2023, doi:10.48550/arXiv.2305.02461.

    Examples
    --------
    >>> wilcoxon(np.array([[1.0], [2.0], [3.0]])).tolist()
    [0.25]
    """
    from scipy import stats

    return _each(differences, lambda column: float(stats.wilcoxon(column).pvalue), fewest=1)


def randomisation(differences: Floats, n_resamples: int = 10_000, seed: int = 0) -> Floats:
    """Fisher's randomisation test of the mean difference: signs flipped at random, user by user.

    Under the null hypothesis the labels of the two algorithms could be exchanged for any user, so
    each difference is as likely to have the other sign. The p-value is the share of sign vectors
    whose mean is at least as far from 0 as the observed one.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_users, n_pairs)
        Score of the one less score of the other; NaN where either is undefined.
    n_resamples : int
        B, the number of random sign vectors, the same for all pairs. A pair with so few differing
        users that there are no more than B vectors at all is tested exactly, over all of them.
    seed : int
        Seed of the signs.

    Returns
    -------
    ndarray of float64, shape (n_pairs,)
        Two-sided p-values: (b + 1) / (B + 1) with b the vectors at least as extreme, which counts
        the observed one and never gives 0 [2]_; b / 2^n where all 2^n are enumerated.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance tests
       for information retrieval evaluation", CIKM 2007, doi:10.1145/1321440.1321528.
    .. [2] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Statistical
       Applications in Genetics and Molecular Biology 9(1), 2010, doi:10.2202/1544-6115.1585.

    Examples
    --------
    >>> randomisation(np.array([[1.0], [2.0], [3.0]])).tolist()  # 2 of 8 sign vectors
    [0.25]
    """
    n_columns = differences.shape[1]
    alone = PairColumns(
        np.column_stack([differences, np.zeros(len(differences))]),
        np.arange(n_columns),
        np.full(n_columns, n_columns),
    )
    return randomise(alone, n_resamples, seed).p_values


class Randomised(NamedTuple):
    """p-values of a randomisation test.

    Parameters
    ----------
    p_values : ndarray of float64, shape (n_pairs,)
    is_bound : ndarray of bool, shape (n_pairs,)
        Whether no random sign vector was as extreme, so that the p-value is an upper bound.
    """

    p_values: Floats
    is_bound: NDArray[np.bool_]


def randomise(
    pairs: PairColumns, n_resamples: int, seed: int, smallest: float | None = None
) -> Randomised:
    r"""Test pairs as `randomisation` does, with more resamples if no sign vector was as extreme.

    Parameters
    ----------
    pairs : PairColumns
    n_resamples : int
        B, as in `randomisation`.
    seed : int
    smallest : float, optional
        The p-value that can decide; left out, all pairs get B sign vectors and no more.

    Notes
    -----
    Of n sign flips of the differences d, a share of at most
    :math:`2 \exp(-(\sum d)^2 / (2 \sum d^2))` is as extreme as what was observed [1]_. Where no
    random vector is, the p-value is the smaller of this bound and 1 / (B + 1); where that is above
    `smallest`, vectors are drawn until there are 1 / `smallest`, `MOST_WORK` permitting. Either
    keeps the test's level: it goes below 1 / (B + 1) only where the exact p-value, or the one of
    all the vectors drawn, does so too.

    References
    ----------
    .. [1] W. Hoeffding, "Probability inequalities for sums of bounded random variables", Journal of
       the American Statistical Association 58(301), 1963, doi:10.1080/01621459.1963.10500830.
    """
    filled = np.nan_to_num(pairs.columns)
    n_users, n_pairs = len(filled), len(pairs.first)
    sums, sizes = filled.sum(axis=0), np.abs(filled).sum(axis=0)
    sizes = sizes[pairs.first] + sizes[pairs.second]
    # Sums that are equal but for the rounding of n additions count as equal.
    least = np.abs(pairs.differences(sums)) - _EPSILON * (n_users + 8) * sizes
    squares, n_differing = np.empty(n_pairs), np.empty(n_pairs, np.int64)
    for place, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        apart = filled[:, i] - filled[:, j]
        squares[place], n_differing[place] = apart @ apart, np.count_nonzero(apart)
    p_values = np.ones(n_pairs)
    is_bound = np.zeros(n_pairs, bool)
    exact = n_differing <= np.log2(n_resamples)
    for pair in np.flatnonzero(exact & (n_differing > 0)):
        values = filled[:, pairs.first[pair]] - filled[:, pairs.second[pair]]
        extreme = np.abs(_all_sign_sums(values[values != 0])) >= least[pair]
        p_values[pair] = np.count_nonzero(extreme) / len(extreme)
    drawn = np.flatnonzero(~exact)
    if not len(drawn):
        return Randomised(p_values, is_bound)
    rng = seeds.generator(seed, "randomisation")
    n_extreme = np.zeros(n_pairs, np.int64)
    for block in sign_sums(filled, n_resamples, rng, width=n_pairs):
        n_extreme += np.count_nonzero(np.abs(pairs.differences(block)) >= least, axis=0)
    p_values[drawn] = (n_extreme[drawn] + 1) / (n_resamples + 1)
    is_bound[drawn] = n_extreme[drawn] == 0
    if smallest is None:
        return Randomised(p_values, is_bound)
    spread = np.maximum(2.0 * squares, np.finfo(np.float64).tiny)
    hoeffding = np.maximum(2.0 * np.exp(-np.square(np.maximum(least, 0.0)) / spread), _LEAST_P)
    open_pairs = np.flatnonzero(is_bound & (hoeffding > smallest))
    n_more = int(np.ceil(1 / smallest)) - n_resamples
    n_more = min(n_more, MOST_WORK // max(1, n_users * len(open_pairs)))
    if len(open_pairs) and n_more > 0:
        apart = filled[:, pairs.first[open_pairs]] - filled[:, pairs.second[open_pairs]]
        for block in sign_sums(apart, n_more, rng):
            n_extreme[open_pairs] += np.count_nonzero(np.abs(block) >= least[open_pairs], axis=0)
        p_values[open_pairs] = (n_extreme[open_pairs] + 1) / (n_resamples + n_more + 1)
        is_bound[open_pairs] = n_extreme[open_pairs] == 0
    p_values[is_bound] = np.minimum(p_values, hoeffding)[is_bound]
    return Randomised(p_values, is_bound)


def _all_sign_sums(values: Floats) -> Floats:
    """Return the sums under every sign vector."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def effect_size(differences: Floats) -> Floats:
    """Return Cohen's d_z: the mean difference in standard deviations of the differences.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_users, n_pairs)
        Score of the one less score of the other; NaN where either is undefined.

    Returns
    -------
    ndarray of float64, shape (n_pairs,)
        mean / sd, sd with n - 1; 0 where there is no difference at all, infinite where all users
        differ by the same amount, NaN for fewer than two users.

    References
    ----------
    .. [1] D. Lakens, "Calculating and reporting effect sizes to facilitate cumulative science",
       Frontiers in Psychology 4:863, 2013, doi:10.3389/fpsyg.2013.00863.

    Examples
    --------
    >>> effect_size(np.array([[1.0], [2.0], [3.0]])).tolist()
    [2.0]
    """
    sizes = np.full(differences.shape[1], np.nan)
    for number, column in enumerate(differences.T):
        known = column[~np.isnan(column)]
        if len(known) < 2:
            continue
        mean = float(known.mean())
        if _is_constant(known):
            sizes[number] = 0.0 if known[0] == 0 else np.copysign(np.inf, mean)
        else:
            sizes[number] = mean / known.std(ddof=1)
    return sizes


def _is_constant(values: Floats) -> bool:
    """Return whether all values are equal except for rounding."""
    return bool(np.ptp(values) <= 50 * _EPSILON * np.abs(values).max())


def _each(differences: Floats, test: Callable[[Any], float], fewest: int) -> NDArray[np.float64]:
    """Apply a test to the known part of each column that has something to test."""
    p_values = np.ones(differences.shape[1])
    for number, column in enumerate(differences.T):
        known = column[~np.isnan(column)]
        if len(known) >= fewest and known.any():
            p_values[number] = test(known)
    return p_values
