"""Rows of similarities by any of the four measures, of any ratings."""

from __future__ import annotations

import numpy as np

from harness.algorithms.trainset import Floats, Lists, Offsets
from harness.kernels import kernel

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
    x_lists: Lists,
    y_lists: Lists,
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
