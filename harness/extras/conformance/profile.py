"""From what an implementation returned for each case to what it computes, and what is odd.

One question after the other: each keeps the combinations of answers that give all values of its
cases. Documented answers come first; only if none is left, those that are known as deviations.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.extras.conformance.calculation import DEFAULTS, bounds, parts, value

TOLERANCE = 6e-6
"""What a value may differ by: some libraries compute in 32 bits or round to five decimals."""
CORE = ("gain", "discount", "ideal", "order")
"""Questions whose answers are found together."""
STAGES = (
    "missing",
    "short",
    "ties",
    "scores",
    "negative",
    "grades",
    "unjudged",
    "duplicates",
    "mean",
)
"""Questions that are asked one by one; `missing` narrows the answers on the ideal."""
OUTCOMES = ("nothing", "empty")
"""Questions whose answer is what comes back."""
Got = Any
"""A number, "nan", None, {"error": reason} or {"skip": reason}."""


class Question(NamedTuple):
    """A question of the suite: its title, its documented answers, and known deviations."""

    title: str
    answers: dict[str, str]
    deviations: dict[str, str]

    def sentence(self, answer: str) -> str:
        """Return what an answer says."""
        return (self.answers | self.deviations).get(answer, answer)


@dataclass(frozen=True)
class Deviation:
    """A value that no documented convention gives.

    `answer` names the known deviation that gives all values, or is "" where nothing does; `case` is
    the first case that no convention explains, with what was returned, the arithmetic of the
    nearest convention, and the arithmetic of the known deviation.
    """

    question: str
    answer: str
    sentence: str
    case: str
    tells: str
    returned: float | str | None
    arithmetic: str
    deviating: str = ""


@dataclass
class Profile:
    """What an implementation computes: by question its answers, and what is odd."""

    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Several where the cases cannot tell them apart."""
    unasked: dict[str, str] = field(default_factory=dict)
    """By question, why it has no answer: the cases cannot be expressed, or are refused."""
    refused: dict[str, str] = field(default_factory=dict)
    """By case, the error that the implementation raised."""
    findings: list[Deviation] = field(default_factory=list)
    conventions: list[str] = field(default_factory=list)
    """Named conventions that give all values."""
    largest_difference: float = 0.0

    @property
    def is_explained(self) -> bool:
        """Whether documented conventions give all values."""
        return not self.findings

    def sentence(self, question: str) -> str:
        """Return the answer to a question in words."""
        if question in self.unasked:
            return self.unasked[question]
        known = questions()[question]
        return " or ".join(known.sentence(answer) for answer in self.answers.get(question, ()))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` gives."""
        return asdict(self) | {"is_explained": self.is_explained}


INSTALLED = Path(__file__).with_name("suite")
FOLDER = INSTALLED if INSTALLED.is_dir() else Path(__file__).parents[3] / "results" / "conformance"
"""The suite: in an installed package, or in a checkout."""


@cache
def suite() -> dict[str, Any]:
    """Return the cases and the named conventions."""
    return dict(json.loads((FOLDER / "cases.json").read_text(encoding="utf-8")))


@cache
def questions() -> dict[str, Question]:
    """Return the questions in their order."""
    text = (FOLDER / "questions.toml").read_text(encoding="utf-8")
    return {
        name: Question(each["title"], each["answers"], each.get("deviations", {}))
        for name, each in tomllib.loads(text).items()
    }


def profile(got: Mapping[str, Got]) -> Profile:
    """Profile an implementation.

    Parameters
    ----------
    got : mapping of str to object
        By name of a case what was returned, in the form that ``runner.py --json`` writes.

    Returns
    -------
    Profile

    Raises
    ------
    HarnessError
        If it returned no number for the cases on gain, discount, ideal and order.
    """
    found = Profile()
    cases = suite()["cases"]
    numeric = [case for case in cases if isinstance(got[case["name"]], float)]
    found.refused = {
        name: each["error"]
        for name, each in got.items()
        if isinstance(each, dict) and "error" in each
    }
    core = [case for case in numeric if case["question"] in CORE]
    if not core:
        without = "every value is None" if None in got.values() else "every case is left out"
        why = next(iter(found.refused.values()), without)
        raise HarnessError(
            f"no value for any case on gain, discount, ideal and order ({why}); return a number "
            "from ndcg(relevance, scores, k), and None only if there is no value"
        )
    axes = ("gain", "discount", "ideal", "order", "factor")
    left = _explain(found, "gain", core, [dict(DEFAULTS)], axes, got)
    if left is not None:
        for question in STAGES:
            asked = [case for case in cases if case["question"] == question]
            axis = "ideal" if question == "missing" else question
            usable = [each for each in asked if not isinstance(got[each["name"]], dict)]
            if not usable:
                _leave(found, question, [got[case["name"]] for case in asked])
                continue
            more = core if question == "missing" else []
            left = _explain(found, question, [*usable, *more], left, (axis,), got) or left
        for question in OUTCOMES:
            _observe(found, question, [c for c in cases if c["question"] == question], left, got)
        for axis in questions():
            if axis not in found.unasked and axis not in OUTCOMES:
                found.answers[axis] = tuple(dict.fromkeys(each[axis] for each in left))
    for case in numeric:
        nearest = [abs(value(case, each) - got[case["name"]]) for each in left or ()]
        if nearest and min(nearest) <= TOLERANCE:
            found.largest_difference = max(found.largest_difference, min(nearest))
    found.conventions = [
        name
        for name in suite()["conventions"]
        if all(agrees(got[case["name"]], case["values"][name]) for case in cases)
    ]
    return found


def agrees(got: Got, stated: str | None) -> bool:
    """Return whether what was returned is the value of a named convention, or tells nothing."""
    if isinstance(got, dict) or stated is None:
        return True
    if stated == "nan":
        return got in ("nan", None)
    return isinstance(got, float) and abs(got - float(stated)) <= TOLERANCE


def _explain(
    found: Profile,
    question: str,
    cases: Sequence[Mapping[str, Any]],
    left: list[dict[str, str]],
    axes: tuple[str, ...],
    got: Mapping[str, Got],
) -> list[dict[str, str]] | None:
    """Return the combinations of answers that give all values; None if there is none.

    A value that no documented answer explains becomes a finding.
    """
    odd: Deviation | None = None
    for n_deviations, is_arbitrary in _tiers(axes):
        kept = list(_combinations(left, axes, n_deviations, is_arbitrary=is_arbitrary))
        for case in cases:
            before, kept = kept, [each for each in kept if _gives(each, case, got[case["name"]])]
            if not kept:
                if odd is None:
                    odd = _finding(question, case, before, got[case["name"]])
                break
        if kept and odd is not None:
            (case,) = (each for each in cases if each["name"] == odd.case)
            odd = replace(odd, deviating=arithmetic(case, kept[0]))
            found.findings += _deviations(kept[0], axes, odd, found.findings)
        if kept:
            return kept
    if odd is not None:
        found.findings.append(odd)
    found.unasked[question] = "no known answer gives all values"
    return None


def _deviations(
    answers: Mapping[str, str], axes: Sequence[str], odd: Deviation, known: Sequence[Deviation]
) -> list[Deviation]:
    """Return a finding for each answer that is a deviation and not known yet."""
    out = []
    for axis in axes:
        question, answer = questions()[axis], answers[axis]
        is_known = any((each.question, each.answer) == (axis, answer) for each in known)
        if answer in question.deviations and not is_known:
            sentence = f"{question.title}: {question.deviations[answer]}"
            out.append(replace(odd, question=axis, answer=answer, sentence=sentence))
    return out


def _tiers(axes: tuple[str, ...]) -> Iterator[tuple[int, bool]]:
    """Yield how many answers may be deviations, and whether ties may be arbitrary."""
    yield 0, False
    if axes == ("ties",):
        yield 0, True
    yield from ((n, False) for n in range(1, min(len(axes), 2) + 1))


def _combinations(
    left: list[dict[str, str]], axes: tuple[str, ...], n_deviations: int, *, is_arbitrary: bool
) -> Iterator[dict[str, str]]:
    """Yield what may be computed, with this many deviations on some of the questions."""
    known = questions()
    others = [{key: word for key, word in each.items() if key not in axes} for each in left]
    distinct = [each for n, each in enumerate(others) if each not in others[:n]]
    for chosen in itertools.combinations(axes, n_deviations):
        pools = [
            [
                answer
                for answer in (known[axis].deviations if axis in chosen else known[axis].answers)
                if is_arbitrary or answer != "arbitrary"
            ]
            for axis in axes
        ]
        for base, options in itertools.product(distinct, itertools.product(*pools)):
            combined = {**base, **dict(zip(axes, options, strict=True))}
            is_graded = combined["gain"] not in ("binary", "judged")
            pair = combined["ideal"], combined["ties"]
            if pair != ("retrieved", "average") and not (is_graded and pair[0] == "full"):
                yield combined


def _gives(answers: Mapping[str, str], case: Mapping[str, Any], returned: Got) -> bool:
    """Return whether a combination of answers gives what was returned for a case."""
    if isinstance(returned, dict):
        return True
    if answers["ties"] == "arbitrary":
        low, high = bounds(case, answers)
        return isinstance(returned, float) and low - TOLERANCE <= returned <= high + TOLERANCE
    expected = value(case, answers)
    if expected != expected:
        return returned in ("nan", None, 0.0, 1.0)
    return isinstance(returned, float) and abs(returned - expected) <= TOLERANCE


def _finding(
    question: str, case: Mapping[str, Any], left: Sequence[Mapping[str, str]], returned: Got
) -> Deviation:
    """Describe the first case that nothing explains, beside the nearest value of a convention."""
    number = returned if isinstance(returned, float) else 0.0
    nearest = dict(sorted(left, key=lambda each: abs(value(case, each) - number))[0])
    if nearest["ties"] == "arbitrary":
        nearest["ties"] = "best"
    shown = returned if isinstance(returned, float | str) else None
    sentence, sums = "no convention gives this value", arithmetic(case, nearest)
    return Deviation(question, "", sentence, case["name"], case["tells"], shown, sums)


def arithmetic(case: Mapping[str, Any], answers: Mapping[str, str]) -> str:
    """Return the sums behind a value in words."""
    if "users" in case:
        each = [parts(user | {"k": case["k"]}, answers).value for user in case["users"]]
        shown = ", ".join(f"{x:.6g}" for x in each)
        return f"values of the users: {shown}; mean {value(case, answers):.6g}"
    found = parts(case, answers)
    sides = []
    for name, side in (("DCG", found.listed), ("ideal DCG", found.ideal)):
        terms = " + ".join(f"{gain:.6g}/{by:.5g}" for gain, by in side) or "0"
        sides.append(f"{name} = {terms} = {sum(gain / by for gain, by in side):.6g}")
    return f"{'; '.join(sides)}; value {found.value:.6g}"


def _leave(found: Profile, question: str, got: Sequence[Got]) -> None:
    """Note why a question has no answer."""
    errors = [each["error"] for each in got if "error" in each]
    skipped = [each["skip"] for each in got if "skip" in each]
    found.unasked[question] = f"refused: {errors[0]}" if errors else f"not asked: {skipped[0]}"


def _observe(
    found: Profile,
    question: str,
    cases: Sequence[Mapping[str, Any]],
    left: Sequence[Mapping[str, str]],
    got: Mapping[str, Got],
) -> None:
    """Note what comes back where a value is not defined, or is 0 by definition."""
    seen = []
    for case in cases:
        returned = got[case["name"]]
        if isinstance(returned, dict):
            seen += ["error"] if "error" in returned else []
            continue
        expected = value(case, left[0])
        if question == "nothing" and expected == expected and _gives(left[0], case, returned):
            continue  # grade 0 is relevant there
        word = {"nan": "nan", None: "none", 0.0: "0", 1.0: "1"}.get(returned, "")
        if not word:
            found.findings.append(_finding(question, case, left, returned))
            found.unasked[question] = "no known answer gives all values"
            return
        seen.append(word)
    if seen:
        found.answers[question] = tuple(dict.fromkeys(seen))
    else:
        without = [each for case in cases if isinstance(each := got[case["name"]], dict)]
        _leave(found, question, without or [{"skip": "grade 0 is relevant there"}])
