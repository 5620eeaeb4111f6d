"""dcg, idcg and ndcg: gains discounted by rank.

>>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
>>> [round(metric(lists, 2).mean, 4) for metric in (dcg, idcg, ndcg)]   # 1 + 7 / log2(3), ...
[5.4165, 7.6309, 0.7098]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings, Ranks
from harness.metrics.definitions import EMPTY, SHORT, Parameter, Params, metric
from harness.metrics.gain import GRADED, gains, without_gain
from harness.metrics.ties import (
    AVERAGE,
    BEST,
    LISTS,
    TIES,
    WORST,
    cut_rule,
    hypergeometric,
)

BASE = Parameter(
    "base", "2", "e, a number above 1", "base of the discount's logarithm, above 1, or e"
)
DISCOUNT = Parameter(
    "discount",
    "log",
    "log, jarvelin, reciprocal, none",
    "what the gain at rank i is divided by: log(i + 1); Järvelin and Kekäläinen's max(1, log(i)) "
    "(with base 2 also LensKit's log2(max(i, 2))); i; or 1",
)
IDEAL = Parameter(
    "ideal",
    "judged",
    "judged, retrieved, full",
    "the best list: all the user's judged items, cut at k; the judged items among the first k; or "
    "k relevant items for every user (the last needs a binary gain)",
)
SMALLEST_BLOCK = 2048

Entries = tuple[Ints, Floats, Ranks, Ranks, Ints]
"""Ranked lists as compiled loops take them: offsets, gains, first and last rank of ties, and ks."""

DISCOUNTED = (*GRADED, BASE, DISCOUNT)
JARVELIN = "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418"


def _excluded(params: Params, k: int | None) -> str:
    """Return why values exclude each other, and what to write instead."""
    gain, ideal = params["gain"], params.get("ideal")
    binary = gain.word == "binary"
    if k is None and ideal == "full":
        return "ideal=full fills k ranks; write {label}@10"
    if binary and params["threshold"] != "none":
        return f"a binary gain has its own threshold; write gain=binary({params['threshold']})"
    if params["negative"] == "keep" and params["threshold"] != "none":
        return (
            f"threshold={params['threshold']} takes the gain of negative relevances away, which "
            "negative=keep keeps; leave one out"
        )
    if ideal == "full" and not binary:
        return (
            f"ideal=full means k relevant items, which a gain of {gain} does not define; "
            "add gain=binary"
        )
    if ideal == "retrieved" and not binary and params["ties"] == "average":
        return (
            f"ideal=retrieved with a gain of {gain} has no average over ties; "
            "add gain=binary, or ties=first"
        )
    return ""


def _excluded_in_ratio(params: Params, k: int | None) -> str:
    ties, gain = params["ties"], params["gain"]
    unknown = params["ideal"] == "retrieved" and gain.word != "binary" and ties in ("best", "worst")
    return _excluded(params, k) or unknown * (
        f"the {ties} order of ties is not known for ideal=retrieved with a gain of {gain}; "
        "add gain=binary, or ties=first"
    )


@metric(
    "dcg@k / idcg@k",
    f"{JARVELIN}; gain 2**rel - 1 and discount log2(i + 1) from Burges et al. 2005, "
    "doi:10.1145/1102351.1102363; "
    "average ties from McSherry and Najork 2008, doi:10.1007/978-3-540-78646-7_38",
    parameters=(*DISCOUNTED, IDEAL, *LISTS),
    fault=_excluded_in_ratio,
    fault_of_relevance=without_gain,
)
def ndcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Normalised discounted cumulative gain: the discounted gain as a share of that of the best
    order.

    nan where the best order has no gain.
    """
    judged = _of_best_order(lists, ks, params)
    if params["ideal"] == "retrieved":
        ratio = _against_retrieved(lists, ks, params, ratio=True)
    elif params["ideal"] == "full":
        ratio = _of_lists(lists, ks, params) / _of_full_lists(lists, ks, params)
    else:
        ratio = _of_lists(lists, ks, params)
        np.divide(ratio, judged, out=ratio, where=judged != 0)
    ratio[judged == 0] = np.nan
    return ratio


