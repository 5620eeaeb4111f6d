"""NDCG of one list, or of several users, under any answers to the questions of the suite.

With `log2` and `number` of another arithmetic, such as decimals of 50 digits, values are as exact.
"""

from __future__ import annotations

import math
import statistics
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import add
from typing import Any, NamedTuple

Answers = Mapping[str, str]
"""By question, an answer of ``questions.toml``; `DEFAULTS` stands for what is left out."""
DEFAULTS = {
    "gain": "linear",
    "discount": "log",
    "ideal": "judged",
    "cut": "k",
    "order": "descending",
    "factor": "1",
    "short": "summed",
    "ties": "first",
    "scores": "double",
    "negative": "keep",
    "grades": "real",
    "unjudged": "kept",
    "duplicates": "again",
    "mean": "zero",
}
SCORES: dict[str, Callable[[float], float | None]] = {
    "double": lambda score: score,
    "single": lambda score: float(struct.unpack("f", struct.pack("f", score))[0]),
    "positive": lambda score: score if score > 0 else None,
    "absolute": abs,
    "whole": int,
}
GRADES: dict[str, Callable[[float], float]] = {
    "real": lambda grade: grade,
    "whole": int,
    "from 1": lambda grade: 0 if 0 < grade < 1 else grade,
    "rounded": lambda grade: math.floor(grade + 0.5),
}
GAINS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda grade: grade,
    "exp2": lambda grade: 2**grade - 1,
    "exp2+1": lambda grade: 2 ** (grade + 1) - 1 if grade >= 0 else 0,
    "binary": lambda grade: int(grade > 0),
    "judged": lambda grade: 1,
    "above 1": lambda grade: int(grade > 1),
    "power of 2": lambda grade: 2**grade,
    "square": lambda grade: grade * abs(grade),
    "clipped at 2": lambda grade: min(grade, 2),
    "clipped at 3": lambda grade: min(grade, 3),
    "exp2 clipped at 3": lambda grade: 2 ** min(grade, 3) - 1,
}
DIVISORS: dict[str, Callable[[int, Callable[[int], Any]], Any]] = {
    "log": lambda rank, log2: log2(rank + 1),
    "jarvelin": lambda rank, log2: log2(max(rank, 2)),
    "reciprocal": lambda rank, log2: rank,
    "none": lambda rank, log2: 1,
    "log(i + 2)": lambda rank, log2: log2(rank + 2),
    "log(i + 1), first twice": lambda rank, log2: log2(max(rank, 2) + 1) / log2(3),
    "log(i + 1), whole": lambda rank, log2: math.floor(log2(rank + 1)),
    "1 + log(i)": lambda rank, log2: 1 + log2(rank),
    "root": lambda rank, log2: rank**0.5,
}
FACTORS: dict[str, Callable[[Any], Any]] = {
    "1": lambda value: value,
    "log2(e)": lambda value: value * math.log2(math.e),
    "ln(2)": lambda value: value * math.log(2),
    "log2(10)": lambda value: value * math.log2(10),
    "1/log2(10)": lambda value: value / math.log2(10),
    "100": lambda value: value * 100,
    "4 decimals": lambda value: round(value, 4),
    "3 decimals": lambda value: round(value, 3),
    "2 decimals": lambda value: round(value, 2),
}
OF_LIST = ("listed", "listed, uncut", "retrieved", "length")
"""Ideals that a list without relevant items leaves without gain, though the user has some."""


class Arithmetic(NamedTuple):
    """Numbers and the logarithm that values are computed with."""

    number: Callable[[Any], Any] = float
    log2: Callable[[Any], Any] = math.log2


DOUBLES = Arithmetic()


class Item(NamedTuple):
    """An item of a list or of the judgements: identity, grade (None: not judged), score, gain."""

    name: object
    grade: float | None
    score: float | None
    gain: Any


class Parts(NamedTuple):
    """What a value consists of: gains and divisors of the list and of the ideal, by rank."""

    listed: list[tuple[Any, Any]]
    ideal: list[tuple[Any, Any]]
    value: Any
    """nan where the ideal has no gain."""


