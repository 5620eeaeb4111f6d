"""Divisions per user, against Surprise and against counting by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surprise import Dataset
from surprise.model_selection import LeaveOneOut

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import LeaveNOut, UserFraction, UserHoldout, make


class PairDataset(Dataset):
    """A Surprise dataset whose ratings are row numbers and whose parts are lists of them."""

    def __init__(self, users):
        self.raw_ratings = [(user, row, row, None) for row, user in enumerate(users)]

    def construct_trainset(self, raw_trainset):
        return [row for _, _, row, _ in raw_trainset]

    def construct_testset(self, raw_testset):
        return [row for _, _, row, _ in raw_testset]


def ratings_of(users, times=None):
    rows = np.arange(len(users))
    return Ratings.from_columns(users, rows, rows % 5 + 1.0, times, scale=(1, 5))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=60),
    st.integers(0, 4),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
def test_leave_one_out_like_surprise_has_its_rows(users, min_train, n_splits, state):
    options = {"n_splits": n_splits, "random_state": state}
    try:
        theirs = LeaveOneOut(min_n_ratings=min_train, **options)
        expected = list(theirs.split(PairDataset(users)))
    except ValueError:
        expected = [([], [])]
    section = LeaveNOut(min_train=min_train, too_few="drop", like="surprise", **options)
    if not all(all(parts) for parts in expected):
        with pytest.raises(SplitError, match=r"no (training|test) rating is left"):
            make(section, ratings_of(users), seed=0)
        return
    splits = make(section, ratings_of(users), seed=0)
    assert [(split.train.tolist(), split.test.tolist()) for split in splits] == expected


def test_users_with_too_few_ratings_stay_in_training_when_asked_also_like_surprise():
    users = ["a", "b", "a", "c", "a", "c"]
    for like in (None, "surprise"):
        section = LeaveNOut(too_few="train", like=like)
        (split,) = make(section, ratings_of(users), seed=0)
        assert sorted(np.array(users)[split.test]) == ["a", "c"]
        assert sorted([*split.train.tolist(), *split.test.tolist()]) == [0, 1, 2, 3, 4, 5]
        assert "1 user has fewer than 2 ratings: training only" in split.notes


def test_users_with_too_few_ratings_are_an_error_unless_the_config_says_otherwise():
    users = ["a", "b", "a", "c", "a", "d"]
    message = (
        r"leave-2-out random: 3 users have fewer than 3 ratings \(as user 'b'\); "
        "lower n or min_train, or set too_few: train or too_few: drop"
    )
    with pytest.raises(SplitError, match=message):
        make(LeaveNOut(n=2), ratings_of(users), seed=0)
    (split,) = make(LeaveNOut(n=2, too_few="drop"), ratings_of(users), seed=0)
    assert len(split.train) == 1
    assert "3 users have fewer than 3 ratings: left out" in split.notes
    assert "3 ratings (50.0%) in neither part" in split.notes


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=50), st.integers(1, 3), st.integers(0, 99))
def test_every_user_has_n_test_ratings(users, n, seed):
    users = [*users, *[9] * 4]
    section = LeaveNOut(n=n, too_few="drop", n_splits=2)
    enough = {user for user, count in Counter(users).items() if count > n}
    for split in make(section, ratings_of(users), seed):
        tested = Counter(np.array(users)[split.test].tolist())
        assert tested == dict.fromkeys(enough, n)


def test_each_rating_of_a_user_is_drawn_equally_often():
    drawn = make(LeaveNOut(n_splits=3000), ratings_of([1, 1, 1, 2, 2, 2, 2]), seed=0)
    times = np.bincount(np.concatenate([split.test for split in drawn]), minlength=7)
    expected = 3000 / np.array([3, 3, 3, 4, 4, 4, 4])
    assert (np.abs(times - expected) < 4 * np.sqrt(expected)).all()


def test_of_ratings_at_the_same_second_the_one_further_down_is_the_later():
    ratings = ratings_of(["a", "a", "b", "a", "b"], times=[7, 5, 3, 7, 3])
    (split,) = make(LeaveNOut(choose="latest"), ratings, seed=0)
    assert split.test.tolist() == [3, 4]
    assert split.train.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("fraction", "counts"),
    [
        (0.2, {1: 1, 4: 1, 5: 1, 7: 1, 8: 2, 10: 2, 13: 3}),
        (0.5, {2: 1, 3: 2, 4: 2, 5: 3}),
        (0.01, {2: 1, 100: 1, 150: 2}),
        (0.99, {2: 1, 10: 9, 100: 99}),
        (0.15, {10: 2, 30: 5}),
    ],
)
def test_a_share_of_a_user_is_rounded_but_leaves_both_parts_something(fraction, counts):
    users = np.repeat(list(counts), list(counts))
    (split,) = make(UserFraction(fraction=fraction, too_few="train"), ratings_of(users), seed=0)
    tested = Counter(users[split.test].tolist())
    assert tested == {n: n_test for n, n_test in counts.items() if n > 1}


def test_a_user_with_a_single_rating_cannot_be_shared():
    with pytest.raises(SplitError, match=r"1 user has a single rating \(as user 'b'\); filter"):
        make(UserFraction(), ratings_of(["a", "a", "b"]), seed=0)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=9),
    st.one_of(st.integers(0, 8), st.sampled_from([0.2, 0.5, 0.8])),
    st.integers(0, 99),
)
def test_a_user_holdout_gives_what_it_says_of_the_drawn_users_alone(counts, given_size, seed):
    users = np.repeat(np.arange(len(counts)), counts)
    section = UserHoldout(users=1, given=given_size, too_few="train")
    try:
        (split,) = make(section, ratings_of(users), seed)
    except SplitError as error:
        if isinstance(given_size, int) and "no test rating" in str(error):
            return
        raise
    (tested,) = np.unique(users[split.test])
    n = counts[tested]
    n_given = int(n * given_size + 1e-9) if isinstance(given_size, float) else given_size
    assert len(split.test) == n - n_given
    assert len(split.train) == len(users) - len(split.test)


def test_a_user_holdout_without_given_ratings_tests_users_that_training_never_saw():
    ratings = ratings_of(np.repeat(np.arange(10), 4))
    (split,) = make(UserHoldout(users=0.3, given=0), ratings, seed=0)
    assert len(np.unique(ratings.users[split.test])) == 3
    assert not np.isin(ratings.users[split.test], ratings.users[split.train]).any()
    assert "3 of 3 test users (100.0%) have no training rating" in split.notes


def test_more_test_users_than_there_are_is_refused():
    with pytest.raises(SplitError, match="5 test users cannot be drawn from 2; lower users"):
        make(UserHoldout(users=5), ratings_of(["a", "b"]), seed=0)


@pytest.mark.parametrize(
    "section",
    [LeaveNOut(choose="latest"), UserFraction(choose="latest"), UserHoldout(choose="latest")],
)
def test_the_latest_ratings_need_timestamps(section):
    with pytest.raises(SplitError, match="columns has no timestamps; use choose: random"):
        make(section, ratings_of(["a", "a", "b", "b"]), seed=0)
