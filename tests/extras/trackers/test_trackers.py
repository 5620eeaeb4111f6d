"""A run in a CSV file, in a real MLflow with a database file, and in a real W&B offline."""

import csv
import importlib
import json
import multiprocessing
import os

import pytest

import harness
from harness.errors import ResultsError
from harness.extras.trackers.csv_file import NAMES, CSVFile
from harness.extras.trackers.files_of_run import files_of
from harness.extras.trackers.mlflow_runs import SECONDS, MLflow, flat, mlflow_name, mlflow_names
from tests.config.test_trackers import ROW

CONFIG = {
    "name": "logged",
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
    "algorithms": [
        {"name": "ItemMean", "label": "../Mean (é)", "params": {"damping": 2.0}},
        "UserMean",
    ],
    "metrics": ["ndcg(gain=linear)@5", "rmse"],
    "baselines": False,
}


def lines(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_run_appends_a_line_a_row(place):
    run = harness.run(CONFIG, results=None, track="csv")
    harness.run(CONFIG | {"metrics": ["mae", "rmse"]}, results=None, track="csv")
    first, _, second, last = lines(place / "tracked.csv")
    assert (last["algorithm"], last["split"]) == ("UserMean", "holdout 20%")
    assert (first["run"], first["algorithm"]) == ("logged", "../Mean (é)")
    assert float(first["rmse"]) == run.table["rmse"].iloc[0]
    assert float(first["ndcg(gain=linear)@5_low"]) == run.table["ndcg(gain=linear)@5_low"].iloc[0]
    assert json.loads(first["params"]) == {"damping": 2.0}
    assert (first["mae"], second["ndcg(gain=linear)@5"]) == ("", "")
    assert float(second["mae"]) > 0
    assert [*first][: len(NAMES)] == [*NAMES]
    assert [path.name for path in place.iterdir()] == ["tracked.csv"]


@pytest.mark.parametrize("text", ["a,b\n1,2\n", 'started,run\n"x', "\n\n7\n"])
def test_another_file_is_left_as_it_is(place, text):
    path = place / "mine.csv"
    path.write_text(text)
    tracker = CSVFile(str(path))
    tracker.start("a", {})
    tracker.row(ROW)
    with pytest.raises(ResultsError, match=r"mine.csv: .*name another"):
        tracker.end(None)
    assert path.read_text() == text


def test_text_that_a_spreadsheet_would_run_is_text(place):
    tracker = CSVFile("a.csv")
    tracker.start("a", {})
    tracker.row(ROW.__class__(**{**vars(ROW), "algorithm": "=1+1"}))
    tracker.end(None)
    assert lines(place / "a.csv")[0]["algorithm"] == "'=1+1"


def _append(path):
    tracker = CSVFile(path)
    tracker.start("a", {})
    tracker.row(ROW)
    tracker.end(None)


@pytest.mark.long
def test_processes_that_append_at_once_lose_no_line(place):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(_append, [str(place / "a.csv")] * 12)
    assert len(lines(place / "a.csv")) == 12


@pytest.mark.long
def test_files_of_a_run_are_there_though_it_is_not_written(place):
    run = harness.run(CONFIG, results=None)
    with files_of(run) as files:
        assert [file.name for file in files] == [
            "config.yaml",
            "table.csv",
            "run.json",
            "report.html",
        ]
        again = harness.run(files[0], results=None)
        assert "../Mean" in files[1].read_text(encoding="utf-8")
    assert again.table["rmse"].tolist() == run.table["rmse"].tolist()
    assert [*place.iterdir()] == []


def test_names_are_those_that_mlflow_takes_and_all_differ():
    labels = ["ndcg@10", "ndcg_at_10", "é", "ü", "a/../b", "..", "", "x" * 300, "x" * 301]
    names = mlflow_names(labels)
    assert len({*names.values()}) == len(labels)
    assert names["ndcg@10"] == "ndcg_at_10"
    assert all(name and set(name) <= set("_-. :abcdghntxx0123456789") for name in names.values())
    assert all(len(name) <= 250 for name in names.values())
    assert mlflow_name("small_share(threshold=0.5)@10") == "small_share:threshold-0.5_at_10"


def test_nested_values_have_paths():
    assert dict(flat({"a": {"b": [1, {}]}, "c": None})) == {"a.b.0": 1, "a.b.1": {}, "c": None}
    assert dict(flat({})) == {}


@pytest.mark.mlflow
@pytest.mark.filterwarnings("default")
class TestMLflow:
    @pytest.fixture
    def client(self, place):
        """Return a client of a database file, and the parameters of the tracker for it."""
        library = pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")
        pytest.importorskip("sqlalchemy")
        uri = f"sqlite:///{place / 'm.db'}"
        return library.MlflowClient(uri), {"mlflow": {"uri": uri}}

    def runs(self, client, name="logged"):
        experiment = client.get_experiment_by_name(name)
        found = client.search_runs([experiment.experiment_id])
        children = [run for run in found if "mlflow.parentRunId" in run.data.tags]
        (parent,) = [run for run in found if run not in children]
        return parent, children

    def test_a_run_is_a_run_with_one_for_each_row(self, client, place):
        client, trackers = client
        run = harness.run(CONFIG | {"trackers": trackers}, results=place / "runs")
        parent, rows = self.runs(client)
        (row,) = [row for row in rows if row.info.run_name != "UserMean"]
        assert len(rows) == 2
        assert not [note for note in run.info.notes if note.code == "tracker-failed"]
        assert (parent.info.run_name, parent.info.status) == ("logged", "FINISHED")
        assert parent.data.params["metrics.0"] == "ndcg(gain=linear)@5"
        files = [file.path for file in client.list_artifacts(parent.info.run_id)]
        assert {*files} == {"config.yaml", "table.csv", "run.json", "report.html"}
        assert row.info.run_name == "../Mean (é)"
        assert row.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert row.data.tags["algorithm"] == "../Mean (é)"
        assert row.data.params == {"damping": "2.0"}
        table = run.table.iloc[0]
        for label, name in {
            "rmse": "rmse",
            "ndcg(gain=linear)@5": "ndcg:gain-linear_at_5",
            "ndcg(gain=linear)@5_low": "ndcg:gain-linear_at_5_low",
            "n_users": "n_users",
        }.items():
            assert row.data.metrics[name] == table[label]
        assert "ndcg:gain-linear_at_5: ndcg(gain=linear)@5\n" in row.data.tags["labels"]

    def test_a_run_that_ends_early_is_not_left_running(self, client, monkeypatch):
        client, trackers = client
        monkeypatch.setattr(
            importlib.import_module("harness.experiment.run"), "_computed", self.stopped
        )
        with pytest.raises(KeyboardInterrupt):
            harness.run(CONFIG | {"trackers": trackers}, results=None)
        parent, rows = self.runs(client)
        assert (parent.info.status, rows) == ("KILLED", [])

    @staticmethod
    def stopped(*_):
        raise KeyboardInterrupt

    def test_one_that_cannot_be_reached_is_a_note(self, client, monkeypatch):
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        trackers = {"mlflow": {"uri": "http://127.0.0.1:9", "experiment": "x"}}
        run = harness.run(CONFIG | {"trackers": trackers}, results=None)
        (note,) = [note for note in run.info.notes if note.code == "tracker-failed"]
        assert "the tracker mlflow failed: " in str(note)


@pytest.mark.wandb
@pytest.mark.long
@pytest.mark.filterwarnings("default")
class TestWandB:
    @pytest.fixture(autouse=True)
    def _library(self, place, monkeypatch):
        pytest.importorskip("wandb", reason="the extra `wandb` is not installed")
        monkeypatch.delenv("WANDB_API_KEY", raising=False)
        monkeypatch.delenv("WANDB_MODE", raising=False)

    def test_a_run_is_kept_offline_with_its_summary_and_files(self, place):
        trackers = {"wandb": {"mode": "offline", "project": "mine"}}
        run = harness.run(CONFIG | {"trackers": trackers}, results=place / "runs")
        assert not [note for note in run.info.notes if note.code == "tracker-failed"]
        (file,) = place.glob("wandb/offline-run-*/run-*.wandb")
        written = file.read_bytes()
        for text in ("../Mean (é)/ndcg(gain=linear)@5_low", "report.html", "config.yaml", "mine"):
            assert text.encode() in written or json.dumps(text)[1:-1].encode() in written

    def test_nobody_is_asked_for_a_key(self):
        run = harness.run(CONFIG, results=None, track="wandb")
        (note,) = [note for note in run.info.notes if note.code == "tracker-failed"]
        assert "not logged in; call `wandb login`, or set `mode: offline`" in str(note)


@pytest.mark.parametrize("own", [None, "600"])
def test_requests_to_a_server_of_mlflow_fail_within_seconds_unless_the_user_says(monkeypatch, own):
    seen = {}

    class Client:
        def set_tag(self, *given):
            seen.update({name: os.environ.get(name) for name in SECONDS})
            raise OSError("nobody there")

    for name in SECONDS:
        monkeypatch.delenv(name, raising=False)
    if own:
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", own)
    tracker = MLflow()
    tracker.client, tracker.run_id = Client(), "1"
    with pytest.raises(OSError, match="nobody there"):
        tracker.fail("interrupted")
    expected = SECONDS | ({"MLFLOW_HTTP_REQUEST_TIMEOUT": own} if own else {})
    assert seen == expected
    assert int(SECONDS["MLFLOW_HTTP_REQUEST_MAX_RETRIES"]) < 3  # each waits twice as long
    left = {name for name in SECONDS if name in os.environ}
    assert left == ({"MLFLOW_HTTP_REQUEST_TIMEOUT"} if own else set())
