"""Splits that are computed: random ones as those of other libraries, by user, and in time."""

from __future__ import annotations

import math
from abc import abstractmethod
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.lazy import pd
from harness.notes import Note
from harness.sections import (
    Folds,
    Moment,
    OneOrMore,
    Points,
    Share,
    Size,
    SizeOrZero,
    Span,
    State,
    seconds,
    span_seconds,
    written,
)
from harness.splits.base import (
    DrawnSplit,
    Mask,
    Notes,
    Parts,
    Rows,
    SplitSection,
    draw_users,
    natural,
    rounded,
)

LegacySeed = Annotated[
    State | None,
    Field(
        description="Seed of NumPy's legacy generator, as in a published script; null: from the "
        "run's seed."
    ),
]
Seed = Annotated[State | None, Field(description="Seed of the draws; null: from the run's seed.")]
Choice = Annotated[
    Literal["random", "latest"],
    Field(description="Which of a user's ratings are the test: drawn at random, or the latest."),
]
PublishedFold = Literal["u1", "u2", "u3", "u4", "u5", "ua", "ub"]
Policy = Literal["error", "train", "drop"]
SeveralFolds = Annotated[Folds, Field(ge=2)]
Counts = NDArray[np.int64] | NDArray[np.float64]


class Holdout(DrawnSplit):
    """One random split of the ratings."""

    kind: Literal["holdout"] = "holdout"
    """A share of the ratings, drawn at random, is the test part."""
    test_size: Size | None = 0.2
    """Share or count of test ratings, a share rounded up; null: all that is not training. With
    `like: sklearn` and a `train_size`, null unless given."""
    train_size: Size | None = None
    """Share or count of training ratings, a share rounded down; null: all that is not test."""
    random_state: LegacySeed = None
    shuffle: bool = True
    """Whether the ratings are shuffled first; if not, `surprise` tests on the last of them."""
    like: Literal["surprise", "sklearn"] = "surprise"
    """Which library's `train_test_split` is reproduced, row for row."""

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
        order = np.random.RandomState(state).permutation(n) if self.shuffle else np.arange(n)
        if self.shuffle and self.like == "sklearn":  # whose permutation begins with the test part
            return [(order[n_test : n_test + n_train], order[:n_test])], ()
        return [(order[:n_train], order[n_train : n_train + n_test])], ()

    def describe(self) -> str:
        sizes = (self.test_size, " "), (self.train_size, ", train ")
        name = "holdout" + "".join(f"{by}{written(n)}" for n, by in sizes if n is not None)
        name += "" if self.shuffle else ", unshuffled"
        return name + (", as sklearn" if self.like == "sklearn" else "")

    def sentence(self, part: str = "test part") -> str:
        test = None if self.test_size is None else f"{written(self.test_size)} of the ratings"
        train = None if self.train_size is None else f"{written(self.train_size)} of the ratings"
        like = {"surprise": "Surprise", "sklearn": "scikit-learn"}[self.like]
        if self.shuffle:
            how = f"drawn at random as by {like}{_seeded(self.random_state)}"
            rest = f"; {train} are training" if test and train else ""
            return f"{test or f'All but {train}'}, {how}, are the {part}{rest}."
        if test is None:
            parts = f"all but the first {train} are the {part}"
        elif train is None:
            parts = f"the last {test} are the {part}"
        else:
            parts = f"the first {train} are training and the next {test} are the {part}"
        return f"In the order of the data, as by {like}, {parts}."


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
            sizes = np.full(self.n_splits, n // self.n_splits)
            sizes[: n % self.n_splits] += 1  # the first folds take what is left over
            for start, stop in pairwise([0, *np.cumsum(sizes).tolist()]):
                folds.append((np.concatenate([order[:start], order[stop:]]), order[start:stop]))
        return folds, ()


class KFold(_Folds):
    """Cross-validation over the ratings, as `surprise.model_selection.KFold`."""

    kind: Literal["kfold"] = "kfold"
    """Each rating is in the test part of exactly one fold."""
    n_splits: SeveralFolds = 5
    """How many folds."""
    random_state: LegacySeed = None
    shuffle: bool = True
    """Whether the ratings are shuffled before they are cut into folds."""

    def describe(self) -> str:
        return f"{self.n_splits}-fold" + ("" if self.shuffle else ", unshuffled")

    def sentence(self, part: str = "test part") -> str:
        how = f"at random into {self.n_splits} folds{_seeded(self.random_state)}"
        if not self.shuffle:
            how = f"in the order of the data into {self.n_splits} folds"
        return f"The ratings were divided {how}, each the {part} once."


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
            f"times{_seeded(self.random_state)}; each fold is the {part} once."
        )


