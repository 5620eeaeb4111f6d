"""Numbers that stand for "not rated": dropped and counted by a config, else asked about."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harness import datasets
from harness.datasets.cleaning import suspect
from harness.errors import DataError


def ratings_of(counts):
    """Return ratings by their counts."""
    return np.repeat(np.array([*counts], float), [*counts.values()])


def frame_of(counts):
    ratings = ratings_of(counts)
    return pd.DataFrame({"user": np.arange(len(ratings)) // 5, "item": np.arange(len(ratings)) % 5,
                         "rating": ratings})  # fmt: skip


ANIME = {-1: 20, 6: 10, 7: 20, 8: 30, 9: 15, 10: 10}
BOOK_CROSSING = {0: 60, 1: 1, 2: 1, 3: 2, 4: 2, 5: 9, 6: 6, 7: 13, 8: 18, 9: 12, 10: 13}
GOODREADS = {0: 55, 1: 2, 2: 4, 3: 12, 4: 18, 5: 16}
FOOD = {0: 60, 1: 13, 2: 14, 3: 41, 4: 187, 5: 816}
GAP = {0: 3, 5: 10, 6: 20, 7: 20, 8: 10}
JESTER = {-9.5: 4, -3.25: 5, 0.0: 5, 4.5: 6, 9.75: 5, 99: 15}
NINES = {-99: 5, -2: 10, -1: 10, 1: 10, 2: 10}


@pytest.mark.parametrize(
    ("counts", "value"),
    [(ANIME, -1), (BOOK_CROSSING, 0), (GOODREADS, 0), (FOOD, 0), (GAP, 0), (JESTER, 99),
     (NINES, -99)],
)  # fmt: skip
def test_a_number_that_looks_like_not_rated_is_asked_about(counts, value):
    ratings = datasets.load(frame_of(counts))
    (note,) = (note for note in ratings.notes if note.code == "maybe-not-rated")
    n_all = sum(counts.values())
    assert note.values["value"] == str(value)
    assert (note.values["n"], note.values["n_all"]) == (counts[value], n_all)
    assert f"{counts[value]} of the {n_all:,} ratings" in str(note)
    assert f"`not_rated: [{value}]`" in str(note)
    assert len(ratings) == n_all  # nothing is dropped in silence


@pytest.mark.parametrize(
    "counts",
    [
        {0: 10, 1: 11, 2: 12, 3: 13, 4: 14},  # 0 to 4
        {0: 19, 1: 10, 2: 12, 3: 13, 4: 14},  # many zeros, but no spike
        {0.5: 60, 1: 3, 1.5: 4, 2: 9, 5: 10},
        {-1: 20, 0: 10, 1: 20},  # dislike and like
        {-2: 10, -1: 10, 0: 10, 1: 10, 2: 10},
        {0: 30, 1: 30},
        {float(n): 1 for n in range(200)},  # counts
        {0: 4, 1: 1, 2: 1, 3: 1, 4: 1},  # too few
        {90: 5, 95: 5, 97: 5, 98: 5, 99: 5},  # percentages
    ],
)
def test_other_ratings_are_not_asked_about(counts):
    assert suspect(ratings_of(counts)) is None


@pytest.mark.parametrize("source", ["frame", "file", "ratings"])
def test_not_rated_drops_and_counts(tmp_path, source):
    frame = frame_of(BOOK_CROSSING)
    keys = {"not_rated": [0]}
    if source == "file":
        frame.to_csv(tmp_path / "a.csv", index=False)
        ratings = datasets.load({"path": str(tmp_path / "a.csv"), **keys})
    elif source == "frame":
        ratings = datasets.Ratings.from_frame(frame, **keys)
    else:
        section = datasets.section.DatasetSection(path="-", **keys)
        ratings = datasets.loading.load_under(datasets.load(frame), section)
    assert sorted(ratings.ratings) == sorted(frame.rating[frame.rating > 0])
    codes = {note.code: note for note in ratings.notes if "rated" in note.code}
    assert codes["not-rated-dropped"].values == {"values": [0.0], "n": 60, "n_all": 137}
    if source != "ratings":
        assert ratings.scale == (1, 10)
        assert "maybe-not-rated" not in codes


def test_a_number_below_the_scale_is_named_with_its_key():
    with pytest.raises(DataError, match=r"`not_rated: \[-1\]` drops 20 of them"):
        datasets.Ratings.from_frame(frame_of(ANIME), scale=(1, 10))


def test_an_empty_list_says_that_all_are_ratings():
    ratings = datasets.Ratings.from_frame(frame_of(GOODREADS), not_rated=[])
    assert "maybe-not-rated" not in {note.code for note in ratings.notes}
    assert len(ratings) == sum(GOODREADS.values())


def test_rows_without_a_rating_may_repeat_a_pair_that_has_one():
    columns = (["a", "a", "b"], ["x", "x", "x"], [0, 4, 5])
    ratings = datasets.Ratings.from_columns(*columns, not_rated=[0])
    assert ratings.ratings.tolist() == [4, 5]


def test_nothing_left_is_refused():
    with pytest.raises(DataError, match=r"no ratings are left .*2 rows of 2"):
        datasets.Ratings.from_columns(["a", "b"], ["x", "x"], [0, 0], not_rated=[0])


@pytest.mark.parametrize("values", ["0", [float("nan")], ["zero"]])
def test_what_is_no_list_of_numbers_is_refused(values):
    with pytest.raises(DataError, match="not_rated"):
        datasets.Ratings.from_columns(["a", "b"], ["x", "x"], [0, 1], not_rated=values)
