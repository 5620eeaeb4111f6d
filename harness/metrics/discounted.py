"""dcg, idcg and ndcg: gains discounted by rank."""

from __future__ import annotations

import math

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.grammar import Value
from harness.metrics.ties import (
    AVERAGE,
    BEST,
    SMALLEST_BLOCK,
    WORST,
    Settled,
    hypergeometric,
    settle,
    settle_by_value,
)
from harness.metrics.worth import Worth, make_worth, worth_of

__all__ = ["accumulate", "discount_weights", "score_dcg", "score_idcg", "score_ndcg"]


def score_dcg(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return dcg at each k: ``sum over i <= k of gain(rel_i) * weight(i)``.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [3.0, 1.0], [1, 2], [1, 2], [1, 2], [2])
    >>> score_dcg(parse("dcg").params, np.array([1, 2]), lists, "dcg")   # 7 and 7 + 1 / log2(3)
    array([[7.        , 7.63092975]])
    """
    worth = make_worth(params, rankings.pool, label)
    cuts = np.minimum(ks, rankings.longest)
    settled = settle(rankings, params)
    return accumulate(settled, worth, discount_weights(params, cuts), cuts)


def score_idcg(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return the dcg of the best order at each k, as ``ideal`` defines it.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
    >>> score_idcg(parse("idcg").params, np.array([1, 2]), lists, "idcg")
    array([[7.        , 7.63092975]])
    """
    worth = make_worth(params, rankings.pool, label)
    ideal = params["ideal"].word
    if ideal == "full":
        return np.tile(np.cumsum(discount_weights(params, ks))[ks], (rankings.n_users, 1))
    cuts = np.minimum(ks, rankings.longest)
    weights = discount_weights(params, cuts)
    if ideal == "retrieved":
        return _split_retrieved(rankings, params, worth, weights, cuts)[1]
    return accumulate(_in_order(rankings.pool_offsets, rankings.pool), worth, weights, cuts)


def score_ndcg(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return dcg / idcg at each k, nan where the ideal is 0.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
    >>> score_ndcg(parse("ndcg").params, np.array([1, 2]), lists, "ndcg").round(6)
    array([[0.142857, 0.70981 ]])
    """
    if params["ideal"].word == "retrieved":
        cuts = np.minimum(ks, rankings.longest)
        worth, weights = make_worth(params, rankings.pool, label), discount_weights(params, cuts)
        ratio = _split_retrieved(rankings, params, worth, weights, cuts)[0]
        nothing = score_idcg(params | {"ideal": Value("judged")}, ks, rankings, label) == 0
        return np.where(nothing, np.nan, ratio)
    found = score_dcg(params, ks, rankings, label)
    ideal = score_idcg(params, ks, rankings, label)
    if params["ideal"].word == "full":
        judged = score_idcg(params | {"ideal": Value("judged")}, ks, rankings, label)
        ideal[judged == 0] = 0.0
    ideal[ideal == 0] = np.nan
    found /= ideal
    return found


def discount_weights(params: dict[str, Value], ks: Ints) -> Floats:
    """Return the weight of each rank from 0 (unused) to the greatest k.

    Examples
    --------
    >>> from harness.metrics.labels import parse
    >>> discount_weights(parse("dcg").params, np.array([3])).round(4)
    array([0.    , 1.    , 0.6309, 0.5   ])
    >>> discount_weights(parse("dcg(discount=jarvelin)").params, np.array([3])).round(4)
    array([0.    , 1.    , 1.    , 0.6309])
    """
    ranks = np.arange(1, int(ks.max()) + 1, dtype=np.float64)
    base = params["base"].as_number or math.e
    form = params["discount"].word
    if form == "log":
        divisor = np.log2(ranks + 1) / math.log2(base)
    elif form == "jarvelin":
        divisor = np.maximum(1.0, np.log2(ranks) / math.log2(base))
    else:
        divisor = ranks if form == "reciprocal" else np.ones_like(ranks)
    return np.concatenate(([0.0], 1.0 / divisor))


def accumulate(settled: Settled, worth: Worth, weights: Floats, ks: Ints) -> Floats:
    """Return ``sum over i <= k of gain_i * weight(i)``, expected over the orders of ties.

    The expected weight of an entry is the mean weight of the ranks of its group, 0 beyond k.

    Parameters
    ----------
    settled : Settled
    worth : Worth
    weights : ndarray of float64, shape (greatest k + 1,)
        By rank; index 0 is unused.
    ks : ndarray of int64, shape (n_k,)
        Rising.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)
    """
    n_users = len(settled.offsets) - 1
    prefix = np.cumsum(weights)
    out = np.zeros((n_users, len(ks)))
    each_block(
        lambda a, b: _accumulate(settled, worth, weights, prefix, ks, a, b, out),
        n_users,
        SMALLEST_BLOCK,
    )
    return out


@kernel
def _accumulate(
    settled: Settled,
    worth: Worth,
    weights: Floats,
    prefix: Floats,
    ks: Ints,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Walk down each user's list, and note the running total at each cut.

    A tied group adds its mean gain times the weights of its ranks, as many as are inside a cut. One
    running total per user makes a score independent of the other cuts.
    """
    offsets, relevance, lows, highs = settled
    n_k = len(ks)
    for user in range(start, stop):
        entry, end = offsets[user], offsets[user + 1]
        total, cut = 0.0, 0
        while entry < end and lows[entry] <= ks[n_k - 1]:
            low, high = lows[entry], highs[entry]
            while ks[cut] < low:
                out[user, cut] = total
                cut += 1
            gains = worth_of(relevance[entry], worth)
            entry += 1
            if low == high:
                total += gains * weights[low]
                continue
            while entry < end and lows[entry] == low:
                gains += worth_of(relevance[entry], worth)
                entry += 1
            mean = gains / (high - low + 1)
            while cut < n_k and ks[cut] < high:  # the group crosses this cut
                out[user, cut] = total + mean * (prefix[ks[cut]] - prefix[low - 1])
                cut += 1
            if cut == n_k:
                break
            total += mean * (prefix[high] - prefix[low - 1])
        for rest in range(cut, n_k):
            out[user, rest] = total


