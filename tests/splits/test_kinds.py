"""Kinds of split, against Surprise, scikit-learn and counting by hand."""

import hashlib
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import ShuffleSplit as SklearnShuffleSplit
from sklearn.model_selection import TimeSeriesSplit
from sklearn.model_selection import train_test_split as sklearn_split
from surprise import Dataset
from surprise import model_selection as surprise_selection

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import make
from harness.splits.base import DrawnSplit
from harness.splits.by_item import ItemFraction, ItemHoldout
from harness.splits.by_time import GlobalTime, Rolling
from harness.splits.by_user import LeaveNOut, UserFraction, UserHoldout
from harness.splits.random import Holdout, KFold, OwnTraining, RepeatedKFold
from harness.splits.saved import MovieLensFolds

STATES = st.integers(0, 2**32 - 1)
SIZES = st.one_of(
    st.none(), st.integers(1, 60), st.floats(0.01, 0.99).map(lambda share: round(share, 3))
)


class RowDataset(Dataset):
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


def plain(n):
    return ratings_of(np.arange(n) % 7)


def rows_of(section, n, seed=0):
    return [(s.train.tolist(), s.test.tolist()) for s in make(section, plain(n), seed)]


@pytest.mark.parametrize("like", ["surprise", "sklearn"])
@settings(max_examples=200)
@given(st.integers(2, 60), SIZES, SIZES, STATES, st.booleans())
def test_a_holdout_has_the_rows_of_its_library_or_both_refuse(like, n, test, train, state, shuffle):
    if test is None and train is None:
        test = 0.2
    if isinstance(test, float) and isinstance(train, float) and test + train > 1:
        train = None
    options = {"test_size": test, "train_size": train, "shuffle": shuffle}
    section = Holdout(like=like, random_state=state, **options)
    try:
        if like == "surprise":
            data = RowDataset(range(n))
            expected = surprise_selection.train_test_split(data, random_state=state, **options)
        else:
            options["random_state"] = state if shuffle else None
            expected = tuple(part.tolist() for part in sklearn_split(np.arange(n), **options))
    except ValueError:
        expected = ([], [])
    if not all(expected):  # Surprise would hand out a part without ratings
        with pytest.raises(SplitError, match=r"make test_size|no training rating|no test rating"):
            make(section, plain(n), seed=0)
    else:
        assert rows_of(section, n) == [expected]


@pytest.mark.parametrize("like", ["surprise", "sklearn"])
@settings(max_examples=50)
@given(st.integers(5, 60), st.floats(0.2, 0.8), STATES, st.integers(1, 5))
def test_several_draws_have_the_rows_of_shuffle_split(like, n, test_size, state, n_splits):
    options = {"n_splits": n_splits, "test_size": test_size, "random_state": state}
    if like == "surprise":
        expected = [*surprise_selection.ShuffleSplit(**options).split(RowDataset(range(n)))]
    else:
        parts = SklearnShuffleSplit(**options).split(np.arange(n))
        expected = [(train.tolist(), test.tolist()) for train, test in parts]
    assert rows_of(Holdout(like=like, **options), n) == expected


@given(st.lists(st.integers(0, 9), min_size=8, max_size=80), st.integers(2, 5), STATES)
def test_folds_within_users_divide_each_users_ratings_evenly(users, n_splits, state):
    ratings = ratings_of(users)
    for shuffle in (True, False):
        section = KFold(n_splits=n_splits, within_users=True, shuffle=shuffle, random_state=state)
        folds = make(section, ratings, seed=0)
        tested = np.concatenate([fold.test for fold in folds])
        assert sorted(tested.tolist()) == [*range(len(users))]
        for fold in folds:
            assert sorted([*fold.train, *fold.test]) == [*range(len(users))]
        for codes in (ratings.users, np.zeros(len(users), np.int32)):  # each user's, and all
            sizes = [np.bincount(codes[fold.test], minlength=10) for fold in folds]
            assert np.ptp(sizes, axis=0).max() <= 1
    last = [row for row in range(len(users)) if users[row] == users[0]]
    place = [next(f for f, fold in enumerate(folds) if row in fold.test) for row in last]
    assert place == [n % n_splits for n in range(len(last))]  # unshuffled, dealt out in order


