"""The parameters of metrics: what may be written for each, and the values that are written.

A value is a number, a word, or a word with numbers behind it, such as ``binary(4)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from harness._util.arguments import MOST_RATING, checked, unit_fault
from harness.errors import MetricError, counted, nearest

NONE, OPTIONAL, SEVERAL = (0, 0), (0, 1), (1, math.inf)
"""How many numbers stand behind a word, at least and at most."""
_FORMS = {NONE: "", OPTIONAL: " or with (number)", SEVERAL: "(number, ...)"}

Limits = tuple[float, float]
"""Between what a plain number has to lie, both ends excluded."""
ANY = (-math.inf, math.inf)
POSITIVE = (0.0, math.inf)
SHARE = (0.0, 1.0)


@checked(MetricError)
def number(value: float) -> str:
    """Write a number as a label does: 2 and 0.8, whole numbers without a point."""
    is_whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if is_whole else repr(float(value))


class Value(str):
    """The canonical text of a parameter's value, read once.

    Parameters
    ----------
    text : str
        A word, a number, or a word with numbers in brackets; ValueError if the brackets hold
        anything else.

    Attributes
    ----------
    word : str
        What stands before the brackets; a number too.
    numbers : tuple of float
        The numbers in brackets.
    as_number : float or None
        The whole text as a number, or None if it is not one.

    Examples
    --------
    >>> value = Value("table(0, 1, 4)")
    >>> value.word, value.numbers, value.as_number
    ('table', (0.0, 1.0, 4.0), None)
    """

    __slots__ = ("as_number", "numbers", "word")

    word: str
    numbers: tuple[float, ...]
    as_number: float | None

    def __new__(cls, text: str) -> Value:
        """Read a text once: its word, its numbers, and itself as a number."""
        value = super().__new__(cls, text)
        before, _, behind = text.partition("(")
        inside = behind.removesuffix(")")
        value.word = before.strip()
        value.numbers = tuple(map(float, inside.split(","))) if inside else ()
        value.as_number = None
        with suppress(ValueError):
            value.as_number = float(text)
        return value

    def __float__(self) -> float:
        """Return the number that was read; ValueError for a word."""
        if self.as_number is None:
            raise ValueError(f"{str(self)!r} is not a number")
        return self.as_number

    def __reduce__(self) -> tuple[type[Value], tuple[str]]:
        return Value, (str(self),)


Params = Mapping[str, Value]
"""The parameters of a metric with their values."""


def words(*plain: str, **with_numbers: tuple[int, float]) -> dict[str, tuple[int, float]]:
    """Return words that may be written, with the fewest and the most numbers behind each.

    >>> words("exp2", table=SEVERAL)
    {'exp2': (0, 0), 'table': (1, inf)}
    """
    return dict.fromkeys(plain, NONE) | with_numbers


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric: what may be written for it.

    Parameters
    ----------
    name : str
    summary : str
        What it decides, for readers of `harness list metrics`.
    words : mapping of str to (int, float)
        The words that may be written, see `words`.
    limits : (float, float), optional
        Between what a plain number has to lie; None where a number may not be written.
    default : str
        By default the first word.

    Examples
    --------
    >>> weight = Parameter("weight", "a weight", words("none", table=SEVERAL), POSITIVE, "1")
    >>> weight.choices, weight.check(Value("2.0"))
    ('none, table(number, ...) or a number above 0', '2')
    """

    name: str
    summary: str
    words: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    limits: Limits | None = None
    default: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "default", self.default or next(iter(self.words), ""))

    @cached_property
    def standard(self) -> Value:
        """The default, read once."""
        return Value(self.default)

    @property
    def choices(self) -> str:
        """What may be written, for people."""
        texts = [word + _FORMS[numbers] for word, numbers in self.words.items()]
        if self.limits is None:
            return ", ".join(texts)
        low, high = self.limits
        ends = [f"above {number(low)}"] if math.isfinite(low) else []
        ends += [f"below {number(high)}"] if math.isfinite(high) else []
        plain = " ".join(["a number", " and ".join(ends)]).strip()
        return f"{', '.join(texts)} or {plain}" if texts else plain

    def check(self, value: Value) -> Value:
        """Return a value in its canonical form, or raise a MetricError."""
        plain = value.as_number
        word = value.word if plain is None or not math.isfinite(plain) else number(plain)
        if word in self.words:
            fewest, most = self.words[word]
            if not fewest <= len(value.numbers) <= most:
                has = f"{self.name}={value} has {counted(len(value.numbers), 'number')} in brackets"
                form = _FORMS[fewest, most].replace("with ", word)
                raise MetricError(f"{has}; write {word}{form}")
            numbers = value.numbers
            if not all(map(math.isfinite, numbers)):
                raise MetricError(f"{self.name}={value} is not finite; write plain numbers")
            if word == "table":
                _check_gains(value)
            if word == "random":
                seed = numbers[0] if numbers else 0.0
                if not seed.is_integer() or not 0 <= seed < 2**32:
                    message = f"{value} is not a seed; use a whole number from 0 to {2**32 - 1}"
                    raise MetricError(message)
                numbers = (seed,) if seed else ()
            return Value(f"{word}({', '.join(map(number, numbers))})" if numbers else word)
        if self.limits and plain is not None and self.limits[0] < plain < self.limits[1]:
            return Value(number(plain))
        meant = nearest(word, self.words) if self.words and plain is None else None
        hint = f"use {self.choices}" if meant is None else f"did you mean {meant!r}?"
        raise MetricError(f"{self.name} cannot be {value}; {hint}")


