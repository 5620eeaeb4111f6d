"""What a metric declares: one decorated function with its parameters, range, formula and source.

Labels, lists, documentation and scoring read the declaration; a new metric is one such function in
the module of its family.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import update_wrapper
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np

from harness.errors import MetricError, suggestion
from harness.metrics.arrays import Exposure, Floats, Pairs, Rankings, Scores

__all__ = [
    "DEFINITIONS",
    "Definition",
    "Parameter",
    "Params",
    "Value",
    "label_of",
    "metric",
    "number",
    "read_parameter",
    "words",
]

T = TypeVar("T")

_VALUE = re.compile(r"(?P<word>[^\s()]+)\s*(?:\([^()]*\))?")

GREATEST_K = 10_000_000


def number(value: float) -> str:
    """Write a number as a label does: whole numbers without a point.

    Examples
    --------
    >>> number(2.0), number(0.8)
    ('2', '0.8')
    """
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )


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


Params = Mapping[str, Value]
"""Parameters of a metric with their values."""


def label_of(name: str, params: Mapping[str, object], k: int | None) -> str:
    """Write a label.

    Examples
    --------
    >>> label_of("ndcg", {"gain": Value("linear")}, 10)
    'ndcg(gain=linear)@10'
    """
    inside = ", ".join(f"{parameter}={value}" for parameter, value in params.items())
    return name + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a label.

    Parameters
    ----------
    name : str
    summary : str
        One line for lists and messages.
    default : Value
        The value if the label has none; left out when a label is printed.
    words : dict of str to (int, int or None)
        Words that may be written, each with the fewest and the most numbers behind it.
    above, below : float
        A number may be written when it lies strictly between them, if ``numeric``.
    numeric : bool
        Whether a plain number may be written.
    apply : callable, optional
        What a value other than the default does to rankings before they are scored.
    """

    name: str
    summary: str
    default: Value
    words: Mapping[str, tuple[int, int | None]] = field(default_factory=dict, hash=False)
    above: float = -math.inf
    below: float = math.inf
    numeric: bool = False
    apply: Callable[[Rankings, Params], Rankings] | None = None

    @property
    def choices(self) -> str:
        """The values that may be written, for lists and messages.

        Examples
        --------
        >>> UNDEFINED.choices
        'nan, 0, 1'
        >>> Parameter("beta", "a weight", Value("1"), above=0.0, numeric=True).choices
        'a number above 0'
        """
        written = [word + _brackets(*counts) for word, counts in self.words.items()]
        if self.numeric:
            limits = [
                f"{side} {number(limit)}"
                for side, limit in (("above", self.above), ("below", self.below))
                if math.isfinite(limit)
            ]
            written.append(" ".join(["a number", " and ".join(limits)]).strip())
        return ", ".join(written)

    def check(self, label: str, value: Value) -> Value:
        """Return a value in its canonical form.

        Raises
        ------
        MetricError
            If this parameter does not take the value; `label` starts the message.

        Examples
        --------
        >>> OFFSET = Parameter("offset", "a shift", Value("0"), numeric=True)
        >>> OFFSET.check("ndcg(offset=2.0)", Value("2.0"))
        '2'
        """
        plain = value.as_number
        word = value.word if plain is None or not math.isfinite(plain) else number(plain)
        if word in self.words:
            fewest, most = self.words[word]
            if not fewest <= len(value.numbers) <= (math.inf if most is None else most):
                raise MetricError(
                    f"{label}: {self.name}={value} has {len(value.numbers)} numbers in brackets; "
                    f"write {word}{_brackets(fewest, most)}"
                )
            return self._canonical(label, word, value)
        if self.numeric and plain is not None and self.above < plain < self.below:
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


def _brackets(fewest: int, most: int | None) -> str:
    if most is None:
        return "(number, ...)"
    if most == 0:
        return ""
    return "(number)" if fewest else " or with (number)"


def words(*plain: str) -> dict[str, tuple[int, int | None]]:
    """Return words that have no numbers behind them, as `Parameter` takes them."""
    return dict.fromkeys(plain, (0, 0))


UNDEFINED = Parameter(
    "undefined",
    "score of a user without a relevant item; nan leaves the user out of the mean",
    Value("nan"),
    words("nan", "0", "1"),
)
EMPTY = Parameter(
    "empty",
    "score of a user with relevant items but nothing recommended; nan also without such items",
    Value("0"),
    words("nan", "0", "1"),
)
SHORT = Parameter(
    "short",
    "lists shorter than k: kept, cut at their length, or skipped",
    Value("kept"),
    words("kept", "skipped"),
)


