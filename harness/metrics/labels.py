"""Labels: a metric has the same string in a config, a column, a plot and a test.

>>> str(parse("ndcg( ties = first, gain=exp2 ) @ 10"))
'ndcg(ties=first)@10'
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import MetricError, suggestion
from harness.metrics.definitions import DEFINITIONS, SYNONYMS, Definition
from harness.metrics.grammar import Value, Written, read, split
from harness.metrics.worth import neutral

__all__ = ["Metric", "describe", "parse", "parse_many"]

GREATEST_K = 10_000_000


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
        inside = ", ".join(f"{name}={value}" for name, value in self.chosen)
        cut = "" if self.k is None else f"@{self.k}"
        return self.name + (f"({inside})" if inside else "") + cut

    @property
    def definition(self) -> Definition:
        """What the metric means, with formula and source."""
        return DEFINITIONS[self.name]

    @property
    def params(self) -> dict[str, Value]:
        """Every parameter with its value, defaults included."""
        return {each.name: each.default for each in self.definition.parameters} | dict(self.chosen)

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is better."""
        return self.definition.higher_is_better

    @property
    def range(self) -> tuple[float, float]:
        """Least and greatest value that these parameters allow."""
        negative = self.params.get("negative")
        return (-math.inf, math.inf) if str(negative) == "keep" else self.definition.range

    @property
    def pooled(self) -> bool:
        """Whether the table value is computed over all users at once, not as their mean."""
        return self.definition.pooled

    @property
    def per_user(self) -> bool:
        """Whether there are scores per user."""
        return self.definition.per_user

    @property
    def needs_pairs(self) -> bool:
        """Whether it is computed from pairs of estimate and rating."""
        return self.definition.needs == "pairs"

    @property
    def needs_items(self) -> bool:
        """Whether it needs the items at the top of lists and the training ratings."""
        return self.definition.needs == "items"

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
        return _checked(str(self), Written(self.name, self.chosen, None if k is None else str(k)))


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
    harness.errors.MetricError: ndcg@0: k is '0'; use a whole number from 1
    """
    if not isinstance(label, str):
        raise MetricError(f"{label!r}: a metric label is text; write it as 'ndcg@10'")
    return _checked(label.strip(), read(label))


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
        if not isinstance(text, str):
            raise MetricError(f"{text!r}: a metric label is text; write it as 'ndcg@10'")
        previous = ""
        for part in split(text):
            if part.isdigit() and "@" in previous:
                part = f"{previous.rpartition('@')[0]}@{part}"
            found.append(parse(part))
            previous = part
    if not found:
        raise MetricError("metrics: nothing is named; write at least one label, as ndcg@10")
    return tuple(dict.fromkeys(found))


def describe() -> list[Definition]:
    """Return every metric, ranking metrics first.

    Examples
    --------
    >>> describe()[0].name
    'ndcg'
    """
    return list(DEFINITIONS.values())


def _checked(label: str, written: Written) -> Metric:
    definition = DEFINITIONS.get(written.name) or DEFINITIONS.get(written.name.casefold())
    if definition is None:
        meant = SYNONYMS.get(written.name.casefold())
        hint = f"did you mean {meant!r}?" if meant else suggestion(written.name, DEFINITIONS)
        raise MetricError(f"{label}: unknown metric {written.name!r}; {hint}")
    given = {}
    for name, value in written.params:
        parameter = definition.parameter.get(name)
        if parameter is None:
            raise MetricError(
                f"{label}: {definition.name} has no parameter {name!r}; "
                f"{suggestion(name, definition.parameter)}"
            )
        given[name] = parameter.check(label, value)
    chosen = tuple(
        (each.name, given[each.name])
        for each in definition.parameters
        if each.name in given and given[each.name] != each.default
    )
    metric = Metric(definition.name, chosen, _cut(label, definition, written.k))
    _check_together(label, metric)
    return metric


def _cut(label: str, definition: Definition, written: str | None) -> int | None:
    if written is None:
        if definition.cut == "required":
            raise MetricError(f"{label}: {definition.name} needs a rank; write {label}@10")
        return None
    if definition.cut == "none":
        raise MetricError(f"{label}: {definition.name} has no rank; leave @{written} out")
    sound = written.isascii() and written.isdigit() and len(written) <= len(str(GREATEST_K))
    if not (sound and 0 < int(written) <= GREATEST_K):
        raise MetricError(f"{label}: k is {written!r}; use a whole number from 1")
    return int(written)


def _check_together(label: str, metric: Metric) -> None:
    """Refuse values that exclude each other."""
    params = metric.params
    if metric.k is None and str(params.get("denominator")) == "k":
        raise MetricError(
            f"{label}: there is no rank to divide by; write {label}@10 or another denominator"
        )
    if metric.k is None and str(params.get("ideal")) == "full":
        raise MetricError(f"{label}: ideal=full fills k ranks; write {label}@10")
    ideal, gain = str(params.get("ideal", "")), params.get("gain")
    binary = gain is not None and gain.word == "binary"
    if binary and params["threshold"].word != "none":
        raise MetricError(
            f"{label}: a binary gain has its own threshold; "
            f"write gain=binary({params['threshold']})"
        )
    threshold, negative = str(params.get("threshold")), str(params.get("negative"))
    if negative == "keep" and threshold not in ("None", "none"):
        raise MetricError(
            f"{label}: threshold={threshold} takes the gain of negative relevances away, which "
            "negative=keep keeps; leave one out"
        )
    if ideal == "full" and not binary:
        raise MetricError(
            f"{label}: ideal=full means k relevant items, which a gain of {gain} does not define; "
            "add gain=binary"
        )
    if ideal == "retrieved" and not binary and params["ties"].word == "average":
        raise MetricError(
            f"{label}: ideal=retrieved with a gain of {gain} has no average over ties; "
            "add gain=binary, or ties=first"
        )
    if (
        metric.name == "ndcg"
        and ideal == "retrieved"
        and not binary
        and params["ties"].word in ("best", "worst")
    ):
        raise MetricError(
            f"{label}: the {params['ties']} order of ties is not known for ideal=retrieved with a "
            f"gain of {gain}; add gain=binary, or ties=first"
        )
