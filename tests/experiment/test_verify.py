"""A run, computed again from its folder and compared."""

import json

import pytest

import harness
from harness.errors import ResultsError
from harness.results.record import to_json

CONFIG = {
    "name": "small",
    "dataset": {"synthetic": {"n_users": 40, "n_items": 20, "n_ratings": 300}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@5", "rmse"],
    "baselines": False,
    "statistics": None,
}


@pytest.fixture
def folder(tmp_path):
    harness.run(CONFIG, results=tmp_path)
    return tmp_path / "small"


def rewrite(folder, change):
    """Write the record of a run again, with one change."""
    info = harness.read_run(folder).info
    change(info)
    (folder / "run.json").write_bytes(to_json(info))


def test_a_run_that_comes_out_again_is_equal(folder, cli):
    answer = harness.verify(folder)
    assert answer.is_equal
    assert [row.row for row in answer.rows] == ["BaselineOnly", "ItemMean"]
    assert (answer.versions, answer.changes) == ([], [])
    code, out, _ = cli("verify", folder)
    assert (code, out.splitlines()[0]) == (0, "small: all 2 rows equal to the last digit")


def test_the_first_cell_that_differs_is_named_and_the_other_rows_are_equal(folder, cli):
    last = []

    def change(info):
        cell = info.cells_of_rows[info.rows[1].row][1]
        last.append(cell.scores["rmse"].mean)
        cell.scores["rmse"].mean = 0.5

    rewrite(folder, change)
    code, out, _ = cli("verify", folder, "--json")
    answer = json.loads(out)["result"]
    assert (code, answer["equal"]) == (1, False)
    assert answer["rows"] == [
        {"row": "BaselineOnly", "difference": ""},
        {"row": "ItemMean", "difference": f"seed 0, fold 2: rmse was 0.5, is {last[0]!r}"},
    ]


def test_versions_that_changed_are_listed(folder):
    rewrite(folder, lambda info: info.versions.update(numpy="1.0.0"))
    answer = harness.verify(folder)
    assert answer.is_equal
    (version,) = answer.versions
    assert version.startswith("numpy 1.0.0, now ")


def test_changed_data_is_said(tmp_path):
    path = tmp_path / "ratings.csv"
    frame = harness.load(CONFIG["dataset"]).to_frame()
    frame.to_csv(path, index=False)
    harness.run(CONFIG | {"dataset": {"path": str(path)}}, results=tmp_path)
    frame.assign(rating=frame["rating"].to_numpy()[::-1]).to_csv(path, index=False)
    answer = harness.verify(tmp_path / "small")
    assert not answer.is_equal
    assert answer.changes == ["other data"]


def test_a_run_without_a_folder_says_what_to_do():
    with pytest.raises(ResultsError, match="has no folder; write it with"):
        harness.verify(harness.run(CONFIG, results=None))
