"""The same ratings as Surprise's training set and as the harness's."""

import pandas as pd
import pytest

from harness.algorithms import surprise
from harness.algorithms.models import ColumnTrainset


class Twins:
    """One list of (user, item, rating), in Surprise's form and in columns.

    Codes run two beyond what is in the list, so that both sides have unknown users and items.
    """

    def __init__(self, rows, scale=(0.5, 5.0)):
        self.rows = rows
        self.scale = scale
        self.n_users = max(user for user, _, _ in rows) + 3
        self.n_items = max(item for _, item, _ in rows) + 3
        self.user_ids = [f"u{code}" for code in range(self.n_users)]
        self.item_ids = [f"i{code}" for code in range(self.n_items)]

    def plain(self, factor=1.0):
        frame = pd.DataFrame(
            [(f"u{user}", f"i{item}", rating * factor) for user, item, rating in self.rows]
        )
        scale = tuple(bound * factor for bound in self.scale)
        reader = surprise.Reader(rating_scale=scale)
        return surprise.Dataset.load_from_df(frame, reader).build_full_trainset()

    def columns(self):
        users, items, ratings = zip(*self.rows, strict=True)
        return ColumnTrainset.from_columns(
            users,
            items,
            ratings,
            user_ids=self.user_ids,
            item_ids=self.item_ids,
            scale=self.scale,
        )


@pytest.fixture(scope="session")
def twins():
    return Twins