@given(st.lists(st.integers(0, 9), min_size=8, max_size=80), st.sampled_from([0, 2, 0.5]), STATES)
def test_tested_items_have_the_ratings_in_training_that_are_given(items, given_, state):
    n = len(items)
    ratings = Ratings.from_columns(np.arange(n), items, np.arange(n) % 5 + 1.0, scale=(1, 5))
    try:
        (split,) = make(ItemHoldout(items=0.4, given=given_, random_state=state), ratings, seed=0)
    except SplitError as error:
        said = str(error)  # small data: no test item may have more ratings than are given
    else:
        said = ""
    assert not said or "rating is left of" in said
    if said:
        return
    tested, counts = {*ratings.items[split.test]}, Counter(ratings.items.tolist())
    assert len(tested) <= math.ceil(0.4 * ratings.n_items)
    for item in tested:
        given_here = np.count_nonzero(ratings.items[split.train] == item)
        assert given_here == (given_ if given_ in (0, 2) else counts[item] // 2)
    assert sorted([*split.train, *split.test]) == [*range(n)]


def test_ratings_of_one_moment_are_told_and_ordered_by_item_if_asked():
    users, items = list("aaaabbb"), [10, 9, 2, 1, 3, 2, 1]
    times = [5, 5, 5, 1, 7, 8, 9]
    notes = []
    for order in ([0, 1, 2, 3, 4, 5, 6], [2, 1, 0, 3, 6, 5, 4]):
        ratings = Ratings.from_columns(
            [users[n] for n in order],
            [items[n] for n in order],
            np.ones(7),
            [times[n] for n in order],
            scale=(1, 5),
        )
        latest = {}
        for rule in ("row", "item"):
            section = LeaveNOut(choose="latest", equal_times=rule)
            (split,) = make(section, ratings, seed=0)
            tested = [int(ratings.item_ids[item]) for item in ratings.items[split.test]]
            latest[rule] = sorted(tested)
            notes += [str(note) for note in split.notes if note.code == "equal-times"]
        assert latest == {"row": [1, 2] if order[0] == 0 else [1, 10], "item": [1, 10]}
    assert len(notes) == 2  # of both orders, for the rows alone
    assert notes[0].startswith("1 of 2 users (50.0%) has ratings of one moment in both sets")
    assert LeaveNOut(choose="latest", equal_times="item").inner().equal_times == "item"


def test_a_lone_train_size_means_the_rest_is_test_as_in_sklearn_and_a_fifth_as_in_surprise():
    train, test = sklearn_split(np.arange(40), train_size=0.6, random_state=5)
    section = Holdout(train_size=0.6, random_state=5, like="sklearn")
    assert rows_of(section, 40) == [(train.tolist(), test.tolist())]
    expected = surprise_selection.train_test_split(
        RowDataset(range(40)), train_size=0.6, random_state=5
    )
    assert rows_of(Holdout(train_size=0.6, random_state=5), 40) == [expected]
    (split,) = make(Holdout(train_size=0.6), plain(40), seed=0)
    assert "8 ratings (20.0%) in neither set" in map(str, split.notes)


@settings(max_examples=100)
@given(st.integers(2, 12), st.integers(12, 80), STATES, st.booleans(), st.integers(1, 4))
def test_k_fold_has_the_rows_of_surprise_once_and_repeated(n_splits, n, state, shuffle, n_repeats):
    options = {"n_splits": n_splits, "random_state": state}
    theirs = surprise_selection.KFold(**options, shuffle=shuffle)
    assert rows_of(KFold(**options, shuffle=shuffle), n) == [*theirs.split(RowDataset(range(n)))]
    options["n_repeats"] = n_repeats
    theirs = surprise_selection.RepeatedKFold(**options)
    assert rows_of(RepeatedKFold(**options), n) == [*theirs.split(RowDataset(range(n)))]
    folds = [(s.fold, s.n_folds) for s in make(RepeatedKFold(**options), plain(n), 0)]
    assert folds == [(fold, n_splits * n_repeats) for fold in range(n_splits * n_repeats)]


def test_without_a_random_state_the_rows_follow_the_seed_of_the_run():
    assert rows_of(Holdout(), 50, seed=1) != rows_of(Holdout(), 50, seed=2)
    fixed = Holdout(random_state=3)
    assert rows_of(fixed, 50, seed=1) == rows_of(fixed, 50, seed=2)


def stratified_by_item(frame, ratio, seed):
    """Split as `python_stratified_split` of Microsoft's Recommenders 1.2 with one ratio."""
    np.random.seed(seed)
    frame = frame.assign(random=np.random.rand(len(frame))).sort_values(["item", "random"])
    groups = frame.groupby("item")
    count, rank = groups["item"].transform("count"), groups.cumcount() + 1
    train = rank <= round(ratio * count)
    return frame.index[train].tolist(), frame.index[~train].tolist()


@settings(max_examples=100)
@given(
    st.lists(st.integers(0, 120), min_size=2, max_size=80),
    st.sampled_from([0.2, 0.25, 0.5, 0.7]),
    STATES,
)
def test_an_item_fraction_has_the_rows_of_recommenders_or_refuses(items, fraction, state):
    ratings = Ratings.from_columns(np.arange(len(items)), items, np.ones(len(items)), scale=(1, 5))
    frame = ratings.to_frame().astype({"item": int})
    expected = stratified_by_item(frame, 1 - fraction, state)
    section = ItemFraction(fraction=fraction, random_state=state, like="recommenders")
    if not all(expected):
        with pytest.raises(SplitError, match=r"no (training|test) rating is left"):
            make(section, ratings, seed=0)
        return
    (split,) = make(section, ratings, seed=0)
    assert (split.train.tolist(), split.test.tolist()) == expected
    (ordered,) = make(ItemFraction(fraction=fraction, random_state=state), ratings, seed=0)
    assert [ordered.train.tolist(), ordered.test.tolist()] == [sorted(part) for part in expected]


def test_an_item_fraction_has_the_counts_that_recommenders_published(ml_100k):
    section = ItemFraction(random_state=42, like="recommenders")
    (split,) = make(section, ml_100k, seed=0)
    assert (len(split.train), len(split.test)) == (75_066, 24_934)


@settings(max_examples=150)
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=60),
    st.integers(0, 4),
    st.integers(1, 3),
    STATES,
)
def test_leave_one_out_like_surprise_has_its_rows(users, min_train, n_splits, state):
    options = {"n_splits": n_splits, "random_state": state}
    try:
        theirs = surprise_selection.LeaveOneOut(min_n_ratings=min_train, **options)
        expected = list(theirs.split(RowDataset(users)))
    except ValueError:
        expected = [([], [])]
    section = LeaveNOut(min_train=min_train, too_few="drop", like="surprise", **options)
    if not all(all(parts) for parts in expected):
        with pytest.raises(SplitError, match=r"no (training|test) rating is left"):
            make(section, ratings_of(users), seed=0)
        return
    splits = make(section, ratings_of(users), seed=0)
    assert [(split.train.tolist(), split.test.tolist()) for split in splits] == expected


