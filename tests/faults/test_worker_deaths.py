"""A worker that dies, hangs or raises takes one cell with it, and the row says why."""

import errno
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module

import psutil
import pytest

import harness
from harness.errors import HarnessError
from harness.experiment.execute.processes import START

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")

DEATHS = {
    "Killed": "the worker process was killed (SIGKILL), perhaps because memory ran out",
    "Crashed": "the worker process died (SIGSEGV)",
    "Left": "the worker process ended by itself (exit code 3)",
    "Exits": "SystemExit: 4 (misfits.py:",
    "RaisesOdd": "Odd: without a message (misfits.py:",
    "RaisesLong": "ValueError: [31mred [31mred",
    "NoMemory": "out of memory; use fewer workers",
    "NoThreads": "no more threads are allowed; raise the limit (ulimit -u, -v) or set HARNESS_THRE",
    "Interrupts": "KeyboardInterrupt: of its own (misfits.py:",
    "Generates": "GeneratorExit: of its own (misfits.py:",
    "RaisesBase": "Base: of its own (misfits.py:",
}


def workers_left():
    """Return the worker processes that this test started and did not end."""

    def is_worker(child):
        try:
            return any("harness.experiment.execute.processes" in word for word in child.cmdline())
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            return False  # it has ended, and only its exit code is left

    return [child for child in psutil.Process().children() if is_worker(child)]


def misfits(names):
    return [{"name": f"misfits:{name}", "label": name} for name in names]


def ends_in_order(bench, cell):
    """Return whether the events of a cell begin with its start and include its end."""
    kinds = [type(event).__name__ for event in bench.events if getattr(event, "cell", None) == cell]
    return kinds[0] == "CellStarted" and "CellFinished" in kinds


@pytest.mark.long
def test_every_death_is_a_row_that_says_why_and_the_others_end_well(bench, small):
    rows = ["BaselineOnly", *misfits(DEATHS), "ItemMean", "Random"]
    config = small | {"algorithms": rows, "execution": {"workers": 2}}
    outcome = bench.run(config, results="results")
    errors = {cell["algorithm"]: cell.error for cell in outcome.info["cells"]}
    for name, expected in DEATHS.items():
        assert expected in errors[name], name
        assert len(errors[name]) < 600
        assert errors[name].isprintable()
    assert [errors[name] for name in ("BaselineOnly", "ItemMean", "Random")] == [None] * 3
    assert len(bench.cells()) == 3
    assert not workers_left()
    assert len(bench.seen("CellFinished")) == len(rows)
    stages = {(event.cell, event.stage) for event in bench.seen("Stage")}
    assert {("ItemMean", stage) for stage in ("loading", "fitting", "scoring")} <= stages
    for name in ("BaselineOnly", "Exits"):
        assert ends_in_order(bench, name)


@pytest.fixture
def _default_handler():
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("_default_handler")
def test_without_workers_too_whatever_a_fit_raises_is_a_row(bench, small):
    names = [name for name in DEATHS if not name.startswith(("Killed", "Crashed", "Left", "Spins"))]
    outcome = harness.run(small | {"algorithms": [*misfits(names), "ItemMean"]}, results=None)
    *errors, last = [cell.error for cell in outcome.info["cells"]]
    for name, error in zip(names, errors, strict=True):
        assert DEATHS[name] in error, name
    assert last is None


@pytest.mark.usefixtures("_default_handler")
def test_an_interrupt_that_own_code_swallows_ends_the_run_after_the_cell_is_kept(bench, small):
    import_module("misfits")  # a module of the session is fitted in it
    with pytest.raises(KeyboardInterrupt):
        harness.run(small | {"algorithms": misfits(["Swallows"])}, results=None)
    assert len(bench.cells()) == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["Hangs", "Spins"])
def test_at_the_time_limit_a_fit_is_stopped_whatever_it_does(bench, small, name):
    config = small | {"algorithms": misfits([name]), "execution": {"time_limit": 0.5}}
    outcome = bench.run(config, results=None)
    reason = "stopped at the time limit of 0.5 s; raise execution.time_limit"
    assert reason in outcome.info["cells"][0]["error"]
    assert ends_in_order(bench, name)
    assert not workers_left()


