"""A run tells its trackers what happens; one that fails is a note, and nothing else is lost."""

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.console.commands import main
from harness.errors import ConfigError, PluginError
from harness.experiment.execute.progress import Noted as Note

MODULE = '''
import harness

CALLS = []

class Told(harness.Tracker):
    """It keeps what it is told."""

    def __init__(self, mark: str = ""):
        self.mark = mark
        CALLS.clear()

    def start(self, name, config):
        CALLS.append(("start", name, config["seed"], self.mark))
        config.clear()  # a copy

    def row(self, row):
        CALLS.append(("row", row))
        row.metrics.clear()

    def end(self, run):
        CALLS.append(("end", run.folder))

    def fail(self, reason):
        CALLS.append(("fail", reason))

class FailsStart(Told):
    def start(self, name, config): raise OSError("no room here")

class FailsRow(Told):
    def row(self, row): raise ValueError("cannot take rows")

class FailsEnd(Told):
    def end(self, run): raise SystemExit(3)

class FailsMade(Told):
    def __init__(self): raise KeyError("lost")

class LooksFirst(Told):
    def row(self, row):
        from pathlib import Path
        assert Path("runs/told/run.json").exists()

class Lacks(Told):
    @classmethod
    def missing(cls): return "it needs a thing; install it"
'''


@pytest.fixture
def module(module):
    """Import the module before a run does, which would unload it again: its calls are read."""
    importlib.import_module(module)
    return module


CONFIG = {
    "name": "told",
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
    "candidates": {"kind": "rated", "unknown_users": "drop"},
    "algorithms": ["ItemMean", {"name": "UserMean", "label": "users"}],
    "metrics": ["ndcg@5", "rmse"],
    "outputs": {"lists": 3},
    "baselines": False,
}


def test_a_tracker_is_told_of_start_rows_and_end(module, tmp_path):
    trackers = {f"{module}:Told": {"mark": "here"}}
    run = harness.run(CONFIG | {"trackers": trackers}, results=tmp_path / "runs")
    start, first, second, end = sys.modules[module].CALLS
    assert start == ("start", "told", [0], "here")
    assert end == ("end", run.folder)
    for (_, row), algorithm in zip((first, second), ("ItemMean", "users"), strict=True):
        (line,) = run.table[run.table["algorithm"] == algorithm].to_dict("records")
        assert (row.title, row.algorithm, row.split) == (algorithm, algorithm, line["split"])
        assert row.metrics == {}  # its own copy, which it cleared
        assert row.intervals["ndcg@5"] == (line["ndcg@5_low"], line["ndcg@5_high"])
        assert row.n_users == line["n_users"]
    (plugin,) = [plugin for plugin in run.info.plugins if plugin.kind == "trackers"]
    assert plugin.name == f"{module}:Told"
    assert not [note for note in run.info.notes if note.code == "tracker-failed"]


@pytest.mark.parametrize(
    ("name", "said", "last"),
    [
        ("FailsStart", "no room here", ("fail", "OSError: no room here")),
        ("FailsRow", "ValueError: cannot take rows", ("fail", "ValueError: cannot take rows")),
        ("FailsEnd", "SystemExit: 3", ("fail", "SystemExit: 3")),
        ("FailsMade", "KeyError: 'lost'", None),
    ],
)
def test_one_that_fails_is_a_note_and_nothing_else_is_lost(module, tmp_path, name, said, last):
    results, events = tmp_path / "runs", []
    run = harness.run(
        CONFIG, results=results, track=[f"{module}:{name}", "csv"], watch=events.append
    )
    (note,) = [note for note in run.info.notes if note.code == "tracker-failed"]
    assert f"the tracker {module}:{name} failed: " in str(note)
    assert said in str(note)
    assert f"({module})" in str(note)
    assert f"note: {note}" in [event.message for event in events if isinstance(event, Note)]
    assert (sys.modules[module].CALLS or [None])[-1] == last
    assert len((tmp_path / "tracked.csv").read_text().splitlines()) == 3
    again = harness.read_run(run.folder)
    assert note in again.info.notes
    assert len(again.lists)
    assert again.table["ndcg@5"].tolist() == run.table["ndcg@5"].tolist()
    assert (run.earlier, [*results.glob("[!.]*")]) == (None, [run.folder])


