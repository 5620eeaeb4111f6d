"""A random part of the ratings, as other libraries draw it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from harness._util.libraries import pd
from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.notes.note import Note
from harness.schema.sections import Folds, Size, written
from harness.splits import TEST_SHARE
from harness.splits.base import DrawnSplit, LegacySeed, Notes, Parts, Rows, seeded


class Holdout(DrawnSplit):
    """One random split of the ratings."""

    kind: Literal["holdout"] = "holdout"
    """A proportion of the ratings, sampled at random, is the test set."""
    added = frozenset({"n_splits"})
    test_size: Size | None = TEST_SHARE
    """Proportion or count of test ratings, a proportion rounded up; null: all that is not training.
    With `like: sklearn` and a `train_size`, null unless given."""
    train_size: Size | None = None
    """Proportion or count of training ratings, a proportion rounded down; null: all that is not
    test."""
    random_state: LegacySeed = None
    shuffle: bool = True
    """Whether the ratings are shuffled first; if not, `surprise` tests on the last of them."""
    n_splits: Folds = 1
    """How many independent random splits, as in `ShuffleSplit`; folds may overlap."""
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
            raise ValueError(
                "neither `test_size` nor `train_size`; give one, such as test_size: 0.2"
            )
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
        if n_test is None:  # then there is the other one
            n_test = n - (n_train or 0)
        n_train = n - n_test if n_train is None else n_train
        if n_train < 0 or n_test < 0 or n_train + n_test > n:
            raise SplitError(
                f"{self.describe()}: needs more than the {counted(n, 'rating')} of the data; "
                "make test_size or train_size smaller"
            )
        folds, rng = [], np.random.RandomState(state)  # one for all draws, as both libraries have
        for _ in range(self.n_splits):
            order = rng.permutation(n) if self.shuffle else np.arange(n)
            if self.shuffle and self.like == "sklearn":  # its permutation begins with the test set
                folds.append((order[n_test : n_test + n_train], order[:n_test]))
            else:
                folds.append((order[:n_train], order[n_train : n_train + n_test]))
        return folds, ()

    @property
    def counts_ratings(self) -> bool:
        return isinstance(self.test_size, int)

    def describe(self) -> str:
        sizes = (self.test_size, " "), (self.train_size, ", train ")
        name = "holdout" + "".join(f"{by}{written(n)}" for n, by in sizes if n is not None)
        name += "" if self.shuffle else ", unshuffled"
        name += f", {self.n_splits} draws" if self.n_splits > 1 else ""
        return name + (", as sklearn" if self.like == "sklearn" else "")

    def sentence(self, part: str = "test set") -> str:
        test = None if self.test_size is None else f"{written(self.test_size)} of the ratings"
        train = None if self.train_size is None else f"{written(self.train_size)} of the ratings"
        like = {"surprise": "Surprise", "sklearn": "scikit-learn"}[self.like]
        if self.shuffle:
            how = f"sampled at random as by {like}{seeded(self.random_state)}"
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


SeveralFolds = Annotated[Folds, Field(ge=2)]


class _Folds(DrawnSplit):
    """K-fold cross-validation, once or several times."""

    if TYPE_CHECKING:
        n_splits: int = 5

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        n, folds = len(ratings), []
        if self.n_splits > n:
            raise SplitError(
                f"{self.describe()}: {counted(n, 'rating')} cannot fill {self.n_splits} folds; "
                "lower n_splits"
            )
        rng = np.random.RandomState(state)  # one for all repetitions, as Surprise has it
        for _ in range(getattr(self, "n_repeats", 1)):
            order = np.arange(n)
            if getattr(self, "shuffle", True):
                rng.shuffle(order)
            if getattr(self, "within_users", False):
                folds += self._within_users(ratings, order)
                continue
            sizes = np.full(self.n_splits, n // self.n_splits)
            sizes[: n % self.n_splits] += 1  # the first folds take what is left over
            for start, stop in pairwise([0, *np.cumsum(sizes).tolist()]):
                folds.append((np.concatenate([order[:start], order[stop:]]), order[start:stop]))
        return folds, ()

    def _within_users(self, ratings: Ratings, order: Rows) -> list[Parts]:
        """Deal each user's rows out to the folds one after another, in an order of the rows."""
        users = pd.factorize(ratings.users[order])[0]  # as they appear, whatever they are called
        fold = np.empty(len(order), np.int64)
        # The next user goes on where the last one ended, so that all folds have one size.
        fold[order[np.argsort(users, kind="stable")]] = np.arange(len(order)) % self.n_splits
        return [
            (np.flatnonzero(fold != number), np.flatnonzero(fold == number))
            for number in range(self.n_splits)
        ]


class KFold(_Folds):
    """Cross-validation over the ratings, like `surprise.model_selection.KFold`."""

    kind: Literal["kfold"] = "kfold"
    """Each rating is in the test set of exactly one fold."""
    added = frozenset({"within_users"})
    n_splits: SeveralFolds = 5
    """How many folds."""
    random_state: LegacySeed = None
    shuffle: bool = True
    """Whether the ratings are shuffled before they are cut into folds."""
    within_users: bool = False
    """Whether the ratings of each user are cut into folds, in sizes that differ by at most one,
    in place of all ratings together. Both parts are then in the order of the data."""

    def describe(self) -> str:
        name = f"{self.n_splits}-fold" + (" within users" if self.within_users else "")
        return name + ("" if self.shuffle else ", unshuffled")

    def sentence(self, part: str = "test set") -> str:
        how = f"at random into {self.n_splits} folds{seeded(self.random_state)}"
        if not self.shuffle:
            how = f"in the order of the data into {self.n_splits} folds"
        whose = "ratings of each user" if self.within_users else "ratings"
        return f"The {whose} were split {how}, each the {part} once."


class RepeatedKFold(_Folds):
    """Cross-validation several times over, like `surprise.model_selection.RepeatedKFold`."""

    kind: Literal["repeated-kfold"] = "repeated-kfold"
    """K-fold, with the ratings shuffled again in each repetition."""
    n_splits: SeveralFolds = 5
    """How many folds in each repetition."""
    n_repeats: Folds = 10
    """How many repetitions."""
    random_state: LegacySeed = None

    def describe(self) -> str:
        return f"{self.n_repeats} x {self.n_splits}-fold"

    def sentence(self, part: str = "test set") -> str:
        return (
            f"The ratings were split at random into {self.n_splits} folds, {self.n_repeats} "
            f"times{seeded(self.random_state)}; each fold is the {part} once."
        )


class OwnTraining(DrawnSplit):
    """No split: a model is tested on its training data."""

    kind: Literal["own-training"] = "own-training"
    """All ratings are training and test at once. The scores show what a model remembers, not what
    it predicts; use it only to reproduce published numbers."""

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        rows = np.arange(len(ratings))
        return [(rows, rows)], (Note("own-training"),)

    def describe(self) -> str:
        return "own training data"

    def sentence(self, part: str = "test set") -> str:
        return (
            f"All ratings are training and {part} at once: the scores say how well models fit, "
            "not how well they predict."
        )
