"""Sums over random signs and means over resampled users, in blocks of bounded memory.

Both are matrix products: of a block of random vectors, one for each resample, and the users'
scores. They run on one thread of linear algebra, so that the same seed always gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "PairColumns", "resampled_means", "sign_sums"]

Floats = NDArray[np.float64]

BLOCK_BYTES = 1 << 21
"""Bytes that fit in a processor's cache."""
FEWEST = 16
"""Resamples in a block, so that the users' scores are not read for each one."""


@dataclass(frozen=True, eq=False)
class PairColumns:
    """Differences of columns, of which sums and means are cheap.

    A sum over the difference of two columns is the difference of their sums, if the same users
    have values in both. So the columns are summed instead of the many more pairs of them; a pair
    that has users of its own gets a column of its own.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_users, n_columns)
    first, second : ndarray of int, shape (n_pairs,)
        The columns of each pair.
    """

    columns: Floats
    first: NDArray[np.intp]
    second: NDArray[np.intp]

    @classmethod
    def of(cls, table: Floats, first: NDArray[np.intp], second: NDArray[np.intp]) -> PairColumns:
        """Return the columns that the differences ``table[:, first] - table[:, second]`` need.

        Examples
        --------
        >>> shared = PairColumns.of(np.array([[1.0, 2.0], [4.0, np.nan]]), *np.array([[0], [1]]))
        >>> shared.differences(np.nansum(shared.columns, axis=0)).tolist()
        [-1.0]
        """
        _, pattern = np.unique(~np.isnan(table), axis=1, return_inverse=True)
        pattern = pattern.ravel()
        own = np.flatnonzero(pattern[first] != pattern[second])
        apart = table[:, first[own]] - table[:, second[own]]
        columns = np.column_stack([table, apart, np.zeros(len(table))])
        first, second = first.copy(), second.copy()
        first[own] = table.shape[1] + np.arange(len(own))
        second[own] = columns.shape[1] - 1
        return cls(columns, first, second)

    def differences(self, values: Floats) -> Floats:
        """Return what belongs to the pairs, from what belongs to the columns (the last axis)."""
        differences: Floats = values[..., self.first] - values[..., self.second]
        return differences


def sign_sums(
    values: Floats, n_resamples: int, rng: np.random.Generator, width: int = 0
) -> Iterator[Floats]:
    """Yield sums of rows under random signs, the same signs for all columns.

    Parameters
    ----------
    values : ndarray of float64, shape (n, m)
        What to sum.
    n_resamples : int
        How many sign vectors to draw.
    rng : Generator
        Gives a bit for each sign.
    width : int
        Columns of what the caller makes of each block, for which memory is kept free.

    Yields
    ------
    ndarray of float64, shape (b, m)
        Sums of the next b sign vectors.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> [np.unique(sums).tolist() for sums in sign_sums(np.array([[1.0], [3.0]]), 100, rng)]
    [[-4.0, -2.0, 2.0, 4.0]]
    """
    n = len(values)
    n_bytes = 8 * ((n + 63) // 64)  # whole words, so that blocks of any size draw the same bits
    total = values.sum(axis=0)
    with _one_thread():
        for size in _blocks(n_resamples, (*values.shape, width)):
            drawn = np.frombuffer(rng.bytes(size * n_bytes), np.uint8).reshape(size, n_bytes)
            plus = np.unpackbits(drawn, axis=1, count=n).astype(np.float64)
            yield 2.0 * (plus @ values) - total


def resampled_means(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return means of rows drawn with replacement, the same rows for all columns.

    Parameters
    ----------
    values : ndarray of float64, shape (n, m)
        One row for each user; NaN is ignored.
    n_resamples : int
        B, how often to draw n rows out of n.
    rng : Generator
        Draws the rows.

    Returns
    -------
    ndarray of float64, shape (B, m)
        NaN where no row with a value was drawn.

    Examples
    --------
    >>> means = resampled_means(np.array([[0.0], [1.0]]), 1000, np.random.default_rng(0))
    >>> np.unique(means).tolist()
    [0.0, 0.5, 1.0]
    """
    n, n_columns = values.shape
    known = ~np.isnan(values)
    # Columns mostly share their users, so how many were drawn is counted once a pattern.
    patterns, of_column = np.unique(known, axis=1, return_inverse=True)
    counted = patterns.astype(np.float64)
    filled = np.where(known, values, 0.0)
    means = np.empty((n_resamples, n_columns))
    done = 0
    with _one_thread(), np.errstate(invalid="ignore"):
        for size in _blocks(n_resamples, values.shape):
            rows = rng.integers(0, n, size=(size, n))
            rows += n * np.arange(size)[:, None]
            weights = np.bincount(rows.ravel(), minlength=size * n).reshape(size, n)
            times = weights.astype(np.float64)
            n_drawn = (times @ counted)[:, of_column.ravel()]
            means[done : done + size] = (times @ filled) / n_drawn
            done += size
    return means


def _blocks(n_resamples: int, shape: tuple[int, ...]) -> Iterator[int]:
    """Yield how many resamples fit into each block."""
    most = max(FEWEST, BLOCK_BYTES // (8 * max(*shape, 1)))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)


def _one_thread() -> AbstractContextManager[object]:
    from threadpoolctl import threadpool_limits

    limited: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limited
