"""Random orders of equal estimates, one for each user."""

from __future__ import annotations

import numpy as np

from harness.kernels import kernel
from harness.metrics.arrays import Floats, Ints, Ranks


@kernel
def draw(
    offsets: Ints,
    relevance: Floats,
    low: Ranks,
    high: Ranks,
    seed: np.uint64,
    start: int,
    stop: int,
    out: Floats,
    out_rank: Ranks,
) -> None:
    """Give each group ranks drawn without replacement, and its items an order among them.

    Each user has a stream of random numbers of its own. Items are shuffled (Fisher and Yates); a
    rank is taken with the probability that leaves as many of the others as items remain.
    """
    for user in range(start, stop):
        state = _scramble(seed ^ _scramble(np.uint64(user + 1)))
        a = offsets[user]
        while a < offsets[user + 1]:
            b = a
            while b < offsets[user + 1] and low[b] == low[a]:
                out[b] = relevance[b]
                b += 1
            for i in range(b - a - 1, 0, -1):
                state = _scramble(state)
                j = int(state % np.uint64(i + 1))
                out[a + i], out[a + j] = out[a + j], out[a + i]
            n_drawn = 0
            for position in range(high[a] - low[a] + 1):
                if n_drawn == b - a:
                    break
                state = _scramble(state)
                free = np.uint64(high[a] - low[a] + 1 - position)
                if state % free < np.uint64(b - a - n_drawn):
                    out_rank[a + n_drawn] = low[a] + position
                    n_drawn += 1
            a = b


@kernel
def _scramble(state: np.uint64) -> np.uint64:
    """One step of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
