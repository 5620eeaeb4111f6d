"""What a worker of a Dask cluster does: it passes each cell to a child process, as local runs do.

So a cell can be stopped, may die without harm, and never keeps its worker from answering the
scheduler.
"""

from __future__ import annotations

import os
import pickle
import threading
from typing import TYPE_CHECKING

from harness._util.kernels import n_threads
from harness._util.libraries import pa
from harness.errors import HarnessError
from harness.experiment.execute.attempt import Attempt, Outcome
from harness.experiment.execute.processes import LOOK_SECONDS, ChildProcess, Task

if TYPE_CHECKING:
    from distributed import Worker


Packed = tuple[bytes, int]
"""Compressed bytes, and how many they are unpacked."""


def pack(attempt: Attempt) -> Packed:
    """Return what computes the cells of a plan, for another process, as compressed bytes."""
    data = pickle.dumps(attempt)
    return pa.compress(data, "zstd", asbytes=True), len(data)


_idle: list[tuple[str, ChildProcess]] = []
"""On a worker: child processes without a cell, and the job whose plan they have."""
_lock = threading.Lock()


def work(packed: Packed, job: str, request: bytes, limit: float | None, topic: str) -> bytes:
    """Compute one cell on this worker."""
    from distributed import get_worker

    worker = get_worker()
    # A worker computes a cell in each of its threads, so a cell has one thread by default.
    threads = n_threads() if "HARNESS_THREADS" in os.environ else 1
    task: Task = pickle.loads(request)._replace(threads=threads)
    for reads in task.lists:  # compared here, where the files are
        if reads.holds():
            return pickle.dumps(Outcome(found=True, reads=reads))
    worker.log_event(topic, task.cell.key)
    try:
        child = _child(packed, job, threads, recorded=task.recorded)
    except (HarnessError, OSError) as error:
        return pickle.dumps(Outcome.failed(HarnessError(f"{worker.address}: {error}")))
    ended, key = threading.Event(), worker.get_current_task()
    watcher = threading.Thread(target=_watch, args=(worker, key, child, ended), daemon=True)
    watcher.start()
    outcome = child.compute(task._replace(lists=()), lambda *stage: None, limit)
    ended.set()
    watcher.join()
    with _lock:
        _idle.append((job, child))
    return pickle.dumps(outcome)


def _child(packed: Packed, job: str, threads: int, *, recorded: bool) -> ChildProcess:
    """Return an idle child process that has a job's plan, or a new one; end the others."""
    with _lock:
        while _idle:
            childs_job, child = _idle.pop()
            if (childs_job, child.recorded) == (job, recorded) and child.usable:
                return child
            child.close()
    data, size = packed
    started = ChildProcess(threads, recorded=recorded)
    return started.begin(lambda stream: stream.write(pa.decompress(data, size, "zstd")))


def _watch(worker: Worker, key: object, child: ChildProcess, ended: threading.Event) -> None:
    """Kill a child whose task was cancelled, or whose driver is gone: it would run to its end."""
    while not ended.wait(LOOK_SECONDS):
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            child.process.kill()
            return
