"""What to write where a list stands in place of one value of a parameter: a search, or rows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

MOST_ROWS = 6
"""Rows that are written out."""
PLAIN = re.compile(r"[A-Za-z][\w.-]*( [\w.=-]+)*")
Path = tuple[str, ...]
"""Where a value is among parameters."""
RESERVED = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")


def flow(value: object) -> str:
    """Return plain data as YAML on one line.

    >>> flow({"name": "SVD", "params": {"n_factors": 5, "biased": True, "lr_all": None}})
    '{name: SVD, params: {n_factors: 5, biased: true, lr_all: null}}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.casefold() not in RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)


def as_search_or_rows(
    name: str, params: Mapping[str, object], lists: Mapping[Path, Sequence[object]]
) -> str:
    """Return a search, and rows where they differ in one parameter, as YAML for ``algorithms``.

    Parameters
    ----------
    name : str
        The algorithm.
    params : mapping
        All its parameters, with the lists among them.
    lists : mapping
        The values that are to be tried, by where they are, as ``("sim_options", "name")``.

    Examples
    --------
    >>> print(as_search_or_rows("KNNBasic", {"k": [5, 10]}, {("k",): [5, 10]}))
    - {name: KNNBasic, search: {k: [5, 10]}}
    or one row for each:
    - {name: KNNBasic, label: KNNBasic k=5, params: {k: 5}}
    - {name: KNNBasic, label: KNNBasic k=10, params: {k: 10}}
    """
    rest = dict(params)
    for path in lists:
        rest = _with(rest, path)
    space = {".".join(path): list(values) for path, values in lists.items()}
    search = {"name": name, "params": rest, "search": space}
    lines = [f"- {flow({key: part for key, part in search.items() if part})}"]
    if len(lists) == 1:
        ((path, values),) = lists.items()
        lines.append("or one row for each:")
        for value in values[:MOST_ROWS]:
            label = f"{name} {path[-1]}={value}"
            row = {"name": name, "label": label, "params": _with(params, path, value)}
            lines.append(f"- {flow(row)}")
        lines += ["- ..."] * (len(values) > MOST_ROWS)
    return "\n".join(lines)


def _with(params: Mapping[str, object], path: Path, *value: object) -> dict[str, object]:
    """Return parameters with a value at a path, or without what is there."""
    name, *inner = path
    if not inner:
        changed = {key: old for key, old in params.items() if key != name or value}
        return changed | ({name: value[0]} if value else {})
    outer = params[name]
    assert isinstance(outer, Mapping)
    options = _with(outer, tuple(inner), *value)
    return {key: options if key == name else old for key, old in params.items()
            if key != name or options}  # fmt: skip
