"""Similarities of users or of items: row by row, as a matrix where one fits in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms.algorithm import Progress, are_integers, are_numbers
from harness.algorithms.compiled.baseline_only import accepts_baselines, fit_baselines
from harness.algorithms.compiled.matrix import LazyMatrix, fits_densely
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset, Floats, Lists, Offsets
from harness.kernels import each_block, kernel

__all__ = ["Similarities", "accepts_similarities", "fit_similarities"]

MEASURES = ("msd", "cosine", "pearson", "pearson_baseline")
MSD, COSINE, PEARSON, PEARSON_BASELINE = range(4)
WORTH_A_THREAD = 16
ROWS_BETWEEN_REPORTS = 1024


class Similarities(LazyMatrix):
    """The similarity matrix of a model, whose rows are computed on first use.

    Parameters
    ----------
    measure : int
        Place in `MEASURES`.
    x_lists, y_lists : Lists
        The ratings of each x in the order of inner y, and of each y; for ``pearson_baseline``
        ratings minus baselines.
    min_support : int
        Fewest common ratings for a similarity other than 0.
    shrinkage : float
        Of ``pearson_baseline``.
    """

    def __init__(
        self, measure: int, x_lists: Lists, y_lists: Lists, min_support: int, shrinkage: float
    ) -> None:
        self._measure, self._lists = measure, (x_lists, y_lists)
        self._min_support, self._shrinkage = min_support, shrinkage
        self.shape = (len(x_lists.offsets) - 1,) * 2

    def rows(self, xs: npt.NDArray[np.integer[Any]]) -> Floats:
        rows = np.empty((len(xs), self.shape[1]))
        self._fill(xs.astype(np.int64), rows)
        return rows

    def _fill(self, xs: Offsets, rows: Floats) -> None:
        if self._measure == MSD:
            sums = np.empty((self.shape[1], 2))
            fill_rows_of_msd(xs, *self._lists, self._min_support, rows, sums)
        else:
            sums = np.empty((self.shape[1], 6))
            options = (self._min_support, self._shrinkage)
            fill_rows(xs, *self._lists, self._measure, *options, rows, sums)

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


def accepts_similarities(model: surprise.AlgoBase) -> bool:
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
    model: surprise.AlgoBase, trainset: ColumnTrainset, progress: Progress
) -> Floats | Similarities:
    """Return what ``compute_similarities`` would, lazily where the matrix would be too large.

    It sets the model's biases, if the measure needs them and there are none yet.
    """
    options = model.sim_options
    measure = MEASURES.index(options.get("name", "msd").lower())
    min_support, shrinkage = int(options.get("min_support", 1)), 0.0
    user_based = bool(options["user_based"])
    y_lists = trainset.by_item if user_based else trainset.by_user
    order = trainset.user_order if user_based else trainset.item_order
    if measure == PEARSON_BASELINE:
        min_support, shrinkage = max(2, min_support), float(options.get("shrinkage", 100))
        if model.bu is None:
            model.bu, model.bi = fit_baselines(model.bsl_options, trainset, lambda *_: None)
        bx, by = model.switch(model.bu, model.bi)
        y_baselines = np.repeat(trainset.global_mean + by, np.diff(y_lists.offsets))
        y_lists = y_lists._replace(ratings=y_lists.ratings - (y_baselines + bx[y_lists.ids]))
    x_lists = order.lists(y_lists.ratings)
    similarities = Similarities(measure, x_lists, y_lists, min_support, shrinkage)
    return similarities.matrix(progress) if fits_densely(len(similarities)) else similarities


# For each y that x rated, all raters of y get their pair of ratings counted and added to the sums
# of which the measure is made. This is the order in which Surprise adds, but one row at a time, so
# that rows are independent. No x rates a y twice here. Mean squared differences, the default, have
# a loop of their own, which needs two sums in place of six.
@kernel
def fill_rows_of_msd(
    xs: Offsets, x_lists: Lists, y_lists: Lists, min_support: int, rows: Floats, sums: Floats
) -> None:
    """Write the mean squared difference similarities of each x to all."""
    x_offsets, x_ys, x_values = x_lists
    y_offsets, y_xs, y_values = y_lists
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
def fill_rows(
    xs: Offsets,
    x_lists: Lists,
    y_lists: Lists,
    measure: int,
    min_support: int,
    shrinkage: float,
    rows: Floats,
    sums: Floats,
) -> None:
    """Write the similarities of each x to all, by one of the other measures."""
    x_offsets, x_ys, x_values = x_lists
    y_offsets, y_xs, y_values = y_lists
    for place in range(len(xs)):
        x = xs[place]
        sums[:] = 0.0
        for p in range(x_offsets[x], x_offsets[x + 1]):
            a = x_values[p]
            for q in range(y_offsets[x_ys[p]], y_offsets[x_ys[p] + 1]):
                b = y_values[q]
                of_x2 = sums[np.uint32(y_xs[q])]
                of_x2[0] += 1.0
                of_x2[1] += a * b
                of_x2[2] += a * a
                of_x2[3] += b * b
                if measure == PEARSON:
                    of_x2[4] += a
                    of_x2[5] += b
        row = rows[place]
        for x2 in range(len(sums)):
            n, products, squares, squares2, total, total2 = sums[x2]
            if x2 == x:
                row[x2] = 1.0
            elif n < min_support:
                row[x2] = 0.0
            elif measure == PEARSON:
                spread = np.sqrt((n * squares - total**2) * (n * squares2 - total2**2))
                row[x2] = 0.0 if spread == 0.0 else (n * products - total * total2) / spread
            else:
                row[x2] = products / np.sqrt(squares * squares2)
                if measure == PEARSON_BASELINE:
                    row[x2] *= (n - 1) / (n - 1 + shrinkage)
