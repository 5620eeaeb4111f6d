"""A real scheduler and real workers, each worker with a cache of its own; runs to watch on them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from harness.experiment.execute.progress import CellFinished
from harness.experiment.execute.progress import Noted as Note
from harness.experiment.run import run

PATIENCE = 60.0
IMPATIENT = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "8s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s",
}
"""A worker that falls silent is missed after seconds instead of minutes."""
TIMES = ["fit_seconds", "score_seconds", "metric_seconds", "search_seconds", "peak_mb"]


def wait_until(true, event, patience=PATIENCE):
    """Wait for something, and fail by name when it does not come."""
    end = time.monotonic() + patience
    while not true():
        if time.monotonic() > end:
            pytest.fail(f"{event}: not within {patience:.0f} s")
        time.sleep(0.05)


class Cluster:
    """Processes of one cluster, started on demand and all ended at the end.

    Its folder is for logs, caches and the scheduler file.
    """

    def __init__(self, folder):
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = []
        self.scheduler = None
        self.n_workers = 0

    def start_scheduler(self, port=0, host="127.0.0.1", prefix=(), **environment):
        """Start a scheduler, wait until it answers, and return its address."""
        self.file.unlink(missing_ok=True)
        options = ["--host", host, "--port", str(port), "--dashboard-address", f"{host}:0"]
        options += ["--scheduler-file", str(self.file)]
        self.scheduler = self._start("scheduler", ["scheduler", *options], environment, prefix)
        wait_until(self.file.exists, "the scheduler file")
        wait_until(self.file.read_text, "the scheduler's address")
        self.n_joined()
        return str(json.loads(self.file.read_text())["address"])

    def start_worker(self, *options, prefix=(), **environment):
        """Start a worker with one thread, in a process group of its own."""
        self.n_workers += 1
        name = f"worker-{self.n_workers}"
        command = ["worker", "--scheduler-file", str(self.file), "--nthreads", "1"]
        command += ["--no-dashboard", "--local-directory", str(self.folder / f"{name}.space")]
        cache = {"HARNESS_CACHE": str(self.folder / name)}
        return self._start(name, [*command, *options], cache | environment, prefix)

    def n_joined(self):
        """Return how many workers the scheduler counts."""
        from distributed import Client

        options = {"set_as_default": False, "timeout": PATIENCE}
        with Client(scheduler_file=str(self.file), **options) as client:
            return len(client.nthreads())

    def end(self, process):
        """Kill a process and all of its children, those that are left."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self):
        """Kill everything."""
        for process in self.processes:
            self.end(process)

    def _start(self, name, command, environment, prefix):
        paths = [environment.get("PYTHONPATH", ""), str(Path(__file__).parent)]
        paths = [path for path in [*paths, os.environ.get("PYTHONPATH", "")] if path]
        # What a killed scheduler leaves behind goes with the test's folder.
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        changed = {"TMPDIR": str(scratch)} | IMPATIENT | environment
        changed["PYTHONPATH"] = os.pathsep.join(paths)
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "dask", *command],
                env=os.environ | changed,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append(process)
        return process


def config_here(**more):
    """Return a small experiment."""
    return {
        "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 900}},
        "split": {"kind": "kfold", "n_splits": 2},
        "algorithms": ["SVD", "KNNBasic", "Random"],
        "metrics": ["ndcg@5", "rmse"],
        "baselines": False,
        **more,
    }


def config_on(address, **more):
    """Return a small experiment whose cells go to a cluster."""
    execution = {"executor": "dask", "scheduler": str(address), **more.pop("execution", {})}
    return config_here(**more) | {"execution": execution}


def paced(n, folder, **params):
    """Return algorithms that each leave a mark in a folder, and wait there for a go."""
    return [
        {
            "name": "cluster_algorithms:Paced",
            "label": f"paced {number}",
            "params": {"mark": f"cell-{number}", "folder": str(folder), **params},
        }
        for number in range(n)
    ]


def marks(folder):
    """Return a name for each time that a process began a paced algorithm."""
    return [path.name for path in folder.glob("cell-*")]


def cell_of(mark):
    """Return a mark without the number of the process that left it."""
    return mark.rpartition("-")[0]


def table_text(run):
    """Return the bytes of a run's ``table.csv`` without what a clock or a meter wrote."""
    table = pd.read_csv(run.folder / "table.csv", dtype=str)
    return str(table.drop(columns=TIMES, errors="ignore").to_csv(index=False))


class Running:
    """A run in a thread, with the events that it reported."""

    def __init__(self, config, folder=None):
        self.heard = []
        self.ended = self.error = None
        self.thread = threading.Thread(target=self._run, args=(config, folder), daemon=True)
        self.thread.start()

    def _run(self, config, folder):
        try:
            self.ended = run(config, results=folder, watch=self.heard.append)
        except BaseException as error:
            self.error = error

    @property
    def n_finished(self):
        return sum(isinstance(event, CellFinished) for event in list(self.heard))

    @property
    def notes(self):
        return [event.message for event in list(self.heard) if isinstance(event, Note)]

    def said(self, text):
        """Return whether a note with a text has been heard, when it is called."""
        return lambda: any(text in note for note in self.notes)

    def end(self):
        """Wait for the run's end; return it, or raise what it raised."""
        self.thread.join(120)
        assert not self.thread.is_alive(), "the run goes on"
        if self.error is not None:
            raise self.error
        return self.ended
