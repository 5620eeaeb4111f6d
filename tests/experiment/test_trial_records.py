"""What a trial leaves on disk: its score by the metric that decides, and no user's list."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import evaluation, metrics
from harness.experiment import run
from harness.results.store import CellRecord, CellStore

CONFIG = {
    "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 900}},
    "algorithms": [{"name": "KNNBasic", "search": {"k": [2, 5]}}],
    "metrics": ["ndcg@10"],
    "baselines": False,
    "tuning": {"method": "grid", "trials": 2, "metric": "ndcg@5"},
}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CellStore:
    """Return the store of a cache that is this test's own."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    return CellStore.default()


def test_a_trial_keeps_numbers_and_the_final_cell_keeps_lists(store: CellStore) -> None:
    run(CONFIG, results=None)
    sizes = sorted(entry.n_bytes for entry in store.entries())
    assert len(sizes) == 4
    assert sizes[2] < 2_000 < sizes[3]


@pytest.mark.parametrize("metric", ["ndcg@5", "rmse", "recall(threshold=5)@3"])
def test_the_score_of_a_trial_is_the_one_of_its_lists(
    store: CellStore, monkeypatch: pytest.MonkeyPatch, metric: str
) -> None:
    whole: list[CellRecord] = []
    judged = CellRecord.judged

    def spied(self: CellRecord, means: dict[str, float | None]) -> CellRecord:
        whole.append(self)
        return judged(self, means)

    monkeypatch.setattr(CellRecord, "judged", spied)
    done = run(CONFIG | {"tuning": {**CONFIG["tuning"], "metric": metric}}, results=None)
    wanted = (metrics.parse(metric),)
    expected = [
        evaluation.evaluate(wanted, each.rankings, each.pairs, each.kept)[metric].mean
        for each in whole
    ]
    assert len(expected) == 3
    assert done.trials["value"].tolist() == expected


def test_a_search_by_another_metric_computes_its_own_trials(store: CellStore) -> None:
    run(CONFIG, results=None)
    run(CONFIG | {"tuning": {**CONFIG["tuning"], "metric": "rmse"}}, results=None)
    trials = [entry for entry in store.entries() if entry.n_bytes < 2_000]
    assert len(trials) == 6


def test_a_trial_that_no_user_can_be_scored_in_is_read_back_as_such(store: CellStore) -> None:
    everything_is_bad = {"metrics": ["recall(threshold=99)@3"]}
    tuning = {**CONFIG["tuning"], "metric": "recall(threshold=99)@3"}
    done = run(CONFIG | everything_is_bad | {"tuning": tuning}, results=None)
    assert done.trials["value"].isna().all()
    assert "no user of the validation part has a score" in done.failed[0]["error"]
    again = run(CONFIG | everything_is_bad | {"tuning": tuning}, results=None)
    assert again.trials["value"].isna().all()
    assert set(again.trials["error"]) == {""}
