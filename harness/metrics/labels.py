"""A metric's label: the same string in a config, a column, a plot and a test.

A label is ``name(parameter=value, ...)@k``; a value is a number, a word, or a word with numbers
behind it, such as ``binary(4)``. A name is the name of a plug-in, or ``module:name`` for your own
metric.

>>> str(parse("ndcg( ties = first, gain=exp2 ) @ 10"))
'ndcg(ties=first)@10'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from harness._util.arguments import checked
from harness.errors import MetricError, PluginError
from harness.metrics.definition import Chosen, Definition, label_of
from harness.metrics.parameters import Parameter, Params, Value, is_weighted
from harness.metrics.ties import neutral
from harness.plugins import registry as plugins

_LABEL = re.compile(
    r"\s*(?P<name>(?:[A-Za-z_][\w.]*:)?[A-Za-z_]\w*)\s*"
    r"(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<k>[^@()]*))?\s*",
    re.DOTALL,
)
_VALUE = re.compile(r"(?P<word>[^\s()]+)\s*(?:\([^()]*\))?")


def definition(name: str) -> Definition:
    """Return the declaration of a metric by its name, or raise a MetricError.

    For a metric that a run recorded and this process has not used, the record declares it.
    """
    facts = plugins.recorded("metrics", name)
    if facts is None:
        return declaration(name)

    try:
        return from_facts(name, facts)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise MetricError(f"{name!r}: the record does not say what this metric is") from None


@cache
def declaration(name: str) -> Definition:
    """Return the declaration of a metric whose code can be imported, or raise a MetricError."""
    try:
        declared = plugins.find("metrics", name).load()
    except PluginError as error:
        raise MetricError(str(error)) from error.__cause__
    if not isinstance(declared, Definition):
        raise MetricError(f"{name!r} is not a metric; decorate its function with `harness.metric`")
    return declared if declared.name == name else replace(declared, name=name)


def spelled(name: str) -> str:
    """Return a metric's name as its plug-in spells it, or raise a MetricError with a suggestion."""
    if ":" in name or plugins.recorded("metrics", name):
        return name
    names = plugins.names("metrics")
    if name in names:
        return name
    if name.casefold() in names:
        return name.casefold()
    synonyms = {
        synonym: builtin
        for builtin in plugins.builtin_names("metrics")
        for synonym in definition(builtin).synonyms
    }
    meant = synonyms.get(name.casefold())
    hint = f"did you mean {meant!r}?" if meant else plugins.absent("metrics", name, names)
    raise MetricError(f"unknown metric {name!r}; {hint}")


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
    chosen: Chosen = ()
    k: int | None = None

    def __str__(self) -> str:
        return label_of(self.name, dict(self.chosen), self.k)

    @cached_property
    def definition(self) -> Definition:
        """What the metric means, with formula and source."""
        return definition(self.name)

    @cached_property
    def params(self) -> Params:
        """Every parameter with its value, defaults included."""
        return self.definition.values(self.chosen)

    def __reduce__(self) -> tuple[type[Metric], tuple[str, Chosen, int | None]]:
        return Metric, (self.name, self.chosen, self.k)

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is better."""
        return self.definition.higher_is_better

    @property
    def range(self) -> tuple[float, float]:
        """Least and greatest value that these parameters allow."""
        if self.params.get("negative") == "keep":
            return (-math.inf, math.inf)
        low, high = self.definition.range
        exceeds = self.is_weighted and self.is_ranking
        return (low, math.inf) if exceeds else (low, high)

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
        return self.definition.needs_ratings

    @property
    def is_ranking(self) -> bool:
        """Whether it measures how items are ordered, by their relevance."""
        return self.definition.is_ranking

    @property
    def needs_items(self) -> bool:
        """Whether it needs the items at the top of lists and the training ratings."""
        return self.definition.needs_items

    @property
    def needs_names(self) -> bool:
        """Whether it needs the judged items of each list by name."""
        return self.is_weighted or (self.definition.needs_items and "ties" in self.params)

    @property
    def is_weighted(self) -> bool:
        """Whether held-out ratings are weighted by their exposure in training."""
        return self.definition.takes_weights and is_weighted(self.params)

    @property
    def needs_features(self) -> bool:
        """Whether it needs genres or propensities of items, or ratings of items at random."""
        weights = self.params.get("weights") if self.definition.takes_weights else None
        return self.definition.needs_genres or weights in ("column", "naive-bayes")

    @property
    def needs_column(self) -> bool:
        """Whether it needs a column of propensities of items."""
        return self.is_weighted and self.params["weights"] == "column"

    @property
    def needs_sample(self) -> bool:
        """Whether it needs a sample of ratings at random."""
        return self.is_weighted and self.params["weights"] == "naive-bayes"

    @property
    def needs_exposure(self) -> bool:
        """Whether lists and pairs are not enough for it: it needs items, or weights of training."""
        return self.definition.needs_items or self.is_weighted

    @property
    def needs_genres(self) -> bool:
        """Whether it needs the genres of items too."""
        return self.definition.needs_genres

    @property
    def has_bounds(self) -> bool:
        """Whether its best score and a random order's score are known; for metrics of lists."""
        return self.definition.has_bounds and self.definition.is_ranking and not self.is_weighted

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
        return parse(label_of(self.name, dict(self.chosen), k))

    def having(self, **params: str | None) -> Metric:
        """Return the same metric with other values; None for the default.

        Examples
        --------
        >>> str(parse("ndcg(ties=first)@5").having(ties=None, gain="linear"))
        'ndcg(gain=linear)@5'
        """
        values: dict[str, str | None] = {**dict(self.chosen), **params}
        params = {name: value for name, value in values.items() if value is not None}
        return parse(label_of(self.name, params, self.k))


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
    if not isinstance(label, str):
        raise MetricError(f"{label!r}: a metric label is text; write it as 'ndcg@10'")
    try:
        match = _LABEL.fullmatch(label)
        if not match or label.count("(") != label.count(")"):
            raise MetricError(
                "not a metric label; write name@k or name(parameter=value, ...)@k, such as "
                "ndcg(gain=linear)@10"
            )
        written: dict[str, Value] = {}
        for part in _split(match["params"]) if match["params"] else ():
            key, equals, text = (piece.strip() for piece in part.partition("="))
            if not equals or not key or not _VALUE.fullmatch(text):
                raise MetricError(f"{part!r} is not a parameter; write parameter=value")
            try:
                value = Value(text)
            except ValueError:
                raise MetricError(
                    f"{text!r} has something other than numbers in its brackets; "
                    "write plain numbers"
                ) from None
            if key in written:
                raise MetricError(f"{key} is given twice; keep one")
            written[key] = value
        name = match["name"]
        if name not in plugins.builtin_names("metrics"):
            name = spelled(name)
        defined = definition(name)
        chosen = defined.choose(written)
        return Metric(name, chosen, defined.checked_rank(match["k"], chosen, label.strip()))
    except MetricError as error:
        raise MetricError(f"{label.strip() or repr(label)}: {error}", error.reason) from None


