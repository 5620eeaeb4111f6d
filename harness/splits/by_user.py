"""Splits of each user's ratings: a number, a proportion, or all ratings of sampled users."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness._util.libraries import pd
from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.notes.note import Note
from harness.schema.sections import Folds, Share, Size, SizeOrZero, written
from harness.splits.base import (
    DrawnSplit,
    Mask,
    Notes,
    Parts,
    Rows,
    Seed,
    SplitSection,
    draw_users,
    natural,
    rounded,
    seeded,
)

Choice = Annotated[
    Literal["random", "latest"],
    Field(description="Which of a user's ratings are the test: sampled at random, or the latest."),
]


EqualTimes = Annotated[
    Literal["row", "item"],
    Field(
        description="Which of a user's ratings of one moment is the later one for `choose: "
        "latest`: the one further down in the data, or the one whose item's id sorts later "
        "(numbers before words), whatever the order of the data."
    ),
]


Policy = Literal["error", "train", "drop"]


Counts = NDArray[np.int64] | NDArray[np.float64]


class _PerUser(DrawnSplit):
    """A number of ratings of each user, the latest or sampled at random, is the test set."""

    added = frozenset({"equal_times"})

    if TYPE_CHECKING:
        n_splits: int = 1
        choose: Choice = "random"
        equal_times: EqualTimes = "row"
        too_few: Policy = "error"

    @model_validator(mode="after")
    def _equal_times_of_the_latest(self) -> Self:
        if self.choose == "random" and self.equal_times != "row":
            raise ValueError("`equal_times` is for `choose: latest`; remove it")
        return self

    @abstractmethod
    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        """Return each user's number of test ratings, who has too few for it, why, and advice."""

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        rng = np.random.Generator(np.random.PCG64(state))
        n_test, few, need, advice = self.counts(ratings, rng)
        notes: Notes = ()
        if few.any():
            reason = f"{counted(few.sum(), 'user')} {'has' if few.sum() == 1 else 'have'} {need}"
            if self.too_few == "error":
                raise SplitError(
                    f"{self.describe()}: {reason} (for example user "
                    f"{str(ratings.user_ids[few][0])!r}); {advice}, or set "
                    "too_few: train or too_few: drop"
                )
            code = "users-in-training-only" if self.too_few == "train" else "users-left-out"
            notes = (Note(code, {"n": few.sum(), "need": need}),)
        if getattr(self, "like", None) == "surprise":
            return self._as_surprise(ratings, few, state), notes
        folds = []
        for _ in range(self.n_folds):
            test = ~few[ratings.users] & (self._from_end(ratings, rng) < n_test[ratings.users])
            train = ~test & ~few[ratings.users] if self.too_few == "drop" else ~test
            folds.append((np.flatnonzero(train), np.flatnonzero(test)))
        if self.choose == "latest" and self.equal_times == "row":
            notes += self._ties(ratings, test, ~test & ~few[ratings.users])
        return folds, notes

    def _ties(self, ratings: Ratings, test: Mask, train: Mask) -> Notes:
        """Return a note on users with ratings of one moment on both sides of the division."""
        times, n = ratings.timestamps, ratings.n_users
        assert times is not None  # else nothing is the latest
        first = np.full(n, np.iinfo(np.int64).max)
        last = np.full(n, np.iinfo(np.int64).min)
        np.minimum.at(first, ratings.users[test], times[test])
        np.maximum.at(last, ratings.users[train], times[train])
        n_tested = np.count_nonzero(np.bincount(ratings.users[test], minlength=n))
        if not (n_tied := int(np.count_nonzero(first == last))):
            return ()
        values = {"n": n_tied, "n_all": n_tested, "share": n_tied / n_tested}
        return (Note("equal-times", values),)

    def _as_surprise(self, ratings: Ratings, few: Mask, state: int) -> list[Parts]:
        """Draw one row of each user, users as they appear; rows are grouped by user."""
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

    def _from_end(self, ratings: Ratings, rng: np.random.Generator) -> Rows:
        """Return each row's place among its user's rows, 0 for the last in time or at random."""
        keys: Counts
        ties = np.zeros(len(ratings), np.int64)  # equal: the one further down is the later one
        if self.choose == "random":
            keys = rng.random(len(ratings))
        elif ratings.timestamps is not None:
            keys = ratings.timestamps
            if self.equal_times == "item":
                ids = [natural(str(item)) for item in ratings.item_ids]
                ties[:] = np.argsort(sorted(range(len(ids)), key=ids.__getitem__))[ratings.items]
        else:
            raise SplitError(
                f"{self.describe()}: {ratings.name} has no timestamps; use choose: random"
            )
        order = np.lexsort((ties, keys, ratings.users))
        counts = np.bincount(ratings.users, minlength=1)
        places = np.empty(len(ratings), np.int64)
        places[order] = np.repeat(np.cumsum(counts), counts) - 1 - np.arange(len(ratings))
        return places

    def inner(self) -> SplitSection | None:
        keys = self.model_dump(include={"n", "fraction", "equal_times"})
        keys |= {"choose": "latest", "too_few": "train"}
        return self._kind_inside().model_validate(keys) if self.choose == "latest" else None

    @classmethod
    def _kind_inside(cls) -> type[SplitSection]:
        """Return the kind by which the latest ratings of a training set are validation."""
        return cls

    def _order(self) -> str:
        """Return what a short name says of ratings of one moment."""
        return " by item" if self.equal_times == "item" else ""

    def _chosen(self) -> str:
        if self.choose == "random":
            return "sampled at random"
        if self.equal_times == "item":
            return "the latest (at equal times by the item's id)"
        return "the latest"

    def _policy(self, enough: str, who: str = "user") -> str:
        """Return a sentence on users without enough ratings."""
        return {
            "error": f"Every {who} has {enough}.",
            "train": f"A {who} without {enough} is training.",
            "drop": f"A {who} without {enough} is left out.",
        }[self.too_few]


