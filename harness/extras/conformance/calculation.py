"""NDCG of one list, or of several users, under any answers to the questions of the suite.

With `log2` and `number` of another arithmetic, as of decimals of 50 digits, values are as exact.
"""

from __future__ import annotations

import math
import statistics
import struct
from collections import Counter
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


class Arithmetic(NamedTuple):
    """Numbers and the logarithm that values are computed with."""

    number: Callable[[Any], Any] = float
    log2: Callable[[Any], Any] = math.log2


DOUBLES = Arithmetic()
OF_LIST = ("listed", "listed, uncut", "retrieved", "length")
"""Ideals that a list without relevant items leaves without gain, though the user has some."""


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


FACTORS = {
    "1": 1.0,
    "log2(e)": math.log2(math.e),
    "ln(2)": math.log(2),
    "log2(10)": math.log2(10),
    "1/log2(10)": 1 / math.log2(10),
    "100": 100.0,
}


def value(case: Mapping[str, Any], answers: Answers, of: Arithmetic = DOUBLES) -> Any:
    """Return the value of a case: of its list, or the mean over its users."""
    if "users" in case:
        return _mean(case, answers, of)
    return parts(case, answers, of).value


def parts(case: Mapping[str, Any], answers: Answers, of: Arithmetic = DOUBLES) -> Parts:
    """Return the gains and divisors of the list and of the ideal, and the value, of one list."""
    a = DEFAULTS | dict(answers)
    k, items = case["k"], _items(case, a, of)
    listed = _ranked([item for item in items if item.score is not None], a, of)
    length = len(listed)
    if a["short"] == "repeated" and 0 < length < k:
        listed += [listed[-1]] * (k - length)
    ranks = _ranks(listed, a)
    cut = [
        (item.gain, _divisor(rank, a, of))
        for rank, item in zip(ranks, listed, strict=True)
        if rank <= k
    ]
    best = [
        (gain, of.number(1) if a["ideal"] == "undiscounted" else _divisor(rank, a, of))
        for rank, gain in enumerate(_ideal(items, listed, k, a, of), 1)
    ]
    dcg, idcg = (
        _total((gain / divisor for gain, divisor in side), of.number(0)) for side in (cut, best)
    )
    if a["ideal"] == "absent":
        return Parts(cut, [], dcg)
    if idcg == 0 or (a["negative"] == "sum" and sum(i.grade or 0 for i in items) == 0):
        has_relevant = a["ideal"] in OF_LIST and any(item.gain > 0 for item in items)
        return Parts(cut, best, of.number(0 if has_relevant else "nan"))
    ratio = dcg / idcg * of.number(FACTORS[a["factor"]])
    if a["duplicates"] == "clipped" and ratio > 1:
        ratio = of.number(1)
    if length < k and a["short"] in ("zero", "scaled"):
        ratio *= of.number(length if a["short"] == "scaled" else 0) / k
    return Parts(cut, best, ratio)


def bounds(case: Mapping[str, Any], answers: Answers) -> tuple[float, float]:
    """Return the values of the worst and of the best order of equal scores."""
    worst, best = (value(case, {**answers, "ties": rule}) for rule in ("worst", "best"))
    return worst, best


def _items(case: Mapping[str, Any], a: Answers, of: Arithmetic) -> list[Item]:
    names = case.get("items") or range(len(case["relevance"]))
    grades = (_grade(grade, a) for grade in case["relevance"])
    scores = (_score(score, a) for score in case["scores"])
    return [
        Item(name, grade, score, _gain(grade, a, of))
        for name, grade, score in zip(names, grades, scores, strict=True)
        if grade is not None or score is not None
    ]


def _grade(grade: float | None, a: Answers) -> float | None:
    if grade is None:
        return 1 if a["unjudged"] == "judged" else None
    if grade < 0 and a["negative"] in ("zero", "absolute"):
        grade = 0 if a["negative"] == "zero" else -grade
    if a["grades"] == "whole":
        return int(grade)
    if a["grades"] == "rounded":
        return math.floor(grade + 0.5)
    return 0 if a["grades"] == "from 1" and 0 < grade < 1 else grade


def _score(score: float | None, a: Answers) -> float | None:
    if score is None or a["scores"] == "double":
        return score
    if a["scores"] == "positive":
        return score if score > 0 else None
    if a["scores"] == "absolute":
        return abs(score)
    if a["scores"] == "whole":
        return int(score)
    return float(struct.unpack("f", struct.pack("f", score))[0])


def _gain(grade: float | None, a: Answers, of: Arithmetic) -> Any:
    if grade is None:
        return of.number(0)
    two, exact = of.number(2), of.number(grade)
    form, _, limit = a["gain"].partition(" clipped at ")
    if limit or form.startswith("clipped"):
        exact = min(exact, of.number(int((limit or form)[-1])))
    if form in ("binary", "judged"):
        return of.number(int(grade > 0 or form == "judged"))
    if form == "exp2+1":
        return two ** (exact + 1) - 1 if grade >= 0 else of.number(0)
    if form == "square":
        return exact * abs(exact)
    if form == "power of 2":
        return two**exact
    return two**exact - 1 if form == "exp2" else exact


