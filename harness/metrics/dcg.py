"""ndcg, and what metrics of gains that are discounted by rank have in common.

>>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
>>> round(ndcg(lists, 2).mean, 4)   # (1 + 7 / log2(3)) / (7 + 1 / log2(3))
0.7098
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from harness._util.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings, Ranks
from harness.metrics.definition import metric
from harness.metrics.gains import GRADED, Gains, gain_of, gains, without_gain
from harness.metrics.parameters import (
    EMPTY,
    LISTS,
    SHORT,
    TIES,
    WEIGHTED,
    Parameter,
    Params,
    number,
    words,
)
from harness.metrics.ties import AVERAGE, BEST, WORST, cut_rule, hypergeometric
from harness.metrics.weights import filled

BASE = Parameter(
    "base",
    "base of the discount's logarithm, above 1, or e",
    words("e"),
    (1.0, math.inf),
    default="2",
)
DISCOUNT = Parameter(
    "discount",
    "what the gain at rank i is divided by: log(i + 1); Järvelin and Kekäläinen's max(1, log(i)) "
    "(with base 2 also LensKit's log2(max(i, 2))); i; or 1",
    words("log", "jarvelin", "reciprocal", "none"),
)
IDEAL = Parameter(
    "ideal",
    "the best list: all the user's judged items, cut at k; the judged items among the first k; or "
    "k relevant items for every user (the last needs a binary gain)",
    words("judged", "retrieved", "full"),
)
SMALLEST_BLOCK = 2048
_DIVISORS: dict[str, Callable[[Floats, float], Floats]] = {
    "log": lambda ranks, unit: np.log2(ranks + 1) / unit,
    "jarvelin": lambda ranks, unit: np.maximum(1.0, np.log2(ranks) / unit),
    "reciprocal": lambda ranks, unit: ranks,
    "none": lambda ranks, unit: np.ones_like(ranks),
}
"""By discount, what gains are divided by, from ranks and the logarithm of the base."""

Form = Callable[[Floats], Floats]
"""From ranks to their weights."""
Entries = tuple[Ints, Gains, Ranks, Ranks, Ints, Floats, Floats]
"""Ranked lists as compiled loops take them: offsets, gains, first and last rank of ties, ks, the
weight of each rank from 0 (unused) to the greatest k, and the sum of the weights up to each."""

DISCOUNTED = (*GRADED, BASE, DISCOUNT)
JARVELIN = "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418"


def excluded(params: Params, k: int | None) -> str:
    """Return why values exclude each other, and what to write instead."""
    gain, ideal = params["gain"], params.get("ideal")
    binary = gain.word == "binary"
    if k is None and ideal == "full":
        return "ideal=full fills k ranks; write {label}@10"
    if binary and params["threshold"] != "none":
        return f"a binary gain has its own threshold; write gain=binary({params['threshold']})"
    if binary and params["offset"] != "0":
        least = (*gain.numbers, 0.0)[0] + float(params["offset"])
        return f"a binary gain has no offset; move its threshold, as gain=binary({number(least)})"
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
    fault, ties, gain = excluded(params, k), params["ties"], params["gain"]
    graded = params["ideal"] == "retrieved" and gain.word != "binary"
    if not fault and graded and ties in ("best", "worst"):
        return (
            f"the {ties} order of ties is not known for ideal=retrieved with a gain of {gain}; "
            "add gain=binary, or ties=first"
        )
    return fault


@metric(
    "dcg@k / idcg@k",
    f"{JARVELIN}; gain 2**rel - 1 and discount log2(i + 1) from Burges et al. 2005, "
    "doi:10.1145/1102351.1102363; "
    "average ties from McSherry and Najork 2008, doi:10.1007/978-3-540-78646-7_38",
    parameters=(*DISCOUNTED, IDEAL, *LISTS, *WEIGHTED),
    fault=_excluded_in_ratio,
    fault_of_relevance=without_gain,
)
def ndcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Normalised discounted cumulative gain: the discounted gain as a share of that of the best
    order.

    nan where the best order has no gain.
    """
    judged = of_best_order(lists, ks, params)
    if params["ideal"] == "retrieved":
        ratio = against_retrieved(lists, ks, params, ratio=True)
    elif params["ideal"] == "full":
        ratio = of_lists(lists, ks, params) / of_full_lists(lists, ks, params)
    else:
        ratio = of_lists(lists, ks, params)
        np.divide(ratio, judged, out=ratio, where=judged != 0)
    ratio[judged == 0] = np.nan
    return ratio


