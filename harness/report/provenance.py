"""Where a run came from, and how to make it again."""

from __future__ import annotations

import io
import re
from typing import Any

from pydantic import BaseModel, ValidationError

from harness.config.experiment import Experiment
from harness.report.appearance import plain

__all__ = ["command", "describe_cells", "describe_run", "to_yaml"]

_SAFE = re.compile(r"[\w./-]+")


def command(info: dict[str, Any]) -> str:
    """Return the one command that makes a run again.

    Examples
    --------
    >>> command({"name": "a", "config_file": "configs/a.yaml"})
    'harness run configs/a.yaml'
    """
    path = info.get("config_file") or f"{info['name']}.yaml"
    return f"harness run {path}" if _SAFE.fullmatch(path) else f"harness run '{plain(path)}'"


def to_yaml(info: dict[str, Any]) -> str:
    """Return the config of a run as YAML, without what is the default anyway.

    Parameters
    ----------
    info : dict
        What ``run.json`` holds.
    """
    from ruamel.yaml import YAML

    try:
        kept = _written(Experiment.model_validate(info["config"]))
    except ValidationError:
        kept = dict(info["config"])  # data given from Python cannot be written in a config
    for key in ("dataset", "split", "candidates", "seed"):
        if isinstance(kept.get(key), list) and len(kept[key]) == 1:
            kept[key] = kept[key][0]
    text = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 100
    yaml.dump(kept, text)
    return text.getvalue()


def _written(section: BaseModel) -> dict[str, Any]:
    """Return a section as one would write it: its kind, and what is not the default."""
    kept = {}
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if key == "kind" or value != field.get_default(call_default_factory=True):
            kept[key] = _plain_value(value)
    return kept


def _plain_value(value: Any) -> Any:
    if isinstance(value, BaseModel):
        kept = _written(value)
        return kept["name"] if set(kept) == {"name"} else kept
    if isinstance(value, list | tuple):
        return [_plain_value(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain_value(each) for key, each in value.items()}
    return value


def describe_run(info: dict[str, Any]) -> list[tuple[str, str]]:
    """Return when, with what and on what a run was made, as names and values."""
    machine = info["machine"]
    rows = [
        ("started", info["started"].replace("T", " ")),
        ("took", f"{info['seconds']:.1f} s"),
        ("system", f"{machine['system']}, {machine['processor']}"),
        ("cores, memory", f"{machine['cores']}, {machine['memory_gb']:g} GB"),
        *((name, str(number)) for name, number in info["versions"].items()),
        ("commit", str(info.get("commit") or "not from a checkout")),
    ]
    rows += [
        (f"data {each['name']}", f"sha256 {each['fingerprint'][:16]}…") for each in info["datasets"]
    ]
    return [(plain(name), plain(value)) for name, value in rows]


def describe_cells(info: dict[str, Any]) -> list[list[str]]:
    """Return, for each algorithm, its parameters, how it ran, and what it could not estimate."""
    first: dict[str, dict[str, Any]] = {}
    counts: dict[str, list[int]] = {}
    for cell in info["cells"]:
        if cell.get("error"):
            continue
        first.setdefault(cell["algorithm"], cell)
        count = counts.setdefault(cell["algorithm"], [0, 0])
        count[0] += cell["n_impossible"]
        count[1] += cell["n_test"]
    rows = []
    for name, cell in first.items():
        n_impossible, n_test = counts[name]
        params = ", ".join(f"{key}={value!r}" for key, value in cell["params"].items())
        share = f"{n_impossible / n_test:.1%}" if n_test else ""
        rows.append([name, params or "defaults", cell["fit_path"], cell["scoring_path"], share])
    return [[plain(value) for value in row] for row in rows]
