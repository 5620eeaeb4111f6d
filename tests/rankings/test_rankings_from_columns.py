"""Rankings from columns, matrices and predictions equal Python's own sort, whatever the ids."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surprise.prediction_algorithms.predictions import Prediction

from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics import Pairs
from harness.rankings.pairs import FEW

IDS = {
    "codes": lambda n: n,
    "far apart": lambda n: n * 10**12 - 5,
    "text": lambda n: f"user {n}",
    "floats": lambda n: n + 0.5,
}


def by_user(users, estimates, ratings):
    """Sort each user's rows by falling estimate with a stable sort."""
    found = {}
    for user in sorted(set(users)):
        rows = [(e, r) for u, e, r in zip(users, estimates, ratings, strict=True) if u == user]
        found[user] = sorted(rows, key=lambda row: -row[0])
    return found


def assert_ranked(lists, expected):
    assert lists.users.tolist() == list(expected)
    for position, rows in enumerate(expected.values()):
        span = slice(lists.offsets[position], lists.offsets[position + 1])
        estimates = [estimate for estimate, _ in rows]
        assert lists.relevance[span].tolist() == [rating for _, rating in rows]
        assert lists.rank[span].tolist() == list(range(1, len(rows) + 1))
        assert lists.tie_low[span].tolist() == [estimates.index(e) + 1 for e in estimates]
        last = {estimate: rank for rank, estimate in enumerate(estimates, start=1)}
        assert lists.tie_high[span].tolist() == [last[e] for e in estimates]
        pool = slice(lists.pool_offsets[position], lists.pool_offsets[position + 1])
        assert lists.pool[pool].tolist() == sorted((r for _, r in rows), reverse=True)
        assert lists.n_ranked[position] == len(rows)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), kind=st.sampled_from(sorted(IDS)))
def test_columns_in_no_order_are_grouped_and_sorted(data, kind):
    n = data.draw(st.integers(1, 120))
    users = [IDS[kind](u) for u in data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))]
    values = st.sampled_from([-1.5, 0.0, 0.1, 2.0, 2.5, 3.0])
    estimates = data.draw(st.lists(values, min_size=n, max_size=n))
    ratings = data.draw(st.lists(values, min_size=n, max_size=n))
    assert_ranked(
        rankings.from_pairs(users, estimates, ratings), by_user(users, estimates, ratings)
    )


@pytest.mark.parametrize("threads", ["1", "3"])
def test_many_rows_are_grouped_alike_on_any_number_of_threads(monkeypatch, threads):
    monkeypatch.setenv("HARNESS_THREADS", threads)
    rng = np.random.default_rng(0)
    n = 400_000
    users = (900 * rng.random(n) ** 3).astype(int)  # from 150 rows to 41,000
    estimates, ratings = rng.integers(0, 200, n) / 10, rng.integers(1, 11, n) / 2
    lists = rankings.from_pairs(users, estimates, ratings)
    order = np.lexsort((-estimates, users))
    np.testing.assert_array_equal(lists.relevance, ratings[order])
    np.testing.assert_array_equal(lists.pool, ratings[np.lexsort((-ratings, users))])
    np.testing.assert_array_equal(np.diff(lists.offsets), np.bincount(users))


@pytest.mark.parametrize("n", [1, 2, FEW - 1, FEW, FEW + 1, 3 * FEW])
@pytest.mark.parametrize("n_levels", [1, 7, 10**9])
def test_short_and_long_lists_are_ordered_alike(n, n_levels):
    rng = np.random.default_rng(n)
    estimates = (rng.integers(0, n_levels, n) / 4).tolist()
    ratings = rng.integers(1, 99, n).astype(float).tolist()
    users = [0] * n
    assert_ranked(
        rankings.from_pairs(users, estimates, ratings), by_user(users, estimates, ratings)
    )


