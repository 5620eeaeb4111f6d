"""Judged items found among a whole catalogue equal a full sort of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import rankings
from harness.errors import MetricError
from harness.rankings.blocks import order_keys, tie_keys


@st.composite
def blocks(draw):
    n_users, n_items = draw(st.integers(1, 4)), draw(st.integers(1, 25))
    levels = draw(st.sampled_from([2, 5, 50]))
    cells = st.lists(
        st.integers(0, levels).map(float), min_size=n_users * n_items, max_size=n_users * n_items
    )
    estimates = np.array(draw(cells)).reshape(n_users, n_items)
    column = st.integers(0, n_items - 1)
    judged = [draw(st.lists(column, unique=True, max_size=12)) for _ in range(n_users)]
    unknown = [draw(st.integers(0, 2)) for _ in range(n_users)]
    excluded = [draw(st.lists(column, unique=True, max_size=6)) for _ in range(n_users)]
    return estimates, judged, unknown, excluded


@settings(max_examples=400, deadline=None)
@given(block=blocks(), depth=st.integers(0, 30))
def test_a_block_equals_a_full_sort(block, depth):
    estimates, judged, unknown, excluded = block
    items = [each + [-1] * more for each, more in zip(judged, unknown, strict=True)]
    lengths = [len(each) for each in items]
    flat = [item for each in items for item in each]
    grades = (np.arange(len(flat)) * 7 % 5).astype(float)
    offsets = np.cumsum([0, *lengths])
    lists = rankings.rank_block(
        estimates,
        offsets,
        flat,
        grades,
        np.cumsum([0, *map(len, excluded)]),
        [item for each in excluded for item in each],
        depth=depth,
    )
    for user in range(len(estimates)):
        grade = dict(zip(items[user], grades[offsets[user] : offsets[user + 1]], strict=True))
        candidates = [c for c in range(estimates.shape[1]) if c not in excluded[user]]
        order = sorted(candidates, key=lambda c: (-estimates[user, c], c))
        values = [estimates[user, c] for c in order]
        expected = [
            (
                rank,
                grade[c],
                values.index(values[rank - 1]) + 1,
                len(values) - values[::-1].index(values[rank - 1]),
            )
            for rank, c in enumerate(order, start=1)
            if c in grade
        ]
        span = slice(lists.offsets[user], lists.offsets[user + 1])
        found = zip(
            lists.rank[span],
            lists.relevance[span],
            lists.tie_low[span],
            lists.tie_high[span],
            strict=True,
        )
        assert [tuple(map(float, each)) for each in found] == [
            tuple(map(float, each)) for each in expected
        ]
        assert lists.n_ranked[user] == len(candidates)
        pool = lists.pool[lists.pool_offsets[user] : lists.pool_offsets[user + 1]]
        assert pool.tolist() == sorted(grades[offsets[user] : offsets[user + 1]], reverse=True)
        if depth:
            top = order[:depth] + [-1] * (depth - len(order))
            assert lists.top_items[user].tolist() == top
    assert depth or lists.top_items is None


def test_items_of_equal_estimate_are_shown_in_the_order_of_their_keys():
    rng = np.random.default_rng(0)
    estimates = rng.integers(0, 3, (20, 30)).astype(float)
    users, items = tie_keys(range(20)), tie_keys([f"item {i}" for i in range(30)])
    judged = [np.arange(21) * 2, rng.permuted(np.tile(np.arange(30), (20, 1)), axis=1)[:, :2]]
    grades = np.ones(40)
    given = (judged[0], judged[1].ravel(), grades)
    lists = rankings.rank_block(estimates, *given, depth=7, tie_keys=(users, items))
    keys = order_keys(users[:, None], items[None, :])
    assert lists.top_items.tolist() == np.lexsort((keys, -estimates), axis=1)[:, :7].tolist()
    plain = rankings.rank_block(estimates, *given, depth=7)
    np.testing.assert_array_equal(lists.rank, plain.rank)
    order = rng.permutation(30)  # the columns in another order show the same items
    moved = rankings.rank_block(
        estimates[:, order],
        given[0],
        np.argsort(order)[given[1]],
        grades,
        depth=7,
        tie_keys=(users, items[order]),
    )
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


def test_an_item_judged_twice_is_refused():
    with pytest.raises(MetricError, match="row 0, column 1: judged twice; keep one rating"):
        rankings.rank_block(np.array([[1.0, 2.0]]), [0, 2], [1, 1], [4.0, 3.0])


@pytest.mark.parametrize(
    ("judged", "excluded", "message"),
    [
        (([0, 1], [2], [3.0]), (), "judged_items: columns from 2 to 2; use columns from 0 to 1"),
        (([0, 1], [-2], [3.0]), (), "judged_items: columns from -2 to -2"),
        (([0, 2], [1], [3.0]), (), "judged_offsets: they do not divide 1 items among 1 users"),
        (([0, 1], [1], [3.0, 4.0]), (), "judged_ratings: 2 values.*give one finite rating"),
        (([0, 1], [1], [np.nan]), (), "judged_ratings: 1 values, some perhaps not finite"),
        (([0, 1], [1], [3.0]), ([0, 1], [9]), "excluded_items: columns from 9 to 9"),
        (([0, 1], [1], [3.0]), ([1, 1], [0]), "excluded_offsets: they do not divide 1 items"),
    ],
)
def test_judgements_that_do_not_fit_are_refused(judged, excluded, message):
    with pytest.raises(MetricError, match=message):
        rankings.rank_block(np.array([[1.0, 2.0]]), *judged, *excluded)
