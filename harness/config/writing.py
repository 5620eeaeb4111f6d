"""A config as YAML that reads as the same values."""

from __future__ import annotations

import io
from collections.abc import Mapping

from ruamel.yaml import YAML

START = "${"
"""What begins a variable in a config; `$${` stands for these two characters."""


def escaped(value: object) -> object:
    """Return plain data so that no text in it is read as a variable.

    >>> escaped({"label": "costs ${A}"})
    {'label': 'costs $${A}'}
    """
    if isinstance(value, Mapping):
        return {key: escaped(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [escaped(inner) for inner in value]
    return value.replace(START, "$" + START) if isinstance(value, str) else value


def as_yaml(config: Mapping[str, object]) -> str:
    """Return the keys of a config as YAML, lists and mappings on lines of their own.

    >>> print(as_yaml({"seed": [0], "metrics": ["ndcg@10"]}).rstrip())
    seed:
    - 0
    metrics:
    - ndcg@10
    """
    yaml, text = YAML(), io.StringIO()
    yaml.default_flow_style = False
    yaml.width = 100
    yaml.dump(escaped(config), text)
    return text.getvalue()
