"""The parameters of algorithms: what a constructor takes, and what Surprise takes for a number."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from harness._util.arguments import named_parameters
from harness.errors import suggestion
from harness.schema.sections import Range, SearchSpace

Params = Mapping[str, Any]
"""Arguments of a constructor, or options among them."""
Fault = tuple[tuple[str | int, ...], str]
"""The place in an algorithm of a config, and what was found and what to do."""

_FROM_ZERO = "alpha damping init_high init_low init_std_dev reg reg_all reg_i reg_u shrinkage"
_COUNTS = "k k_core min_k min_support n_cltr_i n_cltr_u n_factors"
LEAST: Mapping[str, float] = {
    **dict.fromkeys(_FROM_ZERO.split(), 0.0),
    **dict.fromkeys(_COUNTS.split(), 1),
    **dict.fromkeys(("n_epochs", "random_state"), 0),
}
"""The least legal value; Surprise itself fails late or divides by zero below it. If it is an
integer, the parameter is a count; others are numbers, even if Surprise's default is an integer."""
MOST_EPOCHS = 1_000_000
"""The most epochs of a config or a saved model: more would take for ever for even one user."""
SIMILARITIES = ("cosine", "msd", "pearson", "pearson_baseline")
OPTIONS = ("sim_options", "bsl_options")
SIM_OPTIONS: Params = {"name": "msd", "user_based": True, "min_support": 1, "shrinkage": 100.0}
BSL_OPTIONS: Mapping[str, Params] = {
    "als": {"method": "als", "reg_i": 10.0, "reg_u": 15.0, "n_epochs": 10},
    "sgd": {"method": "sgd", "reg": 0.02, "learning_rate": 0.005, "n_epochs": 20},
}


NEEDED = inspect.Parameter.empty
"""What a parameter without a default has in its place."""


@cache
def accepted(kind: type) -> tuple[Params, bool]:
    """Return the parameters of a class with their defaults, and whether it takes any others."""
    named, open_ended = named_parameters(kind)
    defaults = {name: parameter.default for name, parameter in named.items()}
    if not kind.__module__.startswith("surprise."):
        return defaults, open_ended
    if open_ended:  # the neighbour methods pass baseline options through
        defaults["bsl_options"] = {}
    if kind.__name__ == "NormalPredictor":  # seeded here, though not by Surprise
        defaults["random_state"] = None
    return defaults, False


def is_ordinary(name: str, value: object) -> bool:
    """Return whether Surprise would take a parameter for a C number, or knows what it names."""
    if name in OPTIONS:
        return isinstance(value, dict) and all(is_ordinary(*option) for option in value.items())
    if name == "name":
        return isinstance(value, str) and value.lower() in SIMILARITIES
    if name == "method":
        return isinstance(value, str) and value in BSL_OPTIONS
    if name in ("random_state", "min_rating"):  # a generator, or none, is as good as a number
        return True
    if isinstance(LEAST.get(name), int):
        return isinstance(value, Integral) and abs(int(value)) <= most(name)
    return isinstance(value, Real | np.bool_)


def most(name: str) -> int:
    """Return the greatest value of a number that Surprise or a loop takes."""
    return MOST_EPOCHS if name == "n_epochs" else 2**31 - 1


def with_params(params: Params, setting: Params) -> dict[str, Any]:
    """Return constructor arguments with a setting of a search written into them.

    >>> with_params({"k": 5, "sim_options": {"name": "msd"}}, {"sim_options.user_based": False})
    {'k': 5, 'sim_options': {'name': 'msd', 'user_based': False}}
    """
    merged = dict(params)
    for path, value in setting.items():
        outer, _, inner = path.partition(".")
        merged[outer] = {**merged.get(outer, {}), inner: value} if inner else value
    return merged


def check_params(kind: type, params: Params, *, has_name: bool) -> Iterator[Fault]:
    """Yield parameters that would fail in the constructor or, of a class with a name, in a run.

    Only names are checked for your own class, because only its author knows the values.
    """
    allowed, _ = accepted(kind)
    fault = partial(_fault, kind, method=_method(params), has_name=has_name)
    messages: dict[tuple[str, ...], str] = {}
    lists: dict[tuple[str, ...], list[object]] = {}
    for name, value in params.items():
        options: dict[tuple[str, ...], object] = {(name,): value}
        if isinstance(value, dict) and name in OPTIONS and name in allowed:
            options = {(name, option): inner for option, inner in value.items()}
        for path, inner in options.items():
            if message := fault(path, inner):
                messages[path] = message
                if isinstance(inner, list) and inner and not any(fault(path, v) for v in inner):
                    lists[path] = inner
    for path, message in messages.items():
        if path in lists:
            yaml = as_search_or_rows(kind.__name__, params, lists)
            message += f"; to try several, write under `algorithms`:\n{yaml}"
        yield path, message
    for name, default in allowed.items():
        if default is NEEDED and name not in params:
            yield (), f"{kind.__name__} needs the parameter {name!r}; add it under `params`"


