"""From what an implementation returned for each case to what it computes, and what is odd.

One question after the other: each keeps the combinations of answers that give all values of its
cases. Documented answers come first; only if none is left, those that are known as deviations.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.extras.conformance.calculation import DEFAULTS, Answers, parts, value

TOLERANCE = 6e-6
"""What a value may differ by: some libraries compute in 32 bits or round to five decimals."""
CORE = ("gain", "discount", "ideal", "cut", "order", "factor")
"""Questions whose answers are found together; the cases of the others show `cut` and `factor`."""
OUTCOMES = ("nothing", "empty")
"""Questions whose answer is what comes back."""
WORDS = {"nan": "nan", None: "none", 0.0: "0", 1.0: "1"}
"""What may come back, and the answers that it is."""
UNEXPLAINED = "no known answer gives all values"
INSTALLED = Path(__file__).with_name("suite")
FOLDER = INSTALLED if INSTALLED.is_dir() else Path(__file__).parents[3] / "results" / "conformance"
"""The suite: in an installed package, or in a checkout."""
Got = Any
"""A number, "nan", "inf", "-inf", None, {"error": reason} or {"skip": reason}."""
Asked = Sequence[tuple[Mapping[str, Any], Got]]
"""Cases, each with what was returned for it."""


class Question(NamedTuple):
    """A question of the suite: its title, its documented answers, and known deviations."""

    title: str
    answers: dict[str, str]
    deviations: Mapping[str, str] = {}


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

    @property
    def is_explained(self) -> bool:
        """Whether documented conventions give all values."""
        return not self.findings

    def sentence(self, question: str) -> str:
        """Return the answer to a question in words."""
        if question in self.unasked:
            return self.unasked[question]
        words = {**questions()[question].answers, **questions()[question].deviations}
        return " or ".join(words.get(answer, answer) for answer in self.answers.get(question, ()))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` gives."""
        return asdict(self) | {"is_explained": self.is_explained}


@cache
def suite() -> dict[str, Any]:
    """Return the cases and the named conventions."""
    return dict(json.loads((FOLDER / "cases.json").read_text(encoding="utf-8")))


@cache
def questions() -> dict[str, Question]:
    """Return the questions in their order."""
    text = (FOLDER / "questions.toml").read_text(encoding="utf-8")
    return {name: Question(**each) for name, each in tomllib.loads(text).items()}


def profile(got: Mapping[str, Got]) -> Profile:
    """Profile an implementation by its value for each case, in the form of ``runner.py --json``.

    A `HarnessError` says that it gave no number for the cases on gain, discount, ideal and order.
    """
    cases = suite()["cases"]
    named = suite()["conventions"]
    failed = {name: each for name, each in got.items() if isinstance(each, dict)}
    found = Profile(
        refused={name: each["error"] for name, each in failed.items() if "error" in each},
        conventions=[
            name
            for name in named
            if all(agrees(got[case["name"]], case["values"][name]) for case in cases)
        ],
    )
    asked, usable = defaultdict(list), defaultdict(list)
    for case in cases:
        asked[case["question"]].append((case, got[case["name"]]))
        if case["name"] not in failed:
            usable[case["question"]].append((case, got[case["name"]]))
    core = [each for question in CORE for each in usable[question]]
    if not any(isinstance(returned, float) for _, returned in core):
        without = "every value is None" if None in got.values() else "every case is left out"
        why = next(iter(found.refused.values()), without)
        raise HarnessError(
            f"no value for any case on gain, discount, ideal and order ({why}); return a number "
            "from ndcg(relevance, scores, k), and None only if there is no value"
        )
    left = _explain(found, "gain", CORE, core, [DEFAULTS])
    if left is None:
        return found
    if missing := usable["missing"]:  # the same question, asked with lists that leave items out
        left = _explain(found, "missing", ("ideal",), missing + core, left) or left
    else:
        found.unasked["missing"] = _reason(asked["missing"])
    for question in questions():
        if question in OUTCOMES:
            _observe(found, question, asked[question], left[0])
        elif question not in CORE and usable[question]:
            left = _explain(found, question, (question,), usable[question], left) or left
        elif question not in CORE:
            found.unasked[question] = _reason(asked[question])
    for question in left[0]:
        if question not in found.unasked:
            found.answers[question] = tuple(dict.fromkeys(each[question] for each in left))
    return found


def agrees(got: Got, stated: str | None) -> bool:
    """Return whether what was returned is the value of a named convention, or tells nothing."""
    if isinstance(got, dict) or stated is None:
        return True
    if stated == "nan":
        return got in ("nan", None)
    return isinstance(got, float) and abs(got - float(stated)) <= TOLERANCE


