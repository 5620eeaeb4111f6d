"""Paired tests of any array of differences of scores: Student's t, Wilcoxon's, randomisation.

A column of differences for each pair, shape (n_users, n_pairs), as in `harness.statistics.paired`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import checked
from harness._util.libraries import scipy
from harness.errors import ComparisonError
from harness.statistics.expansion import Moments
from harness.statistics.intervals import IntervalMethod, pair_intervals
from harness.statistics.many_users import intervals_of_many, randomise_many
from harness.statistics.paired import (
    DEFAULT_RESAMPLES,
    EPSILON,
    by_column,
    check_unit,
    check_words,
    is_constant,
    randomise,
)
from harness.statistics.resampling import MANY_USERS, MOST_RESAMPLES, Draws, Floats, PairColumns

MOST_CLASSES = 1 << 16
"""Different sums of half of the users that are enumerated: of 16 users who all differ in size."""
MOST_BINOMIAL = 1000  # users whose binomial coefficients are not beyond the largest number


@checked(ComparisonError)
def paired_t(differences: Floats) -> Floats:
    """Student's paired t-test: ``scipy.stats.ttest_1samp`` of the differences.

    1 for fewer than two users, 0 for several users who all differ by the same amount.
    """

    def test(column: Floats) -> float:
        return 0.0 if is_constant(column) else float(scipy.stats.ttest_1samp(column, 0.0).pvalue)

    return by_column(differences, test, fewest=2)


@checked(ComparisonError)
def wilcoxon(differences: Floats) -> Floats:
    """Wilcoxon's signed-rank test, ``scipy.stats.wilcoxon``; zero differences are left out.

    With thousands of users it rejects equal algorithms too often (Ihemelandu and Ekstrand, SIGIR
    2023, doi:10.48550/arXiv.2305.02461).
    """
    return by_column(differences, lambda column: float(scipy.stats.wilcoxon(column).pvalue))


def signs_of_ranks(differences: Floats) -> Floats:
    """Return on which side Wilcoxon's test sees each column: 1 above 0, -1 below, or 0.

    It is the sign of the sum of signed ranks, which need not be the sign of the mean.
    """

    def sign(column: Floats) -> float:
        ranks = scipy.stats.rankdata(np.abs(column))
        # Ranks are halves at least, so that their sum is exact.
        return float(np.sign(ranks[column > 0].sum() - ranks[column < 0].sum()))

    return np.array([sign(own[(own != 0) & ~np.isnan(own)]) for own in differences.T])


@checked(ComparisonError)
def randomisation(differences: Floats, n_resamples: int | None = None, seed: int = 0) -> Floats:
    """Fisher's randomisation test of the mean difference: signs flipped at random, user by user.

    The p-value is the proportion of sign vectors whose mean is at least as far from 0 as the
    observed one: (b + 1) / (B + 1) with b of B random vectors, which counts the observed one and
    never gives 0 (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585). A pair with so few differing
    users that there are no more than B vectors is tested exactly, over all of them.

    Left out, B is 10,000, and from 2,000 users on the share is computed by a saddlepoint
    approximation, without random vectors; see `harness.statistics.expansion`.
    """
    if differences.ndim != 2:
        raise ComparisonError(
            f"differences of shape {differences.shape}; give a row for each user and a column for "
            "each pair"
        )
    if n_resamples is not None and not 1 <= n_resamples <= MOST_RESAMPLES:
        raise ComparisonError(f"{n_resamples} resamples; use 10,000")
    check_unit("differences", differences)
    n_users, n_pairs = differences.shape
    if n_resamples is None and n_users >= MANY_USERS:
        moments = Moments.of_columns(np.ascontiguousarray(differences.T))
        return randomise_many(moments, Draws(seed))[0]
    columns = np.column_stack([differences, np.zeros(n_users)])
    pairs = PairColumns(columns, np.arange(n_pairs), np.full(n_pairs, n_pairs))
    return randomise(pairs, n_resamples or DEFAULT_RESAMPLES, Draws(seed))[0]


@checked(ComparisonError)
def sign_flips(differences: Floats, seed: int = 0) -> float:
    r"""Test one column of differences as `randomisation` does, exactly where that can be done.

    Users whose differences have the same size are one class: of :math:`c` of them, :math:`m` keep
    their sign in a proportion of :math:`\binom{c}{m} 2^{-c}` of all sign vectors. The classes are
    split into two halves; the p-value is a sum over the sums of both, so that up to 32 users of
    different sizes, and thousands of few sizes, are enumerated. Others are tested by
    `randomisation`.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_users,)
        In the unit of the scores, without NaN.
    seed : int
        Of the random sign vectors where there are too many.

    Returns
    -------
    float
        Two-sided p-value in (0, 1]. Signs are symmetric, so half of it is the p-value of the
        one-sided test in the direction of the mean.

    Raises
    ------
    ComparisonError
        If a number is too large or too small for sums of its powers.

    Examples
    --------
    >>> sign_flips(np.array([0.0, -1.0, -1.0, -1.0]))
    0.25
    """
    check_unit("differences", differences)
    differing = differences[differences != 0]
    if not len(differing):
        return 1.0
    sizes, counts = _classes(np.abs(differing))
    halves: tuple[list[int], list[int]] = [], []
    n_sums = [1, 1]
    for place in np.argsort(-counts, kind="stable").tolist():
        half = int(n_sums[1] < n_sums[0])
        halves[half].append(place)
        n_sums[half] *= int(counts[place]) + 1
        if n_sums[half] > MOST_CLASSES:
            return float(randomisation(differences[:, None], seed=seed)[0])
    (sums, shares), (others, other_shares) = (
        _sums_of_classes(sizes[half], counts[half]) for half in halves
    )
    # Sums that are equal but for the rounding of their additions count as equal.
    least = abs(differing.sum()) - 2 * EPSILON * (len(differing) + 8) * np.abs(differing).sum()
    order = np.argsort(others)
    beyond = np.append(np.cumsum(other_shares[order][::-1])[::-1], 0.0)
    places = np.searchsorted(others[order], least - sums)
    return float(min(1.0, 2.0 * (shares * beyond[places]).sum()))


def _classes(sizes: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the different sizes, and how many there are of each; rounding does not count."""
    ordered = np.sort(sizes)
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf) > 4 * EPSILON * ordered[-1])
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _sums_of_classes(sizes: Floats, counts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return the sums of classes of differences under all signs, and the proportion of each sum."""
    sums, shares = np.zeros(1), np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        n_plus = np.arange(count + 1.0)
        if count <= MOST_BINOMIAL:
            binomial = np.exp2(-count) * scipy.special.binom(count, n_plus)
        else:
            logarithm = scipy.special.gammaln
            ways = logarithm(count + 1) - logarithm(n_plus + 1) - logarithm(count - n_plus + 1)
            binomial = np.exp(ways - count * np.log(2))
        sums = np.add.outer(sums, size * (2 * n_plus - count)).ravel()
        shares = np.multiply.outer(shares, binomial).ravel()
    return sums, shares


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

    Users are sampled with replacement, and all columns of a user together. The interval is about
    other users of the same kind; it says nothing of other splits or seeds.

    Parameters
    ----------
    values : array_like of float, shape (n_users, m)
        A score or a difference of scores for each user; NaN where there is none.
    confidence : float
        In (0, 1): how often such intervals contain the mean.
    n_resamples : int, optional
        How often users are drawn. By default 10,000 times, and from 2,000 users on the ends are
        computed as for infinitely many resamples [2]_; see `harness.statistics.expansion`.
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
            f"interval: values of shape {np.shape(values)}; give a column for each mean, such as "
            "values[:, None]"
        )
    check_settings(confidence, n_resamples)
    none, values = np.zeros(0, np.intp), np.asarray(values, np.float64)
    check_unit("interval: values", values)
    if n_resamples is None and len(values) >= MANY_USERS:
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