@checked(MetricError)
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
    named: list[Metric] = []
    for text in [labels] if isinstance(labels, str) else labels:
        named += map(parse, separated(text) if isinstance(text, str) else [text])
    if not named:
        raise MetricError("metrics: nothing is named; write at least one label, such as ndcg@10")
    return tuple(dict.fromkeys(named))


def separated(text: str) -> Iterator[str]:
    """Yield the labels of a text, each with its own cut-off.

    >>> [*separated("ndcg@5,10,mine:liked")]
    ['ndcg@5', 'ndcg@10', 'mine:liked']
    """
    previous = ""
    for part in _split(text):
        is_rank = "@" in previous and part.isdigit()
        previous = f"{previous.rpartition('@')[0]}@{part}" if is_rank else part
        yield previous


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    yield text[start:].strip()


def facts_of(definition: Definition) -> dict[str, Any]:
    """Return a declaration as data, from which `from_facts` makes it without the code."""
    plain = ("formula", "source", "higher_is_better", "needs", "cut", "pooled", "per_user")
    return {
        "summary": definition.summary,
        "range": _ends(definition.range),
        "parameters": [
            {
                "name": parameter.name,
                "words": {word: _ends(n) for word, n in parameter.words.items()},
                "limits": parameter.limits and _ends(parameter.limits),
                "default": str(parameter.default),
            }
            for parameter in definition.parameters
        ],
    } | {name: getattr(definition, name) for name in plain}


def from_facts(name: str, facts: Mapping[str, Any]) -> Definition:
    """Return a metric that can be shown and compared, but not computed."""

    def compute(*evidence: object) -> Any:
        raise MetricError(
            f"{name}: its code was not imported, since a run that names it was only read"
        )

    compute.__name__, compute.__doc__ = name, str(facts["summary"])
    parameters = tuple(
        Parameter(
            written["name"],
            "",
            {word: _limits(n) for word, n in written["words"].items()},
            written["limits"] and _limits(written["limits"]),
            written["default"],
        )
        for written in facts["parameters"]
    )
    more = {key: facts[key] for key in facts.keys() - {"summary", "range", "parameters"}}
    limits = _limits(facts["range"])
    return Definition(compute, range=limits, parameters=parameters, has_bounds=False, **more)


def _ends(limits: Sequence[float]) -> list[float | None]:
    """Return two ends as JSON has them, null for an infinite one."""
    return [end if math.isfinite(end) else None for end in limits]


def _limits(ends: Sequence[Any]) -> tuple[Any, Any]:
    low, high = ends
    return -math.inf if low is None else low, math.inf if high is None else high


NEEDS = ("rankings", "pairs", "items", "genres")


def describe() -> list[Definition]:
    """Return every metric that can be used, ranking metrics first."""
    usable = (plugin for plugin, reason in plugins.declared("metrics") if not reason)
    names = [plugin.name for plugin in usable if plugin.is_builtin or not plugins.problem(plugin)]
    return in_order(definition(name) for name in names)


def in_order(definitions: Iterable[Definition]) -> list[Definition]:
    """Return metrics in the order of lists and documentation: ranking metrics first."""
    return sorted(definitions, key=lambda definition: NEEDS.index(definition.needs))
