"""Average precision under each of its denominators, expected over the orders of ties."""

from __future__ import annotations

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.grammar import Value
from harness.metrics.hits import count_relevant
from harness.metrics.ties import (
    AVERAGE,
    BEST,
    SMALLEST_BLOCK,
    Settled,
    hypergeometric,
    settle,
    settle_by_value,
)
from harness.metrics.worth import relevant_from

__all__ = ["score_ap"]


def score_ap(params: dict[str, Value], ks: Ints, rankings: Rankings, label: str) -> Floats:
    """Return the sum of the precisions at the relevant ranks up to k, divided by `denominator`.

    Returns
    -------
    ndarray of float64, shape (n_users, n_k)

    Examples
    --------
    Relevant at ranks 1 and 2 of three, out of six relevant items:

    >>> from harness.metrics.labels import parse
    >>> lists = Rankings([0, 2], [1, 1], [1, 2], [1, 2], [1, 2], [3], [0, 6], [1] * 6)
    >>> for by in ("relevant", "hits", "list", "achievable", "retrievable", "k"):
    ...     params = parse(f"ap(denominator={by})@5").params
    ...     print(by, *score_ap(params, np.array([5]), lists, "ap")[0].round(4))
    relevant 0.3333
    hits 1.0
    list 0.6667
    achievable 0.4
    retrievable 0.6667
    k 0.4
    """
    threshold = relevant_from(params)
    cuts = np.minimum(ks, rankings.longest)
    relevant = count_relevant(rankings, threshold)[:, np.newaxis]
    by_hits = params["denominator"].word == "hits"
    # Divided by the hits in the first k, a list may gain by having fewer of them.
    settled, rule = settle_by_value(rankings, params) if by_hits else (settle(rankings, params), 0)
    together = params["ties"].word == "together"
    sums = np.empty((rankings.n_users, len(ks)))
    each_block(
        lambda a, b: _precisions(settled, threshold, cuts, by_hits, together, rule, a, b, sums),
        rankings.n_users,
        SMALLEST_BLOCK,
    )
    if by_hits:
        sums[np.isnan(relevant[:, 0])] = np.nan
        return sums
    listed = np.minimum(ks, np.maximum(rankings.n_ranked, 1)[:, np.newaxis])
    divisors: dict[str, Floats] = {
        "relevant": relevant,
        "list": listed + 0.0 * relevant,
        "achievable": np.minimum(ks, relevant),
        "retrievable": np.minimum(listed, relevant),
        "k": ks + 0.0 * relevant,
    }
    sums /= divisors[params["denominator"].word]
    return sums


@kernel
def _precisions(
    settled: Settled,
    threshold: float,
    ks: Ints,
    by_hits: bool,
    together: bool,
    rule: int,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Sum the precisions at relevant ranks, divided by the hits if requested.

    At the s-th rank of a group of n with r relevant, after c ranks with h hits, is a relevant item
    with probability r/n; given that, (s - 1)(r - 1)/(n - 1) of the ranks before it in the group are
    expected to be relevant too. The best and the worst order of a group that crosses k depend on
    how many of its relevant items are above k, so every possible number is tried.
    """
    offsets, relevance, lows, highs = settled
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
                    r += relevance[entry] >= threshold
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
