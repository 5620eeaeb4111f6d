"""Implementations of NDCG: one that is right, five written differently, and mutants."""

import math
from itertools import permutations


def ndcg(
    relevance,
    scores,
    k,
    items=None,
    *,
    gain=lambda grade: 2**grade - 1,
    divisor=lambda rank: math.log2(rank + 1),
    ideal_divisor=None,
    order=lambda score: -score,
    known=lambda grade: grade or 0,
    ideal=lambda best, listed, k: best[:k],
    repeats="once",
    after=lambda value, listed, k: value,
    empty=0.0,
    undefined=math.nan,
    tied="input",
    kept=lambda score: score,
    pad=lambda listed, k: listed,
    depth=lambda k: k,
    cut=lambda k: k,
    ranks=lambda scores: range(1, len(scores) + 1),
    top=None,
):
    """NDCG at k with every step as an argument; the defaults are right."""
    items, k = items or range(len(relevance)), cut(k)
    rows = [
        (item, known(grade), None if score is None else kept(score))
        for item, grade, score in zip(items, relevance, scores, strict=True)
    ]
    judged = {}
    for item, grade, _ in reversed(rows):
        judged[item] = gain(grade)
    judged = [judged[item] for item in dict.fromkeys(item for item, _, _ in rows)]
    listed = [row for row in rows if row[2] is not None]
    if tied == "reverse":
        listed = listed[::-1]
    listed.sort(key=lambda row: order(row[2]))
    if tied == "one":
        listed = [*{row[2]: row for row in listed}.values()]
    seen, gains = set(), []
    for item, grade, _ in listed:
        gains.append(0 if item in seen and repeats == "once" else gain(grade))
        seen.add(item)
    if repeats == "both":
        judged = [gain(grade) for _, grade, _ in rows]
    if repeats == "joined":  # each hit with each row of its item, and all of these with the judged
        found = [item for item, _, _ in listed]
        gains = [found.count(item) * gain(grade) for item, grade, _ in listed]
        hits = [item for item in found[:k] for other in found if other == item]
        grades = {item: grade for item, grade, _ in rows}
        judged = [gain(grades[item]) for item in [*hits, *({*grades} - {*hits})]]
    if not listed and any(judged):
        return empty
    best = ideal(sorted(judged, reverse=True), gains, k)
    total = sum(each / (ideal_divisor or divisor)(rank) for rank, each in enumerate(best, 1))
    if not any(judged):
        return undefined
    if not total:
        return 0.0
    gains = top(gains[:k]) if top else pad(gains, k)
    ranks = [*ranks([row[2] for row in listed]), *range(len(listed) + 1, len(gains) + 1)]
    found = [
        each / divisor(rank) for rank, each in zip(ranks, gains, strict=False) if rank <= depth(k)
    ]
    found = sum(found) / total
    return after(found, gains, k)


def over_users(one):
    """Return the mean over users that have a value."""

    def mean(relevances, scores, k):
        values = [one(*row, k) for row in zip(relevances, scores, strict=True)]
        defined = [value for value in values if value == value]
        return sum(defined) / len(defined)

    return mean


def made(mean=None, **steps):
    """Return an implementation with its mean over users, some steps replaced."""

    def one(relevance, scores, k, items=None):
        return ndcg(relevance, scores, k, items, **steps)

    one.mean = mean or over_users(one)
    return one


# Five that are right, each written in its own way


def with_arrays(relevance, scores, k, items=None):
    import numpy as np

    keys = np.unique(items or np.arange(len(relevance)), return_inverse=True)[1]
    grades = np.array([0 if grade is None else grade for grade in relevance], dtype=float)
    _, first = np.unique(keys, return_index=True)
    gains = np.exp2(grades) - 1
    values = np.array([-np.inf if score is None else score for score in scores], dtype=float)
    places = np.argsort(-values, kind="stable")[: int(np.isfinite(values).sum())]
    is_first = np.zeros(len(places), dtype=bool)
    is_first[np.unique(keys[places], return_index=True)[1]] = True
    best = np.sort(gains[first])[::-1][:k]
    weights = 1 / np.log2(np.arange(2, len(grades) + 2))
    ideal = best @ weights[: len(best)]
    if not ideal:
        return math.nan
    return float((gains[places] * is_first)[:k] @ weights[: len(places[:k])] / ideal)


