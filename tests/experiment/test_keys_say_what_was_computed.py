"""A key describes what was computed: the data that were read and the code that is loaded."""

import importlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.algorithms.own import code_digest
from harness.cli import main
from harness.errors import HarnessError
from harness.experiment.cell import compute
from harness.experiment.plan import Plan
from harness.results.store import CellStore

OWN = """
import surprise

SHIFT = 0.5

class Own(surprise.AlgoBase):
    def fit(self, trainset):
        super().fit(trainset)
        trainset.rating_scale = (0, 1)
        trainset.by_user.ratings[:] = 1.0
        trainset.user_ids[:] = "changed"
        trainset.n_users = 1
        return self

    def estimate(self, u, i):
        return 3.0 + (SHIFT if u in {"a", "b"} else 0.0)
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module with an algorithm that changes the training set that it is given."""
    (tmp_path / "ownalgorithm.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "ownalgorithm.py"
    sys.modules.pop("ownalgorithm", None)


def ratings_file(path, seed):
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(600)[:200]
    rows = [f"u{pair // 30},i{pair % 30},{rng.integers(1, 6)}" for pair in pairs]
    path.write_text("\n".join(["user,item,rating", *rows]) + "\n")


def planned(config, folder=None):
    config = {"metrics": ["rmse"], "baselines": False, **config}
    if folder is not None:
        config["dataset"] = str(folder / config["dataset"])
    return Plan.from_config(config)


def test_a_file_that_was_replaced_since_the_run_was_planned_is_not_computed_with(tmp_path):
    config = {"dataset": "ratings.csv", "algorithms": ["BaselineOnly"]}
    ratings_file(tmp_path / "ratings.csv", seed=1)
    (cell,) = planned(config, tmp_path).cells
    ratings_file(tmp_path / "ratings.csv", seed=2)
    worker = planned(config, tmp_path)  # as another process has it: it reads the file again
    with pytest.raises(HarnessError, match="not those that the run was planned with"):
        compute(cell, worker, lambda *_: None)


def test_the_key_of_an_own_algorithm_is_the_code_that_is_loaded(own):
    config = {"dataset": "bundled", "algorithms": [{"name": "ownalgorithm:Own"}]}
    (before,) = planned(config).cells
    own.write_text(OWN.replace("0.5", "0.25"))
    (edited,) = planned(config).cells
    assert edited.key == before.key  # the old code is what would run
    importlib.reload(sys.modules["ownalgorithm"])
    (loaded,) = planned(config).cells
    assert loaded.key != before.key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x): return x + 1", "def f(x): return x + 2"),
        ("def f(x, y=1): return y", "def f(x, y=2): return y"),
        ("def f(x): return x.a", "def f(x): return x.b"),
        ("class B:\n    def f(self): return 1", "class B:\n    def f(self): return 2"),
        ("class B(int): pass", "class B(float): pass"),
        ("class B:\n    @property\n    def f(self): return 1", "class B:\n    f = None"),
        ("def f(x): return [y * 2 for y in x]", "def f(x): return [y * 3 for y in x]"),
    ],
)
def test_loaded_code_tells_versions_apart_where_there_is_no_file(one, other, monkeypatch):
    def digest(source):
        module = type(sys)("made")
        monkeypatch.setitem(sys.modules, "made", module)
        exec(f"class A: pass\n{source}", vars(module))
        return code_digest(module.A)

    assert digest(one) == digest(f"# moved down, with a comment\n\n{one}")
    assert digest(one) != digest(other)


def test_a_change_of_data_in_the_file_is_another_key_in_the_next_process(own):
    assert digest_in_a_process(own) == digest_in_a_process(own, seed="2")
    before = digest_in_a_process(own)
    own.write_text(OWN.replace("SHIFT = 0.5", "SHIFT = {'a': 0.5}"))
    assert digest_in_a_process(own) != before


def digest_in_a_process(own, seed="1"):
    command = (
        "import ownalgorithm; from harness.algorithms.own import code_digest;"
        "print(code_digest(ownalgorithm.Own))"
    )
    done = subprocess.run(
        [sys.executable, "-c", command],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(own.parent)},
        cwd=own.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


@pytest.mark.parametrize("rows", [["BaselineOnly"], ["ownalgorithm:Own", "BaselineOnly"]])
def test_an_algorithm_that_changes_its_training_set_changes_no_other_row(own, rows):
    config = {
        "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
        "split": {"kind": "holdout", "random_state": 1},
        "metrics": ["rmse"],
        "baselines": False,
        "statistics": None,
    }
    run = harness.run(config | {"algorithms": rows}, results=None)
    alone = harness.run(config | {"algorithms": ["BaselineOnly"]}, results=None, fresh=True)
    assert run.table["rmse"].iloc[-1] == alone.table["rmse"].iloc[0]


def test_a_cell_that_was_computed_from_something_else_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    ratings_file(tmp_path / "ratings.csv", seed=1)
    config = {"dataset": "ratings.csv", "algorithms": ["BaselineOnly", "ItemMean"]}
    plan = planned(config, tmp_path)
    cells, store = plan.cells, CellStore.default()
    records = [compute(cell, plan, lambda *_: None) for cell in cells]
    store.put(cells[0].key, records[0])
    assert store.fault(cells[0].key) is None
    store.put(cells[1].key, records[0])
    with pytest.raises(SystemExit, match="1"):
        main(["cache", "verify"])
    assert "was computed from other data or code than its key says" in capsys.readouterr().out
    assert [entry.key for entry in store.entries()] == [cells[0].key]


def test_a_stored_cell_of_users_that_the_data_lack_is_a_row_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    ratings_file(tmp_path / "ratings.csv", seed=1)
    config = {"dataset": str(tmp_path / "ratings.csv"), "algorithms": ["BaselineOnly"]}
    plan = planned(config)
    (cell,) = plan.cells
    record = compute(cell, plan, lambda *_: None)
    CellStore.default().put(cell.key, replace(record, users=record.users + 1_000_000))
    config |= {"metrics": ["rmse"], "baselines": False, "statistics": None}
    run = harness.run(config, results=None)
    assert run.table["error"].tolist() == ["its stored cell is not of these data"]
