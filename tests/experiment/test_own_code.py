"""Cells of a class of one's own: none is taken for other code, packages or files."""

import importlib
import json
import os
import subprocess
import sys

import pytest

import harness
from harness.experiment.plan import Plan
from harness.metrics.labels import _declared

DATA = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}
CONFIG = {"dataset": DATA, "metrics": ["rmse"], "baselines": False, "statistics": None}
OWN = """
import surprise
{imports}

class Own(surprise.AlgoBase):
    def __init__(self, shift=0.0):
        super().__init__()
        self.shift = shift

    def estimate(self, u, i):
        return {value}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a function that writes files into the folder of the configs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = {*sys.modules}

    def forget():
        for name in {*sys.modules} - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]
        importlib.invalidate_caches()
        _declared.cache_clear()

    def write(**files):
        forget()  # as if a new process began
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        return tmp_path

    yield write
    forget()


def run(row=None, **settings):
    """Run the class `own:Own`, and return its value and whether it was computed."""
    config = CONFIG | {"algorithms": [{"name": "own:Own"} | (row or {})]}
    events = []
    done = harness.run(config, results=None, watch=events.append, **settings)
    (value,) = done.table["rmse"]
    computed = any(type(event).__name__ == "CellStarted" for event in events)
    return done, value, computed


def own(imports="", value="3.0"):
    return OWN.format(imports=imports, value=value)


@pytest.mark.long
def test_an_edited_helper_of_a_helper_is_computed_with_at_once(project):
    folder = project(
        own=own("import mine", "mine.guess(i)"),
        mine="import deep\n\ndef guess(i):\n    return deep.height(i)\n",
        deep="def height(i):\n    return 1.0 + i % 5\n",
    )
    config = "dataset: {synthetic: {n_users: 40, n_items: 30, n_ratings: 600}}\nmetrics: [rmse]\n"
    config += 'baselines: false\nstatistics: null\nalgorithms: ["own:Own"]\n'
    (folder / "small.yaml").write_text(config)

    def value(*options):
        command = [sys.executable, "-m", "harness", "run", "small.yaml", *options]
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=300, check=True
        )
        record = json.loads((folder / "runs/small/run.json").read_text())
        (cell,) = record["cells"]
        return cell["scores"]["rmse"], ended.stdout + ended.stderr

    before, _ = value()
    project(deep="def height(i):\n    return 4.0\n")
    after, shown = value()
    assert "nothing is fitted" not in shown
    assert after != before
    assert after == value("--fresh")[0]


def test_code_that_only_a_function_imports_has_one_key_in_all_processes(project):
    project(own=own(value="__import__('mine').height"), mine="height = 3.0\n")
    importlib.import_module("surprise")
    done, value, _ = run(workers=2)
    assert done.failed == []
    sys.path.append(".")
    importlib.import_module("mine")  # loaded before the run here, and not in its workers
    assert run(workers=2)[1:] == (value, False)
    assert run(workers=2, fresh=True)[1] == value


def test_versions_of_packages_that_ones_code_imports_are_in_its_key(project):
    project(own=own("import numpy"))
    plan = Plan.from_config(CONFIG | {"algorithms": ["own:Own", "BaselineOnly"]})
    inputs = [plan.inputs(cell)["versions"] for cell in plan.cells]
    assert inputs[0].keys() - inputs[1].keys() == {"numpy", "scikit-surprise"}


def test_nothing_new_is_in_the_key_of_a_built_in_algorithm():
    plan = Plan.from_config(CONFIG | {"algorithms": ["BaselineOnly"]})
    (cell,) = plan.cells
    assert plan.inputs(cell).keys() == {
        *("numbers", "versions", "data", "split", "candidates", "sample", "algorithm", "params"),
        *("global_seed", "as_surprise", "clip", "accelerate", "depth"),
    }
    assert plan.inputs(cell)["versions"].keys() == {"harness", "surprise"}
    assert "depends" not in plan._described[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "workers"),
    [("height.txt", 1), ("data/*.txt", 1), ("data/**/*.txt", 1), ("data", 2)],
)
def test_a_file_that_the_class_reads_is_in_the_key(project, pattern, workers):
    where = "height.txt" if pattern == "height.txt" else "data/height.txt"
    folder = project(own=own("import pathlib", f"float(pathlib.Path({where!r}).read_text())"))
    (folder / where).parent.mkdir(exist_ok=True)
    (folder / where).write_text("3.0")
    row = {"depends": [pattern]}
    _, before, _ = run(row=row, workers=workers)
    assert run(row=row, workers=workers)[1:] == (before, False)
    (folder / where).write_text("1.25")
    done, after, computed = run(row=row, workers=workers)
    assert done.failed == []
    assert computed
    assert after != before


def test_a_listed_file_that_is_not_there_is_a_fault_with_its_line(project, cli):
    folder = project(own=own())
    (folder / "here.txt").write_text("1")
    text = "dataset: bundled\nmetrics: [rmse]\nalgorithms:\n  - name: own:Own\n    depends:\n"
    (folder / "small.yaml").write_text(f"{text}      - here.txt\n      - weights/*.txt\n")
    refused = cli.refused("run", "small.yaml")
    assert "small.yaml:7: algorithms[0].depends[1]: weights/*.txt: no such file; " in refused


def test_a_file_that_is_changed_during_a_run_is_noticed(project):
    folder = project(own=own())
    (folder / "data.txt").write_text("1")
    config = CONFIG | {"algorithms": [{"name": "own:Own", "depends": ["data.txt"]}]}
    plan = Plan.from_config(config)
    (cell,), worker = plan.cells, plan.portable()
    assert worker.keyed(cell) == cell
    (folder / "data.txt").unlink()  # as on another machine
    assert worker.keyed(cell) == cell
    (folder / "data.txt").write_text("25")
    assert worker.keyed(cell) != cell


DYNAMIC = "import importlib\nmine = importlib.import_module('mi' + 'ne')"


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_a_cell_whose_code_cannot_be_followed_is_not_taken_unless_the_cache_is_trusted(
    project, workers
):
    project(own=own(DYNAMIC, "mine.height + self.shift"), mine="height = 3.0\n")
    config = CONFIG | {
        "algorithms": [{"name": "own:Own"}, {"name": "own:Own", "label": "other"}],
        "baselines": True,
    }
    config["algorithms"][1]["params"] = {"shift": 1.0}

    def values(**settings):
        done = harness.run(config, results=None, workers=workers, **settings)
        assert done.failed == []
        notes = [str(note) for note in done.info.notes if note.code == "code-not-followed"]
        assert len(notes) == 1
        assert "own imports a module by a computed name (line 4)" in notes[0]
        return done.table["rmse"].tolist()

    before = values()
    project(mine="height = 1.5\n")
    assert values(trust_cache=True) == before
    after = values()
    assert after[:2] != before[:2]
    assert after[2:] == before[2:]
    assert values(trust_cache=True) == after


def test_trials_of_code_that_cannot_be_followed_are_computed_again_too(project):
    project(own=own(DYNAMIC, "mine.height + self.shift"), mine="height = 3.0\n")
    row = {"search": {"shift": [0.25, 0.5]}}
    tuned = {"algorithms": [{"name": "own:Own"} | row], "tuning": {"metric": "rmse", "trials": 2}}

    def n_computed(**settings):
        events = []
        harness.run(CONFIG | tuned, results=None, watch=events.append, **settings)
        return sum(type(event).__name__ == "CellStarted" for event in events)

    assert n_computed() == 4
    assert n_computed() == 4
    assert n_computed(trust_cache=True) == 0


def test_the_command_takes_the_option(project, cli):
    folder = project(own=own(DYNAMIC), mine="height = 3.0\n")
    (folder / "small.yaml").write_text(json.dumps(CONFIG | {"algorithms": ["own:Own"]}))
    for options, n_found in (((), 0), ((), 0), (("--trust-cache",), 1)):
        out = cli("run", "small.yaml", *options)
        shown = "".join(map(str, out[1:]))
        assert ("1 of 1 cell found" in shown) == bool(n_found)
        assert shown.count("own imports a module by a computed name") == 1


METRIC = """
import harness
{imports}

@harness.metric("the distance from a value", needs="pairs", higher_is_better=False, range=(0, 99))
def distance(pairs):
    far, starts = abs(pairs.estimates - deep.wanted), pairs.offsets[:-1]
    return [far[start] for start in starts]
"""


@pytest.mark.parametrize("computed", [False, True])
def test_settings_are_selected_by_the_metric_as_it_is(project, computed):
    imports = "import importlib\ndeep = importlib.import_module('de' + 'ep')"
    metric = METRIC.format(imports=imports if computed else "import deep")
    project(own=own(value="2.0 + self.shift"), measure=metric, deep="wanted = 2.25\n")
    tuned = {
        "algorithms": [{"name": "own:Own", "search": {"shift": [0.25, 1.5]}}],
        "tuning": {"metric": "measure:distance", "trials": 2},
    }

    def selected():
        done = harness.run(CONFIG | tuned, results=None)
        notes = [note for note in done.info.notes if note.code == "code-not-followed"]
        assert [note.values["name"] for note in notes] == ["measure:distance"] * computed
        (cell,) = done.info.cells
        return cell.params["shift"]

    assert selected() == 0.25
    project(deep="wanted = 3.5\n")
    assert selected() == 1.5
