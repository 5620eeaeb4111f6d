"""Labels: a metric has the same string in a config, a column, a plot and a test.

A label is ``name(parameter=value, ...)@k``; a value is a number, a word, or a word with numbers
behind it, as ``binary(4)``. ``conventions.toml`` holds how libraries and documents compute their
metrics, as labels.

>>> str(parse("ndcg( ties = first, gain=exp2 ) @ 10"))
'ndcg(ties=first)@10'
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from harness.errors import MetricError, suggestion
from harness.metrics.definitions import (
    DEFINITIONS,
    Definition,
    Params,
    Value,
    label_of,
    number,
    read_parameter,
)
from harness.metrics.gain import neutral

__all__ = ["Convention", "Metric", "conventions", "describe", "parse", "parse_many"]

_LABEL = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<k>[^@()]*))?\s*", re.DOTALL
)


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
        return label_of(self.name, dict(self.chosen), self.k)

    @property
    def definition(self) -> Definition:
        """What the metric means, with formula and source."""
        return DEFINITIONS[self.name]

    @property
    def params(self) -> Params:
        """Every parameter with its value, defaults included."""
        return self.definition.complete(dict(self.chosen))

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
        return _checked(str(self), self.name, dict(self.chosen), None if k is None else str(k))


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
    _check_text(label)
    found = _LABEL.fullmatch(label)
    if not found or label.count("(") != label.count(")"):
        raise MetricError(
            f"{label}: not a metric label; write name@k or name(parameter=value, ...)@k, "
            "as ndcg(gain=linear)@10"
        )
    given: dict[str, Value] = {}
    for part in _split(found["params"]) if found["params"] else ():
        name, value = read_parameter(label, part)
        if name in given:
            raise MetricError(f"{label}: {name} is given twice; keep one")
        given[name] = value
    k = found["k"]
    return _checked(label.strip(), found["name"], given, k if k is None else k.strip())


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


def describe() -> list[Definition]:
    """Return every metric, ranking metrics first.

    Examples
    --------
    >>> describe()[0].name
    'ndcg'
    """
    order = ("rankings", "pairs", "items")
    return sorted(DEFINITIONS.values(), key=lambda each: order.index(each.needs))


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
    return dict(_read())


@cache
def _read() -> dict[str, Convention]:
    text = files("harness.metrics").joinpath("conventions.toml").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {
        name: Convention(name, **entry | {"notes": tuple(entry.get("notes", ()))})
        for name, entry in entries.items()
    }


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


def _checked(label: str, name: str, given: Params, k: str | None) -> Metric:
    definition = DEFINITIONS.get(name) or DEFINITIONS.get(name.casefold())
    if definition is None:
        synonyms = {other: each.name for each in describe() for other in each.synonyms}
        meant = synonyms.get(name.casefold())
        hint = f"did you mean {meant!r}?" if meant else suggestion(name, DEFINITIONS)
        raise MetricError(f"{label}: unknown metric {name!r}; {hint}")
    chosen, cut = definition.choose(label, given, k)
    return Metric(definition.name, tuple(chosen.items()), cut)
