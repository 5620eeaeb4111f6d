"""Predefined folds: from pairs of files, or from a column of a file."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness import datasets
from harness.config.data import DatasetSection
from harness.config.splitting import Predefined
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits.fold_column import FoldColumn, read_fold_column
from harness.splits.split import Drawn, Parts, Rows

__all__ = ["predefined"]


def predefined(
    section: Predefined, ratings: Ratings, within: Rows, base: Path | None = None
) -> Drawn:
    """Find the rows that files put into the training and the test part.

    Parameters
    ----------
    section : Predefined
        Which files. Rows keep the order of the files, which is that of
        ``surprise.model_selection.PredefinedKFold``.
    ratings : Ratings
        What the files divide; matched by the ids of user and item.
    within : ndarray of int64
        Rows that may be divided, in the order of the data: all of them, or a training part.
    base : Path, optional
        Where relative paths start; the working directory when left out.

    Raises
    ------
    SplitError
        If a file holds a rating that is not in the data, gives another rating than the data, or if
        training and test overlap.
    DataError
        If a file cannot be read as ratings.
    """
    finder = _Finder(ratings, within)
    if section.file is not None:
        return _from_column(section, finder, base)
    names = [None] if section.folds is None else section.folds
    return Drawn([_from_files(section, fold, finder, base) for fold in names])


def _from_files(
    section: Predefined, fold: int | str | None, finder: _Finder, base: Path | None
) -> Parts:
    def path_of(pattern: str) -> str:
        return pattern.replace("{fold}", str(fold))

    test_path = path_of(str(section.test))  # a section without a column has one
    test = finder.rows_of_file(test_path, base)
    taken = np.zeros(len(finder.ratings), bool)
    taken[test] = True
    if section.train is None:
        return finder.within[~taken[finder.within]], test
    train = finder.rows_of_file(path_of(section.train), base)
    n_both = np.count_nonzero(taken[train])
    if n_both:
        raise SplitError(
            f"{path_of(section.train)}: {n_both:,} of its ratings "
            f"{'are' if n_both > 1 else 'is'} also in {test_path}; "
            "a rating is for training or for test"
        )
    return train, test


def _from_column(section: Predefined, finder: _Finder, base: Path | None) -> Drawn:
    """Return a fold for each label, or a single one where the labels are train and test."""
    path = str(section.file)
    listed = read_fold_column((base or Path()) / Path(path).expanduser(), section.column, path)
    rows = finder.find(listed.user_ids, listed.users, listed.item_ids, listed.items)
    finder.refuse_unknown(rows, path, listed)
    inside = np.zeros(len(finder.ratings), bool)
    inside[finder.within] = True
    known = inside[rows]
    rows, folds = rows[known], listed.folds[known]
    words = {"train", "validation", "test"}
    if set(listed.labels) <= words:
        # Of three words, the outer split tests on one and the inner one on another.
        asked = [word for word in ("test", "validation") if _has(listed, folds, word)][:1]
    else:
        asked = [word for word in _in_order(listed.labels) if _has(listed, folds, word)]
    return Drawn(
        [
            (rows[folds != listed.labels.index(word)], rows[folds == listed.labels.index(word)])
            for word in asked
        ]
        or [(rows, rows[:0])]
    )


def _has(listed: FoldColumn, folds: NDArray[np.int64], word: str) -> bool:
    return word in listed.labels and bool((folds == listed.labels.index(word)).any())


def _in_order(labels: Sequence[str]) -> list[str]:
    """Return labels in natural order: 2 before 10, numbers before words."""
    numbers = sorted((label for label in labels if label.isdecimal()), key=Decimal)
    return numbers + sorted(label for label in labels if not label.isdecimal())


class _Finder:
    """Rows of ratings by the raw ids of user and item."""

    def __init__(self, ratings: Ratings, within: Rows) -> None:
        self.ratings, self.within = ratings, within
        pairs = ratings.users.astype(np.int64) * ratings.n_items + ratings.items
        self.order = np.argsort(pairs)
        self.pairs = pairs[self.order]
        self.user_codes = {each: code for code, each in enumerate(ratings.user_ids)}
        self.item_codes = {each: code for code, each in enumerate(ratings.item_ids)}

    def find(
        self, user_ids: ArrayLike, users: NDArray[Any], item_ids: ArrayLike, items: NDArray[Any]
    ) -> Rows:
        """Return the row of each pair, -1 where the data has no such rating."""
        user = np.array([self.user_codes.get(each, -1) for each in np.asarray(user_ids)])
        item = np.array([self.item_codes.get(each, -1) for each in np.asarray(item_ids)])
        asked = user[users] * self.ratings.n_items + item[items]
        place = np.minimum(np.searchsorted(self.pairs, asked), len(self.pairs) - 1)
        found = (self.pairs[place] == asked) & (user[users] >= 0) & (item[items] >= 0)
        return np.where(found, self.order[place], -1)

    def refuse_unknown(self, rows: Rows, path: str, listed: Any) -> None:
        """Raise if a row of a file is not in the data."""
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            raise SplitError(
                f"{path}: {len(unknown):,} of {len(rows):,} ratings are not in "
                f"{self.ratings.name} as it is divided (the first: {_pair(listed, unknown[0])}); "
                "give the folds of exactly these data, without filters"
            )

    def rows_of_file(self, path: str, base: Path | None) -> Rows:
        """Return the rows of the ratings that a file holds, in its order."""
        listed = datasets.load(DatasetSection(path=path, out_of_scale="keep"), base=base)
        rows = self.find(listed.user_ids, listed.users, listed.item_ids, listed.items)
        inside = np.zeros(len(self.ratings) + 1, bool)
        inside[self.within] = True
        self.refuse_unknown(np.where(inside[rows], rows, -1), path, listed)
        other = np.flatnonzero(listed.ratings != self.ratings.ratings[rows])
        if len(other):
            raise SplitError(
                f"{path}: {_pair(listed, other[0])} is rated {listed.ratings[other[0]]:g}, in "
                f"{self.ratings.name} {self.ratings.ratings[rows[other[0]]]:g}; "
                "give the folds of exactly these data"
            )
        return rows


def _pair(listed: Any, row: int) -> str:
    user, item = listed.user_ids[listed.users[row]], listed.item_ids[listed.items[row]]
    return f"user {str(user)!r}, item {str(item)!r}"
