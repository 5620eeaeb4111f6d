"""Similarities of users or of items: row by row, as a matrix where one fits in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms.columns import Lists, repeats
from harness.algorithms.compiled.accelerator import (
    Codes,
    Floats,
    Offsets,
    Progress,
    are_integers,
    are_numbers,
)
from harness.algorithms.compiled.baselines import accepts_baselines
from harness.algorithms.memory import fits_densely
from harness.algorithms.trainset import ColumnTrainset
from harness.kernels import each_block, kernel

__all__ = ["LazyMatrix", "Similarities", "accepts_similarities", "fit_similarities", "rows_of"]

MEASURES = ("msd", "cosine", "pearson", "pearson_baseline")
MSD, COSINE, PEARSON, PEARSON_BASELINE = range(4)
WORTH_A_THREAD = 16
ROWS_BETWEEN_REPORTS = 1024


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


class Similarities(LazyMatrix):
    """The similarity matrix of a model, whose rows are computed on first use.

    Parameters
    ----------
    measure : int
        Place in `MEASURES`.
    x_lists, y_lists : Lists
        The ratings of each x in the order of inner y, and of each y.
        Values are ratings, or for ``pearson_baseline`` ratings minus baselines.
    min_support : int
        Fewest common ratings for a similarity other than 0.
    shrinkage : float
        Of ``pearson_baseline``.
    """

    def __init__(
        self,
        measure: int,
        x_lists: Lists,
        y_lists: Lists,
        min_support: int,
        shrinkage: float,
    ) -> None:
        self._measure = measure
        self._columns = (*x_lists, *y_lists)
        self._plain = measure == MSD and not repeats(x_lists.offsets, x_lists.ids).any()
        self._options = (min_support, shrinkage)
        self.shape = (len(x_lists.offsets) - 1,) * 2

    def rows(self, xs: npt.NDArray[np.integer[Any]]) -> Floats:  # noqa: D102
        rows = np.empty((len(xs), self.shape[1]))
        self._fill(xs.astype(np.int64), rows)
        return rows

    def _fill(self, xs: Offsets, rows: Floats) -> None:
        if self._plain:
            sums = np.empty((self.shape[1], 2))
            fill_rows_of_msd(xs, *self._columns, self._options[0], rows, sums)
        else:
            fill_rows(self._measure, xs, *self._columns, *self._options, rows)

    def matrix(self, progress: Progress) -> Floats:
        """Return all rows at once."""
        n_x = self.shape[0]
        matrix = np.empty((n_x, n_x))

        def fill(start: int, stop: int) -> None:
            self._fill(np.arange(first + start, first + stop), matrix[first + start : first + stop])

        for first in range(0, n_x, ROWS_BETWEEN_REPORTS):
            last = min(first + ROWS_BETWEEN_REPORTS, n_x)
            each_block(fill, last - first, WORTH_A_THREAD)
            progress(last, n_x)
        return matrix


def rows_of(sim: Floats | Similarities, xs: Codes) -> Floats:
    """Return rows of a similarity matrix of either kind."""
    return sim.rows(xs) if isinstance(sim, Similarities) else sim[xs]


def accepts_similarities(model: Any) -> bool:
    """Return whether the model's ``sim_options`` are ordinary; Surprise answers for the others."""
    options = model.sim_options
    name = options.get("name", "msd")
    if not isinstance(name, str) or name.lower() not in MEASURES:
        return False
    if name.lower() == "pearson_baseline" and not (
        accepts_baselines(model.bsl_options) and are_numbers(options.get("shrinkage", 100))
    ):
        return False
    return are_integers(options.get("min_support", 1))


def fit_similarities(
    options: dict[str, Any], trainset: ColumnTrainset, baselines: Any, progress: Progress
) -> Floats | Similarities:
    """Return what ``compute_similarities`` would, lazily where the matrix would be too large.

    Parameters
    ----------
    options : dict
        The model's ``sim_options``.
    trainset : ColumnTrainset
        What the model is fitted on.
    baselines : callable
        Returns the biases of users and items; called for ``pearson_baseline`` only.
    progress : callable
        Called with rows done and rows in all.
    """
    measure = MEASURES.index(options.get("name", "msd").lower())
    min_support, shrinkage = int(options.get("min_support", 1)), 0.0
    user_based = bool(options["user_based"])
    y_offsets, y_xs, values = trainset.by_item if user_based else trainset.by_user
    x_offsets, x_ys, places = trainset.user_order if user_based else trainset.item_order
    if measure == PEARSON_BASELINE:
        min_support, shrinkage = max(2, min_support), float(options.get("shrinkage", 100))
        bx, by = baselines() if user_based else reversed(baselines())
        y_baselines = np.repeat(trainset.global_mean + by, np.diff(y_offsets))
        values = values - (y_baselines + bx[y_xs])
    similarities = Similarities(
        measure,
        Lists(x_offsets, x_ys, values[places]),
        Lists(y_offsets, y_xs, values),
        min_support,
        shrinkage,
    )
    if fits_densely(similarities.shape[0]):
        return similarities.matrix(progress)
    return similarities


