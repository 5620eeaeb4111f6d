"""Both sides of a call, equal to the last bit or an error that names the first difference."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness._util.arguments import is_floating
from harness.algorithms import surprise
from harness.extras.accelerate.attempts import ComparisonError
from harness.extras.accelerate.predictions import LazyList

SEQUENCES = (list, tuple)


def require_same(here: Any, there: Any, where: str) -> None:
    """Raise ComparisonError unless two results are of the same types and bits.

    >>> require_same([1.0, float("nan")], [1.0, float("nan")], "SVD.test")
    >>> require_same({"est": 1.0}, {"est": 1}, "SVD.test")
    Traceback (most recent call last):
    ...
    harness.extras.accelerate.attempts.ComparisonError: SVD.test['est']: found 1.0 (float), ...
    """
    if isinstance(here, LazyList):
        here = list(here)
    if type(here) is not type(there):
        _differ(here, there, where)
    if isinstance(here, np.ndarray):
        _require_same_arrays(here, there, where)
    elif isinstance(here, Mapping):
        if list(here) != list(there):
            _differ(list(here), list(there), f"{where}, keys")
        for key, value in here.items():
            require_same(value, there[key], f"{where}[{key!r}]")
    elif isinstance(here, SEQUENCES):
        if len(here) != len(there):
            _differ(len(here), len(there), f"{where}, length")
        for place, (value, other) in enumerate(zip(here, there, strict=True)):
            if value is not other:
                require_same(value, other, f"{where}[{place}]")
    elif isinstance(here, surprise.Trainset | surprise.AlgoBase):
        require_same_objects(here, there, where)
    elif not (here == there or (here != here and there != there)) or (
        here == 0 and isinstance(here, float) and np.signbit(here) != np.signbit(there)
    ):
        _differ(here, there, where)


def require_same_objects(here: Any, there: Any, where: str) -> None:
    """Compare all that two training sets or models hold, but for the training set of a model."""
    ours, theirs = (item.__getstate__() for item in (here, there))
    # What Surprise computes at the first reading.
    later = {"trainset", "_global_mean", "_inner2raw_id_users", "_inner2raw_id_items"}
    if ours.keys() != theirs.keys():
        _differ(sorted(ours), sorted(theirs), f"{where}, attributes")
    for name in sorted(ours.keys() - later):
        ours_value, theirs_value = ours[name], theirs[name]
        if name == "random_state" and isinstance(ours_value, np.random.RandomState):
            ours_value, theirs_value = ours_value.get_state(), theirs_value.get_state()
        require_same(ours_value, theirs_value, f"{where}.{name}")


def _require_same_arrays(here: Any, there: Any, where: str) -> None:
    if here.dtype != there.dtype or here.shape != there.shape:
        _differ((here.dtype, here.shape), (there.dtype, there.shape), where)
    differs = here != there
    if is_floating(here):
        differs &= ~(np.isnan(here) & np.isnan(there))
        differs |= (here == 0) & (np.signbit(here) != np.signbit(there))
    if differs.any():
        place = tuple(int(index) for index in np.argwhere(differs)[0])
        _differ(here[place], there[place], f"{where}{list(place)}")


def _differ(here: Any, there: Any, where: str) -> None:
    raise ComparisonError(
        f"{where}: found {here!r} ({type(here).__name__}), where Surprise has {there!r} "
        f"({type(there).__name__}); report it, and run without the patch"
    )


def twin_of(model: surprise.AlgoBase) -> Any:
    """Return a copy of a model as it is before a fit, with its own generators."""
    twin = object.__new__(type(model))
    state = {name: value for name, value in vars(model).items() if name != "trainset"}
    vars(twin).update(copy.deepcopy(state))
    return twin
