"""Splits of each user's ratings: a number, a share, or of some users only."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.sections import Folds, Share, Size, SizeOrZero, State, written
from harness.splits.split import (
    Drawn,
    DrawnSplit,
    Parts,
    SplitSection,
    rounded,
    seeded,
)

__all__ = ["LeaveNOut", "UserFraction", "UserHoldout"]

Mask = NDArray[np.bool_]
Choice = Literal["random", "latest"]
Policy = Literal["error", "train", "drop"]


class LeaveNOut(DrawnSplit):
    """The same number of test ratings for every user."""

    kind: Literal["leave-n-out"] = "leave-n-out"
    """A fixed number of each user's ratings is the test part."""
    n: int = Field(default=1, ge=1)
    """Test ratings of each user."""
    choose: Choice = "random"
    """Which ratings are the test: drawn at random, or the user's latest."""
    min_train: int = Field(default=1, ge=0)
    """Fewest training ratings that a tested user keeps."""
    too_few: Policy = "error"
    """Policy for users with fewer than `n + min_train` ratings: an error, all of them training, or
    out of both parts (as Surprise)."""
    n_splits: Folds = 1
    """How many independent random draws; folds may overlap."""
    random_state: State | None = None
    """Seed of the draws; null: from the run's seed."""
    like: Literal["surprise"] | None = None
    """Draw and order as `surprise.model_selection.LeaveOneOut`, row for row."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.choose == "latest" and self.n_splits > 1:
            raise ValueError("`choose: latest` gives one division only; remove `n_splits`")
        if self.like == "surprise" and (self.n != 1 or self.choose != "random"):
            raise ValueError(
                "`like: surprise` leaves out one rating at random; "
                "use n: 1 and choose: random, or remove `like`"
            )
        return self

    def draw(self, ratings: Ratings, state: int) -> Drawn:
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        few = (counts > 0) & (counts < self.n + self.min_train)
        need = f"fewer than {self.n + self.min_train} ratings"
        notes = _short_users(self, ratings, few, need, "lower n or min_train")
        if self.like == "surprise":
            return Drawn(self._as_surprise(ratings, few, state), notes)
        rng = np.random.Generator(np.random.PCG64(state))
        tests = (_from_end(self, ratings, rng) < self.n for _ in range(self.n_splits))
        return Drawn([_parts(self, ratings, few, test) for test in tests], notes)

    def _as_surprise(self, ratings: Ratings, few: Mask, state: int) -> list[Parts]:
        """Draw one row of each user, users as they appear; rows are grouped by user."""
        import pandas as pd

        rows = np.arange(len(ratings))
        if self.too_few == "drop":
            rows = np.flatnonzero(~few[ratings.users])
        codes, users = pd.factorize(ratings.users[rows])
        rows = rows[np.argsort(codes, kind="stable")]
        counts = np.bincount(codes)
        tested = ~few[users]
        starts = (np.cumsum(counts) - counts)[tested]
        rng = np.random.RandomState(state)
        draws = (starts + rng.randint(0, counts[tested]) for _ in range(self.n_splits))
        return [(np.delete(rows, drawn), rows[drawn]) for drawn in draws]

    def describe(self) -> str:
        name = f"leave-{self.n}-out {self.choose}"
        if self.min_train != 1:
            name += f", {self.min_train} in training"
        if self.n_splits > 1:
            name += f", {self.n_splits} draws"
        return name + (", as surprise" if self.like == "surprise" else "")

    def sentence(self, part: str = "test part") -> str:
        many = ("ratings", "are") if self.n > 1 else ("rating", "is")
        like = " as by Surprise's LeaveOneOut" if self.like else ""
        draws = f", in {self.n_splits} independent draws" if self.n_splits > 1 else ""
        return (
            f"{self.n} {many[0]} of each user, {_chosen(self.choose)}{like}"
            f"{seeded(self.random_state)}, {many[1]} the {part}{draws}. "
            f"{_too_few(self.too_few, f'at least {self.n + self.min_train} ratings')}"
        )

    def inner(self) -> SplitSection | None:
        if self.choose == "latest":
            return LeaveNOut(n=self.n, choose="latest", too_few="train")
        return None


class UserFraction(DrawnSplit):
    """The same share of every user's ratings."""

    kind: Literal["user-fraction"] = "user-fraction"
    """A share of each user's ratings is the test part."""
    fraction: Share = 0.2
    """Share of test ratings, rounded to the nearest count, but at least one and never all."""
    choose: Choice = "random"
    """Which ratings are the test: drawn at random, or the user's latest."""
    too_few: Policy = "error"
    """Policy for users with a single rating: an error, training, or out of both parts."""
    random_state: State | None = None
    """Seed of the draw; null: from the run's seed."""

    def draw(self, ratings: Ratings, state: int) -> Drawn:
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        few = counts == 1
        advice = "filter with min-ratings-per-user"
        notes = _short_users(self, ratings, few, "a single rating", advice)
        n_test = np.clip(np.floor(self.fraction * counts + 0.5 + 1e-9), 1, counts - 1)
        rng = np.random.Generator(np.random.PCG64(state))
        test = _from_end(self, ratings, rng) < n_test[ratings.users]
        return Drawn([_parts(self, ratings, few, test)], notes)

    def describe(self) -> str:
        return f"user fraction {written(self.fraction)} {self.choose}"

    def sentence(self, part: str = "test part") -> str:
        return (
            f"{written(self.fraction)} of each user's ratings, {_chosen(self.choose)}"
            f"{seeded(self.random_state)}, at least one and never all, are the {part}. "
            f"{_too_few(self.too_few, 'at least 2 ratings')}"
        )

    def inner(self) -> SplitSection | None:
        if self.choose == "latest":
            return UserFraction(fraction=self.fraction, choose="latest", too_few="train")
        return None


