"""What the harness knows of an algorithm, declared once, and its compiled implementation."""

from __future__ import annotations

import inspect
import math
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats
from harness.kernels import each_block
from harness.sections import SearchSpace

__all__ = [
    "ENTRIES",
    "Algorithm",
    "FitOptions",
    "NeedsSurprise",
    "Progress",
    "Size",
    "are_integers",
    "are_numbers",
    "in_blocks",
]

Progress = Callable[[int, int], object]
"""Called with steps done and steps in all."""

DOUBLE = 8
ENTRIES_AT_ONCE = 1 << 19
WORTH_A_THREAD = 2_000_000
"""Steps that take about as long as starting a thread and waiting for it."""


class Size(NamedTuple):
    """The size of a training set."""

    n_users: int
    n_items: int
    n_ratings: int


class FitOptions(NamedTuple):
    """How to fit, beside the parameters of the model."""

    progress: Progress
    as_surprise: bool = False
    """Whether ratings are cut to whole numbers where Surprise does so."""


class NeedsSurprise(Exception):  # noqa: N818 - not an error: the way round is always open
    """Raised within the package if only Surprise's own code gives the result."""


class Algorithm(ABC):
    """One algorithm: a subclass declares all that the harness knows of it.

    A subclass with a `model_class` is an entry of the registry, from which the CLI, the schema, the
    reference pages, the methods text, search spaces and plots are made. The class fits a model in
    place of its own ``fit``; an instance estimates with a fitted model in place of ``predict``.
    Users and items are inner ids there, -1 where the training set does not know them.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted on a `ColumnTrainset`.
    """

    model_class: ClassVar[type]
    name: ClassVar[str]
    """In a config; by default the name of the class."""
    kind: ClassVar[Literal["surprise", "baseline", "library"]] = "surprise"
    summary: ClassVar[str]
    citation: ClassVar[str] = ""
    """A key of ``sources.bib``."""
    package: ClassVar[str] = ""
    """What has to be installed for an algorithm of another library."""
    extra: ClassVar[str] = ""
    """The extra of this package that brings it."""
    note: ClassVar[str] = ""
    """What every run with this algorithm notes."""
    style: ClassVar[tuple[str, str, str, bool] | None] = None
    """Hue, marker, line and whether the marker is filled; where there is none, by its label."""
    space: ClassVar[SearchSpace] = {}
    """What ``search: recommended`` stands for; wide enough for MovieLens from 100K to 25M."""
    bounds: ClassVar[Mapping[str, float]] = {}
    """The least value of each parameter, beside those of `parameters.BOUNDS`."""
    truncates: ClassVar[bool] = False
    """Whether Surprise reads ratings into C integers: 4.5 stars count as 4."""
    draws_in_order: ClassVar[bool] = False
    """Whether it draws a number for each estimate, one after the other."""
    takes_codes: ClassVar[bool] = False
    """Whether estimates are of codes of the data set, not of inner ids."""
    fit_methods: ClassVar[tuple[str, ...]] = ("fit",)
    """Methods that the model's ``fit`` calls: a subclass that overrides one fits by itself."""
    score_methods: ClassVar[tuple[str, ...]] = ("predict", "estimate", "default_prediction")
    """The same for ``predict``."""

    def __init_subclass__(cls) -> None:
        if "model_class" in vars(cls):
            if "name" not in vars(cls):
                cls.name = cls.model_class.__name__
            ENTRIES[cls.name] = cls

    def __init__(self, model: surprise.AlgoBase) -> None:
        self.model = model
        self.trainset: ColumnTrainset = model.trainset

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Return the arguments of the constructor with their defaults."""
        return {
            each.name: each.default
            for each in inspect.signature(cls.model_class).parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD and each.name != "verbose"
        }

    @classmethod
    def memory(cls, params: Mapping[str, Any], size: Size) -> int:
        """Return the bytes that fitting and scoring need beside the columns of the ratings."""
        return DOUBLE * (size.n_ratings + 8 * (size.n_users + size.n_items))

    @classmethod
    def missing(cls) -> str:
        """Return what this machine lacks, and how to install it; empty if nothing."""
        if not cls.package or find_spec(cls.package):
            return ""
        return f"{cls.name}: needs {cls.package}; pip install 'surprise-harness[{cls.extra}]'"

    @classmethod
    def gives_preferences(cls, params: Mapping[str, Any]) -> bool:
        """Return whether estimates are preferences instead of ratings."""
        return False

    @classmethod
    def may_fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        """Return whether `fit` would do what ``model.fit`` does."""
        return cls._unchanged(model, cls.fit_methods) and cls.accepts(model, trainset)

    @classmethod
    def may_score(cls, model: surprise.AlgoBase) -> bool:
        """Return whether an instance would do what ``model.predict`` does."""
        return cls._unchanged(model, cls.score_methods)

    @classmethod
    def _unchanged(cls, model: surprise.AlgoBase, methods: Iterable[str]) -> bool:
        return all(
            name not in vars(model)
            and getattr(type(model), name, None) is getattr(cls.model_class, name)
            for name in methods
        )

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        """Return whether the parameters are ordinary; Surprise answers for the others."""
        return True

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        """Set on the model the attributes that ``model.fit(trainset)`` would set."""
        model.fit(trainset)

    def estimates(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        """Return the unclipped estimates, and which are impossible; both broadcast."""
        raise NotImplementedError

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        """Return what `estimates` does, for users and items of one shape (n,)."""
        return self.estimates(users, items)

    def rows(self, users: Codes) -> tuple[Floats, Bools | bool]:
        """Return what `estimates` does, for each user with all items, shape (n, n_items)."""
        return self.estimates(users[:, None], self.items)

    @property
    def items(self) -> Codes:
        """All items of the training set."""
        if self.takes_codes:
            return self.trainset.item_codes
        return np.arange(self.trainset.n_items, dtype=np.int32)

    def users_at_once(self) -> int:
        """Return the best number of users for `rows`: enough to fill the inner caches."""
        return max(16, ENTRIES_AT_ONCE // max(self.trainset.n_items, 1))


ENTRIES: dict[str, type[Algorithm]] = {}
"""The algorithms of all modules that are loaded; `registry.algorithms` loads them all."""


def are_integers(*values: object) -> bool:
    """Return whether Surprise would take all values for C integers."""
    return all(isinstance(value, Integral) and abs(int(value)) < 2**31 for value in values)


def are_numbers(*values: object) -> bool:
    """Return whether Surprise would take all values for C doubles."""
    return all(isinstance(value, Real) for value in values)


def in_blocks(
    kernel: Callable[..., None], n: int, steps: float, *arguments: object, start: int = 0
) -> None:
    """Call ``kernel(first, last, *arguments)`` for blocks of ``range(start, n)``, on threads.

    `steps` is about how often the innermost loops run in all; a short run does not use threads.
    """
    smallest = (n - start) * WORTH_A_THREAD / max(steps, 1)
    each_block(
        lambda a, b: kernel(start + a, start + b, *arguments), n - start, math.ceil(smallest)
    )
