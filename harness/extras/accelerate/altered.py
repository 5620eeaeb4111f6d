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
from collections.abc import Iterable
from functools import cache
from operator import is_
from types import ModuleType
from typing import Any

from harness.algorithms import surprise
from harness.extras.accelerate import originals
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.originals import MEASURES, Owner, Place, is_own

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
_ACCESS = ("__getattribute__", "__setattr__", "__delattr__")


def _change(
    owners: Iterable[Owner], unused: frozenset[str], but: Iterable[Place] = ()
) -> Place | None:
    """Return the first name that has changed, or that was not Surprise's own before the patch."""
    for owner in owners:
        names, functions = originals.taken[owner]
        now = vars(owner)
        is_same = len(now) == len(names) and all(map(is_, now.values(), names.values()))
        for name in () if is_same else _changed_names(owner):
            if name not in unused and (owner, name) not in but:
                return owner, name
        for name, function, parts in functions:
            if name not in unused and not all(map(is_, originals.parts_of(function), parts)):
                return owner, name
    for owner, name in originals.before():
        if owner in owners and name not in unused and (owner, name) not in but:
            return owner, name
    return None


def _changed_names(owner: Owner) -> list[str]:
    """Return the names of a class or module that changed and may matter to Surprise's code."""
    names, now = originals.taken[owner][0], vars(owner)
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
        originals.take(owner)
    return harmful


def _is_same(name: str, names: dict[str, Any], now: Any) -> bool:
    return name in names and name in now and names[name] is now[name]


@cache
def _known_names() -> frozenset[str]:
    """Return all names of Surprise's classes, and all attributes of their objects."""
    classes = [owner for owner in originals.taken if isinstance(owner, type)]
    names = {name for owner in classes for name in originals.taken[owner][0]}
    own = {
        name
        for owner in classes
        if owner in _models()
        for name in inspect.signature(owner).parameters
    }
    return frozenset(names | own | _ATTRIBUTES)


def _models() -> set[Owner]:
    base = surprise.AlgoBase
    return {each for each in originals.taken if isinstance(each, type) and issubclass(each, base)}


_INIT = frozenset(("__init__",))


def require_own_fit(kind: type) -> None:
    """Refuse to fit where the fit of a class of Surprise would call another function.

    The call has come to the ``fit`` of this class, whatever a script put around it.
    """
    _refuse(_change(originals.of_model(kind), _UNUSED | _OF_TESTS | _INIT, [(kind, "fit")]))


def require_own_test(kind: type) -> None:
    """Refuse to test where tests of a class of Surprise would call another function."""
    unused = _UNUSED | _OF_FITS | _INIT
    _refuse(_change(originals.of_model(kind), unused, [(surprise.AlgoBase, "test")]))


def predicts_as_surprise(kind: type) -> bool:
    """Return whether all that ``predict`` of a class of Surprise calls is its own."""
    taken = originals.taken[surprise.AlgoBase]
    if kind not in _of_predict or _of_predict[kind][0] is not taken:  # patched again
        _of_predict[kind] = taken, _places_of_predict(kind)
    is_own = all(names.get(name) is value for names, name, value in _of_predict[kind][1])
    return is_own and surprise.AlgoBase.predict.__defaults__ == (None, True, False)


_of_predict: dict[type, tuple[object, list[tuple[Any, str, Any]]]] = {}


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
    before, taken = originals.before(), originals.taken
    return [
        (vars(owner), name, object() if (owner, name) in before else taken[owner][0].get(name))
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
    owners = (surprise.AlgoBase, *modules, *originals.OF_TRAINSETS)
    _refuse(_change(owners, unused, [(surprise.AlgoBase, reached)]))


def require_own_trainset(trainset: Any, *, is_checked: bool = False) -> None:
    """Refuse a training set that is not simply Surprise's, with its own methods."""
    if type(trainset) is not surprise.Trainset:
        raise NotAccelerated(f"a training set of type {type(trainset).__name__}")
    if not _methods_of_trainset().isdisjoint(vars(trainset)):
        raise NotAccelerated("a training set with its own method")
    if not is_checked:
        _refuse(_change(originals.OF_TRAINSETS, _UNUSED))


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
    _refuse(_change(originals.OF_DATA, _UNUSED))


def require_own_folds(kind: type) -> None:
    """Refuse to split where Surprise would call another function."""
    _refuse(_change(originals.OF_FOLDS, _UNUSED, [(kind, "split"), (kind, "__init__")]))


def require_own_measures() -> None:
    """Refuse to compute a measure if what all measures use was changed."""
    _refuse(_change([surprise.accuracy], _UNUSED | {*MEASURES}))


def scores_as_surprise(names: Iterable[str]) -> bool:
    """Return whether folds are scored by Surprise's own functions."""
    unused = _UNUSED | _INIT | _OF_FITS | (frozenset(MEASURES) - {*names})
    unused |= {"predict", "estimate", "default_prediction", "fit_and_score", "Parallel"}
    return _change(originals.OF_SCORES, unused) is None


def require_plain_access(kind: type) -> None:
    """Refuse a subclass whose attributes are computed, or that observes each that is set."""
    if any(getattr(kind, name) is not getattr(object, name) for name in _ACCESS):
        raise NotAccelerated("a subclass that handles its attributes by itself")
    for owner in kind.__mro__:
        if owner in originals.taken:
            return
        hidden = [name for name in vars(owner) if name in _ATTRIBUTES]
        if hidden:
            raise NotAccelerated(f"a subclass that defines {hidden[0]!r}")


def _refuse(place: Place | None) -> None:
    if place is not None:
        owner, name = place
        where = owner.__name__.removeprefix("surprise.")
        raise NotAccelerated(f"{where}.{name} is not Surprise's own")
