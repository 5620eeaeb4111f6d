"""The published values: each with its source, its inputs and what was printed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from harness import metrics
from harness.errors import ResultsError, suggestion

__all__ = ["Quantity", "leaves", "published", "sources"]


@dataclass(frozen=True)
class Quantity:
    """A published quantity.

    Parameters
    ----------
    source : str
        Key of the source, as ``vincent-2018``.
    what : str
        The quantity, as the source calls it.
    inputs : dict
        What it is computed from, or the protocol.
    expected : object
        The value or values as printed; None stands for nan.
    note : str
        What a reader has to know.
    errata : dict of str to (float, str)
        For wrong values of the source: what it printed, and why it is wrong. `expected` then holds
        the right value.
    """

    source: str
    what: str
    inputs: dict[str, Any]
    expected: Any
    note: str = ""
    errata: dict[str, tuple[float, str]] = field(default_factory=dict)


def sources() -> dict[str, str]:
    """Return the sources: key and title.

    A source that defines metrics of its own has its title in `metrics.conventions`.

    Examples
    --------
    >>> sources()["nicolas-2022"]
    'Patrick Nicolas, 2022: Discounted Cumulative Gain in Scala (article)'
    """
    known = metrics.conventions()
    return {key: title or known[key].source for key, title in _content()["sources"].items()}


def published(source: str | None = None) -> list[Quantity]:
    """Return what was published, of one source or of all.

    Raises
    ------
    ResultsError
        If there is no such source.

    Examples
    --------
    >>> [quantity.what for quantity in published("nicolas-2022")][:2]
    ['IDCG', 'NDCG score']
    """
    known = sources()
    if source is not None and source not in known:
        raise ResultsError(f"{source}: unknown source; {suggestion(source, known)}")
    return [
        Quantity(**{**each, "errata": {k: (v[0], v[1]) for k, v in each.get("errata", {}).items()}})
        for each in _content()["quantities"]
        if source in (None, each["source"])
    ]


def leaves(quantity: Quantity, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each single value of a quantity with what distinguishes it from the others.

    A list of pairs, as a sorted list of estimates and ratings, is one value.

    Examples
    --------
    >>> [precision] = [each for each in published("bellei-2017") if each.what == "precision@k"]
    >>> list(leaves(precision, precision.expected))[:2]
    [('@1, user 1', 1), ('@3, user 1', 0.6666666666666666)]
    """
    ks = quantity.inputs.get("k", [])
    if isinstance(value, dict) and "per_user" in value:
        for user, row in enumerate(value["per_user"], start=1):
            for k, each in zip(ks, row, strict=True):
                yield f"@{k}, user {user}", each
        for k, each in zip(ks, value["mean"], strict=True):
            yield f"@{k}, mean", each
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list) and not isinstance(value[0], list):
        for position, each in enumerate(value, start=1):
            yield f"{position} of {len(value)}", each
    else:
        yield "", value


def is_nan(value: Any) -> bool:
    """Return whether a single value stands for nan.

    Examples
    --------
    >>> is_nan(None), is_nan(float("nan")), is_nan("text")
    (True, True, False)
    """
    return value is None or (isinstance(value, float) and math.isnan(value))


def _content() -> dict[str, Any]:
    text = files("harness.reproduce").joinpath("published.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content
