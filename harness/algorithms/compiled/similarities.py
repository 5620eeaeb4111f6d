"""Similarities of users or of items by the four measures, as rows that are computed when asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from harness._util.kernels import kernel
from harness.algorithms import parameters, surprise
from harness.algorithms.compiled import baseline_only
from harness.algorithms.compiled.matrix import LazyMatrix
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists, Offsets, Order

X_A_PART = 1 << 14  # of a row of similarities, whose sums are kept at a time
MOST_EIGHTHS, MOST_PACKED, LARGEST_SUM = 255, 1 << 24, 1 << 32  # in 8, 24 and 32 bits
ONE = np.uint64(1 << 32)  # a count of 1, in the upper half
HALF = np.uint64(32)
Packed = npt.NDArray[np.unsignedinteger]


def similarities_of(model: surprise.AlgoBase, trainset: ColumnTrainset) -> LazyMatrix:
    """Return what ``compute_similarities`` would.

    It sets the model's biases, if the measure needs them and there are none yet.
    """
    options = {**parameters.SIM_OPTIONS, **model.sim_options}
    name = options["name"].lower()
    measure = parameters.SIMILARITIES.index(name)
    min_support, shrinkage = int(options["min_support"]), 0.0
    y_lists, order = sides(model, trainset)
    if name == "pearson_baseline":
        min_support, shrinkage = max(2, min_support), float(options["shrinkage"])
        if model.bu is None:
            model.bu, model.bi = baseline_only.fit_baselines(model.bsl_options, trainset)
        bx, by = model.switch(model.bu, model.bi)
        y_baselines = np.repeat(trainset.global_mean + by, np.diff(y_lists.offsets))
        y_lists = y_lists._replace(ratings=y_lists.ratings - (y_baselines + bx[y_lists.ids]))
    n_x, n_y = len(order.offsets) - 1, len(y_lists.offsets) - 1
    x_lists = order.lists(y_lists.ratings)
    raters = Order.of(order.offsets, order.ids, n_y)
    starts = _starts_of_parts(raters, n_x)
    codes = _eighths(x_lists.ratings) if name == "msd" and n_x <= MOST_PACKED else None
    if codes is not None and (n_codes := int(codes.max(initial=0)) + 1) ** 2 * n_y < LARGEST_SUM:
        packed = raters.ids.astype(np.uint32) << 8 | codes[raters.places]
        squares = np.square(np.arange(n_codes, dtype=np.uint64))
        lists = order.offsets, order.ids, codes, packed, starts
        return LazyMatrix(n_x, fill_msd, *lists, squares, min_support)
    arguments = (x_lists, raters.lists(x_lists.ratings), starts, measure, min_support, shrinkage)
    return LazyMatrix(n_x, fill_similarities, *arguments)


def _starts_of_parts(raters: Order, n_x: int) -> Offsets:
    """Return where each part of the x begins in the list of each y, and where the last ends."""
    edges = np.arange(0, n_x, X_A_PART)[1:]
    offsets, ids, _ = raters
    starts = np.empty((len(offsets) - 1, len(edges) + 2), np.int64)
    starts[:, 0], starts[:, -1] = offsets[:-1], offsets[1:]
    for place in starts if len(edges) else ():
        place[1:-1] = place[0] + np.searchsorted(ids[place[0] : place[-1]], edges)
    return starts


def _eighths(ratings: Floats) -> Packed | None:
    """Return ratings as eighths above the lowest, if all are that and one byte holds them."""
    eighths = 8 * ratings
    codes = eighths - eighths.min(initial=np.inf)
    if (codes > MOST_EIGHTHS).any() or (eighths != np.rint(eighths)).any():
        return None
    packed: Packed = codes.astype(np.uint8)
    return packed


def fill_msd(xs: Offsets, rows: Floats, *arguments: Any) -> None:
    """Write rows of similarities by mean squared differences of ratings in eighths."""
    sums = np.empty(min(rows.shape[1], X_A_PART), np.uint64)
    fill_rows_of_msd(xs, rows, sums, np.empty_like(arguments[-2]), *arguments)


def fill_similarities(xs: Offsets, rows: Floats, *arguments: Any) -> None:
    """Write rows of similarities by any measure, of any ratings."""
    fill_rows(xs, rows, np.empty((min(rows.shape[1], X_A_PART), 6)), *arguments)


def sides(model: surprise.AlgoBase, trainset: ColumnTrainset) -> tuple[GroupedLists, Order]:
    """Return the lists of y, and the order of each x's ratings in them."""
    if model.sim_options["user_based"]:
        return trainset.by_item, trainset.user_order
    return trainset.by_user, trainset.item_order