@settings(max_examples=60)
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


@settings(max_examples=60)
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
    assert "3 of 3 test users (100.0%) have no training rating" in map(str, split.notes)


@settings(max_examples=100)
@given(st.integers(4, 60), st.integers(1, 59), st.randoms(use_true_random=False))
def test_without_ties_it_is_the_last_fold_of_scikit_learns_time_series(n, n_test, random):
    n_test = min(n_test, n - 1)
    times = np.array(random.sample(range(10 * n), n))
    order = np.argsort(times)
    (split,) = make(GlobalTime(quantile=1 - n_test / n), ratings_of(range(n), times), seed=0)
    expected = [sklearn_split(order, test_size=n_test, shuffle=False)]
    if 2 * n_test < n:
        train, test = list(TimeSeriesSplit(n_splits=2, test_size=n_test).split(order))[-1]
        expected.append((order[train], order[test]))
    for train, test in expected:
        assert set(split.train) == set(train)
        assert set(split.test) == set(test)


@settings(max_examples=60)
@given(st.integers(2, 6), st.integers(1, 9), st.none() | st.integers(1, 40), st.randoms())
def test_rolling_origins_without_ties_are_the_folds_of_scikit_learns_time_series(
    n_origins, size, window, random
):
    n = size * (n_origins + 1)
    times = np.array(random.sample(range(10 * n), n))
    share = None if window is None else min(window, n - 1) / n
    section = Rolling(origins=n_origins, window=share)
    folds = make(section, ratings_of(range(n), times), seed=0)
    order = np.argsort(times)
    expected = TimeSeriesSplit(n_splits=n_origins, max_train_size=window).split(order)
    for fold, (train, test) in zip(folds, expected, strict=True):
        assert set(fold.train) == set(order[train])
        assert set(fold.test) == set(order[test])


