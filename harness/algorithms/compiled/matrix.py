"""Square matrices of users or items, whole or row by row, and loops over rows on threads."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms.models import Codes, Floats, Offsets
from harness.kernels import each_block

WORTH_A_THREAD = 2_000_000
"""Steps that take about as long as starting a thread and waiting for it."""
DENSE_LIMIT = 2 << 30
"""Largest similarity matrix that is kept whole, in bytes; beyond it rows are computed on demand."""


def fits_densely(n: int) -> bool:
    """Return whether an n × n similarity matrix is kept whole."""
    return n * n * 8 <= DENSE_LIMIT


class LazyMatrix(ABC):
    """A matrix of n × n numbers, whose rows are computed on first use.

    Replaces Surprise's array: ``matrix[x]`` is a row, ``matrix[x, x2]`` a number. The last row is
    kept, since ``predict`` asks for the numbers of one row one after the other.
    """

    shape: tuple[int, int]
    _kept: tuple[int, npt.NDArray[Any]] = (-1, np.empty(0))

    @abstractmethod
    def rows(self, xs: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
        """Return some rows, shape (len(xs), n), computed on the calling thread."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        x, rest = (key[0], key[1:]) if isinstance(key, tuple) else (key, ())
        if not isinstance(x, int | np.integer):
            rows = self.rows(np.arange(self.shape[0])[x])
            return rows[(slice(None), *rest)] if rest else rows
        kept, row = self._kept
        if kept != x:
            row = self.rows(np.array([x]))[0]
            self._kept = (int(x), row)
        return row[rest] if rest else row


def rows_of(matrix: Floats | LazyMatrix, xs: Codes) -> Floats:
    """Return rows of a matrix of either kind."""
    rows: Floats = matrix.rows(xs) if isinstance(matrix, LazyMatrix) else matrix[xs]
    return rows


def each_row(
    xs: Codes, at_once: int, smallest: int, task: Callable[[Codes, Codes, Offsets], None]
) -> None:
    """Call ``task(distinct, rows, places)`` for some distinct x at a time, on threads.

    `places` are where those x stand in `xs`, and ``distinct[rows]`` is ``xs[places]``.
    """
    order = np.argsort(xs, kind="stable")
    every, edges = np.unique(xs[order], return_index=True)
    edges = np.append(edges, len(order))

    def block(start: int, stop: int) -> None:
        for first in range(start, stop, at_once):
            last = min(first + at_once, stop)
            distinct, places = every[first:last], order[edges[first] : edges[last]]
            task(distinct, np.searchsorted(distinct, xs[places]).astype(np.int32), places)

    each_block(block, len(every), smallest)


def in_blocks(
    kernel: Callable[..., None], n: int, steps: float, *arguments: object, start: int = 0
) -> None:
    """Call ``kernel(first, last, *arguments)`` for blocks of ``range(start, n)``, on threads.

    `steps` is about how often the innermost loops run in all; a short run does not use threads.
    """
    smallest = (n - start) * WORTH_A_THREAD / max(steps, 1)
    each_block(
        lambda a, b: kernel(start + a, start + b, *arguments), n - start, math.ceil(smallest)
    )
