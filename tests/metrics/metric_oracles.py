"""Each metric written out term by term, slow and obvious.

A list is given as the relevances in ranked order, 0 for an item nobody judged, with the user's
pool: the relevances of all judged items. A value averaged over ties is the mean over every order
that the ties allow.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

NAN = math.nan


def orders(estimates: Sequence[float]) -> Iterator[list[int]]:
    """Yield every order of the positions by falling estimate, ties permuted."""
    levels = sorted(set(estimates), reverse=True)
    groups = [[i for i, e in enumerate(estimates) if e == level] for level in levels]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [i for group in choice for i in group]


def averaged(
    function: Callable[[list[float]], float], estimates: Sequence[float], relevance: Sequence[float]
) -> float:
    """Return the mean of a function over every order of equal estimates."""
    values = [function([relevance[i] for i in order]) for order in orders(estimates)]
    return math.fsum(values) / len(values)


def exp2(relevance: float) -> float:
    return 2**relevance - 1


def linear(relevance: float) -> float:
    return relevance


def binary(threshold: float | None = None) -> Callable[[float], float]:
    return lambda relevance: float(relevance > 0 if threshold is None else relevance >= threshold)


def log2_discount(rank: int) -> float:
    return math.log2(rank + 1)


def jarvelin_discount(base: float) -> Callable[[int], float]:
    return lambda rank: 1.0 if rank < base else math.log(rank, base)


def dcg(ranked, k, gain=exp2, discount=log2_discount):
    return math.fsum(gain(rel) / discount(i) for i, rel in enumerate(ranked[:k], start=1))


def ndcg(ranked, pool, k, gain=exp2, discount=log2_discount, ideal="judged"):
    best = {
        "judged": sorted(pool, reverse=True),
        "retrieved": sorted(ranked[:k], reverse=True),
        "full": [max(pool, default=0)] * (k or 0),
    }[ideal]
    if not any(gain(rel) > 0 for rel in pool):
        return NAN
    whole = dcg(best, k, gain, discount)
    return dcg(ranked, k, gain, discount) / whole if whole else 0.0
