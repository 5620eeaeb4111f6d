"""A metric of somebody else as the record of a run describes it, without its code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import MetricError
from harness.metrics.definition import Definition
from harness.metrics.parameters import Parameter


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
