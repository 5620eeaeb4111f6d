"""Filters, against loops that are plain to see."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import (
    Counts,
    KCore,
    MinRatingsPerItem,
    MinRatingsPerUser,
    SampleUsers,
    TimeWindow,
    filter,
)

pairs = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7)), unique=True, min_size=1, max_size=50
)


def ratings_of(some_pairs, times=None):
    users, items = zip(*some_pairs, strict=True)
    return Ratings.from_columns(users, items, np.ones(len(users)), times, scale=(1, 5), name="made")


def pairs_of(ratings):
    return list(
        zip(
            ratings.user_ids[ratings.users].astype(int).tolist(),
            ratings.item_ids[ratings.items].astype(int).tolist(),
            strict=True,
        )
    )


def peel(some_pairs, n):
    """Take out one poor user or item at a time until there is none."""
    left = list(some_pairs)
    while left:
        users, items = Counter(u for u, _ in left), Counter(i for _, i in left)
        poor = next((p for p in left if users[p[0]] < n or items[p[1]] < n), None)
        if poor is None:
            break
        left.remove(poor)
    return left


@settings(deadline=None)
@given(pairs, st.integers(1, 4))
def test_a_k_core_is_what_is_left_after_peeling_one_rating_at_a_time(some_pairs, n):
    expected = peel(some_pairs, n)
    if not expected:
        with pytest.raises(SplitError, match=f"filters: {n}-core leaves none of"):
            filter([KCore(n=n)], ratings_of(some_pairs), seed=0)
    else:
        left, _ = filter([KCore(n=n)], ratings_of(some_pairs), seed=0)
        assert pairs_of(left) == expected


@settings(deadline=None)
@given(pairs, st.integers(1, 3))
def test_minimum_counts_look_once_at_users_or_items(some_pairs, n):
    for section, side in ((MinRatingsPerUser(n=n), 0), (MinRatingsPerItem(n=n), 1)):
        counts = Counter(pair[side] for pair in some_pairs)
        expected = [pair for pair in some_pairs if counts[pair[side]] >= n]
        if expected:
            left, (report,) = filter([section], ratings_of(some_pairs), seed=0)
            assert pairs_of(left) == expected
            assert report.before.n_ratings == len(some_pairs)
            assert report.after == Counts(
                len(expected), len({u for u, _ in expected}), len({i for _, i in expected})
            )


def test_filters_follow_one_another_and_each_reports_before_and_after():
    ratings = ratings_of([(1, 1), (1, 2), (2, 1), (3, 3)], times=[5, 6, 7, 8])
    left, reports = filter([TimeWindow(start=6), MinRatingsPerItem(n=1)], ratings, seed=0)
    assert pairs_of(left) == [(1, 2), (2, 1), (3, 3)]
    assert [report.describe() for report in reports] == [
        "from 6: ratings 4 -> 3, users 3 -> 3, items 3 -> 3",
        "at least 1 per item: ratings 3 -> 3, users 3 -> 3, items 3 -> 3",
    ]
    assert len(ratings) == 4


def test_a_time_window_has_its_start_and_not_its_end():
    ratings = ratings_of([(1, 1), (1, 2), (1, 3)], times=[86_399, 86_400, 172_800])
    left, _ = filter([TimeWindow(start="1970-01-02", end="1970-01-03")], ratings, seed=0)
    assert pairs_of(left) == [(1, 2)]
    with pytest.raises(
        SplitError, match="before 5 needs timestamps, which made does not have; remove"
    ):
        filter([TimeWindow(end=5)], ratings_of([(1, 1)]), seed=0)


def test_a_sample_of_users_keeps_all_of_their_ratings_and_follows_its_seed():
    ratings = ratings_of([(user, item) for user in range(8) for item in range(5)])
    for size, n_kept in ((0.3, 3), (5, 5), (0.25, 2)):
        left, (report,) = filter([SampleUsers(n=size)], ratings, seed=0)
        assert report.after == Counts(n_kept * 5, n_kept, 5)
        assert pairs_of(filter([SampleUsers(n=size)], ratings, seed=0)[0]) == pairs_of(left)
    samples = {tuple(pairs_of(filter([SampleUsers(n=4)], ratings, seed)[0])) for seed in range(20)}
    assert len(samples) > 10
    fixed = SampleUsers(n=4, random_state=1)
    assert len({tuple(pairs_of(filter([fixed], ratings, seed)[0])) for seed in range(9)}) == 1


def test_a_sample_larger_than_the_users_is_refused():
    with pytest.raises(SplitError, match="a sample of 9 users cannot be drawn from 1; lower n"):
        filter([SampleUsers(n=9)], ratings_of([(1, 1)]), seed=0)
