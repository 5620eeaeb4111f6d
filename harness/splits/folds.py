"""Folds of cross-validation, as Surprise makes them: once, or several times over."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.lazy import pd
from harness.quantities import Folds
from harness.splits.base import DrawnSplit, Notes, Parts, Rows
from harness.splits.fields import LegacySeed, seeded

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
    """Cross-validation over the ratings, as `surprise.model_selection.KFold`."""

    kind: Literal["kfold"] = "kfold"
    """Each rating is in the test part of exactly one fold."""
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

    def sentence(self, part: str = "test part") -> str:
        how = f"at random into {self.n_splits} folds{seeded(self.random_state)}"
        if not self.shuffle:
            how = f"in the order of the data into {self.n_splits} folds"
        whose = "ratings of each user" if self.within_users else "ratings"
        return f"The {whose} were divided {how}, each the {part} once."


class RepeatedKFold(_Folds):
    """Cross-validation several times over, as `surprise.model_selection.RepeatedKFold`."""

    kind: Literal["repeated-kfold"] = "repeated-kfold"
    """K-fold, with the ratings shuffled again in each repetition."""
    n_splits: SeveralFolds = 5
    """How many folds in each repetition."""
    n_repeats: Folds = 10
    """How many repetitions."""
    random_state: LegacySeed = None

    def describe(self) -> str:
        return f"{self.n_repeats} x {self.n_splits}-fold"

    def sentence(self, part: str = "test part") -> str:
        return (
            f"The ratings were divided at random into {self.n_splits} folds, {self.n_repeats} "
            f"times{seeded(self.random_state)}; each fold is the {part} once."
        )
