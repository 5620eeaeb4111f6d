"""dcg, idcg and ndcg: gains discounted by rank."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings, Ranks
from harness.metrics.definitions import EMPTY, SHORT, Parameter, Params, Value, metric, words
from harness.metrics.gain import GRADED, gains, without_gain
from harness.metrics.ties import AVERAGE, BEST, LISTS, TIES, WORST, cut_rule, hypergeometric

__all__ = ["accumulate", "dcg", "idcg", "ndcg", "rank_weights"]

SMALLEST_BLOCK = 2048

BASE = Parameter(
    "base",
    "base of the discount's logarithm, above 1, or e",
    Value("2"),
    words("e"),
    above=1.0,
    numeric=True,
)
DISCOUNT = Parameter(
    "discount",
    "what the gain at rank i is divided by: log(i + 1); Järvelin and Kekäläinen's max(1, log(i)) "
    "(with base 2 also LensKit's log2(max(i, 2))); i; or 1",
    Value("log"),
    words("log", "jarvelin", "reciprocal", "none"),
)
IDEAL = Parameter(
    "ideal",
    "the best list: all the user's judged items, cut at k; the judged items among the first k; or "
    "k relevant items for every user (the last needs a binary gain)",
    Value("judged"),
    words("judged", "retrieved", "full"),
)
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

    Examples
    --------
    >>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
    >>> round(ndcg(lists, 1).mean, 6), round(ndcg(lists, 2).mean, 6)
    (0.142857, 0.70981)
    """
    judged = _of_best_order(lists, ks, params)
    if params["ideal"] == "retrieved":
        ratio = _against_retrieved(lists, ks, params)[0]
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
    """Discounted cumulative gain: the sum of the gains, each discounted by its rank.

    Examples
    --------
    >>> lists = Rankings([0, 2], [3.0, 1.0], [1, 2], [1, 2], [1, 2], [2])
    >>> round(dcg(lists, 2).mean, 6)   # 7 + 1 / log2(3)
    7.63093
    """
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
    """Ideal discounted cumulative gain: the dcg of the user's items in the best order.

    Examples
    --------
    >>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
    >>> round(idcg(lists, 2).mean, 6)
    7.63093
    """
    if params["ideal"] == "retrieved":
        return _against_retrieved(lists, ks, params)[1]
    if params["ideal"] == "full":
        return _of_full_lists(lists, ks, params)
    return _of_best_order(lists, ks, params)


def _of_lists(lists: Rankings, ks: Ints, params: Params) -> Floats:
    cuts = np.minimum(ks, lists.longest)
    return accumulate(lists, gains(params, lists.relevance), _weights(params, cuts), cuts)


def _of_best_order(lists: Rankings, ks: Ints, params: Params) -> Floats:
    cuts = np.minimum(ks, lists.longest)
    best = gains(params, lists.pool)
    return _accumulate_ordered(lists.pool_offsets, best, _weights(params, cuts), cuts)


def _of_full_lists(lists: Rankings, ks: Ints, params: Params) -> Floats:
    return np.tile(np.cumsum(_weights(params, ks))[ks], (lists.n_users, 1))


def _weights(params: Params, ks: Ints) -> Floats:
    """Return 1 / discount of each rank."""
    base = params["base"].as_number or math.e
    forms: dict[str, Callable[[Floats], Floats]] = {
        "log": lambda ranks: np.log2(ranks + 1) / math.log2(base),
        "jarvelin": lambda ranks: np.maximum(1.0, np.log2(ranks) / math.log2(base)),
        "reciprocal": lambda ranks: ranks,
        "none": np.ones_like,
    }
    return rank_weights(ks, lambda ranks: 1.0 / forms[params["discount"]](ranks))


def rank_weights(ks: Ints, form: Callable[[Floats], Floats]) -> Floats:
    """Return the weight of each rank from 0 (unused) to the greatest k.

    Examples
    --------
    >>> rank_weights(np.array([3]), lambda ranks: 1 / ranks).round(4)
    array([0.    , 1.    , 0.5   , 0.3333])
    """
    return np.concatenate(([0.0], form(np.arange(1.0, int(ks.max()) + 1))))


def accumulate(lists: Rankings, gains: Floats, weights: Floats, ks: Ints) -> Floats:
    """Return ``sum over i <= k of gain_i * weight(i)``, expected over the orders of ties.

    Parameters
    ----------
    lists : Rankings
    gains : ndarray of float64, shape (n_entries,)
    weights : ndarray of float64, shape (greatest k + 1,)
        As `rank_weights` returns them.
    ks : ndarray of int64, shape (n_k,)
        Rising.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)
    """
    return _accumulate_groups(lists.offsets, gains, lists.tie_low, lists.tie_high, weights, ks)


