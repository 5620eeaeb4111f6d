"""What a script changed in Surprise itself, which no accelerated call may pass over.

A script can replace, add or delete a method of a class of Surprise, a name in one of its modules,
or the code or the defaults of a function, before the patch or after it. Every class and module is
compared with what it held when Surprise was patched. An accelerated call is refused if one of those
that Surprise's own code would use has changed.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import Iterable
from functools import cache
from operator import is_
from types import ModuleType
from typing import Any

from harness.algorithms import surprise
from harness.extras.accelerate.calls import NotAccelerated

Owner = type | ModuleType
Place = tuple[Owner, str]
MEASURES = ("rmse", "mse", "mae", "fcp")
_algorithms, _selection = surprise.prediction_algorithms, surprise.model_selection
_OF_A_MODEL = (
    *("trainset", "bu", "bi", "pu", "qi", "yj", "sim", "xr", "yr", "n_x", "n_y", "bx", "by"),
    *("means", "sigmas", "overall_sigma", "sigma", "dev", "freq", "user_mean", "item_mean"),
    *("cltr_u", "cltr_i", "avg_cltr_u", "avg_cltr_i", "avg_cocltr"),
    *("sim_options", "bsl_options", "verbose"),
)
_OF_A_TRAINSET = (
    *("ur", "ir", "n_users", "n_items", "n_ratings", "rating_scale", "_global_mean"),
    *("_raw2inner_id_users", "_raw2inner_id_items", "_inner2raw_id_users", "_inner2raw_id_items"),
)
_ATTRIBUTES = frozenset(_OF_A_MODEL + _OF_A_TRAINSET)
"""What Surprise sets on training sets and models; a class that has such a name may hide it."""
_OF_FITS = frozenset(
    (
        *("fit", "sgd", "compute_baselines", "compute_similarities", "compute_averages"),
        *("cosine", "msd", "pearson", "pearson_baseline", "baseline_als", "baseline_sgd"),
    )
)
_OF_TESTS = frozenset(("predict", "estimate", "default_prediction", "test"))
_UNUSED = frozenset(
    (
        *("__doc__", "__str__", "__repr__", "__format__", "__annotations__", "__dict__"),
        *("__weakref__", "__firstlineno__", "__static_attributes__", "get_neighbors"),
    )
)
"""Names on which no number depends, or that accelerated calls use as they are."""
_ROOTS = (sys.stdlib_module_names - {"unittest", "functools"}) | {"surprise", "numpy", "joblib"}
_ACCESS = ("__getattribute__", "__setattr__", "__delattr__")
_AROUND_FUNCTIONS = classmethod, staticmethod  # a union would be made in each of many calls
_CALLED = type, types.FunctionType, types.BuiltinFunctionType


_Functions = list[tuple[str, types.FunctionType, tuple[Any, ...]]]
"""Functions by name, and the parts of each that a script can replace."""
_taken: dict[Owner, tuple[dict[str, Any], _Functions]] = {}
"""What each class and module held when the patch was made."""
_found: dict[Owner, dict[str, Any]] = {}
"""What each class and module held before the patch."""
_other_defaults: set[Place] = set()


def look(kinds: Iterable[type]) -> None:
    """Note what Surprise is before anything is patched."""
    owners = {owner for kind in kinds for owner in _of_model(kind)}
    owners |= {*_OF_FOLDS, *_OF_SCORES, *_OF_DATA, surprise.Reader}
    _taken.clear()
    _found.clear()
    _before.cache_clear()
    _found.update((owner, dict(vars(owner))) for owner in owners)
    _other_defaults.clear()
    _other_defaults.update(place for place, given in _DEFAULTS.items() if _defaults(place) != given)


@cache
def _before() -> set[Place]:
    """Return what was not Surprise's own before the patch; a script of small calls never asks."""
    places = [(owner, name) for owner, names in _found.items() for name in names]
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
    for owner in _found:
        _take(owner)
    _of_predict.clear()


def _take(owner: Owner) -> None:
    module = None if isinstance(owner, type) else owner.__name__
    functions = [
        (name, function, _parts(function))
        for name, value in vars(owner).items()
        if type(function := _function(value)) is types.FunctionType
        and (module is None or function.__module__ == module)
    ]
    _taken[owner] = dict(vars(owner)), functions


def remember_name(owner: Owner, name: str) -> None:
    """Note what the patch has put in one more place of a class."""
    names, functions = _taken[owner]
    names[name] = function = vars(owner)[name]
    functions[:] = [each for each in functions if each[0] != name]
    functions.append((name, function, _parts(function)))


def _function(value: Any) -> Any:
    """Return the function within a property, a class method or a static method."""
    if isinstance(value, property):
        return value.fget
    return value.__func__ if isinstance(value, _AROUND_FUNCTIONS) else value


def _parts(function: types.FunctionType) -> tuple[Any, ...]:
    return function.__code__, function.__defaults__, function.__kwdefaults__


