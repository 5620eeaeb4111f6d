"""Parameters of a constructor, checked against its signature before anything runs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

from harness.errors import suggestion

__all__ = ["KeyPath", "check_params", "check_search", "with_params"]

KeyPath = tuple[str | int, ...]

SIMILARITIES = ("cosine", "msd", "pearson", "pearson_baseline")
SIM_OPTIONS: dict[str, Any] = {
    "name": "msd",
    "user_based": True,
    "min_support": 1,
    "shrinkage": 100.0,
}
BSL_OPTIONS: dict[str, dict[str, Any]] = {
    "als": {"method": "als", "reg_i": 10.0, "reg_u": 15.0, "n_epochs": 10},
    "sgd": {"method": "sgd", "reg": 0.02, "learning_rate": 0.005, "n_epochs": 20},
}
WHOLE = (
    "k",
    "k_core",
    "min_k",
    "min_support",
    "n_cltr_i",
    "n_cltr_u",
    "n_epochs",
    "n_factors",
    "random_state",
)
"""Parameters that are counts. Others are numbers, even if Surprise's default is an integer."""
# The least legal value; Surprise itself fails late or divides by zero below it.
LEAST = {
    "alpha": 0,
    "k": 1,
    "k_core": 1,
    "min_k": 1,
    "min_support": 1,
    "n_cltr_i": 1,
    "n_cltr_u": 1,
    "n_epochs": 0,
    "n_factors": 1,
    "init_high": 0,
    "init_low": 0,
    "init_std_dev": 0,
    "random_state": 0,
    "reg": 0,
    "reg_all": 0,
    "reg_i": 0,
    "reg_u": 0,
    "shrinkage": 0,
}


