"""Trials: which are handed out together, and what each leaves on disk."""

import pytest

from harness import evaluation, metrics
from harness.experiment import run
from harness.experiment.pool import Pool
from harness.results.store import CellRecord, CellStore

GRID = {"method": "grid", "trials": 2, "metric": "ndcg@5"}
CONFIG = {
    "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 900}},
    "algorithms": [{"name": "KNNBasic", "search": {"k": [2, 5]}}],
    "metrics": ["ndcg@10"],
    "baselines": False,
    "tuning": GRID,
}


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    """The store of a cache that is this test's own."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    return CellStore.default()


@pytest.mark.parametrize(
    ("tuning", "n_trials", "batches"),
    [
        ({"trials": 5}, 5, [12, 2]),
        ({"method": "grid", "trials": 50}, 6, [14, 2]),  # it ends with its last setting
        ({"seconds": 1e-9}, 0, [2, 2]),  # looked at after each trial
    ],
)
def test_trials_that_do_not_wait_for_a_value_are_handed_out_together(
    monkeypatch, tuning, n_trials, batches
):
    compute, sizes = Pool.compute, []
    monkeypatch.setattr(
        Pool,
        "compute",
        lambda self, cells, **how: sizes.append(len(cells)) or compute(self, cells, **how),
    )
    more = {
        "split": {"kind": "kfold", "n_splits": 2},
        "algorithms": [{"name": "KNNBasic", "search": {"k": [1, 2, 3, 4, 5, 6]}}],
        "tuning": tuning,
    }
    done = run(CONFIG | more, results=None)
    assert [cell.n_trials for cell in done.info["cells"]] == [n_trials] * 2
    assert sizes == batches


def test_a_trial_keeps_numbers_and_the_final_cell_keeps_lists(store):
    run(CONFIG, results=None)
    sizes = sorted(entry.n_bytes for entry in store.entries())
    assert len(sizes) == 4
    assert sizes[2] < 2_000 < sizes[3]


@pytest.mark.parametrize("metric", ["ndcg@5", "rmse", "recall(threshold=5)@3"])
def test_the_score_of_a_trial_is_the_one_of_its_lists(monkeypatch, metric):
    whole, judged = [], CellRecord.judged
    monkeypatch.setattr(
        CellRecord, "judged", lambda self, means: whole.append(self) or judged(self, means)
    )
    done = run(CONFIG | {"tuning": GRID | {"metric": metric}}, results=None)
    wanted = (metrics.parse(metric),)
    expected = [
        evaluation.evaluate(wanted, each.rankings, each.pairs, each.kept)[metric].mean
        for each in whole
    ]
    assert len(expected) == 3
    assert done.trials["value"].tolist() == expected


def test_a_search_by_another_metric_computes_its_own_trials(store):
    for metric in ("ndcg@5", "rmse"):
        run(CONFIG | {"tuning": GRID | {"metric": metric}}, results=None)
    assert len([entry for entry in store.entries() if entry.n_bytes < 2_000]) == 6


def test_a_trial_that_no_user_can_be_scored_in_is_read_back_as_such():
    label = "recall(threshold=99)@3"
    config = CONFIG | {"metrics": [label], "tuning": GRID | {"metric": label}}
    done, again = (run(config, results=None) for _ in range(2))
    assert done.trials["value"].isna().all()
    assert "no user of the validation part has a score" in done.failed[0]["error"]
    assert again.trials["value"].isna().all()
    assert set(again.trials["error"]) == {""}