def _in_order(offsets: Ints, relevance: Floats) -> Settled:
    """Return lists of these relevances, in this order and without ties."""
    ranks = np.arange(1, len(relevance) + 1, dtype=np.int32)
    ranks -= np.repeat(offsets[:-1].astype(np.int32), np.diff(offsets))
    return Settled(offsets, relevance, ranks, ranks)


def _split_retrieved(
    rankings: Rankings, params: dict[str, Value], worth: Worth, weights: Floats, ks: Ints
) -> tuple[Floats, Floats]:
    """Return ndcg and idcg against the best order of the items in the first k."""
    if params["gain"].word != "binary":
        settled = settle(rankings, params)
        found = accumulate(settled, worth, weights, ks)
        ideal = _graded_ideal(settled, worth, weights, ks)
        return np.divide(found, ideal, out=np.zeros_like(ideal), where=ideal != 0.0), ideal
    prefix = np.cumsum(weights)
    ratio, ideal = np.zeros((2, rankings.n_users, len(ks)))
    settled, rule = settle_by_value(rankings, params)
    each_block(
        lambda a, b: _retrieved_binary(settled, worth, prefix, ks, rule, a, b, ratio, ideal),
        rankings.n_users,
        SMALLEST_BLOCK,
    )
    return ratio, ideal


def _graded_ideal(settled: Settled, worth: Worth, weights: Floats, ks: Ints) -> Floats:
    """Return the dcg of the best order of the items in the first k, without ties."""
    n_users = len(settled.offsets) - 1
    owners = np.repeat(np.arange(n_users), np.diff(settled.offsets))
    grades, codes = np.unique(settled.relevance, return_inverse=True)
    gains = np.array([worth_of(grade, worth) for grade in grades])
    by_gain = np.lexsort((-gains[codes], owners))
    ideal = np.empty((n_users, len(ks)))
    for column, k in enumerate(ks):
        inside = by_gain[settled.low[by_gain] <= k]
        counts = np.bincount(owners[inside], minlength=n_users)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        best = _in_order(offsets, settled.relevance[inside])
        ideal[:, column] = accumulate(best, worth, weights, ks[column : column + 1])[:, 0]
    return ideal


@kernel
def _retrieved_binary(
    settled: Settled,
    worth: Worth,
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
    offsets, relevance, lows, highs = settled
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
                    r += worth_of(relevance[entry], worth) > 0.0
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
