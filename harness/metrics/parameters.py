"""Parameters of metrics with their values, declared once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from harness.errors import MetricError, suggestion
from harness.metrics.grammar import Value, number

__all__ = ["Parameter"]


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
        A number may be written when it lies strictly between them; none where both are infinite
        and ``numeric`` is false.
    numeric : bool
        Whether a plain number may be written.
    """

    name: str
    summary: str
    default: Value
    words: Mapping[str, tuple[int, int | None]] = field(default_factory=dict, hash=False)
    above: float = -math.inf
    below: float = math.inf
    numeric: bool = False

    @property
    def choices(self) -> str:
        """The values that may be written, for lists and messages.

        Examples
        --------
        >>> UNDEFINED.choices
        'nan, 0, 1'
        >>> BETA.choices
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
        >>> str(BETA.check("fbeta(beta=2.0)", Value("2.0")))
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
        if any(not math.isfinite(each) for each in value.numbers):
            raise MetricError(f"{label}: {self.name}={value} is not finite; write plain numbers")
        if word == "table":
            levels = value.numbers
            if min(levels) < 0 or any(b < a for a, b in pairwise(levels)):
                raise MetricError(
                    f"{label}: the gains of {value} are negative or fall; write the gain of "
                    "relevance 0, 1, 2, ... from the least to the most"
                )
        if word == "random":
            seed = value.numbers[0] if value.numbers else 0.0
            if not seed.is_integer() or not 0 <= seed < 2**32:
                raise MetricError(
                    f"{label}: the seed of {value} is not one; use a whole number from 0"
                )
            return Value(f"random({number(seed)})" if seed else "random")
        inside = ", ".join(map(number, value.numbers))
        return Value(f"{word}({inside})" if inside else word)


def _brackets(fewest: int, most: int | None) -> str:
    if most is None:
        return "(number, ...)"
    if most == 0:
        return ""
    return "(number)" if fewest else " or with (number)"


def _words(*plain: str) -> dict[str, tuple[int, int | None]]:
    return dict.fromkeys(plain, (0, 0))


GAIN = Parameter(
    "gain",
    "gain of an item by its relevance: 2**rel - 1, rel, 1 from a threshold on, or a table "
    "with the gain of relevance 0, 1, 2, ...",
    Value("exp2"),
    {**_words("exp2", "linear"), "binary": (0, 1), "table": (1, None)},
)
LEAST = Parameter(
    "threshold",
    "relevance below it has no gain; by default none is left out",
    Value("none"),
    _words("none"),
    numeric=True,
)
OFFSET = Parameter(
    "offset", "subtracted from each relevance before its gain", Value("0"), numeric=True
)
NEGATIVE = Parameter(
    "negative",
    "what a negative relevance is: an error, zero, or kept as it is",
    Value("error"),
    _words("error", "zero", "keep"),
)
NEGATIVE_OR_ZERO = Parameter(
    "negative",
    "what a negative relevance is: an error, or zero",
    Value("error"),
    _words("error", "zero"),
)
GRADES = Parameter(
    "grades",
    "whether relevances keep their fractions, or lose them as in software that stores integers",
    Value("real"),
    _words("real", "whole"),
)
BASE = Parameter(
    "base",
    "base of the discount's logarithm, above 1, or e",
    Value("2"),
    _words("e"),
    above=1.0,
    numeric=True,
)
DISCOUNT = Parameter(
    "discount",
    "what the gain at rank i is divided by: log(i + 1); Järvelin and Kekäläinen's max(1, log(i)) "
    "(with base 2 also LensKit's log2(max(i, 2))); i; or 1",
    Value("log"),
    _words("log", "jarvelin", "reciprocal", "none"),
)
IDEAL = Parameter(
    "ideal",
    "the best list: all the user's judged items, cut at k; the judged items among the first k; or "
    "k relevant items for every user (the last needs a binary gain)",
    Value("judged"),
    _words("judged", "retrieved", "full"),
)
TIES = Parameter(
    "ties",
    "order of equal estimates: expected value over all orders, input order, reversed input order, "
    "best or worst possible, or drawn with a seed",
    Value("average"),
    {**_words("average", "first", "last", "best", "worst"), "random": (0, 1)},
)
UNDEFINED = Parameter(
    "undefined",
    "score of a user without a relevant item; nan leaves the user out of the mean",
    Value("nan"),
    _words("nan", "0", "1"),
)
EMPTY = Parameter(
    "empty",
    "score of a user with relevant items but nothing recommended; nan also without such items",
    Value("0"),
    _words("nan", "0", "1"),
)
SHORT = Parameter(
    "short",
    "lists shorter than k: kept, cut at their length, or skipped",
    Value("kept"),
    _words("kept", "skipped"),
)
THRESHOLD = Parameter(
    "threshold",
    "least relevance of a relevant item; by default anything above 0",
    Value("positive"),
    _words("positive"),
    numeric=True,
)
AP_TIES = Parameter(
    "ties",
    TIES.summary + "; or counted together, each group at its last rank",
    Value("average"),
    {**TIES.words, **_words("together")},
)
PRECISION_DENOMINATOR = Parameter(
    "denominator",
    "what the hits are divided by: k, min(k, length of the list), or min(k, number relevant)",
    Value("k"),
    _words("k", "list", "achievable"),
)
RECALL_DENOMINATOR = Parameter(
    "denominator",
    "what the hits are divided by: number relevant, or min(k, number relevant)",
    Value("relevant"),
    _words("relevant", "achievable"),
)
AP_DENOMINATOR = Parameter(
    "denominator",
    "what the sum of precisions is divided by: number relevant; hits in the first k; min(k, length "
    "of the list); min(k, number relevant); min(length of the cut list, number relevant); or k",
    Value("relevant"),
    _words("relevant", "hits", "list", "achievable", "retrievable", "k"),
)
BETA = Parameter("beta", "weight of recall against precision", Value("1"), above=0.0, numeric=True)
PERSISTENCE = Parameter(
    "p",
    "probability that the reader continues to the next item",
    Value("0.8"),
    above=0.0,
    below=1.0,
    numeric=True,
)
MAX = Parameter("max", "highest relevance that can be given", Value("5"), above=0.0, numeric=True)
POOLING = Parameter(
    "pooling",
    "how users are combined into the table value: mean counts, each over the users who have any, "
    "as Surprise; or all pairs alike",
    Value("surprise"),
    _words("surprise", "pairs"),
)
OF = Parameter(
    "of",
    "what an item's ratings are a share of: the training users, or the training ratings",
    Value("users"),
    _words("users", "ratings"),
)
