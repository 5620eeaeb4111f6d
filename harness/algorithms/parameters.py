"""The parameters of algorithms: what a constructor takes, and what Surprise takes for a number."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np

Params = Mapping[str, Any]
"""Arguments of a constructor, or options among them."""
Fault = tuple[tuple[str | int, ...], str]
"""Where in an algorithm of a config, and what was found and what to do."""

_FROM_ZERO = "alpha damping init_high init_low init_std_dev reg reg_all reg_i reg_u shrinkage"
_COUNTS = "k k_core min_k min_support n_cltr_i n_cltr_u n_factors"
LEAST: Mapping[str, float] = {
    **dict.fromkeys(_FROM_ZERO.split(), 0.0),
    **dict.fromkeys(_COUNTS.split(), 1),
    **dict.fromkeys(("n_epochs", "random_state"), 0),
}
"""The least legal value; Surprise itself fails late or divides by zero below it. Where it is an
integer, the parameter is a count; others are numbers, even if Surprise's default is an integer."""
MOST_EPOCHS = 1_000_000
"""Of a config or a saved model: with more, even one user's ratings would take for ever."""
SIMILARITIES = ("cosine", "msd", "pearson", "pearson_baseline")
OPTIONS = ("sim_options", "bsl_options")
SIM_OPTIONS: Params = {"name": "msd", "user_based": True, "min_support": 1, "shrinkage": 100.0}
BSL_OPTIONS: Mapping[str, Params] = {
    "als": {"method": "als", "reg_i": 10.0, "reg_u": 15.0, "n_epochs": 10},
    "sgd": {"method": "sgd", "reg": 0.02, "learning_rate": 0.005, "n_epochs": 20},
}


NEEDED = inspect.Parameter.empty
"""What a parameter without a default has in its place."""
signature = cache(inspect.signature)


@cache
def accepted(kind: type) -> tuple[Params, bool]:
    """Return the parameters of a class with their defaults, and whether it takes any others."""
    every = signature(kind).parameters.values()
    defaults = {p.name: p.default for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in every)
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
