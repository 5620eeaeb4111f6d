"""Metrics of a reader who stops at the first item that satisfies: rr, hit, hitrate_ndcg, err."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.errors import MetricError
from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.grammar import Value, number
from harness.metrics.hits import count_relevant
from harness.metrics.ties import SMALLEST_BLOCK, Settled, settle
from harness.metrics.worth import Worth, binary_worth, make_worth, relevant_from, worth_of

__all__ = ["err_worth", "score_err", "score_hit", "score_hitrate_ndcg", "score_rr"]


def score_rr(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return 1 / rank of the first relevant item, 0 if it is not among the first k.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 1], [2, 3], [2, 3], [2, 3], [3])
    >>> score_rr(parse("rr").params, np.array([1, 3]), lists, "rr")
    array([[0. , 0.5]])

    The same two relevant items tied with a third: first is one of them with probability 2/3.

    >>> lists = Rankings([0, 2], [1, 1], [2, 3], [1, 1], [3, 3], [3])
    >>> score_rr(parse("rr").params, np.array([3]), lists, "rr").round(4)   # 2/3 + 1/3 * 1/2
    array([[0.8333]])
    """
    return _first_relevant(params, ks, rankings, lambda ranks: 1.0 / ranks)


def score_hit(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return 1 if any of the first k is relevant, else 0.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 1], [1], [2], [2], [2], [3])
    >>> score_hit(parse("hit").params, np.array([1, 2]), lists, "hit")
    array([[0., 1.]])
    """
    return _first_relevant(params, ks, rankings, np.ones_like)


def score_hitrate_ndcg(
    params: dict[str, Value], ks: Ints, rankings: Rankings, label: str
) -> Floats:
    """Return 1 / log2(rank + 1) of the first relevant item, 0 if it is not among the first k.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    The held-out item at rank 3:

    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 1], [1], [3], [3], [3], [5])
    >>> score_hitrate_ndcg(parse("hitrate_ndcg").params, np.array([2, 5]), lists, "hitrate_ndcg")
    array([[0. , 0.5]])
    """
    return _first_relevant(params, ks, rankings, lambda ranks: 1.0 / np.log2(ranks + 1.0))


def score_err(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return the expected reciprocal rank at which the reader stops.

    ``sum over i <= k of (1/i) R_i prod over j < i of (1 - R_j)``, where the probability that an
    item of a relevance satisfies is ``R = (2**rel - 1) / 2**max``.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Raises
    ------
    MetricError
        If a relevance is above ``max``.

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 2], [1, 2], [1, 2], [1, 2], [2])
    >>> score_err(parse("err(max=2)").params, np.array([2]), lists, "err")   # 1/4 + 1/2 * 3/4 * 3/4
    array([[0.53125]])
    """
    worth = err_worth(params, rankings.pool, label)
    cuts = np.minimum(ks, rankings.longest)
    weights = _weights(cuts, lambda ranks: 1.0 / ranks)
    scores = _walk(settle(rankings, params), worth, 2.0 ** -_most(params), weights, cuts)
    satisfying = worth.offset + 1.0 if worth.whole else float(np.nextafter(worth.offset, np.inf))
    scores[np.isnan(count_relevant(rankings, satisfying))] = np.nan
    return scores


def err_worth(params: dict[str, Value], relevance: Floats, label: str) -> Worth:
    """Return the gain that err scales to probabilities, after a check of the relevances.

    Raises
    ------
    MetricError
        If a relevance is negative, or above ``max``.
    """
    worth = make_worth(params | {"gain": Value("exp2")}, relevance, label)
    highest = float(relevance.max(initial=worth.offset)) - worth.offset
    if highest > _most(params):
        raise MetricError(
            f"{label}: a relevance of {number(highest)} is above max={number(_most(params))}; "
            "set max to the top of the rating scale"
        )
    return worth


def _most(params: dict[str, Value]) -> float:
    return params["max"].as_number or 0.0


def _first_relevant(
    params: dict[str, Value], ks: Ints, rankings: Rankings, form: Callable[[Floats], Floats]
) -> Floats:
    """Score the rank of the first relevant item; nan where nothing is relevant."""
    threshold = relevant_from(params)
    cuts = np.minimum(ks, rankings.longest)
    settled = settle(rankings, params)
    scores = _walk(settled, binary_worth(threshold), 1.0, _weights(cuts, form), cuts)
    scores[np.isnan(count_relevant(rankings, threshold))] = np.nan
    return scores


def _weights(cuts: Ints, form: Callable[[Floats], Floats]) -> Floats:
    return np.concatenate(([0.0], form(np.arange(1.0, int(cuts.max()) + 1))))


def _walk(settled: Settled, worth: Worth, scale: float, weights: Floats, ks: Ints) -> Floats:
    """Return the expected weight of the rank at which the reader stops, if it is within k."""
    out = np.zeros((len(settled.offsets) - 1, len(ks)))
    each_block(
        lambda a, b: _cascade(settled, worth, scale, weights, ks, a, b, out),
        len(out),
        SMALLEST_BLOCK,
    )
    return out


@kernel
def _cascade(
    settled: Settled,
    worth: Worth,
    scale: float,
    weights: Floats,
    ks: Ints,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Follow readers down the list, group by group.

    Within a group of n tied items, p[t] is the expected probability of going on past t of them.
    Adding an n-th item of stopping probability R to a group turns it into
    ``(n - t)/n * p[t] + t/n * (1 - R) * p[t - 1]``: the item is among the t or it is not.
    """
    offsets, relevance, lows, highs = settled
    n_k = len(ks)
    last = ks[n_k - 1]
    going_on = np.empty(last + 1)
    for user in range(start, stop):
        reached = 1.0  # expected probability that the reader comes this far
        entry, end = offsets[user], offsets[user + 1]
        total, cut = 0.0, 0
        while entry < end and lows[entry] <= last and reached > 0.0:
            low, high = lows[entry], highs[entry]
            n_tied = high - low + 1
            n_seen = min(n_tied, last - low + 1)
            going_on[: n_seen + 1] = 1.0
            beyond, stopping, first = 1.0, 0, entry
            while entry < end and lows[entry] == low:
                stopping += worth_of(relevance[entry], worth) > 0.0
                entry += 1
            size = n_tied - stopping  # those at which nobody stops
            for i in range(first, entry):
                chance = worth_of(relevance[i], worth) * scale
                if chance > 0.0:
                    size += 1
                    beyond *= 1.0 - chance
                    for t in range(min(size, n_seen), 0, -1):
                        going_on[t] = (
                            (size - t) * going_on[t] + t * (1.0 - chance) * going_on[t - 1]
                        ) / size
            for t in range(1, n_seen + 1):
                rank = low + t - 1
                while ks[cut] < rank:
                    out[user, cut] = total
                    cut += 1
                total += reached * (going_on[t - 1] - going_on[t]) * weights[rank]
            reached *= beyond
        for rest in range(cut, n_k):
            out[user, rest] = total
