"""How ratings are split into training and test."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from harness.config.filtering import FilterSection
from harness.sections import Folds, Moment, Section, Share, Size, SizeOrZero, State, written

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
    """A second split, of the training part, for tuning."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a kind that the methods text of a report could not describe."""
        super().__pydantic_init_subclass__(**options)
        if "sentence" not in vars(cls):
            raise TypeError(
                f"{cls.__name__}: write `sentence`, as the other kinds of split have it"
            )

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split, for the methods text of a report.

        Parameters
        ----------
        part : str
            Name of the part on which models are scored.
        """
        raise NotImplementedError

    @model_validator(mode="after")
    def _validation_is_flat(self) -> Self:
        if self.validation is not None and self.validation.validation is not None:
            raise ValueError(
                "a validation part with a validation part of its own; remove the inner one"
            )
        return self


class Holdout(_Split):
    """One random split of the ratings."""

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
    """Which library's `train_test_split` is reproduced, row for row."""

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

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`.

        Examples
        --------
        >>> Holdout(test_size=0.25, shuffle=False).sentence()
        'In the order of the data, as by Surprise, the last 25% of the ratings are the test part.'
        """
        test = None if self.test_size is None else f"{written(self.test_size)} of the ratings"
        train = None if self.train_size is None else f"{written(self.train_size)} of the ratings"
        like = {"surprise": "Surprise", "sklearn": "scikit-learn"}[self.like]
        if self.shuffle:
            how = f"drawn at random as by {like}{_seed(self.random_state)}"
            if test is None:
                return f"All but {train}, {how}, are the {part}."
            rest = f"; {train} are training" if train else ""
            return f"{test}, {how}, are the {part}{rest}."
        if test is None:
            parts = f"all but the first {train} are the {part}"
        elif train is None:
            parts = f"the last {test} are the {part}"
        else:
            parts = f"the first {train} are training and the next {test} are the {part}"
        return f"In the order of the data, as by {like}, {parts}."


class KFold(_Split):
    """Cross-validation over the ratings, as `surprise.model_selection.KFold`."""

    kind: Literal["kfold"] = "kfold"
    """Each rating is in the test part of exactly one fold."""
    n_splits: Annotated[Folds, Field(ge=2)] = 5
    """How many folds."""
    random_state: State | None = None
    """Seed of NumPy's legacy generator, as in a published script; null: from the run's seed."""
    shuffle: bool = True
    """Whether the ratings are shuffled before they are cut into folds."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"{self.n_splits}-fold" + ("" if self.shuffle else ", unshuffled")

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        how = f"at random into {self.n_splits} folds{_seed(self.random_state)}"
        if not self.shuffle:
            how = f"in the order of the data into {self.n_splits} folds"
        return f"The ratings were divided {how}, each the {part} once."


class RepeatedKFold(_Split):
    """Cross-validation several times over, as `surprise.model_selection.RepeatedKFold`."""

    kind: Literal["repeated-kfold"] = "repeated-kfold"
    """K-fold, with the ratings shuffled again in each repetition."""
    n_splits: Annotated[Folds, Field(ge=2)] = 5
    """How many folds in each repetition."""
    n_repeats: Folds = 10
    """How many repetitions."""
    random_state: State | None = None
    """Seed of NumPy's legacy generator, as in a published script; null: from the run's seed."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"{self.n_repeats} x {self.n_splits}-fold"

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        return (
            f"The ratings were divided at random into {self.n_splits} folds, {self.n_repeats} "
            f"times{_seed(self.random_state)}; each fold is the {part} once."
        )


class LeaveNOut(_Split):
    """The same number of test ratings for every user."""

    kind: Literal["leave-n-out"] = "leave-n-out"
    """A fixed number of each user's ratings is the test part."""
    n: int = Field(default=1, ge=1)
    """Test ratings of each user."""
    choose: Choice = "random"
    """Which ratings are the test: drawn at random, or the user's latest."""
    min_train: int = Field(default=1, ge=0)
    """Fewest training ratings that a tested user keeps."""
    too_few: Literal["error", "train", "drop"] = "error"
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

    def describe(self) -> str:
        """Return the short name that tables use."""
        name = f"leave-{self.n}-out {self.choose}"
        if self.min_train != 1:
            name += f", {self.min_train} in training"
        if self.n_splits > 1:
            name += f", {self.n_splits} draws"
        return name + (", as surprise" if self.like == "surprise" else "")

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`.

        Examples
        --------
        >>> LeaveNOut(choose="latest").sentence()
        '1 rating of each user, the latest, is the test part. Every user has at least 2 ratings.'
        """
        many = ("ratings", "are") if self.n > 1 else ("rating", "is")
        like = " as by Surprise's LeaveOneOut" if self.like else ""
        draws = f", in {self.n_splits} independent draws" if self.n_splits > 1 else ""
        return (
            f"{self.n} {many[0]} of each user, {_chosen(self.choose)}{like}"
            f"{_seed(self.random_state)}, {many[1]} the {part}{draws}. "
            f"{_too_few(self.too_few, f'at least {self.n + self.min_train} ratings')}"
        )


class UserFraction(_Split):
    """The same share of every user's ratings."""

    kind: Literal["user-fraction"] = "user-fraction"
    """A share of each user's ratings is the test part."""
    fraction: Share = 0.2
    """Share of test ratings, rounded to the nearest count, but at least one and never all."""
    choose: Choice = "random"
    """Which ratings are the test: drawn at random, or the user's latest."""
    too_few: Literal["error", "train", "drop"] = "error"
    """Policy for users with a single rating: an error, training, or out of both parts."""
    random_state: State | None = None
    """Seed of the draw; null: from the run's seed."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"user fraction {written(self.fraction)} {self.choose}"

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        return (
            f"{written(self.fraction)} of each user's ratings, {_chosen(self.choose)}"
            f"{_seed(self.random_state)}, at least one and never all, are the {part}. "
            f"{_too_few(self.too_few, 'at least 2 ratings')}"
        )


class GlobalTime(_Split):
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

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        if self.date is not None:
            return f"Ratings from {self.date} on are the {part}, those before are training."
        return (
            f"Ratings from the moment on that {written(self.quantile or 0.8)} of the ratings come "
            f"before are the {part}, those before are training."
        )


class UserHoldout(_Split):
    """Some users are the test: part of their ratings is given, the rest is tested."""

    kind: Literal["user-holdout"] = "user-holdout"
    """A sample of users is tested; all other users are training."""
    users: Size = 0.2
    """Share (rounded up) or count of test users."""
    given: SizeOrZero = 0.8
    """Share (rounded down) or count of a test user's ratings that are in training."""
    choose: Choice = "random"
    """Which of a test user's ratings are the test: drawn at random, or the latest."""
    too_few: Literal["error", "train", "drop"] = "error"
    """Policy for test users with no rating left to test: an error, training, or out."""
    random_state: State | None = None
    """Seed of the draws; null: from the run's seed."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"user holdout {written(self.users)}, given {written(self.given)} {self.choose}"

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        return (
            f"Of {written(self.users)} of the users, drawn at random{_seed(self.random_state)}, "
            f"{written(self.given)} of their ratings are given and the others, "
            f"{_chosen(self.choose)}, are the {part}; all other users are training. "
            f"{_too_few(self.too_few, 'a rating that is not given', 'test user')}"
        )


class OwnTraining(_Split):
    """No split: a model is tested on its training data."""

    kind: Literal["own-training"] = "own-training"
    """All ratings are training and test at once. The scores show what a model remembers, not what
    it predicts; use it only to reproduce published numbers."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return "own training data"

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        return (
            f"All ratings are training and {part} at once: the scores say how well models fit, "
            "not how well they predict."
        )


