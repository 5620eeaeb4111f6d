"""Paired tests of the scores of two algorithms for the same users, many pairs at once.

Each takes the differences of the users' scores, shape (n_users, n_pairs), NaN where a user has no
score for one of the two, and gives a two-sided p-value for each column. A column without users or
without any difference has p = 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from harness import seeds
from harness.statistics.bootstrap import Floats, PairColumns, sign_sums

__all__ = ["effect_size", "paired_t", "randomisation", "randomise", "wilcoxon"]

EPSILON = float(np.finfo(np.float64).eps)
LEAST_P = 1e-12
MOST_WORK = 5_000_000_000
"""Limit of users times pairs times resamples for more resamples: about two seconds."""


def paired_t(differences: Floats) -> Floats:
    """Student's paired t-test: ``scipy.stats.ttest_1samp`` of the differences.

    1 for fewer than two users, 0 for several users who all differ by the same amount.

    Examples
    --------
    >>> paired_t(np.array([[1.0], [2.0], [3.0]])).round(4).tolist()
    [0.0742]
    """
    from scipy import stats

    def test(column: Floats) -> float:
        return 0.0 if _is_constant(column) else float(stats.ttest_1samp(column, 0.0).pvalue)

    return _by_column(differences, test, fewest=2)


def wilcoxon(differences: Floats) -> Floats:
    """Wilcoxon's signed-rank test, ``scipy.stats.wilcoxon``; zero differences are left out.

    Not advised with thousands of users, for whom it rejects equal algorithms too often [1]_.

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

    return _by_column(differences, lambda column: float(stats.wilcoxon(column).pvalue), fewest=1)


def randomisation(differences: Floats, n_resamples: int = 10_000, seed: int = 0) -> Floats:
    """Fisher's randomisation test of the mean difference: signs flipped at random, user by user.

    Under the null hypothesis the labels of the two algorithms could be exchanged for any user, so
    each difference is as likely to have the other sign. The p-value is the share of sign vectors
    whose mean is at least as far from 0 as the observed one.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_users, n_pairs)
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
    n_users, n_pairs = differences.shape
    columns = np.column_stack([differences, np.zeros(n_users)])
    pairs = PairColumns(columns, np.arange(n_pairs), np.full(n_pairs, n_pairs))
    return randomise(pairs, n_resamples, seed)[0]


def randomise(
    pairs: PairColumns, n_resamples: int, seed: int, smallest: float | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    r"""Test pairs as `randomisation` does, with more resamples if no sign vector was as extreme.

    Returned are the p-values and whether each is an upper bound, because no random sign vector was
    as extreme. `smallest` is the p-value that can decide; left out, all pairs get B sign vectors
    and no more.

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
    least = np.abs(pairs.differences(sums)) - EPSILON * (n_users + 8) * sizes
    squares, p_values = np.empty(n_pairs), np.ones(n_pairs)
    exact, is_bound = np.zeros(n_pairs, bool), np.zeros(n_pairs, bool)
    for pair, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        differences = filled[:, i] - filled[:, j]
        squares[pair], differing = differences @ differences, differences[differences != 0]
        exact[pair] = len(differing) <= np.log2(n_resamples)
        if exact[pair] and len(differing):
            extreme = np.abs(_all_sign_sums(differing)) >= least[pair]
            p_values[pair] = np.count_nonzero(extreme) / len(extreme)
    if exact.all():
        return p_values, is_bound
    rng = seeds.generator(seed, "randomisation")
    n_extreme = np.zeros(n_pairs, np.int64)
    for block in sign_sums(filled, n_resamples, rng, width=n_pairs):
        n_extreme += np.count_nonzero(np.abs(pairs.differences(block)) >= least, axis=0)
    p_values[~exact] = (n_extreme[~exact] + 1) / (n_resamples + 1)
    is_bound = ~exact & (n_extreme == 0)
    if smallest is None:
        return p_values, is_bound
    spread = np.maximum(2.0 * squares, np.finfo(np.float64).tiny)
    hoeffding = np.maximum(2.0 * np.exp(-np.square(np.maximum(least, 0.0)) / spread), LEAST_P)
    undecided = np.flatnonzero(is_bound & (hoeffding > smallest))
    n_more = int(np.ceil(1 / smallest)) - n_resamples
    n_more = min(n_more, MOST_WORK // max(1, n_users * len(undecided)))
    if len(undecided) and n_more > 0:
        differences = filled[:, pairs.first[undecided]] - filled[:, pairs.second[undecided]]
        for block in sign_sums(differences, n_more, rng):
            n_extreme[undecided] += np.count_nonzero(np.abs(block) >= least[undecided], axis=0)
        p_values[undecided] = (n_extreme[undecided] + 1) / (n_resamples + n_more + 1)
        is_bound[undecided] = n_extreme[undecided] == 0
    p_values[is_bound] = np.minimum(p_values, hoeffding)[is_bound]
    return p_values, is_bound


def _all_sign_sums(values: Floats) -> Floats:
    """Return the sums under every sign vector."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def effect_size(differences: Floats) -> Floats:
    """Return Cohen's d_z [1]_: the mean difference in standard deviations (n - 1) of them.

    0 where there is no difference at all, infinite where all users differ by the same amount, NaN
    for fewer than two users.

    References
    ----------
    .. [1] D. Lakens, "Calculating and reporting effect sizes to facilitate cumulative science",
       Frontiers in Psychology 4:863, 2013, doi:10.3389/fpsyg.2013.00863.

    Examples
    --------
    >>> effect_size(np.array([[1.0], [2.0], [3.0]])).tolist()
    [2.0]
    """

    def size(column: Floats) -> float:
        if _is_constant(column):
            return float(np.copysign(np.inf, column[0])) if column[0] else 0.0
        return float(column.mean() / column.std(ddof=1))

    sizes = _by_column(differences, size, fewest=2, none=0.0)
    sizes[np.count_nonzero(~np.isnan(differences), axis=0) < 2] = np.nan
    return sizes


def _is_constant(values: Floats) -> bool:
    """Return whether all values are equal except for rounding."""
    return bool(np.ptp(values) <= 50 * EPSILON * np.abs(values).max())


def _by_column(
    differences: Floats, function: Callable[[Floats], float], fewest: int, none: float = 1.0
) -> Floats:
    """Apply a function to the known part of each column that has something to test."""
    values = np.full(differences.shape[1], none)
    for number, column in enumerate(differences.T):
        known = column[~np.isnan(column)]
        if len(known) >= fewest and known.any():
            values[number] = function(known)
    return values
