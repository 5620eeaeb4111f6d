"""Rankings of pairs, matrices and catalogues equal Python's own sort, whatever the ids."""

import math
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surprise.prediction_algorithms.predictions import Prediction

from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics import Pairs
from harness.rankings import grouped
from harness.rankings.grouped import FEW
from harness.rankings.ties import order_keys, tie_keys

IDS = {
    "codes": lambda n: n,
    "far apart": lambda n: n * 10**12 - 5,
    "text": lambda n: f"user {n}",
    "floats": lambda n: n + 0.5,
}


def assert_user(lists, position, candidates, pool):
    """Compare one user's list with a stable sort of (estimate, relevance or None if unjudged)."""
    span = slice(lists.offsets[position], lists.offsets[position + 1])
    ordered = sorted(candidates, key=lambda each: -each[0])
    estimates = [estimate for estimate, _ in ordered]
    last = {estimate: rank for rank, estimate in enumerate(estimates, start=1)}
    judged = [rank for rank, (_, relevance) in enumerate(ordered) if relevance is not None]
    assert lists.relevance[span].tolist() == [ordered[rank][1] for rank in judged]
    assert lists.rank[span].tolist() == [rank + 1 for rank in judged]
    assert lists.tie_low[span].tolist() == [estimates.index(estimates[r]) + 1 for r in judged]
    assert lists.tie_high[span].tolist() == [last[estimates[rank]] for rank in judged]
    of_user = slice(lists.pool_offsets[position], lists.pool_offsets[position + 1])
    assert lists.pool[of_user].tolist() == sorted(pool, reverse=True)
    assert lists.n_ranked[position] == len(ordered)


def assert_ranked(lists, users, estimates, ratings):
    assert lists.users.tolist() == sorted(set(users))
    for position, user in enumerate(sorted(set(users))):
        rows = [(e, r) for u, e, r in zip(users, estimates, ratings, strict=True) if u == user]
        assert_user(lists, position, rows, [rating for _, rating in rows])


@settings(max_examples=min(200, 4 * settings().max_examples), deadline=None)  # all in a search
@given(data=st.data(), kind=st.sampled_from(sorted(IDS)))
def test_columns_in_no_order_are_grouped_and_sorted(data, kind):
    n = data.draw(st.integers(1, 120))
    users = [IDS[kind](u) for u in data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))]
    values = st.lists(st.sampled_from([-1.5, 0.0, 0.1, 2.0, 2.5, 3.0]), min_size=n, max_size=n)
    columns = users, data.draw(values), data.draw(values)
    assert_ranked(rankings.from_pairs(*columns), *columns)


def test_many_rows_are_grouped_on_several_threads(monkeypatch):
    monkeypatch.setenv("HARNESS_THREADS", "3")
    monkeypatch.setattr(grouped, "SMALLEST_BLOCK", 100)
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
    columns = [0] * n, estimates, rng.integers(1, 99, n).astype(float).tolist()
    assert_ranked(rankings.from_pairs(*columns), *columns)


def test_grouping_keeps_the_columns_of_the_caller():
    given = Pairs([0, 3], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0])
    rankings.from_grouped(given)
    assert (given.estimates.tolist(), given.ratings.tolist()) == ([1.0, 3.0, 2.0], [1.0, 2.0, 3.0])


def test_predictions_of_surprise_tuples_and_pairs_are_alike():
    rows = [("u", 3.0, 4.0), ("v", 2.0, 5.0), ("u", 4.5, 2.0)]
    surprise = [Prediction(u, i, r, e, {}) for i, (u, e, r) in enumerate(rows)]
    for made in (rankings.from_predictions(rows), rankings.from_predictions(surprise)):
        assert_ranked(made, *zip(*rows, strict=True))
    one = rankings.from_predictions((e, r) for _, e, r in rows)
    assert one.relevance.tolist() == [2.0, 4.0, 5.0]


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