@metric(
    "sum over i <= k of (2**rel_i - 1) / log2(i + 1)",
    f"{JARVELIN}; Burges et al. 2005, doi:10.1145/1102351.1102363",
    parameters=(*DISCOUNTED, TIES, EMPTY, SHORT),
    range=(0.0, math.inf),
    fault=_excluded,
    fault_of_relevance=without_gain,
)
def dcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Discounted cumulative gain: the sum of the gains, each discounted by its rank."""
    return _of_lists(lists, ks, params)


@metric(
    "sum over i <= k of (2**rel_(i) - 1) / log2(i + 1), rel_(1) >= rel_(2) >= ...",
    JARVELIN,
    parameters=(*DISCOUNTED, IDEAL, TIES),
    range=(0.0, math.inf),
    fault=_excluded,
    fault_of_relevance=without_gain,
)
def idcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Ideal discounted cumulative gain: the dcg of the user's items in the best order."""
    if params["ideal"] == "retrieved":
        return _against_retrieved(lists, ks, params, ratio=False)
    if params["ideal"] == "full":
        return _of_full_lists(lists, ks, params)
    return _of_best_order(lists, ks, params)


def _of_lists(lists: Rankings, ks: Ints, params: Params) -> Floats:
    return accumulate(lists, gains(params, lists.relevance), _discounts(params), ks)


def _of_best_order(lists: Rankings, ks: Ints, params: Params) -> Floats:
    best = _in_order(lists, lists.pool_offsets, lists.pool)
    return _of_lists(best, np.minimum(ks, lists.longest), params)


def _of_full_lists(lists: Rankings, ks: Ints, params: Params) -> Floats:
    return np.tile(np.cumsum(rank_weights(_discounts(params), ks))[ks], (lists.n_users, 1))


def _in_order(lists: Rankings, offsets: Ints, relevance: Floats) -> Rankings:
    """Return lists of these relevances in this order, without ties or unjudged items."""
    ranks = np.arange(1, len(relevance) + 1, dtype=np.int32)
    ranks -= np.repeat(offsets[:-1].astype(np.int32), np.diff(offsets))
    return Rankings(offsets, relevance, ranks, ranks, ranks, lists.n_ranked, pool=relevance)


def _discounts(params: Params) -> Callable[[Floats], Floats]:
    """Return the weight of ranks: one over what a gain there is divided by."""
    base = params["base"].as_number or math.e
    divisors: dict[str, Callable[[Floats], Floats]] = {
        "log": lambda ranks: np.log2(ranks + 1) / math.log2(base),
        "jarvelin": lambda ranks: np.maximum(1.0, np.log2(ranks) / math.log2(base)),
        "reciprocal": lambda ranks: ranks,
        "none": np.ones_like,
    }
    return lambda ranks: 1.0 / divisors[params["discount"]](ranks)


def walk(loop: Callable[..., None], lists: Rankings, gains: Floats, ks: Ints, *more: Any) -> Floats:
    """Call a compiled loop for blocks of users; return its scores at each k, zeros at first."""
    entries = (lists.offsets, gains, lists.tie_low, lists.tie_high, ks)
    out = np.zeros((lists.n_users, len(ks)))
    each_block(lambda a, b: loop(entries, *more, a, b, out), lists.n_users, SMALLEST_BLOCK)
    return out


def rank_weights(form: Callable[[Floats], Floats], ks: Ints) -> Floats:
    """Return the weight of each rank from 0 (unused) to the greatest k."""
    return np.concatenate(([0.0], form(np.arange(1.0, int(ks.max()) + 1))))


def accumulate(
    lists: Rankings, gains: Floats, form: Callable[[Floats], Floats], ks: Ints
) -> Floats:
    """Return ``sum over i <= k of gain_i * form(i)``, expected over the orders of ties."""
    cuts = np.minimum(ks, lists.longest)
    weights = rank_weights(form, cuts)
    return walk(_accumulate, lists, gains, cuts, weights, np.cumsum(weights))


@kernel
def _accumulate(
    lists: Entries, weights: Floats, prefix: Floats, start: int, stop: int, out: Floats
) -> None:
    """Walk down each user's list, and note the running total at each cut.

    A tied group adds its mean gain times the weights of its ranks, as many as are inside a cut: an
    entry's expected weight is the mean weight of the ranks of its group, 0 beyond k. One running
    total per user makes a score independent of the other cuts.
    """
    offsets, gains, lows, highs, ks = lists
    n_k = len(ks)
    for user in range(start, stop):
        entry, end = offsets[user], offsets[user + 1]
        total, cut = 0.0, 0
        while entry < end and lows[entry] <= ks[n_k - 1]:
            low, high = lows[entry], highs[entry]
            while ks[cut] < low:
                out[user, cut] = total
                cut += 1
            gain = gains[entry]
            entry += 1
            if low == high:
                total += gain * weights[low]
                continue
            while entry < end and lows[entry] == low:
                gain += gains[entry]
                entry += 1
            mean = gain / (high - low + 1)
            while cut < n_k and ks[cut] < high:  # the group crosses this cut
                out[user, cut] = total + mean * (prefix[ks[cut]] - prefix[low - 1])
                cut += 1
            if cut == n_k:
                break
            total += mean * (prefix[high] - prefix[low - 1])
        for rest in range(cut, n_k):
            out[user, rest] = total


