"""Metrics of which of the first k items are relevant: precision, recall, F-beta, RBP, AUC."""

from __future__ import annotations

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.discounted import accumulate
from harness.metrics.grammar import Value
from harness.metrics.ties import SMALLEST_BLOCK, Settled, settle
from harness.metrics.worth import binary_worth, relevant_from

__all__ = [
    "count_relevant",
    "score_auc",
    "score_fbeta",
    "score_precision",
    "score_rbp",
    "score_recall",
    "score_user_coverage",
]


def count_relevant(rankings: Rankings, threshold: float) -> Floats:
    """Return how many of each user's judged items are relevant, ranked or not; nan where none is.

    Examples
    --------
    >>> count_relevant(Rankings([0, 2, 3], [1, 4, 2], [1, 2, 1], [1, 2, 1], [1, 2, 1], [5, 5]), 3)
    array([ 1., nan])
    """
    before = np.concatenate(([0], np.cumsum(rankings.pool >= threshold)))
    counts = (before[rankings.pool_offsets[1:]] - before[rankings.pool_offsets[:-1]]).astype(float)
    counts[counts == 0] = np.nan
    return counts


def score_precision(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return the share of the first k that is relevant.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    Two of the first three items are relevant, of which there are six:

    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 1], [1, 2], [1, 2], [1, 2], [3], [0, 6], [1] * 6)
    >>> score_precision(parse("precision@3").params, np.array([3, 5]), lists, "precision").round(4)
    array([[0.6667, 0.4   ]])
    """
    hits, relevant = _hits(params, ks, rankings)
    return hits / _precision_denominator(params, ks, rankings, relevant)


def score_recall(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return the share of the relevant items that is among the first k.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 1], [1, 2], [1, 2], [1, 2], [3], [0, 6], [1] * 6)
    >>> score_recall(parse("recall").params, np.array([1, 3]), lists, "recall").round(4)
    array([[0.1667, 0.3333]])
    """
    hits, relevant = _hits(params, ks, rankings)
    if params["denominator"].word == "achievable":
        return hits / np.minimum(ks, relevant)
    return hits / relevant


def score_fbeta(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return the weighted harmonic mean of precision and recall.

    With h hits it is ``(1 + beta**2) * h / (beta**2 * n_relevant + k)``, linear in h, so that its
    expectation over ties is the formula at the expected hits.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 1], [1, 2], [1, 2], [1, 2], [3], [0, 6], [1] * 6)
    >>> score_fbeta(parse("fbeta@3").params, np.array([3]), lists, "fbeta").round(4)
    array([[0.4444]])
    """
    hits, relevant = _hits(params, ks, rankings)
    weight = (params["beta"].as_number or 1.0) ** 2
    whole = weight * relevant + _precision_denominator(params, ks, rankings, relevant)
    return (1.0 + weight) * hits / whole


def score_rbp(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return rank-biased precision: ``(1 - p) * sum over relevant ranks i <= k of p**(i - 1)``.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 1], [1, 3], [1, 3], [1, 3], [3])
    >>> score_rbp(parse("rbp(p=0.5)").params, np.array([3]), lists, "rbp")   # 0.5 * (1 + 0.25)
    array([[0.625]])
    """
    p = params["p"].as_number or 0.0
    cuts = np.minimum(ks, rankings.longest)
    weights = (1.0 - p) * p ** np.arange(-1.0, int(cuts.max()))
    weights[0] = 0.0
    threshold = relevant_from(params)
    settled = settle(rankings, params)
    scores = accumulate(settled, binary_worth(threshold), weights, cuts)
    scores[np.isnan(count_relevant(rankings, threshold))] = np.nan
    return scores


def score_auc(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return the share of pairs of a relevant and another ranked item in that order.

    Equal estimates count as half a pair under average ties. Relevant items that were not ranked do
    not count. nan where all or none of the ranked items are relevant.

    Returns
    -------
    ndarray of float64, shape (n_users, 1)

    Examples
    --------
    Relevant at ranks 1 and 3 of four: three of the four pairs are in order.

    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 1], [1, 3], [1, 3], [1, 3], [4])
    >>> score_auc(parse("auc").params, np.array([4]), lists, "auc")
    array([[0.75]])
    """
    threshold = relevant_from(params)
    settled = settle(rankings, params)
    out = np.empty((rankings.n_users, 1))
    each_block(
        lambda a, b: _areas(settled, threshold, rankings.n_ranked, a, b, out),
        rankings.n_users,
        SMALLEST_BLOCK,
    )
    return out


def score_user_coverage(
    params: dict[str, Value], ks: Ints, rankings: Rankings, label: str
) -> Floats:
    """Return 1 for a list of at least k items, else 0.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> lists = Rankings([0, 0, 0], [], [], [], [], [3, 0])
    >>> score_user_coverage({}, np.array([1, 5]), lists, "user_coverage")
    array([[1., 0.],
           [0., 0.]])
    """
    return (rankings.n_ranked[:, np.newaxis] >= ks).astype(np.float64)


def _hits(params: dict[str, Value], ks: Ints, rankings: Rankings) -> tuple[Floats, Floats]:
    """Return the expected hits at each k, and the number relevant as a column."""
    threshold = relevant_from(params)
    cuts = np.minimum(ks, rankings.longest)
    weights = np.ones(int(cuts.max()) + 1)
    weights[0] = 0.0
    settled = settle(rankings, params)
    hits = accumulate(settled, binary_worth(threshold), weights, cuts)
    return hits, count_relevant(rankings, threshold)[:, np.newaxis]


def _precision_denominator(
    params: dict[str, Value], ks: Ints, rankings: Rankings, relevant: Floats
) -> Floats:
    """Return what hits are divided by, nan where nothing is relevant; at least 1."""
    whole = np.where(np.isnan(relevant), np.nan, ks.astype(np.float64))
    word = params["denominator"].word
    if word == "list":
        whole = np.minimum(whole, np.maximum(rankings.n_ranked, 1)[:, np.newaxis])
    elif word == "achievable":
        whole = np.minimum(whole, relevant)
    return whole


@kernel
def _areas(
    settled: Settled, threshold: float, n_ranked: Ints, start: int, stop: int, out: Floats
) -> None:
    offsets, relevance, low, high = settled
    for user in range(start, stop):
        n_relevant, ranks = 0, 0.0
        for entry in range(offsets[user], offsets[user + 1]):
            if relevance[entry] >= threshold:
                n_relevant += 1
                ranks += 0.5 * (low[entry] + high[entry])
        n_pairs = float(n_relevant) * (n_ranked[user] - n_relevant)
        if n_pairs == 0.0:
            out[user, 0] = np.nan
            continue
        out_of_order = ranks - 0.5 * n_relevant * (n_relevant + 1)
        out[user, 0] = 1.0 - out_of_order / n_pairs