class LeaveNOut(_PerUser):
    """The same number of test ratings for every user."""

    kind: Literal["leave-n-out"] = "leave-n-out"
    """A fixed number of each user's ratings is the test set."""
    added = _PerUser.added | {"users"}
    n: int = Field(default=1, ge=1)
    """Test ratings of each user."""
    users: Size | None = None
    """Proportion (rounded up) or count of users who are tested, sampled at random; the others are
    training. null: all users."""
    choose: Choice = "random"
    equal_times: EqualTimes = "row"
    min_train: int = Field(default=1, ge=0)
    """Fewest training ratings that a tested user keeps."""
    too_few: Policy = "error"
    """Policy for users with fewer than `n + min_train` ratings: an error, all of them training, or
    out of both sets (as in Surprise)."""
    n_splits: Folds = 1
    """How many independent random draws; folds may overlap."""
    random_state: Seed = None
    like: Literal["surprise"] | None = None
    """Draw and order as `surprise.model_selection.LeaveOneOut`, row for row."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.choose == "latest" and self.n_splits > 1:
            raise ValueError("`choose: latest` gives one division only; remove `n_splits`")
        if self.like == "surprise" and (self.n != 1 or self.choose != "random" or self.users):
            raise ValueError(
                "`like: surprise` leaves out one rating of every user at random; "
                "use n: 1 and choose: random without `users`, or remove `like`"
            )
        return self

    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        tested = counts > 0
        if self.users is not None:
            refusal = f"{self.describe()}: {{}} test users cannot be drawn from {{}}; lower users"
            tested[:] = False
            tested[draw_users(ratings, self.users, rng, refusal)] = True
        few = tested & (counts < self.n + self.min_train)
        need = f"fewer than {self.n + self.min_train} ratings"
        return self.n * tested, few, need, "lower n or min_train"

    def describe(self) -> str:
        name = f"leave-{self.n}-out {self.choose}{self._order()}"
        if self.users is not None:
            name += f" of {written(self.users)} of the users"
        if self.min_train != 1:
            name += f", {self.min_train} in training"
        if self.n_splits > 1:
            name += f", {self.n_splits} draws"
        return name + (", as surprise" if self.like == "surprise" else "")

    def sentence(self, part: str = "test set") -> str:
        many = ("ratings", "are") if self.n > 1 else ("rating", "is")
        least = counted(self.n + self.min_train, "rating")
        like = " as by Surprise's LeaveOneOut" if self.like else ""
        draws = f", in {self.n_splits} independent draws" if self.n_splits > 1 else ""
        who, rest = "each user", ""
        if self.users is not None:
            who = f"each of {written(self.users)} users sampled at random"
            who = who.replace("% users", "% of the users")
            rest = " All other users are training."
        return (
            f"{self.n} {many[0]} of {who}, {self._chosen()}{like}"
            f"{seeded(self.random_state)}, {many[1]} the {part}{draws}.{rest} "
            f"{self._policy(f'at least {least}', 'user' if self.users is None else 'test user')}"
        )


class UserFraction(_PerUser):
    """The same proportion of every user's ratings."""

    kind: Literal["user-fraction"] = "user-fraction"
    """A proportion of each user's ratings is the test set."""
    fraction: Share = 0.2
    """Proportion of test ratings, rounded to the nearest count, but at least one and never all."""
    choose: Choice = "random"
    equal_times: EqualTimes = "row"
    too_few: Policy = "error"
    """Policy for users with a single rating: an error, training, or out of both sets."""
    random_state: Seed = None

    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        n_test = np.clip(np.floor(self.fraction * counts + 0.5 + 1e-9), 1, counts - 1)
        return n_test, counts == 1, "a single rating", "filter with min-ratings-per-user"

    def describe(self) -> str:
        return f"user fraction {written(self.fraction)} {self.choose}{self._order()}"

    def sentence(self, part: str = "test set") -> str:
        return (
            f"{written(self.fraction)} of each user's ratings, {self._chosen()}"
            f"{seeded(self.random_state)}, at least one and never all, are the {part}. "
            f"{self._policy('at least 2 ratings')}"
        )


