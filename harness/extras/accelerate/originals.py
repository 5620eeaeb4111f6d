"""What Surprise's classes and modules hold, before they are patched and under the patch."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

from harness.algorithms import surprise

Owner = type | ModuleType
Place = tuple[Owner, str]
MEASURES = ("rmse", "mse", "mae", "fcp")
_algorithms, _selection = surprise.prediction_algorithms, surprise.model_selection
_ROOTS = (sys.stdlib_module_names - {"unittest", "functools"}) | {"surprise", "numpy", "joblib"}
_AROUND_FUNCTIONS = classmethod, staticmethod  # a union would be made in each of many calls
_CALLED = type, types.FunctionType, types.BuiltinFunctionType


_Functions = list[tuple[str, types.FunctionType, tuple[Any, ...]]]
"""Functions by name, and the parts of each that a script can replace."""
taken: dict[Owner, tuple[dict[str, Any], _Functions]] = {}
"""What each class and module held when the patch was made."""
found: dict[Owner, dict[str, Any]] = {}
"""What each class and module held before the patch."""
_other_defaults: set[Place] = set()


@cache
def of_model(kind: type) -> tuple[Owner, ...]:
    """Return what the code of an algorithm uses."""
    classes = [owner for owner in kind.__mro__ if owner is not object]
    modules = {sys.modules[owner.__module__] for owner in classes}
    modules |= {_algorithms.optimize_baselines, surprise.similarities}
    results = surprise.Prediction, surprise.PredictionImpossible
    return (*classes, *modules, *results, *OF_TRAINSETS)


OF_TRAINSETS: tuple[Owner, ...] = (
    surprise.Trainset,
    sys.modules["surprise.trainset"],
    surprise.utils,
)
OF_DATA: tuple[Owner, ...] = (
    surprise.Dataset,
    surprise.dataset.DatasetAutoFolds,
    surprise.dataset.DatasetUserFolds,
    surprise.Reader,
    surprise.dataset,
    surprise.reader,
    *OF_TRAINSETS,
)
OF_FOLDS: tuple[Owner, ...] = (
    _selection.KFold,
    _selection.RepeatedKFold,
    _selection.ShuffleSplit,
    _selection.LeaveOneOut,
    _selection.split,
    *OF_DATA,
)
OF_SCORES: tuple[Owner, ...] = (
    surprise.AlgoBase,
    surprise.accuracy,
    _selection.validation,
    _selection.search,
)


def look(kinds: Iterable[type]) -> None:
    """Note what Surprise is before anything is patched."""
    owners = {owner for kind in kinds for owner in of_model(kind)}
    owners |= {*OF_FOLDS, *OF_SCORES, *OF_DATA, surprise.Reader}
    taken.clear()
    found.clear()
    before.cache_clear()
    found.update((owner, vars(owner).copy()) for owner in owners)
    _other_defaults.clear()
    _other_defaults.update(place for place, given in _DEFAULTS.items() if _defaults(place) != given)


@cache
def before() -> set[Place]:
    """Return what was not Surprise's own before the patch; a script of small calls never asks."""
    places = [(owner, name) for owner, names in found.items() for name in names]
    return _other_defaults.union(place for place in places if not was_own(*place))


_DEFAULTS: dict[Place, tuple[Any, ...]] = {
    (surprise.AlgoBase, "predict"): (None, True, False),
    (surprise.AlgoBase, "test"): (False,),
    (surprise.Trainset, "build_anti_testset"): (None,),
}
"""Defaults of arguments on which accelerated calls rely."""


def _defaults(place: Place) -> Any:
    owner, name = place
    return getattr(vars(owner).get(name), "__defaults__", None)


def remember() -> None:
    """Note all classes and modules as they are after they are patched."""
    for owner in found:
        take(owner)


def take(owner: Owner) -> None:
    """Note a class or a module as it is now."""
    module = None if isinstance(owner, type) else owner.__name__
    functions = [
        (name, function, parts_of(function))
        for name, value in vars(owner).items()
        if type(function := function_in(value)) is types.FunctionType
        and (module is None or function.__module__ == module)
    ]
    taken[owner] = vars(owner).copy(), functions


def remember_name(owner: Owner, name: str) -> None:
    """Note what the patch has put in one more place of a class."""
    names, functions = taken[owner]
    names[name] = function = vars(owner)[name]
    functions[:] = [each for each in functions if each[0] != name]
    functions.append((name, function, parts_of(function)))


def function_in(value: Any) -> Any:
    """Return the function within a property, a class method or a static method."""
    if type(value) is types.FunctionType:  # as nearly all are
        return value
    if isinstance(value, property):
        return value.fget
    return value.__func__ if isinstance(value, _AROUND_FUNCTIONS) else value


def parts_of(function: types.FunctionType) -> tuple[Any, ...]:
    """Return what a script can replace in a function."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


def _is_of_surprise(owner: Owner, name: str, value: Any) -> bool:
    function = function_in(value)
    if isinstance(owner, type):
        if isinstance(function, type) or not callable(function):
            return True
        module = str(getattr(function, "__module__", ""))
        is_named = getattr(function, "__name__", name) == name
        return is_named and module.startswith("surprise.") and not hasattr(function, "__wrapped__")
    if name.startswith("__"):
        return True
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in _ROOTS
    if not callable(value):
        return name not in vars(builtins)
    is_compiled = "cython" in type(value).__name__
    if not is_compiled and not isinstance(value, _CALLED):
        return False
    root = str(getattr(value, "__module__", "")).partition(".")[0]
    return root in _ROOTS and value.__name__ == name and not hasattr(value, "__wrapped__")


def was_own(owner: Owner, name: str) -> bool:
    """Return whether a function was Surprise's own when the patch was made."""
    if (owner, name) in _other_defaults:
        return False
    names = found.get(owner, {})
    return name not in names or _is_of_surprise(owner, name, names[name])


def is_own(owner: Owner, name: str) -> bool:
    """Return whether a function is Surprise's own, or what the patch put in its place."""
    return was_own(owner, name) and vars(owner).get(name) is taken[owner][0].get(name)
