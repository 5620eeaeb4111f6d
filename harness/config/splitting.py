"""How ratings are divided into training and test."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from harness.config.filtering import FilterSection
from harness.config.quantities import Moment, Share, Size, SizeOrZero, State, written
from harness.config.section import Section

__all__ = [
    "FilterSection",
    "GlobalTime",
    "Holdout",
    "KFold",
    "LeaveNOut",
    "OwnTraining",
    "Predefined",
    "RepeatedKFold",
    "SavedSplit",
    "SplitSection",
    "UserFraction",
    "UserHoldout",
]


Choice = Literal["random", "latest"]


class _Split(Section):
    """What every split may have."""

    validation: SplitSection | None = None
    """A second split, of the training part alone, whose test part tuning may look at."""

    @model_validator(mode="after")
    def _validation_is_flat(self) -> Self:
        if self.validation is not None and self.validation.validation is not None:
            raise ValueError(
                "a validation part with a validation part of its own; remove the inner one"
            )
        return self


class Holdout(_Split):
    """One random division of the ratings."""

    kind: Literal["holdout"] = "holdout"
    """A share of the ratings, drawn at random, is the test part."""
    test_size: Size | None = 0.2
    """Share or count of test ratings, a share rounded up; null: all that is not training. With
    `like: sklearn` and a `train_size`, null unless given."""
    train_size: Size | None = None
    """Share or count of training ratings, a share rounded down; null: all that is not test."""
    random_state: State | None = None
    """Seed of NumPy's legacy generator, as in a published script; null: from the run's seed."""
    shuffle: bool = True
    """Whether the ratings are shuffled first; if not, `surprise` tests on the last of them."""
    like: Literal["surprise", "sklearn"] = "surprise"
    """Whose `train_test_split` is followed, row for row."""

    @model_validator(mode="before")
    @classmethod
    def _complement_as_sklearn(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("like") != "sklearn" or "test_size" in data:
            return data
        return data if data.get("train_size") is None else {**data, "test_size": None}

    @model_validator(mode="after")
    def _some_size(self) -> Self:
        if self.test_size is None and self.train_size is None:
            raise ValueError("neither `test_size` nor `train_size`; give one, as test_size: 0.2")
        if (
            isinstance(self.test_size, float)
            and isinstance(self.train_size, float)
            and self.test_size + self.train_size > 1 + 1e-9
        ):
            raise ValueError(
                f"`test_size` {self.test_size} and `train_size` {self.train_size} are more than "
                "the whole; make them smaller"
            )
        return self

    def describe(self) -> str:
        """Return the short name that tables use.

        Examples
        --------
        >>> Holdout(test_size=0.25).describe()
        'holdout 25%'
        """
        if self.test_size is None:
            name = f"holdout, train {written(self.train_size or 0)}"
        else:
            name = f"holdout {written(self.test_size)}"
            if self.train_size is not None:
                name += f", train {written(self.train_size)}"
        if not self.shuffle:
            name += ", unshuffled"
        return name + (", as sklearn" if self.like == "sklearn" else "")


class KFold(_Split):
    """Cross-validation over the ratings, as `surprise.model_selection.KFold`."""

    kind: Literal["kfold"] = "kfold"
    """Each rating is in the test part of exactly one fold."""
    n_splits: int = Field(default=5, ge=2)
    """How many folds."""
    random_state: State | None = None
    """Seed of NumPy's legacy generator, as in a published script; null: from the run's seed."""
    shuffle: bool = True
    """Whether the ratings are shuffled before they are cut into folds."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"{self.n_splits}-fold" + ("" if self.shuffle else ", unshuffled")


class RepeatedKFold(_Split):
    """Cross-validation several times over, as `surprise.model_selection.RepeatedKFold`."""

    kind: Literal["repeated-kfold"] = "repeated-kfold"
    """K-fold, with the ratings shuffled anew in each repetition."""
    n_splits: int = Field(default=5, ge=2)
    """How many folds in each repetition."""
    n_repeats: int = Field(default=10, ge=1)
    """How many repetitions."""
    random_state: State | None = None
    """Seed of NumPy's legacy generator, as in a published script; null: from the run's seed."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"{self.n_repeats} x {self.n_splits}-fold"


class LeaveNOut(_Split):
    """The same number of test ratings for every user."""

    kind: Literal["leave-n-out"] = "leave-n-out"
    """A fixed number of each user's ratings is the test part."""
    n: int = Field(default=1, ge=1)
    """Test ratings of each user."""
    choose: Choice = "random"
    """Which ratings are the test: drawn at random, or the user's latest."""
    min_train: int = Field(default=1, ge=0)
    """Fewest training ratings that a tested user must be left with."""
    too_few: Literal["error", "train", "drop"] = "error"
    """What becomes of users with fewer than `n + min_train` ratings: an error, all of them
    training, or out of both parts (as Surprise)."""
    n_splits: int = Field(default=1, ge=1)
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

    def describe(self) -> str:
        """Return the short name that tables use."""
        name = f"leave-{self.n}-out {self.choose}"
        if self.min_train != 1:
            name += f", {self.min_train} in training"
        if self.n_splits > 1:
            name += f", {self.n_splits} draws"
        return name + (", as surprise" if self.like == "surprise" else "")


