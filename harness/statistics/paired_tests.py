"""Paired tests of any array of differences of scores: Student's t, Wilcoxon's, randomisation.

A column of differences for each pair, shape (n_users, n_pairs), as in `harness.statistics.paired`.
"""

from __future__ import annotations

import numpy as np

from harness.arguments import checked
from harness.errors import ComparisonError
from harness.lazy import scipy
from harness.statistics.paired import (
    DEFAULT_RESAMPLES,
    by_column,
    check_unit,
    is_constant,
    randomise,
)
from harness.statistics.resampling import (
    MANY_USERS,
    MOST_RESAMPLES,
    Draws,
    Floats,
    PairColumns,
)


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


@checked(ComparisonError)
def randomisation(differences: Floats, n_resamples: int | None = None, seed: int = 0) -> Floats:
    """Fisher's randomisation test of the mean difference: signs flipped at random, user by user.

    The p-value is the share of sign vectors whose mean is at least as far from 0 as the observed
    one: (b + 1) / (B + 1) with b of B random vectors, which counts the observed one and never gives
    0 (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585). A pair with so few differing users that
    there are no more than B vectors is tested exactly, over all of them.

    Left out, B is 10,000, and from 10,000 users on the share is computed by a saddlepoint
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
        from harness.statistics.expansion import Moments
        from harness.statistics.many_users import randomise_many

        moments = Moments.of_columns(np.ascontiguousarray(differences.T))
        return randomise_many(moments, Draws(seed))[0]
    columns = np.column_stack([differences, np.zeros(n_users)])
    pairs = PairColumns(columns, np.arange(n_pairs), np.full(n_pairs, n_pairs))
    return randomise(pairs, n_resamples or DEFAULT_RESAMPLES, Draws(seed))[0]
