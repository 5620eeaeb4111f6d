"""Facts about an algorithm: how it fits, how it estimates, what it needs."""

from __future__ import annotations

import importlib.util
from abc import ABC
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from harness._util.kernels import cached_rows
from harness.algorithms import surprise
from harness.algorithms.parameters import Params, accepted, is_ordinary
from harness.errors import AlgorithmError
from harness.schema.sections import SearchSpace

if TYPE_CHECKING:
    from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats


Progress = Callable[[int, int], object]
"""Called with steps done and steps in all."""
Estimates = tuple["Floats", "Bools | bool"]
"""Unclipped estimates, and which are impossible."""

MEAN = "the mean of all ratings"
MEAN_AND_BIAS = f"{MEAN} plus the item's bias"
DOUBLE = 8
STEPS_A_RATING = 10
"""Steps for an algorithm that does not declare its own."""


class Size(NamedTuple):
    """The size of a training set."""

    n_users: int
    n_items: int
    n_ratings: int


class Counts:
    """What the work of a cell grows with: numbers of ratings and of estimates.

    Parameters
    ----------
    of_users, of_items : ndarray of int64, shape (n_users,) and (n_items,)
        Training ratings of each, by code of the data; 0 for one that training does not have.
    pairs_of_users, pairs_of_items : ndarray of float64, of the same shapes
        How many ratings are estimated one by one.
    n_lists : int
        Users for whom every training item is estimated.
    """

    def __init__(
        self,
        of_users: npt.ArrayLike,
        of_items: npt.ArrayLike,
        pairs_of_users: npt.ArrayLike,
        pairs_of_items: npt.ArrayLike,
        n_lists: int = 0,
    ) -> None:
        self.of_users, self.of_items, self.pairs_of_users, self.pairs_of_items = (
            np.asarray(each, np.float64)
            for each in (of_users, of_items, pairs_of_users, pairs_of_items)
        )
        self.n_lists = n_lists
        self.n_users = int(np.count_nonzero(self.of_users))
        self.n_items = int(np.count_nonzero(self.of_items))
        self.n_ratings = float(self.of_users.sum())
        self.n_pairs = float(self.pairs_of_users.sum())
        self.n_tested = int(np.count_nonzero(self.pairs_of_users))

    @property
    def n_scored(self) -> int:
        """How many rows of all items are scored by a model that scores nothing less."""
        return self.n_lists + self.n_tested


class Work(NamedTuple):
    """The work of a cell in steps that take about a nanosecond each.

    A probe measures how long steps take on a machine; here, one part has to be right beside another
    and how all grow with the data.
    """

    fit: float
    scores: float


class FitOptions(NamedTuple):
    """How to fit, beside the parameters of the model."""

    progress: Progress
    as_surprise: bool = False  # whether ratings are cut to whole numbers where Surprise does so


class NeedsSurprise(Exception):  # noqa: N818 - not an error: the way round is always open
    """Raised within the package if only Surprise's own code gives the result."""


ENTRIES: dict[type, type[Algorithm]] = {}
"""Entries of all modules that are loaded, by the class of the model."""


