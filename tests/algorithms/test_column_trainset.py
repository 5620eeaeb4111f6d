"""A training set in columns is Surprise's, whatever is asked of it."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.algorithms import trainset
from harness.algorithms.trainset import ColumnTrainset
from harness.models import estimates as models

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.5, 1.0, 3.5, 5.0])),
    min_size=1,
    max_size=30,
)


def assert_same(columns, plain):
    for name in ("ur", "ir"):
        assert dict(getattr(columns, name).items()) == dict(getattr(plain, name))
    for name in ("all_ratings", "build_testset", "build_anti_testset"):
        assert list(getattr(columns, name)()) == list(getattr(plain, name)())
    for name in ("n_users", "n_items", "n_ratings", "rating_scale", "global_mean"):
        assert getattr(columns, name) == getattr(plain, name)
    for name in ("_raw2inner_id_users", "_raw2inner_id_items"):
        assert getattr(columns, name) == getattr(plain, name)


@given(ROWS)
def test_columns_hold_what_surprise_holds_in_the_same_order(twins, rows):
    both = twins(rows)
    columns, plain = both.columns(), both.plain()
    columns.user_order  # noqa: B018 - what is derived need not be stored
    loaded = pickle.loads(pickle.dumps(columns))
    assert "user_order" not in vars(loaded)
    copied = ColumnTrainset.from_surprise(plain)
    for each in (columns, loaded, copied):
        assert_same(each, plain)
    for ours, theirs in zip(
        columns.by_user + columns.by_item, copied.by_user + copied.by_item, strict=True
    ):
        assert ours.tolist() == theirs.tolist()
        assert ours.dtype == theirs.dtype
    assert copied.raw_users(copied.user_codes) == columns.raw_users(columns.user_codes)
    assert ColumnTrainset.from_surprise(columns) is columns


@given(ROWS)
def test_columns_answer_every_question_as_surprise_does(twins, rows):
    both = twins(rows)
    columns, plain = both.columns(), both.plain()
    for key in [-1, 0, 2, 5, 9, 1.0, 1.5, "UKN__u9", None]:
        assert columns.knows_user(key) == plain.knows_user(key)
        assert columns.knows_item(key) == plain.knows_item(key)
    assert columns.build_anti_testset(fill=2) == plain.build_anti_testset(fill=2)
    for inner in range(columns.n_users):
        assert columns.to_inner_uid(columns.to_raw_uid(inner)) == inner
    for code, inner in enumerate(columns.inner_users):
        assert plain._raw2inner_id_users.get(f"u{code}", -1) == inner
        assert inner < 0 or columns.user_codes[inner] == code
    with pytest.raises(ValueError, match="User nobody is not part of the trainset"):
        columns.to_inner_uid("nobody")
    with pytest.raises(ValueError, match="99 is not a valid inner id"):
        columns.to_raw_iid(99)


@given(ROWS)
def test_orders_are_the_lists_sorted_by_inner_id(twins, rows):
    columns = twins(rows).columns()
    for lists, order, other in (
        (columns.by_user, columns.user_order, columns.by_item),
        (columns.by_item, columns.item_order, columns.by_user),
    ):
        assert order.offsets.tolist() == lists.offsets.tolist()
        for start, stop in zip(lists.offsets, lists.offsets[1:], strict=False):
            by_id = np.argsort(lists.ids[start:stop], kind="stable")
            assert order.ids[start:stop].tolist() == lists.ids[start:stop][by_id].tolist()
            sorted_ratings = lists.ratings[start:stop][by_id]
            assert other.ratings[order.places[start:stop]].tolist() == sorted_ratings.tolist()


def test_lists_are_built_once_and_an_unknown_key_gives_one_that_is_not_remembered():
    users, ratings = np.array([1], np.int64), np.array([5.0])
    for column in (users, ratings):  # which need not be writable
        column.flags.writeable = False
    ids = {"user_ids": [10, 20], "item_ids": [1, 2]}
    columns = ColumnTrainset.from_columns(users, users, ratings, **ids, scale=(1, 5))
    assert columns.to_raw_uid(0) == 20
    assert columns.ur[0] is columns.ur[0]
    assert columns.ur[7] == []
    assert columns.ur.get(7, "nothing") == "nothing"
    assert list(columns.ur.items()) == [(0, [(0, 5.0)])]
    assert 7 not in columns.ur


def test_a_dump_of_an_earlier_version_finds_the_columns_where_they_were():
    names = ("ColumnTrainset", "Lists", "RatingLists")
    assert all(getattr(models, name) is getattr(trainset, name) for name in names)