def test_grouping_keeps_the_columns_of_the_caller():
    pairs = Pairs([0, 3], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0])
    rankings.from_grouped(pairs)
    assert pairs.estimates.tolist() == [1.0, 3.0, 2.0]
    assert pairs.ratings.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("column", [1, 2])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_cannot_be_ranked_names_its_user(column, value):
    columns = [["b", "a", "b"], [1.0, 2.0, 3.0], [4.0, 5.0, 3.0]]
    columns[column][2] = value
    name = ("estimate", "rating")[column - 1]
    with pytest.raises(MetricError, match=f"user b: {name} {value} is not finite; 1 such in all"):
        rankings.from_pairs(*columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([1, 2], [1.0], [1.0]), r"shapes \(2,\), \(1,\), \(1,\); give three columns"),
        (([], [], []), "there is no row; give at least one"),
        (([1], ["high"], [1.0]), "estimates: could not convert string to float: .*numbers only"),
        (([1], [1.0], [None, 1]), "shapes|ratings: "),
        (([[1]], [[1.0]], [[1.0]]), "give three columns of one length"),
        ((["a", None], [1.0, 2.0], [1.0, 2.0]), "row 2: an id is missing; drop or name it"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(MetricError, match=message):
        rankings.from_pairs(*columns)


def test_a_frame_s_columns_may_be_series():
    frame = pd.DataFrame({"user": ["x", "y", "x"], "est": [1, 2, 3], "true": [5, 4, 3]})
    lists = rankings.from_pairs(frame["user"], frame["est"], frame["true"])
    assert lists.relevance.tolist() == [3.0, 5.0, 4.0]


def test_predictions_of_surprise_tuples_and_pairs_are_alike():
    rows = [("u", 3.0, 4.0), ("v", 2.0, 5.0), ("u", 4.5, 2.0)]
    surprise = [Prediction(u, i, r, e, {}) for i, (u, e, r) in enumerate(rows)]
    for made in (rankings.from_predictions(rows), rankings.from_predictions(surprise)):
        assert_ranked(made, by_user(*zip(*rows, strict=True)))
    one = rankings.from_predictions((e, r) for _, e, r in rows)
    assert one.relevance.tolist() == [2.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([], "predictions: empty"),
        ([Prediction("u", "i", None, 3.0, {})], r"predictions\[0\]: there is no true rating"),
        ([(1.0, 2.0), "ab"], r"predictions\[1\]: 'ab' is no prediction; give surprise.Prediction"),
        ([(1.0,)], r"predictions\[0\]: \(1.0,\) is no prediction"),
        ([((1,), 2.0, 3.0), (1, 2.0, 3.0)], "ids of several types cannot be put in order"),
    ],
)
def test_predictions_that_are_none_are_refused(predictions, message):
    with pytest.raises(MetricError, match=message):
        rankings.from_predictions(predictions)


def test_ndcg_of_predictions_takes_the_parameters_of_a_label():
    predictions = [("u", 3.0, 4.0), ("u", 3.0, 1.0), ("v", 2.0, 5.0)]
    assert rankings.ndcg(predictions, k=1, ties="best") == 1.0
    assert rankings.ndcg(predictions, k=1, ties="worst", gain="linear") == (0.25 + 1) / 2
    assert rankings.ndcg(predictions, k=None, gain="binary(4)", ties="first") == 1.0
    assert rankings.ndcg(predictions, k=1, base=Decimal(10)) == rankings.ndcg(predictions, k=1)
    with pytest.raises(MetricError, match=r"ndcg\(tie=first\)@10: ndcg has no parameter 'tie'"):
        rankings.ndcg(predictions, tie="first")


def test_a_matrix_ranks_the_columns_of_each_row():
    relevance, scores = [[1, 2, 3], [3, 0, 0]], [[0.3, 0.1, 0.2], [0.0, 0.5, 0.5]]
    lists = rankings.from_matrix(relevance, scores)
    assert lists.relevance.tolist() == [1.0, 3.0, 2.0, 0.0, 0.0, 3.0]
    assert lists.tie_high.tolist() == [1, 2, 3, 2, 2, 3]


@pytest.mark.parametrize(
    ("relevance", "scores"), [([[1.0]], [[1.0, 2.0]]), ([1.0], [1.0]), ([[]], [[]])]
)
def test_matrices_that_do_not_fit_are_refused(relevance, scores):
    with pytest.raises(MetricError, match="give two matrices of users and items"):
        rankings.from_matrix(relevance, scores)


def test_rankings_refuse_arrays_that_contradict_each_other():
    with pytest.raises(MetricError, match="rank has length 1, not 2; all arrays must"):
        metrics.Rankings([0, 2], [1.0, 2.0], [1], [1, 2], [1, 2], [2])
    with pytest.raises(MetricError, match="offsets do not divide 2 entries among 1 users"):
        metrics.Rankings([0, 3], [1.0, 2.0], [1, 2], [1, 2], [1, 2], [2])
    with pytest.raises(MetricError, match="pool_offsets do not divide 1 entries"):
        metrics.Rankings([0, 1], [1.0], [1], [1], [1], [2], [0, 2], [1.0])


def test_parts_joined_score_as_the_whole():
    columns = [1, 1, 2, 2, 3], [1.0, 2.0, 3.0, 3.0, 1.0], [3.0, 4.0, 1.0, 2.0, 5.0]
    whole = rankings.from_pairs(*columns)
    parts = [
        rankings.from_pairs(*([column[i] for i in rows] for column in columns))
        for rows in ([0, 1], [2, 3, 4])
    ]
    joined = metrics.Rankings.concatenate(parts)
    for name in ("offsets", "relevance", "rank", "tie_low", "tie_high", "pool", "users"):
        assert getattr(joined, name).tolist() == getattr(whole, name).tolist()
    with pytest.raises(MetricError, match="nothing to join"):
        metrics.Rankings.concatenate([])
