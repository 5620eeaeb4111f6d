"""Splits in time, against scikit-learn and an example worked by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import TimeSeriesSplit, train_test_split

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import GlobalTime, make


def ratings_at(times):
    rows = np.arange(len(times))
    return Ratings.from_columns(rows % 3, rows, rows % 5 + 1.0, times, scale=(1, 5))


@settings(deadline=None, max_examples=100)
@given(st.integers(4, 60), st.integers(1, 59), st.randoms(use_true_random=False))
def test_without_ties_it_is_the_last_fold_of_scikit_learns_time_series(n, n_test, random):
    n_test = min(n_test, n - 1)
    times = np.array(random.sample(range(10 * n), n))
    order = np.argsort(times)
    (split,) = make(GlobalTime(quantile=1 - n_test / n), ratings_at(times), seed=0)
    series = TimeSeriesSplit(n_splits=2, test_size=n_test) if 2 * n_test < n else None
    if series is not None:
        train, test = list(series.split(order))[-1]
        assert set(split.train) == set(order[train])
        assert set(split.test) == set(order[test])
    train, test = train_test_split(order, test_size=n_test, shuffle=False)
    assert set(split.train) == set(train)
    assert set(split.test) == set(test)


def test_an_example_worked_by_hand():
    #                   0   1   2   3   4   5   6   7   8   9
    times = np.array([50, 10, 40, 20, 40, 30, 60, 40, 70, 80])
    # In order: 10 20 30 40 40 40 50 60 70 80. Half of ten ratings is five, and place 5, counted
    # from 0, holds a 40: all three ratings of second 40 are test, three ratings remain.
    (split,) = make(GlobalTime(quantile=0.5), ratings_at(times), seed=0)
    assert split.train.tolist() == [1, 3, 5]
    assert split.test.tolist() == [0, 2, 4, 6, 7, 8, 9]
    assert split.notes[0] == "training is before 1970-01-01 00:00:40 UTC, test from then on"
    (split,) = make(GlobalTime(date=41), ratings_at(times), seed=0)
    assert split.test.tolist() == [0, 6, 8, 9]


def test_a_date_is_midnight_in_universal_time():
    day = 86_400
    ratings = ratings_at([883_612_799, 883_612_800, 883_612_800 + day, 0])
    for date in ("1998-01-01", "1998-01-01T00:00:00", "1998-01-01T02:00:00+02:00", 883_612_800):
        (split,) = make(GlobalTime(date=date), ratings, seed=0)
        assert split.train.tolist() == [0, 3]
    assert split.name == "global time 883612800"


def test_users_and_items_that_training_never_saw_are_reported():
    ratings = Ratings.from_columns(
        ["a", "a", "b", "c", "c"], [1, 2, 1, 1, 3], [1, 2, 3, 4, 5], [1, 2, 3, 8, 9], scale=(1, 5)
    )
    (split,) = make(GlobalTime(quantile=0.6), ratings, seed=0)
    assert "1 of 1 test user (100.0%) has no training rating" in split.notes
    assert "1 of 2 test items (50.0%) has no training rating" in split.notes


@pytest.mark.parametrize(
    ("section", "times", "message"),
    [
        (GlobalTime(), None, r"global time 0.8: columns has no timestamps; use a split without"),
        (GlobalTime(), [5, 5, 5], r"no rating is before 1970-01-01 00:00:05 UTC; choose a moment"),
        (GlobalTime(date=9), [5, 6, 7], r"at or after 1970-01-01 00:00:09 UTC; .* within 1970-01"),
        (GlobalTime(date="1969-12-31"), [5, 6, 7], r"no rating is before 1969-12-31 00:00:00 UTC"),
        (
            GlobalTime(date=3),
            [5, 10**10, 7],
            r"choose .* to 2286-11-20 17:46:40 UTC, where ratings are",
        ),
    ],
)
def test_a_moment_without_ratings_on_both_sides_is_refused(section, times, message):
    ratings = Ratings.from_columns([1, 2, 3], [1, 2, 3], [1, 2, 3], times, scale=(1, 5))
    with pytest.raises(SplitError, match=message):
        make(section, ratings, seed=0)
