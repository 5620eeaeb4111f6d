"""What a metric declares: one decorated function with its parameters, range, formula and source.

Labels, lists, documentation and scoring read the declaration; a new metric is one such function in
the module of its family.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np

from harness.errors import MetricError, suggestion
from harness.metrics.arrays import Exposure, Floats, Pairs, Rankings, Scores

__all__ = ["DEFINITIONS", "Definition", "Parameter", "Params", "Value", "metric", "number"]

T = TypeVar("T")

GREATEST_K = 10_000_000

_VALUE = re.compile(r"(?P<word>[^\s()]+)\s*(?:\([^()]*\))?")
_WORD = re.compile(r"(?:^|, )(?!a number)(\w+)( or with \(number\)|\(number, \.\.\.\)|)")
_NUMBERS_BEHIND = {"": (0, 0), " or with (number)": (0, 1), "(number, ...)": (1, math.inf)}


def number(value: float) -> str:
    """Write a number as a label does: whole numbers without a point.

    Examples
    --------
    >>> number(2.0), number(0.8)
    ('2', '0.8')
    """
    whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


class Value(str):
    """The canonical text of a parameter's value: a word, a number, or a word with numbers.

    Examples
    --------
    >>> value = Value("table(0, 1, 4)")
    >>> value.word, value.numbers, value.as_number
    ('table', (0.0, 1.0, 4.0), None)
    """

    __slots__ = ()

    @property
    def word(self) -> str:
        """What stands before the brackets; a number too."""
        return self.partition("(")[0].strip()

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers in brackets."""
        inside = self.partition("(")[2].removesuffix(")")
        return tuple(float(each) for each in inside.split(",")) if inside else ()

    @property
    def as_number(self) -> float | None:
        """The whole text as a number, or None if it is not one."""
        try:
            return float(self)
        except ValueError:
            return None


Params = Mapping[str, Value]
"""Parameters of a metric with their values."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a label.

    Parameters
    ----------
    name : str
    default : str
        The value if the label has none; left out when a label is printed.
    choices : str
        The values that may be written: words, some with numbers in brackets, and last perhaps
        ``a number`` with ``above`` and ``below`` where it has limits.
    summary : str
        One line for lists and messages.
    apply : callable, optional
        What a value other than the default does to rankings before they are scored.

    Examples
    --------
    >>> weight = Parameter("weight", "1", "none, table(number, ...), a number above 0", "a weight")
    >>> weight.words, weight.limits, weight.check("a label", Value("2.0"))
    ({'none': '', 'table': '(number, ...)'}, (0.0, inf), '2')
    """

    name: str
    default: str
    choices: str
    summary: str
    apply: Callable[[Rankings, Params], Rankings] | None = None

    @property
    def words(self) -> dict[str, str]:
        """Words that may be written, each with what may stand behind it."""
        return dict(_WORD.findall(self.choices))

    @property
    def limits(self) -> tuple[float, float] | None:
        """Between what a plain number has to lie; None where a number may not be written."""
        found = dict(re.findall(r"(above|below) (\S+)", self.choices))
        limits = float(found.get("above", -math.inf)), float(found.get("below", math.inf))
        return limits if "a number" in self.choices else None

    def check(self, label: str, value: Value) -> Value:
        """Return a value in its canonical form, or raise an error whose message has the label."""
        plain = value.as_number
        word = value.word if plain is None or not math.isfinite(plain) else number(plain)
        if word in self.words:
            fewest, most = _NUMBERS_BEHIND[self.words[word]]
            if not fewest <= len(value.numbers) <= most:
                raise MetricError(
                    f"{label}: {self.name}={value} has {len(value.numbers)} numbers in brackets; "
                    f"write {word}{self.words[word]}"
                )
            return self._canonical(label, word, value)
        if self.limits and plain is not None and self.limits[0] < plain < self.limits[1]:
            return Value(number(plain))
        meant = suggestion(word, self.words) if self.words and plain is None else ""
        raise MetricError(
            f"{label}: {self.name} cannot be {value}; "
            + (meant if meant.startswith("did") else f"use {self.choices}")
        )

    def _canonical(self, label: str, word: str, value: Value) -> Value:
        """Write a word and its numbers in one way, after a check of the numbers."""
        numbers = value.numbers
        if not all(map(math.isfinite, numbers)):
            raise MetricError(f"{label}: {self.name}={value} is not finite; write plain numbers")
        if word == "table" and (min(numbers) < 0 or any(b < a for a, b in pairwise(numbers))):
            raise MetricError(
                f"{label}: the gains of {value} are negative or fall; write the gain of "
                "relevance 0, 1, 2, ... from the least to the most"
            )
        if word == "random":
            seed = numbers[0] if numbers else 0.0
            if not seed.is_integer() or not 0 <= seed < 2**32:
                raise MetricError(
                    f"{label}: the seed of {value} is not one; use a whole number from 0"
                )
            numbers = (seed,) if seed else ()
        return Value(f"{word}({', '.join(map(number, numbers))})" if numbers else word)


