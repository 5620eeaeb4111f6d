"""Cells of your own code: none is reused for other code, packages, files or variables."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.experiment.execute import processes as children
from harness.experiment.plan import Plan
from harness.metrics.labels import declaration
from harness.results import environment
from harness.results.store import READS, CellStore
from tests.experiment.ways_of_code import (
    CONSTANTS,
    DEEP,
    LIBRARIES,
    UNRECORDED,
    WAYS,
    at_import,
    own,
)

# The ways leave files open, as scripts do.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

DATA = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}
CONFIG = {"dataset": DATA, "metrics": ["rmse"], "baselines": False, "statistics": None}


class Constant:
    """Estimates one value, in this process."""

    def __init__(self, value=2.0):
        self.value = value

    def fit(self, train):
        pass

    def estimate(self, users, items):
        return np.full(len(users), self.value)


@pytest.fixture(scope="module")
def right():
    """The RMSE of the estimates 2 and 4."""
    name = f"{__name__}:Constant"
    rows = [{"name": name, "label": str(n), "params": {"value": float(n)}} for n in (2, 4)]
    done = harness.run(CONFIG | {"algorithms": rows}, results=None)
    assert done.failed == []
    return dict(zip((2, 4), done.table.sort_values("algorithm")["rmse"], strict=True))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder for your own modules, which are forgotten at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = {*sys.modules}
    yield tmp_path
    forget(tmp_path, before)


def forget(folder, before=frozenset()):
    """Unload the modules of a folder, as if a new process began."""
    for name in {*sys.modules} - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
    importlib.invalidate_caches()


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def run(*rows, **settings):
    """Run `own:Own` or other rows; return the run, an RMSE and how many cells were computed."""
    events, config = [], settings.pop("config", {})
    algorithms = [*rows] or ["own:Own"]
    done = harness.run(
        CONFIG | {"algorithms": algorithms} | config,
        results=None,
        watch=events.append,
        **settings,
    )
    assert done.failed == []
    computed = sum(type(event).__name__ == "CellStarted" for event in events)
    return done, done.table["rmse"].iloc[0], computed


def notes(done):
    return [str(note) for note in done.info.notes if note.code == "code-not-followed"]


def recorded(names):
    """Return what was recorded of ways, by their names."""
    command = [sys.executable, "-m", "tests.experiment.record_ways", *names]
    root = Path(__file__).parents[2]
    lines = subprocess.check_output(command, cwd=root, text=True, timeout=600).splitlines()
    found = {answer.pop("name"): answer for answer in map(json.loads, lines)}
    assert [*found] == names
    return found


PARTS = 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes begin as forks")
@pytest.mark.sample(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_recorded_holds_until_the_number_changes(part):
    found = recorded([*WAYS][part::PARTS])
    for name, answer in found.items():
        assert (answer.get("value of 2"), answer.get("value of 4")) == (2, 4), (name, answer)
        is_recorded = not name.startswith("not recorded")
        assert bool(answer["reasons"]) is not is_recorded, (name, answer)
        assert answer["undeclared"] == []
        if is_recorded:
            assert answer["holds"] is False, name
            assert answer["held"] is (name not in WRITES), name


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes begin as forks")
@pytest.mark.sample(6)
@pytest.mark.parametrize("part", range(6))
def test_a_library_that_opens_files_counts_unless_others_import_it_to_support_it(part):
    names = [*LIBRARIES][part::6]
    found = recorded([f"libraries: {name}" for name in names])
    for name, answer in zip(names, found.values(), strict=True):
        assert answer.get("value of 2") == 2, (name, answer)
        assert (answer["reasons"], answer["undeclared"]) == ([], LIBRARIES[name][1]), name


WRITES = {"file that the class keeps"}
"""What was not there when it was first looked for."""
SOME = [*WAYS][::9]


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", SOME)
def test_a_changed_number_is_computed_with(project, monkeypatch, right, name):
    way = WAYS[name]

    def with_number(number):
        way.write(project, number)
        for variable, value in way.environment(number).items():
            monkeypatch.setenv(variable, value)
        done, value, computed = run(config=way.config)
        forget(project)
        return done, value, computed

    done, value, computed = with_number(2)
    assert (value, computed) == (right[2], 1)
    recorded = not name.startswith("not recorded")
    assert bool(notes(done)) is not recorded
    done, value, computed = with_number(4)
    assert (value, computed) == (right[4], 1)


@pytest.mark.usefixtures("forked_workers")  # the test before this one starts them
@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [name for name in SOME if not name.startswith("not recorded")])
def test_what_did_not_change_is_reused(project, monkeypatch, name):
    way = WAYS[name]
    way.write(project, 2)
    for variable, value in way.environment(2).items():
        monkeypatch.setenv(variable, value)
    _, before, _ = run(config=way.config)
    if name in WRITES:
        assert run(config=way.config)[1:] == (before, 1)
    forget(project)
    assert run(config=way.config)[1:] == (before, 0)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CONSTANTS)
def test_a_module_of_the_session_is_computed_with_as_it_is_loaded(project, right, name):
    way = WAYS[f"own text: {name}"]
    way.write(project, 2)
    sys.path.append(str(project))
    importlib.import_module("own")
    way.write(project, 4)  # the editor saves after the import
    done, value, _ = run()
    assert value == right[2]
    (note,) = (note for note in done.info.notes if note.code == "code-of-session")
    assert "own:Own: its module was loaded in this session" in str(note)


@pytest.mark.long
def test_the_loaded_text_is_not_kept_for_the_text_of_the_file(project, right):
    way = WAYS["own text: dict"]
    way.write(project, 2)
    sys.path.append(str(project))
    importlib.import_module("own")
    way.write(project, 4)
    assert run()[1] == right[2]
    forget(project)
    assert run()[1:] == (right[4], 1)


CHANGES = {
    "constant": ("C = 2", "C", lambda own: setattr(own, "C", 4)),
    "dict": ("C = {'k': 2}", "C['k']", lambda own: own.C.update(k=4)),
    "list": ("C = [2]", "C[0]", lambda own: own.C.__setitem__(0, 4)),
    "array": ("C = np.array([2])", "C[0]", lambda own: own.C.fill(4)),
    "class attribute": ("class K: k = 2", "K.k", lambda own: setattr(own.K, "k", 4)),
    "function": ("def v(): return 2", "v()", lambda own: setattr(own, "v", lambda: 4)),
    "keyword default": (
        "def v(*, k=2): return k",
        "v()",
        lambda own: own.v.__kwdefaults__.update(k=4),
    ),
    "method": (
        "class K:\n    def v(self): return 2",
        "K().v()",
        lambda own: setattr(own.K, "v", lambda self: 4),
    ),
    "module of its own": ("import deep", "deep.K", lambda own: setattr(own.deep, "K", 4)),
    "code object": (
        "def v(): return 2",
        "v()",
        lambda own: setattr(own.v, "__code__", (lambda: 4).__code__),
    ),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("ran_before", [False, True])
def test_a_change_in_the_session_is_computed_with(project, right, name, ran_before):
    top, value, change = CHANGES[name]
    write(project, own=own(top, estimate=f"value = {value}"), deep=DEEP.format(2))
    sys.path.append(str(project))
    module = importlib.import_module("own")
    if ran_before:
        assert run()[1] == right[2]
    change(module)
    assert run()[1] == right[4]


def test_a_changed_helper_of_the_session_is_computed_with(project, right):
    write(project, own=own("import deep", estimate="value = deep.K"), deep=DEEP.format(2))
    sys.path.append(str(project))
    importlib.import_module("deep").K = 4
    assert run()[1] == right[4]


def test_a_class_of_the_session_is_computed_in_each_run(right):
    row = {"name": f"{__name__}:Constant", "params": {"value": 2.0}}
    for _ in range(2):
        done, value, computed = run(row, workers=2)
        assert (value, computed) == (right[2], 1)
        assert len([note for note in done.info.notes if note.code == "code-of-session"]) == 1
    assert not [*CellStore.default().folder.glob("??/*.cell")]  # nothing that no run can take


LOG = "import logging\nlog = logging.FileHandler('fits.log')\n"
APPENDED = "log.stream.write('estimated\\n'); log.flush()"


def test_a_log_that_is_appended_to_is_not_read(project, right):
    write(project, own=own(f"{LOG}C = 2", estimate=f"{APPENDED}; value = C"))
    assert run()[1:] == (right[2], 1)
    assert "estimated" in (project / "fits.log").read_text()
    assert run()[1:] == (right[2], 0)


@pytest.mark.parametrize("is_there", [False, True])
def test_a_log_that_is_also_read_is_read(project, right, is_there):
    number = "2 + 2 * ('four' in open('fits.log').read())"
    write(project, own=own(LOG, estimate=f"{APPENDED}; value = {number}"))
    if is_there:
        (project / "fits.log").write_text("two\n")
    assert run()[1:] == (right[2], 1)
    with (project / "fits.log").open("a") as log:
        log.write("four\n")
    assert run()[1:] == (right[4], 1)


def test_two_versions_in_turn_are_both_kept(project, right):
    for number, n_computed in ((2, 1), (4, 1), (2, 0), (4, 0)):
        write(project, own=own(f"C = {number}", estimate="value = C"))
        assert run()[1:] == (right[number], n_computed)


def test_one_process_serves_all_cells_of_a_run(project, monkeypatch):
    write(project, own=own("def get(): return 2", estimate="value = get()"))
    started = []

    class Counted(children.ChildProcess):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(children, "ChildProcess", Counted)
    folds = {"split": {"kind": "kfold", "n_splits": 3}}
    row = {"name": "own:Own", "label": "other", "params": {}}
    _, _, computed = run("own:Own", "BaselineOnly", row, config=folds)
    assert computed == 6
    assert [child.recorded for child in started] == [True]


@pytest.mark.long
@pytest.mark.usefixtures("forked_workers")
@pytest.mark.skipif(sys.platform != "linux", reason="all workers are started")
def test_a_worker_that_tests_fork_computes_and_records_as_one_that_is_started(project, request):
    write(project, own=at_import("import deep; value = deep.K"), deep=DEEP.format(2))
    _, forked, _ = run()
    request.getfixturevalue("started_workers")
    _, started, computed = run(fresh=True)
    assert (started, computed) == (forked, 1)
    store = CellStore.default()
    reads = [store.reads(file.stem) for file in store.folder.glob(f"??/*{READS}")]
    less, more = sorted(reads, key=lambda each: len(each.environment))
    assert {str(project / name) for name in ("own.py", "deep.py")} <= less.files.keys()
    assert (less.folders, less.packages) == (more.folders, more.packages)
    # What libraries ask for when they are imported is missing: nothing of the project is.
    for kind in ("modules", "files", "environment"):
        found, expected = getattr(less, kind), getattr(more, kind)
        assert found.items() <= expected.items()
        missing = expected.keys() - found.keys()
        if kind == "environment":
            assert all(name.startswith(("LLVMLITE", "NUMBA", "PANDAS")) for name in missing)
        assert not [
            name for name in missing if project in Path(name).parents and Path(name).exists()
        ]


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_what_cannot_be_recorded_is_not_reused_unless_the_cache_is_trusted(project, right, workers):
    write(project, own=at_import(UNRECORDED["subprocess"]), deep=DEEP.format(2))
    rows = ["own:Own", "BaselineOnly"]

    def values(**settings):
        done, _, computed = run(*rows, workers=workers, **settings)
        (note,) = notes(done)
        assert "own:Own: not everything that decides its numbers could be recorded" in note
        assert "it starts another process (subprocess.Popen: python" in note
        own_row = done.table.set_index("algorithm")["rmse"]["own:Own"]
        return own_row, computed

    assert values() == (right[2], 2)
    write(project, deep=DEEP.format(4))
    assert values(trust_cache=True) == (right[2], 0)
    assert values() == (right[4], 1)
    assert values(trust_cache=True) == (right[4], 0)


@pytest.mark.long
def test_the_command_takes_the_option(project, cli):
    write(project, own=at_import(UNRECORDED["compiled code"]), deep=DEEP.format(2))
    (project / "small.yaml").write_text(json.dumps(CONFIG | {"algorithms": ["own:Own"]}))
    for options, n_found in (((), 0), ((), 0), (("--trust-cache",), 1)):
        out = cli("run", "small.yaml", *options)
        shown = "".join(map(str, out[1:]))
        assert ("1 of 1 cell found" in shown) == bool(n_found)
        assert shown.count("it calls compiled code of its process") == 1
        forget(project)


@pytest.mark.parametrize("declared", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_library_that_opens_files_unseen_has_to_be_declared(project, declared):
    write(project, own=at_import("import h5py; value = h5py.K"), h5py="K = 2\n")
    (project / "k.h5").write_text("2")
    row = {"name": "own:Own"} | ({"depends": ["k.h5"]} if declared else {})
    done, *_ = run(row)
    assert len(notes(done)) == (not declared)
    assert run(row)[2] == (not declared)


def test_cells_of_built_in_rows_need_no_process(project, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError

    monkeypatch.setattr(children, "ChildProcess", refuse)
    assert run("BaselineOnly")[2] == 1
    assert run("BaselineOnly")[2] == 0


def test_the_key_of_a_built_in_algorithm_has_the_code_of_this_package(monkeypatch):
    def cell():
        return Plan.from_config(CONFIG | {"algorithms": ["BaselineOnly"]}).cells[0].key

    before = cell()
    assert before == cell()
    files = [*environment._files_of_package(), "harness/new.py 1"]
    monkeypatch.setattr(environment, "_files_of_package", lambda: files)
    assert cell() != before


@pytest.mark.long
def test_an_edited_copy_of_this_package_computes_with_its_text(project):
    shutil.copytree(Path(harness.__file__).parent, project / "harness")
    baselines = project / "harness" / "algorithms" / "baselines.py"

    def value(*options):
        code = (
            "import harness, sys; "
            f"done = harness.run({CONFIG | {'algorithms': ['ItemMean']}!r}, results=None, "
            "fresh='fresh' in sys.argv); print(done.table['rmse'][0])"
        )
        command = [sys.executable, "-c", code, *options]
        return subprocess.check_output(command, text=True, timeout=300)

    before = value()
    text = baselines.read_text()
    found = "return sums / (counts + self.damping), np.nan"
    assert found in text
    baselines.write_text(text.replace(found, found.replace(", np.nan", " + 0.5, np.nan")))
    after = value()
    assert after != before
    assert after == value("fresh")


def test_a_file_that_is_changed_during_a_run_is_noticed(project):
    write(project, own=own("C = 2", estimate="value = C"))
    (project / "data.txt").write_text("1")
    config = CONFIG | {"algorithms": [{"name": "own:Own", "depends": ["data.txt"]}]}
    plan = Plan.from_config(config)
    (cell,), worker = plan.cells, plan.portable()
    assert worker.keyed(cell) == cell
    (project / "data.txt").unlink()  # as on another machine
    assert worker.keyed(cell) == cell
    (project / "data.txt").write_text("25")
    assert worker.keyed(cell) != cell


def test_a_declared_file_of_equal_time_and_size_is_read_again(project, right):
    write(project, own=own(fit="self.value = int(open('k.txt').read())"))
    path = project / "k.txt"
    row = {"name": "own:Own", "depends": ["k.txt"]}
    path.write_text("2")
    before = path.stat()
    assert run(row)[1] == right[2]
    with path.open("r+") as file:
        file.write("4")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(row)[1] == right[4]


def test_a_listed_file_that_is_not_there_is_a_fault_with_its_line(project, cli):
    write(project, own=own("C = 2", estimate="value = C"))
    (project / "here.txt").write_text("1")
    text = "dataset: bundled\nmetrics: [rmse]\nalgorithms:\n  - name: own:Own\n    depends:\n"
    (project / "small.yaml").write_text(f"{text}      - here.txt\n      - weights/*.txt\n")
    refused = cli.refused("run", "small.yaml")
    assert "small.yaml:7: algorithms[0].depends[1]: weights/*.txt: no such file; " in refused


METRIC = """
import harness
import deep

