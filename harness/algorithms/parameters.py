"""Parameters of a constructor, checked against its signature before anything runs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

from harness.algorithms.algorithm import Algorithm
from harness.errors import suggestion
from harness.sections import Range, SearchSpace

__all__ = ["Fault", "accepted", "check_params", "check_search", "with_params"]

Fault = tuple[tuple[str | int, ...], str]
"""Where in `params` or `search`, and what was found and what to do."""

BOUNDS: Mapping[str, float] = {
    "alpha": 0.0,
    "init_high": 0.0,
    "init_low": 0.0,
    "init_std_dev": 0.0,
    "k": 1,
    "k_core": 1,
    "min_k": 1,
    "min_support": 1,
    "n_cltr_i": 1,
    "n_cltr_u": 1,
    "n_epochs": 0,
    "n_factors": 1,
    "random_state": 0,
    "reg": 0.0,
    "reg_all": 0.0,
    "reg_i": 0.0,
    "reg_u": 0.0,
    "shrinkage": 0.0,
}
"""The least legal value; Surprise itself fails late or divides by zero below it. Where it is an
integer, the parameter is a count; others are numbers, even if Surprise's default is an integer."""
SIMILARITIES = ("cosine", "msd", "pearson", "pearson_baseline")
SIM_OPTIONS = {"name": "msd", "user_based": True, "min_support": 1, "shrinkage": 100.0}
BSL_OPTIONS = {
    "als": {"method": "als", "reg_i": 10.0, "reg_u": 15.0, "n_epochs": 10},
    "sgd": {"method": "sgd", "reg": 0.02, "learning_rate": 0.005, "n_epochs": 20},
}


def accepted(kind: type) -> tuple[set[str], bool]:
    """Return the parameters that a class takes by name, and whether it takes any others."""
    parameters = inspect.signature(kind).parameters.values()
    names = {each.name for each in parameters if each.kind is not inspect.Parameter.VAR_KEYWORD}
    open_ended = len(names) < len(parameters)
    if not kind.__module__.startswith("surprise."):
        return names, open_ended
    if open_ended:  # the neighbour methods pass baseline options through
        names.add("bsl_options")
    if kind.__name__ == "NormalPredictor":  # seeded here, though not by Surprise
        names.add("random_state")
    return names, False


def check_params(
    kind: type, params: Mapping[str, Any], entry: type[Algorithm] | None
) -> Iterator[Fault]:
    """Yield parameters that would fail in the constructor or during a run.

    Parameters
    ----------
    kind : type
        A subclass of ``surprise.AlgoBase``.
    params : mapping
        Keyword arguments for it.
    entry : type of Algorithm, optional
        What is known of the class; values for a class of your own are its own affair.

    Yields
    ------
    path : tuple of str
        Where in `params`.
    message : str
        What was found and what to do.

    Examples
    --------
    >>> from surprise import SVD
    >>> list(check_params(SVD, {"n_factor": 5}, None))
    [(('n_factor',), "SVD has no such parameter; did you mean 'n_factors'?")]
    """
    allowed, open_ended = accepted(kind)
    parameters = inspect.signature(kind).parameters
    for name, value in params.items():
        if name not in allowed and not open_ended:
            yield (name,), f"{kind.__name__} has no such parameter; {suggestion(name, allowed)}"
        elif entry is None or entry.model_class is not kind:
            continue
        elif name == "sim_options":
            yield from _check_sim_options(value)
        elif name == "bsl_options":
            yield from _check_bsl_options(value)
        else:
            default = parameters[name].default if name in parameters else None
            if message := _wrong(name, value, default, {**BOUNDS, **entry.bounds}):
                yield (name,), message
    for name, parameter in parameters.items():
        required = parameter.default is inspect.Parameter.empty and parameter.kind not in (
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        )
        if required and name not in params:
            yield (), f"{kind.__name__} needs the parameter {name!r}; add it under `params`"


