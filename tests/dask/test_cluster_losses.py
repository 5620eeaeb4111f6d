"""What has finished is kept, whoever is lost; what a lost worker had is computed elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
from cluster_processes import (
    Cluster,
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
from harness.experiment import run
from harness.experiment.events import Event, RunPlanned

pytestmark = [
    pytest.mark.dask,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def expected(folder: Path, monkeypatch: pytest.MonkeyPatch, **config: Any) -> str:
    """Return the table of the same run here."""
    monkeypatch.setenv("HARNESS_CACHE", str(folder / "another-driver"))
    return table_text(run(config_here(**config), results=folder / "here"))


def test_cells_of_a_killed_worker_are_computed_elsewhere(
    cluster: Cluster, pace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.start_scheduler()
    doomed = cluster.start_worker()
    config = {"algorithms": ["SVD", *paced(3, pace)]}
    running = Running(config_on(cluster.file, **config), tmp_path / "there")
    wait_until(lambda: marks(pace), "the first cell")
    cluster.start_worker()
    wait_until(lambda: len(marks(pace)) > 1, "a cell on the second worker")
    cluster.end(doomed)
    (pace / "go").touch()
    done = running.end()
    assert not done.failed
    begun = Counter(cell_of(mark) for mark in marks(pace))
    assert max(begun.values()) > 1, "no cell was interrupted: the test has tested nothing"
    assert table_text(done) == expected(tmp_path, monkeypatch, **config)


def test_cells_of_a_worker_that_falls_silent_are_computed_elsewhere(
    cluster: Cluster, pace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.start_scheduler(DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="3s")
    # A nanny would be asked to start it again, and is as silent.
    silent = cluster.start_worker("--no-nanny")
    config = {"algorithms": ["SVD", *paced(2, pace)]}
    running = Running(config_on(cluster.file, **config), tmp_path / "there")
    wait_until(lambda: marks(pace), "the first cell")
    begun = set(marks(pace))
    cluster.start_worker()
    wait_until(lambda: len(marks(pace)) > 1, "a cell on the second worker")
    cluster.signal(silent, signal.SIGSTOP)
    (pace / "go").touch()
    done = running.end()
    assert not done.failed
    (interrupted,) = begun
    again = [mark for mark in marks(pace) if cell_of(mark) == cell_of(interrupted)]
    assert len(again) > 1, "no cell was interrupted: the test has tested nothing"
    assert table_text(done) == expected(tmp_path, monkeypatch, **config)


def test_a_worker_that_joins_late_takes_cells_that_wait(
    cluster: Cluster, pace: Path, tmp_path: Path
) -> None:
    cluster.start_scheduler()
    running = Running(config_on(cluster.file, algorithms=paced(3, pace)), tmp_path)
    wait_until(running.said("0 of 1 workers have joined; waiting"), "the note")
    cluster.start_worker()
    wait_until(lambda: marks(pace), "the first cell")
    cluster.start_worker()
    wait_until(lambda: len(marks(pace)) == 2, "a cell on the second worker")
    (pace / "go").touch()
    assert not running.end().failed


def test_a_run_without_workers_waits_for_one(cluster: Cluster, pace: Path, tmp_path: Path) -> None:
    cluster.start_scheduler()
    only = cluster.start_worker()
    running = Running(config_on(cluster.file, algorithms=paced(2, pace)), tmp_path)
    wait_until(lambda: marks(pace), "the first cell")
    cluster.end(only)
    wait_until(running.said("no worker is left; waiting for one to join"), "the note")
    (pace / "go").touch()
    cluster.start_worker()
    assert not running.end().failed


def test_a_lost_scheduler_loses_nothing_that_had_finished(
    cluster: Cluster, pace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.start_scheduler()
    worker = cluster.start_worker()
    config = {"algorithms": ["SVD", "KNNBasic", *paced(2, pace)]}
    running = Running(config_on(cluster.file, **config), tmp_path / "there")
    wait_until(lambda: running.n_finished >= 2 and marks(pace), "a slow cell behind fast ones")
    n_finished = running.n_finished
    assert cluster.scheduler is not None
    cluster.end(cluster.scheduler)
    with pytest.raises(ClusterError, match="the scheduler was lost; finished cells are kept"):
        running.end()
    cluster.end(worker)
    (pace / "go").touch()
    cluster.start_scheduler()
    cluster.start_worker()
    heard: list[Event] = []
    done = run(config_on(cluster.file, **config), results=tmp_path / "there", watch=heard.append)
    (planned,) = [event for event in heard if isinstance(event, RunPlanned)]
    assert planned.n_found == n_finished
    assert table_text(done) == expected(tmp_path, monkeypatch, **config)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_lost_driver_loses_nothing_that_had_finished_and_leaves_nobody_at_work(
    cluster: Cluster, pace: Path, tmp_path: Path, number: signal.Signals
) -> None:
    cluster.start_scheduler()
    cluster.start_worker()
    config = config_on(cluster.file, algorithms=["SVD", "KNNBasic", *paced(1, pace)])
    YAML().dump(config, tmp_path / "lost.yaml")
    command = [sys.executable, "-m", "harness", "run", str(tmp_path / "lost.yaml")]
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": paths}

    def stored() -> list[Path]:
        return list((tmp_path / "driver" / "cells").glob("??/*.cell"))

    with (
        (tmp_path / "driver.log").open("wb") as log,
        subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
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
    heard: list[Event] = []
    done = run(config, results=None, watch=heard.append)
    (planned,) = [event for event in heard if isinstance(event, RunPlanned)]
    assert planned.n_found >= n_stored
    assert not done.failed


def test_a_cell_that_kills_its_process_is_a_row_that_says_so(pair: Cluster) -> None:
    config = config_on(pair.file, algorithms=["SVD", "cluster_algorithms:Mortal"])
    done = run(config, results=None)
    assert len(done.failed) == 2
    for cell in done.failed:
        assert "the worker process ended by itself (exit code 7)" in cell["error"]


def test_a_cell_over_its_time_limit_is_a_row_that_says_so(pair: Cluster, pace: Path) -> None:
    more = {"algorithms": ["SVD", *paced(1, pace)], "split": {"kind": "holdout"}}
    done = run(config_on(pair.file, execution={"time_limit": 2.5}, **more), results=None)
    errors = {cell["algorithm"]: cell["error"] for cell in done.failed}
    assert "stopped at the time limit of 2.5 s" in errors["paced 0"]


def test_children_of_a_worker_end_with_it(cluster: Cluster, pace: Path, tmp_path: Path) -> None:
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
def test_a_scheduler_needs_dask_alone_and_no_room_for_data(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "without" / "harness").mkdir(parents=True)
    (tmp_path / "without" / "harness" / "__init__.py").write_text("raise ImportError('not here')")
    small_files = ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"]  # blocks of 512 bytes
    cluster.start_scheduler(prefix=small_files, PYTHONPATH=str(tmp_path / "without"))
    cluster.start_worker()
    data = {"synthetic": {"n_users": 1000, "n_items": 1000, "n_ratings": 30_000}}
    assert not run(config_on(cluster.file, dataset=data), results=None).failed
