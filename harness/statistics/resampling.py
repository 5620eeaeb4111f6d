"""Paired tests of the scores of two algorithms for the same users, bootstrap intervals and gaps.

Tests take the differences of the users' scores, shape (n_users, n_pairs), NaN where a user has no
score for one of the two, and give a two-sided p-value for each column: 1 for a column without users
or without any difference. Sums under random signs and means of resampled users are products of
weights and scores, which no linear algebra library computes: the same seed always gives the same
bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from harness import seeds
from harness.errors import ComparisonError, suggestion
from harness.kernels import each_block, kernel
from harness.lazy import scipy

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
IntervalMethod = Literal["bca", "percentile"]

BLOCK_BYTES = 1 << 21  # bytes that fit in a processor's cache
FEWEST = 64  # resamples in a block, so that the users' scores are not read for each one
SLACK = 1e-12  # means closer than this share of the range of the values are taken to be equal
EPSILON = float(np.finfo(np.float64).eps)
LEAST_P = 1e-12
LEAST_WORK = 10_000_000  # users times columns times resamples that are too few for another thread
MOST_WORK = 5_000_000_000  # limit of users times pairs times more resamples: a few seconds


def check_words(where: str, **settings: tuple[str, object]) -> None:
    """Refuse a setting that is none of the words of its type."""
    for key, (word, words) in settings.items():
        if word not in get_args(words):
            fault = f"unknown {key} {word!r}; {suggestion(word, get_args(words))}"
            raise ComparisonError(f"{where}: {fault}")


def paired_t(differences: Floats) -> Floats:
    """Student's paired t-test: ``scipy.stats.ttest_1samp`` of the differences.

    1 for fewer than two users, 0 for several users who all differ by the same amount.
    """

    def test(column: Floats) -> float:
        return 0.0 if _is_constant(column) else float(scipy.stats.ttest_1samp(column, 0.0).pvalue)

    return _by_column(differences, test, fewest=2)


def wilcoxon(differences: Floats) -> Floats:
    """Wilcoxon's signed-rank test, ``scipy.stats.wilcoxon``; zero differences are left out.

    With thousands of users it rejects equal algorithms too often (Ihemelandu and Ekstrand, SIGIR
    2023, doi:10.48550/arXiv.2305.02461).
    """
    return _by_column(differences, lambda column: float(scipy.stats.wilcoxon(column).pvalue))


def effect_size(differences: Floats) -> Floats:
    """Return Cohen's d_z: the mean difference in standard deviations (n - 1) of the differences.

    0 where there is no difference at all, infinite where all users differ by the same amount, NaN
    for fewer than two users (Lakens 2013, doi:10.3389/fpsyg.2013.00863).
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
    differences: Floats, function: Callable[[Floats], float], *, fewest: int = 1, none: float = 1.0
) -> Floats:
    """Apply a function to the known part of each column that has something to test."""
    columns = (column[~np.isnan(column)] for column in differences.T)
    values = [function(x) if len(x) >= fewest and x.any() else none for x in columns]
    return np.array(values)


@dataclass(frozen=True, eq=False)
class PairColumns:
    """Differences of columns, of which sums and means are cheap.

    A sum over the difference of two columns is the difference of their sums, if the same users
    have values in both. So the columns are summed instead of the many more pairs of them; a pair
    that has users of its own gets a column of its own.
    """

    columns: Floats
    first: Indices
    second: Indices

    @classmethod
    def of(cls, table: Floats, first: Indices, second: Indices) -> PairColumns:
        """Return the columns that the differences ``table[:, first] - table[:, second]`` need."""
        _, pattern = np.unique(~np.isnan(table), axis=1, return_inverse=True)
        other_users = np.flatnonzero(pattern.ravel()[first] != pattern.ravel()[second])
        differences = table[:, first[other_users]] - table[:, second[other_users]]
        columns = np.column_stack([table, differences, np.zeros(len(table))])
        first, second = first.copy(), second.copy()
        first[other_users] = table.shape[1] + np.arange(len(other_users))
        second[other_users] = columns.shape[1] - 1
        return cls(columns, first, second)

    def differences(self, values: Floats) -> Floats:
        """Return what belongs to the pairs, from what belongs to the columns (the last axis)."""
        differences: Floats = values[..., self.first] - values[..., self.second]
        return differences


