"""A metric over the runs of a name: what changed is marked, what is not comparable is apart."""

import json
import shutil
from pathlib import Path

import pytest

import harness
from harness.errors import ResultsError
from harness.extras.history import values as history_values
from harness.extras.history.values import history
from harness.results import open_run

CONFIG = {
    "name": "tiny",
    "dataset": {"path": "ratings.csv", "scale": [1, 5]},
    "split": {"kind": "holdout", "test_size": 0.25},
    "algorithms": ["ItemMean"],
    "metrics": ["mae"],
    "baselines": False,
    "statistics": None,
}


def write_ratings(n_users):
    rows = [
        f"u{user},i{item},{user * item % 5 + 1}" for user in range(n_users) for item in range(8)
    ]
    Path("ratings.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of an item mean, and one of the same name with more ratings that replaced it."""
    folder = tmp_path_factory.mktemp("history")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        write_ratings(12)
        harness.run(CONFIG, results=folder / "runs")
        write_ratings(13)
        harness.run(CONFIG, results=folder / "runs")
    return folder / "runs"


@pytest.fixture
def run(runs):
    return open_run("tiny", runs)


def changed(run, **update):
    return harness.Run(run.info.model_copy(update=update), folder=run.folder)


def points_of(monkeypatch, *runs):
    monkeypatch.setattr(history_values, "runs_of_name", lambda _: ([*runs], []))
    (line,) = history(runs[-1]).lines
    return line.points


def test_a_value_on_other_data_is_not_compared_with_the_one_before(run, runs):
    answer = history(run)
    (line,) = answer.lines
    assert (answer.name, answer.metric, answer.n_runs) == ("tiny", "mae", 2)
    assert [point.breaks for point in line.points] == [[], ["data", "split"]]
    assert [len(part) for part in line.parts] == [1, 1]
    assert line.points[-1].value == run.info.rows[0].scores["mae"]
    assert "1 run not comparable" in answer.sentence()
    earlier = next(path for path in runs.iterdir() if "@" in path.name)
    assert history(open_run(earlier, runs)).to_dict() | {"notes": []} == answer.to_dict()


CHANGES = {
    "numpy 0.1 → 9.9": {"versions": {"numpy": "9.9"}},
    "code": {"commit": "1" * 40},
}


@pytest.mark.parametrize("text", CHANGES)
def test_changes_of_code_and_versions_are_marked_and_leave_the_line_whole(monkeypatch, run, text):
    first = changed(run, versions={"numpy": "0.1"}, commit=None)
    update = {"versions": {"numpy": "0.1"}, "commit": None} | CHANGES[text]
    points = points_of(monkeypatch, first, changed(run, **update))
    assert [(point.breaks, point.changes) for point in points] == [([], []), ([], [text])]


def test_equal_runs_have_no_marks(monkeypatch, run):
    points = points_of(monkeypatch, run, run)
    assert [(point.breaks, point.changes) for point in points] == [([], [])] * 2


@pytest.mark.parametrize("keys", [{"fallback": "mean"}, {"clip": False}])
def test_another_definition_breaks_the_line(monkeypatch, run, keys):
    other = changed(run, config=run.info.config | keys)
    assert points_of(monkeypatch, run, other)[1].breaks == ["definition"]


def test_failed_cells_break_the_line(monkeypatch, run):
    cells = [*run.info.cells, run.info.cells[0].model_copy(update={"fold": 1})]
    assert points_of(monkeypatch, run, changed(run, cells=cells))[1].breaks == ["failed cells"]


def test_another_seed_is_named(monkeypatch, run):
    cells = [cell.model_copy(update={"seed": 7}) for cell in run.info.cells]
    assert points_of(monkeypatch, run, changed(run, cells=cells))[1].breaks == ["seed"]


def test_other_settings_are_marked(monkeypatch, run):
    config = run.info.config | {"tuning": {"trials": 3}}
    assert points_of(monkeypatch, run, changed(run, config=config))[1].changes == ["settings"]


def test_the_latest_runs_one_metric_and_one_row_can_be_chosen(run):
    assert history(run, last=1).sentence() == "tiny: mae of 1 run; there is no earlier one"
    with pytest.raises(ResultsError, match="no row 'Item'; did you mean 'ItemMean'"):
        history(run, row="Item")
    with pytest.raises(ResultsError, match="no metric 'rmse'; "):
        history(run, metric="rmse")


def test_an_earlier_run_that_cannot_be_read_is_named(runs, tmp_path):
    shutil.copytree(runs, tmp_path / "runs")
    earlier = next(path for path in (tmp_path / "runs").iterdir() if "@" in path.name)
    (earlier / "run.json").write_text("{}")
    answer = history(open_run("tiny", tmp_path / "runs"))
    assert answer.n_runs == 1
    assert len(answer.notes) == 1
    assert earlier.name in answer.notes[0]


def test_the_command_shows_a_table_or_json(runs, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = cli("history", "tiny", "--results", runs)
    assert (code, err) == (0, "")
    assert out.startswith("tiny: mae of 2 runs; 1 run not comparable with the run before\n")
    assert "not comparable: data" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = cli("history", "tiny", "--results", runs, "--row", "ItemMean", "--json")
    assert code == 0
    assert json.loads(out)["result"]["lines"][0]["points"][1]["breaks"] == ["data", "split"]


def test_the_command_writes_a_page(runs, cli, tmp_path):
    path = tmp_path / "page.html"
    code, out, err = cli("history", "tiny", "--results", runs, "--page", path)
    assert (code, err) == (0, "")
    assert out.endswith(f"written to {path}\n")
    assert "<svg" in path.read_text(encoding="utf-8")
    assert cli("history", "tiny", "--results", runs, "--page", path)[0] == 2


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """Two runs of a name whose data changed between them, with rows that are compared."""
    folder = tmp_path_factory.mktemp("nights")
    rows = {"algorithms": ["BaselineOnly", "ItemMean"], "metrics": ["ndcg@3", "rmse"]}
    rows["statistics"] = {"resamples": 100}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        for n_users in (40, 42):
            write_ratings(n_users)
            harness.run(CONFIG | rows, results=folder / "runs")
    return folder / "runs"


def test_differences_in_the_same_run_are_a_curve_where_the_data_change(nights):
    run = open_run("tiny", nights)
    answer = history(run, metric="ndcg@3", baseline="ItemMean")
    lines = {line.algorithm: line for line in answer.lines}
    assert not lines["ItemMean"].has_differences
    line = lines["BaselineOnly"]
    assert [len(part) for part in line.parts] == [1, 1]
    assert [len(part) for part in line.difference_parts] == [2]
    assert "Differences to ItemMean are of one run" in answer.sentence()
    pair = run.pairs[run.pairs["metric"] == "ndcg@3"].iloc[0]
    assert (pair["first"], pair["second"]) == ("BaselineOnly", "ItemMean")
    last = line.points[-1]
    found = (last.difference, last.difference_low, last.difference_high)
    assert found == pytest.approx((pair["difference"], pair["low"], pair["high"]))


def test_a_metric_without_tests_has_differences_without_intervals(nights):
    run = open_run("tiny", nights)
    (line,) = history(run, metric="rmse", row="BaselineOnly", baseline="ItemMean").lines
    scores = {row.algorithm: row.scores["rmse"] for row in run.info.rows}
    last = line.points[-1]
    assert last.difference == pytest.approx(scores["BaselineOnly"] - scores["ItemMean"])
    assert last.difference_low is last.difference_high is None
    with pytest.raises(ResultsError, match="no row 'Itemmean'; did you mean 'ItemMean'"):
        history(run, baseline="Itemmean")


def test_the_command_shows_differences_and_the_gate_names_nights_by_their_times(nights, call):
    out = call.done("history", "tiny", "--baseline", "ItemMean", "--results", str(nights))
    assert "less ItemMean" in out
    run = open_run("tiny", nights)
    earlier = next(path for path in nights.iterdir() if "@" in path.name)
    old = changed(open_run(earlier, nights), started="2026-11-20T02:41:07+00:00")
    answer = harness.gate(run, old, metric="ndcg@3", row="BaselineOnly")
    now = run.info.started[:19].replace("T", " ")
    between = f"between tiny of 2026-11-20 02:41:07 and tiny of {now}:"
    assert any(between in note for note in answer.notes)
    assert f"BaselineOnly of {now} " in answer.sentences()[0]
    assert "BaselineOnly of 2026-11-20 02:41:07 " in answer.sentences()[0]