@harness.metric("the distance from a value", needs="pairs", higher_is_better=False, range=(0, 99))
def distance(pairs):
    far, starts = abs(pairs.estimates - deep.K), pairs.offsets[:-1]
    return [far[start] for start in starts]
"""
SHIFTED = """
import numpy as np

class Own:
    def __init__(self, shift=0.0):
        self.shift = shift
    def fit(self, train): pass
    def estimate(self, users, items):
        return np.full(len(users), 2.0 + self.shift)
"""


@pytest.mark.parametrize("algorithm", ["own:Own", pytest.param("ItemMean", marks=pytest.mark.long)])
def test_settings_are_selected_by_the_metric_as_its_files_are(project, algorithm):
    write(project, own=SHIFTED, measure=METRIC, deep=DEEP.format(2.25))
    space = {"shift": [0.25, 1.5]} if algorithm == "own:Own" else {"damping": [0.0, 1000.0]}
    tuned = {"tuning": {"metric": "measure:distance", "trials": 2}}
    row = {"name": algorithm, "search": space}

    def selected():
        done, _, computed = run(row, config=tuned)
        assert notes(done) == []
        (cell,) = done.info.cells
        forget(project)
        declaration.cache_clear()  # as in a new process
        return next(iter(cell.params.values())), computed

    before, computed = selected()
    assert computed >= 3
    assert selected() == (before, 0)
    write(project, deep=DEEP.format(3.5))
    after, computed = selected()
    assert computed >= 2
    if algorithm == "own:Own":
        assert (before, after) == (0.25, 1.5)


OTHER_PARTS = """
import dataclasses
import harness.candidates