UNDEFINED = Parameter(
    "undefined",
    "nan",
    "nan, 0, 1",
    "score of a user without a relevant item; nan leaves the user out of the mean",
)
EMPTY = Parameter(
    "empty",
    "0",
    "nan, 0, 1",
    "score of a user with relevant items but nothing recommended; nan also without such items",
)
SHORT = Parameter(
    "short", "kept", "kept, skipped", "lists shorter than k: kept, cut at their length, or skipped"
)


@dataclass(eq=False)
class Definition:
    """The definition of one metric, in place of the function that computes it.

    A call scores one kind of evidence: ``ndcg(lists, 10, ties="first")``, ``rmse(pairs)``.

    Parameters
    ----------
    compute : callable
        From rankings, ranks and parameters, the scores of shape (n_users, n_k), nan where nothing
        is relevant. From pairs and parameters, the users' scores and the pooled value. From
        rankings, ranks, parameters and exposure, the users' scores, or one value at each rank.
        Its name is the metric's; the first paragraph of its docstring is the summary.
    formula, source : str
        One line each; the source with a DOI where there is one. In formulas ``i`` is a rank from
        1, ``rel_i`` the relevance found there, ``R`` the user's relevant items.
    parameters : tuple of Parameter
        In the order in which labels print them.
    range : (float, float)
        Least and greatest value.
    higher_is_better : bool
    needs : {"rankings", "pairs", "items"}
        Its input: ranked lists, pairs of estimate and rating, or the items at the top of each list
        together with the training ratings.
    cut : {"optional", "required", "none"}
        Whether a label has ``@k``; without it the whole list counts.
    pooled : bool
        Whether its table value is computed over all users at once, not as the mean of their scores.
    per_user : bool
        Whether it has scores per user at all.
    synonyms : tuple of str
        Other names, for messages only: a label has one spelling.
    fault : callable, optional
        Takes parameters and the rank; returns what is wrong with them together, or "".
    fault_of_relevance : callable, optional
        Takes parameters and relevances; returns why one of them has no gain, or "".
    """

    compute: Callable[..., Any]
    formula: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: Literal["rankings", "pairs", "items"] = "rankings"
    cut: Literal["optional", "required", "none"] = "optional"
    pooled: bool = False
    per_user: bool = True
    synonyms: tuple[str, ...] = ()
    fault: Callable[[Params, int | None], str] | None = None
    fault_of_relevance: Callable[[Params, Floats], str] | None = None

    def __post_init__(self) -> None:
        update_wrapper(self, self.compute)

    @property
    def name(self) -> str:
        """Its name in labels."""
        return self.compute.__name__

    @property
    def summary(self) -> str:
        """What it measures, in a sentence or two."""
        return " ".join((self.compute.__doc__ or "").partition("\n\n")[0].split())

    @property
    def parameter(self) -> dict[str, Parameter]:
        """The parameters by name."""
        return {each.name: each for each in self.parameters}

    def __call__(
        self,
        evidence: Rankings | Pairs,
        k: int | None = None,
        *,
        exposure: Exposure | None = None,
        **params: object,
    ) -> Scores:
        """Score rankings, or pairs, at one rank or as a whole, with parameters as in a label."""
        label = label_of(self.name, params, k)
        given = dict(read_parameter(label, f"{name}={value}") for name, value in params.items())
        chosen, _ = self.choose(label, given, None if k is None else str(k))
        rankings, pairs = (None, evidence) if isinstance(evidence, Pairs) else (evidence, None)
        return self.scores(chosen, [k], rankings, pairs, exposure)[0]

    def complete(self, chosen: Params) -> Params:
        """Return every parameter with its value, defaults included."""
        return {each.name: Value(each.default) for each in self.parameters} | dict(chosen)

    def choose(
        self, label: str, given: Params, k: str | None
    ) -> tuple[dict[str, Value], int | None]:
        """Check a label's parts; return values that are not defaults, in order, and the rank."""
        own = self.parameter
        for name in given:
            if name not in own:
                raise MetricError(
                    f"{label}: {self.name} has no parameter {name!r}; {suggestion(name, own)}"
                )
        values = {name: own[name].check(label, given[name]) for name in own if name in given}
        chosen = {name: value for name, value in values.items() if value != own[name].default}
        cut = self._cut(label, k)
        if self.fault is not None and (fault := self.fault(self.complete(chosen), cut)):
            raise MetricError(f"{label}: {fault.format(label=label)}")
        return chosen, cut

    def _cut(self, label: str, written: str | None) -> int | None:
        if written is None:
            if self.cut == "required":
                raise MetricError(f"{label}: {self.name} needs a rank; write {label}@10")
            return None
        if self.cut == "none":
            raise MetricError(f"{label}: {self.name} has no rank; leave @{written} out")
        sound = written.isascii() and written.isdigit() and len(written) <= len(str(GREATEST_K))
        if not (sound and 0 < int(written) <= GREATEST_K):
            raise MetricError(f"{label}: k is {written!r}; use a whole number from 1")
        return int(written)

    def check_relevance(self, chosen: Params, relevance: Floats) -> None:
        """Refuse relevances without a gain."""
        if self.fault_of_relevance is None or not len(relevance):
            return
        if fault := self.fault_of_relevance(self.complete(chosen), relevance):
            raise MetricError(f"{label_of(self.name, chosen, None)}: {fault}")

    def scores(
        self,
        chosen: Params,
        ks: Sequence[int | None],
        rankings: Rankings | None = None,
        pairs: Pairs | None = None,
        exposure: Exposure | None = None,
    ) -> list[Scores]:
        """Score at each rank, where None is the whole list; see `harness.metrics.score`."""
        params, label = self.complete(chosen), label_of(self.name, chosen, ks[0])
        if self.needs == "pairs":
            pairs = _there(pairs, "pairs of estimate and rating", label)
            per_user, pooled = self.compute(pairs, params)
            return [Scores(per_user, pooled, int(np.isnan(per_user).sum()))]
        lists = _there(rankings, "rankings", label)
        self.check_relevance(chosen, lists.pool)
        for parameter in self.parameters:
            if parameter.apply is not None and parameter.name in chosen:
                lists = parameter.apply(lists, params)
        cuts = np.array([lists.longest if k is None else k for k in ks], dtype=np.int64)
        cuts, column = np.unique(cuts, return_inverse=True)
        if self.needs == "items":
            exposure = _there(exposure, "exposure", label)
            try:
                values = self.compute(lists, cuts, params, exposure)
            except MetricError as error:
                raise MetricError(f"{self.name}@{cuts.max()}: {error}") from None
            if not self.per_user:
                nobody = np.full(lists.n_users, np.nan)
                return [Scores(nobody, float(value), 0) for value in values[column]]
        else:
            values = self.compute(lists, cuts, params)
        return [
            _average(_apply_rules(params, k, values[:, at], lists))
            for k, at in zip(ks, column, strict=True)
        ]