class UserHoldout(_PerUser):
    """Some users are the test: part of their ratings is given, the rest is tested."""

    kind: Literal["user-holdout"] = "user-holdout"
    """A sample of users is tested; all other users are training."""
    users: Size = 0.2
    """Proportion (rounded up) or count of test users."""
    given: SizeOrZero = 0.8
    """Proportion (rounded down) or count of a test user's ratings that are in training."""
    choose: Choice = "random"
    equal_times: EqualTimes = "row"
    too_few: Policy = "error"
    """Policy for test users with no rating left to test: an error, training, or out."""
    random_state: Seed = None

    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        refusal = f"{self.describe()}: {{}} test users cannot be drawn from {{}}; lower users"
        tested = np.zeros(ratings.n_users, bool)
        tested[draw_users(ratings, self.users, rng, refusal)] = True
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        n_train = np.array([rounded(self.given, n, up=False) for n in counts.tolist()], np.int64)
        n_test = (counts - n_train) * tested
        need = f"no more than the {self.given} ratings that are given"
        return n_test, tested & (n_test <= 0), need, "lower given"

    @classmethod
    def _kind_inside(cls) -> type[SplitSection]:
        return UserFraction

    def describe(self) -> str:
        name = f"user holdout {written(self.users)}, given {written(self.given)}"
        return f"{name} {self.choose}{self._order()}"

    def sentence(self, part: str = "test set") -> str:
        return (
            f"For {written(self.users)} of the users, sampled at random"
            f"{seeded(self.random_state)}, "
            f"{written(self.given)} of their ratings are given and the others, "
            f"{self._chosen()}, are the {part}; all other users are training. "
            f"{self._policy('a rating that is not given', 'test user')}"
        )
