"""A random part of the ratings, as other libraries draw it."""

from __future__ import annotations

import math
from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.quantities import Folds, Size, written
from harness.splits import TEST_SHARE
from harness.splits.base import DrawnSplit, Notes, Parts
from harness.splits.fields import LegacySeed, seeded


class Holdout(DrawnSplit):
    """One random split of the ratings."""

    kind: Literal["holdout"] = "holdout"
    """A share of the ratings, drawn at random, is the test part."""
    added = frozenset({"n_splits"})
    test_size: Size | None = TEST_SHARE
    """Share or count of test ratings, a share rounded up; null: all that is not training. With
    `like: sklearn` and a `train_size`, null unless given."""
    train_size: Size | None = None
    """Share or count of training ratings, a share rounded down; null: all that is not test."""
    random_state: LegacySeed = None
    shuffle: bool = True
    """Whether the ratings are shuffled first; if not, `surprise` tests on the last of them."""
    n_splits: Folds = 1
    """How many independent random draws, as `ShuffleSplit` makes them; folds may overlap."""
    like: Literal["surprise", "sklearn"] = "surprise"
    """Which library's `train_test_split` and `ShuffleSplit` are reproduced, row for row."""

    @model_validator(mode="before")
    @classmethod
    def _complement_as_sklearn(cls, data: object) -> object:
        if not isinstance(data, dict) or data.get("like") != "sklearn" or "test_size" in data:
            return data
        return data if data.get("train_size") is None else {**data, "test_size": None}

    @model_validator(mode="after")
    def _some_size(self) -> Self:
        test, train = self.test_size, self.train_size
        if test is None and train is None:
            raise ValueError("neither `test_size` nor `train_size`; give one, as test_size: 0.2")
        if isinstance(test, float) and isinstance(train, float) and test + train > 1 + 1e-9:
            raise ValueError(
                f"`test_size` {test} and `train_size` {train} are more than the whole; "
                "make them smaller"
            )
        if self.n_splits > 1 and not self.shuffle:
            raise ValueError("`shuffle: false` gives one division only; remove `n_splits`")
        return self

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        n, n_test, n_train = len(ratings), self.test_size, self.train_size
        if isinstance(n_test, float):  # rounded as both libraries round
            n_test = math.ceil(n_test * n)
        if isinstance(n_train, float):
            n_train = math.floor(n_train * n)
        if n_test is None:
            n_test = n - (n_train or 0)
        elif n_train is None:
            n_train = n - n_test
        assert n_train is not None  # a section has one of the two
        if n_train < 0 or n_test < 0 or n_train + n_test > n:
            raise SplitError(
                f"{self.describe()}: needs more than the {counted(n, 'rating')} of the data; "
                "make test_size or train_size smaller"
            )
        folds, rng = [], np.random.RandomState(state)  # one for all draws, as both libraries have
        for _ in range(self.n_splits):
            order = rng.permutation(n) if self.shuffle else np.arange(n)
            if self.shuffle and self.like == "sklearn":  # its permutation begins with the test part
                folds.append((order[n_test : n_test + n_train], order[:n_test]))
            else:
                folds.append((order[:n_train], order[n_train : n_train + n_test]))
        return folds, ()

    def describe(self) -> str:
        sizes = (self.test_size, " "), (self.train_size, ", train ")
        name = "holdout" + "".join(f"{by}{written(n)}" for n, by in sizes if n is not None)
        name += "" if self.shuffle else ", unshuffled"
        name += f", {self.n_splits} draws" if self.n_splits > 1 else ""
        return name + (", as sklearn" if self.like == "sklearn" else "")

    def sentence(self, part: str = "test part") -> str:
        test = None if self.test_size is None else f"{written(self.test_size)} of the ratings"
        train = None if self.train_size is None else f"{written(self.train_size)} of the ratings"
        like = {"surprise": "Surprise", "sklearn": "scikit-learn"}[self.like]
        if self.shuffle:
            how = f"drawn at random as by {like}{seeded(self.random_state)}"
            rest = f"; {train} are training" if test and train else ""
            draws = f", in {self.n_splits} independent draws" if self.n_splits > 1 else ""
            return f"{test or f'All but {train}'}, {how}, are the {part}{draws}{rest}."
        if test is None:
            parts = f"all but the first {train} are the {part}"
        elif train is None:
            parts = f"the last {test} are the {part}"
        else:
            parts = f"the first {train} are training and the next {test} are the {part}"
        return f"In the order of the data, as by {like}, {parts}."