class Predefined(_Split):
    """Folds that were drawn elsewhere."""

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

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        if self.file is not None:
            return (
                f"Training and {part} were split in advance and are read from the column "
                f"{self.column} of {_base(self.file)}."
            )
        rest = "all other ratings are training"
        if self.train is not None:
            rest = f"training is read from {_base(self.train)}"
        folds = f", for the folds {', '.join(map(str, self.folds))}" if self.folds else ""
        return (
            f"Training and {part} were split in advance: the {part} is read from "
            f"{_base(self.test or '')}, {rest}{folds}."
        )


class SavedSplit(_Split):
    """A saved split, checked against the data."""

    kind: Literal["file"] = "file"
    """Rows are read from a file that `harness split` wrote."""
    path: Annotated[str, Field(min_length=1)]
    """Where the split was saved."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"file {_base(self.path)}"

    def sentence(self, part: str = "test part") -> str:
        """Return a sentence on the split; see `_Split.sentence`."""
        return f"Training and {part} were split in advance and are read from {_base(self.path)}."


def _seed(state: int | None) -> str:
    return "" if state is None else f" (random_state {state})"


def _chosen(choose: Choice) -> str:
    return {"random": "drawn at random", "latest": "the latest"}[choose]


def _too_few(rule: str, enough: str, who: str = "user") -> str:
    """Return a sentence on users without enough ratings, by the policy for them."""
    return {
        "error": f"Every {who} has {enough}.",
        "train": f"A {who} without {enough} is training.",
        "drop": f"A {who} without {enough} is left out.",
    }[rule]


def _base(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


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