@st.composite
def blocks(draw):
    """Draw estimates of few levels, and per user the judged, unknown and excluded columns."""
    n_users, n_items = draw(st.integers(1, 3)), draw(st.integers(1, 25))
    n_levels = draw(st.sampled_from([1, 3, 1000]))
    cells = st.lists(
        st.integers(0, n_levels).map(float), min_size=n_users * n_items, max_size=n_users * n_items
    )
    estimates = np.array(draw(cells)).reshape(n_users, n_items)
    column = st.integers(0, n_items - 1)
    judged = [draw(st.lists(column, unique=True, max_size=12)) for _ in range(n_users)]
    items = [each + [-1] * draw(st.integers(0, 2)) for each in judged]
    excluded = [draw(st.lists(column, unique=True, max_size=6)) for _ in range(n_users)]
    return estimates, items, excluded


@settings(max_examples=min(400, 4 * settings().max_examples), deadline=None)  # all in a search
@given(block=blocks(), depth=st.integers(0, 30))
def test_a_block_equals_a_full_sort(block, depth):
    estimates, items, excluded = block
    flat, out = [item for each in items for item in each], [i for each in excluded for i in each]
    grades = (np.arange(len(flat)) * 7 % 5).astype(float)
    offsets = np.cumsum([0, *map(len, items)])
    given_block = estimates, offsets, flat, grades, np.cumsum([0, *map(len, excluded)]), out
    lists = rankings.rank_block(*given_block, depth=depth)
    for user, row in enumerate(estimates.tolist()):
        of_user = grades[offsets[user] : offsets[user + 1]].tolist()
        relevance = dict(zip(items[user], of_user, strict=True))
        columns = [column for column in range(len(row)) if column not in excluded[user]]
        assert_user(lists, user, [(row[c], relevance.get(c)) for c in columns], of_user)
        if depth:
            order = sorted(columns, key=lambda column: -row[column])[:depth]
            assert lists.top_items[user].tolist() == order + [-1] * (depth - len(order))
    assert depth or lists.top_items is None


def test_items_of_equal_estimate_are_shown_in_the_order_of_their_keys():
    rng = np.random.default_rng(0)
    estimates = rng.integers(0, 3, (20, 30)).astype(float)
    users, items = tie_keys(range(20)), tie_keys([f"item {i}" for i in range(30)])
    columns = rng.permuted(np.tile(np.arange(30), (20, 1)), axis=1)[:, :2].ravel()
    judged = np.arange(21) * 2, columns, np.ones(40)
    lists = rankings.rank_block(estimates, *judged, depth=7, tie_keys=(users, items))
    keys = order_keys(users[:, None], items[None, :])
    assert lists.top_items.tolist() == np.lexsort((keys, -estimates), axis=1)[:, :7].tolist()
    plain = rankings.rank_block(estimates, *judged, depth=7)
    np.testing.assert_array_equal(lists.rank, plain.rank)
    order = rng.permutation(30)  # the columns in another order show the same items
    places = judged[0], np.argsort(order)[columns], judged[2]
    keys_moved = users, items[order]
    moved = rankings.rank_block(estimates[:, order], *places, depth=7, tie_keys=keys_moved)
    assert order[moved.top_items].tolist() == lists.top_items.tolist()


