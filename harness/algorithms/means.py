"""Means of items and of users as algorithms."""

from __future__ import annotations

import numpy as np

from harness.algorithms.base import MEAN
from harness.algorithms.baselines import OneSided, OneSidedEntry
from harness.algorithms.trainset import ColumnTrainset, Floats
from harness.quantities import log_range


class ItemMean(OneSided):
    """The mean rating of an item in training; impossible for an unknown one.

    So many ratings at the global mean as `damping` says are added to each item, so that an item
    with one high rating is not at the top; 0 for the plain mean.
    """

    def __init__(self, damping: float = 0.0) -> None:
        super().__init__()
        self.damping = damping

    def learn(self, columns: ColumnTrainset) -> tuple[Floats, float]:
        """Average the ratings of each item."""
        counts = np.diff(columns.by_item.offsets)
        sums = columns.by_item.means() * counts + self.damping * columns.global_mean
        return sums / (counts + self.damping), np.nan


class ItemMeanEntry(OneSidedEntry):
    """Item means for whole blocks."""

    model_class = ItemMean
    summary = "the item's mean rating in training"
    unknown_user = "its estimate for every user"
    is_personal = False
    style = ("grey", "o", "-.", True)
    space = {"damping": log_range(0.1, 100_000.0)}


class UserMean(OneSided):
    """The mean rating of a user in training; the mean of all ratings for an unknown one."""

    of_users = True

    def learn(self, columns: ColumnTrainset) -> tuple[Floats, float]:
        """Average the ratings of each user."""
        return columns.by_user.means(), float(columns.global_mean)


class UserMeanEntry(OneSidedEntry):
    """User means for whole blocks."""

    model_class = UserMean
    summary = "the user's mean rating in training, the mean of all ratings for an unknown user"
    unknown_user = MEAN
    style = ("grey", "^", "-.", True)
    items_alone = False
