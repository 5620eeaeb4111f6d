"""What has finished is kept, whoever is lost; what a lost worker had is computed elsewhere."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from cluster_processes import (
    Running,
    cell_of,
    config_here,
    config_on,
    marks,
    paced,
    table_text,
    wait_until,
)
from ruamel.yaml import YAML

from harness.errors import ClusterError
from harness.experiment.execute.progress import CellFinished, RunPlanned
from harness.experiment.execute.progress import Noted as Note
from harness.experiment.run import run
from harness.extras.dask.cluster import Cluster

pytestmark = [
    pytest.mark.dask,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def is_as_here(tmp_path, monkeypatch):
    """Return a check that a finished run has the table of the same run in this process."""

    def check(ended, **config):
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "another-driver"))
        here = run(config_here(**config), results=tmp_path / "here")
        assert not ended.failed
        assert table_text(ended) == table_text(here)

    return check


def planned(config, folder=None):
    """Run again; return the run, and the cells that it found."""
    heard = []
    ended = run(config, results=folder, watch=heard.append)
    (event,) = [event for event in heard if isinstance(event, RunPlanned)]
    return ended, event.n_found


@pytest.mark.parametrize("how", ["killed", "silent"])
def test_cells_of_a_lost_worker_are_computed_elsewhere(cluster, pace, tmp_path, is_as_here, how):
    cluster.start_scheduler(DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="3s")
    # A nanny would be asked to start a silent worker again, and is as silent.
    doomed = cluster.start_worker(*["--no-nanny"] * (how == "silent"))
    config = {"algorithms": ["SVD", *paced(3 if how == "killed" else 2, pace)]}
    running = Running(config_on(cluster.file, **config), tmp_path / "there")
    wait_until(lambda: marks(pace), "the first cell")
    (interrupted,) = {cell_of(mark) for mark in marks(pace)}
    cluster.start_worker()
    wait_until(lambda: len(marks(pace)) > 1, "a cell on the second worker")
    if how == "killed":
        cluster.end(doomed)
    else:
        os.killpg(doomed.pid, signal.SIGSTOP)
    (pace / "go").touch()
    ended = running.end()
    begun = Counter(cell_of(mark) for mark in marks(pace))
    assert begun[interrupted] > 1, "no cell was interrupted: the test has tested nothing"
    is_as_here(ended, **config)


def test_a_worker_that_joins_late_takes_cells_that_wait(cluster, pace, tmp_path):
    cluster.start_scheduler()
    running = Running(config_on(cluster.file, algorithms=paced(3, pace)), tmp_path)
    wait_until(running.said("0 of 1 workers have joined; waiting"), "the note")
    cluster.start_worker()
    wait_until(lambda: marks(pace), "the first cell")
    cluster.start_worker()
    wait_until(lambda: len(marks(pace)) == 2, "a cell on the second worker")
    (pace / "go").touch()
    assert not running.end().failed


def test_a_run_without_workers_waits_for_one(cluster, pace, tmp_path):
    cluster.start_scheduler()
    only = cluster.start_worker()
    running = Running(config_on(cluster.file, algorithms=paced(2, pace)), tmp_path)
    wait_until(lambda: marks(pace), "the first cell")
    cluster.end(only)
    wait_until(running.said("no worker is left; waiting 60 s for one to join"), "the note")
    (pace / "go").touch()
    cluster.start_worker()
    assert not running.end().failed


@pytest.mark.parametrize("event", ["the first trial", "the end of the search"])
def test_a_worker_that_is_lost_in_a_search_or_after_it_is_not_waited_for(
    cluster, tmp_path, is_as_here, event
):
    cluster.start_scheduler()
    lost = [cluster.start_worker()]
    cluster.start_worker()
    rows = ["ItemMean", {"name": "KNNBasic", "label": "tuned", "search": {"k": [2, 5, 10]}}]
    tuning = {"trials": 3, "metric": "rmse"}
    planned = []

    def watch(seen):
        planned.extend([seen] * isinstance(seen, RunPlanned))
        came = isinstance(seen, CellFinished) if event == "the first trial" else len(planned) == 2
        if came and lost:
            cluster.end(lost.pop())

    config = {"algorithms": rows, "tuning": tuning}
    there = config_on(cluster.file, **config, execution={"workers": 2})
    ended = run(there, results=tmp_path / "there", watch=watch)
    assert not lost, "no worker was lost: the test has tested nothing"
    is_as_here(ended, **config)


def test_a_worker_that_is_lost_while_it_joins_is_not_counted(cluster, monkeypatch, is_as_here):
    cluster.start_scheduler()
    lost = [cluster.start_worker("--no-nanny")]
    cluster.start_worker()
    wait_until(lambda: cluster.n_joined() == 2, "the workers")
    ask = Cluster._versions_at

    async def ask_late(self, address):
        if lost:
            cluster.end(lost.pop())
        return await ask(self, address)

    monkeypatch.setattr(Cluster, "_versions_at", ask_late)
    heard = []
    ended = run(config_on(cluster.file), results=cluster.folder / "there", watch=heard.append)
    assert any(isinstance(event, Note) and "1 worker, 1 cell" in event.message for event in heard)
    is_as_here(ended)


def test_waits_for_workers_have_an_end(cluster, pace):
    cluster.start_scheduler()
    config = config_on(
        cluster.file, algorithms=paced(1, pace), execution={"workers": 2, "join_timeout": 1.0}
    )
    with pytest.raises(ClusterError, match="no worker has joined within 1 s; start one with"):
        run(config, results=None)
    only = cluster.start_worker()
    wait_until(lambda: cluster.n_joined() == 1, "the worker")
    running = Running(config)
    wait_until(running.said("1 of 2 workers have joined within 1 s; they begin"), "the note")
    wait_until(lambda: marks(pace), "the first cell")
    cluster.end(only)
    with pytest.raises(ClusterError, match="all workers were lost, and none has joined within 1 s"):
        running.end()


def test_cells_that_only_lost_workers_may_compute_are_submitted_again(cluster, pace, tmp_path):
    foreign = tmp_path / "foreign" / "surprise_harness-0.0.1.dist-info"
    foreign.mkdir(parents=True)
    (foreign / "METADATA").write_text("Name: surprise-harness\nVersion: 0.0.1\n")
    cluster.start_scheduler()
    cluster.start_worker(PYTHONPATH=str(foreign.parent))
    only = cluster.start_worker()
    wait_until(lambda: cluster.n_joined() == 2, "the workers")
    running = Running(config_on(cluster.file, algorithms=paced(2, pace)))
    wait_until(lambda: marks(pace), "the first cell")
    cluster.end(only)
    cluster.start_worker()
    (pace / "go").touch()
    assert not running.end().failed


def test_a_lost_scheduler_loses_nothing_that_had_finished(cluster, pace, tmp_path, is_as_here):
    cluster.start_scheduler()
    worker = cluster.start_worker()
    config = {"algorithms": ["SVD", "KNNBasic", *paced(2, pace)]}
    running = Running(config_on(cluster.file, **config), tmp_path / "there")
    wait_until(lambda: running.n_finished >= 2 and marks(pace), "a slow cell behind fast ones")
    n_finished = running.n_finished
    cluster.end(cluster.scheduler)
    with pytest.raises(ClusterError, match="the scheduler was lost; computed cells are cached"):
        running.end()
    cluster.end(worker)
    (pace / "go").touch()
    cluster.start_scheduler()
    cluster.start_worker()
    ended, n_found = planned(config_on(cluster.file, **config), tmp_path / "there")
    assert n_found == n_finished
    is_as_here(ended, **config)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_lost_driver_loses_nothing_that_had_finished_and_leaves_nobody_at_work(
    cluster, pace, tmp_path, number
):
    cluster.start_scheduler()
    cluster.start_worker()
    config = config_on(cluster.file, algorithms=["SVD", "KNNBasic", *paced(1, pace)])
    YAML().dump(config, tmp_path / "lost.yaml")
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])

    def stored():
        return list((tmp_path / "driver" / "cells").glob("??/*.cell"))

    with (
        (tmp_path / "driver.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "harness", "run", str(tmp_path / "lost.yaml")],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths},
            stderr=log,
            # A shell starts what it puts into the background with interrupts ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
        ) as driver,
    ):
        wait_until(lambda: marks(pace), "the slow cell")
        wait_until(lambda: len(stored()) >= 2, "the fast cells, at home")
        n_stored = len(stored())
        driver.send_signal(number)
    assert driver.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    (mark,) = marks(pace)
    at_work = int(mark.rpartition("-")[2])
    wait_until(lambda: not psutil.pid_exists(at_work), "the end of what nobody waits for", 20)
    (pace / "go").touch()
    ended, n_found = planned(config)
    assert n_found >= n_stored
    assert not ended.failed


def test_a_cell_that_kills_its_process_or_takes_too_long_is_a_row_that_says_so(pair, pace):
    rows = ["SVD", "cluster_algorithms:Mortal", *paced(1, pace)]
    more = {"algorithms": rows, "split": {"kind": "holdout"}, "execution": {"time_limit": 2.5}}
    ended = run(config_on(pair.file, **more), results=None)
    errors = {cell["algorithm"]: cell["error"] for cell in ended.failed}
    assert len(errors) == 2
    assert "the worker process ended by itself (exit code 7)" in errors[rows[1]]
    assert "stopped at the time limit of 2.5 s" in errors["paced 0"]


def test_children_of_a_worker_end_with_it(cluster, pace, tmp_path):
    cluster.start_scheduler()
    worker = cluster.start_worker()
    running = Running(config_on(cluster.file, algorithms=paced(1, pace)), tmp_path)
    wait_until(lambda: marks(pace), "a cell")
    (mark,) = marks(pace)
    child = psutil.Process(int(mark.rsplit("-", 1)[1]))
    for process in psutil.Process(worker.pid).children(recursive=True):
        if process.pid != child.pid and child.pid in {c.pid for c in process.children()}:
            process.kill()  # the worker itself; its nanny starts another
    wait_until(lambda: not child.is_running(), "the end of the child", patience=10)
    (pace / "go").touch()
    assert not running.end().failed


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files with a shell")
def test_a_scheduler_needs_dask_alone_and_no_room_for_data(cluster, tmp_path):
    (tmp_path / "without" / "harness").mkdir(parents=True)
    (tmp_path / "without" / "harness" / "__init__.py").write_text("raise ImportError('not here')")
    small_files = ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"]  # blocks of 512 bytes
    cluster.start_scheduler(prefix=small_files, PYTHONPATH=str(tmp_path / "without"))
    cluster.start_worker()
    data = {"synthetic": {"n_users": 1000, "n_items": 1000, "n_ratings": 30_000}}
    assert not run(config_on(cluster.file, dataset=data), results=None).failed


def reason_to_skip():
    """Return why no network namespace can be made here; empty where one can."""
    if not sys.platform.startswith("linux") or shutil.which("ip") is None:
        return "needs Linux and `ip`"
    if os.geteuid() != 0:
        return "needs root"
    name = f"hprobe{os.getpid()}"
    attempt = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if attempt.returncode == 0:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return attempt.stderr.decode().strip()


@pytest.fixture
def networks():
    """Three network namespaces on a bridge: of a scheduler and two workers, by name and address."""
    if reason := reason_to_skip():
        pytest.skip(f"no network namespaces: {reason}")
    mark = os.getpid() % 10_000  # so that two processes can do it at once
    net, bridge = f"10.213.{mark % 256}", f"hbr{mark}"
    names = {f"h{name}{mark}": f"{net}.{n}" for n, name in enumerate(("sched", "stay", "leave"), 2)}
    with ExitStack() as stack:
        ip(f"link add {bridge} type bridge")
        stack.callback(ip, f"link del {bridge}")
        ip(f"addr add {net}.1/24 dev {bridge}")
        ip(f"link set {bridge} up")
        for name, address in names.items():
            ip(f"netns add {name}")
            stack.callback(ip, f"netns del {name}")
            ip(f"link add {name}o type veth peer name eth0 netns {name}")
            ip(f"link set {name}o master {bridge} up")
            ip(f"-n {name} addr add {address}/24 dev eth0")
            ip(f"-n {name} link set eth0 up")
            ip(f"-n {name} link set lo up")
        yield names


def ip(words):
    subprocess.run(["ip", *words.split()], check=True)


@pytest.mark.long
def test_cells_of_a_worker_whose_network_is_cut_are_computed_elsewhere(
    networks, cluster, pace, tmp_path, is_as_here
):
    scheduler, _, leaves = networks
    inside = {name: ["ip", "netns", "exec", name] for name in networks}
    address = cluster.start_scheduler(8786, networks[scheduler], inside.pop(scheduler))
    for name, prefix in inside.items():
        cluster.start_worker("--host", networks[name], prefix=prefix)
    algorithms = ["SVD", "KNNBasic", *paced(2, pace)]
    running = Running(config_on(address, algorithms=algorithms), tmp_path / "there")
    wait_until(lambda: len(marks(pace)) >= 2, "a slow cell on each worker")
    before = set(marks(pace))
    ip(f"link set {leaves}o down")
    cut = time.monotonic()
    wait_until(lambda: running.said("workers")() and cluster.n_joined() == 1, "the loss")
    print(f"the scheduler missed it after {time.monotonic() - cut:.1f} s")
    (pace / "go").touch()
    there = running.end()
    again = {cell_of(mark) for mark in set(marks(pace)) - before}
    assert len(again & {cell_of(mark) for mark in before}) == 1
    is_as_here(there, algorithms=algorithms)
