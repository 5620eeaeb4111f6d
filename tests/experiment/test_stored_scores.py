"""A repeated run reads scores and comparisons of its cells back, as they were computed."""

import importlib
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import harness
import harness.experiment
from harness.results import environment
from harness.results.store import SCORES, CellStore, MaintainedStore

CONFIG = {
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "algorithms": ["BaselineOnly", "SVD"],
    "metrics": ["ndcg@5", "rmse", "precision(threshold=4)@5"],
    "baselines": False,
    "seed": [0, 1],
    "split": [{"kind": "kfold", "n_splits": 2}, "leave-n-out"],
}
FLOW = importlib.import_module("harness.experiment.run")
FOUND = {"cells-found", "scores-found"}
TIMES = {"started", "seconds", "files"}


@pytest.fixture
def scored(monkeypatch):
    """Return a list that grows by one when cells are scored."""
    calls = []
    evaluate = FLOW.evaluate

    def counted(*arguments):
        calls.append(1)
        return evaluate(*arguments)

    monkeypatch.setattr(FLOW, "evaluate", counted)
    return calls


def stored():
    store = MaintainedStore.default()
    return [store.path(entry.key, SCORES) for entry in store.entries(SCORES)]


def without_times(run):
    record = json.loads(run.info.model_dump_json(exclude=TIMES))
    for cell in record["cells"]:
        cell.pop("metric_seconds")
    record["notes"] = [note for note in record["notes"] if note["code"] not in FOUND]
    return record


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"statistics": None},
        {"analyses": ["ties"]},
        {"algorithms": ["BaselineOnly", {"name": "SVD", "label": "a"}, {"name": "SVD"}]},
        {
            "algorithms": [
                "SVD",
                {"name": "BaselineOnly", "search": {"bsl_options.reg_u": [5, 15]}},
            ],
            "tuning": {"method": "grid"},
            "split": "holdout",
        },
    ],
    ids=["several folds and seeds", "no statistics", "one analysis", "one cell twice", "tuned"],
)
def test_what_is_read_back_is_what_was_computed(scored, options, tmp_path):
    config = CONFIG | options
    first = harness.run(config, results=None)
    read = harness.run(config, results=tmp_path / "read")
    assert len(scored) == 1
    for path in stored():
        path.unlink()
    computed = harness.run(config, results=tmp_path / "computed")
    assert len(scored) == 2
    pd.testing.assert_frame_equal(read.users, computed.users, check_exact=True)
    pd.testing.assert_frame_equal(
        read.table.drop(columns="metric_seconds"),
        computed.table.drop(columns="metric_seconds"),
        check_exact=True,
    )
    assert without_times(read) == without_times(computed)
    codes = [{note.code for note in run.info.notes} & FOUND for run in (read, computed)]
    assert codes == [{"scores-found"}, {"cells-found"}]
    assert read.table["metric_seconds"].tolist() == first.table["metric_seconds"].tolist()
    users = [(tmp_path / name).glob("*/users.parquet") for name in ("read", "computed")]
    assert next(users[0]).read_bytes() == next(users[1]).read_bytes()


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "options",
    [
        {"metrics": ["ndcg@5", "rmse"]},
        {"headline": "rmse"},
        {"statistics": {"confidence": 0.9}},
        {"analyses": ["bounds"]},
        {"algorithms": ["SVD", "BaselineOnly"]},
        {"algorithms": ["BaselineOnly", {"name": "SVD", "label": "renamed"}]},
    ],
    ids=lambda options: next(iter(options)),
)
def test_another_config_is_scored_again(scored, options):
    harness.run(CONFIG, results=None)
    harness.run(CONFIG | options, results=None)
    assert len(scored) == 2


def test_name_and_execution_decide_no_score(scored):
    harness.run(CONFIG, results=None)
    again = harness.run(CONFIG | {"name": "renamed", "execution": {"workers": 2}}, results=None)
    assert (len(scored), again.info.name) == (1, "renamed")


def test_other_code_scores_again(scored, monkeypatch):
    harness.run(CONFIG, results=None)
    packages = environment.packages() | {"harness": "0" * 64}
    monkeypatch.setattr("harness.experiment.evaluate.packages", lambda: packages)
    harness.run(CONFIG, results=None)
    assert len(scored) == 2


