"""What all kinds of split have in common: their base, the split that they make, notes on it."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from harness import seeds
from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.sections import Kind

__all__ = [
    "Drawn",
    "DrawnSplit",
    "Parts",
    "Rows",
    "Split",
    "SplitSection",
    "assemble",
    "make",
    "natural",
    "rounded",
    "seeded",
    "validation",
]

Rows = NDArray[np.int64]
Parts = tuple[Rows, Rows]
"""Rows of the training part, in training order, and of the test part."""


@dataclass(frozen=True, eq=False)
class Split:
    """Ratings divided into a training and a test part.

    Parameters
    ----------
    ratings : Ratings
        What was divided.
    train : ndarray of int64, shape (n_train,)
        Rows of the training part in the order in which a model sees them, which decides what
        stochastic gradient descent learns.
    test : ndarray of int64, shape (n_test,)
        Rows of the test part; none is in `train`, unless a config requests it.
    name : str
        The kind of split as tables name it; equal for all folds.
    fold : int
        Which of the folds this is, from 0.
    n_folds : int
        How many there are.
    fingerprint : str
        SHA-256, in hexadecimal, of the data's fingerprint and the rows in their order.
    notes : tuple of str
        What a reader of the numbers should know: test users and items without training ratings,
        ratings in neither part, a leak through time.
    """

    ratings: Ratings
    train: Rows
    test: Rows
    name: str
    fold: int
    n_folds: int
    fingerprint: str
    notes: tuple[str, ...] = ()


class SplitSection(Kind):
    """A way to divide ratings into a training and a test part."""

    from_files: ClassVar[bool] = False
    """Whether files decide the rows: the split is then known by its rows, not by its keys."""

    validation: SplitSection | None = None
    """A second split, of the training part, for tuning."""

    @model_validator(mode="after")
    def _validation_is_flat(self) -> Self:
        if self.validation is not None and self.validation.validation is not None:
            raise ValueError(
                "a validation part with a validation part of its own; remove the inner one"
            )
        return self

    @abstractmethod
    def divide(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Split]:
        """Divide ratings, or the training part in `rows`, which are in the order of the data.

        `seed` is the run's; `base` is where relative paths start.

        Raises
        ------
        SplitError
            If the ratings cannot be divided in this way.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return the short name that tables use."""

    @abstractmethod
    def sentence(self, part: str = "test part") -> str:
        """Return a sentence for the methods text; `part` names where models are scored."""

    def inner(self) -> SplitSection | None:
        """Return how a training part of this kind is divided if no config says so.

        None for a random split; a split in time is divided in time.
        """
        return None


class Drawn(NamedTuple):
    """The rows of each fold, and notes that they do not show, a sentence each."""

    folds: list[Parts]
    notes: tuple[str, ...] = ()


class DrawnSplit(SplitSection):
    """A split that is computed from the ratings and a seed."""

    @abstractmethod
    def draw(self, ratings: Ratings, state: int) -> Drawn:
        """Divide the rows of ratings, or raise SplitError.

        `state` is the section's `random_state` or, without one, a seed derived from the run's.
        """

    def divide(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Split]:
        state = getattr(self, "random_state", None)
        if state is None:
            state = seeds.derive(seed, "split", self.kind)
        if rows is None:
            return assemble(self.describe(), ratings, self.draw(ratings, state))
        folds, notes = self.draw(ratings.take(rows), state)
        drawn = Drawn([(rows[train], rows[test]) for train, test in folds], notes)
        return assemble(self.describe(), ratings, drawn, rows)


def make(
    section: SplitSection, ratings: Ratings, seed: int, base: Path | None = None
) -> list[Split]:
    """Split ratings by a section of a config.

    Parameters
    ----------
    section : SplitSection
        Kind and options; its `validation` is left to `validation`.
    ratings : Ratings
        What to divide.
    seed : int
        The run's seed, for a section without a `random_state` of its own.
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
    return section.divide(ratings, None, seed, base)


def validation(split: Split, section: SplitSection, seed: int, base: Path | None = None) -> Split:
    """Split the training part of a split again; its test part is never used.

    The rows are those of the whole data; the training part is taken in the order of the data.

    Raises
    ------
    SplitError
        If the section makes several folds, or the training part cannot be split in this way.

    Examples
    --------
    >>> from harness.splits.random import Holdout
    >>> r = Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    >>> outer = make(Holdout(test_size=1, shuffle=False), r, seed=0)[0]
    >>> inner = validation(outer, Holdout(test_size=1, shuffle=False), seed=0)
    >>> inner.train.tolist(), inner.test.tolist(), outer.test.tolist()
    ([0, 1], [2], [3])
    """
    rows = np.sort(split.train)
    made = section.divide(split.ratings, rows, seeds.derive(seed, "validation"), base)
    if len(made) > 1:
        raise SplitError(
            f"{section.describe()}: {len(made)} validation parts where one is needed; "
            "use a split with one, as holdout"
        )
    return made[0]


