"""Seconds and memory of a cell: free of compilation, independent of the order of the rows."""

import signal
import subprocess
import sys

import numpy as np
import pytest

import harness
from harness.algorithms import registry
from harness.experiment import cell
from harness.experiment.cell import attempt
from harness.experiment.memory import PeakMemory, available_bytes
from harness.experiment.plan import Plan
from harness.report.methods import describe_run, methods
from harness.results.environment import Machine

SMALL = {
    "name": "small",
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["rmse"],
    "statistics": None,
}
FIRST_CELLS = """
import gc, sys
import harness
from harness.rankings import evaluation

def compiled():
    dispatchers = [each for each in gc.get_objects() if type(each).__name__ == "CPUDispatcher"]
    return {f"{each.py_func.__qualname__}{key}" for each in dispatchers for key in each.overloads}

def snapshot():
    return compiled() | set(sys.modules)

late, before, timed = set(), set(), False

def watch(event):
    global before, timed
    stage = getattr(event, "stage", None)
    if timed and stage in (None, "metrics"):
        late.update(snapshot() - before)
        timed = False
    if stage == "fitting" or stage == "fitting by epoch":
        before, timed = before if timed else snapshot(), True

evaluate = evaluation.evaluate

def timed_evaluate(*arguments):
    before = snapshot()
    scores = evaluate(*arguments)
    if len(arguments[2].ratings) > 3:  # not the toy of the compilation
        late.update(snapshot() - before)
    return scores

evaluation.evaluate = timed_evaluate
harness.run(
    {
        "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
        "algorithms": ["own_class:Own", "KNNBaseline", "SVD"],
        "candidates": ["rated", "catalogue"],
        "metrics": ["ndcg@5", "ap@5", "err@5", "hit@5", "item_coverage@5", "novelty@5", "rmse"],
        "statistics": None,
    },
    results=None,
    watch=watch,
)
print(*sorted(late), sep="\\n")
"""


@pytest.mark.long
def test_no_clock_runs_while_something_is_compiled_or_imported(tmp_path):
    source = "from surprise import KNNBasic\n\nclass Own(KNNBasic):\n    pass\n"
    (tmp_path / "own_class.py").write_text(source)
    command = [sys.executable, "-c", FIRST_CELLS]
    assert subprocess.check_output(command, cwd=tmp_path, text=True).split() == []


@pytest.mark.parametrize("fails", [False, True])
def test_the_seconds_of_a_cell_are_those_of_fitting_and_scoring_alone(monkeypatch, fails):
    now, reported = [0.0], []

    def compute(cell, plan, report, workers):
        for stage, seconds in (("loading", 1), ("compiling", 20), ("fitting", 3), ("scoring", 2)):
            report(stage, 0, 0)
            now[0] += seconds
        return "a record" if not fails else 1 / 0

    monkeypatch.setattr("harness.experiment.cell.time.perf_counter", lambda: now[0])
    monkeypatch.setattr("harness.experiment.cell.compute", compute)
    plan = Plan.from_config(SMALL)
    outcome = attempt(plan.cells[0], lambda stage, *_: reported.append(stage), plan=plan)
    assert outcome.seconds == 5.0
    assert (outcome.error is None) is not fails
    assert reported == ["loading", "compiling", "fitting", "scoring"]


ADDED = """
import sys
import numpy as np
from harness.experiment.memory import PeakMemory

for size in map(int, sys.argv[1:]):
    with PeakMemory() as peak:
        np.ones(size)
    print(peak.megabytes)
"""


@pytest.mark.parametrize("sizes", [(12_000_000, 5_000_000), (5_000_000, 12_000_000)])
def test_the_order_of_pieces_of_work_does_not_change_what_they_add(sizes):
    # In a process of its own: what other tests have left in this one may be freed meanwhile.
    command = [sys.executable, "-c", ADDED, *map(str, sizes)]
    printed = subprocess.check_output(command, text=True).split()
    # NumPy asks for huge pages: the last one may be 2 MiB more.
    assert [*map(float, printed)] == pytest.approx([8e-6 * size for size in sizes], abs=2.2)


def test_where_the_kernel_does_not_count_the_peak_is_sampled(monkeypatch):
    monkeypatch.setattr("harness.experiment.memory._peak", lambda: 0)
    with PeakMemory() as peak:
        held = np.ones(10_000_000)
    assert peak.megabytes == pytest.approx(80, abs=4)
    assert held[0] == 1


NEW = ("memory.max", "memory.current", "memory.stat")
OLD = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")


ABOVE = {"job": (NEW, (7_000, 0, "inactive_file 0")), "job/step": (NEW, ("max", 2_000, ""))}