def test_code_that_changed_since_the_process_began_keeps_no_scores(scored, monkeypatch):
    monkeypatch.setattr("psutil.Process.create_time", lambda process: 0.0)
    for _ in range(2):
        harness.run(CONFIG, results=None)
    assert (len(scored), stored()) == (2, [])


def test_what_is_known_of_items_decides_to_the_last_digit(scored):
    ratings = harness.load("bundled").to_frame()[["user", "item", "rating"]]
    items = ratings[["item"]].drop_duplicates()
    config = {"algorithms": ["BaselineOnly", "ItemMean"], "baselines": False}
    config |= {"dataset": "bundled", "metrics": ["ndcg(weights=column)@5"]}
    for propensity in (0.5, 0.5 + 1e-13, 0.5):
        known = harness.load(ratings, items=items.assign(propensity=propensity))
        harness.run(config, ratings=known, results=None)
    assert len(scored) == 2


def test_other_cells_are_scored_again(scored):
    first = harness.run(CONFIG, results=None)
    fresh = harness.run(CONFIG, results=None, fresh=True)
    assert len(scored) == 2
    # A cell that was computed again without its run, as by another one that was then killed:
    store = MaintainedStore.default()
    record = store.get(fresh.info.cells[0].key)
    record.rankings.relevance[:] = record.rankings.relevance[::-1]
    store.put(fresh.info.cells[0].key, record)
    other = harness.run(CONFIG, results=None)
    assert len(scored) == 3
    assert not np.array_equal(other.users["ndcg@5"], first.users["ndcg@5"])


def test_damaged_scores_are_computed_again_and_replaced(scored):
    first = harness.run(CONFIG, results=None)
    (path,) = stored()
    whole = path.read_bytes()
    for content in (whole[:-1], b"", whole.replace(b"scores-1", b"scores-0")):
        path.write_bytes(content)
        again = harness.run(CONFIG, results=None)
        pd.testing.assert_frame_equal(again.users, first.users, check_exact=True)
        assert path.read_bytes() != content
    assert len(scored) == 4


def test_what_code_of_ones_own_decides_is_scored_again(scored, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import harness\n\n"
        "class Lengths(harness.Analysis):\n"
        "    '''How long lists are.'''\n"
        "    def add(self, cell, scores):\n"
        "        pass\n"
    )
    config = CONFIG | {"plugins": [str(tmp_path / "mine.py")], "analyses": ["mine:Lengths"]}
    for _ in range(2):
        harness.run(config, results=None)
    assert (len(scored), stored()) == (2, [])


def test_a_failed_cell_keeps_no_scores(scored):
    config = CONFIG | {"algorithms": ["BaselineOnly", {"name": "SVD", "params": {"lr_all": 1e9}}]}
    for _ in range(2):
        failed = harness.run(config, results=None)
        assert failed.info.failed
    assert (len(scored), stored()) == (2, [])


def test_a_disk_without_room_for_scores_harms_nothing(scored, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CellStore, "put_scores", full)
    for _ in range(2):
        assert harness.run(CONFIG, results=None).table["ndcg@5"].notna().all()
    assert len(scored) == 2


def test_scores_are_verified_and_pruned_with_cells():
    harness.run(CONFIG, results=None)
    store = MaintainedStore.default()
    (path,) = stored()
    (entry,) = store.entries(SCORES)
    assert store.fault(entry.key, SCORES) is None
    path.write_bytes(path.read_bytes()[:-1])
    assert "do not match their checksum" in store.fault(entry.key, SCORES)
    n_cells = len([*store.entries()])
    assert store.prune(0) == n_cells
    assert (stored(), [*store.entries()]) == ([], [])


@pytest.mark.long
def test_a_run_of_finished_cells_loads_no_compiler_and_no_special_functions():
    config = {"dataset": "bundled", "algorithms": ["SVD", "KNNBasic"], "metrics": ["ndcg@10"]}
    code = f"import sys, harness\nharness.run({config!r}, results=None)\nprint(*sys.modules)\n"
    heavy = {"numba", "scipy", "scipy.special", "scipy.stats", "matplotlib", "jinja2", "requests"}
    shown = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        shown.append({*done.stdout.decode().split()} & heavy)
    assert shown == [{"numba", "scipy", "scipy.special"}, set()]
