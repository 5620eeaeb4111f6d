"""Filters, against loops that are plain to see."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import filter
from harness.splits.filters import (
    FirstUsers,
    KCore,
    MaxRatingsPerUser,
    MinRating,
    MinRatingsPerItem,
    MinRatingsPerUser,
    SampleUsers,
    TimeWindow,
    TopItems,
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


def peel(left, n):
    """Take out one poor user or item at a time until there is none."""
    while left:
        users, items = Counter(u for u, _ in left), Counter(i for _, i in left)
        poor = next((p for p in left if users[p[0]] < n or items[p[1]] < n), None)
        if poor is None:
            break
        left = [pair for pair in left if pair != poor]
    return left


def enough(some_pairs, n, side):
    counts = Counter(pair[side] for pair in some_pairs)
    return [pair for pair in some_pairs if counts[pair[side]] >= n]


@given(pairs, st.integers(1, 4))
def test_minimum_counts_are_those_of_a_loop_and_a_core_is_what_is_left_of_peeling(some_pairs, n):
    for section, left in (
        (KCore(n=n), peel(some_pairs, n)),
        (MinRatingsPerUser(n=n), enough(some_pairs, n, 0)),
        (MinRatingsPerItem(n=n), enough(some_pairs, n, 1)),
    ):
        if not left:
            with pytest.raises(SplitError, match=f"filters: {section.describe()} leaves none of"):
                filter([section], ratings_of(some_pairs), seed=0)
            continue
        kept, reports = filter([section], ratings_of(some_pairs), seed=0)
        assert pairs_of(kept) == left
        before, after = (
            (len(each), len({u for u, _ in each}), len({i for _, i in each}))
            for each in (some_pairs, left)
        )
        counts = zip(("ratings", "users", "items"), before, after, strict=True)
        changes = ", ".join(f"{noun} {old} -> {new}" for noun, old, new in counts)
        assert reports == [f"{section.describe()}: {changes}"]


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
TIMED = ratings_of([(1, 1), (1, 2), (2, 1), (3, 3)], times=[86_399, 86_400, 172_799, 172_800])


@pytest.mark.parametrize(
    ("filters", "ratings", "left", "report"),
    [
        ([FirstUsers(n=2)], PLAYS, [(3, 7), (1, 8), (1, 9), (3, 6)], "first 2 users: ratings 6"),
        ([FirstUsers(n=99)], PLAYS, pairs_of(PLAYS), "first 99 users: ratings 6"),
        ([TopItems(n=2)], PLAYS, [(3, 7), (1, 8), (2, 8), (2, 7)], "top 2 items by count: "),
        ([TopItems(n=2, by="sum")], PLAYS, [(3, 7), (1, 9), (2, 7)], "top 2 items by sum: "),
        ([MinRating(at_least=3)], PLAYS, [(3, 7), (1, 9), (3, 6)], "ratings of at least 3: "),
        # Users that an earlier filter took out count among the first.
        ([TopItems(n=1), FirstUsers(n=2)], PLAYS, [(3, 7)], "first 2 users: ratings 2"),
        ([TopItems(n=1, by="sum"), FirstUsers(n=1)], PLAYS, [(3, 7)], "first 1 users: ratings 2"),
        # A window has its start and not its end.
        (
            [TimeWindow(start="1970-01-02", end="1970-01-03")],
            TIMED,
            [(1, 2), (2, 1)],
            "from 1970-01-02, before 1970-01-03: ratings 4 -> 2, users 3 -> 2, items 3 -> 2",
        ),
        (
            [TimeWindow(start=86_400), MinRatingsPerItem(n=1)],
            TIMED,
            [(1, 2), (2, 1), (3, 3)],
            "at least 1 per item: ratings 3 -> 3, users 3 -> 3, items 3 -> 3",
        ),
    ],
)
def test_filters_keep_what_they_say_one_after_another(filters, ratings, left, report):
    before = pairs_of(ratings)
    kept, reports = filter(filters, ratings, seed=0)
    assert pairs_of(kept) == left
    assert len(reports) == len(filters)
    assert reports[-1].startswith(report)
    assert pairs_of(ratings) == before


@pytest.mark.parametrize(
    ("filters", "ratings", "message"),
    [
        ([TopItems(n=1), FirstUsers(n=1)], PLAYS.take(np.array([1])), "first 1 users leaves none"),
        ([SampleUsers(n=9)], PLAYS, "a sample of 9 users cannot be drawn from 3; lower n"),
        ([TimeWindow(end=5)], PLAYS, "before 5 needs timestamps, which plays does not have; rem"),
    ],
)
def test_a_filter_that_cannot_be_applied_is_refused(filters, ratings, message):
    with pytest.raises(SplitError, match=message):
        filter(filters, ratings, seed=0)


@given(pairs, st.integers(1, 5), st.sampled_from(["random", "latest"]))
def test_a_user_keeps_at_most_so_many_ratings(some_pairs, n, choose):
    times = [(7 * place) % 5 for place in range(len(some_pairs))]
    kept, _ = filter([MaxRatingsPerUser(n=n, choose=choose)], ratings_of(some_pairs, times), seed=1)
    for user in {user for user, _ in some_pairs}:
        rows = [row for row, (other, _) in enumerate(some_pairs) if other == user]
        latest = {some_pairs[row] for row in sorted(rows, key=lambda row: (times[row], row))[-n:]}
        here = {pair for pair in pairs_of(kept) if pair[0] == user}
        assert len(here) == min(n, len(rows))
        assert choose == "random" or here == latest


def test_the_latest_ratings_need_timestamps():
    with pytest.raises(SplitError, match=r"at most 2 per user, latest needs .*use choose"):
        filter([MaxRatingsPerUser(n=2, choose="latest")], ratings_of([(1, 1)]), seed=0)
