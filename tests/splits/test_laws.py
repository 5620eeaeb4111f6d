"""What every split keeps to, whatever its kind, and what its notes say."""

import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import make, validation
from harness.splits.by_item import ItemFraction, ItemHoldout
from harness.splits.by_time import GlobalTime, Rolling
from harness.splits.by_user import LeaveNOut, UserFraction, UserHoldout
from harness.splits.random import Holdout, KFold, RepeatedKFold
from harness.splits.saved import Predefined

SECTIONS = [
    Holdout(),
    Holdout(test_size=5, shuffle=False),
    Holdout(test_size=0.4, n_splits=3),
    Holdout(test_size=0.3, train_size=0.4, like="sklearn"),
    KFold(n_splits=3),
    KFold(n_splits=4, shuffle=False),
    KFold(n_splits=3, within_users=True),
    RepeatedKFold(n_splits=2, n_repeats=3),
    ItemFraction(fraction=0.6),
    LeaveNOut(),
    LeaveNOut(n=2, choose="latest"),
    LeaveNOut(n_splits=2, like="surprise"),
    LeaveNOut(n=3, min_train=3, too_few="drop"),
    LeaveNOut(n=3, min_train=3, too_few="train"),
    UserFraction(),
    UserFraction(fraction=0.5, choose="latest"),
    GlobalTime(quantile=0.7),
    GlobalTime(date="1970-01-01T00:00:04"),
    Rolling(origins=2),
    Rolling(origins=[0.4, "1970-01-01T00:00:06"], window="3 seconds", horizon=0.3),
    GlobalTime(last="4 seconds"),
    UserHoldout(users=0.5),
    ItemHoldout(items=0.4),
    ItemHoldout(items=0.9, given=1),
    UserHoldout(users=2, given=1, choose="latest"),
]
INNER = [Holdout(test_size=0.3), LeaveNOut(choose="latest"), GlobalTime(quantile=0.5)]
each_section = pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.describe())


@st.composite
def ratings_with_times(draw):
    """Some users with at least five ratings each, in any order, many at the same second."""
    counts = draw(st.lists(st.integers(5, 8), min_size=3, max_size=5))
    counts[0] += 1  # one user has enough for every section
    users = np.repeat(np.arange(len(counts)), counts)
    items = np.concatenate([draw(st.permutations(range(9)))[:n] for n in counts])
    n = len(users)
    times = np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)))
    times[:2] = [0, 9]  # so that there is something on both sides of a date
    order = np.array(draw(st.permutations(range(n))))
    return Ratings.from_columns(
        users[order], items[order], (order % 5) + 1.0, times[order], scale=(1, 5)
    )


def folds_of(section, ratings, seed=0):
    """Return the folds, none where a moment leaves nothing on one of its sides."""
    try:
        return make(section, ratings, seed)
    except SplitError as error:
        if isinstance(section, GlobalTime | Rolling) and re.search(
            "no .*rating|not before", str(error)
        ):
            return []
        raise


def assert_same_parts(one, other):
    np.testing.assert_array_equal(one.train, other.train)
    np.testing.assert_array_equal(one.test, other.test)
    assert one.notes == other.notes


@pytest.mark.sample(4)
@each_section
@settings(max_examples=25)
@given(ratings_with_times(), st.integers(0, 2**32 - 1))
def test_no_rating_is_in_two_parts_and_a_seed_gives_the_same_ones_again(section, ratings, seed):
    first, again = (folds_of(section, ratings, seed) for _ in range(2))
    for split, other in zip(first, again, strict=True):
        both = np.concatenate([split.train, split.test])
        assert len(np.unique(both)) == len(both)
        assert both.min() >= 0
        assert both.max() < len(ratings)
        assert len(split.train) > 0
        assert len(split.test) > 0
        assert split.train.dtype == split.test.dtype == np.int64
        assert split.name == section.describe()
        assert_same_parts(split, other)
        assert split.fingerprint == other.fingerprint


@pytest.mark.sample(2)
@each_section
@settings(max_examples=15)
@given(ratings_with_times(), st.integers(0, 1000), st.randoms(use_true_random=False))
def test_what_users_and_items_are_called_or_coded_as_decides_nothing(
    section, ratings, seed, random
):
    users = np.array(random.sample(range(ratings.n_users), ratings.n_users), np.int32)
    items = np.array(random.sample(range(ratings.n_items), ratings.n_items), np.int32)
    renamed = replace(
        ratings,
        users=users[ratings.users],
        items=items[ratings.items],
        user_ids=np.array([f"person {code}" for code in range(ratings.n_users)], object),
        item_ids=np.array([f"something {code}" for code in range(ratings.n_items)], object),
    )
    here, there = (folds_of(section, each, seed) for each in (ratings, renamed))
    for one, other in zip(here, there, strict=True):
        assert_same_parts(one, other)
        assert one.fingerprint != other.fingerprint  # they are not the same data


@settings(max_examples=100)
@given(ratings_with_times(), st.floats(0.05, 0.95))
def test_a_split_in_time_trains_on_nothing_as_late_as_a_test_rating(ratings, quantile):
    for split in folds_of(GlobalTime(quantile=quantile), ratings):
        assert ratings.timestamps[split.train].max() < ratings.timestamps[split.test].min()
        assert len(split.train) + len(split.test) == len(ratings)
        assert not leaks(split)


