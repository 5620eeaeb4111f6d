"""What has finished is kept, whoever is lost; what a lost worker had is computed elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_processes import Cluster, config_here, config_on, table_text, wait_until
from ruamel.yaml import YAML

from harness.errors import ClusterError
from harness.experiment import run
from harness.experiment.events import CellFinished, Event, Note, RunPlanned

pytestmark = [
    pytest.mark.dask,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def paced(n: int, **params: Any) -> list[dict[str, Any]]:
    """Return algorithms that each leave a mark when they begin."""
    return [
        {
            "name": "cluster_algorithms:Paced",
            "label": f"paced {number}",
            "params": {"mark": f"cell-{number}", **params},
        }
        for number in range(n)
    ]


def marks(pace: Path) -> list[str]:
    """Return a name for each time that a cell began."""
    return [path.name for path in pace.glob("cell-*")]


class Running:
    """A run in a thread, with what it told."""

    def __init__(self, config: dict[str, Any], folder: Path) -> None:
        self.heard: list[Event] = []
        self.done: Any = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, args=(config, folder), daemon=True)
        self.thread.start()

    def _run(self, config: dict[str, Any], folder: Path) -> None:
        try:
            self.done = run(config, results=folder, watch=self.heard.append)
        except BaseException as error:
            self.error = error

    @property
    def n_finished(self) -> int:
        return sum(isinstance(event, CellFinished) for event in self.heard)

    def said(self, text: str) -> Callable[[], bool]:
        return lambda: any(isinstance(e, Note) and text in e.message for e in self.heard)

    def end(self) -> Any:
        self.thread.join(120)
        assert not self.thread.is_alive(), "the run goes on"
        if self.error is not None:
            raise self.error
        return self.done


def expected(folder: Path, monkeypatch: pytest.MonkeyPatch, **config: Any) -> str:
    """Return the table of the same run here."""
    monkeypatch.setenv("HARNESS_CACHE", str(folder / "another-driver"))
    return table_text(run(config_here(**config), results=folder / "here"))


def test_cells_of_a_killed_worker_are_computed_elsewhere(
    cluster: Cluster, pace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.start_scheduler()
    doomed = cluster.start_worker(PACE=str(pace))
    config = {"algorithms": ["SVD", *paced(3)]}
    running = Running(config_on(cluster.file, **config), tmp_path / "there")
    wait_until(lambda: marks(pace), "the first cell")
    cluster.start_worker(PACE=str(pace))
    wait_until(lambda: len(marks(pace)) > 1, "a cell on the second worker")
    cluster.end(doomed)
    (pace / "go").touch()
    done = running.end()
    assert not done.failed
    begun_twice = [m for m in marks(pace) if sum(m.rsplit("-", 1)[0] in n for n in marks(pace)) > 1]
    assert begun_twice, "no cell was interrupted: the test has tested nothing"
    assert table_text(done) == expected(tmp_path, monkeypatch, **config)


def test_a_worker_that_joins_late_takes_cells_that_wait(
    cluster: Cluster, pace: Path, tmp_path: Path
) -> None:
    cluster.start_scheduler()
    running = Running(config_on(cluster.file, algorithms=paced(3)), tmp_path)
    wait_until(running.said("0 of 1 workers have joined; waiting"), "the note")
    cluster.start_worker(PACE=str(pace))
    wait_until(lambda: marks(pace), "the first cell")
    cluster.start_worker(PACE=str(pace))
    wait_until(lambda: len(marks(pace)) == 2, "a cell on the second worker")
    (pace / "go").touch()
    assert not running.end().failed
    assert cluster.parcels(1)
    assert cluster.parcels(2)


def test_a_run_without_workers_waits_for_one(cluster: Cluster, pace: Path, tmp_path: Path) -> None:
    cluster.start_scheduler()
    only = cluster.start_worker(PACE=str(pace))
    running = Running(config_on(cluster.file, algorithms=paced(2)), tmp_path)
    wait_until(lambda: marks(pace), "the first cell")
    cluster.end(only)
    wait_until(running.said("no worker is left; waiting for one to join"), "the note")
    (pace / "go").touch()
    cluster.start_worker(PACE=str(pace))
    assert not running.end().failed


def test_a_lost_scheduler_loses_nothing_that_had_finished(
    cluster: Cluster, pace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.start_scheduler()
    worker = cluster.start_worker(PACE=str(pace))
    config = {"algorithms": ["SVD", "KNNBasic", *paced(2)]}
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
    cluster.start_worker(PACE=str(pace))
    heard: list[Event] = []
    done = run(config_on(cluster.file, **config), results=tmp_path / "there", watch=heard.append)
    (planned,) = [event for event in heard if isinstance(event, RunPlanned)]
    assert planned.n_found == n_finished
    assert table_text(done) == expected(tmp_path, monkeypatch, **config)


def test_a_lost_driver_loses_nothing_that_had_finished(
    cluster: Cluster, pace: Path, tmp_path: Path
) -> None:
    cluster.start_scheduler()
    cluster.start_worker(PACE=str(pace))
    config = config_on(cluster.file, algorithms=["SVD", "KNNBasic", *paced(1)])
    YAML().dump(config, tmp_path / "lost.yaml")
    command = [sys.executable, "-m", "harness", "run", str(tmp_path / "lost.yaml")]
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    log = (tmp_path / "driver.log").open("wb")
    with (
        log,
        subprocess.Popen(
            command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, stdout=log, stderr=log
        ) as driver,
    ):
        wait_until(lambda: marks(pace), "the slow cell")
        n_stored = len(list((tmp_path / "driver" / "cells").glob("??/*.cell")))
        driver.send_signal(signal.SIGKILL)
    (pace / "go").touch()
    heard: list[Event] = []
    done = run(config, results=None, watch=heard.append)
    (planned,) = [event for event in heard if isinstance(event, RunPlanned)]
    assert planned.n_found >= n_stored >= 2
    assert not done.failed


def test_a_cell_that_kills_its_process_is_a_row_that_says_so(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start_scheduler()
    cluster.start_worker()
    config = config_on(cluster.file, algorithms=["SVD", "cluster_algorithms:Mortal"])
    done = run(config, results=None)
    assert len(done.failed) == 2
    assert {"the process of the cell died (exit code 7)" in c["error"] for c in done.failed} == {
        True
    }


def test_a_cell_over_its_time_limit_is_a_row_that_says_so(
    cluster: Cluster, pace: Path, tmp_path: Path
) -> None:
    cluster.start_scheduler()
    cluster.start_worker(PACE=str(pace))
    config = config_on(cluster.file, algorithms=["SVD", *paced(1)], execution={"time_limit": 5.0})
    done = run(config, results=None)
    assert len(done.failed) == 2
    for cell in done.failed:
        assert "stopped after the time limit of 5 s" in cell["error"]


def test_children_of_a_worker_end_with_it(cluster: Cluster, pace: Path, tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    cluster.start_scheduler()
    worker = cluster.start_worker(PACE=str(pace))
    running = Running(config_on(cluster.file, algorithms=paced(1)), tmp_path)
    wait_until(lambda: marks(pace), "a cell")
    (mark,) = marks(pace)
    child = psutil.Process(int(mark.rsplit("-", 1)[1]))
    for process in psutil.Process(worker.pid).children(recursive=True):
        if process.pid != child.pid and child.pid in {c.pid for c in process.children()}:
            process.kill()  # the worker itself; its nanny starts another
    wait_until(lambda: not child.is_running(), "the end of the child", patience=10)
    (pace / "go").touch()
    assert not running.end().failed
