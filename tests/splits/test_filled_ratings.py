"""Test ratings that are one filled-in number are recognised wherever they come from."""

import numpy as np
import pandas as pd
import pytest

import harness
from harness.metrics.arrays import filled_rating

FRAME = pd.DataFrame(
    [(f"u{u}", f"i{i}", 1 + (u * i) % 5) for u in range(12) for i in range(10)],
    columns=["user", "item", "rating"],
)
CONFIG = {"algorithms": ["ItemMean"], "baselines": False, "metrics": ["rmse", "ndcg@3"]}
NOTE = "ratings are 3.53, which nobody gives"


def noted(run):
    return [str(note) for note in run.info.notes if note.code == "filled-ratings"]


@pytest.mark.parametrize(
    "split", ["holdout", {"kind": "kfold", "n_splits": 2}, {"kind": "leave-n-out"}]
)
def test_a_frame_of_filled_ratings_gets_a_note(split):
    run = harness.run(CONFIG | {"split": split}, ratings=FRAME.assign(rating=3.53), results=None)
    assert noted(run)
    assert all(NOTE in note for note in noted(run))
    assert not noted(harness.run(CONFIG | {"split": split}, ratings=FRAME, results=None))


def test_a_predefined_anti_test_set_gets_a_note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    is_test = np.arange(len(FRAME)) % 4 == 0
    filled = FRAME.assign(rating=np.where(is_test, 3.53, FRAME["rating"]))
    filled.to_csv("all.csv", index=False)
    filled[is_test].to_csv("test.csv", index=False)
    config = CONFIG | {"dataset": "all.csv", "split": {"kind": "predefined", "test": "test.csv"}}
    assert any("all 30 " + NOTE in note for note in noted(harness.run(config, results=None)))


def test_a_number_that_people_give_is_no_filling():
    assert filled_rating([3.5] * 9) is filled_rating([1]) is filled_rating([3.53]) is None
    assert filled_rating([]) is filled_rating([np.nan] * 3) is None
    assert filled_rating(np.full(3, 2.25)) == 2.25