def test_no_item_is_shown_first_to_all():
    users, items = tie_keys(range(3000)), tie_keys(range(100))
    first = np.argmin(order_keys(users[:, None], items[None, :]), axis=1)
    counts = np.bincount(first, minlength=100)
    assert 10 <= counts.min() <= counts.max() <= 60


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_estimate_that_cannot_be_ranked_is_named(value):
    estimates = np.array([[1.0, 2.0], [3.0, value]])
    with pytest.raises(MetricError, match=f"row 1, column 1: estimate {value} is not finite"):
        rankings.rank_block(estimates, [0, 1, 2], [0, 0], [4.0, 3.0])
    excused = rankings.rank_block(estimates, [0, 1, 2], [0, 0], [4.0, 3.0], [0, 0, 1], [1])
    assert excused.n_ranked.tolist() == [2, 1]


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
REFUSED = {
    rankings.from_pairs: [
        (["b", "a"], [math.nan, 2], [4, 5], "user b: estimate nan is not finite; 1 such in all"),
        (["b", "a"], [1, 2], [-math.inf, 5], "user b: rating -inf is not finite; 1 such in all"),
        ([1, 2], [1.0], [1.0], r"shapes \(2,\), \(1,\), \(1,\); give three columns"),
        ([], [], [], "there is no row; give at least one"),
        ([1], ["high"], [1.0], "estimates: could not convert string to float: .*numbers only"),
        ([1], [1.0], [None, 1], "shapes|ratings: "),
        ([[1]], [[1.0]], [[1.0]], "give three columns of one length"),
        (["a", None], [1.0, 2.0], [1.0, 2.0], "row 2: an id is missing; drop or name it"),
        (MASKED, [1, 2], [4, 5], "users: some values are masked; drop these rows or give them a v"),
        ([1, 2], MASKED, [4, 5], "estimates: some values are masked"),
        ([1, 2], [4, 5], MASKED, "ratings: some values are masked"),
    ],
    rankings.from_predictions: [
        ([], "predictions: empty"),
        ([Prediction("u", "i", None, 3.0, {})], r"predictions\[0\]: there is no true rating"),
        (
            [(1.0, 2.0), "ab"],
            r"predictions\[1\]: 'ab' is not a prediction; give surprise.Prediction",
        ),
        ([(1.0,)], r"predictions\[0\]: \(1.0,\) is not a prediction"),
        (3, "predictions: of type int; give a list"),
        (
            pd.DataFrame({"estimate": [1.0], "rating": [2.0]}).itertuples(),
            r"predictions\[0\]: a row of a DataFrame with its index; give .*\(index=False\), after",
        ),
        ([(10**400, 1.0)], "estimates: int too large to convert to float; give numbers only"),
    ],
    rankings.from_matrix: [
        ([[1.0]], [[1.0, 2.0]], "give two matrices of users and items"),
        ([1.0], [1.0], "give two matrices of users and items"),
        ([[]], [[]], "give two matrices of users and items"),
        ([[1.0, 2.0]], MASKED[None], "scores: some values are masked"),
    ],
    metrics.Rankings: [
        ([0, 2], [1, 2], [1], [1, 2], [1, 2], [2], "rank has length 1, not 2; all arrays must"),
        ([0, 3], [1, 2], [1, 2], [1, 2], [1, 2], [2], "offsets do not divide 2 entries among 1 us"),
        ([0, 1], [1], [1], [1], [1], [2], [0, 2], [1], "pool_offsets do not divide 1 entries"),
    ],
    rankings.rank_block: [
        ([[1.0, 2.0]], [0, 2], [0, 1], MASKED, "judged_ratings: some values are masked"),
        ([[1.0, 2.0]], [0, 2], MASKED, [1.0, 2.0], "judged_items: some values are masked"),
    ],
    metrics.Rankings.concatenate: [([], "nothing to join")],
    Pairs: [
        ([0, 2], MASKED, [4.0, 5.0], "estimates: some values are masked"),
        ([], [], [], "0 estimates, 0 ratings and no offsets; .* rise from 0 to 0"),
    ],
    partial(rankings.rank_block, np.array([[1.0, 2.0]])): [
        ([0, 1], [2], [3.0], "judged_items: columns from 2 to 2; use columns from 0 to 1"),
        ([0, 1], [-2], [3.0], "judged_items: columns from -2 to -2"),
        ([0, 2], [1], [3.0], "judged_offsets: they do not divide 1 item among 1 user;"),
        ([0, 1], [1], [3.0, 4.0], "judged_ratings: 2 values.*give one finite rating"),
        ([0, 1], [1], [np.nan], "judged_ratings: 1 value, some perhaps not finite"),
        ([0, 1], [1], [3.0], [0, 1], [9], "excluded_items: columns from 9 to 9"),
        ([0, 1], [1], [3.0], [1, 1], [0], "excluded_offsets: they do not divide 1 item among"),
        ([0, 2], [1, 1], [4.0, 3.0], "row 0, column 1: judged twice; keep one rating"),
    ],
}