def check_search(
    kind: type, params: Params, space: SearchSpace, *, has_name: bool
) -> Iterator[Fault]:
    """Yield what is wrong with a search space: each value is checked as one in `params` is."""
    searched = space.get("bsl_options.method")
    methods = searched if isinstance(searched, list) else [_method(params)]
    for name, values in space.items():
        path = tuple(name.split(".", 1))
        if path[1:] and path[0] in OPTIONS and not isinstance(params.get(path[0], {}), dict):
            continue  # a fault of `params`
        ends = values.model_dump(include={"low", "high"}) if isinstance(values, Range) else values
        faults = {}
        for key, value in ends.items() if isinstance(ends, dict) else enumerate(ends):
            messages = [_fault(kind, path, value, method, has_name=has_name) for method in methods]
            faults[key] = messages[0] if all(messages) else ""
        if len({*faults.values()}) == 1:  # of the name, not of a value
            yield from (((name,), message) for message in {*faults.values()} if message)
        else:
            yield from (((name, key), message) for key, message in faults.items() if message)


def _method(params: Params) -> object:
    """Return the method of the baselines, which decides what options they have."""
    options = params.get("bsl_options")
    return options.get("method", "als") if isinstance(options, dict) else "als"


def _fault(
    kind: type, path: tuple[str, ...], value: object, method: object, *, has_name: bool
) -> str:
    """Return what is wrong with a parameter or an option; without `has_name`, only its name."""
    (name, *inner), (allowed, open_ended) = path, accepted(kind)
    if name not in allowed and (has_name or not open_ended):
        return f"{kind.__name__} has no such parameter; {suggestion(name, allowed)}"
    if not has_name:
        return ""
    if name not in OPTIONS:
        return _wrong(name, {inner[0]: value} if inner else value, allowed[name])
    if inner:
        return _option_fault(name, inner[0], value, method)
    noun = "similarity" if name == "sim_options" else "baseline"
    return f"found {value!r}; it must be a mapping of {noun} options"


def _option_fault(options: str, name: str, value: object, method: object) -> str:
    """Return what is wrong with one of the `sim_options` or `bsl_options`."""
    if options == "sim_options":
        if name == "name":
            return _unknown("similarity", value, str(value).lower(), [*SIMILARITIES])
        defaults, noun = SIM_OPTIONS, "similarity option"
    elif name == "method":
        return _unknown("method", value, value, [*BSL_OPTIONS])
    elif method in [*BSL_OPTIONS]:  # a list, as a method may be what has no hash
        defaults, noun = BSL_OPTIONS[str(method)], f"option of the {method} baseline"
    else:  # the unknown method is the fault
        return ""
    if name not in defaults:
        return f"no such {noun}; {suggestion(name, defaults)}"
    return _wrong(name, value, defaults[name])


def _unknown(noun: str, spelled: object, value: object, choices: list[str]) -> str:
    return "" if value in choices else f"unknown {noun} {spelled!r}; {suggestion(spelled, choices)}"


def _wrong(name: str, value: object, default: object) -> str:
    """Return what is wrong with a value; the default says whether it may be null or is a switch."""
    if value is None and default is None:
        return ""
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else f"found {value!r}; it must be true or false"
    least = LEAST.get(name)
    is_count = isinstance(least, int)
    if isinstance(value, bool) or not isinstance(value, int if is_count else int | float):
        return f"found {value!r}; it must be a {'whole number' if is_count else 'number'}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"found {value!r}; it must be finite"
    if abs(value) > most(name) and name != "random_state":
        return f"found {value!r}; it is larger than any sensible setting"
    if least is not None and value < least:
        return f"found {value!r}; it must be {least:g} or more"
    if name == "random_state" and value >= 2**32:
        return f"found {value!r}; it must be below {2**32}"
    return ""


MOST_ROWS = 6
"""Rows that are written out."""
PLAIN = re.compile(r"[A-Za-z][\w.-]*( [\w.=-]+)*")
Path = tuple[str, ...]
"""The place of a value among parameters."""
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
        The values that are to be tried, by where they are, such as ``("sim_options", "name")``.

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