def _divisor(rank: int, a: Answers, of: Arithmetic) -> Any:
    form = a["discount"]
    if form == "log(i + 1), first twice":
        return of.log2(max(rank, 2) + 1) / of.log2(3)
    if form == "jarvelin":
        return of.log2(max(rank, 2))
    if form in ("log", "log(i + 2)"):
        return of.log2(rank + (1 if form == "log" else 2))
    return of.number({"reciprocal": rank, "none": 1, "root": rank**0.5}[form])


def _ranked(items: list[Item], a: Answers, of: Arithmetic) -> list[Item]:
    """Return the list in its order: ties and repeats as answered, gains those that count."""
    kept = [item for item in items if item.grade is not None or a["unjudged"] != "removed"]
    sign = {"descending": -1, "ascending": 1, "input": 0}[a["order"]]
    gains = {"best": -1, "worst": 1}.get(a["ties"], 0)
    if a["ties"] == "last":
        kept = kept[::-1]
    ranked = sorted(kept, key=lambda item: (sign * (item.score or 0.0), gains * item.gain))
    if a["ties"] == "average" and sign:
        groups: dict[float, list[Any]] = {}
        for item in ranked:
            groups.setdefault(item.score or 0.0, []).append(item.gain)
        means = {score: _total(group) / len(group) for score, group in groups.items()}
        ranked = [item._replace(gain=means[item.score or 0.0]) for item in ranked]
    if a["duplicates"] in ("again", "both", "clipped"):
        return ranked
    if a["duplicates"] == "joined":
        times = Counter(item.name for item in ranked)
        return [item._replace(gain=item.gain * times[item.name]) for item in ranked]
    if a["duplicates"] == "latest":
        last = {item.name: rank for rank, item in enumerate(ranked)}
        return [item for rank, item in enumerate(ranked) if last[item.name] == rank]
    seen: set[object] = set()
    out = []
    for item in ranked:
        if item.name not in seen:
            out.append(item)
        elif a["duplicates"] == "once":
            out.append(item._replace(gain=of.number(0)))
        seen.add(item.name)
    return out


def _ranks(listed: list[Item], a: Answers) -> list[int]:
    """Return the rank of each item of the list."""
    if a["ties"] != "shared":
        return [*range(1, len(listed) + 1)]
    scores = [item.score for item in listed]
    return [scores.index(score) + 1 + (scores.count(score) - 1) // 2 for score in scores]


def _ideal(items: list[Item], listed: list[Item], k: int, a: Answers, of: Arithmetic) -> list[Any]:
    """Return the gains of the ideal ranking, in its order."""
    form = a["ideal"]
    if form == "retrieved":
        chosen = listed[:k]
    elif form in ("listed", "listed, uncut"):
        chosen = [item for item in items if item.score is not None]
    else:
        chosen = items
    if a["duplicates"] != "both":
        chosen = list({item.name: item for item in reversed(chosen)}.values())[::-1]
    if a["duplicates"] == "joined":
        times, top = (Counter(item.name for item in each) for each in (listed, listed[:k]))
        chosen = [i for i in chosen for _ in range(times[i.name] * top[i.name] or 1)]
    gains = [item.gain for item in chosen if item.grade is not None]
    if form == "full":
        return [of.number(1)] * k if any(gains) else []
    if form != "given":
        gains.sort(reverse=form != "worst")
    if form in ("uncut", "listed, uncut"):
        return gains
    return gains[: min(k, len(listed)) if form == "length" else 1 if form == "one" else k]


def _mean(case: Mapping[str, Any], answers: Answers, of: Arithmetic) -> Any:
    """Return the mean over users; a user without relevant items has the value nan."""
    rule, k = answers.get("mean", DEFAULTS["mean"]), case["k"]
    users = [parts(user | {"k": k}, answers, of) for user in case["users"]]
    lengths = [sum(score is not None for score in user["scores"]) for user in case["users"]]
    if rule == "pooled":
        sides = ([user.listed for user in users], [user.ideal for user in users])
        dcg, idcg = (_total(gain / by for side in each for gain, by in side) for each in sides)
        return dcg / idcg if idcg else of.number("nan")
    without = {"one": 1, "nan": math.nan}.get(rule, 0)
    values, weights = [], []
    for user, length in zip(users, lengths, strict=True):
        defined = user.value == user.value
        if (defined or rule not in ("defined", "listed")) and (length or "listed" not in rule):
            values.append(user.value if defined else of.number(without))
            weights.append(length if rule == "weighted" else 1)
    if rule == "median":
        return statistics.median(values)
    total = sum(weights)
    scores = _total(v * w for v, w in zip(values, weights, strict=True))
    return scores / total if total else math.nan


def _total(numbers: Iterable[Any], zero: Any = 0) -> Any:
    """Return numbers added in their order; ``sum`` of floats differs by the version of Python."""
    return reduce(add, numbers, zero)
