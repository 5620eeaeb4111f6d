"""Average precision under each of its denominators, expected over the orders of ties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.kernels import kernel
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.binary import divisor, needs_a_rank
from harness.metrics.dcg import Entries, walk
from harness.metrics.definitions import Parameter, Params, metric
from harness.metrics.gain import THRESHOLD, relevant, where_relevant
from harness.metrics.ties import (
    AVERAGE,
    BEST,
    LISTS,
    TIES,
    cut_rule,
    hypergeometric,
)

DENOMINATOR = Parameter(
    "denominator",
    "relevant",
    "relevant, hits, list, achievable, retrievable, k",
    "what the sum of precisions is divided by: number relevant; hits in the first k; min(k, length "
    "of the list); min(k, number relevant); min(length of the cut list, number relevant); or k",
)
AP_TIES = replace(
    TIES,
    choices=TIES.choices + ", together",
    summary=TIES.summary + "; or counted together, each group at its last rank",
)


@metric(
    "sum over relevant ranks i <= k of precision@i, divided by |R|",
    "Buckley and Voorhees 2000, doi:10.1145/345508.345543; average ties from McSherry and "
    "Najork 2008, doi:10.1007/978-3-540-78646-7_38",
    parameters=(THRESHOLD, DENOMINATOR, AP_TIES, *LISTS[1:]),
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
    by_hits, together = params["denominator"] == "hits", params["ties"] == "together"
    ways = (by_hits, together, cut_rule(params))
    sums = walk(_precisions, lists, relevant(lists, params), np.minimum(ks, lists.longest), *ways)
    if by_hits:  # divided already
        return where_relevant(sums, lists, params)
    return sums / divisor(lists, ks, params)


@kernel
def _precisions(
    lists: Entries, by_hits: bool, together: bool, rule: int, start: int, stop: int, out: Floats
) -> None:
    """Sum the precisions at relevant ranks, divided by the hits if requested.

    At the s-th rank of a group of n with r relevant, after c ranks with h hits, is a relevant item
    with probability r/n; given that, (s - 1)(r - 1)/(n - 1) of the ranks before it in the group are
    expected to be relevant too. The best and the worst order of a group that crosses k depend on
    how many of its relevant items are above k, so every possible number is tried.
    """
    offsets, relevant, lows, highs, ks = lists
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
                    r += relevant[entry] > 0.0
                    entry += 1
                if r == 0:
                    continue
                if together:
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
                    extreme = np.nan
                    for x in range(max(0, inside - n + r), min(r, inside) + 1):
                        value = total + _at_one_end(x, hits, c, inside, rule)
                        value /= max(1, hits + x)
                        if not rule * value <= rule * extreme:
                            extreme = value
                    total = extreme
                    continue
                here, before = 0.0, 0.0
                for s in range(1, inside + 1):
                    here += 1.0 / (c + s)
                    before += (s - 1.0) / (c + s)
                if by_hits and high > k:
                    crossed = True
                    chances = hypergeometric(n, r, inside)
                    expected = 0.0
                    for x in range(len(chances)):
                        if hits + x > 0:
                            found = x * _given(x, inside, hits, here, before) / inside
                            expected += chances[x] * (total + found) / (hits + x)
                    total = expected
                else:
                    total += r * _given(r, n, hits, here, before) / n
                    hits += r
            if by_hits and not crossed and hits > 0:
                total /= hits
            out[user, cut] = total


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
