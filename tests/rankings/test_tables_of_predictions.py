"""Predictions as tables of several libraries and as lists by user score as their rows do."""

import subprocess
import sys
from collections import namedtuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import surprise

import harness
from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics import Pairs

RNG = np.random.default_rng(3)
USERS = [f"user {n}" for n in RNG.integers(0, 9, 120)]
ESTIMATES, RATINGS = RNG.integers(2, 11, 120) / 2, RNG.integers(1, 6, 120).astype(float)
FRAME = pd.DataFrame(
    {"user": USERS, "item": np.arange(120), "estimate": ESTIMATES, "rating": RATINGS}
)
EXPECTED = harness.ndcg(list(zip(USERS, ESTIMATES, RATINGS, strict=True)), k=5)


class Interchange:
    """A table of a library that knows the interchange protocol alone."""

    def __dataframe__(self, **options):
        return pa.Table.from_pandas(FRAME).__dataframe__(**options)


class Stream:
    """A table of a library that knows Arrow's streams alone, as Polars and DuckDB do."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.Table.from_pandas(FRAME).__arrow_c_stream__(requested_schema)


class Lazy:
    """A lazy frame, as of Polars."""

    columns = ()
    lazy = collect = None


class Older:
    """A table of a library that knows pandas alone."""

    def to_pandas(self):
        return FRAME


def by_user():
    lists = {}
    for user, estimate, rating in zip(USERS, ESTIMATES, RATINGS, strict=True):
        lists.setdefault(user, []).append((estimate, rating))
    return lists


TABLES = {
    "pandas": FRAME,
    "of Surprise": FRAME.set_axis(["uid", "iid", "est", "r_ui"], axis=1),
    "another order": FRAME.sample(frac=1, random_state=0).sort_index()[[*FRAME][::-1]],
    "category": FRAME.astype({"user": "category"}),
    "Arrow types": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "Arrow": pa.Table.from_pandas(FRAME),
    "record batch": pa.RecordBatch.from_pandas(FRAME),
    "interchange": Interchange(),
    "stream": Stream(),
    "to_pandas": Older(),
    "columns": FRAME.to_dict("list"),
    "lists by user": by_user(),
    "triples by user": {
        user: [(f"item {n}", *pair) for n, pair in enumerate(pairs)]
        for user, pairs in by_user().items()
    },
    "predictions by user": {
        user: [surprise.Prediction(user, n, rating, estimate, {})
               for n, (estimate, rating) in enumerate(pairs)]
        for user, pairs in by_user().items()
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_tables_and_lists_score_as_their_rows(kind):
    assert harness.ndcg(TABLES[kind], k=5) == EXPECTED
    lists = rankings.from_predictions(TABLES[kind])
    assert sorted(lists.users.tolist()) == sorted(set(USERS))


def test_a_frame_of_surprises_predictions_is_read():
    data = harness.load("bundled").to_surprise().build_full_trainset()
    model = harness.fit(surprise.BaselineOnly(verbose=False), data)
    predictions = model.test(data.build_testset()[:500])
    assert harness.ndcg(pd.DataFrame(predictions)) == harness.ndcg(predictions)


Name = namedtuple("Name", "shop number")
IDS = {
    "tuples": [("a", 1), ("a", 2), ("b", 1)],
    "named tuples": [Name("a", 1), Name("a", 2), Name("b", 1)],
    "tuples of several lengths": [(1,), (1, 2), (2,)],
    "sets": [frozenset({1}), frozenset({2}), frozenset({1, 2})],
    "of several types": ["1", 2, (1,)],
    "bytes": [b"a", b"b", b"c"],
    "objects": [object(), object(), object()],
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_any_hashable_kind_name_users(kind):
    ids = IDS[kind]
    rows = [(ids[n % 3], float(n * 7 % 5), float(n * 3 % 4 + 1)) for n in range(15)]
    plain = [(n % 3, *rows[n][1:]) for n in range(15)]
    columns = pd.DataFrame({"user": pd.Series([row[0] for row in rows], dtype=object)})
    frame = columns.assign(estimate=[row[1] for row in rows], rating=[row[2] for row in rows])
    lists = {key: [row[1:] for row in rows if row[0] == key] for key in ids}
    expected = pytest.approx(harness.ndcg(plain), abs=1e-12)
    for predictions in (rows, frame, lists):
        assert harness.ndcg(predictions) == expected
    assert set(rankings.from_predictions(rows).users.tolist()) == set(ids)


def test_recommend_takes_tuples_as_ids():
    users, items = [("u", n) for n in range(6)], [("i", n) for n in range(9)]
    rows = [(u, i, float((u[1] * i[1]) % 5 + 1)) for u in users for i in items if (u[1] + i[1]) % 3]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    data = surprise.Dataset.load_from_df(frame, surprise.Reader()).build_full_trainset()
    model = harness.fit(surprise.BaselineOnly(verbose=False), data)
    lists = harness.recommend(model, n=2)
    assert set(lists["user"]) == set(users)
    assert set(lists["item"]) <= set(items)
    seen = set(zip(frame["user"], frame["item"], strict=True))
    assert not seen & set(zip(lists["user"], lists["item"], strict=True))
    new = harness.recommend(model, {("i", 1): 4.0}, n=1)
    assert new["item"].iloc[0] in items


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (FRAME.drop(columns="user"), "no column for the user .*frame.reset_index"),
        (FRAME.drop(columns="estimate"), "no column for the estimate"),
        (FRAME.set_index("user"), "no column for the user"),
        (pd.DataFrame([(1, 2.0, 3.0)]), "among 0, 1, 2"),
        (FRAME.iloc[:0], "there is no row"),
        (FRAME.assign(rating=np.nan), "is not finite"),
        (Lazy(), "a lazy frame; give frame.collect()"),
        (FRAME["rating"], "of type Series, which cannot be read|no column"),
        ({}, "empty; give at least one"),
        ({"ann": []}, r"predictions\['ann'\]: empty; leave this user out"),
        ({"ann": "ab"}, "give a list of"),
        ({"ann": 3.0}, "give a list of"),
        ({"ann": [(3.0, None)]}, r"predictions\['ann'\]\[0\]: there is no true rating"),
        ({"ann": [3.0]}, r"predictions\['ann'\]\[0\]: 3.0 is not a prediction"),
        ({"estimate": [1.0], "rating": [2.0, 3.0], "user": [1]}, "give three columns of one"),
        (3, "of type int; give a list"),
        (None, "of type NoneType; give a list"),
    ],
)
def test_what_cannot_be_read_is_said(predictions, message):
    with pytest.raises(MetricError, match=message):
        harness.ndcg(predictions)


def test_pairs_need_no_tables():
    code = (
        "import sys, harness; harness.ndcg([(4.5, 5), (3.5, 1)]); harness.ndcg(zip([1.0], [2.0]));"
        "assert 'harness.rankings.tables' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


PAIRS = [(4.5, 5), (2.0, 3), (4.8, 4)]
PREDICTIONS = [
    surprise.Prediction("ann", item, rating, est, {})
    for item, (est, rating) in zip("xyz", PAIRS, strict=True)
]
SWAPPED = [(rating, estimate) for estimate, rating in PAIRS]


@pytest.mark.parametrize(
    "predictions",
    [
        SWAPPED,
        {"ann": SWAPPED},
        [("ann", *row) for row in SWAPPED],
        {"ann": [(item, *row) for item, row in zip("xyz", SWAPPED, strict=True)]},
        {"ann": [(302, 4.51), (17, 4.2)]},  # item and estimate, as Surprise's get_top_n
        [(3.5, 4.51), (4, 3.13)],  # ratings of half stars
        {"ann": [("x", 4, 5), ("y", 2, 3)]},  # either may be the ratings
        {"ann": [("x", 4.12, 5.5), ("y", 2.25, 3.21)]},
    ],
)
def test_what_may_be_the_rating_before_the_estimate_is_asked_for(predictions):
    with pytest.raises(MetricError, match=r"read as .*estimate, rating.*give surprise.Prediction"):
        harness.ndcg(predictions)


@pytest.mark.parametrize(
    "predictions",
    [
        PAIRS,
        {"ann": PAIRS},
        [("ann", *row) for row in PAIRS],
        {"ann": [(item, *row) for item, row in zip("xyz", PAIRS, strict=True)]},
        PREDICTIONS,
        {"ann": PREDICTIONS},
    ],
)
def test_estimates_before_ratings_are_read(predictions):
    assert harness.ndcg(predictions) == pytest.approx(0.865682577672, abs=1e-12)


def test_ratings_that_say_nothing_warn_where_the_caller_stands():
    filled = [(4.5, 3.53), (2.0, 3.53)]
    columns = [0, 0], [4.5, 2.0], [3.53, 3.53]
    pairs = Pairs([0, 2], *columns[1:])
    rmse = metrics.parse("rmse")
    for call in (
        lambda: harness.ndcg(filled),
        lambda: rankings.from_predictions(filled),
        lambda: rankings.from_pairs(*columns),
        lambda: rmse.definition(pairs),
        lambda: metrics.score([rmse], pairs=pairs),
    ):
        with pytest.warns(UserWarning, match=r"all ratings are 3.53.* anti-test set") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_items_in_place_of_users_and_steep_gains_warn():
    with pytest.warns(UserWarning, match="each of the 3 users has one row"):
        harness.ndcg([(item, *row) for item, row in zip("xyz", PAIRS, strict=True)])
    with pytest.warns(UserWarning, match="doubles the gain, and ratings reach 90"):
        harness.ndcg([(4.5, 90), (3.5, 30)])
    assert harness.ndcg([(4.5, 90), (3.5, 30)], gain="linear") == 1.0
