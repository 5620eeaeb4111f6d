"""Attributes of fitted models that are made when somebody reads them.

Until then they are in no model's ``__dict__``, so nobody can have changed them, and estimates need
no more of them than the rows that they use.
"""

from __future__ import annotations

from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

from harness.algorithms import surprise
from harness.algorithms.compiled.matrix import LazyMatrix
from harness.algorithms.trainset import ColumnTrainset
from harness.extras.accelerate import columns

_making = RLock()
_PENDING: WeakKeyDictionary[surprise.AlgoBase, dict[str, Any]] = WeakKeyDictionary()
NAMES = ("sim", "xr", "yr", "dev", "freq")


def set_pending(model: surprise.AlgoBase, attributes: dict[str, Any]) -> None:
    """Let a model have some attributes from now on; they are made if they must be at once."""
    for name in attributes:
        vars(model).pop(name, None)
    _PENDING[model] = attributes
    if not _waits(model):
        make_all(model)


def _waits(model: surprise.AlgoBase) -> bool:
    """Return whether a model's class asks for what is missing, also when it is pickled."""
    kind, base = type(model), surprise.AlgoBase
    names = ("__getattr__", "__getstate__", "__reduce__", "__reduce_ex__")
    return not any(hasattr(kind, name) for name in NAMES) and all(
        getattr(kind, name, None) is getattr(base, name, None) for name in names
    )


def forget(model: surprise.AlgoBase) -> None:
    """Drop what a model waits for: it has been fitted anew."""
    _PENDING.pop(model, None)


def forget_set(model: surprise.AlgoBase) -> None:
    """Drop what has been set since: a fit that failed leaves the rest as it was."""
    with _making:
        for name in [*(_PENDING.get(model) or ())]:
            if name in vars(model):
                del _PENDING[model][name]


def make(model: surprise.AlgoBase, name: str) -> Any:
    """Return a missing attribute, made and set; AttributeError if the model has none."""
    with _making:
        pending = _PENDING.get(model) or {}
        if name in pending:
            value = pending[name]
            if isinstance(value, LazyMatrix):
                value = value.matrix()
            elif name in ("xr", "yr"):  # the training set and the name of its dictionary
                value = columns.made(*value)
            vars(model)[name] = value
            del pending[name]
            return value
    if name in vars(model):  # another thread made it
        return vars(model)[name]
    raise AttributeError(f"{type(model).__name__!r} object has no attribute {name!r}")


def make_all(model: surprise.AlgoBase) -> None:
    """Make all that a model waits for."""
    for name in list(_PENDING.get(model) or ()):
        make(model, name)
    _PENDING.pop(model, None)


def make_all_models() -> None:
    """Make all that any model waits for, so that all work without the patch."""
    for model in list(_PENDING):
        make_all(model)


def lazy_rows(model: surprise.AlgoBase, name: str) -> LazyMatrix | None:
    """Return a matrix that is still pending."""
    value = (_PENDING.get(model) or {}).get(name)
    return value if isinstance(value, LazyMatrix) else None


def pending_name(model: surprise.AlgoBase, name: str) -> str | None:
    """Return which dictionary of the training set ``xr`` or ``yr`` will be, while it is pending."""
    value = (_PENDING.get(model) or {}).get(name)
    return value[1] if value is not None and value[0] is model.trainset else None


def view_of(model: surprise.AlgoBase, trainset: ColumnTrainset) -> Any:
    """Return a model with the same attributes, what is pending included, and columns to read."""
    view = object.__new__(type(model))
    pending = {
        name: value
        for name, value in (_PENDING.get(model) or {}).items()
        if name not in ("xr", "yr")
    }
    vars(view).update(pending, **vars(model))
    vars(view)["trainset"] = trainset
    return view