@settings(max_examples=60)
@given(st.lists(st.integers(0, 12), min_size=8, max_size=40), st.integers(1, 4), st.integers(1, 5))
def test_rolling_parts_are_those_of_a_filter_in_pandas(days, window, horizon):
    """Spans of days, dates as origins, and many ratings at the bounds."""
    when = pd.Series(pd.to_datetime("1998-01-01") + pd.to_timedelta([0, *days, 13], unit="D"))
    ratings = ratings_of(range(len(when)), when.astype("datetime64[s]").astype(np.int64))
    dates = ["1998-01-05", "1998-01-08T00:00:00+00:00"]
    section = Rolling(origins=dates, window=f"{window} days", horizon=f"{horizon} days")
    parts = [
        (
            when.between(at - pd.Timedelta(days=window), at, inclusive="left"),
            when.between(at, at + pd.Timedelta(days=horizon), inclusive="left"),
        )
        for at in pd.to_datetime(["1998-01-05", "1998-01-08"])
    ]
    missing = [i for i, fold in enumerate(parts, 1) if not all(part.any() for part in fold)]
    if missing:
        with pytest.raises(SplitError, match=f"origin {missing[0]}, 1998-01-0. 00:00:00 UTC, has"):
            make(section, ratings, seed=0)
        return
    folds = make(section, ratings, seed=0)
    for fold, (train, test) in zip(folds, parts, strict=True):
        assert fold.train.tolist() == when.index[train].tolist()
        assert fold.test.tolist() == when.index[test].tolist()


@pytest.mark.parametrize("like", [None, "surprise"])
def test_users_with_too_few_ratings_are_training_or_left_out(like):
    (split,) = make(LeaveNOut(too_few="train", like=like), ratings_of(list("abacac")), seed=0)
    assert sorted("abacac"[row] for row in split.test) == ["a", "c"]
    assert sorted([*split.train, *split.test]) == [0, 1, 2, 3, 4, 5]
    assert "1 user has fewer than 2 ratings: training only" in map(str, split.notes)
    (split,) = make(LeaveNOut(n=2, too_few="drop"), ratings_of(list("abacad")), seed=0)
    assert len(split.train) == 1
    assert "3 users have fewer than 3 ratings: left out" in map(str, split.notes)
    assert "3 ratings (50.0%) in neither set" in map(str, split.notes)


# In order: 10 20 30 40 40 40 50 60 70 80. Half of ten ratings is five, and place 5, counted from 0,
# holds a 40: all three ratings of second 40 are test, three ratings remain.
TIED = [50, 10, 40, 20, 40, 30, 60, 40, 70, 80]
NEW_YEAR = [883_612_799, 883_612_800, 883_612_800 + 86_400, 0]
MEMORY = "evaluated on its own training data: scores show what a model remembers, not what it "
BEFORE = "training is before 1998-01-01 00:00:00 UTC, test from then on"


@pytest.mark.parametrize(
    ("section", "users", "times", "train", "test", "note"),
    [
        (OwnTraining(), "abc", None, [0, 1, 2], [0, 1, 2], f"{MEMORY}predicts"),
        # Of ratings at the same second, the one further down is the later.
        (LeaveNOut(choose="latest"), "aabab", [7, 5, 3, 7, 3], [0, 1, 2], [3, 4], None),
        (
            GlobalTime(quantile=0.5),
            "abcabcabca",
            TIED,
            [1, 3, 5],
            [0, 2, 4, 6, 7, 8, 9],
            "training is before 1970-01-01 00:00:40 UTC, test from then on",
        ),
        # The three ratings of second 40 are after an origin there, and before no bound there.
        (Rolling(origins=[60], window=0.1), "abcabcabca", TIED, [0], [6, 8, 9], None),
        (Rolling(origins=[50], window=0.2), "abcabcabca", TIED, [2, 4, 7], [0, 6, 8, 9], None),
        (Rolling(origins=[0.2], horizon=0.2), "abcabcabca", TIED, [1, 3], [5], None),
        (GlobalTime(last="20 seconds"), "abcabcabca", TIED, [0, 1, 2, 3, 4, 5, 6, 7], [8, 9], None),
        (GlobalTime(date=41), "abcabcabca", TIED, [1, 2, 3, 4, 5, 7], [0, 6, 8, 9], None),
        *(  # a date is midnight in universal time
            (GlobalTime(date=date), "abca", NEW_YEAR, [0, 3], [1, 2], BEFORE)
            for date in (
                "1998-01-01",
                "1998-01-01T00:00:00",
                "1998-01-01T02:00:00+02:00",
                883612800,
            )
        ),
    ],
)
def test_parts_worked_by_hand(section, users, times, train, test, note):
    (split,) = make(section, ratings_of(list(users), times), seed=0)
    assert (split.train.tolist(), split.test.tolist()) == (train, test)
    assert split.name == section.describe()
    assert note is None or str(split.notes[0]) == note


