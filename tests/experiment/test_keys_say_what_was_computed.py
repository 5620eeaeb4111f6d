"""A key describes what was computed: the data that were read, and what code has read."""

from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.errors import HarnessError
from harness.experiment.cell import compute
from harness.experiment.plan import Plan
from harness.results.store import MaintainedStore

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
def own(write_module):
    """The file of an algorithm that changes the training set that it is given."""
    return write_module("ownalgorithm", OWN)


def planned(folder=None, algorithms=("BaselineOnly",), seed=1):
    """Return a plan on the bundled data, or on a new file of ratings."""
    config = {"metrics": ["rmse"], "baselines": False, "algorithms": list(algorithms)}
    if folder is None:
        return Plan.from_config(config | {"dataset": "bundled"})
    rng = np.random.default_rng(seed)
    rows = [f"u{n // 30},i{n % 30},{rng.integers(1, 6)}" for n in rng.permutation(600)[:200]]
    (folder / "ratings.csv").write_text("\n".join(["user,item,rating", *rows]) + "\n")
    return Plan.from_config(config | {"dataset": str(folder / "ratings.csv"), "statistics": None})


def computed(plan, cell):
    return compute(cell, plan, lambda *_: None)


def test_a_file_that_was_replaced_since_the_run_was_planned_is_not_computed_with(tmp_path):
    (cell,) = planned(tmp_path).cells
    worker = planned(tmp_path, seed=2)  # as another process has it: it reads the file again
    with pytest.raises(HarnessError, match="not those that the run was planned with"):
        computed(worker, cell)


@pytest.mark.usefixtures("own")
def test_an_algorithm_that_changes_its_training_set_changes_no_other_row():
    data = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}
    config = {"dataset": data, "metrics": ["rmse"], "baselines": False, "statistics": None}
    both, alone = (
        harness.run(config | {"algorithms": rows}, results=None, fresh=True).table["rmse"]
        for rows in (["ownalgorithm:Own", "BaselineOnly"], ["BaselineOnly"])
    )
    assert both.iloc[-1] == alone.iloc[0]


def test_a_cell_that_was_computed_from_something_else_is_found(tmp_path, cli):
    plan, store = planned(tmp_path, ["BaselineOnly", "ItemMean"]), MaintainedStore.default()
    one, other = plan.cells
    record = computed(plan, one)
    store.put(one.key, record)
    assert store.fault(one.key) is None
    store.put(other.key, record)
    code, out, _ = cli("cache", "verify")
    assert code == 1
    assert "was computed from other data or code than its key says" in out
    assert [entry.key for entry in store.entries()] == [one.key]


def test_a_stored_cell_of_users_that_the_data_lack_is_a_row_that_says_so(tmp_path):
    plan = planned(tmp_path)
    (cell,) = plan.cells
    record = computed(plan, cell)
    MaintainedStore.default().put(cell.key, replace(record, users=record.users + 1_000_000))
    run = harness.run(plan.experiment, results=None)
    assert run.table["error"].tolist() == ["its stored cell is not of these data"]