def with_natural_logarithms(relevance, scores, k, items=None):
    names = list(items or range(len(relevance)))
    listed = [n for n in range(len(names)) if scores[n] is not None]
    top = []
    while listed and len(top) < k:  # selection, not a sort
        best = max(listed, key=lambda n: (scores[n], -n))
        listed.remove(best)
        top.append(best)
    dcg, used = 0.0, set()
    for rank, n in enumerate(top):
        if names[n] not in used:
            dcg += math.expm1((relevance[n] or 0) * math.log(2)) / math.log(rank + 2)
        used.add(names[n])
    grades = {name: grade or 0 for name, grade in zip(names, relevance, strict=True)}
    best = sorted(grades.values())[: -k - 1 : -1]
    ideal = sum(math.expm1(grade * math.log(2)) / math.log(r + 2) for r, grade in enumerate(best))
    return dcg / ideal if any(grades.values()) else math.nan


def recursive(relevance, scores, k, items=None):
    names = list(items or range(len(relevance)))

    def total(gains, rank):
        if not gains or rank > k:
            return 0.0
        return gains[0] / math.log2(1 + rank) + total(gains[1:], rank + 1)

    by_score = sorted(((s, -n) for n, s in enumerate(scores) if s is not None), reverse=True)
    gains, met = [], []
    for _, n in by_score:
        grade = relevance[-n] or 0
        gains.append(2**grade - 1 if names[-n] not in met else 0)
        met.append(names[-n])
    first = [relevance[names.index(name)] or 0 for name in dict.fromkeys(names)]
    ideal = total(sorted((2**grade - 1 for grade in first), reverse=True), 1)
    return total(gains, 1) / ideal if ideal else math.nan


def by_loss(relevance, scores, k, items=None):
    """One less the discounted gain that is lost, in a class of its own."""
    return Loss(relevance, scores, items).at(k)


class Loss:
    def __init__(self, relevance, scores, items):
        self.names = list(items or range(len(relevance)))
        self.grade = {}
        for name, grade in zip(self.names, relevance, strict=True):
            self.grade.setdefault(name, grade or 0)
        self.list = [n for n, s in enumerate(scores) if s is not None]
        self.list.sort(key=scores.__getitem__, reverse=True)

    def at(self, k):
        best = [*sorted(self.grade.values(), reverse=True), *[0] * k][:k]
        there = [self.names[n] for n in self.list][:k]
        mine = [0 if name in there[:r] else self.grade[name] for r, name in enumerate(there)]
        mine += [0] * (k - len(mine))
        ideal = math.fsum((2**b - 1) / math.log2(r + 2) for r, b in enumerate(best))
        lost = (
            (2**b - 2**m) / math.log2(r + 2)
            for r, (b, m) in enumerate(zip(best, mine, strict=True))
        )
        return 1 - math.fsum(lost) / ideal if ideal else math.nan


def exhaustive(relevance, scores, k, items=None):
    """The ideal as the best of all orders, where there are few."""
    if len(relevance) > 6:
        return recursive(relevance, scores, k, items)
    names = list(items or range(len(relevance)))
    grades = dict(zip(names[::-1], (grade or 0 for grade in relevance[::-1]), strict=True))
    dcg = lambda gains: sum(g / math.log2(r + 1) for r, g in enumerate(gains[:k], 1))  # noqa: E731
    ideal = max(dcg([2**g - 1 for g in each]) for each in permutations(grades.values()))
    places = sorted(
        (n for n in range(len(names)) if scores[n] is not None), key=lambda n: -scores[n]
    )
    top = [names[n] for n in places]
    mine = [2 ** grades[name] - 1 if top.index(name) == r else 0 for r, name in enumerate(top)]
    return dcg(mine) / ideal if ideal else math.nan


TWINS = {
    each.__name__: each
    for each in (with_arrays, with_natural_logarithms, recursive, by_loss, exhaustive)
}


