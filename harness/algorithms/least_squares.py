"""Alternating least squares by other libraries: what all of them have in common.

An algorithm is an ordinary `surprise.AlgoBase` class: the library factorises, and an estimate is
the product of a user's and an item's factors.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from harness.algorithms import surprise
from harness.algorithms.base import DOUBLE, Counts, Estimates, Size, Work
from harness.algorithms.compiled.svd import FactorModel
from harness.algorithms.parameters import Params
from harness.algorithms.top_n import Preferring
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats
from harness.errors import AlgorithmError
from harness.notes.note import Note
from harness.schema.sections import Range, log_range
from harness.splits.cores import k_core

Vectors = npt.NDArray[np.floating]


class AlternatingLeastSquares(Preferring):
    """Common base of both.

    An estimate is 0 and counts as impossible where training knows one side only. Ratings below
    `min_rating` are noise, and then users and items with fewer than `k_core` ratings of each other.
    """

    label: ClassVar[str]
    """Its name in a config."""

    min_rating: float | None
    k_core: int

    def __post_init__(self) -> None:
        surprise.AlgoBase.__init__(self)
        self.fit_notes: list[Note] = []

    @abstractmethod
    def factorise(
        self, trainset: ColumnTrainset, users: Codes, items: Codes, ratings: Floats
    ) -> tuple[Vectors, Vectors]:
        """Return the vectors of all inner users and items; anything for those without a rating."""

    def fit(self, trainset: surprise.Trainset) -> AlternatingLeastSquares:
        """Factorise the training ratings, less what counts as noise."""
        super().fit(trainset)
        columns = ColumnTrainset.from_surprise(trainset)
        users, items, ratings = self._observed(columns)
        self.known_users = np.bincount(users, minlength=columns.n_users) > 0
        self.known_items = np.bincount(items, minlength=columns.n_items) > 0
        vectors = self.factorise(columns, users, items, ratings)
        self.pu, self.qi = (
            np.where(is_known[:, None], of_side, 0.0).astype(np.float64)
            for is_known, of_side in zip((self.known_users, self.known_items), vectors, strict=True)
        )
        return self

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the product of the factors; impossible where one side is unknown."""
        if (
            isinstance(u, str)
            or isinstance(i, str)
            or not (self.known_users[u] and self.known_items[i])
        ):
            raise surprise.PredictionImpossible("User and/or item is unknown.")
        return float(np.einsum("f,f->", self.pu[u], self.qi[i]))

    def _observed(self, columns: ColumnTrainset) -> tuple[Codes, Codes, Floats]:
        """Return inner users, inner items and ratings that are not noise; note how many are."""
        offsets, items, ratings = columns.by_user
        users = np.repeat(np.arange(columns.n_users, dtype=np.int32), np.diff(offsets))
        bad = np.flatnonzero(ratings <= 0)
        if self.is_preference and len(bad):
            (user,) = columns.raw_users(columns.user_codes[users[bad[:1]]])
            (item,) = columns.raw_items(columns.item_codes[items[bad[:1]]])
            raise AlgorithmError(
                f"{self.label}: {len(bad):,} of {len(ratings):,} ratings are not above 0 "
                f"(for example {ratings[bad[0]]:.16g} by user {str(user)!r} for item "
                f"{str(item)!r}), but a count says how often; take them out with the filter "
                "{kind: min-rating, at_least: 1}, or use spark-als without implicit"
            )
        rows = np.arange(len(users))
        if self.min_rating is not None:
            rows = np.flatnonzero(ratings >= self.min_rating)
        rows = rows[k_core(users[rows], items[rows], self.k_core)]
        if not len(rows):
            raise AlgorithmError(
                f"{self.label}: min_rating {self.min_rating} and k_core {self.k_core} leave none "
                f"of {len(users):,} training ratings; lower them"
            )
        self.fit_notes = []
        if len(rows) < len(users):
            of_users = 1 - len(np.unique(users[rows])) / columns.n_users
            of_items = 1 - len(np.unique(items[rows])) / columns.n_items
            shares = {"ratings": 1 - len(rows) / len(users), "users": of_users, "items": of_items}
            self.fit_notes = [Note("noise-left-out", shares)]
        return users[rows], items[rows], ratings[rows]


class LeastSquares(FactorModel):
    """Products of factors for whole blocks; the library fits them."""

    kind = "library"
    is_probed = False
    can_be_saved = False
    unknown_user = "0 for every item"
    space = {
        "n_factors": log_range(8, 128),
        "n_epochs": Range(low=5, high=30),
        "reg": log_range(0.001, 10.0),
        "alpha": log_range(0.001, 10.0),
    }

    @classmethod
    def gives_preferences(cls, params: Params) -> bool:
        return bool(cls.model_class(**params).is_preference)

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        n_factors = cls.count(params, "n_factors")
        return (DOUBLE + 4) * n_factors * 2 * (size.n_users + size.n_items)

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        n_factors = cls.count(params, "n_factors")
        sides = counts.n_users + counts.n_items
        fit = cls.epochs(params) * n_factors * (3.0 * counts.n_ratings + 10.0 * n_factors * sides)
        return Work(fit, cls.products(params, counts))

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        model = self.model
        both_known = (
            (users >= 0) & (items >= 0) & model.known_users[users] & model.known_items[items]
        )
        return super().pairs(np.where(both_known, users, -1), np.where(both_known, items, -1))
