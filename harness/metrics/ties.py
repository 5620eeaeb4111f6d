"""The order of equal estimates, settled from each entry's tied group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.kernels import kernel
from harness.metrics.arrays import Floats, Ints, Rankings, Ranks
from harness.metrics.grammar import Value
from harness.metrics.worth import nothing
from harness.parallel import each_block

__all__ = ["Settled", "hypergeometric", "settle", "settle_by_value"]

_LAST, _BEST, _WORST, _RANDOM = range(4)
_ORDERS = {"last": _LAST, "best": _BEST, "worst": _WORST, "random": _RANDOM}
SMALLEST_BLOCK = 2048


AVERAGE, BEST, WORST = 0, 1, -1


class Settled(NamedTuple):
    """Entries whose rank is anywhere from `low` to `high` with equal probability.

    A rule that orders ties leaves ``low == high`` and the entries in rank order. Groups that share
    their ranks stand together in either case.
    """

    offsets: Ints
    relevance: Floats
    low: Ranks
    high: Ranks


def settle(rankings: Rankings, params: dict[str, Value]) -> Settled:
    """Apply a tie rule.

    Parameters
    ----------
    rankings : Rankings
    params : dict of str to Value
        With ``ties``: ``average`` (and ``together``) keeps the groups, every other word orders
        them; and what decides the gain, for the best and the worst order.

    Examples
    --------
    >>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 1], [3, 3], [3])
    >>> settle(lists, {"ties": Value("worst")}).low.tolist()   # the unjudged item comes first
    [2, 3]
    """
    r, ties, zero = rankings, params["ties"], nothing(params)
    if ties.word in ("average", "together"):
        return Settled(r.offsets, r.relevance, r.tie_low, r.tie_high)
    if ties.word == "first":
        return Settled(r.offsets, r.relevance, r.rank, r.rank)
    relevance, rank = np.empty_like(r.relevance), np.empty_like(r.rank)
    order = _ORDERS[ties.word]
    seed = np.uint64(ties.numbers[0] if ties.numbers else 0)

    def block(start: int, stop: int) -> None:
        _settle(
            r.offsets, r.relevance, r.rank, r.tie_low, r.tie_high, order, seed, zero, start,
            stop, relevance, rank,
        )  # fmt: skip

    each_block(block, r.n_users, SMALLEST_BLOCK)
    return Settled(r.offsets, relevance, rank, rank)


def settle_by_value(rankings: Rankings, params: dict[str, Value]) -> tuple[Settled, int]:
    """Apply a tie rule for a metric whose best and worst order depend on where the list is cut.

    Returns
    -------
    Settled
        With the tied groups as they are where the rule is ``best`` or ``worst``.
    int
        `BEST` or `WORST` where the metric itself has to find that order, else `AVERAGE`.
    """
    rule = {"best": BEST, "worst": WORST}.get(params["ties"].word, AVERAGE)
    return settle(rankings, params | {"ties": Value("average")} if rule else params), rule


@kernel
def _settle(
    offsets: Ints,
    relevance: Floats,
    rank: Ranks,
    low: Ranks,
    high: Ranks,
    order: int,
    seed: np.uint64,
    zero: float,
    start: int,
    stop: int,
    out: Floats,
    out_rank: Ranks,
) -> None:
    for user in range(start, stop):
        state = _scramble(seed ^ _scramble(np.uint64(user + 1)))
        a = offsets[user]
        while a < offsets[user + 1]:
            b = a + 1
            while b < offsets[user + 1] and low[b] == low[a]:
                b += 1
            if order == _LAST:
                for i in range(b - a):
                    out[a + i] = relevance[b - 1 - i]
                    out_rank[a + i] = low[a] + high[a] - rank[b - 1 - i]
            elif order == _RANDOM:
                state = _draw(relevance, a, b, low[a], high[a], state, out, out_rank)
            else:
                out[a:b] = np.sort(relevance[a:b])
                _extremes(out, a, b, low[a], high[a], order == _BEST, zero, out_rank)
            a = b


@kernel
def _extremes(
    out: Floats, a: int, b: int, low: int, high: int, best: bool, zero: float, out_rank: Ranks
) -> None:
    """Rank a rising group: what is above zero to one end, what is below zero to the other."""
    n_negative = 0
    while a + n_negative < b and out[a + n_negative] < zero:
        n_negative += 1
    if best:
        out[a:b] = out[a:b][::-1].copy()
    n_head = b - a - n_negative if best else n_negative
    for i in range(b - a):
        out_rank[a + i] = low + i if i < n_head else high - (b - a) + 1 + i


@kernel
def _draw(
    relevance: Floats,
    a: int,
    b: int,
    low: int,
    high: int,
    state: np.uint64,
    out: Floats,
    out_rank: Ranks,
) -> np.uint64:
    """Give a group ranks drawn without replacement, and its items an order among them."""
    out[a:b] = relevance[a:b]
    for i in range(b - a - 1, 0, -1):
        state = _scramble(state)
        j = int(state % np.uint64(i + 1))
        out[a + i], out[a + j] = out[a + j], out[a + i]
    taken = 0
    for position in range(high - low + 1):
        if taken == b - a:
            break
        state = _scramble(state)
        free = np.uint64(high - low + 1 - position)
        if state % free < np.uint64(b - a - taken):
            out_rank[a + taken] = low + position
            taken += 1
    return state


@kernel
def _scramble(state: np.uint64) -> np.uint64:
    """One step of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@kernel
def hypergeometric(n: int, r: int, t: int) -> Floats:
    """Return the probabilities that t items drawn from n, of which r are relevant, hold 0, 1, ...

    Each follows from its neighbour, from the most probable outwards, so that large groups lose no
    digits.

    Examples
    --------
    >>> hypergeometric(4, 2, 2).round(6)   # one of the 6 pairs, four, one
    array([0.166667, 0.666667, 0.166667])
    """
    chances: Floats = np.zeros(min(r, t) + 1)
    least = max(0, t - (n - r))
    mode = max(least, min(min(r, t), (t + 1) * (r + 1) // (n + 2)))
    chances[mode] = 1.0
    for x in range(mode, min(r, t)):
        chances[x + 1] = chances[x] * (r - x) * (t - x) / ((x + 1.0) * (n - r - t + x + 1))
    for x in range(mode, least, -1):
        chances[x - 1] = chances[x] * x * (n - r - t + x) / ((r - x + 1.0) * (t - x + 1))
    chances /= chances.sum()
    return chances