class Searched(Own):
    space = {"value": [1.0, 3.0]}
    def __init__(self, value=2.0):
        self.value = value

class Fifth(harness.Split):
    def divide(self, ratings, rng):
        test = np.arange(len(ratings)) % 5 == 0
        return [(~test, test)]

class Late(harness.Filter):
    def select(self, ratings, rng):
        return np.arange(len(ratings)) > 0

def data():
    users, items = np.divmod(np.arange(120), 10)
    columns = {"user": users, "item": items, "rating": 1 + (users * 7 + items * 3) % 5}
    return pd.DataFrame(columns)

class Few(harness.candidates.Rated):
    kind: str
    name = "few"
    def select(self, split, seed):
        test = split.test[split.ratings.users[split.test] % 3 != 0]
        return super().select(dataclasses.replace(split, test=test), seed)

@harness.metric("share of high ratings in the first k")
def share(lists, k):
    return np.nan_to_num(lists.relevance(k) >= 4).mean(axis=1)
"""


@pytest.mark.parametrize("listed", [False, True], ids=["by name", "under plugins"])
def test_data_split_filter_and_metric_may_be_of_the_module_of_an_algorithm(project, listed):
    write(project, own=own("import harness, pandas as pd") + OTHER_PARTS)
    config = {
        "dataset": "own:data",
        "filters": [{"kind": "own:Late"}],
        "split": {"kind": "own:Fifth"},
        "candidates": {"kind": "own:Few"},
        "tuning": {"trials": 2, "metric": "own:share@3"},
        "metrics": ["rmse", "own:share@3"],
    }
    config |= {"plugins": [str(project / "own.py")]} if listed else {}
    rows = ["own:Searched", {"name": "own:Searched", "label": "tuned", "search": "recommended"}]
    done, before, computed = run(*rows, config=config)
    assert computed > 2
    assert not [note for note in done.info.notes if note.code.startswith("code-")]
    forget(project)
    assert run(*rows, config=config)[1:] == (before, 0)


EDITS = {
    "algorithm": ("value=2.0", "value=4.0"),
    "split": ("% 5 == 0", "% 4 == 0"),
    "filter": ("> 0", "> 9"),
    "data set": ("users * 7", "users * 5"),
    "candidates": ("% 3 != 0", "% 4 != 0"),
    "metric": (">= 4", ">= 3"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("part", EDITS)
def test_a_part_that_is_edited_between_two_runs_is_read_again(project, part):
    text = own("import harness, pandas as pd") + OTHER_PARTS
    config = {
        "dataset": "own:data",
        "filters": [{"kind": "own:Late"}],
        "split": {"kind": "own:Fifth"},
        "candidates": {"kind": "own:Few"},
        "metrics": ["rmse", "own:share@3"],
    }

    def scores():
        done, _, _ = run("own:Searched", config=config)
        return done.table[["rmse", "own:share@3"]].to_numpy().tolist()

    write(project, own=text)
    before = scores()
    write(project, own=text.replace(*EDITS[part]))
    edited = scores()
    forget(project)
    declaration.cache_clear()  # as in a new process
    assert edited == scores() != before
