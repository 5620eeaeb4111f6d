"""Ratings divided into training and test: what every kind of split makes, and what it must have."""

from __future__ import annotations

import copy
import hashlib
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, model_validator

from harness._util import seeds
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.metrics.arrays import filled_rating
from harness.notes.note import Note
from harness.schema.sections import Kind, State

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Parts = tuple[Rows, Rows]
"""Rows of the training set, in training order, and of the test set."""
Notes = tuple[Note, ...]
"""What the rows do not show, a sentence each."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Ratings divided into a training and a test set.

    Parameters
    ----------
    ratings : Ratings
        What was divided.
    train : ndarray of int64, shape (n_train,)
        Rows of the training set in the order in which a model sees them, which decides what
        stochastic gradient descent learns.
    test : ndarray of int64, shape (n_test,)
        Rows of the test set; none is in `train`, unless a config requests it.
    name : str
        The kind of split as tables name it; equal for all folds.
    fold : int
        Which of the folds this is, from 0.
    n_folds : int
        How many there are.
    fingerprint : str
        SHA-256, in hexadecimal, of the data's fingerprint and the rows in their order.
    notes : tuple of Note
        What a reader of the numbers should know: test users and items without training ratings,
        ratings in neither set, a leak through time.
    """

    ratings: Ratings
    train: Rows
    test: Rows
    name: str
    fold: int
    n_folds: int
    fingerprint: str
    notes: Notes = ()

    @cached_property
    def known_users(self) -> Mask:
        """By code, whether a user has a training rating, of shape (n_users,)."""
        return _marked(self.ratings.users[self.train], self.ratings.n_users)

    @cached_property
    def known_items(self) -> Mask:
        """By code, whether an item has a training rating, of shape (n_items,)."""
        return _marked(self.ratings.items[self.train], self.ratings.n_items)

    def with_notes(self, notes: Notes) -> Fold:
        """Return the same rows with other notes, and with what was counted of them already."""
        noted = copy.copy(self)
        object.__setattr__(noted, "notes", notes)
        return noted

    @property
    def unknown(self) -> tuple[float, float]:
        """Proportions of test users, and of test ratings' items, without a training rating."""
        users = np.flatnonzero(_marked(self.ratings.users[self.test], self.ratings.n_users))
        items = self.ratings.items[self.test]
        return float((~self.known_users[users]).mean()), float((~self.known_items[items]).mean())


class SplitSection(Kind):
    """A way to split ratings into a training and a test set."""

    plugin_kind, family = "splits", "split"
    of_record = "harness.splits.base:RecordedSplit"
    from_files: ClassVar[bool] = False
    """Whether files decide the rows: the split is then known by its rows, not by its keys."""

    is_of_curve: ClassVar[bool] = False
    """Whether it is a point of a learning curve, of which notes say if more ratings would help."""

    validation: SplitSection | None = None
    """A second split, of the training set, for tuning."""

    @property
    def n_folds(self) -> int:
        """How many folds there are; 1 where files decide."""
        return getattr(self, "n_splits", 1) * getattr(self, "n_repeats", 1)

    @model_validator(mode="after")
    def _validation_is_flat(self) -> Self:
        if self.validation is not None and self.validation.validation is not None:
            raise ValueError(
                "a validation set that has its own validation set; remove the inner one"
            )
        return self

    @abstractmethod
    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Fold]:
        """Split ratings, or the training set in `rows` (rising), or raise SplitError.

        `seed` is the run's; `base` is where relative paths start.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return the short name that tables use."""

    @abstractmethod
    def sentence(self, part: str = "test set") -> str:
        """Return a sentence for the methods text; `part` names where models are scored."""

    @property
    def counts_ratings(self) -> bool:
        """Whether a number in its short name is a count of test ratings."""
        return False

    @property
    def test_file(self) -> str | None:
        """The file that lists the test ratings of a single fold, if one does."""
        return None

    def inner(self) -> SplitSection | None:
        """Return how a training set of this kind is split if no config says how.

        None for a random split; a split in time is divided in time.
        """
        return None


