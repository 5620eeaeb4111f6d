"""Means over the k nearest neighbours for single pairs."""

from __future__ import annotations

import numpy as np

from harness.algorithms.trainset import Codes, Floats, Lists, Offsets
from harness.kernels import kernel

MEANS_A_THREAD = 8  # of rows of means over neighbours, the fewest


# For single pairs, the raters of y are gone through in the order of the list, and the nearest so
# far kept sorted by insertion: behind equal ones, as ``heapq.nlargest`` has them. What they are
# compared with is one number, which the processor foresees better than two conditions.
@kernel
def average_pairs(
    rows: Codes,
    ys: Codes,
    similarities: Floats,
    y_lists: Lists,
    spreads: Floats,
    k: int,
    least: int,
    missing: float,
    means: Floats,
    weights: Floats,
    nearest: Offsets,
) -> None:
    """Average over the k nearest neighbours, for each pair of a row of similarities and a y.

    `weights` and `nearest`, of shape (k + 1,), are overwritten. Fewer than `least` give `missing`.
    """
    y_offsets, y_xs, y_values = y_lists
    divide = len(spreads) > 0
    for pair in range(len(rows)):
        similarity = similarities[rows[pair]]
        y = ys[pair]
        n = 0
        lowest = 0.0 if k > 0 else np.inf
        for row in range(y_offsets[y], y_offsets[y + 1]):
            weight = similarity[np.uint32(y_xs[row])]
            if not weight > lowest:
                continue
            place = n
            while place > 0 and weights[place - 1] < weight:
                weights[place] = weights[place - 1]
                nearest[place] = nearest[place - 1]
                place -= 1
            weights[place] = weight
            nearest[place] = row
            n += n < k
            if n == k:
                lowest = weights[k - 1]
        total = 0.0
        weighted = 0.0
        for place in range(n):
            row = nearest[place]
            total += weights[place]
            value = weights[place] * y_values[row]
            weighted += value / spreads[y_xs[row]] if divide else value
        means[pair] = weighted / total if n >= least else missing