@pytest.mark.parametrize("key", ["trackers", "track"])
def test_one_whose_package_is_missing_is_refused_before_anything_is_computed(module, key):
    name, events = f"{module}:Lacks", []
    config = CONFIG | ({"trackers": ["csv", name]} if key == "trackers" else {})
    track = ["csv", name] if key == "track" else ()
    with pytest.raises(PluginError) as refused:
        harness.run(config, track=track, watch=events.append)
    assert str(refused.value) == (
        f"{key}: {name!r} cannot log: it needs a thing; install it, or leave the tracker out"
    )
    assert not [event for event in events if type(event).__name__ != "Stage"]
    assert not Path("runs").exists()
    assert not Path("tracked.csv").exists()


def test_a_command_names_the_option_of_a_tracker_whose_package_is_missing(module, cli):
    Path("a.json").write_text(json.dumps(CONFIG))
    code, _, said = cli("run", "a.json", "--track", f"csv,{module}:Lacks")
    assert code == 2
    assert f"--track: '{module}:Lacks' cannot log: it needs a thing" in " ".join(said.split())
    assert not Path("runs").exists()
    Path("b.json").write_text(json.dumps(CONFIG | {"trackers": f"{module}:Lacks"}))
    code, out, said = cli("check", "b.json", "--no-probe")
    assert code == 2
    assert f"trackers: '{module}:Lacks' cannot log" in " ".join((out + said).split())


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_client_that_is_not_installed_is_named_with_its_installation(monkeypatch, name):
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None)
    message = f"{name} is not installed; pip install 'surprise-harness\\[{name}\\]', or leave"
    with pytest.raises(PluginError, match=message):
        harness.run(CONFIG, results=None, track=name)


def test_a_run_that_checks_another_one_is_logged_nowhere(module):
    run = harness.run(CONFIG | {"trackers": ["csv"]})
    assert len(Path("tracked.csv").read_text().splitlines()) == 3
    assert harness.verify(run).is_equal
    assert len(Path("tracked.csv").read_text().splitlines()) == 3


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Let files be written to a passing folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("error", "reason"), [(KeyboardInterrupt(), "interrupted"), (OSError("full"), "OSError: full")]
)
def test_a_run_that_comes_to_no_end_ends_its_trackers(module, monkeypatch, error, reason):
    def stopped(*_):
        raise error

    monkeypatch.setattr(importlib.import_module("harness.experiment.run"), "_computed", stopped)
    with pytest.raises(type(error)):
        harness.run(CONFIG, results=None, track=f"{module}:Told")
    assert [call[0] for call in sys.modules[module].CALLS] == ["start", "fail"]
    assert sys.modules[module].CALLS[-1] == ("fail", reason)


def test_several_tables_have_rows_of_different_titles(module):
    both = CONFIG | {"candidates": ["rated", "catalogue"]}
    harness.run(both, results=None, track=f"{module}:Told")
    titles = [call[1].title for call in sys.modules[module].CALLS if call[0] == "row"]
    assert len(set(titles)) == 4
    assert titles[0].endswith("holdout 20%, rated, ItemMean")


