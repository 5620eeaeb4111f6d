"""Metrics of a reader who stops at the first item that satisfies: rr, hit, hitrate_ndcg, err.

Relevant are the items at ranks 2 and 3; then the same two are tied with the first, so that first
is one of them with probability 2/3:

>>> lists = Rankings([0, 2], [1, 1], [2, 3], [2, 3], [2, 3], [3])
>>> rr(lists, 1).mean, rr(lists, 3).mean, hit(lists, 2).mean, round(hitrate_ndcg(lists).mean, 4)
(0.0, 0.5, 1.0, 0.6309)
>>> lists = Rankings([0, 2], [1, 1], [2, 3], [1, 1], [3, 3], [3])
>>> round(rr(lists).mean, 4)   # 2/3 + 1/3 * 1/2
0.8333
"""

from __future__ import annotations

import numpy as np

from harness._util.kernels import kernel
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.binary import hits, where_relevant
from harness.metrics.dcg import Entries, Form, walk
from harness.metrics.definition import metric
from harness.metrics.gains import GRADES, OFFSET, gain_of, gains, without_gain
from harness.metrics.parameters import (
    LISTS,
    POSITIVE,
    THRESHOLD,
    WEIGHTED,
    Parameter,
    Params,
    Value,
    number,
    words,
)

NEGATIVE = Parameter(
    "negative",
    "what a negative relevance is: an error, or zero",
    words("error", "zero"),
)
MAX = Parameter(
    "max",
    "highest relevance that can be given",
    limits=POSITIVE,
    default="5",
)


@metric(
    "1 / min{i <= k: rel_i > 0}, 0 where there is none",
    "Voorhees 1999, TREC-8 question answering track report, NIST SP 500-246",
    parameters=(THRESHOLD, *LISTS, *WEIGHTED),
    synonyms=("mrr", "reciprocal_rank"),
)
def rr(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Reciprocal rank of the first relevant item; its mean over users is MRR."""
    return _first_relevant(lists, ks, params, lambda ranks: 1.0 / ranks)


@metric(
    "1 if hits@k > 0 else 0",
    "Deshpande and Karypis 2004, doi:10.1145/963770.963776",
    parameters=(THRESHOLD, *LISTS, *WEIGHTED),
    synonyms=("hit_rate", "hitrate", "hr", "success"),
)
def hit(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Hit rate: whether anything relevant is among the first k."""
    return _first_relevant(lists, ks, params, np.ones_like)


@metric(
    "1 / log2(min{i <= k: rel_i > 0} + 1), 0 where there is none",
    "He et al. 2017, doi:10.1145/3038912.3052569",
    parameters=(THRESHOLD, *LISTS, *WEIGHTED),
)
def hitrate_ndcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Hit-rate NDCG: a blend of hit and rank for one held-out item, 1/log2(rank + 1) if it is
    among the first k. If several items are relevant, the first counts.
    """
    return _first_relevant(lists, ks, params, lambda ranks: 1.0 / np.log2(ranks + 1.0))


def _beyond_max(params: Params, relevance: Floats) -> str:
    """Return which relevance has no probability, and what to do."""
    most, offset = float(params["max"]), float(params["offset"])
    highest = max(0.0, float(relevance.max()) - offset)
    beyond = f"a relevance of {number(highest)} is above max={number(most)}; set max to the top "
    return (
        without_gain(_with_gain(params), relevance)
        or (highest > most) * f"{beyond}of the rating scale"
    )


@metric(
    "sum over i <= k of (1/i) R_i prod over j < i of (1 - R_j), R = (2**rel - 1) / 2**max",
    "Chapelle et al. 2009, doi:10.1145/1645953.1646033",
    parameters=(MAX, OFFSET, NEGATIVE, GRADES, *LISTS),
    fault_of_relevance=_beyond_max,
)
def err(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Expected reciprocal rank of the item at which a reader stops, satisfied.

    Examples
    --------
    >>> lists = Rankings([0, 2], [1, 2], [1, 2], [1, 2], [1, 2], [2])
    >>> err(lists, 2, max=2).mean   # 1/4 + 1/2 * 3/4 * 3/4
    0.53125
    """
    scale = 2.0 ** -float(params["max"])
    params = _with_gain(params)
    stops = gains(params, lists.relevance)
    scores = walk(_cascade, lists, stops, lambda ranks: 1.0 / ranks, ks, scale)
    judged = np.diff(lists.pool_offsets) > 0
    best = np.zeros(lists.n_users)
    best[judged], *_ = gains(params, lists.pool[lists.pool_offsets[:-1][judged]])
    scores[best <= 0.0] = np.nan
    return scores


def _with_gain(params: Params) -> Params:
    """Add the gain that the formula of err has."""
    return {**params, "gain": Value("exp2")}


def _first_relevant(lists: Rankings, ks: Ints, params: Params, form: Form) -> Floats:
    """Score the rank of the first relevant item; nan where nothing is relevant.

    A weight below 1 is the chance that the item is relevant.
    """
    stops = hits(lists, params)
    if lists.weights is not None:
        stops = (np.minimum(stops[0], 1.0), *stops[1:])
    scores = walk(_cascade, lists, stops, form, ks, 1.0)
    return where_relevant(scores, lists, params)


@kernel
def _cascade(lists: Entries, scale: float, start: int, stop: int, out: Floats) -> None:
    """Return the expected weight of the rank at which a reader stops, if within k.

    The gain of an item times `scale` is the probability that it satisfies. Within a group of n tied
    items, p[t] is the expected probability of going on past t of them. Adding an n-th item of
    stopping probability R to a group turns it into ``(n - t)/n * p[t] + t/n * (1 - R) * p[t - 1]``:
    the item is among the t or it is not.
    """
    offsets, (relevance, form, least), lows, highs, ks, weights, _ = lists
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
                stopping += scale * gain_of(relevance[entry], form, least) > 0.0
                entry += 1
            size = n_tied - stopping  # those at which nobody stops
            for i in range(first, entry):
                chance = scale * gain_of(relevance[i], form, least)
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
