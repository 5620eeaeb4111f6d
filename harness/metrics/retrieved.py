"""Binary gains against the best order of what a list shows: ``ideal=retrieved``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.kernels import kernel
from harness.metrics.arrays import Floats
from harness.metrics.gains import gain_of
from harness.metrics.ties import AVERAGE, BEST, WORST, hypergeometric

if TYPE_CHECKING:
    from harness.metrics.dcg import Entries


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