@kernel
def fill_rows_of_msd(
    xs: Offsets,
    x_offsets: Offsets,
    x_ys: Codes,
    x_values: Floats,
    y_offsets: Offsets,
    y_xs: Codes,
    y_values: Floats,
    min_support: int,
    rows: Floats,
    sums: Floats,
) -> None:
    """Write the mean squared difference similarities of each x to all.

    For each y that x rated, all raters of y get their difference added and counted. This is
    `fill_rows` for the measure that is Surprise's default, and for an x that rates each y once.
    """
    n_x = rows.shape[1]
    for place in range(len(xs)):
        x = xs[place]
        for other in range(n_x):
            sums[other, 0] = 0.0
            sums[other, 1] = 0.0
        for p in range(x_offsets[x], x_offsets[x + 1]):
            for q in range(y_offsets[x_ys[p]], y_offsets[x_ys[p] + 1]):
                x2 = np.uint32(y_xs[q])
                sums[x2, 0] += 1.0
                sums[x2, 1] += (x_values[p] - y_values[q]) ** 2
        for other in range(n_x):
            n = sums[other, 0]
            rows[place, other] = 1 / (sums[other, 1] / n + 1) if n >= min_support else 0.0
        rows[place, x] = 1.0


@kernel
def add(measure: int, sums: Floats, a: float, b: float) -> None:
    """Add a pair of ratings of the same y to what the measure needs of them."""
    sums[0] += 1.0
    if measure == MSD:
        sums[1] += (a - b) ** 2
    else:
        sums[1] += a * b
        sums[2] += a * a
        sums[3] += b * b
        if measure == PEARSON:
            sums[4] += a
            sums[5] += b


@kernel
def fill_rows(
    measure: int,
    xs: Offsets,
    x_offsets: Offsets,
    x_ys: Codes,
    x_values: Floats,
    y_offsets: Offsets,
    y_xs: Codes,
    y_values: Floats,
    min_support: int,
    shrinkage: float,
    rows: Floats,
) -> None:
    """Write the similarities of each x to all, adding up in the order in which Surprise does.

    For each y that x rated, all raters of y get the pair of ratings added to six sums, of which
    the measure is made.
    """
    n_x = rows.shape[1]
    sums = np.empty((n_x, 6))
    for place in range(len(xs)):
        x = xs[place]
        sums[:] = 0.0
        p = x_offsets[x]
        while p < x_offsets[x + 1]:
            y = x_ys[p]
            start, stop = y_offsets[y], y_offsets[y + 1]
            end = p + 1
            while end < x_offsets[x + 1] and x_ys[end] == y:
                end += 1
            if end == p + 1:
                for q in range(start, stop):
                    add(measure, sums[np.uint32(y_xs[q])], x_values[p], y_values[q])
            else:  # x rated y more than once: the lower of the two ids is Surprise's outer loop
                for q in range(start, stop):
                    for again in range(p, end):
                        if y_xs[q] < x:
                            add(measure, sums[y_xs[q]], x_values[again], y_values[q])
                for again in range(p, end):
                    for q in range(start, stop):
                        if y_xs[q] > x:
                            add(measure, sums[y_xs[q]], x_values[again], y_values[q])
            p = end
        row = rows[place]
        for x2 in range(n_x):
            n, products, squares, squares2, total, total2 = sums[x2]
            if x2 == x:
                row[x2] = 1.0
            elif n < min_support:
                row[x2] = 0.0
            elif measure == MSD:
                row[x2] = 1 / (products / n + 1)
            elif measure == PEARSON:
                spread = np.sqrt((n * squares - total**2) * (n * squares2 - total2**2))
                row[x2] = 0.0 if spread == 0.0 else (n * products - total * total2) / spread
            else:
                row[x2] = products / np.sqrt(squares * squares2)
                if measure == PEARSON_BASELINE:
                    row[x2] *= (n - 1) / (n - 1 + shrinkage)