def is_of_surprise(function: Any) -> bool:
    """Return whether a function that is not patched is Surprise's own."""
    module = str(getattr(function, "__module__", ""))
    return module.startswith("surprise.") and not hasattr(function, "__wrapped__")


def _is_of_surprise(owner: Owner, name: str, value: Any) -> bool:
    function = _function(value)
    if isinstance(owner, type):
        if isinstance(function, type) or not callable(function):
            return True
        is_named = getattr(function, "__name__", name) == name
        return is_named and is_of_surprise(function)
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
    names = _found.get(owner, {})
    return name not in names or _is_of_surprise(owner, name, names[name])


def is_own(owner: Owner, name: str) -> bool:
    """Return whether a function is Surprise's own, or what the patch put in its place."""
    return was_own(owner, name) and vars(owner).get(name) is _taken[owner][0].get(name)


def _change(
    owners: Iterable[Owner], unused: frozenset[str], but: Iterable[Place] = ()
) -> Place | None:
    """Return the first name that has changed, or that was not Surprise's own before the patch."""
    for owner in owners:
        names, functions = _taken[owner]
        now = vars(owner)
        is_same = len(now) == len(names) and all(map(is_, now.values(), names.values()))
        for name in () if is_same else _changed_names(owner):
            if name not in unused and (owner, name) not in but:
                return owner, name
        for name, function, parts in functions:
            if name not in unused and not all(map(is_, _parts(function), parts)):
                return owner, name
    for owner, name in _before():
        if owner in owners and name not in unused and (owner, name) not in but:
            return owner, name
    return None


def _changed_names(owner: Owner) -> list[str]:
    """Return the names of a class or module that changed and may matter to Surprise's code."""
    names, now = _taken[owner][0], vars(owner)
    changed = [name for name in {**names, **now} if not _is_same(name, names, now)]
    known = _known_names()
    harmful = []
    for name in changed:
        if isinstance(owner, ModuleType):
            matters = not name.startswith("__") and (name in names or name in vars(builtins))
        else:
            matters = name in names or name in known or name.startswith("__")
        if matters:
            harmful.append(name)
    if not harmful:
        _take(owner)
    return harmful


def _is_same(name: str, names: dict[str, Any], now: Any) -> bool:
    return name in names and name in now and names[name] is now[name]


@cache
def _known_names() -> frozenset[str]:
    """Return all names of Surprise's classes, and all attributes of their objects."""
    classes = [owner for owner in _taken if isinstance(owner, type)]
    names = {name for owner in classes for name in _taken[owner][0]}
    own = {
        name
        for owner in classes
        if owner in _models()
        for name in inspect.signature(owner).parameters
    }
    return frozenset(names | own | _ATTRIBUTES)


def _models() -> set[Owner]:
    base = surprise.AlgoBase
    return {owner for owner in _taken if isinstance(owner, type) and issubclass(owner, base)}


@cache
def _of_model(kind: type) -> tuple[Owner, ...]:
    """Return what the code of an algorithm uses."""
    classes = [owner for owner in kind.__mro__ if owner is not object]
    modules = {sys.modules[owner.__module__] for owner in classes}
    modules |= {_algorithms.optimize_baselines, surprise.similarities}
    results = surprise.Prediction, surprise.PredictionImpossible
    return (*classes, *modules, *results, *_OF_TRAINSET)


_OF_TRAINSET: tuple[Owner, ...] = (
    surprise.Trainset,
    sys.modules["surprise.trainset"],
    surprise.utils,
)
_OF_DATA: tuple[Owner, ...] = (
    surprise.Dataset,
    surprise.dataset.DatasetAutoFolds,
    surprise.dataset.DatasetUserFolds,
    surprise.Reader,
    surprise.dataset,
    surprise.reader,
    *_OF_TRAINSET,
)
_OF_FOLDS: tuple[Owner, ...] = (
    _selection.KFold,
    _selection.RepeatedKFold,
    _selection.ShuffleSplit,
    _selection.LeaveOneOut,
    _selection.split,
    *_OF_DATA,
)
_OF_SCORES: tuple[Owner, ...] = (
    surprise.AlgoBase,
    surprise.accuracy,
    _selection.validation,
    _selection.search,
)
_INIT = frozenset(("__init__",))


def require_own_fit(kind: type) -> None:
    """Refuse to fit where the fit of a class of Surprise would call another function.

    The call has come to the ``fit`` of this class, whatever a script put around it.
    """
    _refuse(_change(_of_model(kind), _UNUSED | _OF_TESTS | _INIT, [(kind, "fit")]))


def require_own_test(kind: type) -> None:
    """Refuse to test where tests of a class of Surprise would call another function."""
    unused = _UNUSED | _OF_FITS | _INIT
    _refuse(_change(_of_model(kind), unused, [(surprise.AlgoBase, "test")]))


