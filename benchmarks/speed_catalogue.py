"""Scoring every training item for every test user of MovieLens 100K, 75% in training.

Surprise's ``predict`` for each pair against blocks of estimates; all of them are compared.
"""

from __future__ import annotations

import sys

import numpy as np
from speed_sides import Row, Table, arguments, columns, movielens, plain, seconds, three_quarters

from harness.algorithms import models, surprise

SEEDED = {"random_state": 0}
QUIET = {"verbose": False}
WORK = [
    ("SVD", surprise.SVD, SEEDED, 100),
    ("SVD++", surprise.SVDpp, SEEDED, 100),
    ("NMF", surprise.NMF, SEEDED, 100),
    ("BaselineOnly", surprise.BaselineOnly, QUIET, 100),
    ("SlopeOne", surprise.SlopeOne, {}, 100),
    ("CoClustering", surprise.CoClustering, SEEDED, 100),
    ("KNNBasic", surprise.KNNBasic, QUIET, 60),
    ("KNNWithMeans", surprise.KNNWithMeans, QUIET, 60),
    ("KNNWithZScore", surprise.KNNWithZScore, QUIET, 60),
    ("KNNBaseline", surprise.KNNBaseline, QUIET, 60),
]


def main() -> int:
    told = arguments(__doc__, repeats=5)
    ratings = movielens(told.copy)
    train, test = three_quarters(len(ratings.users))
    theirs, ours = plain(ratings, train), columns(ratings, train)
    users = np.unique(ratings.users[test])
    user_names, item_names = ours.raw_users(users), ours.raw_items(ours.item_codes)
    table = Table((__doc__ or "").splitlines()[0])
    for work, kind, params, bar in WORK:
        model, accelerated = kind(**params), kind(**params)
        # What is timed is scoring: SVD++ need not be fitted for 8 seconds for that.
        if kind is surprise.SVDpp:
            models.fit(model, theirs)
            model.trainset = theirs
        else:
            model.fit(theirs)
        models.fit(accelerated, ours)
        expected = np.empty((len(users), len(item_names)))
        found = np.empty_like(expected)

        def predict(model=model, expected=expected) -> None:
            for place, user in enumerate(user_names):
                expected[place] = [model.predict(user, item).est for item in item_names]

        def score(model=accelerated, found=found) -> None:
            for start, stop, estimates in models.catalogue(model, users):
                found[start:stop] = estimates

        score()  # compile, or load what was compiled
        slow = seconds(predict)
        fast = seconds(score, told.repeats)
        largest = np.abs(expected - found).max()
        assert largest < 1e-9, f"{work}: estimates differ by {largest}"
        table.add(Row(work, slow, fast, bar, f"largest difference {largest:.0e}"))
    return table.finish(told.output)


if __name__ == "__main__":
    sys.exit(main())