def test_a_row_that_failed_says_so(module, tmp_path):
    (tmp_path / f"{module}_fails.py").write_text(
        "class Fails:\n    def fit(self, train): raise ValueError('no way')\n"
        "    def estimate(self, users, items): return users * 0.0\n"
    )
    harness.run(
        CONFIG | {"algorithms": [f"{module}_fails:Fails", "ItemMean"]},
        results=None,
        track=f"{module}:Told",
    )
    rows = [call[1] for call in sys.modules[module].CALLS if call[0] == "row"]
    assert "no way" in rows[0].error
    assert (rows[0].metrics, rows[0].fit_seconds, rows[1].error) == ({}, None, "")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("cvs", "a.yaml:4: trackers: 'cvs' is not among the trackers; did you mean 'csv'?"),
        ("[mlflow, cvs]", r"a.yaml:4: trackers\[1\]: 'cvs' .*did you mean 'csv'"),
        ("{csv: {pth: a}}", "trackers.csv.pth: csv has no such parameter; did you mean 'path'?"),
        ("{csv: {path: 7}}", r"trackers.csv.path: csv: path is 7 .*; give text"),
        ("{csv: 7}", "trackers.csv: found 7; it must be a mapping"),
        ("[csv, csv]", r"trackers\[1\]: 'csv' is there twice; remove one of them"),
        ("7", "a.yaml:4: trackers: found 7; name trackers, such as .csv., or csv: .path"),
        ("[[csv]]", "trackers: found a list in a list"),
        ("{'pathlib:Path': }", "not a subclass of harness.Tracker; make it one"),
    ],
)
def test_names_and_parameters_are_checked_with_their_lines(tmp_path, written, said):
    path = tmp_path / "a.yaml"
    path.write_text(
        f"dataset: bundled\nalgorithms: [ItemMean]\nmetrics: [rmse]\ntrackers: {written}\n"
    )
    with pytest.raises(ConfigError, match=said):
        harness.run(path, results=None)


def test_names_in_a_call_are_checked_before_anything_is_computed(capsys, tmp_path):
    with pytest.raises(PluginError, match="did you mean 'mlflow'"):
        harness.run(CONFIG, results=None, track="mlfow")
    with pytest.raises(PluginError, match=r"needs the parameter 'place'; add it under `trackers`"):
        harness.run(CONFIG, results=None, track="tests.config.test_trackers:Demanding")
    with pytest.raises(SystemExit) as stop:
        main(["run", "quickstart", "--track", "csv,mlfow", "--results", str(tmp_path / "runs")])
    assert stop.value.code == 2
    assert "did you mean 'mlflow'?" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_strict_makes_a_failure_the_exit_code(module, tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(json.dumps(CONFIG))
    codes = []
    for strict in ([], ["--track-strict"]):
        with pytest.raises(SystemExit) as stop:
            main(["run", "-q", "a.yaml", "--track", f"csv,{module}:FailsRow", *strict])
        codes.append(stop.value.code)
    assert codes == [0, 1]
    assert "--track-strict makes the exit code 1" in capsys.readouterr().err
    assert len((tmp_path / "tracked.csv").read_text().splitlines()) == 1 + 2 * 2


def test_a_tracker_of_the_call_alone_is_recorded_too(module, tmp_path):
    run = harness.run(CONFIG, results=tmp_path / "runs", track=f"{module}:Told")
    written = harness.results.read_run(run.folder)
    assert [(used.kind, used.name) for used in written.info.plugins] == [
        ("trackers", f"{module}:Told")
    ]


def test_where_a_run_is_logged_makes_it_no_other_run(tmp_path):
    first = harness.run(CONFIG, results=tmp_path / "runs")
    second = harness.run(CONFIG | {"trackers": ["csv"]}, results=tmp_path / "runs")
    assert (second.earlier, second.folder) == (None, first.folder)


@pytest.mark.long
def test_what_nobody_asked_for_is_not_imported():
    code = f"""
import json, sys, harness
harness.run(json.loads({json.dumps(json.dumps(CONFIG))}), results=None)
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "harness.experiment.tracking" in loaded  # what would import them
    assert not [name for name in loaded if name.startswith("harness.extras.trackers")]
    assert not {name.partition(".")[0] for name in loaded} & {"mlflow", "wandb"}


def test_the_run_is_written_before_a_tracker_can_wait_for_its_server(module, tmp_path):
    run = harness.run(CONFIG, results=tmp_path / "runs", track=f"{module}:LooksFirst")
    assert not [note for note in run.info.notes if note.code == "tracker-failed"]