class Algorithm(ABC):
    """One algorithm: a subclass with a `model_class` declares all that the harness knows of it.

    The class fits a model in place of the model's ``fit``; an instance estimates in place of
    ``predict``, where users and items are inner ids, -1 for an unknown one.
    """

    model_class: ClassVar[type]
    name: ClassVar[str]  # in a config; by default the name of the class
    kind: ClassVar[Literal["surprise", "top-n", "baseline", "library", "plugin"]] = "surprise"
    summary: ClassVar[str]
    citation: ClassVar[str] = ""  # a key of ``sources.bib``
    package: ClassVar[str] = ""  # what has to be installed for an algorithm of another library
    extra: ClassVar[str] = ""  # the extra of this package that brings it
    note: ClassVar[str] = ""  # the code of what every run with this algorithm notes
    not_ratings: ClassVar[str] = ""  # what estimates are if they are not estimates of ratings
    style: ClassVar[tuple[str, str, str, bool] | None] = None
    """Hue, marker, line and whether the marker is filled; where there is none, by its label."""
    space: ClassVar[SearchSpace] = {}
    """What ``search: recommended`` stands for; wide enough for MovieLens from 100K to 25M."""
    unknown_user: ClassVar[str] = "as its own code decides"
    """Its estimate for a user without training ratings; of a known item, where that matters."""
    is_personal: ClassVar[bool] = True
    """Whether estimates depend on the user: if not, an unknown user is not an exception."""
    truncates: ClassVar[bool] = False
    """Whether Surprise reads ratings into C integers: 4.5 stars count as 4."""
    items_alone: ClassVar[bool] = False
    """Whether it learns only about items: estimates for a user need nothing but the ratings."""
    draws_in_order: ClassVar[bool] = False
    """Whether it draws a number for each estimate, one after the other."""
    takes_arrays: ClassVar[bool] = False
    """Whether the class of the model is made around one without Surprise; see `as_model`."""
    takes_codes: ClassVar[bool] = False
    """Whether estimates are of codes of the data set, not of inner ids."""
    is_probed: ClassVar[bool] = True
    """Whether a fit on a sample tells how long one on all ratings takes: not where most of it is to
    start another library."""
    compiles: ClassVar[bool] = True
    """Whether the fit of a toy compiles what a fit needs; otherwise nothing of it is compiled."""
    can_be_saved: ClassVar[bool] = True
    """Whether a fitted model is arrays and numbers, which a file can hold."""
    fit_methods: ClassVar[tuple[str, ...]] = ("fit",)
    """Methods that the model's ``fit`` calls: a subclass that overrides one fits by itself."""
    score_methods: ClassVar[tuple[str, ...]] = ("predict", "estimate", "default_prediction")
    """The same for ``predict``."""
    block_bytes = 0
    """At least so many bytes of estimates of a catalogue are best made by `rows` at a time."""

    def __init_subclass__(cls) -> None:
        if "model_class" in vars(cls):
            if "name" not in vars(cls):
                cls.name = cls.model_class.__name__
            ENTRIES[cls.model_class] = cls

    def __init__(self, model: surprise.AlgoBase) -> None:
        self.model = model
        self.trainset: ColumnTrainset = model.trainset

    @classmethod
    def parameters(cls) -> Params:
        """Return what a config may set, with the defaults."""
        defaults, _ = accepted(cls.model_class)
        return {name: default for name, default in defaults.items() if name != "verbose"}

    @classmethod
    def count(cls, params: Params, name: str) -> int:
        """Return the value of a parameter that counts something, given or by default."""
        return int(params.get(name, cls.parameters()[name]))

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        """Return the bytes that fitting and scoring need beside the columns of the ratings."""
        return DOUBLE * (size.n_ratings + 8 * (size.n_users + size.n_items))

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        """Return the work of a fit, and of the estimates of a cell.

        By default, a step is a rating in an epoch, and an estimate of a user and an item.
        """
        fit = counts.n_ratings * max(1, cls.epochs(params)) * STEPS_A_RATING
        return Work(fit, 20 * counts.n_pairs + 3 * counts.n_lists * counts.n_items)

    @classmethod
    def epochs(cls, params: Params) -> int:
        """Return the number of epochs, given or by default; 1 for an algorithm without epochs."""
        given = params.get("n_epochs", cls.parameters().get("n_epochs"))
        return int(given) if isinstance(given, int | float) else 1

    @classmethod
    def missing(cls) -> str:
        """Return what this machine lacks, and how to install it; empty if nothing."""
        if not cls.package or importlib.util.find_spec(cls.package):
            return ""
        return f"{cls.name}: needs {cls.package}; pip install 'surprise-harness[{cls.extra}]'"

    @classmethod
    def gives_preferences(cls, params: Params) -> bool:
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
        defaults, _ = accepted(cls.model_class)
        return all(is_ordinary(*each) for each in vars(model).items() if each[0] in defaults)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        """Set on the model the attributes that ``model.fit(trainset)`` would set."""
        model.fit(trainset)

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        """Return the attributes of a model of the users of `trainset`, with the same items."""
        if cls.items_alone:
            return {}
        raise AlgorithmError(
            f"{cls.name}: it cannot take new users; SVD, SVDpp, NMF, BaselineOnly, SlopeOne, "
            "CoClustering, the neighbour methods, Popularity, ItemMean, "
            "EASE, PureSVD and BinaryItemKNN can"
        )

    @classmethod
    def go_on(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, n_epochs: int, rng: Generator
    ) -> bool:
        """Let a fitted model take epochs more over ratings whose first users and items it knows.

        New ones start as in a fit, drawn from `rng`. False, with nothing changed, where only a
        fit can know new ratings.
        """
        return False

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        """Return the unclipped estimates, and which are impossible; both broadcast."""
        raise NeedsSurprise

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        """Return what `estimates` does, for users and items of one shape (n,)."""
        return self.estimates(users, items)

    def rows(self, users: Codes) -> Estimates:
        """Return what `estimates` does, for each user with all items, shape (n, n_items)."""
        items = self.items
        estimates = np.empty((len(users), len(items)))
        impossible, some = np.zeros(estimates.shape, np.bool_), False
        for part in cached_rows(estimates):
            estimates[part], none = self.estimates(users[part, None], items)
            if np.any(none):
                impossible[part], some = none, True
        return estimates, impossible if some else False

    @property
    def items(self) -> Codes:
        """All items of the training set."""
        if self.takes_codes:
            return self.trainset.item_codes
        return np.arange(self.trainset.n_items, dtype=np.int32)

    def baselines(self, users: Codes, items: Codes) -> Floats:
        """Return ``mean + b_u + b_i`` of a model with biases; an unknown side adds nothing."""
        of_users = np.where(users >= 0, self.model.bu[users], 0.0) + self.trainset.global_mean
        estimates: Floats = of_users + np.where(items >= 0, self.model.bi[items], 0.0)
        return estimates
