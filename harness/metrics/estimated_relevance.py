"""Precision, recall and their F1 of items that are estimated at a threshold or more."""

from __future__ import annotations

from functools import partial

import numpy as np

from harness.metrics.arrays import Floats, Pairs
from harness.metrics.definition import metric
from harness.metrics.parameters import ANY, Parameter, Params, words
from harness.metrics.rating_error import UserScores, mean_of, ratio

FAQ = "Surprise's FAQ, precision_recall_at_k: Hug 2020, doi:10.21105/joss.02174"
ESTIMATED = Parameter(
    "threshold",
    "least rating of a relevant item, and least estimate of a recommended one",
    limits=ANY,
    default="3.5",
)
PAIR_TIES = Parameter(
    "ties",
    "order of equal estimates at the cut: expected value over all orders, or input order",
    words("average", "first"),
)
_estimated = partial(
    metric, needs="pairs", cut="required", parameters=(ESTIMATED, PAIR_TIES), source=FAQ
)


@_estimated("|first k with estimate >= t and rating >= t| / |first k with estimate >= t|")
def estimated_precision(pairs: Pairs, params: Params, k: int) -> UserScores:
    """Share of relevant items among those of the first k estimated at the threshold or more.

    0 where none of the first k is: Surprise's FAQ computes it so. `precision` counts all k.
    """
    hits, recommended, _ = _estimated_counts(pairs, params, k)
    per_user = ratio(hits, recommended, none=0.0)
    return per_user, mean_of(per_user)


@_estimated("|first k with estimate >= t and rating >= t| / |rating >= t|")
def estimated_recall(pairs: Pairs, params: Params, k: int) -> UserScores:
    """Share of the relevant items among the first k, estimated at the threshold or more.

    0 where nothing is relevant: Surprise's FAQ computes it so. `recall` counts all of the first k.
    """
    hits, _, relevant = _estimated_counts(pairs, params, k)
    per_user = ratio(hits, relevant, none=0.0)
    return per_user, mean_of(per_user)


@_estimated(
    "2 |first k with estimate >= t and rating >= t| / "
    "(|first k with estimate >= t| + |rating >= t|)"
)
def estimated_f1(pairs: Pairs, params: Params, k: int) -> UserScores:
    """Harmonic mean of `estimated_precision` and `estimated_recall` of each user.

    0 where one of them is 0, as in Surprise's FAQ, where neither is blank.
    """
    hits, recommended, relevant = _estimated_counts(pairs, params, k)
    per_user = ratio(2 * hits, recommended + relevant, none=0.0)
    return per_user, mean_of(per_user)


def _estimated_counts(pairs: Pairs, params: Params, k: int) -> tuple[Floats, Floats, Floats]:
    """Count, for each user, the hits, the recommended and the relevant items."""
    least, starts = float(params["threshold"]), pairs.offsets[:-1]
    users = np.repeat(np.arange(pairs.n_users), np.diff(pairs.offsets))
    order = np.lexsort((-pairs.estimates, users))
    estimates, relevant = pairs.estimates[order], (pairs.ratings >= least)[order]
    position = np.arange(len(order)) - starts[users]
    weights = (position < k).astype(float)
    if params["ties"] == "average":  # a group at the cut counts by the part that is above it
        new = np.flatnonzero((np.diff(estimates, prepend=np.nan) != 0) | (position == 0))
        sizes = np.diff(np.append(new, len(order)))
        weights = np.repeat(np.add.reduceat(weights, new) / sizes, sizes) if len(new) else weights
    weights *= estimates >= least

    def total(values: Floats) -> Floats:
        return np.bincount(users, values, minlength=pairs.n_users).astype(np.float64)

    return total(weights * relevant), total(weights), total(relevant.astype(float))
