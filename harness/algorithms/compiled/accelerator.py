"""The parts of an accelerated algorithm, and the conditions for replacing Surprise's code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from harness.algorithms.columns import Codes, Floats, Offsets
from harness.algorithms.trainset import ColumnTrainset

__all__ = [
    "Accelerator",
    "Bools",
    "Codes",
    "Floats",
    "NeedsSurprise",
    "Offsets",
    "Progress",
    "Scorer",
    "are_integers",
    "are_numbers",
]

ENTRIES_AT_ONCE = 1 << 19

Bools = npt.NDArray[np.bool_]
Progress = Callable[[int, int], object]


class NeedsSurprise(Exception):  # noqa: N818 - not an error: the way round is always open
    """Raised within the package if only Surprise's own code gives the result."""


class Scorer(ABC):
    """A fitted model that computes many estimates at once.

    Users and items are inner ids here, -1 where the training set does not know them.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted on a `ColumnTrainset`.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.trainset: ColumnTrainset = model.trainset

    @abstractmethod
    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        """Return the unclipped estimate of each pair, and which of them were impossible."""

    @abstractmethod
    def rows(self, users: Codes) -> Floats:
        """Return the unclipped estimates of all items for each user, shape (n, n_items)."""

    def pairs_of_codes(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        """Do what `pairs` does, for data set codes."""
        return self.pairs(self.trainset.inner_users[users], self.trainset.inner_items[items])

    def rows_of_codes(self, users: Codes) -> Floats:
        """Do what `rows` does, for data set codes."""
        return self.rows(self.trainset.inner_users[users])

    def users_at_once(self) -> int:
        """Return the best number of users for `rows`: enough to fill the inner caches."""
        return max(16, ENTRIES_AT_ONCE // max(self.trainset.n_items, 1))


class Accelerator(ABC):
    """One Surprise class, fitted and scored in compiled loops."""

    surprise_class: ClassVar[type]
    scorer: ClassVar[type[Scorer]]
    fit_methods: ClassVar[tuple[str, ...]] = ("fit",)
    """Methods that Surprise's ``fit`` calls: a subclass that overrides one is not accelerated."""
    score_methods: ClassVar[tuple[str, ...]] = ("predict", "estimate", "default_prediction")
    """The same for ``predict``."""

    def may_fit(self, model: Any) -> bool:
        """Return whether `fit` would do what ``model.fit`` does."""
        return self._unchanged(model, self.fit_methods) and self.accepts(model)

    def may_score(self, model: Any) -> bool:
        """Return whether the scorer would do what ``model.predict`` does."""
        return self._unchanged(model, self.score_methods)

    def accepts(self, model: Any) -> bool:
        """Return whether the parameters are ordinary; Surprise answers for the others."""
        return True

    @abstractmethod
    def fit(
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        """Set on the model the attributes that ``model.fit(trainset)`` would set."""

    def _unchanged(self, model: Any, methods: Iterable[str]) -> bool:
        return all(
            name not in vars(model)
            and getattr(type(model), name, None) is getattr(self.surprise_class, name)
            for name in methods
        )


def are_integers(*values: Any) -> bool:
    """Return whether Surprise would take all values for C integers.

    Examples
    --------
    >>> are_integers(20, np.int64(3)), are_integers(20.0)
    (True, False)
    """
    return all(isinstance(value, Integral) and abs(int(value)) < 2**31 for value in values)


def are_numbers(*values: Any) -> bool:
    """Return whether Surprise would take all values for C doubles.

    Examples
    --------
    >>> are_numbers(0.02, 1), are_numbers("0.02")
    (True, False)
    """
    return all(isinstance(value, Real) for value in values)
