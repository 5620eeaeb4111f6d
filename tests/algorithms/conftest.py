"""The same ratings as Surprise's training set and as the harness's."""

import numpy as np
import pandas as pd
import pytest

from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.models import estimates as models


def outcome(call):
    """Return what a call returns, or the type of what it raises."""
    try:
        return call()
    except Exception as error:
        return type(error)


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
        self.pairs = np.divmod(np.arange(self.n_users * self.n_items), self.n_items)

    def plain(self, factor=1.0):
        frame = pd.DataFrame([(f"u{user}", f"i{item}", r * factor) for user, item, r in self.rows])
        reader = surprise.Reader(rating_scale=tuple(bound * factor for bound in self.scale))
        return surprise.Dataset.load_from_df(frame, reader).build_full_trainset()

    def columns(self):
        ids = {"user_ids": self.user_ids, "item_ids": self.item_ids}
        return ColumnTrainset.from_columns(*zip(*self.rows, strict=True), **ids, scale=self.scale)

    def predictions(self, model, clip=True):
        """What `predict` gives for every pair; the type of the error where it raises."""
        return [
            outcome(lambda u=u, i=i: model.predict(f"u{u}", f"i{i}", clip=clip))
            for u, i in zip(*self.pairs, strict=True)
        ]

    def check(self, theirs, ours, rtol=1e-9, atol=0, accelerate=True):
        """Compare what one model predicts with pairs and rows of the other, clipped and not."""
        options = {"accelerate": accelerate}
        for clip in (True, False):
            expected = self.predictions(theirs, clip)
            refused = [each for each in expected if isinstance(each, type)]
            found = outcome(lambda c=clip: models.estimate(ours, *self.pairs, clip=c, **options))
            if refused:
                assert found in refused
                return
            estimates = np.array([each.est for each in expected])
            np.testing.assert_allclose(found[0], estimates, rtol, atol)
            assert found[1].tolist() == [each.details["was_impossible"] for each in expected]
            table = estimates.reshape(self.n_users, self.n_items)[:, ours.trainset.item_codes]
            for block in (None, 2):
                users = range(self.n_users)
                blocks = models.catalogue(ours, users, clip=clip, block=block, **options)
                rows = np.concatenate([part for _, _, part in blocks])
                np.testing.assert_allclose(rows, table, rtol, atol)


@pytest.fixture(scope="session")
def twins():
    return Twins