def with_params(params: Mapping[str, Any], setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return constructor arguments with a setting of a search written into them.

    Examples
    --------
    >>> with_params({"k": 5, "sim_options": {"name": "msd"}}, {"sim_options.user_based": False})
    {'k': 5, 'sim_options': {'name': 'msd', 'user_based': False}}
    """
    merged = dict(params)
    for path, value in setting.items():
        outer, _, inner = path.partition(".")
        merged[outer] = {**merged.get(outer, {}), inner: value} if inner else value
    return merged


def check_search(
    kind: type, params: Mapping[str, Any], space: SearchSpace, entry: type[Algorithm] | None
) -> Iterator[Fault]:
    """Yield what is wrong with a search space: each value is checked as one in `params` is.

    Parameters
    ----------
    kind, entry
        As for `check_params`.
    params : mapping
        The parameters that are not searched.
    space : mapping
        By dotted name, a list of values or a range.

    Yields
    ------
    path : tuple
        Where in `space`.
    message : str
        What was found and what to do.

    Examples
    --------
    >>> from surprise import KNNBasic
    >>> list(check_search(KNNBasic, {}, {"kk": [5, 10]}, None))
    [(('kk',), "KNNBasic has no such parameter; did you mean 'k'?")]
    """
    # Which options a baseline has depends on its method, which may be searched too.
    methods = space.get("bsl_options.method")
    bases = [params]
    if isinstance(methods, list):
        bases = [with_params(params, {"bsl_options.method": method}) for method in methods]
    for name, values in space.items():
        path = tuple(name.split(".", 1))
        if len(path) > 1 and not isinstance(params.get(path[0], {}), dict):
            continue  # a fault of `params`
        if isinstance(values, Range):
            ends: dict[str | int, Any] = {"low": values.low, "high": values.high}
        else:
            ends = dict(enumerate(values))
        faults: dict[str | int, str] = {}
        for key, value in ends.items():
            found = []
            for base in [params] if name == "bsl_options.method" else bases:
                every = check_params(kind, with_params(base, {name: value}), entry)
                found.append(next((text for at, text in every if at in (path, path[:1])), ""))
            if all(found):
                faults[key] = found[0]
        if len(faults) == len(ends) and len(set(faults.values())) == 1:  # of the name, not a value
            yield (name,), next(iter(faults.values()))
        else:
            yield from (((name, key), message) for key, message in faults.items())


def _check_sim_options(options: Any) -> Iterator[Fault]:
    if not isinstance(options, dict):
        yield ("sim_options",), f"found {options!r}; it must be a mapping of similarity options"
        return
    for key, value in options.items():
        path = ("sim_options", key)
        if key not in SIM_OPTIONS:
            yield path, f"no such similarity option; {suggestion(key, SIM_OPTIONS)}"
        elif key == "name":
            if not isinstance(value, str) or value.lower() not in SIMILARITIES:
                yield path, f"unknown similarity {value!r}; {suggestion(value, SIMILARITIES)}"
        elif message := _wrong(key, value, SIM_OPTIONS[key]):
            yield path, message


def _check_bsl_options(options: Any) -> Iterator[Fault]:
    if not isinstance(options, dict):
        yield ("bsl_options",), f"found {options!r}; it must be a mapping of baseline options"
        return
    method = options.get("method", "als")
    if not isinstance(method, str) or method not in BSL_OPTIONS:
        hint = suggestion(method, BSL_OPTIONS)
        yield ("bsl_options", "method"), f"unknown method {method!r}; {hint}"
        return
    for key, value in options.items():
        path = ("bsl_options", key)
        if key not in BSL_OPTIONS[method]:
            hint = suggestion(key, BSL_OPTIONS[method])
            yield path, f"no such option of the {method} baseline; {hint}"
        elif key != "method" and (message := _wrong(key, value, BSL_OPTIONS[method][key])):
            yield path, message


def _wrong(name: str, value: Any, default: Any, bounds: Mapping[str, float] = BOUNDS) -> str | None:
    """Return what is wrong with a value; the default says whether it may be null or is a switch."""
    if value is None and default is None:
        return None
    if isinstance(default, bool):
        return None if isinstance(value, bool) else f"found {value!r}; it must be true or false"
    least = bounds.get(name)
    whole = isinstance(least, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return f"found {value!r}; it must be a {'whole ' * whole}number"
    if isinstance(value, float) and not math.isfinite(value):
        return f"found {value!r}; it must be finite"
    if abs(value) >= 2**31 and name != "random_state":
        return f"found {value!r}; it is larger than any sensible setting"
    if least is not None and value < least:
        return f"found {value!r}; it must be {least:g} or more"
    if name == "random_state" and value >= 2**32:
        return f"found {value!r}; it must be below {2**32}"
    return None
