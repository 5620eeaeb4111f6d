"""Each metric written out term by term, slow and obvious, and lists of one user to compare with.

A list is given as the relevances in ranked order, 0 for an item nobody judged, with the user's
pool: the relevances of all judged items. A value averaged over ties is the mean over every order
that the ties allow.
"""

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from harness import metrics, rankings

NAN = math.nan
CUTS = (1, 2, 3, 5, 9)
GRADES = [0.0, 1.0, 2.0, 3.0, 4.0]


@st.composite
def cases(draw, most=7, grades=GRADES):
    """Draw estimates, relevances (None where nobody judged) and grades of items never ranked."""
    n = draw(st.integers(0, most))
    grade = st.sampled_from(grades)
    estimates = draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=n, max_size=n))
    relevance = draw(st.lists(st.one_of(st.none(), grade), min_size=n, max_size=n))
    return estimates, relevance, draw(st.lists(grade, max_size=3))


def lists_of(estimates, relevance, missed=()):
    """Return the rankings of one user."""
    judged = [i for i, grade in enumerate(relevance) if grade is not None]
    return rankings.rank_block(
        np.array([estimates], dtype=float).reshape(1, -1),
        [0, len(judged) + len(missed)],
        judged + [-1] * len(missed),
        [relevance[i] for i in judged] + list(missed),
    )


def graded(case):
    """Return estimates, the relevances of the items in the list, and the pool."""
    estimates, relevance, missed = case
    pool = [grade for grade in relevance if grade is not None] + missed
    return estimates, [grade or 0.0 for grade in relevance], pool


def value(label, lists):
    """Return the first user's score."""
    (scores,) = metrics.score([metrics.parse(label)], lists).values()
    return scores.per_user[0]


def orders(estimates):
    """Yield every order of the positions by falling estimate, ties permuted."""
    levels = sorted(set(estimates), reverse=True)
    groups = [[i for i, e in enumerate(estimates) if e == level] for level in levels]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [i for group in choice for i in group]


def averaged(function, estimates, relevance):
    """Return the mean of a function over every order of equal estimates."""
    values = [function([relevance[i] for i in order]) for order in orders(estimates)]
    return math.fsum(values) / len(values)


def exp2(relevance):
    return 2**relevance - 1


def linear(relevance):
    return relevance


def binary(threshold=None):
    return lambda relevance: float(relevance > 0 if threshold is None else relevance >= threshold)


def log2_discount(rank):
    return math.log2(rank + 1)


def jarvelin_discount(base):
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


def hits(ranked, k, threshold):
    return sum(1 for rel in ranked[:k] if rel >= threshold)


def divisors(ranked, pool, k, threshold):
    """Return every number that a metric divides by, or None where nothing is relevant."""
    relevant, listed = hits(pool, len(pool), threshold), min(k, max(len(ranked), 1))
    return relevant and {
        "relevant": relevant,
        "hits": hits(ranked, k, threshold) or 1,
        "list": listed,
        "achievable": min(k, relevant),
        "retrievable": min(listed, relevant),
        "k": k,
    }


def precision(ranked, pool, k, threshold, denominator="k"):
    by = divisors(ranked, pool, k, threshold)
    return hits(ranked, k, threshold) / by[denominator] if by else NAN


def recall(ranked, pool, k, threshold, denominator="relevant"):
    return precision(ranked, pool, k, threshold, denominator)


def fbeta(ranked, pool, k, threshold, beta=1.0, denominator="k"):
    p = precision(ranked, pool, k, threshold, denominator)
    r = recall(ranked, pool, k, threshold)
    return 0.0 if p == r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


def average_precision(ranked, pool, k, threshold, denominator="relevant"):
    by = divisors(ranked, pool, k, threshold)
    total = math.fsum(
        hits(ranked, i, threshold) / i
        for i, rel in enumerate(ranked[:k], start=1)
        if rel >= threshold
    )
    return total / by[denominator] if by else NAN


def first_relevant(ranked, pool, k, threshold, form):
    if not divisors(ranked, pool, k, threshold):
        return NAN
    return next((form(i) for i, rel in enumerate(ranked[:k], start=1) if rel >= threshold), 0.0)


def expected_reciprocal_rank(ranked, pool, k, most):
    if not any(rel > 0 for rel in pool):
        return NAN
    total, going_on = 0.0, 1.0
    for i, rel in enumerate(ranked[:k], start=1):
        stops = (2**rel - 1) / 2**most
        total += going_on * stops / i
        going_on *= 1 - stops
    return total


def rank_biased_precision(ranked, pool, k, threshold, p):
    if not divisors(ranked, pool, k, threshold):
        return NAN
    terms = (p ** (i - 1) for i, rel in enumerate(ranked[:k], start=1) if rel >= threshold)
    return (1 - p) * math.fsum(terms)


def auc(ranked, threshold):
    relevant = [i for i, rel in enumerate(ranked) if rel >= threshold]
    other = [i for i, rel in enumerate(ranked) if rel < threshold]
    if not relevant or not other:
        return NAN
    return sum(1 for i in relevant for j in other if i < j) / (len(relevant) * len(other))


def r_precision(ranked, pool, threshold):
    n_relevant = hits(pool, len(pool), threshold)
    return hits(ranked, n_relevant, threshold) / n_relevant if n_relevant else NAN
