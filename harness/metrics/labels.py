"""What a metric declares, and its label: the same string in a config, a column, a plot and a test.

A label is ``name(parameter=value, ...)@k``; a value is a number, a word, or a word with numbers
behind it, as ``binary(4)``. A metric is one function in the module of its family, decorated by
`metric`: labels, lists, documentation and scoring read that declaration. ``conventions.toml`` holds
how libraries and documents compute their metrics, as labels.

>>> str(parse("ndcg( ties = first, gain=exp2 ) @ 10"))
'ndcg(ties=first)@10'
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, update_wrapper
from importlib.resources import files
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import MetricError, counted, suggestion
from harness.metrics.arrays import Exposure, Floats, Pairs, Rankings, Scores
from harness.metrics.ties import neutral, resolve

T = TypeVar("T")

GREATEST_K = 10_000_000

_LABEL = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<k>[^@()]*))?\s*", re.DOTALL
)
_VALUE = re.compile(r"(?P<word>[^\s()]+)\s*(?:\([^()]*\))?")
_WORD = re.compile(r"(?:^|, )(?!a number)(\w+)( or with \(number\)|\(number, \.\.\.\)|)")
_NUMBERS_BEHIND = {"": (0, 0), " or with (number)": (0, 1), "(number, ...)": (1, math.inf)}


def number(value: float) -> str:
    """Write a number as a label does: 2 and 0.8, whole numbers without a point."""
    whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


class Value(str):
    """The canonical text of a parameter's value: a word, a number, or a word with numbers.

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


Params = Mapping[str, Value]  # parameters of a metric with their values


@dataclass(frozen=True)
class Parameter:
    """One parameter of a label; `choices` is both what people read and what values are checked by.

    >>> weight = Parameter("weight", "none, table(number, ...), a number above 0", "a weight", "1")
    >>> weight.words, weight.limits, weight.check(Value("2.0"))
    ({'none': '', 'table': '(number, ...)'}, (0.0, inf), '2')
    """

    name: str
    choices: str  # words, some with numbers, and last perhaps ``a number above 0 and below 1``
    summary: str
    default: str = ""  # the first of the choices, if none is given; left out of a printed label

    def __post_init__(self) -> None:
        object.__setattr__(self, "default", self.default or next(iter(self.words), ""))

    @property
    def words(self) -> dict[str, str]:
        """Words that may be written, each with the form of its numbers."""
        return dict(_WORD.findall(self.choices))

    @property
    def limits(self) -> tuple[float, float] | None:
        """Between what a plain number has to lie; None where a number may not be written."""
        ends = dict(re.findall(r"(above|below) (\S+)", self.choices))
        limits = float(ends.get("above", -math.inf)), float(ends.get("below", math.inf))
        return limits if "a number" in self.choices else None

    def check(self, value: Value) -> Value:
        """Return a value in its canonical form, or raise a MetricError."""
        plain = value.as_number
        word = value.word if plain is None or not math.isfinite(plain) else number(plain)
        if word in self.words:
            fewest, most = _NUMBERS_BEHIND[self.words[word]]
            if not fewest <= len(value.numbers) <= most:
                has = f"{self.name}={value} has {counted(len(value.numbers), 'number')} in brackets"
                form = self.words[word].replace("with ", word)
                raise MetricError(f"{has}; write {word}{form}")
            return self._canonical(word, value)
        if self.limits and plain is not None and self.limits[0] < plain < self.limits[1]:
            return Value(number(plain))
        meant = suggestion(word, self.words) if self.words and plain is None else ""
        hint = meant if meant.startswith("did") else f"use {self.choices}"
        raise MetricError(f"{self.name} cannot be {value}; {hint}")

    def _canonical(self, word: str, value: Value) -> Value:
        """Write a word and its numbers in one way, after a check of the numbers."""
        numbers = value.numbers
        if not all(map(math.isfinite, numbers)):
            raise MetricError(f"{self.name}={value} is not finite; write plain numbers")
        if word == "table" and (min(numbers) < 0 or any(b < a for a, b in pairwise(numbers))):
            raise MetricError(
                f"the gains of {value} are negative or fall; write the gain of relevance 0, 1, "
                "2, ... from the least to the most"
            )
        if word == "random":
            seed = numbers[0] if numbers else 0.0
            if not seed.is_integer() or not 0 <= seed < 2**32:
                raise MetricError(f"{value} is no seed; use a whole number from 0 to {2**32 - 1}")
            numbers = (seed,) if seed else ()
        return Value(f"{word}({', '.join(map(number, numbers))})" if numbers else word)


