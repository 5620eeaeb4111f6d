"""Random signs and random users, and what the scores of users sum to under them.

Sums under random signs and means of resampled users are products of weights and scores, which no
linear algebra library computes: the same seed always gives the same bits, with any number of
threads and any size of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from harness.kernels import each_block, kernel

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Weights = NDArray[np.uint8]
"""How often each user counts in each resample, shape (n_resamples, n_users)."""

MANY_USERS = 10_000
"""Users from which nothing is resampled unless a number of resamples is set."""
LEAST_P = 1e-12
"""The smallest p-value that is told apart from smaller ones."""
BLOCK_BYTES = 1 << 21  # bytes that fit in a processor's cache
MOST_RESAMPLES = 10**9  # more are a slip: one takes nanoseconds for each user
FEWEST, MOST = 32, 128  # resamples in a block
USERS_AT_ONCE = 16  # whose weights a thread turns, so that resamples are neighbours in memory
LEAST_WORK = 1_000_000  # users times columns times resamples that are too few for another thread
MOST_DRAWN = 1 << 20  # users that are drawn at once from a few


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
        _, pattern = patterns(~np.isnan(table))
        other_users = np.flatnonzero(pattern[first] != pattern[second])
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


def patterns(defined: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Indices]:
    """Return the distinct columns, and the number of that of each column.

    >>> distinct, numbers = patterns(np.array([[True, False, True], [True, True, True]]))
    >>> distinct.astype(int).tolist(), numbers.tolist()
    ([[1, 0], [1, 1]], [0, 1, 0])
    """
    numbers: dict[bytes, int] = {}
    of_column = [
        numbers.setdefault(np.packbits(column).tobytes(), len(numbers)) for column in defined.T
    ]
    firsts = [of_column.index(number) for number in range(len(numbers))]
    return defined[:, firsts], np.array(of_column, np.intp)


def sign_sums(
    values: Floats, n_resamples: int, rng: np.random.Generator, width: int = 0
) -> Iterator[Floats]:
    """Yield blocks of sums of rows under random signs, the same signs for all columns.

    Each row of a block is a resample; `width` is the number of columns of what the caller makes of
    a block, for which memory is kept free.
    """
    n = len(values)
    n_bytes = 8 * ((n + 63) // 64)  # whole words, so that blocks of any size draw the same bits
    values, total = np.ascontiguousarray(values), values.sum(axis=0)
    for size in _blocks(n_resamples, (*values.shape, width)):
        drawn = np.frombuffer(rng.bytes(size * n_bytes), np.uint8)
        plus = np.unpackbits(drawn.reshape(-1, n_bytes), axis=1, count=n)
        yield 2.0 * _sums(partial(_rows, plus), size, values) - total


def resampled_means(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return means of rows drawn with replacement, the same rows for all columns.

    NaN is ignored; the mean is NaN where no row with a value was drawn.
    """
    n, n_columns = values.shape
    defined = ~np.isnan(values)
    # Columns mostly share their users, so how many were drawn is counted once a pattern.
    distinct, of_column = patterns(defined)
    summed = np.hstack([np.where(defined, values, 0.0), distinct])
    means = []
    for size in _blocks(n_resamples, values.shape):
        drawn = rng.integers(0, n, size=(size, n), dtype=np.uint32)
        sums, counts = np.hsplit(_sums(partial(_weights, drawn), size, summed), [n_columns])
        with np.errstate(invalid="ignore"):
            means.append(sums / counts[:, of_column])
    return np.concatenate(means)


def _rows(weights: Weights, start: int, stop: int) -> Weights:
    """Return the weights of some resamples."""
    return weights[start:stop]


def _weights(drawn: NDArray[np.uint32], start: int, stop: int) -> Weights:
    """Return how often each user was drawn in some resamples; never 256 times among so many."""
    weights = np.zeros((stop - start, drawn.shape[1]), np.uint8)
    _count_drawn(drawn[start:stop], weights)
    return weights


def means_of_few(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return means of users drawn with replacement, in the time of those who are not alike.

    NaN is ignored. Users with the median are not drawn one by one: how many of the others are is
    binomial, and a mean is the median and their deviations from it. So a million users of whom a
    hundred differ are resampled as fast as a hundred.
    """
    defined = values[~np.isnan(values)]
    centre = float(np.median(defined))
    deviations = defined[defined != centre] - centre
    n_known = rng.binomial(len(values), len(defined) / len(values), n_resamples)
    n_drawn = rng.binomial(n_known, len(deviations) / len(defined))
    sums = np.zeros(n_resamples)
    step = max(1, MOST_DRAWN // max(1, len(deviations)))
    for start in range(0, n_resamples if len(deviations) else 0, step):
        sizes = n_drawn[start : start + step]
        drawn = deviations[rng.integers(0, len(deviations), sizes.sum(), dtype=np.uint32)]
        resample = np.repeat(np.arange(len(sizes)), sizes)
        sums[start : start + step] = np.bincount(resample, drawn, minlength=len(sizes))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(n_known > 0, centre + sums / n_known, np.nan))


def _sums(weights: Callable[[int, int], Weights], n_resamples: int, values: Floats) -> Floats:
    """Return the sums of the columns in each resample, which threads divide among them.

    `weights` gives those of some resamples. There is no BLAS, whose last bits depend on its number
    of threads.
    """
    sums = np.empty((n_resamples, values.shape[1]))

    def add(start: int, stop: int) -> None:
        turned = np.empty((USERS_AT_ONCE, stop - start))
        part = np.zeros((values.shape[1], stop - start))
        _add_weighted(weights(start, stop), values, turned, part)
        sums[start:stop] = part.T

    each_block(add, n_resamples, max(FEWEST // 2, 1 + LEAST_WORK // max(1, values.size)))
    return sums


# User after user is added to the sums of all resamples of a block, which stay in the cache. The
# inner loop is over neighbours in memory, and the order of a sum depends on nothing.
@kernel
def _add_weighted(weights: Weights, values: Floats, turned: Floats, sums: Floats) -> None:
    """Add the values of each user, times the weights of the resamples, to the sums of columns."""
    n_resamples, n_users = weights.shape
    for start in range(0, n_users, len(turned)):
        stop = min(start + len(turned), n_users)
        for resample in range(n_resamples):
            for user in range(start, stop):
                turned[user - start, resample] = weights[resample, user]
        for user in range(start, stop):
            for column in range(values.shape[1]):
                value = values[user, column]
                for resample in range(n_resamples):
                    sums[column, resample] += value * turned[user - start, resample]


@kernel
def _count_drawn(drawn: NDArray[np.uint32], weights: Weights) -> None:
    """Count how often each user was drawn in each resample."""
    for resample in range(len(drawn)):
        for place in range(drawn.shape[1]):
            weights[resample, drawn[resample, place]] += 1


def _blocks(n_resamples: int, shape: tuple[int, ...]) -> Iterator[int]:
    """Divide the resamples so that the arrays of a block fit in the cache; yield their sizes."""
    most = min(MOST, max(FEWEST, BLOCK_BYTES // (8 * max(*shape, 1))))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)
