"""Seconds and memory of a cell: free of compilation, independent of the order of the rows."""

import subprocess
import sys

import numpy as np
import pytest

import harness
from harness.experiment.cell import COMPILING, PeakMemory, Stopwatch, available_bytes
from harness.experiment.plan import Plan
from harness.report.methods import describe_run, methods

FIRST_CELLS = """
import gc, sys
import harness
from harness import evaluation

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
    if len(arguments[3]) > 3:  # not the toy of the compilation
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


def test_no_clock_runs_while_something_is_compiled_or_imported(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    (tmp_path / "own_class.py").write_text(
        "from surprise import KNNBasic\n\nclass Own(KNNBasic):\n    pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CELLS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []


def test_a_stopwatch_counts_fitting_and_scoring_alone(monkeypatch):
    now, reported = [0.0], []
    monkeypatch.setattr("harness.experiment.cell.time.perf_counter", lambda: now[0])
    watch = Stopwatch(lambda *stage: reported.append(stage))
    for stage, seconds in (("loading", 1.0), (COMPILING, 20.0), ("fitting", 3.0), ("scoring", 2.0)):
        watch(stage, 0, 0)
        now[0] += seconds
    assert watch.seconds == 5.0
    assert [stage for stage, _, _ in reported] == ["loading", "compiling", "fitting", "scoring"]


def test_memory_that_was_there_before_does_not_count():
    held = np.ones(5_000_000)
    with PeakMemory() as peak:
        more = np.ones(2_000_000)
        del more
        small = np.ones(10)
    assert 15 < peak.megabytes < 20
    assert held.sum() + small.sum() == 5_000_010


@pytest.mark.parametrize("first", ["large", "small"])
def test_the_order_of_pieces_of_work_does_not_change_what_they_add(first):
    sizes = {"large": 6_000_000, "small": 500_000}
    added = {}
    for name in sorted(sizes, reverse=first == "small"):
        with PeakMemory() as peak:
            np.ones(sizes[name])
        added[name] = peak.megabytes
    assert added["large"] == pytest.approx(48, abs=2)
    assert added["small"] == pytest.approx(4, abs=2)


def test_where_the_kernel_does_not_count_the_peak_is_sampled(monkeypatch):
    monkeypatch.setattr("harness.experiment.cell._reset_peak", lambda: False)
    with PeakMemory() as peak:
        held = np.ones(10_000_000)
    assert peak.megabytes == pytest.approx(80, abs=4)
    assert held[0] == 1


def test_a_cell_says_where_and_when_it_was_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    config = {
        "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
        "algorithms": ["BaselineOnly"],
        "metrics": ["rmse"],
        "statistics": None,
    }
    done = harness.run(config, results=None)
    measured = done.info["cells"][0]["measured"]
    assert measured.workers == 1
    assert measured.date == done.info.started[:10]


def control_groups(folder, line, limits):
    """Make the files that the kernel shows of control groups; return the folder."""
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/self/cgroup").write_text(line)
    for place, files in limits.items():
        (folder / "sys/fs/cgroup" / place).mkdir(parents=True, exist_ok=True)
        for name, value in files.items():
            (folder / "sys/fs/cgroup" / place / name).write_text(f"{value}\n")
    return folder


NEW = ("memory.max", "memory.current", "memory.stat")
OLD = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")


@pytest.mark.parametrize(
    ("line", "limits"),
    [
        (
            "0::/job/step",
            {"job/step": dict(zip(NEW, (9_000, 2_500, "inactive_file 500"), strict=True))},
        ),
        (
            "0::/job/step",
            {
                "job": dict(zip(NEW, (7_000, 0, "inactive_file 0"), strict=True)),
                "job/step": dict(zip(NEW, ("max", 2_000, "inactive_file 0"), strict=True)),
            },
        ),
        ("4:memory:/job", {"memory/job": dict(zip(OLD, (8_000, 1_000, "cache 5"), strict=True))}),
        ("0::/outside", {".": dict(zip(NEW, (7_500, 500, "inactive_file 0"), strict=True))}),
    ],
    ids=["the group's own", "a group above it", "version 1", "inside a container"],
)
def test_the_memory_limit_of_a_control_group_counts(tmp_path, line, limits):
    assert available_bytes(control_groups(tmp_path, line, limits)) == 7_000


def test_the_limit_of_the_address_space_counts():
    command = (
        "import resource; from harness.experiment.cell import available_bytes;"
        "resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, -1));"
        "assert 0 < available_bytes() < 2_000_000_000"
    )
    subprocess.run([sys.executable, "-c", command], check=True, timeout=60)


SMALL = {
    "name": "small",
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["rmse"],
    "statistics": None,
}


def test_a_second_run_says_what_was_found_and_where_its_times_are_from(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr("harness.results.record._processor", lambda: "CPU X")
    one = SMALL | {"algorithms": ["BaselineOnly"], "dataset": SMALL["dataset"]}
    first = harness.run(one, results=None)
    assert not [note for note in first.info["notes"] if "measured" in note]
    monkeypatch.setattr("harness.results.record._processor", lambda: "CPU Y")
    monkeypatch.setattr("harness.experiment.cell.n_threads", lambda: 7)
    second = harness.run(SMALL, results=None)
    n_found, n_cells = len(first.info["cells"]), len(second.info["cells"])
    found, where = (note for note in second.info["notes"] if "found" in note or "measured" in note)
    assert found.startswith(f"{n_found} of {n_cells} cells were found in the cache")
    assert f"{n_found} of {n_cells} cells on " in where
    assert "CPU X" in where
    assert "CPU Y" in where
    assert "7 threads" in where
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


def test_a_time_limit_may_be_a_year(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    done = harness.run(SMALL | {"execution": {"time_limit": 31_536_000}}, results=None)
    assert not done.failed