def _mean(combine):
    def mean(relevances, scores, k):
        return combine([(*row, k) for row in zip(relevances, scores, strict=True)])

    return mean


def _pooled(rows):
    pairs = []
    for relevance, scores, k in rows:
        pairs.append(
            (
                ndcg(relevance, scores, k, ideal=lambda *_: [1.0]),
                ndcg(relevance, relevance, k, ideal=lambda *_: [1.0]),
            )
        )
    defined = [(a, b) for a, b in pairs if a == a and b == b]
    return sum(a for a, _ in defined) / sum(b for _, b in defined)


def _weighted(rows):
    pairs = [(ndcg(*row), sum(score is not None for score in row[1])) for row in rows]
    return sum((0 if v != v else v) * n for v, n in pairs) / sum(n for _, n in pairs)


def _zero(rows):
    values = [ndcg(*row) for row in rows]
    return sum(0 if value != value else value for value in values) / len(values)


def _median(rows):
    import statistics

    return statistics.median(0 if v != v else v for v in (ndcg(*row) for row in rows))


def _weighted_by_relevant(rows):
    pairs = [(ndcg(*row), sum((grade or 0) > 0 for grade in row[0])) for row in rows]
    return sum(v * n for v, n in pairs if n) / sum(n for _, n in pairs)


def _positive(rows):
    values = [value for row in rows if (value := ndcg(*row)) > 0]
    return sum(values) / len(values)