# Mean squared differences, the default, of ratings that are eighths: whole numbers in any order
# have the sum that Surprise's floating-point numbers have, which are exact here. One integer holds
# the count in its upper half and the sum in its lower, and another an x and its rating.
@kernel
def fill_rows_of_msd(
    xs: Offsets,
    rows: Floats,
    sums: Packed,
    added: Packed,
    x_offsets: Offsets,
    x_ys: Codes,
    x_codes: Packed,
    raters: Packed,
    starts: Offsets,
    squares: Packed,
    min_support: int,
) -> None:
    """Write the mean squared difference similarities of each x to all."""
    n_codes = len(squares)
    for place in range(len(xs)):
        x = xs[place]
        for part in range(starts.shape[1] - 1):
            first = np.uint32(part * len(sums))
            row = rows[place, first : first + len(sums)]
            sums[:] = 0
            for p in range(x_offsets[x], x_offsets[x + 1]):
                y = x_ys[p]
                for code in range(n_codes):
                    added[code] = squares[abs(code - np.int64(x_codes[p]))] | ONE
                for q in range(starts[y, part], starts[y, part + 1]):
                    sums[(raters[q] >> np.uint32(8)) - first] += added[raters[q] & np.uint32(255)]
            for other in range(len(row)):
                n = float(sums[other] >> HALF)
                of_squares = np.uint32(sums[other]) / 64.0
                row[other] = 1 / (of_squares / n + 1) if n >= min_support else 0.0
        rows[place, x] = 1.0


COSINE, MSD, PEARSON, PEARSON_BASELINE = range(4)  # as in parameters.SIMILARITIES


# For each y that x rated, all raters of y get their pair of ratings counted and added to the sums
# of which the measure is made. This is the order in which Surprise adds, but one row at a time, so
# that rows are independent, and one part of the row at a time, so that its sums are cached. No x
# rates a y twice here.
@kernel
def fill_rows(
    xs: Offsets,
    rows: Floats,
    sums: Floats,
    x_lists: GroupedLists,
    y_lists: GroupedLists,
    starts: Offsets,
    measure: int,
    min_support: int,
    shrinkage: float,
) -> None:
    """Write the similarities of each x to all."""
    x_offsets, x_ys, x_values = x_lists
    _, y_xs, y_values = y_lists
    for place in range(len(xs)):
        x = xs[place]
        for part in range(starts.shape[1] - 1):
            first = np.uint32(part * len(sums))
            row = rows[place, first : first + len(sums)]
            sums[:] = 0.0
            for p in range(x_offsets[x], x_offsets[x + 1]):
                y = x_ys[p]
                a = x_values[p]
                start, stop = starts[y, part], starts[y, part + 1]
                for q in range(start, stop if measure == MSD else start):
                    x2 = np.uint32(y_xs[q]) - first
                    sums[x2, 0] += 1.0
                    sums[x2, 1] += (a - y_values[q]) ** 2
                for q in range(start, start if measure == MSD else stop):
                    x2, b = np.uint32(y_xs[q]) - first, y_values[q]
                    sums[x2, 0] += 1.0
                    sums[x2, 1] += a * b
                    sums[x2, 2] += a * a
                    sums[x2, 3] += b * b
                    if measure == PEARSON:
                        sums[x2, 4] += a
                        sums[x2, 5] += b
            for other in range(len(row)):
                n, products, squares, squares2, total, total2 = sums[other]
                if first + other == x:
                    row[other] = 1.0
                elif n < min_support:
                    row[other] = 0.0
                elif measure == MSD:
                    row[other] = 1 / (products / n + 1)
                elif measure == PEARSON:
                    spread = np.sqrt((n * squares - total**2) * (n * squares2 - total2**2))
                    row[other] = 0.0 if spread == 0.0 else (n * products - total * total2) / spread
                else:
                    row[other] = products / np.sqrt(squares * squares2)
                    if measure == PEARSON_BASELINE:
                        row[other] *= (n - 1) / (n - 1 + shrinkage)