def randomisation(differences: Floats, n_resamples: int = 10_000, seed: int = 0) -> Floats:
    """Fisher's randomisation test of the mean difference: signs flipped at random, user by user.

    The p-value is the share of sign vectors whose mean is at least as far from 0 as the observed
    one: (b + 1) / (B + 1) with b of B random vectors, which counts the observed one and never gives
    0 (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585). A pair with so few differing users that
    there are no more than B vectors is tested exactly, over all of them.
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
    :math:`2 \exp(-(\sum d)^2 / (2 \sum d^2))` is as extreme as what was observed (Hoeffding 1963,
    doi:10.1080/01621459.1963.10500830). Where no random vector is, the p-value is the smaller of
    this bound and 1 / (B + 1); where that is above `smallest`, vectors are drawn until there are
    1 / `smallest`, `MOST_WORK` permitting. Either keeps the test's level: it goes below 1 / (B + 1)
    only where the exact p-value, or the one of all the vectors drawn, does so too.
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
        squares[pair] = np.square(differences).sum()
        differing = differences[differences != 0]
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


def sign_sums(
    values: Floats, n_resamples: int, rng: np.random.Generator, width: int = 0
) -> Iterator[Floats]:
    """Yield blocks of sums of rows under random signs, the same signs for all columns.

    Each row of a block is a resample; `width` is the number of columns of what the caller makes of
    a block, for which memory is kept free.
    """
    n = len(values)
    n_bytes = 8 * ((n + 63) // 64)  # whole words, so that blocks of any size draw the same bits
    total = values.sum(axis=0)
    for size in _blocks(n_resamples, (*values.shape, width)):
        drawn = np.frombuffer(rng.bytes(size * n_bytes), np.uint8)
        plus = np.unpackbits(drawn.reshape(-1, n_bytes), axis=1, count=n)
        yield 2.0 * _weighted_sums(plus, values) - total


def resampled_means(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return means of rows drawn with replacement, the same rows for all columns.

    NaN is ignored; the mean is NaN where no row with a value was drawn.
    """
    n, n_columns = values.shape
    known = ~np.isnan(values)
    # Columns mostly share their users, so how many were drawn is counted once a pattern.
    patterns, of_column = np.unique(known, axis=1, return_inverse=True)
    summed = np.hstack([np.where(known, values, 0.0), patterns])
    means = []
    for size in _blocks(n_resamples, values.shape):
        rows = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(rows.ravel(), minlength=size * n).reshape(size, n)
        sums, counts = np.hsplit(_weighted_sums(times, summed), [n_columns])
        with np.errstate(invalid="ignore"):
            means.append(sums / counts[:, of_column.ravel()])
    return np.concatenate(means)


def _weighted_sums(weights: NDArray[np.integer], values: Floats) -> Floats:
    """Return ``weights @ values`` without BLAS, whose last bits depend on its number of threads."""
    by_user = np.ascontiguousarray(weights.T, np.float64)
    sums = np.zeros((values.shape[1], len(weights)))
    values, smallest = np.ascontiguousarray(values), 1 + LEAST_WORK // max(1, weights.size)
    each_block(partial(_add_weighted, by_user, values, sums), len(sums), smallest)
    return sums.T


# User after user is added to the sums of all resamples of a block, which stay in the cache. The
# inner loop is over neighbours in memory, and the order of a sum depends on nothing.
@kernel
def _add_weighted(by_user: Floats, values: Floats, sums: Floats, start: int, stop: int) -> None:
    """Add the values of each user, times the weights of the resamples, to sums of some columns."""
    n_resamples = sums.shape[1]
    for user in range(len(values)):
        weights = by_user[user]
        for column in range(start, stop):
            value = values[user, column]
            for resample in range(n_resamples):
                sums[column, resample] += value * weights[resample]


def _blocks(n_resamples: int, shape: tuple[int, ...]) -> Iterator[int]:
    """Divide the resamples so that the arrays of a block fit in the cache; yield their sizes."""
    most = max(FEWEST, BLOCK_BYTES // (8 * max(*shape, 1)))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)


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
    values : array_like of float, shape (n_users, m)
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

    Raises
    ------
    ComparisonError
        If there are no columns, or `method` is unknown.

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
    check_words("interval", method=(method, IntervalMethod))
    if np.ndim(values) != 2:
        raise ComparisonError(
            f"interval: values of shape {np.shape(values)}; give a column for each mean, as "
            "values[:, None]"
        )
    none, values = np.zeros(0, np.intp), np.asarray(values, np.float64)
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
    columns = np.ascontiguousarray(pairs.columns.T)
    means = np.ascontiguousarray(resampled_means(pairs.columns, n_resamples, rng).T)
    found = np.empty((2, n_plain + len(pairs.first)))

    def find(start: int, stop: int) -> None:
        for number in range(start, stop):
            drawn, values = means[number % len(means)], columns[number % len(means)]
            if number >= n_plain:
                i, j = pairs.first[number - n_plain], pairs.second[number - n_plain]
                drawn, values = means[i] - means[j], columns[i] - columns[j]
            found[:, number] = interval_of(drawn, values, confidence, method)

    each_block(find, found.shape[1], FEWEST)
    low, high = found
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
        bias = scipy.special.ndtri((n_below + n_equal / 2) / len(means))
        if np.isfinite(bias):  # not so few resamples that all lie on one side
            deviations = values - observed
            squares = deviations**2  # the power 3 takes sixty times as long as a product
            acceleration = (squares * deviations).sum() / (6 * squares.sum() ** 1.5)
            shifted = bias + scipy.special.ndtri(tails)
            tails = scipy.special.ndtr(bias + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(means, tails)
    return float(low), float(high)


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
