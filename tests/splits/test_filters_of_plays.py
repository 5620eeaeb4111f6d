"""Filters for counts of plays, and the split that published numbers on them used."""

from __future__ import annotations

import numpy as np
import pytest

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import FirstUsers, MinRating, OwnTraining, TopItems, filter, make

PLAYS = Ratings.from_columns(
    ["cat", "ann", "ann", "bob", "bob", "cat"],
    ["x", "y", "z", "y", "x", "w"],
    [9.0, 1.0, 4.0, 2.0, 1.0, 3.0],
    name="plays",
)


def pairs(ratings: Ratings) -> list[str]:
    users, items = ratings.user_ids[ratings.users], ratings.item_ids[ratings.items]
    return [f"{user} {item}" for user, item in zip(users, items, strict=True)]


def test_the_first_users_are_those_that_come_first_in_the_data() -> None:
    left, [report] = filter([FirstUsers(n=2)], PLAYS, seed=0)
    assert pairs(left) == ["cat x", "ann y", "ann z", "cat w"]
    assert report.describe().startswith("first 2 users: ratings 6 -> 4, users 3 -> 2")


def test_users_that_an_earlier_filter_took_out_count_among_the_first() -> None:
    left, _ = filter([TopItems(n=1, by="count"), FirstUsers(n=2)], PLAYS, seed=0)
    assert pairs(left) == ["cat x"]
    left, _ = filter([TopItems(n=1, by="sum"), FirstUsers(n=1)], PLAYS, seed=0)
    assert pairs(left) == ["cat x"]
    with pytest.raises(SplitError, match="first 1 users leaves none of 1 ratings"):
        filter([TopItems(n=1), FirstUsers(n=1)], PLAYS.take(np.array([1])), seed=0)


def test_more_users_than_there_are_is_all_of_them() -> None:
    assert len(filter([FirstUsers(n=99)], PLAYS, seed=0)[0]) == len(PLAYS)


def test_top_items_go_by_their_ratings_or_by_the_sum() -> None:
    by_count, _ = filter([TopItems(n=2)], PLAYS, seed=0)
    assert sorted(set(by_count.item_ids[by_count.items])) == ["x", "y"]
    by_sum, [report] = filter([TopItems(n=2, by="sum")], PLAYS, seed=0)
    assert sorted(set(by_sum.item_ids[by_sum.items])) == ["x", "z"]
    assert report.name == "top 2 items by sum"


def test_low_counts_go() -> None:
    left, [report] = filter([MinRating(at_least=3)], PLAYS, seed=0)
    assert left.ratings.tolist() == [9.0, 4.0, 3.0]
    assert report.name == "ratings of at least 3"


def test_own_training_data_are_both_parts_and_it_is_said() -> None:
    [split] = make(OwnTraining(), PLAYS, seed=0)
    assert split.train.tolist() == split.test.tolist() == list(range(6))
    assert split.name == "own training data"
    assert split.notes == (
        "evaluated on its own training data: scores show what a model remembers, not what it "
        "predicts",
    )