def assemble(name: str, ratings: Ratings, drawn: Drawn, rows: Rows | None = None) -> list[Split]:
    """Check the parts of every fold of `rows`, or of all ratings, then name and hash them."""
    n_divided, n_folds = len(ratings), len(drawn.folds)
    if rows is not None:
        name, n_divided = f"{name} of the training part", len(rows)
    for fold, (train, test) in enumerate(drawn.folds):
        where = name if n_folds == 1 else f"{name}, fold {fold + 1} of {n_folds}"
        for part, word in ((train, "training"), (test, "test")):
            if len(part) == 0:
                raise SplitError(
                    f"{where}: no {word} rating is left of {n_divided:,}; "
                    "change the sizes of the split or use more data"
                )
    return [
        Split(
            ratings,
            train,
            test,
            name,
            fold,
            n_folds,
            _fingerprint(ratings, train, test),
            (*drawn.notes, *_notes(ratings, train, test, n_divided)),
        )
        for fold, (train, test) in enumerate(drawn.folds)
    ]


def _fingerprint(ratings: Ratings, train: Rows, test: Rows) -> str:
    digest = hashlib.sha256(f"{ratings.fingerprint} {len(train)} {len(test)}\n".encode())
    for rows in (train, test):
        digest.update(np.ascontiguousarray(rows, dtype="<i8").data)
    return digest.hexdigest()


def _notes(ratings: Ratings, train: Rows, test: Rows, n_divided: int) -> Iterator[str]:
    """Yield notes on users and items without training ratings, on ratings left out, on leaks."""
    for noun, codes in (("test user", ratings.users), ("test item", ratings.items)):
        tested = np.flatnonzero(np.bincount(codes[test]))
        n_new = int(np.isin(tested, codes[train], invert=True).sum())
        if n_new:
            yield (
                f"{n_new:,} of {counted(len(tested), noun)} ({_percent(n_new / len(tested))}) "
                f"{'has' if n_new == 1 else 'have'} no training rating"
            )
    n_left = n_divided - int(np.count_nonzero(np.bincount(np.concatenate([train, test]))))
    if n_left:
        part = _percent(n_left / n_divided)
        yield f"{counted(n_left, 'rating')} ({part}) in neither part"
    if ratings.timestamps is not None:
        share = _later_share(ratings.timestamps, train, test)
        if share:
            yield (
                f"leaks the future: {_percent(share)} of the training ratings are later than the "
                "median test rating; `kind: global-time` does not"
            )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.0005 else "less than 0.1%"


def _later_share(timestamps: NDArray[np.int64], train: Rows, test: Rows) -> float:
    """Return the share of training ratings that are later than the median test rating.

    The lower median of two. About one half for a random split; 0 only if no training rating at all
    is later than the first test rating. Why it matters: Y. Ji, A. Sun, J. Zhang, C. Li, "A critical
    study on data leakage in recommender system offline evaluation", ACM TOIS 41(3), 2023,
    doi:10.1145/3569930.
    """
    before, after = timestamps[train], timestamps[test]
    if before.max() <= after.min():
        return 0.0
    middle = (len(after) - 1) // 2
    median = np.partition(after, middle)[middle]
    return max(float(np.count_nonzero(before > median)), 1.0) / len(before)


def rounded(size: float, n: int, *, up: bool) -> int:
    """Return a share of `n` as a count, and a count as it is.

    Examples
    --------
    >>> rounded(0.07, 100, up=True), rounded(0.071, 100, up=True), rounded(7, 100, up=True)
    (7, 8, 7)
    >>> rounded(0.29, 100, up=False), rounded(0.299, 100, up=False)
    (29, 29)
    """
    if isinstance(size, int):
        return size
    # 0.07 * 100 is 7.000000000000001: a share is taken as it is written.
    return math.ceil(size * n - 1e-6) if up else math.floor(size * n + 1e-6)


def natural(text: str) -> tuple[bool, Decimal, str]:
    """Return a key that sorts as people count: 2 before 10, numbers before words.

    Examples
    --------
    >>> sorted(["10", "b", "2"], key=natural)
    ['2', '10', 'b']
    """
    number = text.isdecimal()
    return not number, Decimal(text if number else 0), text


def seeded(state: int | None) -> str:
    """Return the part of a sentence that names a seed of a config."""
    return "" if state is None else f" (random_state {state})"
