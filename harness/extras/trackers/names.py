"""Names that MLflow takes, made from labels and keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

LONGEST = 200
"""Characters of a name; MLflow takes 250."""
SIGNS = {"@": "_at_", "(": ":", ")": "", "=": "-", ",": ":", "[": ".", "]": ""}
"""What stands for a sign of a label that MLflow refuses; any other becomes an underscore."""
REFUSED = re.compile(r"[^A-Za-z0-9_\-. :/]")


def mlflow_name(label: str) -> str:
    """Return a label in the characters that MLflow takes: letters, digits and ``_-. :/``.

    It takes a slash only as part of a path, so that this becomes an underscore too.

    Examples
    --------
    >>> mlflow_name("ndcg@10"), mlflow_name("ndcg(gain=linear,ties=first)@10")
    ('ndcg_at_10', 'ndcg:gain-linear:ties-first_at_10')
    >>> mlflow_name("algorithms[0].params.k"), mlflow_name("café/1")
    ('algorithms.0.params.k', 'caf__1')
    """
    name = "".join(SIGNS.get(sign, sign) for sign in label)
    return REFUSED.sub("_", name).replace("/", "_").strip(". ")[:LONGEST] or "_"


def mlflow_names(labels: Iterable[str]) -> dict[str, str]:
    """Return names for labels, each another one: those that would be equal get a number.

    >>> mlflow_names(["a!", "a?", "a_"])
    {'a!': 'a_', 'a?': 'a__2', 'a_': 'a__3'}
    """
    names: dict[str, str] = {}
    for label in labels:
        first = name = mlflow_name(label)
        number = 1
        while name in names.values():
            number += 1
            name = f"{first}_{number}"
        names[label] = name
    return names


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested data with their paths, as ``split.0.test_size``.

    >>> dict(flat({"seed": [0], "split": [{"kind": "kfold"}], "groups": []}))
    {'seed.0': 0, 'split.0.kind': 'kfold', 'groups': []}
    """
    inside = value if isinstance(value, Mapping) else {}
    if isinstance(value, list | tuple):
        inside = dict(enumerate(value))
    if path and not inside:
        yield path, value
    for key, inner in inside.items():
        yield from flat(inner, f"{path}.{key}" if path else str(key))