def _explain(
    found: Profile, question: str, axes: Sequence[str], asked: Asked, left: Sequence[Answers]
) -> list[Answers] | None:
    """Return the combinations of answers on `axes` that give all values; None if there is none.

    A value that no documented answer explains becomes a finding.
    """
    odd: Deviation | None = None
    odd_case: Mapping[str, Any] = {}
    for n_deviations in range(min(len(axes), 2) + 1):
        kept = [*_combinations(left, axes, n_deviations)]
        for case, returned in asked:
            before, kept = kept, [each for each in kept if _gives(each, case, returned)]
            if not kept:
                if odd is None:
                    odd, odd_case = _finding(question, case, before, returned), case
                break
        else:
            if odd is not None:
                odd = replace(odd, deviating=arithmetic(odd_case, kept[0]))
                found.findings += _deviations(found, axes, kept[0], odd)
            return [each for each in kept if each["ties"] != "arbitrary"] or kept
    if odd is not None:
        found.findings.append(odd)
    found.unasked[question] = UNEXPLAINED
    return None


def _combinations(
    left: Sequence[Answers], axes: Sequence[str], n_deviations: int
) -> Iterator[Answers]:
    """Yield what may be computed, with this many deviations on some of the questions."""
    known = questions()
    bases = {tuple((key, each[key]) for key in each if key not in axes): None for each in left}
    for odd in itertools.combinations(axes, n_deviations):
        pools = [known[axis].deviations if axis in odd else known[axis].answers for axis in axes]
        for base, chosen in itertools.product(bases, itertools.product(*pools)):
            answers = dict([*base, *zip(axes, chosen, strict=True)])
            is_graded = answers["gain"] not in ("binary", "judged")
            pair = answers["ideal"], answers["ties"]
            if pair != ("retrieved", "average") and not (is_graded and pair[0] == "full"):
                yield answers


def _gives(answers: Answers, case: Mapping[str, Any], returned: Got) -> bool:
    """Return whether a combination of answers gives what was returned for a case."""
    orders = ("worst", "best") if answers["ties"] == "arbitrary" else (answers["ties"],)
    expected = [value(case, {**answers, "ties": order}) for order in orders]
    if expected[0] != expected[0]:
        return returned in WORDS
    low, high = expected[0] - TOLERANCE, expected[-1] + TOLERANCE
    return isinstance(returned, float) and low <= returned <= high


def _finding(
    question: str, case: Mapping[str, Any], left: Sequence[Answers], returned: Got
) -> Deviation:
    """Describe the first case that nothing explains, beside the nearest value of a convention."""
    number = returned if isinstance(returned, float) else 0.0
    nearest = min(left, key=lambda each: abs(value(case, each) - number))
    sentence, sums = "no convention gives this value", arithmetic(case, nearest)
    return Deviation(question, "", sentence, case["name"], case["tells"], returned, sums)


def _deviations(
    found: Profile, axes: Sequence[str], answers: Answers, odd: Deviation
) -> Iterator[Deviation]:
    """Yield a finding for each answer that is a deviation and not known yet."""
    known = {(each.question, each.answer) for each in found.findings}
    for axis in axes:
        title, _, deviations = questions()[axis]
        answer = answers[axis]
        if answer in deviations and (axis, answer) not in known:
            sentence = f"{title}: {deviations[answer]}"
            yield replace(odd, question=axis, answer=answer, sentence=sentence)


def arithmetic(case: Mapping[str, Any], answers: Answers) -> str:
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


def _reason(asked: Asked) -> str:
    """Return why a question has no answer."""
    errors = [returned["error"] for _, returned in asked if "error" in returned]
    skipped = [returned["skip"] for _, returned in asked if "skip" in returned]
    return f"refused: {errors[0]}" if errors else f"not asked: {skipped[0]}"


def _observe(found: Profile, question: str, asked: Asked, answers: Answers) -> None:
    """Note what comes back where a value is not defined, or is 0 by definition."""
    seen = []
    why = "not asked: grade 0 is relevant there"
    for case, returned in asked:
        expected = value(case, answers)
        if isinstance(returned, dict):
            seen += ["error"] if "error" in returned else []
            why = _reason([(case, returned)])
        elif question == "empty" or expected != expected or not _gives(answers, case, returned):
            if returned not in WORDS:
                found.findings.append(_finding(question, case, [answers], returned))
                found.unasked[question] = UNEXPLAINED
                return
            seen.append(WORDS[returned])
    if seen:
        found.answers[question] = tuple(dict.fromkeys(seen))
    else:
        found.unasked[question] = why
