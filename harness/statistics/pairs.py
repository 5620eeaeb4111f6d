"""The columns of a table of scores and their pairs: what is computed from moments or resamples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness._util.kernels import each_block
from harness._util.libraries import pd
from harness.statistics.arrays import paired_t, signs_of_ranks, wilcoxon
from harness.statistics.corrections import CORRECTIONS, Correction, adjust
from harness.statistics.expansion import Moments
from harness.statistics.intervals import IntervalMethod, pair_intervals
from harness.statistics.many_users import intervals_of_many, randomise_many
from harness.statistics.paired import DEFAULT_RESAMPLES, effect_size, randomise
from harness.statistics.resampling import MANY_USERS, Draws, Floats, Indices, PairColumns
from harness.statistics.standard_error import StandardError, over_users

PairedTest = Literal["randomisation", "t", "wilcoxon", "two-way", "nadeau-bengio"]
SEED_TESTS: tuple[PairedTest, ...] = ("two-way", "nadeau-bengio")
"""Tests over seeds, for claims about algorithms; the others are only over users."""
PAIRS_AT_ONCE = 64  # whose differences are in memory at the same time, in each thread
MARGIN = 20
"""The smallest p-value that can be found, corrected, is at most the level divided by this."""


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """The columns of a table and their pairs: of many users by moments, of others by resamples."""

    table: Floats
    firsts: Indices
    seconds: Indices
    n_resamples: int | None
    moments: Moments | None

    @classmethod
    def of(
        cls, table: Floats, firsts: Indices, seconds: Indices, n_resamples: int | None
    ) -> ScoredPairs:
        """Return the scores with their moments, if there are many users."""
        moments = None
        if len(table) >= MANY_USERS:
            alone = np.arange(table.shape[1])
            first, second = np.append(alone, firsts), np.append(np.full_like(alone, -1), seconds)
            moments = Moments.of(np.ascontiguousarray(table.T), first, second)
        return cls(table, firsts, seconds, n_resamples, moments)

    @property
    def from_moments(self) -> bool:
        """Whether nothing is resampled: there are many users, and no number of resamples is set."""
        return self.n_resamples is None and self.moments is not None

    def counts(self) -> tuple[Indices, Indices]:
        """Return how many users have a score in each column, and in both of each pair."""
        n = self.table.shape[1]
        if self.moments is not None:
            counts = self.moments.n_known.astype(np.intp)
            return counts[:n], counts[n:]
        defined = (~np.isnan(self.table)).astype(np.float64)
        common = (defined.T @ defined).astype(np.intp)
        return common.diagonal(), common[self.firsts, self.seconds]

    def means(self) -> Floats:
        """Return the mean of each column."""
        if self.moments is not None:
            return self.moments.mean[: self.table.shape[1]]
        return np.asarray(np.nanmean(self.table, axis=0))

    @cached_property
    def shared(self) -> PairColumns:
        """The columns that are resampled."""
        return PairColumns.of(self.table, self.firsts, self.seconds)

    def describe(self, test: PairedTest) -> Floats:
        """Return, by pair, how many users differ, mean, d_z, standard error, its degrees, p, side.

        The side is 1 where the test sees the first above the second, -1 below, else 0. The
        differences of a few pairs at a time are in memory.
        """
        described = np.ones((7, len(self.firsts)))
        p_of = _p_of(test)
        if self.moments is not None:
            pairs = self.moments[self.table.shape[1] :]
            error, degrees = pairs.standard_error()
            described[:5] = pairs.n_differing, pairs.mean, pairs.effect_size(), error, degrees
            if p_of is None:
                described[6] = np.sign(described[1])
                return described
        at_once = PAIRS_AT_ONCE if self.moments is None else 1

        def describe(start: int, stop: int) -> None:
            for first in range(start, stop, at_once):
                part = slice(first, min(first + at_once, stop))
                differences = self.table[:, self.firsts[part]] - self.table[:, self.seconds[part]]
                if self.moments is None:
                    differing = np.count_nonzero(np.nan_to_num(differences), axis=0)
                    sizes, errors = effect_size(differences), over_users(differences)
                    means = np.nanmean(differences, axis=0)
                    described[:5, part] = differing, means, sizes, errors.error, errors.degrees
                described[6, part] = np.sign(described[1, part])
                if p_of is not None:
                    described[5, part] = p_of(differences)
                if test == "wilcoxon":
                    described[6, part] = signs_of_ranks(differences)

        each_block(describe, len(self.firsts), at_once)
        return described

    def randomise(
        self, draws: Draws, level: float, n_counted: float
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return p-values of the pairs, and which are bounds; `n_counted` are corrected for."""
        smallest = level / (MARGIN * n_counted)
        if 4 * n_counted <= level * (DEFAULT_RESAMPLES + 1):
            smallest = 1 / (DEFAULT_RESAMPLES + 1)
        if self.n_resamples is not None:
            return randomise(self.shared, self.n_resamples, draws)
        if self.moments is not None:
            return randomise_many(self.moments[self.table.shape[1] :], draws, smallest)
        return randomise(self.shared, DEFAULT_RESAMPLES, draws, smallest)

    def intervals(
        self, confidence: float, method: IntervalMethod, draws: Draws
    ) -> tuple[Floats, Floats]:
        """Return the intervals of the columns, and then of the pairs."""
        if self.n_resamples is None and self.moments is not None:
            return intervals_of_many(self.moments, confidence, method, draws.seed)
        means = draws.means(self.shared.columns, self.n_resamples or DEFAULT_RESAMPLES)
        return pair_intervals(self.shared, self.table.shape[1], confidence, means, method)


def _p_of(test: PairedTest) -> Callable[[Floats], Floats] | None:
    """Return a test that takes only the differences, if it is one."""
    if test not in ("t", "wilcoxon"):
        return None
    return paired_t if test == "t" else wilcoxon


def with_power(
    pairs: pd.DataFrame, correction: Correction, level: float, margin: float | None
) -> pd.DataFrame:
    """Add to a family of pairs what it can detect and, with a margin, which are equivalent."""
    errors = StandardError(pairs["standard_error"].to_numpy(), pairs["degrees"].to_numpy())
    n_counted = CORRECTIONS[correction].n_counted(len(pairs))
    pairs = pairs.assign(detectable=errors.detectable(level / n_counted))
    if margin is None:
        return pairs
    p_values = errors.equivalence(pairs["difference"].to_numpy(), margin)
    return pairs.assign(p_equivalent=p_values, equivalent=adjust(p_values, correction) <= level)