@settings(max_examples=50)
@given(ratings_with_times(), st.sampled_from([1, 2, 3]))
def test_the_latest_ratings_of_a_user_are_never_before_their_training_ratings(ratings, n):
    for section in (LeaveNOut(n=n, choose="latest"), UserFraction(choose="latest")):
        (split,) = make(section, ratings, seed=0)
        for user in range(ratings.n_users):
            train = split.train[ratings.users[split.train] == user]
            test = split.test[ratings.users[split.test] == user]
            assert len(test) == n or isinstance(section, UserFraction)
            last = max((ratings.timestamps[row], row) for row in train)
            assert last < min((ratings.timestamps[row], row) for row in test)


@pytest.mark.sample(4)
@each_section
@pytest.mark.parametrize("inner", INNER, ids=lambda section: section.describe())
@settings(max_examples=8)
@given(ratings_with_times())
def test_a_validation_part_never_touches_the_test_part(section, inner, ratings):
    for split in folds_of(section, ratings):
        try:
            (part,) = validation(split, inner, seed=0)
        except SplitError as error:
            if "no rating is" in str(error) or "fewer than 2 ratings" in str(error):
                continue
            raise
        assert part.ratings is ratings
        both = np.concatenate([part.train, part.test])
        assert np.isin(both, split.train).all()
        assert not np.isin(both, split.test).any()
        assert len(np.unique(both)) == len(both)
        if isinstance(inner, GlobalTime):
            assert ratings.timestamps[part.train].max() < ratings.timestamps[part.test].min()


def ratings_of(n, times=None, shift=0):
    rows = np.arange(n)
    return Ratings.from_columns(
        rows % 10, rows, (rows + shift) % 5 + 1.0, times, scale=(1, 5), name="made"
    )


def test_a_validation_part_is_named_and_speaks_of_the_training_part_alone():
    (split,) = make(Holdout(), ratings_of(20), seed=0)
    (part,) = validation(split, Holdout(test_size=0.25), seed=0)
    assert part.name == "holdout 25% of the training set"
    assert len(part.test) == 4
    assert not any(note.code == "in-neither-part" for note in part.notes)


def test_folds_of_a_validation_divide_the_training_part():
    (split,) = make(Holdout(), ratings_of(40), seed=0)
    parts = validation(split, KFold(n_splits=3), seed=0)
    assert sorted(np.concatenate([part.test for part in parts])) == sorted(split.train)
    for part in parts:
        assert sorted([*part.train, *part.test]) == sorted(split.train)


def leaks(split):
    return [note.values["share"] for note in split.notes if note.code == "leak"]


def test_a_split_of_ratings_with_timestamps_says_that_it_leaks_the_future():
    (split,) = make(Holdout(), ratings_of(2000, np.arange(2000)), seed=0)
    (share,) = leaks(split)
    assert 0.46 < share < 0.54
    (split,) = make(Holdout(), ratings_of(2000), seed=0)
    assert leaks(split) == []
    times = np.tile(np.arange(10), 10) * 1000 + np.repeat(np.arange(10), 10)
    (split,) = make(LeaveNOut(choose="latest"), ratings_of(100, times), seed=0)
    assert len(leaks(split)) == 1


@pytest.mark.parametrize(
    ("train", "time", "share"),
    [
        ([*range(9_000), 9_500], 9_500, "less than 0.1%"),
        (range(9_000), 9_500, None),
        # After the first test rating no longer, nor after the median.
        ([*range(9_000), 9_500], 9_100, None),
    ],
)
def test_a_leak_of_one_rating_in_many_is_not_rounded_away(train, time, share, tmp_path):
    times = np.arange(10_000)
    times[9_500] = time
    whole = ratings_of(10_000, times)
    for name, rows in (("train", train), ("test", range(9_100, 9_500))):
        whole.take(np.array(rows)).to_frame().to_csv(tmp_path / f"a.{name}", index=False)
    (split,) = make(Predefined(train="a.train", test="a.test"), whole, seed=0, base=tmp_path)
    message = (
        f"trains on future data: {share} of the training ratings are later than the median test "
        "rating; use `kind: global-time` to avoid this"
    )
    noted = [str(note) for note in split.notes if note.code == "leak"]
    assert noted == ([] if share is None else [message])


def test_users_and_items_without_training_ratings_are_counted():
    ratings = Ratings.from_columns(
        ["a", "a", "b", "c", "c"], [1, 2, 1, 1, 3], [1, 2, 3, 4, 5], [1, 2, 3, 8, 9], scale=(1, 5)
    )
    (split,) = make(GlobalTime(quantile=0.6), ratings, seed=0)
    assert "1 of 1 test user (100.0%) has no training rating" in map(str, split.notes)
    assert "1 of 2 test items (50.0%) has no training rating" in map(str, split.notes)


def test_the_fingerprint_is_the_documented_hash_of_the_data_and_the_rows_in_their_order():
    (split,) = make(Holdout(random_state=1), ratings_of(50), seed=0)
    digest = hashlib.sha256(f"{split.ratings.fingerprint} 40 10\n".encode())
    digest.update(split.train.astype("<i8").tobytes() + split.test.astype("<i8").tobytes())
    assert split.fingerprint == digest.hexdigest()
    for state, shift, seed in ((1, 0, 9), (2, 0, 0), (1, 1, 0)):
        (other,) = make(Holdout(random_state=state), ratings_of(50, shift=shift), seed)
        assert (other.fingerprint == split.fingerprint) == ((state, shift) == (1, 0))
    assert len({fold.fingerprint for fold in make(KFold(), ratings_of(50), seed=0)}) == 5