def _there(evidence: T | None, what: str, label: str) -> T:
    if evidence is None:
        raise MetricError(f"{label}: it needs {what}, but there are none; leave the metric out")
    return evidence


def _apply_rules(params: Params, k: int | None, values: Floats, lists: Rankings) -> Floats:
    """Fill in the scores of users without relevant items, lists or enough items."""
    values, undefined = values.copy(), np.isnan(values)
    if "undefined" in params:
        values[undefined] = float(params["undefined"])
    if "empty" in params:
        kept = undefined & (params["empty"] != "nan")
        values[(lists.n_ranked == 0) & ~kept] = float(params["empty"])
    if params.get("short") == "skipped" and k is not None:
        values[lists.n_ranked < k] = np.nan
    return values


def _average(values: Floats) -> Scores:
    """Average defined scores and count undefined ones."""
    defined = values[~np.isnan(values)]
    mean = float(defined.mean()) if len(defined) else math.nan
    return Scores(values, mean, len(values) - len(defined))


DEFINITIONS: dict[str, Definition] = {}
"""The metrics by name."""


def metric(formula: str, source: str, **more: Any) -> Callable[[Callable[..., Any]], Definition]:
    """Declare the decorated function as a metric, with what `Definition` takes."""

    def declare(compute: Callable[..., Any]) -> Definition:
        DEFINITIONS[compute.__name__] = Definition(compute, formula, source, **more)
        return DEFINITIONS[compute.__name__]

    return declare


def label_of(name: str, params: Mapping[str, object], k: int | None) -> str:
    """Write a label: ``name(parameter=value)@k``."""
    inside = ", ".join(f"{parameter}={value}" for parameter, value in params.items())
    return name + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")


def read_parameter(label: str, text: str) -> tuple[str, Value]:
    """Read ``parameter=value``; what the parameter takes is for `Parameter.check`."""
    name, equals, written = text.partition("=")
    found = _VALUE.fullmatch(written.strip())
    if not equals or not name.strip() or not found:
        raise MetricError(f"{label}: {text!r} is not a parameter; write parameter=value")
    value = Value(found[0])
    try:
        _ = value.numbers
    except ValueError:
        raise MetricError(
            f"{label}: {written.strip()!r} has something other than numbers in its brackets; "
            f"write them as {found['word']}(1, 2)"
        ) from None
    return name.strip(), value