class ItemFraction(DrawnSplit):
    """The same share of every item's ratings."""

    kind: Literal["item-fraction"] = "item-fraction"
    """A share of each item's ratings, drawn at random, is the test part."""
    fraction: Share = 0.25
    """Share of test ratings. An item's other ratings are rounded to the nearest count, a half to
    the even one, so an item with few ratings may be in one part alone."""
    random_state: LegacySeed = None
    like: Literal["recommenders"] | None = None
    """Order both parts by item and draw, row for row as `python_stratified_split` with
    `filter_by="item"` of Microsoft's Recommenders; null: the order of the data."""

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        rank = np.arange(ratings.n_items)
        if self.like == "recommenders":  # which sorts the items by their ids
            rank[sorted(rank, key=lambda code: natural(str(ratings.item_ids[code])))] = rank.copy()
        numbers = np.random.RandomState(state).random_sample(len(ratings))
        rows = np.lexsort((numbers, rank[ratings.items]))
        items = rank[ratings.items[rows]]
        place = np.arange(len(rows)) - np.searchsorted(items, items)
        train = place < np.round((1 - self.fraction) * np.bincount(items))[items]
        parts = rows[train], rows[~train]
        if self.like is None:
            parts = np.sort(parts[0]), np.sort(parts[1])
        return [parts], ()

    def describe(self) -> str:
        like = ", as recommenders" if self.like else ""
        return f"item fraction {written(self.fraction)}{like}"

    def sentence(self, part: str = "test part") -> str:
        like = " as by python_stratified_split of Recommenders" if self.like else ""
        return (
            f"{written(self.fraction)} of each item's ratings, drawn at random{like}"
            f"{_seeded(self.random_state)}, are the {part}."
        )