def _accumulate_ordered(offsets: Ints, gains: Floats, weights: Floats, ks: Ints) -> Floats:
    """Do what `accumulate` does for lists in this order, without ties or unjudged items."""
    ranks = np.arange(1, len(gains) + 1, dtype=np.int32)
    ranks -= np.repeat(offsets[:-1].astype(np.int32), np.diff(offsets))
    return _accumulate_groups(offsets, gains, ranks, ranks, weights, ks)


def _accumulate_groups(
    offsets: Ints, gains: Floats, low: Ranks, high: Ranks, weights: Floats, ks: Ints
) -> Floats:
    prefix = np.cumsum(weights)
    out = np.zeros((len(offsets) - 1, len(ks)))
    each_block(
        lambda a, b: _accumulate(offsets, gains, low, high, weights, prefix, ks, a, b, out),
        len(out),
        SMALLEST_BLOCK,
    )
    return out


@kernel
def _accumulate(
    offsets: Ints,
    gains: Floats,
    lows: Ranks,
    highs: Ranks,
    weights: Floats,
    prefix: Floats,
    ks: Ints,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Walk down each user's list, and note the running total at each cut.

    A tied group adds its mean gain times the weights of its ranks, as many as are inside a cut: an
    entry's expected weight is the mean weight of the ranks of its group, 0 beyond k. One running
    total per user makes a score independent of the other cuts.
    """
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


def _against_retrieved(lists: Rankings, ks: Ints, params: Params) -> tuple[Floats, Floats]:
    """Return ndcg and idcg against the best order of the items in the first k."""
    cuts = np.minimum(ks, lists.longest)
    weights, of_entries = _weights(params, cuts), gains(params, lists.relevance)
    if params["gain"].word != "binary":
        found = accumulate(lists, of_entries, weights, cuts)
        ideal = _graded_ideal(lists, of_entries, weights, cuts)
        return np.divide(found, ideal, out=np.zeros_like(ideal), where=ideal != 0.0), ideal
    prefix, rule = np.cumsum(weights), cut_rule(params)
    entries = (lists.offsets, of_entries, lists.tie_low, lists.tie_high)
    ratio, ideal = np.zeros((2, lists.n_users, len(ks)))
    each_block(
        lambda a, b: _retrieved_binary(*entries, prefix, cuts, rule, a, b, ratio, ideal),
        lists.n_users,
        SMALLEST_BLOCK,
    )
    return ratio, ideal


def _graded_ideal(lists: Rankings, gains: Floats, weights: Floats, ks: Ints) -> Floats:
    """Return the dcg of the best order of the items in the first k, without ties."""
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    by_gain = np.lexsort((-gains, owners))
    ideal = np.empty((lists.n_users, len(ks)))
    for column, k in enumerate(ks):
        inside = by_gain[lists.tie_low[by_gain] <= k]
        counts = np.bincount(owners[inside], minlength=lists.n_users)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        cut = ks[column : column + 1]
        ideal[:, column] = _accumulate_ordered(offsets, gains[inside], weights, cut)[:, 0]
    return ideal


@kernel
def _retrieved_binary(
    offsets: Ints,
    gains: Floats,
    lows: Ranks,
    highs: Ranks,
    prefix: Floats,
    ks: Ints,
    rule: int,
    start: int,
    stop: int,
    ratio: Floats,
    ideal: Floats,
) -> None:
    """Gains of 0 and 1: the hits of the group that crosses k are hypergeometric.

    For the best and the worst order every possible number of them is tried.
    """
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
                        ideal[user, cut] += chances[x] * best
                        weight = _weight_of(x, low, k, prefix, rule)
                        ratio[user, cut] += chances[x] * (found + weight) / best
                continue
            least = max(0, inside - n_tied + crossing)
            most = min(crossing, inside)
            ideal[user, cut] = prefix[hits + (most if rule == BEST else least)]
            extreme = np.nan
            for x in range(least, most + 1):
                value = found + _weight_of(x, low, k, prefix, rule)
                value = value / prefix[hits + x] if hits + x > 0 else 0.0
                if not rule * value <= rule * extreme:
                    extreme = value
            ratio[user, cut] = extreme


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
