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
from numpy.typing import NDArray

from harness._util.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings, Ranks
from harness.metrics.definition import metric
from harness.metrics.gains import GRADED, LINEAR, Gains, gain_of, gains, without_gain
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
from harness.metrics.ties import AVERAGE, BEST, WORST, cut_rule
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
USERS_AT_ONCE = 1 << 14
MOST_CHANCES = 1 << 20  # that are in memory for each thread
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
        moved = f"gain=binary({number(least)})"
        return f"a binary gain has no offset; move its threshold, such as {moved}"
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
    ideal, gain, ties = (params[name] for name in ("ideal", "gain", "ties"))
    if ideal != "retrieved" or gain.word == "binary" or ties not in ("best", "worst"):
        return excluded(params, k)
    return excluded(params, k) or (
        f"the {ties} order of ties is not known for ideal=retrieved with a gain of {gain}; "
        "add gain=binary, or ties=first"
    )


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
    """Normalised discounted cumulative gain: the discounted gain divided by the discounted gain
    of the best order.

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
    pools, gained = Ordered(lists.pool_offsets, lists.longest), gains(params, lists.pool)
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
    longest: int
    """At least the length of the longest list: a cut beyond it changes nothing."""
    tie_low: Ranks = np.empty(0, dtype=np.int32)
    tie_high: Ranks = np.empty(0, dtype=np.int32)


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
    entries = (lists.offsets, gains, lists.tie_low, lists.tie_high, ks, weights, np.cumsum(weights))
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
        return walk(retrieved_binary, lists, gained, _discounts(params), ks, *ways)
    # Graded gains have no ties here: for each cut, sort what stands above it.
    relevance, *form = gained
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    by_gain = np.lexsort((-relevance, owners))
    ideal = np.empty((lists.n_users, len(ks)))
    for column, k in enumerate(ks):
        inside = by_gain[lists.tie_low[by_gain] <= k]
        counts = np.bincount(owners[inside], minlength=lists.n_users)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        best, ordered = (relevance[inside], *form), Ordered(offsets, lists.longest)
        cut = ks[column : column + 1]
        ideal[:, column] = walk(_accumulate, ordered, best, _discounts(params), cut)[:, 0]
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


def retrieved_binary(
    lists: Entries, rule: int, ratio: bool, start: int, stop: int, out: Floats
) -> None:
    """Gains of 0 and 1: the hits of the group that crosses k are hypergeometric.

    For the best and the worst order every possible number of them is tried. Writes the ratio to
    the best order of what is above k, or the dcg of that order.
    """
    for first in range(start, stop, USERS_AT_ONCE):
        last = min(first + USERS_AT_ONCE, stop)
        _retrieved(lists, rule, ratio, first, last, out[first:last])


# Not compiled: a loop would take 0.8 s to compile in a first run, and is not much faster. Only
# groups with a hit count; what those that end by k add up to is found by a loop that is there.
def _retrieved(lists: Entries, rule: int, ratio: bool, start: int, stop: int, out: Floats) -> None:
    """Write the values of a block of users, from sums over their groups of equal estimates."""
    offsets, (relevance, _, least), lows, highs, ks, _, prefix = lists
    block, edges = slice(offsets[start], offsets[stop]), offsets[start : stop + 1] - offsets[start]
    is_hit = (relevance[block] >= least) & (lows[block] <= ks.max())
    edges = _sums_before(is_hit)[edges]
    hit = np.flatnonzero(is_hit)
    low, ends = lows[block][hit], highs[block][hit]
    owners = np.repeat(np.arange(stop - start), np.diff(edges))
    begins = (np.diff(owners, prepend=-1) != 0) | (np.diff(low, prepend=0) != 0)
    if begins.all():  # no group has two hits
        r, owned = np.ones(len(hit), np.int64), edges
    else:
        first = np.flatnonzero(begins)
        r, owned = np.diff(first, append=len(hit)), _sums_before(begins)[edges]
        low, ends = low[first], ends[first]
    high, once = np.minimum(ends, len(prefix) - 1), np.ones(len(prefix))
    weights = _weight_of(np.minimum(r, high - low + 1), low, high, prefix, rule)
    groups = owned, (weights, LINEAR, -np.inf), ends, ends, ks, once, once
    _accumulate(groups, 0, stop - start, out)
    for column, k in enumerate(ks):
        expected, hits = out[:, column].copy(), np.diff(_sums_before(r * (ends <= k))[owned])
        out[:, column] = prefix[hits]
        if ratio:  # 0 where nothing is relevant
            np.divide(expected, prefix[hits], out=out[:, column], where=hits > 0)
        crossing = np.flatnonzero((low <= k) & (ends > k))
        at_once = max(1, MOST_CHANCES // (int(k) + 1))
        for begin in range(0, len(crossing), at_once):
            some = crossing[begin : begin + at_once]
            users = np.searchsorted(owned, some, side="right") - 1
            above = hits[users], expected[users]
            group = [each[some].astype(np.int64) for each in (r, low, ends)]
            out[users, column] = _where_crossed(above, group, int(k), prefix, rule, ratio)


def _sums_before(values: NDArray[np.bool_] | Ints) -> Ints:
    """Return the sum of what is before each place, and before the end."""
    return np.concatenate(([0], np.cumsum(values)))


def _where_crossed(
    above: tuple[Ints, Floats], group: list[Ints], k: int, prefix: Floats, rule: int, ratio: bool
) -> Floats:
    """Return the values of lists of which a group crosses k, from hits and dcg of those above."""
    (hits, expected), (r, low, high) = above, group
    n, t = high - low + 1, k - low + 1
    least, most = np.maximum(t - (n - r), 0), np.minimum(r, t)
    if rule != AVERAGE and not ratio:
        ideal: Floats = prefix[hits + (most if rule == BEST else least)]
        return ideal
    value = np.full(len(r), 0.0 if rule == AVERAGE else np.nan)

    def gained(x: Ints, chance: Floats | float) -> Floats:
        best: Floats = prefix[np.clip(hits + x, 0, k)]  # beyond, the chance is 0
        if not ratio:
            return np.multiply(chance, best)
        sums = chance * (expected + _weight_of(x, low, k, prefix, rule))
        np.divide(sums, best, out=sums, where=best > 0.0)
        sums[best == 0.0] = 0.0
        return sums

    if rule == AVERAGE:
        first, chances = _chances_of_hits(n, r, t, least, most)
        for step, chance in enumerate(chances):
            value += gained(first + step, chance)
        return value
    extreme = np.fmax if rule == BEST else np.fmin
    for step in range(int((most - least).max()) + 1):
        value = extreme(value, gained(np.minimum(least + step, most), 1.0))
    return value


def _chances_of_hits(n: Ints, r: Ints, t: Ints, least: Ints, most: Ints) -> tuple[Ints, Floats]:
    """Return how likely t items drawn from n, of which r are relevant, hold some of these.

    The least number of them, and one row of probabilities for each number from it on; 0 for what is
    impossible. Each follows from its neighbour, from the most probable outwards, so that no digits
    are lost.
    """
    mode = np.clip((t + 1) * (r + 1) // (n + 2), least, most)
    middle, n_above = int((mode - least).max()), int((most - mode).max())
    p = np.zeros((middle + n_above + 1, len(n)))
    p[middle] = 1.0
    for row in range(middle, middle + n_above):
        x = mode + (row - middle)
        p[row + 1] = p[row] * (r - x) * (t - x) / ((x + 1.0) * (n - r - t + x + 1))
    for row in range(middle, 0, -1):
        x = mode + (row - middle)
        p[row - 1] = p[row] * x * (n - r - t + x) / ((r - x + 1.0) * (t - x + 1))
    total = np.zeros(len(n))
    for chances in p:
        total += chances
    p /= total
    return mode - middle, p


def _weight_of(
    n: Ints, low: Ints | Ranks, high: Ints | Ranks | int, prefix: Floats, rule: int
) -> Floats:
    """Return the weight of n items at ranks low to high: on average, or at the first or last."""
    if rule == AVERAGE:
        mean: Floats = (prefix[high] - prefix[low - 1]) / (high - low + 1)
        return n * mean
    first = high - n if rule == WORST else low - 1
    weight: Floats = prefix[first + n] - prefix[first]
    return weight