TIES = Parameter(
    "ties",
    "average, first, last, best, worst, random or with (number)",
    "order of equal estimates: expected value over all orders, input order, reversed input order, "
    "best or worst possible, or drawn with a seed",
)
UNDEFINED = Parameter(
    "undefined",
    "nan, 0, 1",
    "score of a user without a relevant item; nan leaves the user out of the mean",
)
EMPTY = Parameter(
    "empty",
    "nan, 0, 1",
    "score of a user with relevant items but nothing recommended; nan also without such items",
    "0",
)
SHORT = Parameter(
    "short", "kept, skipped", "lists shorter than k: kept, cut at their length, or skipped"
)
LISTS = (TIES, UNDEFINED, EMPTY, SHORT)
"""What a metric of ranked lists needs besides."""
THRESHOLD = Parameter(
    "threshold",
    "positive or a number",
    "least relevance of a relevant item; by default anything above 0",
)
"""What decides whether an item is relevant, for metrics that ask no more."""


@dataclass(eq=False)
class Definition:
    """The declaration of a metric, in place of the function that computes it.

    The function's name is the metric's, the first paragraph of its docstring the summary.

    Parameters
    ----------
    compute : callable
        From rankings, ranks and parameters (and exposure), the scores of shape (n_users, n_k), nan
        where nothing is relevant, or without `per_user` one value at each rank; from pairs and
        parameters, the users' scores and the pooled value.
    formula : str
        ``i`` is a rank from 1, ``rel_i`` the relevance there, ``R`` the relevant items.
    source : str
        With a DOI where there is one.
    parameters : tuple of Parameter
        In the order in which labels print them.
    range : (float, float)
    higher_is_better : bool
    needs : {'rankings', 'pairs', 'items', 'genres'}
        Ranked lists, pairs of estimate and rating, or the items at the top of each list together
        with the training ratings, and for some with the items' genres.
    cut : {'optional', 'required', 'none'}
        Whether labels have ``@k``; without, the whole list counts.
    pooled : bool
        Whether the table value is over all users at once, not the mean of their scores.
    per_user : bool
    weight : callable
        What a list counts with ``average=pooled``, by its length.
    synonyms : tuple of str
        For messages only: a label has one spelling.
    fault, fault_of_relevance : callable, optional
        What is wrong with parameters and the rank together, and why a relevance has no gain; or "".

    Examples
    --------
    >>> parse("hit@10").definition.formula
    '1 if hits@k > 0 else 0'
    """

    compute: Callable[..., Any]
    formula: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: Literal["rankings", "pairs", "items", "genres"] = "rankings"
    cut: Literal["optional", "required", "none"] = "optional"
    pooled: bool = False
    per_user: bool = True
    weight: Callable[[Floats], Floats] = lambda length: length
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

    def __call__(
        self,
        evidence: Rankings | Pairs,
        k: int | None = None,
        *,
        exposure: Exposure | None = None,
        **params: object,
    ) -> Scores:
        """Score rankings, or pairs, at one rank or as a whole, with parameters as in a label."""
        metric = parse(_label(self.name, params, k))
        rankings, pairs = (None, evidence) if isinstance(evidence, Pairs) else (evidence, None)
        return score([metric], rankings, pairs, exposure)[metric]


DEFINITIONS: dict[str, Definition] = {}  # the metrics by name