@pytest.mark.long
def test_a_script_needs_no_main_guard(bench):
    (bench.folder / "script.py").write_text(
        "import harness\nprint(harness.run('small.yaml', workers=2, results=None).failed)\n"
    )
    outcome = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, timeout=120
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "[]\n"


def test_an_error_of_the_watcher_leaves_no_process_behind(bench, small):
    def watch(event):
        if type(event).__name__ == "CellStarted":
            raise HarnessError("enough")

    with pytest.raises(HarnessError, match="enough"):
        harness.run(small | {"execution": {"workers": 2}}, results=None, watch=watch)
    assert not workers_left()


def test_where_no_thread_can_be_started_a_run_ends_with_a_message(bench, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    code, _, err = bench.call("run", "small.yaml", "--workers", 2)
    assert code == 2
    assert "the system has no more room (can't start new thread); raise its limit" in err


LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_AS, (10**8, -1))"


KILL = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
IMPORT = "from harness.experiment.execute.processes import serve\n"


@pytest.fixture
def first_dies(bench, monkeypatch):
    """Return a function after which the first worker process runs another program."""

    def replace_first(program):
        mark = str(bench.folder / "died")
        start = (
            f"try:\n    open({mark!r}, 'x').close()\n    program = {program!r}\n"
            f"except FileExistsError:\n    program = {START!r}\nexec(program)"
        )
        monkeypatch.setattr("harness.experiment.execute.processes.START", start)

    return replace_first


@pytest.mark.parametrize(
    "program",
    [
        KILL,
        pytest.param(START.replace("try:", KILL + "try:"), marks=pytest.mark.long),
        pytest.param(START.replace(IMPORT, KILL + IMPORT), marks=pytest.mark.long),
        pytest.param(START.replace(IMPORT, IMPORT + KILL), marks=pytest.mark.long),
    ],
    ids=["at once", "before it reads", "before it imports", "before it has the plan"],
)
def test_a_worker_that_is_killed_while_it_starts_is_one_row(bench, small, first_dies, program):
    first_dies(program)
    outcome = bench.run(small | {"execution": {"workers": 2}}, results=None)
    (failed,) = outcome.failed
    assert failed["error"].startswith("the worker process was killed (SIGKILL) before it could beg")
    assert len(bench.cells()) == 3
    assert not workers_left()


@pytest.mark.long
@pytest.mark.parametrize(
    "start",
    [
        LIMITED + START.replace("300", "20"),
        START.replace("300", "1").replace("from harness", "import time; time.sleep(60) #"),
    ],
    ids=["no memory to begin", "waits for ever while it imports"],
)
def test_where_no_worker_can_begin_every_row_says_so(bench, small, monkeypatch, start):
    if sys.platform != "linux" and start.startswith(LIMITED):
        pytest.skip("limits memory")
    monkeypatch.setattr("harness.experiment.execute.processes.START", start)
    outcome = harness.run(small | {"execution": {"workers": 2}}, results=None)
    assert len(outcome.failed) == 4
    assert all("before it could begin" in cell["error"] for cell in outcome.failed)
    assert not workers_left()


def test_where_no_process_can_be_started_every_row_says_so(bench, small, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("harness.experiment.execute.processes.subprocess.Popen", refuse)
    outcome = harness.run(small | {"execution": {"workers": 2}}, results=None)
    assert len(outcome.failed) == 4
    assert all("Resource temporarily unavailable" in cell["error"] for cell in outcome.failed)


PATH, PLAN = pickle.dumps((sys.path, False)), pickle.dumps({"a plan": list(range(1000))})


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "received",
    [b"", PATH[:1], PATH[:-1], PATH, PATH + PLAN[:1], PATH + PLAN[:500], PATH + PLAN],
    ids=["nothing", "a byte", "part of the path", "the path", "a byte more", "a part", "the plan"],
)
def test_a_worker_whose_run_is_killed_ends_without_a_word(received):
    child = subprocess.Popen(
        [sys.executable, "-c", START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child.stdout.close()
    with suppress(BrokenPipeError):
        child.stdin.write(received)
        child.stdin.close()
    with child.stderr:
        assert child.stderr.read() == b""
    child.wait(60)
