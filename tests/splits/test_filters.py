"""Filters, against loops that are plain to see."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import (
    FirstUsers,
    KCore,
    MinRating,
    MinRatingsPerItem,
    MinRatingsPerUser,
    SampleUsers,
    TimeWindow,
    TopItems,
    filter,
)

pairs = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7)), unique=True, min_size=1, max_size=50
)


def ratings_of(some_pairs, times=None):
    users, items = zip(*some_pairs, strict=True)
    return Ratings.from_columns(users, items, np.ones(len(users)), times, scale=(1, 5), name="made")


def pairs_of(ratings):
    ids = ratings.user_ids[ratings.users], ratings.item_ids[ratings.items]
    return list(zip(*(each.astype(int).tolist() for each in ids), strict=True))


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
            assert f"ratings {len(some_pairs)} -> {len(expected)}," in report
            assert (
                f"users {len({u for u, _ in some_pairs})} -> {len({u for u, _ in expected})},"
                in report
            )
            assert report.endswith(f"-> {len({i for _, i in expected})}")


def test_filters_follow_one_another_and_each_reports_before_and_after():
    ratings = ratings_of([(1, 1), (1, 2), (2, 1), (3, 3)], times=[5, 6, 7, 8])
    left, reports = filter([TimeWindow(start=6), MinRatingsPerItem(n=1)], ratings, seed=0)
    assert pairs_of(left) == [(1, 2), (2, 1), (3, 3)]
    assert reports == [
        "from 6: ratings 4 -> 3, users 3 -> 3, items 3 -> 3",
        "at least 1 per item: ratings 3 -> 3, users 3 -> 3, items 3 -> 3",
    ]
    assert len(ratings) == 4


def test_a_time_window_has_its_start_and_not_its_end():
    ratings = ratings_of([(1, 1), (1, 2), (1, 3)], times=[86_399, 86_400, 172_800])
    left, _ = filter([TimeWindow(start="1970-01-02", end="1970-01-03")], ratings, seed=0)
    assert pairs_of(left) == [(1, 2)]


def test_a_sample_of_users_keeps_all_of_their_ratings_and_follows_its_seed():
    ratings = ratings_of([(user, item) for user in range(8) for item in range(5)])
    for size, n_kept in ((0.3, 3), (5, 5), (0.25, 2)):
        left, (report,) = filter([SampleUsers(n=size)], ratings, seed=0)
        assert report.endswith(f"ratings 40 -> {5 * n_kept}, users 8 -> {n_kept}, items 5 -> 5")
        assert pairs_of(filter([SampleUsers(n=size)], ratings, seed=0)[0]) == pairs_of(left)
    samples = {tuple(pairs_of(filter([SampleUsers(n=4)], ratings, seed)[0])) for seed in range(20)}
    assert len(samples) > 10
    fixed = SampleUsers(n=4, random_state=1)
    assert len({tuple(pairs_of(filter([fixed], ratings, seed)[0])) for seed in range(9)}) == 1


PLAYS = Ratings.from_columns(
    ["3", "1", "1", "2", "2", "3"], ["7", "8", "9", "8", "7", "6"], [9, 1, 4, 2, 1, 3], name="plays"
)


@pytest.mark.parametrize(
    ("filters", "left", "name"),
    [
        ([FirstUsers(n=2)], [(3, 7), (1, 8), (1, 9), (3, 6)], "first 2 users"),
        ([FirstUsers(n=99)], pairs_of(PLAYS), "first 99 users"),
        ([TopItems(n=2)], [(3, 7), (1, 8), (2, 8), (2, 7)], "top 2 items by count"),
        ([TopItems(n=2, by="sum")], [(3, 7), (1, 9), (2, 7)], "top 2 items by sum"),
        ([MinRating(at_least=3)], [(3, 7), (1, 9), (3, 6)], "ratings of at least 3"),
        # Users that an earlier filter took out count among the first.
        ([TopItems(n=1, by="count"), FirstUsers(n=2)], [(3, 7)], "top 1 items by count"),
        ([TopItems(n=1, by="sum"), FirstUsers(n=1)], [(3, 7)], "top 1 items by sum"),
    ],
)
def test_filters_of_plays_keep_what_they_say(filters, left, name):
    ratings, reports = filter(filters, PLAYS, seed=0)
    assert pairs_of(ratings) == left
    assert reports[0].startswith(f"{name}: ratings 6 -> ")


@pytest.mark.parametrize(
    ("filters", "ratings", "message"),
    [
        (
            [TopItems(n=1), FirstUsers(n=1)],
            PLAYS.take(np.array([1])),
            "first 1 users leaves none of 1",
        ),
        ([SampleUsers(n=9)], PLAYS, "a sample of 9 users cannot be drawn from 3; lower n"),
        (
            [TimeWindow(end=5)],
            PLAYS,
            "before 5 needs timestamps, which plays does not have; remove",
        ),
    ],
)
def test_a_filter_that_cannot_be_applied_is_refused(filters, ratings, message):
    with pytest.raises(SplitError, match=message):
        filter(filters, ratings, seed=0)
