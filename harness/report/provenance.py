"""The origin of a run, and how to repeat it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from harness.config.experiment import Experiment
from harness.report.styles import plain
from harness.results.environment import took
from harness.results.record import CellResult, RunInfo

__all__ = ["command", "describe_cells", "describe_run", "to_yaml"]

_SAFE = re.compile(r"[\w./-]+")


def command(info: RunInfo) -> str:
    """Return the command that repeats a run."""
    path = info.config_file or f"{info.name}.yaml"
    return f"harness run {path}" if _SAFE.fullmatch(path) else f"harness run '{plain(path)}'"


def to_yaml(info: RunInfo) -> str:
    """Return the config of a run as YAML, without defaults.

    Parameters
    ----------
    info : RunInfo
    """
    from ruamel.yaml import YAML

    try:
        kept = _written(Experiment.model_validate(info.config))
    except ValidationError:
        kept = dict(info.config)  # data given from Python cannot be written in a config
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
    """Return a section in short form: its kind, and keys that are not defaults."""
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


def describe_run(info: RunInfo) -> list[tuple[str, str]]:
    """Return date, versions and machine of a run, as names and values."""
    machine = info.machine
    rows = [
        ("started", info.started.replace("T", " ")),
        ("took", took([info])),
        ("system", f"{machine.system}, {machine.processor}"),
        ("cores, memory", f"{machine.cores}, {machine.memory_gb:g} GB"),
        *((name, str(number)) for name, number in info.versions.items()),
        ("commit", str(info.commit or "not from a checkout")),
    ]
    rows += [(f"data {each.name}", f"sha256 {each.fingerprint[:16]}…") for each in info.datasets]
    return [(plain(name), plain(value)) for name, value in rows]


def describe_cells(info: RunInfo) -> list[list[str]]:
    """Return, for each algorithm, its parameters, how it ran, and what it could not estimate.

    If a search found different parameters in different cells, all of them are listed.
    """
    by_name: dict[str, list[CellResult]] = {}
    for cell in info.finished:
        by_name.setdefault(cell.algorithm, []).append(cell)
    rows = []
    for name, cells in by_name.items():
        n_test = sum(cell.n_test for cell in cells)
        share = sum(cell.n_impossible for cell in cells) / n_test if n_test else 0.0
        rows.append(
            [
                name,
                _joined(_settings(cell.params) for cell in cells),
                _joined(cell.fit_path for cell in cells),
                _joined(cell.scoring_path for cell in cells),
                f"{share:.1%}",
            ]
        )
    return [[plain(value) for value in row] for row in rows]


def _settings(params: dict[str, Any]) -> str:
    """Return parameters without the seed, which the run derives for each cell."""
    told = [f"{key}={value!r}" for key, value in params.items() if key != "random_state"]
    return ", ".join(told) or "defaults"


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))