MUTANTS = {
    "one item too few": (("cut", "k - 1"), {"depth": lambda k: k - 1}),
    "one item too many": (("cut", "k + 1"), {"depth": lambda k: k + 1}),
    "list not cut": (("cut", "ideal only"), {"depth": lambda k: 1000}),
    "k ignored": (("cut", "none"), {"cut": lambda k: 1000}),
    "k at most 10": (("cut", "at most 10"), {"cut": lambda k: min(k, 10)}),
    "ideal sorted as text": (
        ("ideal", "as text"),
        {"ideal": lambda best, listed, k: sorted(map(float, best), key=str, reverse=True)[:k]},
    ),
    "ideal of distinct grades": (
        ("ideal", "distinct"),
        {"ideal": lambda best, listed, k: sorted(set(best), reverse=True)[:k]},
    ),
    "whole discount": (
        ("discount", "log(i + 1), whole"),
        {"divisor": lambda rank: int(math.log2(rank + 1))},
    ),
    "1 added to the discount": (
        ("discount", "1 + log(i)"),
        {"divisor": lambda rank: 1 + math.log2(rank)},
    ),
    "relevant above 1": (("gain", "above 1"), {"gain": lambda grade: int(grade > 1)}),
    "rounded to 4 decimals": (
        ("factor", "4 decimals"),
        {"after": lambda value, listed, k: round(value, 4)},
    ),
    "rounded to 2 decimals": (
        ("factor", "2 decimals"),
        {"after": lambda value, listed, k: round(value, 2)},
    ),
    "hits ranked among themselves": (
        ("order", "relevant only"),
        {"top": lambda gains: [gain for gain in gains if gain]},
    ),
    "equal scores share a rank": (
        ("ties", "first rank"),
        {"ranks": lambda scores: [scores.index(score) + 1 for score in scores]},
    ),
    "equal scores overwritten": (("ties", "one"), {"tied": "one"}),
    "value from 0 to 1": (
        ("negative", "clipped"),
        {"after": lambda value, listed, k: min(max(value, 0.0), 1.0)},
    ),
    "mean weighted by relevant items": (
        ("mean", "weighted by relevant"),
        {"mean": _mean(_weighted_by_relevant)},
    ),
    "mean without users of value 0": (("mean", "positive"), {"mean": _mean(_positive)}),
    "mixed logarithms: natural in the list, base 2 in the ideal": (
        ("factor", "log2(e)"),
        {
            "divisor": lambda rank: math.log(rank + 1),
            "ideal_divisor": lambda rank: math.log2(rank + 1),
        },
    ),
    "mixed logarithms: base 10 in the list": (
        ("factor", "log2(10)"),
        {
            "divisor": lambda rank: math.log10(rank + 1),
            "ideal_divisor": lambda rank: math.log2(rank + 1),
        },
    ),
    "rank counted from 2": (
        ("discount", "log(i + 2)"),
        {"divisor": lambda rank: math.log2(rank + 2)},
    ),
    "first two ranks alike": (
        ("discount", "log(i + 1), first twice"),
        {"divisor": lambda rank: math.log2(max(rank, 2) + 1)},
    ),
    "discount of a square root": (("discount", "root"), {"divisor": lambda rank: rank**0.5}),
    "ideal not cut": (("ideal", "uncut"), {"ideal": lambda best, listed, k: best}),
    "ideal of the list": (
        ("ideal", "listed"),
        {"ideal": lambda best, listed, k: sorted(listed, reverse=True)[:k]},
    ),
    "ideal of the first k": (
        ("ideal", "retrieved"),
        {"ideal": lambda best, listed, k: sorted(listed[:k], reverse=True)},
    ),
    "ideal cut at the length of the list": (
        ("ideal", "length"),
        {"ideal": lambda best, listed, k: best[: min(k, len(listed))]},
    ),
    "ideal in ascending order": (
        ("ideal", "worst"),
        {"ideal": lambda best, listed, k: best[::-1][:k]},
    ),
    "ideal of one item": (("ideal", "one"), {"ideal": lambda best, listed, k: best[:1]}),
    "ideal without discount": (("ideal", "undiscounted"), {"ideal_divisor": lambda rank: 1}),
    "no ideal": (("ideal", "absent"), {"ideal": lambda best, listed, k: [1]}),
    "lowest score first": (("order", "ascending"), {"order": lambda score: score}),
    "scores ignored": (("order", "input"), {"order": lambda score: 0}),
    "gain 2**grade": (("gain", "power of 2"), {"gain": lambda grade: 2**grade}),
    "gain clipped": (("gain", "exp2 clipped at 3"), {"gain": lambda grade: 2 ** min(grade, 3) - 1}),
    "gain squared": (("gain", "square"), {"gain": lambda grade: grade * abs(grade)}),
    "percent": (("factor", "100"), {"after": lambda value, listed, k: 100 * value}),
    "0 beyond the list": (
        ("short", "zero"),
        {"after": lambda value, listed, k: 0.0 if len(listed) < k else value},
    ),
    "scaled beyond the list": (
        ("short", "scaled"),
        {"after": lambda value, listed, k: value * min(len(listed), k) / k},
    ),
    "last item repeated": (
        ("short", "repeated"),
        {"pad": lambda listed, k: listed + listed[-1:] * max(0, k - len(listed))},
    ),
    "repeated items count again": (("duplicates", "again"), {"repeats": "again"}),
    "repeated items count again, clipped at 1": (
        ("duplicates", "clipped"),
        {"repeats": "again", "after": lambda value, listed, k: min(value, 1.0)},
    ),
    "repeated items joined": (("duplicates", "joined"), {"repeats": "joined"}),
    "ties in reverse": (("ties", "last"), {"tied": "reverse"}),
    "scores of 0 or less dropped": (
        ("scores", "positive"),
        {"kept": lambda score: score if score > 0 else None},
    ),
    "scores truncated": (("scores", "whole"), {"order": lambda score: -int(score)}),
    "negative grades by size": (("negative", "absolute"), {"known": lambda grade: abs(grade or 0)}),
    "fractions rounded": (("grades", "rounded"), {"known": lambda g: math.floor((g or 0) + 0.5)}),
    "unjudged items count": (("unjudged", "judged"), {"known": lambda g: 1 if g is None else g}),
    "nan counts as 0": (("mean", "zero"), {"mean": _mean(_zero)}),
    "mean over items": (("mean", "weighted"), {"mean": _mean(_weighted)}),
    "mean of sums": (("mean", "pooled"), {"mean": _mean(_pooled)}),
    "median": (("mean", "median"), {"mean": _mean(_median)}),
    "nothing relevant is 1": (("nothing", "1"), {"undefined": 1.0}),
    "empty list is nan": (("empty", "nan"), {"empty": math.nan}),
}
"""By what is changed, the question and the answer that name it, and the step."""
