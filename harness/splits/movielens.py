"""The folds that are published with MovieLens 100K."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.lazy import pd
from harness.sections import OneOrMore
from harness.splits.base import DrawnSplit, Notes, Parts

PublishedFold = Literal["u1", "u2", "u3", "u4", "u5", "ua", "ub"]


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
        if odd := next((label for label in ids if not str(label).isdecimal()), None):
            raise SplitError(
                f"{self.describe()}: the id {str(odd)!r} is no whole number, so the rows have not "
                "the order of the published files; use ml-100k"
            )
        users, items = (
            np.array([int(str(label)) for label in labels])[codes]
            for labels, codes in (
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
