"""Metrics of which of the first k items are relevant: precision, recall, AP,
R-precision, RBP, AUC.

Two of the first three items are relevant, at ranks 1 and 3, of six relevant ones:

>>> lists = Rankings([0, 2], [1, 1], [1, 3], [1, 3], [1, 3], [3], [0, 6], [1] * 6)
>>> precision(lists, 5).mean, round(precision(lists, 5, denominator="list").mean, 4)
(0.4, 0.6667)
>>> round(recall(lists, 3).mean, 4), round(recall(lists, 3, denominator="achievable").mean, 4)
(0.3333, 0.6667)
>>> round(fbeta(lists, 3).mean, 4)
0.4444
>>> r_precision(lists).mean   # two of the first six
0.3333333333333333
>>> rbp(lists, p=0.5).mean   # 0.5 * (1 + 0.25)
0.625
>>> auc(lists).mean   # of two pairs, one is in order
0.5
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness._util.kernels import kernel
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.dcg import Entries, accumulate, walk
from harness.metrics.definition import metric
from harness.metrics.gains import BINARY, Gains, gain_of, weighted
from harness.metrics.parameters import (
    EMPTY,
    LISTS,
    SHARE,
    THRESHOLD,
    TIES,
    UNDEFINED,
    WEIGHTED,
    Parameter,
    Params,
    least_relevant,
    words,
)
from harness.metrics.ties import AVERAGE, BEST, TOGETHER, cut_rule, hypergeometric
from harness.metrics.weights import weighted_precisions

PRECISION_DENOMINATOR = Parameter(
    "denominator",
    "what the hits are divided by: k, min(k, length of the list), or min(k, number relevant)",
    words("k", "list", "achievable"),
)
RECALL_DENOMINATOR = Parameter(
    "denominator",
    "what the hits are divided by: number relevant, or min(k, number relevant)",
    words("relevant", "achievable"),
)
AP_DENOMINATOR = Parameter(
    "denominator",
    "what the sum of precisions is divided by: number relevant; hits in the first k; min(k, length "
    "of the list); min(k, number relevant); min(length of the cut list, number relevant); or k",
    words("relevant", "hits", "list", "achievable", "retrievable", "k"),
)
AP_TIES = replace(
    TIES,
    words={**TIES.words, **words("together")},
    summary=TIES.summary + "; or counted together, each group at its last rank",
)
BETA = Parameter(
    "beta",
    "weight of recall against precision",
    limits=(0.0, 1e100),  # it is squared
    default="1",
)
PERSISTENCE = Parameter(
    "p",
    "probability that the reader continues to the next item",
    limits=SHARE,
    default="0.8",
)
MANNING = "Manning, Raghavan and Schütze 2008, doi:10.1017/CBO9780511809071"


def needs_a_rank(params: Params, k: int | None) -> str:
    """Return what is wrong where hits are divided by a k that there is not."""
    if k is None and params["denominator"] == "k":
        return "there is no rank to divide by; write {label}@10 or another denominator"
    return ""


@metric(
    "hits@k / k",
    MANNING,
    parameters=(THRESHOLD, PRECISION_DENOMINATOR, *LISTS, *WEIGHTED),
    synonyms=("p",),
    fault=needs_a_rank,
)
def precision(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Proportion of the first k that is relevant."""
    return expected_hits(lists, ks, params) / divisor(lists, ks, params)