def predicts_as_surprise(kind: type) -> bool:
    """Return whether all that ``predict`` of a class of Surprise calls is its own."""
    if kind not in _of_predict:
        _of_predict[kind] = _places_of_predict(kind)
    is_own = all(names.get(name) is value for names, name, value in _of_predict[kind])
    return is_own and surprise.AlgoBase.predict.__defaults__ == (None, True, False)


_of_predict: dict[type, list[tuple[Any, str, Any]]] = {}


def _places_of_predict(kind: type) -> list[tuple[Any, str, Any]]:
    """Return where ``predict`` finds what it calls, and what was there under the patch.

    It takes microseconds, so only these are compared; what a script replaced before is never equal.
    """
    names = ("estimate", "switch", "default_prediction", *_ACCESS)
    of_trainset = ("knows_user", "knows_item", "global_mean", "to_inner_uid", "to_inner_iid")
    module = _algorithms.algo_base
    places = [
        *((owner, name) for owner in kind.__mro__[:-1] for name in names),
        (surprise.AlgoBase, "predict"),
        *((surprise.Trainset, name) for name in (*of_trainset, *_ACCESS)),
        *((module, name) for name in ("Prediction", "print", "min", "max", "str", "isinstance")),
        *((sys.modules[kind.__module__], name) for name in ("np", "heapq", "sum", "len")),
        *((owner, "PredictionImpossible") for owner in (module, sys.modules[kind.__module__])),
        (surprise.Prediction, "__new__"),
    ]
    before = _before()
    return [
        (vars(owner), name, object() if (owner, name) in before else _taken[owner][0].get(name))
        for owner, name in places
    ]


def require_own_functions(reached: str) -> None:
    """Refuse to compute baselines or similarities where one of their functions is another.

    `reached` is the method that was called, whatever a script put around it.
    """
    unused = _UNUSED | _OF_TESTS | _INIT | {"fit"}
    if reached == "compute_baselines":
        unused |= {"compute_similarities"}
    modules = (_algorithms.algo_base, _algorithms.optimize_baselines, surprise.similarities)
    owners = (surprise.AlgoBase, *modules, *_OF_TRAINSET)
    _refuse(_change(owners, unused, [(surprise.AlgoBase, reached)]))


def require_own_trainset(trainset: Any, *, is_checked: bool = False) -> None:
    """Refuse a training set that is not simply Surprise's, with its own methods."""
    if type(trainset) is not surprise.Trainset:
        raise NotAccelerated(f"a training set of type {type(trainset).__name__}")
    if not _methods_of_trainset().isdisjoint(vars(trainset)):
        raise NotAccelerated("a training set with its own method")
    if not is_checked:
        _refuse(_change(_OF_TRAINSET, _UNUSED))


@cache
def _methods_of_trainset() -> frozenset[str]:
    return frozenset(name for name in dir(surprise.Trainset) if not name.startswith("__"))


def lists_neighbours_as_surprise(trainset: Any) -> bool:
    """Return whether ``get_neighbors`` would list users or items as Surprise does."""
    return _methods_of_trainset().isdisjoint(vars(trainset)) and all(
        is_own(surprise.Trainset, name) for name in ("all_users", "all_items", *_ACCESS)
    )


def require_own_data() -> None:
    """Refuse to read or to number ratings where Surprise would call another function."""
    _refuse(_change(_OF_DATA, _UNUSED))


def require_own_folds(kind: type) -> None:
    """Refuse to split where Surprise would call another function."""
    _refuse(_change(_OF_FOLDS, _UNUSED, [(kind, "split"), (kind, "__init__")]))


def require_own_measures() -> None:
    """Refuse to compute a measure if what all measures use was changed."""
    _refuse(_change([surprise.accuracy], _UNUSED | {*MEASURES}))


def scores_as_surprise(names: Iterable[str]) -> bool:
    """Return whether folds are scored by Surprise's own functions."""
    unused = _UNUSED | _INIT | _OF_FITS | (frozenset(MEASURES) - {*names})
    unused |= {"predict", "estimate", "default_prediction", "fit_and_score", "Parallel"}
    return _change(_OF_SCORES, unused) is None


def require_plain_access(kind: type) -> None:
    """Refuse a subclass whose attributes are computed, or that observes each that is set."""
    if any(getattr(kind, name) is not getattr(object, name) for name in _ACCESS):
        raise NotAccelerated("a subclass that handles its attributes by itself")
    for owner in kind.__mro__:
        if owner in _taken:
            return
        hidden = [name for name in vars(owner) if name in _ATTRIBUTES]
        if hidden:
            raise NotAccelerated(f"a subclass that defines {hidden[0]!r}")


def _refuse(place: Place | None) -> None:
    if place is not None:
        owner, name = place
        where = owner.__name__.removeprefix("surprise.")
        raise NotAccelerated(f"{where}.{name} is not Surprise's own")