def _check_gains(value: Value) -> None:
    """Refuse a table of gains that are negative, fall, or cannot be squared and added."""
    if min(value.numbers) < 0 or any(b < a for a, b in pairwise(value.numbers)):
        raise MetricError(
            f"the gains of {value} are negative or fall; write the gain of relevance 0, 1, "
            "2, ... from the least to the most"
        )
    if fault := unit_fault(MOST_RATING, np.array(value.numbers)):
        raise MetricError(f"the gains of {value} have {fault}")


TIES = Parameter(
    "ties",
    "order of equal estimates: expected value over all orders, input order, reversed input order, "
    "best or worst possible, or random with a seed",
    words("average", "first", "last", "best", "worst", random=OPTIONAL),
)
UNDEFINED = Parameter(
    "undefined",
    "score of a user without a relevant item; nan leaves the user out of the mean",
    words("nan", "0", "1"),
)
EMPTY = Parameter(
    "empty",
    "score of a user with relevant items but nothing recommended; nan also without such items",
    words("nan", "0", "1"),
    default="0",
)
SHORT = Parameter(
    "short", "lists shorter than k: kept, cut at their length, or skipped", words("kept", "skipped")
)
LISTS = (TIES, UNDEFINED, EMPTY, SHORT)
"""What a metric of ranked lists needs besides."""
THRESHOLD = Parameter(
    "threshold",
    "least relevance of a relevant item; by default anything above 0",
    words("positive"),
    ANY,
)
"""What decides whether an item is relevant, for metrics that ask no more."""
WEIGHTED = (
    Parameter(
        "weights",
        "what a held-out rating counts: 1, or one over its propensity, the chance to be observed, "
        "which is proportional to the training ratings of its item, or the column `propensity` of "
        "what is known of items, or follows from its value and a sample of ratings at random",
        words("none", "popularity", "column", "naive-bayes"),
    ),
    Parameter(
        "power",
        "of the training ratings that a propensity is proportional to",
        limits=POSITIVE,
        default="1",
    ),
    Parameter("least", "propensity to which smaller ones are raised, a bias", words("none"), SHARE),
)
"""Weights of held-out ratings, for the metrics that can have them."""
LEAST_POSITIVE = 5e-324
"""At least this is the same as more than zero."""


def least_relevant(params: Params) -> float:
    """Return the least relevance that makes an item relevant."""
    threshold = params["threshold"].as_number
    return LEAST_POSITIVE if threshold is None else threshold


def is_weighted(params: Params) -> bool:
    """Return whether held-out ratings are weighted by their exposure."""
    return params.get("weights", "none") != "none"


def fault_of_weights(params: Params) -> str:
    """Return what excludes weights, or is of no use without them, and what to write; or ""."""
    if not is_weighted(params):
        useless = [p.name for p in WEIGHTED[1:] if params.get(p.name, p.default) != p.default]
        return f"{useless[0]} is one of weights; add weights=popularity" if useless else ""
    if params["weights"] != "popularity" and params["power"] != "1":
        return "power is one of weights=popularity; leave one out"
    if params.get("ties", "average") not in ("average", "first"):
        return f"ties={params['ties']} has no weights; write ties=first, or leave one out"
    for name, value in (("ideal", "retrieved"), ("ideal", "full"), ("denominator", "hits")):
        if params.get(name) == value:
            return f"{name}={value} has no weights; leave one out"
    return ""
