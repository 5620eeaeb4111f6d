"""Paired tests of the scores of two algorithms for the same users.

Tests take the differences of the users' scores, shape (n_users, n_pairs), NaN where a user has no
score for one of the two, and give a two-sided p-value for each column: 1 for a column without users
or without any difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import MOST_SCORE, checked, unit_fault
from harness.errors import ComparisonError, suggestion
from harness.statistics.resampling import LEAST_P, Draws, Floats, PairColumns

DEFAULT_RESAMPLES = 10_000
EPSILON = float(np.finfo(np.float64).eps)
MOST_SQUARED = 1e150  # differences whose squares can be added
MOST_WORK = 5_000_000_000  # limit of users times pairs times more resamples: a few seconds


def check_words(where: str, **settings: tuple[str, object]) -> None:
    """Refuse a setting that is none of the words of its type."""
    for key, (word, words) in settings.items():
        if word not in get_args(words):
            fault = f"unknown {key} {word!r}; {suggestion(word, get_args(words))}"
            raise ComparisonError(f"{where}: {fault}")


def check_unit(where: str, *columns: Floats, most: float = MOST_SCORE) -> None:
    """Refuse numbers that are too large or too small for sums of their powers."""
    if fault := unit_fault(most, *columns):
        raise ComparisonError(f"{where}: {fault}")


@checked(ComparisonError)
def effect_size(differences: Floats) -> Floats:
    """Return Cohen's d_z: the mean difference in standard deviations (n - 1) of the differences.

    0 where there is no difference at all, infinite where all users differ by the same amount, NaN
    for fewer than two users (Lakens 2013, doi:10.3389/fpsyg.2013.00863).
    """

    def size(column: Floats) -> float:
        if is_constant(column):
            return float(np.copysign(np.inf, column[0])) if column[0] else 0.0
        return float(column.mean() / column.std(ddof=1))

    sizes = by_column(differences, size, fewest=2, none=0.0)
    sizes[np.count_nonzero(~np.isnan(differences), axis=0) < 2] = np.nan
    return sizes


def is_constant(values: Floats) -> bool:
    """Return whether all values are equal except for rounding."""
    return bool(np.ptp(values) <= 50 * EPSILON * np.abs(values).max())


def by_column(
    differences: Floats, function: Callable[[Floats], float], *, fewest: int = 1, none: float = 1.0
) -> Floats:
    """Apply a function to the known part of each column that has something to test."""
    check_unit("differences", differences, most=MOST_SQUARED)
    columns = (column[~np.isnan(column)] for column in differences.T)
    values = [function(x) if len(x) >= fewest and x.any() else none for x in columns]
    return np.array(values)


def randomise(
    pairs: PairColumns, n_resamples: int, draws: Draws, smallest: float | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    r"""Test pairs as `randomisation` does, with more resamples if no sign vector was as extreme.

    Returned are the p-values and whether each is an upper bound, because no random sign vector was
    as extreme. `smallest` is the p-value that can decide; left out, all pairs get B sign vectors
    and no more.

    Among n sign flips of the differences d, a proportion of at most
    :math:`2 \exp(-(\sum d)^2 / (2 \sum d^2))` is as extreme as what was observed (Hoeffding 1963,
    doi:10.1080/01621459.1963.10500830). Where no random vector is, the p-value is the smaller of
    this bound and 1 / (B + 1); where that is above `smallest`, vectors are drawn until there are
    1 / `smallest`, `MOST_WORK` permitting. Either keeps the test's level: it goes below 1 / (B + 1)
    only where the exact p-value, or the p-value of all the vectors drawn, does so too.
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
    n_extreme = np.zeros(n_pairs, np.int64)
    for block in draws.sign_sums(pairs.columns, n_resamples):
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
        for block in draws.more_sign_sums(differences, n_resamples, n_more):
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