@metric(
    "hits@k / |R|",
    MANNING,
    parameters=(THRESHOLD, RECALL_DENOMINATOR, *LISTS, *WEIGHTED),
    synonyms=("r",),
)
def recall(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Proportion of the relevant items that is among the first k."""
    return expected_hits(lists, ks, params) / divisor(lists, ks, params)


@metric(
    "(1 + beta**2) * precision * recall / (beta**2 * precision + recall)",
    "van Rijsbergen 1979, Information Retrieval, chapter 7; " + MANNING,
    parameters=(BETA, THRESHOLD, PRECISION_DENOMINATOR, *LISTS, *WEIGHTED),
    synonyms=("f1", "f"),
    fault=needs_a_rank,
)
def fbeta(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Weighted harmonic mean of precision and recall; F1 unless beta says otherwise.

    With h hits it is ``(1 + beta**2) * h / (beta**2 * n_relevant + k)``, linear in h, so that its
    expectation over ties is the formula at the expected hits.
    """
    weight = float(params["beta"]) ** 2
    total = weight * count_relevant(lists, params) + divisor(lists, ks, params)
    return (1.0 + weight) * expected_hits(lists, ks, params) / total


@metric(
    "hits@|R| / |R|",
    f"{MANNING}, section 8.4",
    parameters=(THRESHOLD, TIES, UNDEFINED, EMPTY),
    cut="none",
    synonyms=("rprec", "rp"),
)
def r_precision(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Precision at the rank that is the number of the user's relevant items.

    Each entry of a tied group counts with the proportion of the group's ranks that are among the
    first |R|.
    """
    n_relevant = count_relevant(lists, params)[:, 0]
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    above = np.nan_to_num(n_relevant)[owners] - lists.tie_low + 1
    inside = np.clip(above / (lists.tie_high - lists.tie_low + 1), 0.0, 1.0)
    relevant = lists.relevance >= least_relevant(params)
    hits = np.bincount(owners, relevant * inside, lists.n_users)
    return (hits / n_relevant)[:, np.newaxis]


@metric(
    "(1 - p) * sum over relevant ranks i <= k of p**(i - 1)",
    "Moffat and Zobel 2008, doi:10.1145/1416950.1416952",
    parameters=(PERSISTENCE, THRESHOLD, *LISTS, *WEIGHTED),
)
def rbp(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Rank-biased precision: relevant items weighted by the probability that a reader who
    continues with probability p reaches them. An item is relevant or not; `RBP` of ir_measures
    without `rel` weighs grades, so that it is another number.
    """
    p = float(params["p"])
    weights = lambda ranks: (1.0 - p) * p ** (ranks - 1.0)  # noqa: E731
    return where_relevant(accumulate(lists, hits(lists, params), weights, ks), lists, params)


@metric(
    "P(a relevant item is above one that is not) + P(equal estimates) / 2",
    "Hanley and McNeil 1982, doi:10.1148/radiology.143.1.7063747",
    parameters=(THRESHOLD, TIES, UNDEFINED),
    cut="none",
)
def auc(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Area under the ROC curve: proportion of pairs with the relevant item above the other.

    Relevant items that were not ranked do not count. nan where all or none of the ranked items are
    relevant.
    """
    relevant = np.flatnonzero(lists.relevance >= least_relevant(params))
    edges = np.searchsorted(relevant, lists.offsets)
    counts = np.diff(edges)
    twice = np.concatenate(([0], np.cumsum(lists.tie_low[relevant] + lists.tie_high[relevant])))
    n_pairs = counts * (lists.n_ranked - counts).astype(np.float64)
    n_pairs[n_pairs == 0] = np.nan
    out_of_order = 0.5 * np.diff(twice[edges]) - 0.5 * counts * (counts + 1)
    areas: Floats = 1.0 - out_of_order / n_pairs
    return areas[:, np.newaxis]


@metric(
    "sum over relevant ranks i <= k of precision@i, divided by |R|",
    "Buckley and Voorhees 2000, doi:10.1145/345508.345543; average ties from McSherry and "
    "Najork 2008, doi:10.1007/978-3-540-78646-7_38",
    parameters=(THRESHOLD, AP_DENOMINATOR, AP_TIES, *LISTS[1:], *WEIGHTED),
    synonyms=("map", "average_precision"),
    fault=needs_a_rank,
)
def ap(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Average precision: mean of the precisions at the ranks of relevant items; its mean over
    users is MAP.

    Examples
    --------
    Relevant at ranks 1 and 2 of three, out of six relevant items:

    >>> lists = Rankings([0, 2], [1, 1], [1, 2], [1, 2], [1, 2], [3], [0, 6], [1] * 6)
    >>> {by: round(ap(lists, 5, denominator=by).mean, 4) for by in ("relevant", "list", "k")}
    {'relevant': 0.3333, 'list': 0.6667, 'k': 0.4}
    """
    if lists.weights is not None:
        return weighted_precisions(lists, hits(lists, params)[0], ks) / divisor(lists, ks, params)
    by_hits, together = params["denominator"] == "hits", params["ties"] == "together"
    chances = np.empty(len(lists.relevance) + lists.n_users)
    ways = (by_hits, TOGETHER if together else cut_rule(params), chances)
    sums = walk(_precisions, lists, hits(lists, params), np.ones_like, ks, *ways)
    if by_hits:  # divided already
        return where_relevant(sums, lists, params)
    return sums / divisor(lists, ks, params)


def hits(lists: Rankings, params: Params) -> Gains:
    """Return the gain of 1, or the weight, of what is relevant, else 0."""
    return weighted((lists.relevance, BINARY, least_relevant(params)), lists.weights)


def count_relevant(lists: Rankings, params: Params) -> Floats:
    """Return how many of each user's judged items are relevant, ranked or not; nan for none.

    With weights, their sum.
    """
    relevant = np.flatnonzero(lists.pool >= least_relevant(params))
    edges = np.searchsorted(relevant, lists.pool_offsets)
    counts = np.diff(edges).astype(np.float64)
    if lists.pool_weights is not None:
        owners = np.repeat(np.arange(lists.n_users), np.diff(edges))
        counts = np.bincount(owners, lists.pool_weights[relevant], lists.n_users).astype(float)
    counts[counts == 0] = np.nan
    return counts[:, np.newaxis]


def where_relevant(scores: Floats, lists: Rankings, params: Params) -> Floats:
    """Return scores, nan for users without a relevant item."""
    return np.where(np.isnan(count_relevant(lists, params)), np.nan, scores)


def expected_hits(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Return how many of the first k are relevant, on average over the orders of ties."""
    return accumulate(lists, hits(lists, params), np.ones_like, ks)


def divisor(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Return what `denominator` says, nan for users without a relevant item."""
    n_relevant = count_relevant(lists, params)
    listed = np.minimum(ks, np.maximum(lists.n_ranked, 1)[:, np.newaxis])
    divisors: dict[str, Floats | Ints] = {
        "k": ks,
        "list": listed,
        "relevant": n_relevant,
        "achievable": np.minimum(ks, n_relevant),
        "retrievable": np.minimum(listed, n_relevant),
    }
    return np.where(np.isnan(n_relevant), np.nan, divisors[params["denominator"]])


@kernel
def _precisions(
    lists: Entries, by_hits: bool, rule: int, chances: Floats, start: int, stop: int, out: Floats
) -> None:
    """Sum the precisions at relevant ranks, divided by the hits if requested.

    At the s-th rank of a group of n with r relevant, after c ranks with h hits, is a relevant item
    with probability r/n; given that, (s - 1)(r - 1)/(n - 1) of the ranks before it in the group are
    expected to be relevant too. The best and the worst order of a group that crosses k depend on
    how many of its relevant items are above k, so every possible number is tried.
    """
    offsets, (relevance, form, least), lows, highs, ks, _, _ = lists
    for user in range(start, stop):
        for cut in range(len(ks)):
            k = ks[cut]
            # Not the literal 0, for which numba would compile what it is passed to once more.
            total, hits = 0.0, k - k
            entry, end = offsets[user], offsets[user + 1]
            crossed = False
            while entry < end and lows[entry] <= k:
                low, high = lows[entry], highs[entry]
                r = 0
                while entry < end and lows[entry] == low:
                    r += gain_of(relevance[entry], form, least) > 0.0
                    entry += 1
                if r == 0:
                    continue
                if rule == TOGETHER:
                    if high <= k:
                        hits += r
                        total += r * (float(hits) / high)
                    continue
                n, c = high - low + 1, low - 1
                inside = min(n, k - c)
                if rule != AVERAGE:
                    if high <= k:
                        total += _at_one_end(r, hits, c, inside, rule)
                        hits += r
                        continue
                    crossed = True
                    fewest, most = max(0, inside - n + r), min(r, inside)
                    total = _extreme(total, hits, c, inside, fewest, most, rule)
                    continue
                here, before = 0.0, 0.0
                for s in range(1, inside + 1):
                    here += 1.0 / (c + s)
                    before += (s - 1.0) / (c + s)
                if by_hits and high > k:
                    crossed = True
                    start_of_user = offsets[user] + user
                    fewest, most = hypergeometric(n, r, inside, start_of_user, chances)
                    expected = 0.0
                    for x in range(fewest, most + 1):
                        if hits + x > 0:
                            chance = x * _given(x, inside, hits, here, before) / inside
                            expected += chances[start_of_user + x] * (total + chance) / (hits + x)
                    total = expected
                else:
                    total += r * _given(r, n, hits, here, before) / n
                    hits += r
            if by_hits and not crossed and hits > 0:
                total /= hits
            out[user, cut] = total


@kernel
def _extreme(
    total: float, hits: int, c: int, inside: int, fewest: int, most: int, rule: int
) -> float:
    """Return the best or the worst mean where a group crosses k, over the hits above k."""
    extreme = np.nan
    for x in range(fewest, most + 1):
        value = total + _at_one_end(x, hits, c, inside, rule)
        value /= max(1, hits + x)
        if not rule * value <= rule * extreme:
            extreme = value
    return extreme


@kernel
def _at_one_end(x: int, hits: int, c: int, inside: int, rule: int) -> float:
    """Sum the precisions at x relevant ranks, the first or the last of those behind rank c."""
    before = c if rule == BEST else c + inside - x
    total = 0.0
    for j in range(1, x + 1):
        total += (hits + j) / (before + j)
    return total


@kernel
def _given(r: int, n: int, hits: int, here: float, before: float) -> float:
    """Sum (hits up to a rank) / rank over a group's ranks, each taken to be relevant."""
    return (hits + 1.0) * here + ((r - 1.0) / (n - 1.0) * before if n > 1 else 0.0)
