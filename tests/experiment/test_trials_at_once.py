"""Trials that do not wait for each other's value are handed out together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.experiment import run
from harness.experiment.plan import Cell
from harness.experiment.pool import Pool

CONFIG = {
    "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": [{"name": "KNNBasic", "search": {"k": [1, 2, 3, 4, 5, 6]}}],
    "metrics": ["ndcg@10"],
    "baselines": False,
}


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Return a list that takes in how many cells were handed out each time."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    execute, sizes = Pool.execute, []

    def counted(self: Pool, cells: list[Cell]) -> Any:
        sizes.append(len(cells))
        return execute(self, cells)

    monkeypatch.setattr(Pool, "execute", counted)
    return sizes


def test_drawn_trials_of_all_folds_come_together(batches: list[int]) -> None:
    done = run({**CONFIG, "tuning": {"trials": 5}}, results=None)
    assert [info["n_trials"] for info in done.info["cells"]] == [5, 5]
    assert batches == [12, 2]


def test_a_grid_ends_with_its_last_setting(batches: list[int]) -> None:
    done = run({**CONFIG, "tuning": {"method": "grid", "trials": 50}}, results=None)
    assert [info["n_trials"] for info in done.info["cells"]] == [6, 6]
    assert batches == [14, 2]


def test_a_budget_of_seconds_is_looked_at_after_each_trial(batches: list[int]) -> None:
    done = run({**CONFIG, "tuning": {"seconds": 1e-9}}, results=None)
    assert [info["n_trials"] for info in done.info["cells"]] == [0, 0]
    assert batches == [2, 2]