def _against_retrieved(lists: Rankings, ks: Ints, params: Params, *, ratio: bool) -> Floats:
    """Return ndcg, or idcg, against the best order of the items in the first k."""
    cuts = np.minimum(ks, lists.longest)
    if params["gain"].word == "binary":
        prefix = np.cumsum(rank_weights(_discounts(params), cuts))
        hits = gains(params, lists.relevance)
        return walk(_retrieved_binary, lists, hits, cuts, prefix, cut_rule(params), ratio)
    # Graded gains have no ties here: for each cut, sort what stands above it.
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    by_gain = np.lexsort((-gains(params, lists.relevance), owners))
    ideal = np.empty((lists.n_users, len(cuts)))
    for column, k in enumerate(cuts):
        inside = by_gain[lists.tie_low[by_gain] <= k]
        counts = np.bincount(owners[inside], minlength=lists.n_users)
        best = _in_order(lists, np.concatenate(([0], np.cumsum(counts))), lists.relevance[inside])
        ideal[:, column] = _of_lists(best, cuts[column : column + 1], params)[:, 0]
    if not ratio:
        return ideal
    found = _of_lists(lists, ks, params)
    return np.divide(found, ideal, out=np.zeros_like(ideal), where=ideal != 0.0)


@kernel
def _retrieved_binary(
    lists: Entries, prefix: Floats, rule: int, ratio: bool, start: int, stop: int, out: Floats
) -> None:
    """Gains of 0 and 1: the hits of the group that crosses k are hypergeometric.

    For the best and the worst order every possible number of them is tried. Writes the ratio to
    the best order of what is above k, or the dcg of that order.
    """
    offsets, gains, lows, highs, ks = lists
    for user in range(start, stop):
        for cut in range(len(ks)):
            k = ks[cut]
            hits, found = 0, 0.0  # in the groups that end by k
            crossing, low, n_tied, inside = 0, k + 1, 1, 0
            entry = offsets[user]
            while entry < offsets[user + 1] and lows[entry] <= k:
                # One type for ranks, so that what takes them is compiled once.
                low, high, r = int(np.int64(lows[entry])), int(np.int64(highs[entry])), 0
                while entry < offsets[user + 1] and lows[entry] == low:
                    r += gains[entry] > 0.0
                    entry += 1
                if high <= k:
                    hits += r
                    found += _weight_of(r, low, high, prefix, rule)
                else:
                    crossing, n_tied, inside = r, high - low + 1, k - low + 1
            if rule == AVERAGE:
                chances = hypergeometric(n_tied, crossing, inside)
                for x in range(len(chances)):
                    if hits + x > 0:
                        best = prefix[hits + x]
                        value = found + _weight_of(x, low, k, prefix, rule)
                        out[user, cut] += chances[x] * value / best if ratio else chances[x] * best
                continue
            least = max(0, inside - n_tied + crossing)
            most = min(crossing, inside)
            extreme = np.nan
            for x in range(least, most + 1):
                value = found + _weight_of(x, low, k, prefix, rule)
                value = value / prefix[hits + x] if hits + x > 0 else 0.0
                if not rule * value <= rule * extreme:
                    extreme = value
            ideal = prefix[hits + (most if rule == BEST else least)]
            out[user, cut] = extreme if ratio else ideal


@kernel
def _weight_of(n: int, low: int, high: int, prefix: Floats, rule: int) -> float:
    """Return the weight of n items at ranks low to high: on average, or at the first or last."""
    weight = 0.0
    if n > 0 and rule == BEST:
        weight = prefix[low - 1 + n] - prefix[low - 1]
    elif n > 0 and rule == WORST:
        weight = prefix[high] - prefix[high - n]
    elif n > 0:
        weight = n * ((prefix[high] - prefix[low - 1]) / (high - low + 1))
    return weight