@dataclass(eq=False)
class Definition:
    """The definition of one metric, in place of the function that computes it.

    A call scores rankings: ``ndcg(lists, 10, ties="first")``.

    Parameters
    ----------
    compute : callable
        By `needs`: from rankings, ranks and parameters, the scores of shape (n_users, n_k), nan
        where nothing is relevant; from pairs and parameters, the scores of users and the pooled
        value; or from rankings, ranks, parameters and exposure, the scores of users at each rank,
        or one value at each rank. Its name is the metric's; its docstring begins with a summary.
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
        Whether its table value is computed over all users at once instead of as the mean of their
        scores.
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
        """Score rankings, or pairs, at one rank or as a whole.

        Parameters
        ----------
        evidence : Rankings or Pairs
        k : int or None
        exposure : Exposure, optional
        **params
            As in a label: ``ties="first"``, ``gain="binary(4)"``, ...

        Raises
        ------
        MetricError
            If a parameter has no such value, or a relevance has no gain.
        """
        label = label_of(self.name, params, k)
        given = dict(read_parameter(label, f"{name}={value}") for name, value in params.items())
        chosen, _ = self.choose(label, given, None if k is None else str(k))
        rankings, pairs = (None, evidence) if isinstance(evidence, Pairs) else (evidence, None)
        return self.scores(chosen, [k], rankings, pairs, exposure)[0]

    def choose(
        self, label: str, given: Mapping[str, Value], k: str | None
    ) -> tuple[dict[str, Value], int | None]:
        """Check values and the rank; return those that are not defaults, in order, and the rank.

        Raises
        ------
        MetricError
            `label` starts the message.
        """
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

    def complete(self, chosen: Mapping[str, Value]) -> Params:
        """Return every parameter with its value, defaults included."""
        return {each.name: each.default for each in self.parameters} | dict(chosen)

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
        """Score at each rank; None is the whole list.

        Raises
        ------
        MetricError
            If what the metric needs is missing, or holds values that it does not define.
        """
        params = self.complete(chosen)
        label = label_of(self.name, chosen, ks[0])
        if self.needs == "pairs":
            pairs = _there(pairs, "pairs of estimate and rating", label)
            per_user, pooled = self.compute(pairs, params)
            return [Scores(per_user, pooled, int(np.isnan(per_user).sum()))]
        rankings = _there(rankings, "rankings", label)
        self.check_relevance(chosen, rankings.pool)
        for parameter in self.parameters:
            if parameter.apply is not None and parameter.name in chosen:
                rankings = parameter.apply(rankings, params)
        cuts = np.array([rankings.longest if k is None else k for k in ks], dtype=np.int64)
        cuts, column = np.unique(cuts, return_inverse=True)
        if self.needs == "items":
            exposure = _there(exposure, "exposure", label)
            try:
                values = self.compute(rankings, cuts, params, exposure)
            except MetricError as error:
                raise MetricError(f"{self.name}@{cuts.max()}: {error}") from None
            if not self.per_user:
                nobody = np.full(rankings.n_users, np.nan)
                return [Scores(nobody, float(value), 0) for value in values[column]]
        else:
            values = self.compute(rankings, cuts, params)
        return [
            _average(_apply_rules(params, k, values[:, at], rankings))
            for k, at in zip(ks, column, strict=True)
        ]


def _there(evidence: T | None, what: str, label: str) -> T:
    if evidence is None:
        raise MetricError(f"{label}: it needs {what}, but there are none; leave the metric out")
    return evidence


def _apply_rules(params: Params, k: int | None, values: Floats, rankings: Rankings) -> Floats:
    """Fill in the scores of users without relevant items, lists or enough items."""
    undefined = np.isnan(values)
    values = values.copy()
    if params.get("undefined", "nan") != "nan":
        values[undefined] = float(params["undefined"])
    if "empty" in params:
        nothing = rankings.n_ranked == 0
        kept = nothing if params["empty"] == "nan" else nothing & ~undefined
        values[kept] = float(params["empty"])
    if params.get("short") == "skipped" and k is not None:
        values[rankings.n_ranked < k] = np.nan
    return values


def _average(values: Floats) -> Scores:
    """Average defined scores and count undefined ones."""
    defined = values[~np.isnan(values)]
    mean = float(defined.mean()) if len(defined) else math.nan
    return Scores(values, mean, len(values) - len(defined))


DEFINITIONS: dict[str, Definition] = {}
"""The metrics by name, in the order in which lists show them."""


def metric(formula: str, source: str, **more: Any) -> Callable[[Callable[..., Any]], Definition]:
    """Declare the decorated function as a metric, with what `Definition` takes."""

    def declare(compute: Callable[..., Any]) -> Definition:
        definition = Definition(compute, formula, source, **more)
        DEFINITIONS[definition.name] = definition
        return definition

    return declare