class MovieLensFolds(DrawnSplit):
    """The folds that come with MovieLens 100K, made from `u.data` alone."""

    kind: Literal["movielens-folds"] = "movielens-folds"
    """The published folds of MovieLens 100K, in the order of their files, row for row."""
    folds: OneOrMore[PublishedFold] = Field(default=["u1", "u2", "u3", "u4", "u5"])
    """`u1` to `u5`: each fifth of the rows, in the order of the data, is the test part of one;
    `ua` and `ub`: each user's first ten rows, and the ten after them."""

    @property
    def n_folds(self) -> int:
        return len(self.folds)

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        ids = [*ratings.user_ids, *ratings.item_ids]
        if odd := next((each for each in ids if not str(each).isdecimal()), None):
            raise SplitError(
                f"{self.describe()}: the id {str(odd)!r} is no whole number, so the rows have not "
                "the order of the published files; use ml-100k"
            )
        users, items = (
            np.array([int(str(each)) for each in side])[codes]
            for side, codes in (
                (ratings.user_ids, ratings.users),
                (ratings.item_ids, ratings.items),
            )
        )
        rows = np.lexsort((items, users))
        fifth = np.arange(len(ratings)) * 5 // max(len(ratings), 1)
        place = pd.Series(users).groupby(users).cumcount().to_numpy()  # among the user's rows
        folds = []
        for name in self.folds:
            tested = (
                place // 10 == "ab".index(name[1]) if name[1] in "ab" else fifth == int(name[1]) - 1
            )
            folds.append((rows[~tested[rows]], rows[tested[rows]]))
        return folds, ()

    def describe(self) -> str:
        return f"MovieLens folds {', '.join(self.folds)}"

    def sentence(self, part: str = "test part") -> str:
        return (
            f"The {part} is that of the folds that are published with MovieLens 100K as "
            f"{', '.join(self.folds)}, made from its ratings in the order of the published files."
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

    def sentence(self, part: str = "test part") -> str:
        return (
            f"All ratings are training and {part} at once: the scores say how well models fit, "
            "not how well they predict."
        )


class _PerUser(DrawnSplit):
    """A number of ratings of each user, the latest or drawn at random, is the test part."""

    if TYPE_CHECKING:
        n_splits: int = 1
        choose: Choice = "random"
        too_few: Policy = "error"

    @abstractmethod
    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        """Return each user's number of test ratings, who has too few for it, why, and advice."""

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        rng = np.random.Generator(np.random.PCG64(state))
        n_test, few, need, advice = self.counts(ratings, rng)
        notes: Notes = ()
        if few.any():
            found = f"{counted(few.sum(), 'user')} {'has' if few.sum() == 1 else 'have'} {need}"
            if self.too_few == "error":
                raise SplitError(
                    f"{self.describe()}: {found} (as user {str(ratings.user_ids[few][0])!r}); "
                    f"{advice}, or set too_few: train or too_few: drop"
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
        return folds, notes

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
        """Return each row's place among its user's rows, 0 for the last in time or at random.

        Of two ratings with the same timestamp the one further down in the data is the later one.
        """
        keys: Counts
        if self.choose == "random":
            keys = rng.random(len(ratings))
        elif ratings.timestamps is not None:
            keys = ratings.timestamps
        else:
            raise SplitError(
                f"{self.describe()}: {ratings.name} has no timestamps; use choose: random"
            )
        order = np.lexsort((keys, ratings.users))
        counts = np.bincount(ratings.users, minlength=1)
        places = np.empty(len(ratings), np.int64)
        places[order] = np.repeat(np.cumsum(counts), counts) - 1 - np.arange(len(ratings))
        return places

    def inner(self) -> SplitSection | None:
        keys = self.model_dump(include={"n", "fraction"}) | {"choose": "latest", "too_few": "train"}
        kind = UserFraction if isinstance(self, UserHoldout) else type(self)
        return kind.model_validate(keys) if self.choose == "latest" else None

    def _chosen(self) -> str:
        return {"random": "drawn at random", "latest": "the latest"}[self.choose]

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
    """A fixed number of each user's ratings is the test part."""
    n: int = Field(default=1, ge=1)
    """Test ratings of each user."""
    choose: Choice = "random"
    min_train: int = Field(default=1, ge=0)
    """Fewest training ratings that a tested user keeps."""
    too_few: Policy = "error"
    """Policy for users with fewer than `n + min_train` ratings: an error, all of them training, or
    out of both parts (as Surprise)."""
    n_splits: Folds = 1
    """How many independent random draws; folds may overlap."""
    random_state: Seed = None
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

    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        few = (counts > 0) & (counts < self.n + self.min_train)
        need = f"fewer than {self.n + self.min_train} ratings"
        return np.full(len(counts), self.n), few, need, "lower n or min_train"

    def describe(self) -> str:
        name = f"leave-{self.n}-out {self.choose}"
        if self.min_train != 1:
            name += f", {self.min_train} in training"
        if self.n_splits > 1:
            name += f", {self.n_splits} draws"
        return name + (", as surprise" if self.like == "surprise" else "")

    def sentence(self, part: str = "test part") -> str:
        many = ("ratings", "are") if self.n > 1 else ("rating", "is")
        least = counted(self.n + self.min_train, "rating")
        like = " as by Surprise's LeaveOneOut" if self.like else ""
        draws = f", in {self.n_splits} independent draws" if self.n_splits > 1 else ""
        return (
            f"{self.n} {many[0]} of each user, {self._chosen()}{like}"
            f"{_seeded(self.random_state)}, {many[1]} the {part}{draws}. "
            f"{self._policy(f'at least {least}')}"
        )


class UserFraction(_PerUser):
    """The same share of every user's ratings."""

    kind: Literal["user-fraction"] = "user-fraction"
    """A share of each user's ratings is the test part."""
    fraction: Share = 0.2
    """Share of test ratings, rounded to the nearest count, but at least one and never all."""
    choose: Choice = "random"
    too_few: Policy = "error"
    """Policy for users with a single rating: an error, training, or out of both parts."""
    random_state: Seed = None

    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        n_test = np.clip(np.floor(self.fraction * counts + 0.5 + 1e-9), 1, counts - 1)
        return n_test, counts == 1, "a single rating", "filter with min-ratings-per-user"

    def describe(self) -> str:
        return f"user fraction {written(self.fraction)} {self.choose}"

    def sentence(self, part: str = "test part") -> str:
        return (
            f"{written(self.fraction)} of each user's ratings, {self._chosen()}"
            f"{_seeded(self.random_state)}, at least one and never all, are the {part}. "
            f"{self._policy('at least 2 ratings')}"
        )


class UserHoldout(_PerUser):
    """Some users are the test: part of their ratings is given, the rest is tested."""

    kind: Literal["user-holdout"] = "user-holdout"
    """A sample of users is tested; all other users are training."""
    users: Size = 0.2
    """Share (rounded up) or count of test users."""
    given: SizeOrZero = 0.8
    """Share (rounded down) or count of a test user's ratings that are in training."""
    choose: Choice = "random"
    too_few: Policy = "error"
    """Policy for test users with no rating left to test: an error, training, or out."""
    random_state: Seed = None

    def counts(self, ratings: Ratings, rng: np.random.Generator) -> tuple[Counts, Mask, str, str]:
        refusal = f"{self.describe()}: {{}} test users cannot be drawn from {{}}; lower users"
        tested = np.zeros(ratings.n_users, bool)
        tested[draw_users(ratings, self.users, rng, refusal)] = True
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        given = np.array([rounded(self.given, n, up=False) for n in counts.tolist()], np.int64)
        n_test = (counts - given) * tested
        need = f"no more than the {self.given} ratings that are given"
        return n_test, tested & (n_test <= 0), need, "lower given"

    def describe(self) -> str:
        return f"user holdout {written(self.users)}, given {written(self.given)} {self.choose}"

    def sentence(self, part: str = "test part") -> str:
        return (
            f"Of {written(self.users)} of the users, drawn at random{_seeded(self.random_state)}, "
            f"{written(self.given)} of their ratings are given and the others, "
            f"{self._chosen()}, are the {part}; all other users are training. "
            f"{self._policy('a rating that is not given', 'test user')}"
        )


class GlobalTime(DrawnSplit):
    """One moment for all users: training before, test from then on."""

    kind: Literal["global-time"] = "global-time"
    """Ratings before a moment are the training part; those at or after it are the test part."""
    quantile: Share | None = None
    """The moment is the timestamp that this share of the ratings comes before; ratings of that
    very second are all test. 0.8 when neither key is given."""
    date: Moment | None = None
    """The moment itself: a date or time (UTC), or seconds since 1970."""

    @model_validator(mode="before")
    @classmethod
    def _default_quantile(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("quantile") is None and data.get("date") is None:
            return {**data, "quantile": 0.8}
        return data

    @model_validator(mode="after")
    def _one_moment(self) -> Self:
        if self.quantile is not None and self.date is not None:
            raise ValueError("both `quantile` and `date`; keep one")
        return self

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        name, times = self.describe(), _times(self, ratings)
        moment = _moment(times, self.quantile or 0.0 if self.date is None else self.date)
        before = times < moment
        if before.all() or not before.any():
            missing = "at or after" if before.all() else "before"
            first, last = _as_date(int(times.min())), _as_date(int(times.max()))
            advice = f"choose a moment within {first} to {last}, where ratings are"
            if first == last:
                advice = f"all are of {first}, so use a split without time"
            raise SplitError(f"{name}: no rating is {missing} {_as_date(moment)}; {advice}")
        note = Note("moment", {"date": _as_date(moment)})
        return [(np.flatnonzero(before), np.flatnonzero(~before))], (note,)

    def describe(self) -> str:
        return f"global time {self.quantile if self.date is None else self.date}"

    def sentence(self, part: str = "test part") -> str:
        if self.date is not None:
            return f"Ratings from {self.date} on are the {part}, those before are training."
        return (
            f"Ratings from the moment on that {written(self.quantile or 0.8)} of the ratings come "
            f"before are the {part}, those before are training."
        )

    def inner(self) -> SplitSection:
        return GlobalTime(quantile=0.8)


class Rolling(DrawnSplit):
    """Several moments for all users, one after another (Tashman 2000)."""

    kind: Literal["rolling"] = "rolling"
    """Folds in time: each is trained on ratings before a moment, its origin, and tested on ratings
    from it on. Each bound is a moment, and the ratings of that very second come after it."""
    origins: Points = 5
    """A number of moments, which cut the ratings into parts of equal size, the first of them for
    training alone; or a rising list of moments, each a quantile or a date as in `global-time`."""
    window: Span | None = None
    """Training of a fold: null, all ratings before the origin; or the latest before it: a share of
    all ratings, as 0.2, or a span of time, as `90 days`."""
    horizon: Span | None = None
    """Test of a fold: null, the ratings up to the next origin, those of the last up to the end; or
    those from the origin on: a share of all ratings, or a span of time."""

    @property
    def n_folds(self) -> int:
        return self.origins if isinstance(self.origins, int) else len(self.origins)

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        times, given = _times(self, ratings), self.origins
        if isinstance(given, int):
            given = [part / (given + 1) for part in range(1, given + 1)]
        ordered = np.sort(times)
        end = int(ordered[-1]) + 1
        origins = [_moment(ordered, at) for at in given]
        move, sort = "move or remove it", "sort them, or remove one"
        if isinstance(self.origins, int):
            move = sort = "use fewer origins, or a split without time"
        folds = []
        for number, (moment, following) in enumerate(pairwise([*origins, end]), 1):
            where = f"{self.describe()}: origin {number}, {_as_date(moment)},"
            if number < len(origins) and moment >= following:
                after = f"origin {number + 1}, {_as_date(following)}"
                raise SplitError(f"{where} is not before {after}; {sort}")
            place = int(np.searchsorted(ordered, moment))
            start, stop = int(ordered[0]), following
            if isinstance(self.window, str):
                start = moment - span_seconds(self.window)
            elif self.window is not None:
                start = int(ordered[max(place - rounded(self.window, len(times), up=False), 0)])
            if isinstance(self.horizon, str):
                stop = moment + span_seconds(self.horizon)
            elif self.horizon is not None:
                last = place + rounded(self.horizon, len(times), up=False)
                stop = int(ordered[last]) if last < len(times) else end
            train = np.flatnonzero((start <= times) & (times < moment))
            test = np.flatnonzero((moment <= times) & (times < stop))
            for part, what, key in ((train, "training", "window"), (test, "test", "horizon")):
                if len(part) == 0:
                    wider = f", or widen `{key}`" if getattr(self, key) else ""
                    raise SplitError(f"{where} has no {what} rating; {move}{wider}")
            folds.append((train, test))
        named = [_as_date(moment) for moment in origins]
        named = named if len(named) < 6 else [named[0], "…", named[-1]]
        return folds, (Note("origins", {"dates": named}),)

    def describe(self) -> str:
        parts = [f"rolling {counted(self.n_folds, 'origin')}"]
        parts += [f"window {written(self.window)}"] if self.window else []
        parts += [f"horizon {written(self.horizon)}"] if self.horizon else []
        return ", ".join(parts)

    def sentence(self, part: str = "test part") -> str:
        if isinstance(self.origins, int):
            origins = (
                f"{counted(self.origins, 'moment')} between {self.origins + 1} parts of the "
                "ratings of equal size"
            )
        else:
            named = [
                f"{written(at)} of the ratings" if isinstance(at, float) else str(at)
                for at in self.origins
            ]
            origins = f"{counted(len(named), 'moment')} (after {', '.join(named)})"
        train = "all ratings"
        if self.window is not None:
            train = f"the latest {_of_all(self.window)}"
        test = "the ratings up to the next, or to the end,"
        if self.horizon is not None:
            test = f"the next {_of_all(self.horizon)}"
        return (
            f"At each of {origins}, {train} before it are training and {test} are the {part} "
            "(rolling origins, Tashman 2000)."
        )

    def inner(self) -> SplitSection:
        return GlobalTime(quantile=0.8)


def _of_all(span: float | str) -> str:
    return f"{span} of ratings" if isinstance(span, str) else f"{written(span)} of all ratings"


def _times(section: SplitSection, ratings: Ratings) -> Rows:
    """Return the timestamps of ratings to be divided in time, or raise SplitError."""
    name, times = section.describe(), ratings.timestamps
    if times is None:
        raise SplitError(f"{name}: {ratings.name} has no timestamps; use a split without time")
    if len(times) == 0:
        raise SplitError(f"{name}: {ratings.name} has no ratings; use more data")
    return times


def _moment(times: Rows, at: float | str) -> int:
    """Return a date in seconds, or the timestamp that a share of the ratings comes before."""
    if not isinstance(at, float):
        return seconds(at)
    # Of n timestamps in order, counted from 0, number floor(q·n). Ratings with that very
    # timestamp are all test: none for training is as late as one for test.
    place = rounded(at, len(times), up=False)
    return int(np.partition(times, place)[place])


def _as_date(moment: int) -> str:
    """Return a timestamp as a date, or unchanged if it is not one."""
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return str(moment)


def _seeded(state: int | None) -> str:
    """Return the part of a sentence that names a seed of a config."""
    return "" if state is None else f" (random_state {state})"