@pytest.mark.parametrize(
    ("make", "given"), [(make, each) for make, cases in REFUSED.items() for each in cases]
)
def test_what_cannot_be_ranked_is_refused(make, given):
    with pytest.raises(MetricError, match=given[-1]):
        make(*given[:-1])


NO_NUMBERS = {
    "complex": np.array([1 + 2j, 3.0]),
    "complex objects": np.array([1 + 2j, 3.0], object),
    "dates": np.array(["2020-01-01", "2020-01-02"], "datetime64[s]"),
    "Python's dates": pd.to_datetime(["2020-01-01", "2020-01-02"]).to_pydatetime(),
    "time differences": np.array([1, 2], "timedelta64[s]"),
    "a Series of dates": pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])),
    "records": np.zeros(2, [("a", float)]),
}


@pytest.mark.parametrize("values", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_is_no_real_number_is_refused_as_estimate_and_as_rating(values):
    for columns in ((values, [4.0, 5.0]), ([4.0, 5.0], values)):
        with pytest.raises(MetricError, match="give numbers only"):
            rankings.from_pairs([1, 1], *columns)
    matrix = np.asarray(values)[None]
    with pytest.raises(MetricError, match="give numbers only"):
        rankings.from_matrix([[4.0, 5.0]], matrix)
    with pytest.raises(MetricError, match="give numbers only"):
        Pairs([0, 2], values, [4.0, 5.0])


@pytest.mark.parametrize(
    "ids",
    [
        [2**63 + 1, 2**63 + 2, 5],
        [2**53, 2**53 + 1, 2**64],
        [10**30, 10**30 + 1],
        [1, "2"],
        ["2", 1],
    ],
)
def test_ids_in_a_list_are_not_merged_by_an_array_of_them(ids):
    lists = rankings.from_pairs(ids, np.ones(len(ids)), np.arange(1.0, len(ids) + 1))
    assert {*lists.users.tolist()} == {*ids}


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.uint32, np.uint64])
def test_ids_of_every_width_keep_their_values(kind):
    limits = np.iinfo(kind)
    for base in (limits.min, limits.max - 3):
        users = np.array([base + 3, base, base + 3], kind)
        lists = rankings.from_pairs(users, [1.0, 2.0, 3.0], [5, 4, 3])
        assert lists.users.dtype == kind
        assert lists.users.tolist() == [base, base + 3]
        assert lists.relevance.tolist() == [4.0, 3.0, 5.0]


def test_ids_of_any_hashable_kind_name_users():
    users = [("u", 2), ("u", 1), ("u", 2)]
    lists = rankings.from_pairs(users, [1.0, 2.0, 3.0], [5, 4, 3])
    assert lists.users.tolist() == [("u", 1), ("u", 2)]
    predictions = [*zip(users, [1.0, 2.0, 3.0], [5, 4, 3], strict=True)]
    assert rankings.from_predictions(predictions).users.tolist() == lists.users.tolist()


@pytest.mark.parametrize("gain", ["exp2", "linear", "binary(4)"])
def test_ratings_that_are_all_equal_are_warned_of(gain):
    anti_testset = [
        Prediction(u, i, 3.5, 3 + u / 9 - i / 7, {}) for u in range(3) for i in range(4)
    ]
    with pytest.warns(UserWarning, match=r"all ratings are 3\.5, as in an anti-test set"):
        rankings.ndcg(anti_testset, k=3, gain=gain)
    # No order at all, and an order that could be wrong: nothing to warn of.
    assert rankings.ndcg([(4.5, 5)]) == 1.0
    assert rankings.ndcg([(4.5, 5), (3.5, 1)]) == 1.0
