"""Fitting on 75% of MovieLens 100K: Surprise's own ``fit`` against the accelerated one."""

from __future__ import annotations

import sys

from speed_sides import Row, Table, arguments, columns, movielens, plain, seconds, three_quarters

from harness.algorithms import models, surprise

WORK = [
    ("SVD", surprise.SVD, {"random_state": 0}, 5),
    ("NMF", surprise.NMF, {"random_state": 0}, 5),
    ("SVD++", surprise.SVDpp, {"random_state": 0}, 100),
    ("SlopeOne", surprise.SlopeOne, {}, 10),
    ("CoClustering", surprise.CoClustering, {"random_state": 0}, 10),
    ("BaselineOnly", surprise.BaselineOnly, {"verbose": False}, None),
]
for measure in ("msd", "cosine", "pearson", "pearson_baseline"):
    for user_based in (True, False):
        options = {"name": measure, "user_based": user_based}
        WORK.append(
            (
                f"{measure}, {'users' if user_based else 'items'}",
                surprise.KNNBasic,
                {"sim_options": options, "verbose": False},
                5,
            )
        )


def main() -> int:
    told = arguments(__doc__, repeats=10)
    ratings = movielens(told.copy)
    train, _ = three_quarters(len(ratings.users))
    theirs, ours = plain(ratings, train), columns(ratings, train)
    table = Table(__doc__ or "")
    for work, kind, params, bar in WORK:
        models.fit(kind(**params), ours)  # compile, or load what was compiled
        slow = kind is surprise.SVDpp
        table.add(
            Row(
                work,
                seconds(lambda k=kind, p=params: k(**p).fit(theirs), 1 if slow else 3),
                seconds(lambda k=kind, p=params: models.fit(k(**p), ours), told.repeats),
                bar,
            )
        )
    return table.finish(told.output)


if __name__ == "__main__":
    sys.exit(main())