def of_lists(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Return the dcg of the lists at each k."""
    gained = gains(params, lists.relevance, lists.weights)
    return walk(_accumulate, lists, gained, _discounts(params), ks)


def of_best_order(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Return the dcg at each k of what a user judged, in the best order."""
    if lists.pool_weights is not None:
        return filled(lists, gains(params, lists.pool), rank_weights(_discounts(params), ks), ks)
    pools, gained = Ordered(lists.pool_offsets), gains(params, lists.pool)
    return walk(_accumulate, pools, gained, _discounts(params), ks)


def of_full_lists(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Return the dcg at each k of lists in which every item is relevant."""
    return np.tile(np.cumsum(rank_weights(_discounts(params), ks))[ks], (lists.n_users, 1))


def _discounts(params: Params) -> Form:
    """Return the weight of ranks: one over what a gain there is divided by."""
    unit = math.log2(params["base"].as_number or math.e)
    divisor = _DIVISORS[params["discount"]]
    return lambda ranks: 1.0 / divisor(ranks, unit)


class Ordered(NamedTuple):
    """Lists without ties or unjudged items: their entries have the ranks 1, 2, 3, ..."""

    offsets: Ints
    tie_low: Ranks = np.empty(0, dtype=np.int32)
    tie_high: Ranks = np.empty(0, dtype=np.int32)

    @property
    def longest(self) -> int:
        """The length of the longest list, at least 1."""
        return int(np.diff(self.offsets).max(initial=1))


def walk(
    loop: Callable[..., None],
    lists: Rankings | Ordered,
    gains: Gains,
    form: Form,
    ks: Ints,
    *more: object,
) -> Floats:
    """Run a compiled loop over the lists, a block of users at a time; return users by ks."""
    ks = np.minimum(ks, lists.longest)
    weights, n_users = rank_weights(form, ks), len(lists.offsets) - 1
    ranked = (lists.offsets, gains, lists.tie_low, lists.tie_high)
    entries = (*ranked, ks, weights, np.cumsum(weights))
    out = np.zeros((n_users, len(ks)))
    each_block(lambda a, b: loop(entries, *more, a, b, out), n_users, SMALLEST_BLOCK)
    return out


def rank_weights(form: Form, ks: Ints) -> Floats:
    """Return the weight of each rank from 0 (unused) to the greatest k."""
    return np.concatenate(([0.0], form(np.arange(1.0, int(ks.max()) + 1))))


def accumulate(lists: Rankings, gains: Gains, form: Form, ks: Ints) -> Floats:
    """Return ``sum over i <= k of gain_i * form(i)``, expected over the orders of ties."""
    return walk(_accumulate, lists, gains, form, ks)


@kernel
def _accumulate(lists: Entries, start: int, stop: int, out: Floats) -> None:
    """Walk down each user's list, and note the running total at each cut.

    A tied group adds its mean gain times the weights of its ranks, as many as are inside a cut: an
    entry's expected weight is the mean weight of the ranks of its group, 0 beyond k. One running
    total per user makes a score independent of the other cuts. Without `lows`, the entries of a
    user have the ranks 1, 2, 3, ...
    """
    offsets, (relevance, form, least), lows, highs, ks, weights, prefix = lists
    n_k, untied = len(ks), len(lows) == 0
    for user in range(start, stop):
        entry, end = offsets[user], offsets[user + 1]
        total, cut, rank = 0.0, 0, 0
        while untied and cut < n_k:
            while rank < ks[cut] and entry < end:
                rank += 1
                total += gain_of(relevance[entry], form, least) * weights[rank]
                entry += 1
            out[user, cut] = total
            cut += 1
        while cut < n_k and entry < end and lows[entry] <= ks[n_k - 1]:
            low, high = lows[entry], highs[entry]
            while ks[cut] < low:
                out[user, cut] = total
                cut += 1
            gain = gain_of(relevance[entry], form, least)
            entry += 1
            if low == high:
                total += gain * weights[low]
                continue
            while entry < end and lows[entry] == low:
                gain += gain_of(relevance[entry], form, least)
                entry += 1
            mean = gain / (high - low + 1)
            while cut < n_k and ks[cut] < high:  # the group crosses this cut
                out[user, cut] = total + mean * (prefix[ks[cut]] - prefix[low - 1])
                cut += 1
            if cut < n_k:  # else `high` is beyond the last cut
                total += mean * (prefix[high] - prefix[low - 1])
        for rest in range(cut, n_k):
            out[user, rest] = total


def against_retrieved(lists: Rankings, ks: Ints, params: Params, *, ratio: bool) -> Floats:
    """Return ndcg, or idcg, against the best order of the items in the first k."""
    gained, ways = gains(params, lists.relevance), (cut_rule(params), ratio)
    if params["gain"].word == "binary":
        chances = np.empty(len(lists.relevance) + lists.n_users)
        return walk(retrieved_binary, lists, gained, _discounts(params), ks, *ways, chances)
    # Graded gains have no ties here: for each cut, sort what stands above it.
    relevance, *form = gained
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    by_gain = np.lexsort((-relevance, owners))
    ideal = np.empty((lists.n_users, len(ks)))
    for column, k in enumerate(ks):
        inside = by_gain[lists.tie_low[by_gain] <= k]
        counts = np.bincount(owners[inside], minlength=lists.n_users)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        best = (relevance[inside], *form)
        cut = ks[column : column + 1]
        ideal[:, column] = walk(_accumulate, Ordered(offsets), best, _discounts(params), cut)[:, 0]
    if not ratio:
        return ideal
    ours = of_lists(lists, ks, params)
    return np.divide(ours, ideal, out=np.zeros_like(ideal), where=ideal != 0.0)


@metric(
    "sum over i <= k of (2**rel_i - 1) / log2(i + 1)",
    f"{JARVELIN}; Burges et al. 2005, doi:10.1145/1102351.1102363",
    parameters=(*DISCOUNTED, TIES, EMPTY, SHORT, *WEIGHTED),
    range=(0.0, math.inf),
    fault=excluded,
    fault_of_relevance=without_gain,
)
def dcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Discounted cumulative gain: the sum of the gains, each discounted by its rank."""
    scores = of_lists(lists, ks, params)
    empty = lists.n_ranked == 0
    if params["empty"] == "1" and empty.any():  # of users who have relevant items
        scores[empty & ~of_best_order(lists, ks, params).any(axis=1)] = np.nan
    return scores


@metric(
    "sum over i <= k of (2**rel_(i) - 1) / log2(i + 1), rel_(1) >= rel_(2) >= ...",
    JARVELIN,
    parameters=(*DISCOUNTED, IDEAL, TIES, *WEIGHTED),
    range=(0.0, math.inf),
    fault=excluded,
    fault_of_relevance=without_gain,
)
def idcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Ideal discounted cumulative gain: the dcg of the user's items in the best order."""
    if params["ideal"] == "retrieved":
        return against_retrieved(lists, ks, params, ratio=False)
    if params["ideal"] == "full":
        return of_full_lists(lists, ks, params)
    return of_best_order(lists, ks, params)


@kernel
def retrieved_binary(
    lists: Entries, rule: int, ratio: bool, chances: Floats, start: int, stop: int, out: Floats
) -> None:
    """Gains of 0 and 1: the hits of the group that crosses k are hypergeometric.

    For the best and the worst order every possible number of them is tried. Writes the ratio to
    the best order of what is above k, or the dcg of that order.
    """
    offsets, (relevance, form, least), lows, highs, ks, _, prefix = lists
    for user in range(start, stop):
        place = offsets[user] + user  # the user's place in `chances`
        for cut in range(len(ks)):
            k = ks[cut]
            hits, expected = 0, 0.0  # in the groups that end by k
            crossing, low, n_tied, inside = 0, k + 1, 1, 0
            entry = offsets[user]
            while entry < offsets[user + 1] and lows[entry] <= k:
                # One type for ranks, so that what takes them is compiled once.
                low, high, r = int(np.int64(lows[entry])), int(np.int64(highs[entry])), 0
                while entry < offsets[user + 1] and lows[entry] == low:
                    r += gain_of(relevance[entry], form, least) > 0.0
                    entry += 1
                if high <= k:
                    hits += r
                    expected += _weight_of(r, low, high, prefix, rule)
                else:
                    crossing, n_tied, inside = r, high - low + 1, k - low + 1
            fewest, most = hypergeometric(n_tied, crossing, inside, place, chances)
            extreme = np.nan
            for x in range(fewest, most + 1):
                best = prefix[hits + x]
                chance = chances[place + x] if rule == AVERAGE else 1.0
                value = chance * (expected + _weight_of(x, low, k, prefix, rule))
                value = value / best if hits + x > 0 else 0.0
                if rule == AVERAGE:
                    out[user, cut] += value if ratio else chance * best
                elif not rule * value <= rule * extreme:
                    extreme = value
            if rule != AVERAGE:
                ideal = prefix[hits + (most if rule == BEST else fewest)]
                out[user, cut] = extreme if ratio else ideal


@kernel
def _weight_of(n: int, low: int, high: int, prefix: Floats, rule: int) -> float:
    """Return the weight of n items at ranks low to high: on average, or at the first or last."""
    if n == 0:
        return 0.0
    before = high - n if rule == WORST else low - 1
    weight = prefix[low - 1 + n if rule == BEST else high] - prefix[before]
    return float(n * (weight / (high - low + 1)) if rule == AVERAGE else weight)