def check_params(kind: type, params: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """Yield parameters that would fail in the constructor or during a run.

    Parameters
    ----------
    kind : type
        A subclass of ``surprise.AlgoBase``.
    params : dict
        Keyword arguments for it.

    Yields
    ------
    path : tuple of str
        Where in `params`.
    message : str
        What was found and what to do.

    Examples
    --------
    >>> from surprise import SVD
    >>> list(check_params(SVD, {"n_factor": 5}))
    [(('n_factor',), "SVD has no such parameter; did you mean 'n_factors'?")]
    """
    parameters = inspect.signature(kind).parameters
    of_surprise = kind.__module__.startswith("surprise.")
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    allowed = {
        name for name, p in parameters.items() if p.kind is not inspect.Parameter.VAR_KEYWORD
    }
    if of_surprise and open_ended:  # the neighbour methods pass baseline options through
        allowed.add("bsl_options")
        open_ended = False
    if of_surprise and kind.__name__ == "NormalPredictor":  # seeded here, though not by Surprise
        allowed.add("random_state")
    for name, value in params.items():
        if name not in allowed and not open_ended:
            yield (name,), f"{kind.__name__} has no such parameter; {suggestion(name, allowed)}"
        elif name == "sim_options" and of_surprise:
            yield from _check_sim_options(value)
        elif name == "bsl_options" and of_surprise:
            yield from _check_bsl_options(value)
        elif of_surprise or kind.__module__.startswith("harness.algorithms."):
            default = parameters[name].default if name in parameters else None
            if message := _wrong(name, value, default):
                yield (name,), message
    for name, parameter in parameters.items():
        required = parameter.default is inspect.Parameter.empty and parameter.kind not in (
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        )
        if required and name not in params:
            yield (), f"{kind.__name__} needs the parameter {name!r}; add it under `params`"


def with_params(params: dict[str, Any], setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return constructor arguments with a setting of a search written into them.

    Examples
    --------
    >>> with_params({"k": 5, "sim_options": {"name": "msd"}}, {"sim_options.user_based": False})
    {'k': 5, 'sim_options': {'name': 'msd', 'user_based': False}}
    """
    merged = {key: dict(v) if isinstance(v, dict) else v for key, v in params.items()}
    for path, value in setting.items():
        outer, _, inner = path.partition(".")
        if inner:
            merged[outer] = {**merged.get(outer, {}), inner: value}
        else:
            merged[outer] = value
    return merged


def check_search(
    kind: type, params: dict[str, Any], space: Mapping[str, Any]
) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with a search space: each value is checked as one in `params` is.

    Parameters
    ----------
    kind : type
        A subclass of ``surprise.AlgoBase``.
    params : dict
        The parameters that are not searched.
    space : mapping
        By dotted name, a list of values or a range with ``low`` and ``high``.

    Yields
    ------
    path : tuple
        Where in `space`.
    message : str
        What was found and what to do.

    Examples
    --------
    >>> from surprise import KNNBasic
    >>> list(check_search(KNNBasic, {}, {"kk": [5, 10]}))
    [(('kk',), "KNNBasic has no such parameter; did you mean 'k'?")]
    >>> list(check_search(KNNBasic, {}, {"k": [5, 0]}))
    [(('k', 1), 'found 0; it must be 1 or more')]
    """
    # Which options a baseline has depends on its method, which may be searched too.
    methods = space.get("bsl_options.method")
    bases = [params]
    if isinstance(methods, list):
        bases = [with_params(params, {"bsl_options.method": method}) for method in methods]
    for name, values in space.items():
        place = tuple(name.split(".", 1))
        if len(place) > 1 and not isinstance(params.get(place[0], {}), dict):
            continue  # a fault of `params`
        own = [params] if name == "bsl_options.method" else bases
        ends = (
            dict(enumerate(values))
            if isinstance(values, list)
            else {"low": values.low, "high": values.high}
        )
        faults = {}
        for key, value in ends.items():
            found = [_fault_of(kind, with_params(base, {name: value}), place) for base in own]
            if all(found):
                faults[key] = found[0]
        if len(faults) == len(ends) and len(set(faults.values())) == 1:  # of the name, not a value
            yield (name,), str(next(iter(faults.values())))
        else:
            yield from (((name, key), str(message)) for key, message in faults.items())


def _fault_of(kind: type, params: dict[str, Any], place: tuple[str, ...]) -> str | None:
    """Return what is wrong with one parameter or option among others."""
    faults = check_params(kind, params)
    return next((message for path, message in faults if path in (place, place[:1])), None)


def _check_sim_options(options: Any) -> Iterator[tuple[KeyPath, str]]:
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


def _check_bsl_options(options: Any) -> Iterator[tuple[KeyPath, str]]:
    if not isinstance(options, dict):
        yield ("bsl_options",), f"found {options!r}; it must be a mapping of baseline options"
        return
    method = options.get("method", "als")
    if not isinstance(method, str) or method not in BSL_OPTIONS:
        yield (
            ("bsl_options", "method"),
            f"unknown method {method!r}; {suggestion(method, BSL_OPTIONS)}",
        )
        return
    for key, value in options.items():
        path = ("bsl_options", key)
        if key not in BSL_OPTIONS[method]:
            hint = suggestion(key, BSL_OPTIONS[method])
            yield path, f"no such option of the {method} baseline; {hint}"
        elif key != "method" and (message := _wrong(key, value, BSL_OPTIONS[method][key])):
            yield path, message


def _wrong(name: str, value: Any, default: Any) -> str | None:
    """Return what is wrong with a value.

    The name says whether it must be whole, the default whether it may be null or is a switch.
    """
    if value is None and default is None:
        return None
    if isinstance(default, bool):
        return None if isinstance(value, bool) else f"found {value!r}; it must be true or false"
    whole = name in WHOLE
    if isinstance(value, bool) or not isinstance(value, int | float):
        expected = "a whole number" if whole else "a number"
        return f"found {value!r}; it must be {expected}"
    if whole and not isinstance(value, int):
        return f"found {value!r}; it must be a whole number"
    if isinstance(value, float) and not math.isfinite(value):
        return f"found {value!r}; it must be finite"
    if abs(value) >= 2**31 and name != "random_state":
        return f"found {value!r}; it is larger than any sensible setting"
    least = LEAST.get(name)
    if least is not None and value < least:
        return f"found {value!r}; it must be {least} or more"
    if name == "random_state" and value >= 2**32:
        return f"found {value!r}; it must be below {2**32}"
    return None