@pytest.mark.parametrize(
    ("line", "limits"),
    [
        ("0::/job/step", {"job/step": (NEW, (9_000, 2_500, "inactive_file 500"))}),
        ("0::/job/step", ABOVE),
        ("4:memory:/job", {"memory/job": (OLD, (8_000, 1_000, "cache 5"))}),
        ("0::/outside", {".": (NEW, (7_500, 500, "inactive_file 0"))}),
    ],
    ids=["the group's own", "a group above it", "version 1", "inside a container"],
)
def test_the_memory_limit_of_a_control_group_counts(tmp_path, line, limits):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(line)
    for group, (names, values) in limits.items():
        folder = tmp_path / "sys/fs/cgroup" / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in zip(names, values, strict=True):
            (folder / name).write_text(f"{value}\n")
    assert available_bytes(tmp_path) == 7_000


def test_the_limit_of_the_address_space_counts():
    command = (
        "import resource; from harness.experiment.memory import available_bytes;"
        "resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, -1));"
        "assert 0 < available_bytes() < 2_000_000_000"
    )
    subprocess.run([sys.executable, "-c", command], check=True, timeout=60)


def test_a_run_says_where_and_when_its_cells_were_measured_and_what_was_found(monkeypatch):
    def run_on(processor):
        machine = here.model_copy(update={"processor": processor})
        monkeypatch.setattr(Machine, "here", lambda: machine)

    here = Machine.here()
    run_on("CPU X")
    first = harness.run(SMALL | {"algorithms": ["BaselineOnly"]}, results=None)
    measured = first.info["cells"][0]["measured"]
    assert (measured.workers, measured.date) == (1, first.info.started[:10])
    assert not [note for note in first.info["notes"] if note.code == "measured"]
    run_on("CPU Y")
    monkeypatch.setattr("harness.experiment.cell.n_threads", lambda: 7)
    second = harness.run(SMALL, results=None)
    n_found, n_cells = len(first.info["cells"]), len(second.info["cells"])
    noted = {note.code: note for note in second.info["notes"]}
    assert noted["cells-found"].values == {"n": n_found, "n_all": n_cells}
    where = str(noted["measured"])
    for text in (f"({n_found} of {n_cells} cells)", "CPU X", "CPU Y", "7 threads"):
        assert text in where
    text = dict(methods(second.info).paragraphs)["Computation"]
    assert "CPU X" in text
    assert "CPU Y" in text
    assert f"with {n_found} of {n_cells} cells found" in dict(describe_run(second.info))["took"]


def test_a_cell_derives_what_it_needs_of_a_training_set_itself():
    plan = Plan.from_config(SMALL)
    split = plan.splits(0, 0, 0)[0]
    first = plan.trainset(split)
    derived = first.item_order
    again = plan.trainset(split)
    assert again is first
    assert "item_order" not in vars(again)
    assert again.item_order.offsets.tolist() == derived.offsets.tolist()


def test_a_time_limit_may_be_a_year():
    done = harness.run(SMALL | {"execution": {"time_limit": 31_536_000}}, results=None)
    assert not done.failed


LOST = """
import os, signal
from harness.experiment.execute.processes import interrupts_kept

class Disposed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

signal.signal(signal.SIGINT, signal.HANDLER)
with interrupts_kept() as check:
    Disposed()
    print("dropped", flush=True)
    check()
print("not raised", signal.getsignal(signal.SIGINT) is signal.HANDLER)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("handler", ["default_int_handler", "SIG_IGN"])
def test_an_interrupt_that_python_drops_is_raised_unless_another_handler_is_in_charge(handler):
    command = [sys.executable, "-c", LOST.replace("HANDLER", handler)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ours = getattr(signal, handler) is signal.default_int_handler
    assert done.stdout == ("dropped\n" if ours else "dropped\nnot raised True\n")
    assert done.stderr.rstrip().endswith("KeyboardInterrupt") is ours


def test_a_cell_that_the_free_memory_cannot_hold_is_refused(monkeypatch):
    monkeypatch.setattr("harness.experiment.cell.available_bytes", lambda: 50_000_000)
    cell._free_in.cache_clear()
    done = harness.run(SMALL | {"algorithms": ["SVD"], "baselines": False}, results=None)
    (refused,) = done.info.cells
    assert "SVD: needs about 0.0672 GB" in refused.error
    assert "0.05 GB are free; choose smaller parameters, filter the data" in refused.error
    advice = registry.what_fits("KNNBasic", {}, (100_000, 1_000, 10_000_000), 0.5e9)
    assert "filter the data (a sample of 25,000 users would fit), or" in advice
    assert "sample" not in registry.what_fits("SVD", {"n_factors": 10**6}, (943, 1, 100_000), 1e8)