def metric(formula: str, source: str, **more: Any) -> Callable[[Callable[..., Any]], Definition]:
    """Declare the decorated function as a metric, with what `Definition` takes."""

    def declare(compute: Callable[..., Any]) -> Definition:
        DEFINITIONS[compute.__name__] = Definition(compute, formula, source, **more)
        return DEFINITIONS[compute.__name__]

    return declare


def describe() -> list[Definition]:
    """Return every metric, ranking metrics first."""
    order = ("rankings", "pairs", "items", "genres")
    return sorted(DEFINITIONS.values(), key=lambda each: order.index(each.needs))


@dataclass(frozen=True)
class Metric:
    """A metric with every choice made; equal to another when both mean the same numbers.

    Made by `parse`; ``str()`` gives its canonical label, defaults left out.

    Parameters
    ----------
    name : str
    chosen : tuple of (str, Value)
        The parameters that differ from their defaults, in the definition's order.
    k : int or None
        Cut-off rank; None for the whole list.

    Examples
    --------
    >>> metric = parse("ndcg(gain=binary(4))@10")
    >>> metric.name, metric.k, str(metric.params["gain"]), str(metric.params["ties"])
    ('ndcg', 10, 'binary(4)', 'average')
    >>> metric.range, metric.higher_is_better
    ((0.0, 1.0), True)
    """

    name: str
    chosen: tuple[tuple[str, Value], ...] = ()
    k: int | None = None

    def __str__(self) -> str:
        return _label(self.name, dict(self.chosen), self.k)

    @property
    def definition(self) -> Definition:
        """What the metric means, with formula and source."""
        return DEFINITIONS[self.name]

    @property
    def params(self) -> Params:
        """Every parameter with its value, defaults included."""
        defaults = {each.name: Value(each.default) for each in self.definition.parameters}
        return defaults | dict(self.chosen)

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is better."""
        return self.definition.higher_is_better

    @property
    def range(self) -> tuple[float, float]:
        """Least and greatest value that these parameters allow."""
        keeps = self.params.get("negative") == "keep"
        return (-math.inf, math.inf) if keeps else self.definition.range

    @property
    def pooled(self) -> bool:
        """Whether the table value is computed over all users at once, not as their mean."""
        return self.definition.pooled or self.params.get("average") == "pooled"

    @property
    def per_user(self) -> bool:
        """Whether there are scores per user."""
        return self.definition.per_user

    @property
    def needs_pairs(self) -> bool:
        """Whether it is computed from pairs of estimate and rating."""
        return self.definition.needs == "pairs"

    @property
    def needs_ratings(self) -> bool:
        """Whether estimates must be ratings: it compares them with ratings or with a threshold."""
        return self.needs_pairs and self.name != "fcp"  # which compares them with each other

    @property
    def needs_items(self) -> bool:
        """Whether it needs the items at the top of lists and the training ratings."""
        return self.definition.needs == "items" or self.needs_genres

    @property
    def needs_genres(self) -> bool:
        """Whether it needs the genres of items too."""
        return self.definition.needs == "genres"

    @property
    def neutral(self) -> float:
        """The relevance that counts as much as an item that nobody judged."""
        return neutral(self.params)

    def at(self, k: int | None) -> Metric:
        """Return the same metric at another cut-off rank.

        Examples
        --------
        >>> str(parse("ndcg@5").at(20))
        'ndcg@20'
        """
        return parse(_label(self.name, dict(self.chosen), k))

    def having(self, **params: str | None) -> Metric:
        """Return the same metric with other values; None for the default.

        Examples
        --------
        >>> str(parse("ndcg(ties=first)@5").having(ties=None, gain="linear"))
        'ndcg(gain=linear)@5'
        """
        values: dict[str, str | None] = {**dict(self.chosen), **params}
        kept = {name: value for name, value in values.items() if value is not None}
        return parse(_label(self.name, kept, self.k))


def parse(label: str) -> Metric:
    """Read one label.

    Parameters
    ----------
    label : str
        ``name``, ``name@k``, ``name(parameter=value, ...)`` or ``name(parameter=value, ...)@k``.

    Returns
    -------
    Metric

    Raises
    ------
    MetricError
        If the label has an unknown metric, parameter or value, or no rank.

    Examples
    --------
    >>> str(parse("NDCG@10"))
    'ndcg@10'
    >>> parse("ndgc@10")
    Traceback (most recent call last):
    harness.errors.MetricError: ndgc@10: unknown metric 'ndgc'; did you mean 'ndcg'?
    >>> parse("ndcg@0")
    Traceback (most recent call last):
    harness.errors.MetricError: ndcg@0: k is '0'; use a whole number from 1 to 10,000,000
    """
    _check_text(label)
    try:
        return _read(label)
    except MetricError as error:
        raise MetricError(f"{label.strip() or repr(label)}: {error}") from None


def _read(label: str) -> Metric:
    found = _LABEL.fullmatch(label)
    if not found or label.count("(") != label.count(")"):
        raise MetricError(
            "not a metric label; write name@k or name(parameter=value, ...)@k, as "
            "ndcg(gain=linear)@10"
        )
    given: dict[str, Value] = {}
    for part in _split(found["params"]) if found["params"] else ():
        key, value = _read_parameter(part)
        if key in given:
            raise MetricError(f"{key} is given twice; keep one")
        given[key] = value
    label, name = label.strip(), found["name"]
    definition = DEFINITIONS.get(name) or DEFINITIONS.get(name.casefold())
    if definition is None:
        synonyms = {other: each.name for each in DEFINITIONS.values() for other in each.synonyms}
        meant = synonyms.get(name.casefold())
        hint = f"did you mean {meant!r}?" if meant else suggestion(name, DEFINITIONS)
        raise MetricError(f"unknown metric {name!r}; {hint}")
    known = {parameter.name: parameter for parameter in definition.parameters}
    if foreign := [key for key in given if key not in known]:
        hint = suggestion(foreign[0], known)
        raise MetricError(f"{definition.name} has no parameter {foreign[0]!r}; {hint}")
    values = {key: known[key].check(given[key]) for key in known if key in given}
    chosen = tuple((key, value) for key, value in values.items() if value != known[key].default)
    metric = Metric(definition.name, chosen, _read_rank(definition, label, found["k"]))
    if definition.fault and (fault := definition.fault(metric.params, metric.k)):
        raise MetricError(fault.format(label=label))
    return metric


def parse_many(labels: str | Iterable[str]) -> tuple[Metric, ...]:
    """Read labels, where one may name several cut-offs and a string several labels.

    Parameters
    ----------
    labels : str or iterable of str
        ``"ndcg@5,10,rmse"`` is ``ndcg@5``, ``ndcg@10`` and ``rmse``.

    Returns
    -------
    tuple of Metric
        In the order written, each once.

    Raises
    ------
    MetricError
        As `parse`; if nothing is named.

    Examples
    --------
    >>> [str(metric) for metric in parse_many("ndcg(ties=first)@5,10,idcg@3")]
    ['ndcg(ties=first)@5', 'ndcg(ties=first)@10', 'idcg@3']
    """
    found: list[Metric] = []
    for text in [labels] if isinstance(labels, str) else labels:
        _check_text(text)
        previous = ""
        for part in _split(text):
            if part.isdigit() and "@" in previous:
                part = f"{previous.rpartition('@')[0]}@{part}"
            found.append(parse(part))
            previous = part
    if not found:
        raise MetricError("metrics: nothing is named; write at least one label, as ndcg@10")
    return tuple(dict.fromkeys(found))


def _check_text(label: object) -> None:
    if not isinstance(label, str):
        raise MetricError(f"{label!r}: a metric label is text; write it as 'ndcg@10'")


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    yield text[start:].strip()


def _read_parameter(text: str) -> tuple[str, Value]:
    """Read ``parameter=value``; what the parameter takes is for `Parameter.check`."""
    name, equals, written = text.partition("=")
    found = _VALUE.fullmatch(written.strip())
    if not equals or not name.strip() or not found:
        raise MetricError(f"{text!r} is not a parameter; write parameter=value")
    value = Value(found[0])
    try:
        _ = value.numbers
    except ValueError:
        raise MetricError(
            f"{written.strip()!r} has something other than numbers in its brackets; "
            "write plain numbers"
        ) from None
    return name.strip(), value


def _read_rank(definition: Definition, label: str, text: str | None) -> int | None:
    if text is None:
        if definition.cut == "required":
            raise MetricError(f"{definition.name} needs a rank; write {label}@10")
        return None
    text = text.strip()
    if definition.cut == "none":
        raise MetricError(f"{definition.name} has no rank; leave @{text} out")
    sound = text.isascii() and text.isdigit() and len(text) <= len(str(GREATEST_K))
    if not (sound and 0 < int(text) <= GREATEST_K):
        raise MetricError(f"k is {text!r}; use a whole number from 1 to {GREATEST_K:,}")
    return int(text)


def _label(name: str, params: Mapping[str, object], k: int | None) -> str:
    inside = ", ".join(f"{parameter}={value}" for parameter, value in params.items())
    return name + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")


def score(
    wanted: Iterable[Metric],
    rankings: Rankings | None = None,
    pairs: Pairs | None = None,
    exposure: Exposure | None = None,
) -> dict[Metric, Scores]:
    """Compute metrics.

    Parameters
    ----------
    wanted : iterable of Metric
    rankings : Rankings, optional
        Input of ranking metrics.
    pairs : Pairs, optional
        Input of rmse and similar metrics.
    exposure : Exposure, optional
        The training ratings, for metrics of which items are recommended.

    Returns
    -------
    dict of Metric to Scores
        In the given order, each once.

    Raises
    ------
    MetricError
        If what a metric needs is missing, or holds values that it does not define.
    """
    found: dict[Metric, Scores | None] = dict.fromkeys(wanted)
    if labels := [each for each in found if not isinstance(each, Metric)]:
        raise MetricError(f"{labels[0]!r}: not a Metric; make one from its label with parse")
    alike: dict[tuple[object, ...], list[Metric]] = {}  # that differ only in k
    for metric in found:
        alike.setdefault((metric.name, metric.chosen), []).append(metric)
    for group in alike.values():
        found |= zip(group, _score_alike(group, rankings, pairs, exposure), strict=True)
    return {metric: scores for metric, scores in found.items() if scores is not None}


def _score_alike(
    group: list[Metric], rankings: Rankings | None, pairs: Pairs | None, exposure: Exposure | None
) -> Iterator[Scores]:
    """Score metrics that differ only in their rank, all ranks in one pass."""
    first, definition, params = group[0], group[0].definition, group[0].params
    if first.needs_pairs:
        given = _there(pairs, "pairs of estimate and rating", first)
        for metric in group:
            ranks = [] if definition.cut == "none" else [metric.k]
            per_user, pooled = definition.compute(given, params, *ranks)
            yield Scores(per_user, pooled, int(np.isnan(per_user).sum()))
        return
    lists = _there(rankings, "rankings", first)
    check_relevance(first, lists.pool)
    if "ties" in params:
        lists = resolve(lists, params)
    cuts = np.array([metric.k or lists.longest for metric in group], dtype=np.int64)
    cuts, columns = np.unique(cuts, return_inverse=True)
    if first.needs_items:
        exposure = _there(exposure, "training ratings (exposure, --training)", first)
        if first.needs_genres:
            _there(exposure.genres, "genres of items", first)
        try:
            values = definition.compute(lists, cuts, params, exposure)
        except MetricError as error:
            raise MetricError(f"{first.name}@{cuts.max()}: {error}") from None
    else:
        values = definition.compute(lists, cuts, params)
    for metric, column in zip(group, columns, strict=True):
        if first.per_user:
            yield _average(metric, values[:, column].copy(), lists)
        else:
            yield Scores(np.full(lists.n_users, np.nan), float(values[column]), 0)


def _there(evidence: T | None, what: str, metric: Metric) -> T:
    if evidence is None:
        needs = f"{metric}: it needs {what}, but there are none"
        raise MetricError(f"{needs}; give them or leave the metric out")
    return evidence


def check_relevance(metric: Metric, relevance: ArrayLike) -> None:
    """Refuse relevances that a metric does not define, with what to change in the label."""
    grades, find = np.asarray(relevance, np.float64), metric.definition.fault_of_relevance
    if find and len(grades) and (fault := find(metric.params, grades)):
        raise MetricError(f"{_label(metric.name, dict(metric.chosen), None)}: {fault}")


def _average(metric: Metric, values: Floats, lists: Rankings) -> Scores:
    """Apply the rules for users without relevant items, lists or enough items, and average."""
    params, undefined = metric.params, np.isnan(values)
    if "undefined" in params:
        values[undefined] = float(params["undefined"])
    if "empty" in params:
        kept = undefined & (params["empty"] != "nan")
        values[(lists.n_ranked == 0) & ~kept] = float(params["empty"])
    if params.get("short") == "skipped" and metric.k is not None:
        values[lists.n_ranked < metric.k] = np.nan
    known = ~np.isnan(values)
    defined, weights = values[known], None
    if params.get("average") == "pooled":
        shown = np.minimum(lists.n_ranked[known], metric.k or lists.longest)
        weights = metric.definition.weight(shown.astype(np.float64))
    mean = float(np.average(defined, weights=weights)) if len(defined) else math.nan
    return Scores(values, mean, len(values) - len(defined))


@dataclass(frozen=True)
class Convention:
    """How one library or source computes its metrics.

    Parameters
    ----------
    name : str
    source : str
        The library with the version that was compared, or the source.
    labels : dict of str to str
        For each role, as ``ndcg`` or ``ap``, the label without its rank. ``{t}`` stands for the
        threshold of relevance, ``{bt}`` for the same in brackets, ``{below}`` for one less.
    threshold : float or None
        The library's own threshold of relevance; None when anything above 0 is relevant.
    notes : tuple of str
        What labels cannot express.

    Examples
    --------
    >>> rectools = conventions()["rectools"]
    >>> str(rectools.metrics(k=10, threshold=4)["ndcg"])
    'ndcg(gain=binary(4), ideal=full, ties=first)@10'
    """

    name: str
    source: str
    labels: dict[str, str]
    threshold: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        """The metrics that the convention defines."""
        return tuple(self.labels)

    def metrics(self, k: int = 10, threshold: float | None = None) -> dict[str, Metric]:
        """Return the convention's metrics at one rank.

        Parameters
        ----------
        k : int
            Cut-off rank; metrics that the library computes over whole lists ignore it.
        threshold : float, optional
            Least relevance of a relevant item for binary metrics; by default the library's own.

        Returns
        -------
        dict of str to Metric
            By role.
        """
        least = self.threshold if threshold is None else threshold
        fill = {
            "t": "positive" if least is None else number(least),
            "bt": "" if least is None else f"({number(least)})",
            "below": "0" if least is None else number(least - 1),
        }
        found = {}
        for role, template in self.labels.items():
            label = template.format(**fill)
            found[role] = parse(label.removesuffix("@") if label.endswith("@") else f"{label}@{k}")
        return found


def conventions() -> dict[str, Convention]:
    """Return every convention by name.

    Examples
    --------
    >>> sorted(conventions())[:4]
    ['bellei-2017', 'cornac', 'elliot', 'implicit']
    """
    return dict(_read_conventions())


@cache
def _read_conventions() -> dict[str, Convention]:
    text = files("harness.metrics").joinpath("conventions.toml").read_text(encoding="utf-8")
    return {
        name: Convention(name, **entry | {"notes": tuple(entry.get("notes", ()))})
        for name, entry in tomllib.loads(text).items()
    }
