"""Texts in place of ids that stand for none: found, said, and dropped or kept as a config says."""

from __future__ import annotations

import pandas as pd
import pytest

from harness import datasets
from harness.errors import DataError
from tests.datasets import ways

from .test_values import load, remedies

WAYS = ("csv", "jsonl", "parquet", "frame", "rows")


def given(users, items, way, folder, ratings=None):
    """Return ratings by users of items, as one of the ways in takes them."""
    frame = pd.DataFrame(
        {"user": users, "item": items, "rating": ratings or [n % 5 + 1 for n in range(len(users))]}
    )
    return ways.given(frame, way, folder)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ["nan", "NaN", "NA", "None", "null", "<NA>"])
@pytest.mark.parametrize("role", ["user", "item"])
def test_among_numbers_a_lost_id_lacks_a_value(tmp_path, text, role, way):
    users, items = ["1", "1", "2", text, text, "3"], ["7", "8", "9", "7", "8", "9"]
    data = given(*((users, items) if role == "user" else (items, users)), way, tmp_path)
    with pytest.raises(DataError, match=f"the {role} '{text}' stands for no {role}") as refused:
        load(data)
    assert "`missing: drop` drops 2 incomplete rows" in str(refused.value)
    ratings = load(data, missing="drop")
    assert (len(ratings), (ratings.n_users, ratings.n_items)[role == "item"]) == (4, 3)
    assert "2 rows without a value dropped" in map(str, ratings.notes)
    keep = next(keys for keys in remedies(refused.value) if "no_id" in keys)
    assert text in (ratings := load(data, **keep)).user_ids.tolist() + ratings.item_ids.tolist()
    assert len(ratings) == 6


@pytest.mark.parametrize("way", WAYS)
def test_among_names_a_note_asks_and_names_both_ways_on(tmp_path, way):
    data = given(["ann", "nan", "bob", "nan"], ["x", "y", "x", "z"], way, tmp_path)
    ratings = load(data)
    assert len(ratings) == 4
    (note,) = (note for note in ratings.notes if note.code == "maybe-no-id")
    assert note.values == {"role": "user", "text": "nan", "key": "'nan'", "n": 2}
    drop, keep = remedies(note)
    dropped = load(data, **drop)
    assert dropped.user_ids.tolist() == ["ann", "bob"]
    assert "2 rows without a user or an item (nan) dropped" in map(str, dropped.notes)
    assert len(load(data, **keep)) == 4
    assert "maybe-no-id" not in {note.code for note in load(data, **keep).notes}


@pytest.mark.parametrize("way", WAYS)
def test_a_column_without_any_id_is_refused(tmp_path, way):
    data = given(["nan", "None", "NA"], ["x", "y", "z"], way, tmp_path)
    with pytest.raises(DataError, match="3 problems in 3 rows") as refused:
        load(data)
    assert "missing: drop" not in str(refused.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("label", ["Total", "TOTAL:", "mean", "Summe"])
def test_a_last_row_of_totals_is_left_out(tmp_path, label, way):
    data = given(["1", "1", "2", label], ["7", "8", "9", "3"], way, tmp_path, [4, 5, 3, 4])
    ratings = load(data)
    assert ratings.user_ids.tolist() == ["1", "2"]
    note = next(note for note in ratings.notes if note.code == "total-left-out")
    (keep,) = remedies(note)
    assert label in load(data, **keep).user_ids.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_among_names_totals_have_to_add_up_or_are_asked_about(tmp_path, way):
    users, items = ["ann", "ann", "bob", "Total"], ["x", "y", "x", "3"]
    ratings = load(given(users, items, way, tmp_path, [4, 5, 3, 12]))
    assert ratings.user_ids.tolist() == ["ann", "bob"]
    data = given(users, ["x", "y", "x", "z"], way, tmp_path, [4, 5, 3, 5])
    note = next(note for note in load(data).notes if note.code == "maybe-total")
    drop, keep = remedies(note)
    assert load(data, **drop).user_ids.tolist() == ["ann", "bob"]
    assert "Total" in load(data, **keep).user_ids.tolist()


def test_several_rows_of_totals_and_none_elsewhere(tmp_path):
    users = ["1", "1", "2", "Total", "Mean"]
    ratings = load(given(users, ["7", "8", "9", "", ""], "csv", tmp_path, [4, 5, 3, 12, 4]))
    assert len(ratings) == 3
    users = ["1", "Total", "2", "3"]  # not at the end
    assert "Total" in load(given(users, ["7", "8", "9", "9"], "csv", tmp_path)).user_ids


def test_a_fault_in_a_row_of_totals_is_none(tmp_path):
    (tmp_path / "a.csv").write_text("user,item,rating\n1,7,4\n2,8,5\nTotal,2,4.5 (mean)\n")
    assert len(load(tmp_path / "a.csv")) == 2


def test_of_columns_from_python_the_keys_hold():
    columns = ["1", "nan", "2"], ["x", "y", "z"], [1, 2, 3]
    with pytest.raises(DataError, match="stands for no user"):
        datasets.Ratings.from_columns(*columns)
    assert len(datasets.Ratings.from_columns(*columns, no_id=[])) == 3
    assert len(datasets.Ratings.from_columns(*columns, no_id=["nan"])) == 2
    assert len(datasets.Ratings.from_columns(*columns, missing="drop")) == 2


def test_yaml_writes_some_of_them_without_quotation_marks(tmp_path):
    data = given(["1", "null", "2"], ["x", "y", "z"], "csv", tmp_path)
    assert len(load(data, no_id=[None])) == 2