DRAWN = [kind for _, kind in DrawnSplit.usable_kinds() if not kind.from_files]


@pytest.mark.parametrize("kind", DRAWN)
def test_no_ratings_are_refused_by_every_kind(kind):
    with pytest.raises(SplitError, match=r"has no ratings|0 ratings cannot fill|is left of 0"):
        make(kind(), ratings_of([1, 2], [1, 2]).take(np.zeros(0, np.int64)), seed=0)


LATEST = "columns has no timestamps; use choose: random"
TOO_FEW = (
    r"leave-2-out random: 3 users have fewer than 3 ratings \(for example user 'b'\); "
    "lower n or min_train, or set too_few: train or too_few: drop"
)


@pytest.mark.parametrize(
    ("section", "users", "times", "message"),
    [
        (KFold(n_splits=4), "abc", None, "3 ratings cannot fill 4 folds; lower n_splits"),
        (KFold(n_splits=2), "a", None, "1 rating cannot fill 2 folds"),
        (Holdout(test_size=0.5), "a", None, "holdout 50%: no training rating is left of 1; change"),
        (LeaveNOut(n=2), "abacad", None, TOO_FEW),
        (
            UserFraction(),
            "aab",
            None,
            r"1 user has a single rating \(for example user 'b'\); filter",
        ),
        (ItemHoldout(items=5), "ab", None, "5 test items cannot be drawn from 2; lower items"),
        (ItemHoldout(given=9), "ab", None, "item holdout 20%, given 9: no test rating is left"),
        (GlobalTime(last="1 week"), "abc", [5, 6, 7], "last 1 week: no rating is before 1969-"),
        (UserHoldout(users=5), "ab", None, "5 test users cannot be drawn from 2; lower users"),
        (LeaveNOut(choose="latest"), "aabb", None, LATEST),
        (UserFraction(choose="latest"), "aabb", None, LATEST),
        (UserHoldout(choose="latest"), "aabb", None, LATEST),
        (GlobalTime(), "abc", None, "global time 0.8: columns has no timestamps; use a split with"),
        (
            GlobalTime(),
            "abc",
            [5, 5, 5],
            "before 1970-01-01 00:00:05 UTC; all are of 1970-01-01 00",
        ),
        (GlobalTime(date=9), "abc", [5, 6, 7], r"at or after 1970-01-01 00:00:09 UTC; .* within"),
        (GlobalTime(date="1969-12-31"), "abc", [5, 6, 7], "is before 1969-12-31 00:00:00 UTC"),
        (Rolling(), "abc", None, "rolling 5 origins: columns has no timestamps; use a split with"),
        (Rolling(origins=1), "abc", [5, 5, 5], "origin 1, 1970-.* has no training rating; use "),
        (Rolling(origins=2), "abc", [4, 5, 5], "1, 1970-.*:05 UTC, is not before origin 2, .* us"),
        (Rolling(origins=[0.7, 0.1]), "abc", [4, 5, 6], "origin 1, .* is not before .* sort them"),
        (Rolling(origins=[5, 9]), "abc", [4, 5, 6], "origin 2, .* has no test rating; move or"),
        (
            Rolling(origins=[6], window="1 second"),
            "abc",
            [4, 4, 6],
            "rolling 1 origin, window 1 second: origin 1, .* or remove it, or widen `window`",
        ),
        (GlobalTime(date=3), "abc", [5, 10**10, 7], "to 2286-11-20 17:46:40 UTC, where ratings"),
    ],
)
def test_ratings_that_a_kind_cannot_divide_are_refused(section, users, times, message):
    with pytest.raises(SplitError, match=message):
        make(section, ratings_of(list(users), times), seed=0)


FOLDS = ["u1", "u2", "u3", "u4", "u5", "ua", "ub"]


