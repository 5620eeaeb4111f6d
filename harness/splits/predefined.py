"""Predefined folds: from pairs of files, or from a column of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness import datasets
from harness.datasets import Ratings
from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import Kind
from harness.datasets.layout import RATINGS, TextFormat
from harness.datasets.reading import read_file
from harness.datasets.section import DatasetSection
from harness.errors import SplitError
from harness.splits.split import Drawn, Parts, Rows, Split, SplitSection, assemble, natural

__all__ = ["Predefined"]

Ids = NDArray[Any]


class Predefined(SplitSection):
    """Folds that were drawn elsewhere."""

    from_files = True
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

    def divide(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Split]:
        within = np.arange(len(ratings)) if rows is None else rows
        if self.file is not None:
            folds = self._from_column(self.file, ratings, within, base)
        else:
            names = self.folds or [""]
            folds = [self._from_files(str(name), ratings, within, base) for name in names]
        return assemble(self.describe(), ratings, Drawn(folds), rows)

    def _from_files(self, fold: str, ratings: Ratings, within: Rows, base: Path | None) -> Parts:
        """Return rows in the order of the files, as Surprise's ``PredefinedKFold`` does."""
        test_path = str(self.test).replace("{fold}", fold)
        test = _rows_of_file(test_path, ratings, within, base)
        if self.train is None:
            return within[~np.isin(within, test)], test
        path = self.train.replace("{fold}", fold)
        train = _rows_of_file(path, ratings, within, base)
        n_both = np.isin(train, test).sum()
        if n_both:
            raise SplitError(
                f"{path}: {n_both:,} of its ratings {'are' if n_both > 1 else 'is'} also in "
                f"{test_path}; a rating is for training or for test"
            )
        return train, test

    def _from_column(
        self, path: str, ratings: Ratings, within: Rows, base: Path | None
    ) -> list[Parts]:
        """Return a fold for each label, or a single one where the labels are train and test."""
        kinds: dict[str, Kind] = {"user": "id", "item": "id", "fold": "id"}
        usual = RATINGS.usual | {"fold": ()}
        roles = replace(RATINGS, kinds=kinds, usual=usual, optional=frozenset())
        known = TextFormat(header=True, columns={"fold": self.column}, roles=roles)
        table = read_file((base or Path()) / Path(path).expanduser(), known, path)
        refuse_faults(table)
        users, items, folds = (table.ids[role] for role in ("user", "item", "fold"))
        rows = _rows(ratings, users.ids[users.codes], items.ids[items.codes])
        _refuse_unknown(path, ratings, rows < 0, users.ids[users.codes], items.ids[items.codes])
        inside = np.isin(rows, within)
        rows, labels = rows[inside], folds.ids[folds.codes[inside]]
        present = set(labels)
        if set(folds.ids) <= {"train", "validation", "test"}:
            # Of three words, the outer split tests on one and the inner one on another.
            tested = [word for word in ("test", "validation") if word in present][:1]
        else:
            tested = sorted(present, key=natural)
        folds_of = [(rows[labels != word], rows[labels == word]) for word in tested]
        return folds_of or [(rows, rows[:0])]

    def describe(self) -> str:
        if self.file is not None:
            return f"predefined by column {self.column}"
        return "predefined" if self.folds is None else f"predefined {len(self.folds)}-fold"

    def sentence(self, part: str = "test part") -> str:
        if self.file is not None:
            return (
                f"Training and {part} were split in advance and are read from the column "
                f"{self.column} of {PureWindowsPath(self.file).name}."
            )
        rest = "all other ratings are training"
        if self.train is not None:
            rest = f"training is read from {PureWindowsPath(self.train).name}"
        folds = f", for the folds {', '.join(map(str, self.folds))}" if self.folds else ""
        return (
            f"Training and {part} were split in advance: the {part} is read from "
            f"{PureWindowsPath(self.test or '').name}, {rest}{folds}."
        )


def _rows_of_file(path: str, ratings: Ratings, within: Rows, base: Path | None) -> Rows:
    """Return the rows of the ratings that a file holds, in its order."""
    listed = datasets.load(DatasetSection(path=path, out_of_scale="keep"), base=base)
    users, items = listed.user_ids[listed.users], listed.item_ids[listed.items]
    rows = _rows(ratings, users, items)
    _refuse_unknown(path, ratings, ~np.isin(rows, within), users, items)
    other = np.flatnonzero(listed.ratings != ratings.ratings[rows])
    if len(other):
        row = other[0]
        raise SplitError(
            f"{path}: {_pair(users[row], items[row])} is rated {listed.ratings[row]:g}, in "
            f"{ratings.name} {ratings.ratings[rows[row]]:g}; give the folds of exactly these data"
        )
    return rows


def _rows(ratings: Ratings, users: Ids, items: Ids) -> Rows:
    """Return the row of each pair of ids, -1 where the data has no such rating."""
    import pandas as pd

    user = pd.Index(ratings.user_ids).get_indexer(pd.Index(users))
    item = pd.Index(ratings.item_ids).get_indexer(pd.Index(items))
    pairs = pd.Index(ratings.users.astype(np.int64) * ratings.n_items + ratings.items)
    rows = pairs.get_indexer(user * ratings.n_items + item)
    return np.where((user >= 0) & (item >= 0), rows, -1)


def _refuse_unknown(
    path: str,
    ratings: Ratings,
    unknown: NDArray[np.bool_],
    users: NDArray[Any],
    items: NDArray[Any],
) -> None:
    if unknown.any():
        row = int(np.argmax(unknown))
        raise SplitError(
            f"{path}: {unknown.sum():,} of {len(unknown):,} ratings are not in {ratings.name} as "
            f"it is divided (the first: {_pair(users[row], items[row])}); "
            "give the folds of exactly these data, without filters"
        )


def _pair(user: object, item: object) -> str:
    return f"user {str(user)!r}, item {str(item)!r}"
