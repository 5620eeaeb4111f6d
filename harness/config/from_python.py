"""What was given from Python: ratings, as the record of a run names them, and mappings."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.config.document import Document, refusal
from harness.config.yaml import Variables
from harness.errors import ConfigError, joined


def with_variables(document: Document) -> Document:
    """Return a document of Python data with the values of variables."""
    if not _has_variable(document.data):
        return document

    variables = Variables()
    data = variables.in_data(document.data)
    if variables.faults:
        raise ConfigError(document.source, variables.faults)
    return replace(document, data=data, written=variables.written)  # type: ignore[arg-type]


def _has_variable(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_variable, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_variable, value))
    return isinstance(value, str) and "${" in value


SPLITS: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    "KFold": (
        {"kind": "kfold"},
        {"n_splits": "n_splits", "random_state": "random_state", "shuffle": "shuffle"},
    ),
    "RepeatedKFold": (
        {"kind": "repeated-kfold"},
        {"n_splits": "n_splits", "n_repeats": "n_repeats", "random_state": "random_state"},
    ),
    "ShuffleSplit": (
        {"kind": "holdout"},
        {
            "n_splits": "n_splits",
            "test_size": "test_size",
            "train_size": "train_size",
            "random_state": "random_state",
            "shuffle": "shuffle",
        },
    ),
    "LeaveOneOut": (
        {"kind": "leave-n-out", "n": 1, "like": "surprise", "too_few": "drop"},
        {"n_splits": "n_splits", "random_state": "random_state", "min_n_ratings": "min_train"},
    ),
}
"""By the iterator's name, the keys that its kind has, and the key for each of its attributes."""
MOST_LETTERS = 80
"""The most letters of a label."""
OPTIONS = ("sim_options", "bsl_options")
"""Parameters that every algorithm takes, whatever its signature."""


def as_sections(config: Mapping[str, object]) -> dict[str, object]:
    """Return a config in which classes, and algorithms and iterators of Surprise, are sections.

    >>> from surprise import SVD
    >>> from surprise.model_selection import KFold
    >>> as_sections({"algorithms": [SVD(n_factors=5)], "split": KFold(3, random_state=0)})["split"]
    {'kind': 'kfold', 'n_splits': 3, 'random_state': 0, 'shuffle': True}
    """
    written = dict(config)
    kinds: dict[str, Callable[[object, str], object]] = {
        "algorithms": _algorithm,
        "split": _split,
    }
    for key, write in kinds.items():
        value = written.get(key)
        if isinstance(value, list | tuple):
            sections = [write(part, f"{key}[{n}]") for n, part in enumerate(value)]
            written[key] = _labelled(value, sections) if key == "algorithms" else sections
        elif key in written:
            written[key] = write(value, key)
    return written


def _is_of(value: object, modules: str) -> bool:
    """Return whether a class comes from a part of Surprise, which is not imported for that."""
    return f"{type(value).__module__}.".startswith(f"surprise.{modules}")


def _algorithm(value: object, where: str) -> object:
    if isinstance(value, Mapping) and isinstance(value.get("name"), type):
        return {**value, "name": _algorithm(value["name"], f"{where}.name")}
    if isinstance(value, type) and f"{value.__module__}.".startswith("surprise.prediction_"):
        return value.__name__
    if isinstance(value, type) and callable(getattr(value, "fit", None)):
        return _place_of(value, where)
    if not _is_of(value, "prediction_algorithms"):
        return value
    kind: Any = type(value)
    default = kind()
    params = {}
    for name in dict.fromkeys([*inspect.signature(kind.__init__).parameters, *OPTIONS]):
        if name == "verbose" or not hasattr(value, name):
            continue
        if (setting := getattr(value, name)) != getattr(default, name):
            params[name] = _plain(setting, f"{where}.{name}")
    return {"name": kind.__name__, "params": params} if params else kind.__name__


def _place_of(own: type, where: str) -> str:
    """Return the place where your own class is found again, such as ``module:Class``.

    >>> _place_of(Variables, "algorithms[0]")
    'harness.config.yaml:Variables'
    """
    name = own.__qualname__
    if getattr(sys.modules.get(own.__module__), name, None) is own:
        return f"{own.__module__}:{name}"
    reason = "is not what its module has under this name; define it again, and give that class"
    if "." in name:
        reason = "is defined inside something else; define it at the top of a module or a cell"
    raise refusal("config", f"{where}: the class {name} {reason}")


def _labelled(values: Sequence[object], sections: list[object]) -> list[object]:
    """Label the sections of objects of one class by the parameters that differ."""
    entries = [_name_and_params(section) for section in sections]
    labelled = list(sections)
    for place, (value, (name, params)) in enumerate(zip(values, entries, strict=True)):
        if isinstance(value, str | Mapping):  # a section of the config, with a label of its own
            continue
        peers = [of_peer for peer, of_peer in entries if peer == name]
        differing = [
            f"{key}={setting}"
            for key, setting in params.items()
            if any(key not in peer or peer[key] != setting for peer in peers)
        ]
        if differing:
            label = " ".join([str(name), *differing])[:MOST_LETTERS]
            labelled[place] = {"name": name, "label": label, "params": params}
    return labelled


def _name_and_params(section: object) -> tuple[object, dict[str, object]]:
    if not isinstance(section, Mapping):
        return section, {}
    params = section.get("params")
    return section.get("name"), dict(params) if isinstance(params, Mapping) else {}


def _split(value: object, where: str) -> object:
    if not _is_of(value, "model_selection"):
        return value
    name = type(value).__name__
    if name not in SPLITS:
        raise refusal("config", f"{where}: found a {name}; use one of {joined(SPLITS, 'or')}")
    fixed, keys = SPLITS[name]
    settings = {key: getattr(value, attribute) for attribute, key in keys.items()}
    stated = {key: setting for key, setting in settings.items() if setting is not None}
    return fixed | {key: _plain(stated[key], f"{where}.{key}") for key in stated}


def _plain(setting: object, where: str) -> object:
    if type(setting).__name__ in ("RandomState", "Generator"):
        raise refusal(
            "config", f"{where}: found a generator; give its seed, so that a run can be repeated"
        )
    return setting
