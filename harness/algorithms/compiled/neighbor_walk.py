"""Compiled loops over neighbours: for a whole catalogue, and for single pairs."""

from __future__ import annotations

import numpy as np

from harness.algorithms.compiled.accelerator import Codes, Floats, Offsets
from harness.kernels import kernel

__all__ = ["average_catalogue", "average_pairs"]

HALF = np.uint64(32)


@kernel
def admit(y: np.uint32, weight: float, k: int, counts: Codes, sums: Floats) -> float:
    """Count a neighbour of y and return its weight, 0 if y is full.

    To add 0 is faster than a branch that the processor cannot foresee.
    """
    count = counts[y]
    weight = weight if count < k else 0.0
    counts[y] = count + (count < k)
    sums[y, 0] += weight
    return weight


@kernel
def average_catalogue(
    similarities: Floats,
    orders: Offsets,
    x_offsets: Offsets,
    x_ys: Codes,
    x_values: Floats,
    y_offsets: Offsets,
    y_xs: Codes,
    y_values: Floats,
    spreads: Floats,
    k: int,
    least: int,
    missing: float,
    means: Floats,
) -> None:
    """Average over the k nearest neighbours, for each row of similarities and every y.

    Parameters
    ----------
    similarities : ndarray, shape (n, n_x)
        Of each requested x to all.
    orders : ndarray of int64, shape (n, n_x)
        Places of the similarities from the highest; equal ones in any order.
    x_offsets, x_ys, x_values, y_offsets, y_xs, y_values : ndarray
        The ratings of each x and of each y.
    spreads : ndarray, shape (n_x,) or (0,)
        What the values of each x are divided by.
    k, least : int
        Most and fewest neighbours.
    missing : float
        The mean over too few neighbours.
    means : ndarray, shape (n, n_y)
        Written.
    """
    n_x = similarities.shape[1]
    n_y = means.shape[1]
    counts = np.zeros(n_y, np.int32)
    sums = np.zeros((n_y, 2))  # weights, weighted values
    divide = len(spreads) > 0
    # Group 0 is for those who are by themselves, or have no positive similarity at all: their
    # ratings are written to place 0, which is never read.
    group_of = np.zeros(n_x, np.uint32)
    steps = np.ones(n_x + 1, np.uint32)
    steps[0] = 0
    heads = np.zeros(n_x + 1, np.uint32)
    tied = np.empty(len(y_xs) + 1, np.uint64)  # y in the upper half, the row in the lower
    for place in range(len(similarities)):
        similarity = similarities[place]
        order = orders[place]
        counts[:] = 0
        sums[:] = 0.0
        # Number the groups of equal similarity and make room for their ratings.
        n_positive = 0
        n_groups = 0
        n_tied = 1
        while n_positive < n_x and similarity[order[n_positive]] > 0.0:
            first = n_positive
            highest = similarity[order[first]]
            n_positive += 1
            while n_positive < n_x and similarity[order[n_positive]] == highest:
                n_positive += 1
            if n_positive - first > 1:
                n_groups += 1
                heads[n_groups] = n_tied
                for member in order[first:n_positive]:
                    group_of[member] = n_groups
                    n_tied += x_offsets[member + 1] - x_offsets[member]
        # Collect the ratings of each group in the order of the lists.
        if n_groups:
            for y in range(n_y):
                upper = np.uint64(y) << HALF
                for row in range(y_offsets[y], y_offsets[y + 1]):
                    group = group_of[np.uint32(y_xs[row])]
                    head = heads[group]
                    tied[head] = upper | np.uint64(row)
                    heads[group] = head + steps[group]
        # Walk the neighbours.
        nearest = 0
        start = np.uint32(1)
        while nearest < n_positive:
            member = order[nearest]
            weight = similarity[member]
            group = group_of[member]
            if group == 0 and not divide:
                for row in range(x_offsets[member], x_offsets[member + 1]):
                    own = np.uint32(x_ys[row])
                    sums[own, 1] += admit(own, weight, k, counts, sums) * x_values[row]
            elif group == 0:
                spread = spreads[member]
                for row in range(x_offsets[member], x_offsets[member + 1]):
                    own = np.uint32(x_ys[row])
                    sums[own, 1] += admit(own, weight, k, counts, sums) * x_values[row] / spread
            elif not divide:
                for t in range(start, heads[group]):
                    shared, source = np.uint32(tied[t] >> HALF), np.uint32(tied[t])
                    sums[shared, 1] += admit(shared, weight, k, counts, sums) * y_values[source]
            else:
                for t in range(start, heads[group]):
                    shared, source = np.uint32(tied[t] >> HALF), np.uint32(tied[t])
                    value = admit(shared, weight, k, counts, sums) * y_values[source]
                    sums[shared, 1] += value / spreads[y_xs[source]]
            nearest += 1
            if group:
                start = heads[group]
                group_of[member] = 0
                while nearest < n_positive and group_of[order[nearest]] == group:
                    group_of[order[nearest]] = 0
                    nearest += 1
        for y in range(n_y):
            means[place, y] = sums[y, 1] / sums[y, 0] if counts[y] >= least else missing


@kernel
def average_pairs(
    rows: Offsets,
    ys: Codes,
    similarities: Floats,
    y_offsets: Offsets,
    y_xs: Codes,
    y_values: Floats,
    spreads: Floats,
    k: int,
    least: int,
    missing: float,
    means: Floats,
    weights: Floats,
    nearest: Offsets,
) -> None:
    """Average over the k nearest neighbours, for each pair of a row of similarities and a y.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)
        Row of `similarities` of each pair.
    ys : ndarray of int32, shape (n,)
        The y of each pair.
    similarities : ndarray, shape (n_rows, n_x)
        Of some x to all.
    y_offsets, y_xs, y_values : ndarray
        The ratings of each y, in training order.
    spreads, k, least, missing
        As in `average_catalogue`.
    means : ndarray, shape (n,)
        Written.
    weights, nearest : ndarray, shape (k + 1,)
        Overwritten: the nearest raters of y so far, sorted by insertion.
    """
    divide = len(spreads) > 0
    for pair in range(len(rows)):
        similarity = similarities[rows[pair]]
        y = ys[pair]
        n = 0
        for row in range(y_offsets[y], y_offsets[y + 1]):
            weight = similarity[np.uint32(y_xs[row])]
            if not weight > 0.0 or (n == k and (k == 0 or weight <= weights[k - 1])):
                continue
            place = n
            while place > 0 and weights[place - 1] < weight:
                weights[place] = weights[place - 1]
                nearest[place] = nearest[place - 1]
                place -= 1
            weights[place] = weight
            nearest[place] = row
            if n < k:
                n += 1
        total = 0.0
        weighted = 0.0
        for place in range(n):
            row = nearest[place]
            spread = spreads[y_xs[row]] if divide else 1.0
            total += weights[place]
            weighted += weights[place] * y_values[row] / spread
        means[pair] = weighted / total if n >= least else missing