class UserHoldout(DrawnSplit):
    """Some users are the test: part of their ratings is given, the rest is tested."""

    kind: Literal["user-holdout"] = "user-holdout"
    """A sample of users is tested; all other users are training."""
    users: Size = 0.2
    """Share (rounded up) or count of test users."""
    given: SizeOrZero = 0.8
    """Share (rounded down) or count of a test user's ratings that are in training."""
    choose: Choice = "random"
    """Which of a test user's ratings are the test: drawn at random, or the latest."""
    too_few: Policy = "error"
    """Policy for test users with no rating left to test: an error, training, or out."""
    random_state: State | None = None
    """Seed of the draws; null: from the run's seed."""

    def draw(self, ratings: Ratings, state: int) -> Drawn:
        import pandas as pd

        users = pd.unique(ratings.users)  # as they appear
        n_tested = rounded(self.users, len(users), up=True)
        if n_tested > len(users):
            raise SplitError(
                f"{self.describe()}: {n_tested:,} test users cannot be drawn from {len(users):,}; "
                "lower users"
            )
        rng = np.random.Generator(np.random.PCG64(state))
        tested = np.zeros(ratings.n_users, bool)
        tested[users[rng.permutation(len(users))[:n_tested]]] = True
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        given = np.array([rounded(self.given, n, up=False) for n in counts.tolist()], np.int64)
        n_test = (counts - given) * tested
        few = tested & (n_test <= 0)
        need = f"no more than the {self.given} ratings that are given"
        notes = _short_users(self, ratings, few, need, "lower given")
        test = _from_end(self, ratings, rng) < n_test[ratings.users]
        return Drawn([_parts(self, ratings, few, test)], notes)

    def describe(self) -> str:
        return f"user holdout {written(self.users)}, given {written(self.given)} {self.choose}"

    def sentence(self, part: str = "test part") -> str:
        return (
            f"Of {written(self.users)} of the users, drawn at random{seeded(self.random_state)}, "
            f"{written(self.given)} of their ratings are given and the others, "
            f"{_chosen(self.choose)}, are the {part}; all other users are training. "
            f"{_too_few(self.too_few, 'a rating that is not given', 'test user')}"
        )

    def inner(self) -> SplitSection | None:
        latest = self.choose == "latest"
        return UserFraction(choose="latest", too_few="train") if latest else None


_PerUser = LeaveNOut | UserFraction | UserHoldout


def _from_end(kind: _PerUser, ratings: Ratings, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return each row's place among its user's rows, 0 for the last in time or in random order.

    Of two ratings with the same timestamp the one further down in the data is the later one.
    """
    keys: NDArray[np.int64] | NDArray[np.float64]
    if kind.choose == "random":
        keys = rng.random(len(ratings))
    elif ratings.timestamps is not None:
        keys = ratings.timestamps
    else:
        raise SplitError(f"{kind.describe()}: {ratings.name} has no timestamps; use choose: random")
    order = np.lexsort((keys, ratings.users))
    counts = np.bincount(ratings.users, minlength=1)
    places = np.empty(len(ratings), np.int64)
    places[order] = np.repeat(np.cumsum(counts), counts) - 1 - np.arange(len(ratings))
    return places


def _short_users(
    kind: _PerUser, ratings: Ratings, few: Mask, need: str, advice: str
) -> tuple[str, ...]:
    """Return a note on users with too few ratings to be tested, or raise as the policy says."""
    codes = np.flatnonzero(few)
    if len(codes) == 0:
        return ()
    found = f"{counted(len(codes), 'user')} {'has' if len(codes) == 1 else 'have'} {need}"
    if kind.too_few == "error":
        raise SplitError(
            f"{kind.describe()}: {found} (as user {str(ratings.user_ids[codes[0]])!r}); {advice}, "
            "or set too_few: train or too_few: drop"
        )
    return (f"{found}: {'training only' if kind.too_few == 'train' else 'left out'}",)


def _parts(kind: _PerUser, ratings: Ratings, few: Mask, test: Mask) -> Parts:
    """Return the rows of both parts, in the order of the data."""
    short = few[ratings.users]
    train = ~test & ~short if kind.too_few == "drop" else ~test | short
    return np.flatnonzero(train), np.flatnonzero(test & ~short)


def _chosen(choose: Choice) -> str:
    return {"random": "drawn at random", "latest": "the latest"}[choose]


def _too_few(rule: Policy, enough: str, who: str = "user") -> str:
    """Return a sentence on users without enough ratings, by the policy for them."""
    return {
        "error": f"Every {who} has {enough}.",
        "train": f"A {who} without {enough} is training.",
        "drop": f"A {who} without {enough} is left out.",
    }[rule]
