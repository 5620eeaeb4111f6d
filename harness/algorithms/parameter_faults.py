"""What is wrong with the parameters of an algorithm, and with the values of a search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from harness.algorithms.parameters import (
    BSL_OPTIONS,
    LEAST,
    NEEDED,
    OPTIONS,
    SIM_OPTIONS,
    SIMILARITIES,
    Fault,
    Params,
    accepted,
    most,
)
from harness.errors import suggestion
from harness.quantities import Range, SearchSpace


def check_params(kind: type, params: Params, *, has_name: bool) -> Iterator[Fault]:
    """Yield parameters that would fail in the constructor or, of a class with a name, in a run.

    Of a class of your own, whose values only its author knows, names alone are checked.
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
            from harness.algorithms.several_values import as_search_or_rows

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