def value(case: Mapping[str, Any], answers: Answers, of: Arithmetic = DOUBLES) -> Any:
    """Return the value of a case: of its list, or the mean over its users."""
    if "users" in case:
        return _mean(case, answers, of)
    return parts(case, answers, of).value


def parts(case: Mapping[str, Any], answers: Answers, of: Arithmetic = DOUBLES) -> Parts:
    """Return the gains and divisors of the list and of the ideal, and the value, of one list."""
    a = DEFAULTS | dict(answers)
    k = case["k"]
    k = {"none": len(case["relevance"]), "at most 10": min(k, 10)}.get(a["cut"], k)
    items = _items(case, a, of)
    listed = _ranked([item for item in items if item.score is not None], a)
    length = len(listed)
    gains = _ideal(items, listed, k, a)
    if a["short"] == "repeated":
        listed += listed[-1:] * (k - length)
    depth = {"k - 1": k - 1, "k + 1": k + 1, "ideal only": len(listed)}.get(a["cut"], k)
    divisors = [DIVISORS[a["discount"]](rank, of.log2) for rank in range(1, len(items) + k + 1)]
    found = [
        (item.gain, divisors[rank - 1])
        for rank, item in zip(_ranks(listed, a), listed, strict=True)
        if rank <= depth
    ]
    if a["order"] == "relevant only":
        found = [*zip((gain for gain, _ in found if gain), divisors, strict=False)]
    weights = [1] * len(gains) if a["ideal"] == "undiscounted" else divisors
    best = [*zip(gains, weights, strict=False)]
    dcg, ideal = (_total(gain / divisor for gain, divisor in side) for side in (found, best))
    if a["ideal"] == "absent":
        return Parts(found, [], dcg)
    if ideal == 0 or (a["negative"] == "sum" and sum(item.grade or 0 for item in items) == 0):
        has_relevant = a["ideal"] in OF_LIST and any(item.gain > 0 for item in items)
        return Parts(found, best, 0 if has_relevant else math.nan)
    ratio = FACTORS[a["factor"]](dcg / ideal)
    if "clipped" in (a["duplicates"], a["negative"]):
        ratio = min(ratio, 1)
    if a["negative"] == "clipped":
        ratio = max(ratio, 0)
    if length < k:
        ratio *= {"zero": 0, "scaled": length / k}.get(a["short"], 1)
    return Parts(found, best, ratio)


def _items(case: Mapping[str, Any], a: Answers, of: Arithmetic) -> list[Item]:
    """Return the items that are judged or listed, with grades and scores as they are read."""
    names = case.get("items") or range(len(case["relevance"]))
    items = []
    for name, grade, score in zip(names, case["relevance"], case["scores"], strict=True):
        if grade is None and score is None:
            continue
        grade = 1 if grade is None and a["unjudged"] == "judged" else grade
        gain = of.number(0)
        if grade is not None:
            if grade < 0 and a["negative"] in ("zero", "absolute"):
                grade = 0 if a["negative"] == "zero" else -grade
            grade = GRADES[a["grades"]](grade)
            gain = of.number(GAINS[a["gain"]](of.number(grade)))
        items.append(Item(name, grade, None if score is None else SCORES[a["scores"]](score), gain))
    return items