class DrawnSplit(SplitSection):
    """A split that is computed from the ratings and a seed."""

    @abstractmethod
    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        """Return the folds, and notes on all of them, or raise SplitError.

        `state` is the section's `random_state` or, without one, a seed derived from the run's.
        """

    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Fold]:
        state = getattr(self, "random_state", None)
        if state is None:
            state = seeds.derive(seed, "split", self.kind)
        folds, notes = self.draw(ratings if rows is None else ratings.take(rows), state)
        if rows is not None:
            folds = [(rows[train], rows[test]) for train, test in folds]
        return assemble(self.describe(), ratings, folds, rows, notes)


class FilterSection(Kind):
    """A kind of filter with its options."""

    plugin_kind, family = "splits", "filter"
    of_record = "harness.splits.base:RecordedFilter"
    short = ""
    name: ClassVar[str] = ""
    """The short name, with `{0.key}` for an option."""

    @abstractmethod
    def keep(self, ratings: Ratings, state: int) -> Mask:
        """Mark the rows that stay, or raise SplitError; `state` is the seed of a draw."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return self.name.format(self)


@checked(SplitError)
def make(
    section: SplitSection, ratings: Ratings, seed: int, base: Path | None = None
) -> list[Fold]:
    """Split ratings by a section of a config.

    Parameters
    ----------
    section : SplitSection
        Kind and options; its `validation` is left to `validation`.
    ratings : Ratings
        What to divide.
    seed : int
        The run's seed, for a section without its own `random_state`.
    base : Path, optional
        Where relative paths of a config start; the working directory when left out.

    Returns
    -------
    list of Split
        One, or one for each fold.

    Raises
    ------
    SplitError
        If the split cannot be made of these ratings.

    Examples
    --------
    >>> from harness.splits.random import KFold
    >>> r = Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    >>> [split.test.tolist() for split in make(KFold(n_splits=2, shuffle=False), r, seed=0)]
    [[0, 1], [2, 3]]
    """
    return section.splits(ratings, None, seed, base)


@checked(SplitError)
def validation(
    split: Fold, section: SplitSection, seed: int, base: Path | None = None
) -> list[Fold]:
    """Split the training set of a split again, into one or several folds; its test set is unused.

    The rows are numbered in the whole data; the training set is taken in the order of the data.
    """
    rows = np.sort(split.train)
    return section.splits(split.ratings, rows, seeds.derive(seed, "validation"), base)


def assemble(
    name: str, ratings: Ratings, folds: list[Parts], rows: Rows | None = None, notes: Notes = ()
) -> list[Fold]:
    """Check the parts of every fold of `rows`, or of all ratings, then name and hash them."""
    n_divided, n_folds = len(ratings), len(folds)
    if rows is not None:
        name, n_divided = f"{name} of the training set", len(rows)
    splits = []
    for fold, (train, test) in enumerate(folds):
        digest = hashlib.sha256(f"{ratings.fingerprint} {len(train)} {len(test)}\n".encode())
        for part, word in ((train, "training"), (test, "test")):
            if len(part) == 0:
                where = name if n_folds == 1 else f"{name}, fold {fold + 1} of {n_folds}"
                raise SplitError(
                    f"{where}: no {word} rating is left of {n_divided:,}; "
                    "change the sizes of the split or use more data"
                )
            digest.update(np.ascontiguousarray(part, dtype="<i8").data)
        split = Fold(ratings, train, test, name, fold, n_folds, digest.hexdigest())
        splits.append(split.with_notes((*notes, *_notes(split, n_divided))))
    return splits


def _marked(codes: NDArray[np.integer], n: int) -> Mask:
    """Return which of the numbers below `n` are among some."""
    marks = np.zeros(n, bool)
    marks[codes] = True
    return marks


def _notes(split: Fold, n_divided: int) -> Iterator[Note]:
    """Yield notes on users and items without training ratings, on ratings left out, on leaks."""
    ratings, train, test = split.ratings, split.train, split.test
    if (number := filled_rating(ratings.ratings[test])) is not None:
        yield Note("filled-ratings", {"n": len(test), "rating": number})
    for role, codes, is_known in (
        ("users", ratings.users, split.known_users),
        ("items", ratings.items, split.known_items),
    ):
        tested = np.flatnonzero(_marked(codes[test], len(is_known)))
        if n_new := int(np.count_nonzero(~is_known[tested])):
            values = {"n": n_new, "n_all": len(tested), "share": n_new / len(tested)}
            yield Note(f"unknown-{role}", values)
    used = _marked(train, len(ratings))
    used[test] = True
    if n_left := n_divided - int(np.count_nonzero(used)):
        yield Note("in-neither-part", {"n": n_left, "share": n_left / n_divided})
    if ratings.timestamps is not None:
        before, after = ratings.timestamps[train], ratings.timestamps[test]
        if before.max() > after.min():
            # The share of training ratings after the (lower) median test rating, about one half
            # for a random split: Ji, Sun, Zhang and Li, "A critical study on data leakage in
            # recommender system offline evaluation", TOIS 41(3), 2023, doi:10.1145/3569930.
            middle = (len(after) - 1) // 2
            n_later = np.count_nonzero(before > np.partition(after, middle)[middle])
            yield Note("leak", {"share": max(int(n_later), 1) / len(before)})


def natural(text: str) -> tuple[bool, Decimal, str]:
    """Return a key that sorts as people count: 2 before 10, numbers before words."""
    number = text.isdecimal()
    return not number, Decimal(text if number else 0), text


class RecordedSplit(SplitSection):
    """A kind of split of a run that is only read: its name and its sentence, without its code."""

    model_config = ConfigDict(extra="allow")

    kind: str
    facts: dict[str, str] = Field(exclude=True)

    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Fold]:
        """Raise a SplitError."""
        raise SplitError(
            f"{self.kind}: its code was not imported, since a run that names it was only read"
        )

    def describe(self) -> str:
        """Return the name that the run recorded."""
        return self.facts.get("name", self.kind)

    def sentence(self, part: str = "test set") -> str:
        """Return the sentence that the run recorded."""
        return self.facts.get("sentence", f"{self.kind} splits the ratings.")


class RecordedFilter(FilterSection):
    """A kind of filter of a run that is only read."""

    model_config = ConfigDict(extra="allow")

    kind: str
    facts: dict[str, str] = Field(exclude=True)

    def keep(self, ratings: Ratings, state: int) -> Mask:
        """Raise a SplitError."""
        raise SplitError(
            f"{self.kind}: its code was not imported, since a run that names it was only read"
        )

    def describe(self) -> str:
        """Return the name that the run recorded."""
        return self.facts.get("name", self.kind)


LegacySeed = Annotated[
    State | None,
    Field(
        description="Seed of NumPy's legacy generator, as in a published script; null: from the "
        "run's seed."
    ),
]
Seed = Annotated[State | None, Field(description="Seed of the draws; null: from the run's seed.")]


def seeded(state: int | None) -> str:
    """Return the part of a sentence that names a seed of a config."""
    return "" if state is None else f" (random_state {state})"


def rounded(size: float, n: int, *, up: bool) -> int:
    """Return a proportion of `n` as a count, and a count as it is."""
    if isinstance(size, int):
        return size
    # 0.07 * 100 is 7.000000000000001: a share is taken as it is written.
    return math.ceil(size * n - 1e-6) if up else math.floor(size * n + 1e-6)


def draw_users(ratings: Ratings, size: float, state: np.random.Generator, refusal: str) -> Rows:
    """Draw a share or a count of the users; `refusal` is the message where there are too few."""
    users = pd.unique(ratings.users)  # as they appear
    n = rounded(size, len(users), up=True)
    if n > len(users):
        raise SplitError(refusal.format(f"{n:,}", f"{len(users):,}"))
    return users[state.permutation(len(users))[:n]].astype(np.int64)


Split = Fold
"""The name that a fold had in version 0.3."""
