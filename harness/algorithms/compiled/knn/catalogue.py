"""Means over the k nearest neighbours for whole catalogues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.algorithms.compiled.knn.neighbours import MEANS_A_THREAD
from harness.algorithms.compiled.knn.similarities import HALF
from harness.algorithms.trainset import Codes, Floats, Lists, Offsets, Order
from harness.kernels import each_block, kernel, rows_of_owners

if TYPE_CHECKING:
    from harness.algorithms.compiled.knn.models import KNNBasic


def means_of_users(scorer: KNNBasic, users: Codes) -> Floats:
    """Return the means over neighbours of known users with all items, shape (n, n_items)."""
    if scorer.user_based:
        return _average(scorer, users, scorer.x_lists, scorer.y_lists)
    return _average(scorer, scorer.items, *_only(scorer, users)).T


def _only(scorer: KNNBasic, ys: Codes) -> tuple[Lists, Lists]:
    """Return the lists of all x restricted to some y, and of those y, numbered from 0."""
    offsets, xs, values = scorer.y_lists
    owners, rows = rows_of_owners(offsets, ys)
    starts = np.searchsorted(owners, np.arange(len(ys) + 1))
    y_lists = Lists(starts, xs[rows], values[rows])
    order = Order.of(starts, y_lists.ids, len(scorer.x_lists.offsets) - 1)
    return order.lists(y_lists.ratings), y_lists


def _average(scorer: KNNBasic, xs: Codes, x_lists: Lists, y_lists: Lists) -> Floats:
    """Return the mean over the neighbours of each x for every y, shape (len(xs), n_y)."""
    means = np.empty((len(xs), len(y_lists.offsets) - 1))

    def average(start: int, stop: int) -> None:
        for first in range(start, stop, scorer.rows_at_once):
            last = min(first + scorer.rows_at_once, stop)
            similarities = scorer.similarities(xs[first:last])
            order = np.argsort(-similarities, axis=1)
            average_catalogue(
                similarities, order, x_lists, y_lists, *scorer.options, means[first:last]
            )

    each_block(average, len(xs), MEANS_A_THREAD)
    return means


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


# For a whole catalogue, the neighbours of x are walked in descending similarity, and each adds its
# ratings to the y that hold fewer than k. Where neighbours are equally similar, Surprise's
# ``heapq.nlargest`` prefers the one that comes first in the list of y, and sums are made in that
# order; so the ratings of such a group are brought into the order of the lists before they are
# added. Neighbours by themselves, or without a positive similarity, are in group 0.
@kernel
def average_catalogue(
    similarities: Floats,
    orders: Offsets,
    x_lists: Lists,
    y_lists: Lists,
    spreads: Floats,
    k: int,
    least: int,
    missing: float,
    means: Floats,
) -> None:
    """Average over the k nearest neighbours, for each row of similarities and every y.

    `orders` holds places from the highest similarity; fewer than `least` give `missing`.
    """
    x_offsets, x_ys, x_values = x_lists
    y_offsets, y_xs, y_values = y_lists
    n_x = similarities.shape[1]
    n_y = means.shape[1]
    counts = np.zeros(n_y, np.int32)
    sums = np.zeros((n_y, 2))  # weights, weighted values
    group_of = np.zeros(n_x, np.uint32)
    steps = np.ones(n_x + 1, np.uint32)
    steps[0] = 0  # what is collected of group 0 goes to place 0, which is never read
    heads = np.zeros(n_x + 1, np.uint32)
    divide = len(spreads) > 0
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
            nearest += 1
            if group == 0:
                for row in range(x_offsets[member], x_offsets[member + 1]):
                    y_rated = np.uint32(x_ys[row])
                    value = admit(y_rated, weight, k, counts, sums) * x_values[row]
                    sums[y_rated, 1] += value / spreads[member] if divide else value
                continue
            for t in range(start, heads[group]):
                shared, source = np.uint32(tied[t] >> HALF), np.uint32(tied[t])
                value = admit(shared, weight, k, counts, sums) * y_values[source]
                sums[shared, 1] += value / spreads[y_xs[source]] if divide else value
            start = heads[group]
            group_of[member] = 0
            while nearest < n_positive and group_of[order[nearest]] == group:
                group_of[order[nearest]] = 0
                nearest += 1
        for y in range(n_y):
            means[place, y] = sums[y, 1] / sums[y, 0] if counts[y] >= least else missing