def test_the_published_folds_of_movielens_are_made_from_the_rows_alone():
    rng = np.random.default_rng(5)
    rows = [(u, i) for u in (2, 10, 1) for i in rng.permutation(25)]
    rows = [rows[n] for n in rng.permutation(75)]
    ratings = Ratings.from_columns(*zip(*rows, strict=True), np.ones(75), scale=(1, 5))
    nth = [sum(user == each for each, _ in rows[:n]) for n, (user, _) in enumerate(rows)]
    expected = [set(range(15 * k, 15 * k + 15)) for k in range(5)]
    expected += [{n for n in range(75) if nth[n] // 10 == part} for part in (0, 1)]
    splits = make(MovieLensFolds(folds=FOLDS), ratings, 0)
    for split, tested in zip(splits, expected, strict=True):
        assert split.test.tolist() == sorted(tested, key=rows.__getitem__)
        assert split.train.tolist() == sorted({*range(75)} - tested, key=rows.__getitem__)
    words = Ratings.from_columns(["a", "b"], [1, 2], [1, 2], scale=(1, 5))
    with pytest.raises(SplitError, match=r"the id 'a' is not a whole number.*use ml-100k"):
        make(MovieLensFolds(), words, 0)


# u1 to u5: of the files in the archive of MovieLens 100K; ua and ub: of its rule.
PUBLISHED = """
u1.base 4325f44281c9f8c119a3694662d63fc2  u1.test 62d5d837e7c8e36550cc956b09c2ecc8
u2.base 79541afecccbd5365bb2c09b123a01c7  u2.test 1951a71b7e1f4ed254508007fa2f6b70
u3.base 55c67a63f516fa9e593d68c3be779970  u3.test cb3e4d0a9152041772285232ca002d4f
u4.base 66f64a75eeeffd20ff09533bcd31adcf  u4.test 328acfca94e85d01b1d7e92c7d73df3b
u5.base 0becb3392339231c08ba316944c79095  u5.test bec898f7091dba3b7bdf793d1998d2d6
ua.base 346eb46a756be3b382bdef4f7dcf3a01  ua.test 52e5d0355092dc1596899855b220508f
ub.base e4ce94f6e01e45f65b91a70bb9e8da2f  ub.test 5292d1e388d156aa0c19c384cdf35aca
"""


@pytest.mark.network
def test_the_published_files_of_movielens_come_out_byte_for_byte(ml_100k):
    frame, found = ml_100k.to_frame().astype({"rating": int}), {}
    for name, split in zip(FOLDS, make(MovieLensFolds(folds=FOLDS), ml_100k, 0), strict=True):
        for part, rows in (("base", split.train), ("test", split.test)):
            data = frame.iloc[rows].to_csv(sep="\t", header=False, index=False, lineterminator="\n")
            found[f"{name}.{part}"] = hashlib.md5(data.encode()).hexdigest()
    words = PUBLISHED.split()
    assert found == dict(zip(words[::2], words[1::2], strict=True))


@given(st.lists(st.integers(2, 6), min_size=5, max_size=30), st.integers(1, 2), STATES)
def test_leave_n_out_of_some_users_leaves_the_others_in_training(counts, n, state):
    counts = [n + 1, *counts[1:]]  # something is left where two are taken from every user
    users = np.repeat(np.arange(len(counts)), counts)
    data = Ratings.from_columns(users, np.arange(len(users)), np.ones(len(users)), scale=(0, 1))
    section = LeaveNOut(n=n, users=0.2, min_train=0, random_state=state)
    (split,) = make(section, data, 0)
    tested = Counter(data.users[split.test].tolist())
    assert len(tested) == math.ceil(0.2 * len(counts) - 1e-9)
    assert set(tested.values()) == {n}
    assert sorted([*split.train, *split.test]) == [*range(len(users))]
    assert split.name == f"leave-{n}-out random of 20% of the users, 0 in training"
    (every,) = make(LeaveNOut(n=n, min_train=0, random_state=state), data, 0)
    (all_of_them,) = make(
        LeaveNOut(n=n, min_train=0, random_state=state, users=len(counts)), data, 0
    )
    assert len(every.test) == len(all_of_them.test)


def test_a_split_that_leaves_no_training_rating_is_refused():
    users = np.repeat(np.arange(5), 2)
    data = Ratings.from_columns(users, np.arange(10), np.ones(10), scale=(0, 1))
    with pytest.raises(SplitError, match="no training rating is left of 10; change the sizes"):
        make(LeaveNOut(n=2, min_train=0), data, 0)


def test_more_users_than_there_are_cannot_be_left_out():
    data = Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    with pytest.raises(SplitError, match="3 test users cannot be drawn from 2; lower users"):
        make(LeaveNOut(users=3), data, 0)
