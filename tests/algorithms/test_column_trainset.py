import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.algorithms import surprise
from harness.algorithms.models import ColumnTrainset

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.5, 1.0, 3.5, 5.0])),
    min_size=1,
    max_size=30,
)
COMPILING = settings(deadline=None)  # the first example compiles


def build(rows):
    users, items, ratings = zip(*rows, strict=True)
    columns = ColumnTrainset.from_columns(
        users,
        items,
        ratings,
        user_ids=np.array([f"u{code}" for code in range(8)]),
        item_ids=np.array([f"i{code}" for code in range(8)]),
        scale=(0.5, 5.0),
    )
    frame = pd.DataFrame([(f"u{user}", f"i{item}", rating) for user, item, rating in rows])
    reader = surprise.Reader(rating_scale=(0.5, 5.0))
    return columns, surprise.Dataset.load_from_df(frame, reader).build_full_trainset()


@COMPILING
@given(ROWS)
def test_columns_hold_what_surprise_holds_in_the_same_order(rows):
    columns, plain = build(rows)
    assert dict(columns.ur.items()) == dict(plain.ur)
    assert dict(columns.ir.items()) == dict(plain.ir)
    assert list(columns.all_ratings()) == list(plain.all_ratings())
    assert columns._raw2inner_id_users == plain._raw2inner_id_users
    assert columns._raw2inner_id_items == plain._raw2inner_id_items
    assert columns.global_mean == plain.global_mean
    assert (columns.n_users, columns.n_items) == (plain.n_users, plain.n_items)
    assert columns.n_ratings == plain.n_ratings
    assert columns.rating_scale == plain.rating_scale
    for code, inner in enumerate(columns.inner_users):
        assert plain._raw2inner_id_users.get(f"u{code}", -1) == inner
        assert inner < 0 or columns.user_codes[inner] == code


@COMPILING
@given(ROWS)
def test_columns_answer_every_question_as_surprise_does(rows):
    columns, plain = build(rows)
    for key in [-1, 0, 2, 5, 9, 1.0, 1.5, "UKN__u9", None]:
        assert columns.knows_user(key) == plain.knows_user(key)
        assert columns.knows_item(key) == plain.knows_item(key)
    assert columns.build_testset() == plain.build_testset()
    assert columns.build_anti_testset() == plain.build_anti_testset()
    assert columns.build_anti_testset(fill=2) == plain.build_anti_testset(fill=2)
    for inner in range(columns.n_users):
        assert columns.to_inner_uid(columns.to_raw_uid(inner)) == inner
    with pytest.raises(ValueError, match="User nobody is not part of the trainset"):
        columns.to_inner_uid("nobody")
    with pytest.raises(ValueError, match="99 is not a valid inner id"):
        columns.to_raw_iid(99)


@COMPILING
@given(ROWS)
def test_orders_are_the_lists_sorted_by_inner_id(rows):
    columns, _ = build(rows)
    for lists, order, other in (
        (columns.by_user, columns.user_order, columns.by_item),
        (columns.by_item, columns.item_order, columns.by_user),
    ):
        assert order.offsets.tolist() == lists.offsets.tolist()
        for start, stop in zip(lists.offsets, lists.offsets[1:], strict=False):
            assert order.ids[start:stop].tolist() == sorted(lists.ids[start:stop].tolist())
            sorted_pairs = sorted(
                zip(lists.ids[start:stop], lists.ratings[start:stop], strict=True),
                key=lambda pair: pair[0],
            )
            assert other.ratings[order.places[start:stop]].tolist() == [r for _, r in sorted_pairs]


@COMPILING
@given(ROWS)
def test_a_training_set_survives_pickling_and_is_made_from_surprise_s(rows):
    columns, plain = build(rows)
    columns.user_order  # noqa: B018 - what is derived need not be stored
    loaded = pickle.loads(pickle.dumps(columns))
    assert dict(loaded.ur.items()) == dict(plain.ur)
    assert loaded.to_inner_iid(loaded.to_raw_iid(0)) == 0
    assert "user_order" not in vars(loaded)
    copied = ColumnTrainset.from_surprise(plain)
    for ours, theirs in zip(
        columns.by_user + columns.by_item, copied.by_user + copied.by_item, strict=True
    ):
        assert ours.tolist() == theirs.tolist()
        assert ours.dtype == theirs.dtype
    assert copied.raw_users(copied.user_codes) == columns.raw_users(columns.user_codes)
    assert ColumnTrainset.from_surprise(columns) is columns


def test_lists_are_built_once_and_an_unknown_key_gives_one_that_is_not_remembered():
    columns, _ = build([(0, 0, 5.0)])
    assert columns.ur[0] is columns.ur[0]
    assert columns.ur[7] == []
    assert columns.ur._built.keys() == {0}
    assert 7 not in columns.ur
    assert columns.ur.get(7, "nothing") == "nothing"
    assert list(columns.ur.keys()) == [0]
    assert list(columns.ur.values()) == [[(0, 5.0)]]


def test_columns_that_cannot_be_written_are_accepted_and_left_alone():
    users = np.array([1, 0], np.int64)
    ratings = np.array([4.0, 2.0])
    for column in (users, ratings):
        column.flags.writeable = False
    columns = ColumnTrainset.from_columns(
        users, users, ratings, user_ids=[10, 20], item_ids=[1, 2], scale=(1, 5)
    )
    assert columns.ur[0] == [(0, 4.0)]
    assert columns.to_raw_uid(0) == 20
