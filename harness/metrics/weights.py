"""Held-out ratings weighted by their exposure: metrics with ``weights=``.

A rating with weight w counts as w items at its rank, as in `harness.metrics.exposure_weights`.

>>> from harness import metrics
>>> lists = metrics.Rankings([0, 2], [1, 3], [1, 2], [1, 2], [1, 2], [3], items=[0, 1])
>>> four = metrics.Exposure([0, 1, 2, 3], [0, 0, 0, 1], [0], judged=([0, 0], [0, 1], [1, 3]))
>>> labels = metrics.parse_many("recall@1, recall(weights=popularity)@1")
>>> for metric, scores in metrics.score(labels, lists, exposure=four).items():
...     print(metric, scores.mean)   # of propensities 3 : 1, so weights 1 : 3
recall@1 0.5
recall(weights=popularity)@1 0.25
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.errors import MetricError
from harness.metrics.arrays import Floats, Ints, Pairs, Rankings
from harness.metrics.exposure import Exposure
from harness.metrics.exposure_weights import (
    Worth,
    best_order,
    by_popularity,
    naive_bayes,
    normalised,
)
from harness.metrics.gains import Gains, weighted
from harness.metrics.parameters import Params

Judged = tuple[Ints, Ints, Floats]
"""Columns of held-out ratings: the position of the list, the item, the rating."""


def weighted_lists(
    lists: Rankings, params: Params, exposure: Exposure, label: str
) -> tuple[Rankings, Worth]:
    """Return lists with weights, normalised over all ratings that count, and what they are worth.

    A ranked item without a held-out rating has a weight of 0.
    """
    judged = _judged(exposure, lists.n_users, label)
    if lists.items is None:
        raise _fault(label, "the ranked items are not known by name; give the lists `items`")
    rows = _rows_of_pool(lists, judged, exposure)
    if rows is None:
        raise _fault(label, "the judged ratings of the exposure are not those of the lists")
    owners, items = judged[0][rows], judged[1][rows]
    weights, worth = _weights(items, judged[2][rows], params, exposure, label)
    n_items = len(exposure.popularity)
    lists_of = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    places = _places(owners * n_items + items, lists_of * n_items + lists.items)
    of_entries = np.append(weights, 0.0)[places]
    return replace(lists, weights=of_entries, pool_weights=weights), worth


def weighted_pairs(
    pairs: Pairs, params: Params, exposure: Exposure, label: str
) -> tuple[Pairs, Worth]:
    """Return pairs with weights, and what they are worth."""
    owners, items, ratings = _judged(exposure, pairs.n_users, label)
    users = np.repeat(np.arange(pairs.n_users), np.diff(pairs.offsets))
    rows = np.argsort(owners, kind="stable")  # pairs of a run have the order of the test part
    if pairs.items is not None:
        n_items = len(exposure.popularity)
        rows = _places(owners * n_items + items, users * n_items + pairs.items)
    if (
        len(rows) != len(users)
        or (rows < 0).any()
        or not np.array_equal(owners[rows], users)
        or not np.array_equal(ratings[rows], pairs.ratings)
    ):
        raise _fault(label, "the judged ratings of the exposure are not those of the pairs")
    weights, worth = _weights(items[rows], ratings[rows], params, exposure, label)
    return replace(pairs, weights=weights), worth


def filled(lists: Rankings, gains: Gains, discounts: Floats, ks: Ints) -> Floats:
    """Return the gain of the best order at each k: an item of weight w fills w ranks.

    `discounts` are those of the ranks from 0 (unused) on.
    """
    assert lists.pool_weights is not None
    values, *_ = weighted(gains, np.ones(len(lists.pool)))  # in falling order, as the pool is
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.pool_offsets))
    sums = np.cumsum(discounts)
    columns = [
        best_order(owners, values, lists.pool_weights, lists.n_users, sums[: k + 1]) for k in ks
    ]
    return np.stack(columns, axis=1)


def weighted_precisions(lists: Rankings, weights: Floats, ks: Ints) -> Floats:
    """Return for each k the sum of weight times precision at the ranks of relevant items.

    The precision at a rank is the weight of the relevant items up to there, divided by the rank. It
    is the mean over the orders of ties, as `harness.metrics.binary.ap` has it: at the s-th of n
    tied ranks, (s - 1) / (n - 1) of the weight of the other relevant ones are above.
    """
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    low, high = lists.tie_low.astype(np.int64), lists.tie_high.astype(np.int64)
    n, above = high - low + 1, low - 1
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (owners[1:] != owners[:-1])
    group = np.cumsum(first) - 1
    of_group = np.bincount(group, weights, len(low))[group]
    before_user = np.concatenate(([0.0], np.cumsum(weights)))[lists.offsets[:-1]][owners]
    before_group = np.concatenate(([0.0], np.cumsum(weights)))[:-1][first][group] - before_user
    others = (of_group - weights) / np.maximum(n - 1, 1)
    depth = int(high.max(initial=1))
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, depth + 1))))
    sums = np.empty((lists.n_users, len(ks)))
    for column, k in enumerate(ks):
        inside = np.clip(k - above, 0, n)
        here = harmonic[above + inside] - harmonic[above]
        there = inside - low * here  # sum of (s - 1) / (above + s)
        values = weights / n * ((before_group + weights) * here + others * there)
        sums[:, column] = np.bincount(owners, values, lists.n_users)
    return sums


def _judged(exposure: Exposure, n_users: int, label: str) -> Judged:
    """Return the held-out ratings of an exposure, or raise a MetricError."""
    if exposure.judged is None:
        raise _fault(label, "the exposure has no held-out ratings; give it `judged`")
    if len(exposure.list_users) != n_users:
        raise _fault(
            label, f"the exposure names {len(exposure.list_users):,} users, not {n_users:,}"
        )
    return exposure.judged


def _rows_of_pool(lists: Rankings, judged: Judged, exposure: Exposure) -> Ints | None:
    """Return the rows of the judged items in the order of the pool.

    Those without a training rating may be missing there, as `unknown_items: drop` has it.
    """
    owners, items, ratings = judged
    of_pool = np.repeat(np.arange(lists.n_users), np.diff(lists.pool_offsets))
    for rows in (np.arange(len(items)), np.flatnonzero(exposure.popularity[items] > 0)):
        ordered = rows[np.lexsort((-ratings[rows], owners[rows]))]
        if np.array_equal(owners[ordered], of_pool) and np.array_equal(
            ratings[ordered], lists.pool
        ):
            return ordered
    return None


def _weights(
    items: Ints, ratings: Floats, params: Params, exposure: Exposure, label: str
) -> tuple[Floats, Worth]:
    """Return the weight of each rating, of mean 1, and what they are worth."""
    try:
        chances = _chances(items, ratings, params, exposure)
        return normalised(chances, len(items), params["least"].as_number)
    except MetricError as error:
        raise _fault(label, str(error)) from None


def _chances(items: Ints, ratings: Floats, params: Params, exposure: Exposure) -> Floats:
    """Return the propensity of each rating."""
    if params["weights"] == "popularity":
        return by_popularity(exposure.popularity, items, float(params["power"]))
    if params["weights"] == "naive-bayes":
        if exposure.at_random is None:
            raise MetricError("the exposure has no ratings at random; give it `at_random`")
        n_pairs = len(exposure.list_users) * len(exposure.popularity)
        return naive_bayes(ratings, exposure.at_random, n_pairs)
    if exposure.propensities is None:
        raise MetricError("the exposure has no propensities of items; give it some")
    return exposure.propensities[items]


def _places(cells: Ints, wanted: Ints) -> Ints:
    """Return the place of each wanted cell among different ones; -1 where it is not there."""
    if not len(cells):
        return np.full(len(wanted), -1)
    order = np.argsort(cells)
    found = order[np.minimum(np.searchsorted(cells[order], wanted), len(cells) - 1)]
    return np.where(cells[found] == wanted, found, -1)


def _fault(label: str, reason: str) -> MetricError:
    return MetricError(f"{label}: {reason}", reason)