class UserFraction(_Split):
    """The same share of every user's ratings."""

    kind: Literal["user-fraction"] = "user-fraction"
    """A share of each user's ratings is the test part."""
    fraction: Share = 0.2
    """Share of test ratings, rounded to the nearest count, but at least one and never all."""
    choose: Choice = "random"
    """Which ratings are the test: drawn at random, or the user's latest."""
    too_few: Literal["error", "train", "drop"] = "error"
    """What becomes of users with a single rating: an error, training, or out of both parts."""
    random_state: State | None = None
    """Seed of the draw; null: from the run's seed."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"user fraction {written(self.fraction)} {self.choose}"


class GlobalTime(_Split):
    """One moment for everybody: training before, test from then on."""

    kind: Literal["global-time"] = "global-time"
    """Ratings before a moment are the training part; those at or after it are the test part."""
    quantile: Share | None = None
    """The moment is the timestamp that this share of the ratings comes before; ratings of that
    very second are all test. 0.8 when neither key is given."""
    date: Moment | None = None
    """The moment itself: a date or time (UTC), or seconds since 1970."""

    @model_validator(mode="before")
    @classmethod
    def _default_quantile(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("quantile") is None and data.get("date") is None:
            return {**data, "quantile": 0.8}
        return data

    @model_validator(mode="after")
    def _one_moment(self) -> Self:
        if self.quantile is not None and self.date is not None:
            raise ValueError("both `quantile` and `date`; keep one")
        return self

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"global time {self.quantile if self.date is None else self.date}"


class UserHoldout(_Split):
    """Some users are the test: part of their ratings is given, the rest is asked for."""

    kind: Literal["user-holdout"] = "user-holdout"
    """A sample of users is tested; all other users are training."""
    users: Size = 0.2
    """Share (rounded up) or count of test users."""
    given: SizeOrZero = 0.8
    """Share (rounded down) or count of a test user's ratings that training gets to see."""
    choose: Choice = "random"
    """Which of a test user's ratings are the test: drawn at random, or the latest."""
    too_few: Literal["error", "train", "drop"] = "error"
    """What becomes of test users with no rating left to test: an error, training, or out."""
    random_state: State | None = None
    """Seed of the draws; null: from the run's seed."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"user holdout {written(self.users)}, given {written(self.given)} {self.choose}"


class OwnTraining(_Split):
    """No division: a model is tested on what it was fitted on."""

    kind: Literal["own-training"] = "own-training"
    """All ratings are training and test at once. The scores tell what a model remembers, nothing
    of what it predicts; only for published numbers that were computed so."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return "own training data"


class Predefined(_Split):
    """Folds that somebody else has drawn."""

    kind: Literal["predefined"] = "predefined"
    """Folds come from files: a pair for each fold, or one file with a column of folds."""
    test: str | None = None
    """Path of a fold's test ratings; `{fold}` stands for the fold, as in `ml-100k/u{fold}.test`."""
    train: str | None = None
    """Path of a fold's training ratings; null: all ratings that are not in its test file."""
    folds: Annotated[list[int | str], Field(min_length=1)] | None = None
    """What `{fold}` stands for in turn, as `[1, 2, 3, 4, 5]`."""
    file: str | None = None
    """Path of a file with columns for user, item and fold."""
    column: str = "fold"
    """Column of `file` that holds each rating's fold (tested in turn), or `train` and `test`."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.test is None) == (self.file is None):
            raise ValueError("needs either `test` (a file for each fold) or `file` (with a column)")
        if self.file is not None and (self.train is not None or self.folds is not None):
            raise ValueError("`file` names the folds in a column; remove `train` and `folds`")
        paths = [path for path in (self.test, self.train) if path is not None]
        if self.folds is not None and not all("{fold}" in path for path in paths):
            raise ValueError("`folds` without `{fold}` in the paths; write it as u{fold}.test")
        if self.folds is None and any("{fold}" in path for path in paths):
            raise ValueError("`{fold}` in a path without `folds`; add folds: [1, 2, 3, 4, 5]")
        if self.folds is not None and len(set(map(str, self.folds))) < len(self.folds):
            raise ValueError("a fold is named twice; remove one")
        return self

    def describe(self) -> str:
        """Return the short name that tables use."""
        if self.file is not None:
            return f"predefined by column {self.column}"
        if self.folds is None:
            return "predefined"
        return f"predefined {len(self.folds)}-fold"


class SavedSplit(_Split):
    """A split that was saved before, checked against the data."""

    kind: Literal["file"] = "file"
    """Rows are read from a file that `harness split` wrote."""
    path: Annotated[str, Field(min_length=1)]
    """Where the split was saved."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"file {self.path.replace(chr(92), '/').rsplit('/', 1)[-1]}"


def _from_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


_AnySplit = (
    Holdout
    | KFold
    | RepeatedKFold
    | LeaveNOut
    | UserFraction
    | GlobalTime
    | UserHoldout
    | OwnTraining
    | Predefined
    | SavedSplit
)
SplitSection = Annotated[
    Annotated[_AnySplit, Field(discriminator="kind")],
    BeforeValidator(_from_name, json_schema_input_type=str | _AnySplit),
]
"""A kind of split by name, or with options."""
