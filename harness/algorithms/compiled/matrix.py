"""Square matrices of users or items, whole or row by row, and loops over rows on threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from harness._util.kernels import each_block
from harness.algorithms.base import Progress
from harness.algorithms.trainset import Codes, Floats, Offsets

Numbers = npt.NDArray[Any]
DENSE_LIMIT = 2 << 30
"""Largest matrix that is kept whole, in bytes; beyond it rows are computed on demand."""
CATALOGUE_BLOCK = 1 << 30
"""Bytes of estimates at a time where each block computes such a matrix again."""
ROWS_A_THREAD = 16  # the fewest
ROWS_BETWEEN_REPORTS = 1024
WORTH_A_THREAD = 2_000_000
"""Steps that take about as long as starting a thread and waiting for it."""


def fits_densely(n: int) -> bool:
    """Return whether an n × n matrix is kept whole."""
    return n * n * 8 <= DENSE_LIMIT


class LazyMatrix:
    """A matrix of n × n numbers like Surprise's array, whose rows are computed on first use.

    ``fill(xs, rows, *arguments)`` writes the rows of some x; it is found by its name when a model
    is loaded. The last row is kept, since ``predict`` asks for its numbers one after the other.
    """

    def __init__(
        self, n: int, fill: Callable[..., None], *arguments: object, dtype: type = float
    ) -> None:
        self.shape = (n, n)
        self._fill, self._arguments, self._dtype = fill, arguments, dtype
        self._kept: tuple[int, Numbers] = (-1, np.empty(0))

    def rows(self, xs: npt.NDArray[np.integer]) -> Numbers:
        """Return some rows, shape (len(xs), n), computed on the calling thread."""
        rows: Numbers = np.empty((len(xs), len(self)), self._dtype)
        self._fill(xs.astype(np.int64), rows, *self._arguments)
        return rows

    def matrix(self, progress: Progress = lambda step, n_steps: None) -> Numbers:
        """Return all rows, computed on several threads."""
        n = len(self)
        matrix: Numbers = np.empty(self.shape, self._dtype)
        for first in range(0, n, ROWS_BETWEEN_REPORTS):
            last = min(first + ROWS_BETWEEN_REPORTS, n)
            self.block(np.arange(first, last), matrix[first:last])
            progress(last, n)
        return matrix

    def block(self, xs: npt.NDArray[np.integer], out: Any = None) -> Numbers:
        """Return some rows like `rows`, computed on several threads."""
        block: Numbers = np.empty((len(xs), len(self)), self._dtype) if out is None else out

        def fill(start: int, stop: int) -> None:
            self._fill(xs[start:stop].astype(np.int64), block[start:stop], *self._arguments)

        each_block(fill, len(xs), ROWS_A_THREAD)
        return block

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        x, *rest = key if isinstance(key, tuple) else (key,)
        if not isinstance(x, int | np.integer):
            return self.rows(np.arange(len(self))[x])[(slice(None), *rest)]
        if not -len(self) <= x < len(self):  # which NumPy waits for when it copies the matrix
            raise IndexError(f"row {x} of a matrix of {len(self)} rows")
        x %= len(self)
        x_before, row = self._kept
        if x_before != x:
            row = self.rows(np.array([x]))[0]
            self._kept = (int(x), row)
        return row[tuple(rest)] if rest else row


def rows_of(matrix: Floats | LazyMatrix, xs: Codes) -> Floats:
    """Return rows of a matrix of either kind."""
    rows: Floats = matrix.rows(xs) if isinstance(matrix, LazyMatrix) else matrix[xs]
    return rows


def each_row(
    xs: Codes, at_once: int, smallest: int, task: Callable[[Codes, Codes, Offsets], None]
) -> None:
    """Call ``task(distinct, rows, places)`` for some x; ``distinct[rows]`` is ``xs[places]``."""
    order = np.argsort(xs, kind="stable")
    every, edges = np.unique(xs[order], return_index=True)
    edges = np.append(edges, len(order))

    def block(start: int, stop: int) -> None:
        for first in range(start, stop, at_once):
            last = min(first + at_once, stop)
            distinct, places = every[first:last], order[edges[first] : edges[last]]
            task(distinct, np.searchsorted(distinct, xs[places]).astype(np.int32), places)

    each_block(block, len(every), smallest)


def in_blocks(kernel: Callable[..., None], n: int, steps: float, *arguments: object) -> None:
    """Call ``kernel(first, last, *arguments)`` for blocks of ``range(n)``, on threads.

    `steps` is about how often the innermost loops run in all; a short run does not use threads.
    """
    smallest = math.ceil(n * WORTH_A_THREAD / max(steps, 1))
    each_block(lambda first, last: kernel(first, last, *arguments), n, smallest)
