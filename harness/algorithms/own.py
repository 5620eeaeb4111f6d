"""Algorithms of somebody else: the class at an import path, or that a plug-in names."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from harness._util.arguments import returned_numbers
from harness.algorithms import surprise
from harness.algorithms.base import ENTRIES, Algorithm, Estimates, FitOptions
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats
from harness.errors import AlgorithmError, counted, suggestion
from harness.metrics.own import locked
from harness.plugins import own_modules
from harness.schema.sections import SearchSpace, search_space

LARGE = 4_000_000
"""Pairs that an algorithm without `rows` is asked at a time."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The training set as arrays that cannot be changed.

    Parameters
    ----------
    users, items : ndarray of int32, shape (n_ratings,)
        Codes from 0 to ``n_users - 1`` and ``n_items - 1``, grouped by user.
    ratings : ndarray of float64, shape (n_ratings,)
    timestamps : ndarray of int64, shape (n_ratings,), or None
        Seconds since 1970, where the data have them.
    n_users, n_items : int
        Users and items with a training rating.
    scale : (float, float)
        The least and the greatest rating.
    user_ids, item_ids : sequence
        The raw id of each code.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [1, 0, 1], [2, 2, 0], [4, 3, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y", "z"], scale=(1, 5))
    >>> train = TrainingData.of(trainset)
    >>> train.users.tolist(), train.items.tolist(), train.ratings.tolist(), train.item_ids
    ([0, 0, 1], [0, 1, 0], [4.0, 5.0, 3.0], ['z', 'x'])
    """

    users: Codes
    items: Codes
    ratings: Floats
    timestamps: npt.NDArray[np.int64] | None
    n_users: int
    n_items: int
    scale: tuple[float, float]
    user_ids: list[object]
    item_ids: list[object]

    @classmethod
    def of(cls, trainset: ColumnTrainset) -> TrainingData:
        """Return what a training set holds."""
        offsets, items, ratings = trainset.by_user
        users = np.repeat(np.arange(trainset.n_users, dtype=np.int32), np.diff(offsets))
        low, high = trainset.rating_scale
        return cls(
            locked(users),
            locked(items),
            locked(ratings),
            None if trainset.moments is None else locked(trainset.moments),
            trainset.n_users,
            trainset.n_items,
            (float(low), float(high)),
            trainset.raw_users(trainset.user_codes),
            trainset.raw_items(trainset.item_codes),
        )


class ArrayAlgorithm(Protocol):
    """What a class must have to be an algorithm; see `TrainingData` for what it is given.

    Optional are ``rows(users)``, which returns the estimates of all items, shape (n, n_items), and
    for `harness.save_model` ``state()``, which returns what was learned as a dict of arrays and
    plain values, with ``restore(state)``, which takes it in a new instance of the same parameters.
    """

    def fit(self, train: TrainingData) -> object:
        """Learn from the training set."""

    def estimate(self, users: Codes, items: Codes) -> npt.ArrayLike:
        """Return the estimates of pairs of codes, shape (n,); -1 is an unknown user or item.

        NaN is for pairs that cannot be estimated, such as an unknown item: the default estimate,
        the mean of all ratings, replaces it.
        """


def takes_arrays(algorithm: object) -> bool:
    """Return whether a class is an algorithm without Surprise."""
    return (
        isinstance(algorithm, type)
        and not issubclass(algorithm, surprise.AlgoBase)
        and all(callable(getattr(algorithm, name, None)) for name in ("fit", "estimate"))
    )


class ArrayModel(surprise.AlgoBase):  # type: ignore[misc]
    """A model of Surprise around an algorithm that takes arrays; `as_model` derives from it."""

    algorithm: ClassVar[type]

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self.inner = self.algorithm(**params)
        self.is_preference = bool(getattr(self.inner, "preferences", False))
        self.params = params

    def fit(self, trainset: surprise.Trainset) -> ArrayModel:
        """Hand the training set to the algorithm, in arrays."""
        self.adopt(ColumnTrainset.from_surprise(trainset))
        self.inner.fit(TrainingData.of(self.trainset))
        return self

    def adopt(self, trainset: ColumnTrainset) -> None:
        """Take a training set as one that the algorithm has learned from."""
        super().fit(trainset)

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the estimate of one pair, impossible where it is NaN."""
        users, items = (np.array([-1 if isinstance(x, str) else x], np.int32) for x in (u, i))
        (estimate,) = self.many(users, items)
        if np.isnan(estimate):
            raise surprise.PredictionImpossible("The algorithm gave no estimate.")
        return float(estimate)

    def many(self, users: Codes, items: Codes) -> Floats:
        """Return the checked estimates of pairs, shape (n,); NaN where there is none."""
        returned = self.inner.estimate(locked(users), locked(items))
        return self._checked(returned, users.shape, (users >= 0) & (items >= 0), "estimate")

    def rows(self, users: Codes) -> Floats:
        """Return the checked estimates of all items for each user, shape (n, n_items)."""
        n_items = self.trainset.n_items
        if callable(getattr(self.inner, "rows", None)):
            shape = len(users), n_items
            both = np.broadcast_to((users >= 0)[:, None], shape)
            return self._checked(self.inner.rows(locked(users)), shape, both, "rows")
        items = np.arange(n_items, dtype=np.int32)
        rows = np.empty((len(users), n_items))
        step = max(1, LARGE // max(n_items, 1))
        for start in range(0, len(users), step):
            part = users[start : start + step]
            pairs = np.repeat(part, n_items), np.tile(items, len(part))
            rows[start : start + step] = self.many(*pairs).reshape(len(part), n_items)
        return rows

    def _checked(
        self, returned: object, shape: tuple[int, ...], both: npt.NDArray[np.bool_], method: str
    ) -> Floats:
        name = f"{self.algorithm.__module__}.{self.algorithm.__qualname__}.{method}"
        estimates: Floats = returned_numbers(name, returned, AlgorithmError)
        if estimates.shape != shape:
            raise AlgorithmError(
                f"{name} returned shape {estimates.shape} where {shape} was asked for; return one "
                "estimate for each pair"
            )
        wrong = np.isinf(estimates) | (np.isnan(estimates) & both)
        if n_wrong := int(wrong.sum()):
            raise AlgorithmError(
                f"{name} returned {counted(n_wrong, 'estimate')} of known users and items that "
                f"{'is' if n_wrong == 1 else 'are'} not finite, of {estimates.size:,}; return "
                "numbers, and NaN only for an unknown user or item"
            )
        return estimates


class ArrayEntry(Algorithm):
    """The entry of all algorithms that take arrays."""

    summary = "your own algorithm that takes arrays"
    kind = "plugin"
    compiles = False
    takes_arrays = True
    model_class = ArrayModel
    unknown_user = "as its own code decides, else the mean of all ratings"

    @classmethod
    def gives_preferences(cls, params: Params) -> bool:
        """Return whether the class says that its estimates are not ratings."""
        return bool(getattr(cls.model_class.algorithm, "preferences", False))

    @classmethod
    def may_fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        """Return False: its own `fit` is called."""
        return False

    @classmethod
    def may_score(cls, model: surprise.AlgoBase) -> bool:
        """Return True: it is asked for many pairs at once."""
        return True

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        """Call the model's own ``fit``."""
        model.fit(trainset)

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        """Return the estimates of pairs that broadcast."""
        every_user, every_item = np.broadcast_arrays(users, items)
        estimates = self.model.many(
            np.ascontiguousarray(every_user.ravel()), np.ascontiguousarray(every_item.ravel())
        )
        return estimates.reshape(every_user.shape), np.isnan(estimates).reshape(every_user.shape)

    def rows(self, users: Codes) -> Estimates:
        """Return the estimates of all items for each user."""
        estimates = self.model.rows(users)
        impossible = np.isnan(estimates)
        return estimates, impossible if impossible.any() else False


@cache
def as_model(algorithm: type) -> type:
    """Return the class of models of an algorithm that takes arrays, with its parameters."""
    members = {
        "algorithm": algorithm,
        "__signature__": inspect.signature(algorithm),
        "__module__": algorithm.__module__,
        "__qualname__": algorithm.__qualname__,
        "__doc__": algorithm.__doc__,
    }
    model = type(algorithm.__name__, (ArrayModel,), members)
    declared = {
        name: getattr(algorithm, name)
        for name in ("space", "unknown_user")
        if hasattr(algorithm, name)
    }
    summary = " ".join((algorithm.__doc__ or "").partition("\n\n")[0].split())
    if "space" in declared:
        declared["space"] = _space(algorithm, declared["space"])
    declared |= {"model_class": model, "name": algorithm.__name__, "summary": summary}
    type(f"{algorithm.__name__}Entry", (ArrayEntry,), declared)  # registers itself
    return model


def _space(algorithm: type, declared: object) -> SearchSpace:
    """Return the space of a class, which may hold what `search` of a config holds."""
    name = f"{algorithm.__module__}:{algorithm.__qualname__}"
    try:
        return search_space(declared)
    except ValueError as error:
        raise AlgorithmError(
            f"{name}: `space`: {error}; write for each parameter a list of values, or a range with "
            "`low` and `high`"
        ) from None


def load(name: str) -> type:
    """Return the class at ``package.module:Class``, which must be able to estimate."""
    module_name, _, class_name = name.partition(":")
    try:
        module = own_modules.imported(module_name)
    except ImportError as error:
        missing = getattr(error, "name", None) == module_name.partition(".")[0]
        folders = ", ".join(_own_folders())
        looked = f"; looked in {folders} and among the installed packages" if missing else ""
        raise AlgorithmError(
            f"cannot import {module_name!r} ({error}){looked}; "
            "put the module beside the config, or install it"
        ) from None
    except BaseException as error:  # a script that is imported can call sys.exit
        if isinstance(error, KeyboardInterrupt):
            raise
        raise AlgorithmError(
            f"importing {module_name!r} failed ({type(error).__name__}: {error}); fix the module"
        ) from error
    algorithm = getattr(module, class_name, None)
    where = getattr(module, "__file__", module_name)
    if takes_arrays(algorithm):
        return as_model(algorithm)
    if not (isinstance(algorithm, type) and issubclass(algorithm, surprise.AlgoBase)):
        classes = [
            member
            for member, value in vars(module).items()
            if takes_arrays(value)
            or (isinstance(value, type) and issubclass(value, surprise.AlgoBase))
        ]
        hint = suggestion(class_name, classes) if classes else "give it `fit` and `estimate`"
        raise AlgorithmError(
            f"{name!r} is neither a subclass of surprise.AlgoBase nor a class with `fit(train)` "
            f"and `estimate(users, items)` in {where}; {hint}"
        )
    inherited = (
        getattr(algorithm, method) is getattr(surprise.AlgoBase, method) for method in ESTIMATING
    )
    if not hasattr(algorithm, "estimate") and all(inherited):
        raise AlgorithmError(
            f"{name!r} in {where} has no method that estimates a rating; define "
            "`estimate(self, u, i)` for inner ids, as Surprise's own classes do"
        )
    return algorithm


def entry_of_class(name: str, declared: object) -> type[Algorithm]:
    """Return what is known of a class of somebody else's, which a plug-in names."""
    model_class = as_model(declared) if takes_arrays(declared) else declared
    if not (isinstance(model_class, type) and issubclass(model_class, surprise.AlgoBase)):
        raise AlgorithmError(
            f"{name!r} is not an algorithm; its author must name a class with `fit` and `estimate`"
        )
    entry = ENTRIES.get(model_class)
    if entry is not None and entry.takes_arrays:
        entry.name = name
        return entry
    summary = " ".join((model_class.__doc__ or "").partition("\n\n")[0].split())
    members = {"name": name, "kind": "plugin", "compiles": False, "summary": summary}
    entry = type(name, (Algorithm,), members)
    entry.model_class = model_class  # after the class is made: Surprise's own `fit` is called
    return entry


def hidden(name: str, folders: Iterable[Path]) -> str:
    """Return what is wrong if ``module:Class`` is not of the first folder that has the module."""
    module_name = name.partition(":")[0]
    imported = getattr(sys.modules.get(module_name), "__file__", None)
    search, origin = [*map(str, folders)], None
    importlib.invalidate_caches()  # of folders that were looked up before they existed
    for part in module_name.split("."):
        spec = PathFinder.find_spec(part, search) if search else None
        search = (spec.submodule_search_locations if spec else None) or []
        origin = spec.origin if spec else None
    if not imported or origin is None or Path(origin).resolve() == Path(imported).resolve():
        return ""
    return (
        f"{module_name!r} is already {imported} in this process, and not {origin}; rename or "
        "remove one of them, or run each config with its own command"
    )


ESTIMATING = ("predict", "test")
"""Methods of ``AlgoBase`` that call ``estimate``: a class that has its own may do without."""


def _own_folders() -> list[str]:
    """Return the folders from which modules can be imported that do not belong to Python."""
    python = [Path(prefix).resolve() for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix}]
    folders = dict.fromkeys(Path(entry).resolve() for entry in reversed(sys.path))
    return [str(p) for p in folders if p.is_dir() and not any(map(p.is_relative_to, python))]