def _ranked(items: list[Item], a: Answers) -> list[Item]:
    """Return the list in its order: ties and repeats as answered, gains those that count."""
    kept = [item for item in items if item.grade is not None or a["unjudged"] != "removed"]
    if a["ties"] == "last":
        kept = kept[::-1]
    if a["ties"] == "one":
        kept = [*{item.score: item for item in kept}.values()]
    sign = {"ascending": 1, "input": 0}.get(a["order"], -1)
    by_gain = {"best": -1, "arbitrary": -1, "worst": 1}.get(a["ties"], 0)
    ranked = sorted(kept, key=lambda item: (sign * (item.score or 0), by_gain * item.gain))
    if a["ties"] == "average":
        tied = defaultdict(list)
        for item in ranked:
            tied[item.score].append(item.gain)
        means = {score: _total(gains) / len(gains) for score, gains in tied.items()}
        ranked = [item._replace(gain=means[item.score]) for item in ranked]
    places = defaultdict(list)
    for place, item in enumerate(ranked):
        places[item.name].append(place)
    if a["duplicates"] == "joined":
        return [item._replace(gain=item.gain * len(places[item.name])) for item in ranked]
    if a["duplicates"] not in ("removed", "latest", "once"):
        return ranked
    counting = {each[-1 if a["duplicates"] == "latest" else 0] for each in places.values()}
    return [
        item if place in counting else item._replace(gain=0)
        for place, item in enumerate(ranked)
        if place in counting or a["duplicates"] == "once"
    ]


def _ranks(listed: list[Item], a: Answers) -> list[int]:
    """Return the rank of each item of the list."""
    if a["ties"] not in ("shared", "first rank"):
        return [*range(1, len(listed) + 1)]
    scores = [item.score for item in listed]
    to_middle = 0.5 if a["ties"] == "shared" else 0
    return [
        scores.index(score) + 1 + int(to_middle * (scores.count(score) - 1)) for score in scores
    ]


def _ideal(items: list[Item], listed: list[Item], k: int, a: Answers) -> list[Any]:
    """Return the gains of the ideal ranking, in its order."""
    form, chosen = a["ideal"], items
    if form == "retrieved":
        chosen = listed[:k]
    elif form in ("listed", "listed, uncut"):
        chosen = [item for item in items if item.score is not None]
    if a["duplicates"] != "both":
        chosen = list({item.name: item for item in reversed(chosen)}.values())[::-1]
    if a["duplicates"] == "joined":
        times, top = (Counter(item.name for item in each) for each in (listed, listed[:k]))
        chosen = [i for i in chosen for _ in range(times[i.name] * top[i.name] or 1)]
    gains = [item.gain for item in chosen if item.grade is not None]
    if form == "full":
        return [1] * k if any(gains) else []
    if form == "distinct":
        gains = [*set(gains)]
    if form != "given":
        gains.sort(key=str if form == "as text" else None, reverse=form != "worst")
    if form in ("uncut", "listed, uncut"):
        return gains
    return gains[: {"length": min(k, len(listed)), "one": 1}.get(form, k)]


def _mean(case: Mapping[str, Any], answers: Answers, of: Arithmetic) -> Any:
    """Return the mean over users; a user without relevant items has the value nan."""
    rule = answers.get("mean", DEFAULTS["mean"])
    found = [parts(user | {"k": case["k"]}, answers, of) for user in case["users"]]
    if rule == "pooled":
        sides = ([user.listed for user in found], [user.ideal for user in found])
        dcg, ideal = (_total(gain / by for user in side for gain, by in user) for side in sides)
        return dcg / ideal if ideal else math.nan
    values, weights = [], []
    for user, (_, _, score) in zip(case["users"], found, strict=True):
        is_defined = score == score
        length = sum(each is not None for each in user["scores"])
        n_relevant = sum((grade or 0) > 0 for grade in user["relevance"])
        if not is_defined and rule in ("defined", "listed"):
            continue
        if (not length and "listed" in rule) or (rule == "positive" and not score > 0):
            continue
        values.append(score if is_defined else {"one": 1, "nan": math.nan}.get(rule, 0))
        weights.append({"weighted": length, "weighted by relevant": n_relevant}.get(rule, 1))
    if rule == "median":
        return statistics.median(values)
    scores = _total(each * weight for each, weight in zip(values, weights, strict=True))
    return scores / sum(weights) if sum(weights) else math.nan


def _total(numbers: Iterable[Any]) -> Any:
    """Return numbers added in their order; ``sum`` of floats differs by the version of Python."""
    return reduce(add, numbers, 0)
