"""Numbers that stand for "not rated": dropped and counted by a config, else asked about."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harness import datasets
from harness.datasets.cleaning import suspect
from harness.errors import DataError
from tests.datasets import ways

from .test_values import load, remedies


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


ONE_TO_FIVE = {1: 60, 2: 60, 3: 70, 4: 55, 5: 75}
WAYS = ("csv", "jsonl", "parquet", "frame", "rows")


def of_way(counts, way, folder):
    """Return ratings by their counts, as one of the ways in takes them."""
    return ways.given(frame_of(counts), way, folder)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [9, 8, 99, 99999, 255, 127, 50, 10, -1, -9, -99])
def test_a_value_apart_from_a_scale_is_asked_about_with_the_key_that_drops_it(tmp_path, value, way):
    data = of_way(ONE_TO_FIVE | {value: 4}, way, tmp_path)
    (note,) = (note for note in load(data).notes if note.code == "maybe-not-rated")
    drop, keep = remedies(note)
    assert drop == {"not_rated": [value]}
    dropped = load(data, **drop)
    assert (len(dropped), dropped.scale) == (320, (1, 5))
    kept = load(data, **keep)
    assert len(kept) == 324
    assert "maybe-not-rated" not in {note.code for note in kept.notes}


@pytest.mark.parametrize("way", WAYS)
def test_a_single_value_that_is_far_is_refused_with_the_key_that_drops_it(tmp_path, way):
    data = of_way(ONE_TO_FIVE | {255: 1}, way, tmp_path)
    with pytest.raises(DataError, match="the rating 255 is far from") as refused:
        load(data)
    keys = next(keys for keys in remedies(refused.value) if "not_rated" in keys)
    assert (len(load(data, **keys)), load(data, **keys).scale) == (320, (1, 5))


def test_two_marks_of_a_survey_are_asked_about_one_after_the_other():
    frame = frame_of(ONE_TO_FIVE | {8: 4, 9: 5})
    (keys, _) = remedies(next(n for n in load(frame).notes if n.code == "maybe-not-rated"))
    assert keys == {"not_rated": [9]}
    (keys, _) = remedies(next(n for n in load(frame, **keys).notes if n.code == "maybe-not-rated"))
    assert keys == {"not_rated": [9, 8]}
    assert load(frame, **keys).scale == (1, 5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("high", [5, 10])
def test_few_zeros_below_a_usual_scale_are_said(tmp_path, way, high):
    data = of_way({0: 12} | {n: 60 + n for n in range(1, high + 1)}, way, tmp_path)
    note = next(note for note in load(data).notes if note.code == "zeros-are-ratings")
    (keys,) = remedies(note)
    assert load(data, **keys).scale == (1, high)
    assert "zeros-are-ratings" not in {n.code for n in load(data, scale=[0, high]).notes}


@pytest.mark.parametrize(
    "counts",
    [
        {1: 200, 2: 90, 3: 40, 4: 15, 5: 8, 9: 2},  # counts with a long tail
        dict.fromkeys(range(1, 11), 20),
        {1: 20, 2: 20, 3: 20, 4: 20, 6: 3},
    ],
)
def test_values_that_belong_to_the_others_are_not(counts):
    assert suspect(ratings_of(counts)) is None
