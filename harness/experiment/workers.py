"""Worker processes that compute cells, each with its own pipe.

They share no lock and no queue, so if one is killed, hangs or runs out of memory, only its own cell
fails. None outlives the process that started it.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.errors import HarnessError
from harness.experiment.cell import BEFORE, Outcome, Report, finish
from harness.experiment.plan import Cell
from harness.experiment.workspace import Workspace
from harness.kernels import n_threads
from harness.results.store import CellStore

__all__ = ["Crew"]

LONGEST_WAIT = 3600.0
"""Seconds after which the pipes are polled again."""

PATIENCE = 5.0
"""Seconds that a process is given to end by itself."""

BETWEEN_REPORTS = 0.1
"""Seconds between two reports of one stage: a loop that reports every step is not slowed down."""


@dataclass(eq=False)
class _Worker:
    """A process, our end of its pipe, and what it is doing."""

    process: SpawnProcess
    pipe: connection.Connection
    ready: bool = False
    cell: Cell | None = None
    report: Report | None = None
    since: float | None = None
    """When the cell's stages that count against the limit began."""

    def left(self, limit: float | None) -> float | None:
        """Return the seconds that the cell may still take, None for any number."""
        if limit is None or self.since is None:
            return None
        return self.since + limit - time.monotonic()


class Crew:
    """A fixed number of worker processes.

    Parameters
    ----------
    workspace : Workspace
    store : CellStore
    size : int
        How many processes.
    limit : float or None
        Seconds of fitting and scoring after which a cell is stopped.
    """

    def __init__(
        self, workspace: Workspace, store: CellStore, size: int, limit: float | None
    ) -> None:
        self.size = size
        self.limit = limit
        self.setup = (
            workspace.experiment,
            workspace.base,
            workspace.given,
            store.folder,
            max(1, n_threads() // size),
            size,
        )
        self.workers: list[_Worker] = []

    def work(
        self, cells: Sequence[Cell], tell: Callable[[Cell], Report], **options: bool
    ) -> Iterator[tuple[Cell, Outcome]]:
        """Do cells.

        Parameters
        ----------
        cells : sequence of Cell
        tell : callable
            Returns the report of a cell's stages.
        **options
            For `harness.experiment.cell.finish`.

        Yields
        ------
        Cell, Outcome
            As they end.

        Raises
        ------
        HarnessError
            If no process can be started.
        """
        todo = deque(cells)
        # At the end of the program too: who asked may have stopped asking in the middle.
        atexit.register(self.stop)
        try:
            while todo or any(worker.cell for worker in self.workers):
                self._hand_out(todo, tell, options)
                for worker in self._await():
                    yield from self._listen(worker)
                yield from self._stop_late()
        finally:
            self.stop()
            atexit.unregister(self.stop)

    def stop(self) -> None:
        """End every process: the idle at once by themselves, those at work by force."""
        for worker in self.workers:
            worker.pipe.close()
            if worker.cell is not None:
                worker.process.kill()
        for worker in self.workers:
            _end(worker.process)
        self.workers.clear()

    def _hand_out(
        self, todo: deque[Cell], tell: Callable[[Cell], Report], options: dict[str, bool]
    ) -> None:
        idle = [worker for worker in self.workers if worker.cell is None]
        while len(idle) < len(todo) and len(self.workers) < self.size:
            idle.append(self._start())
        for worker in idle[: len(todo)]:
            worker.cell = todo.popleft()
            worker.report = tell(worker.cell)
            # A process that is dead already is noticed when its pipe is read.
            with suppress(OSError):
                worker.pipe.send((worker.cell, options))

    def _start(self) -> _Worker:
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_work, args=(theirs, *self.setup), name="harness-worker")
        with _interrupts_held():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self.workers.append(worker)
        return worker

    def _await(self) -> list[_Worker]:
        """Wait for messages of workers, or until the next time limit."""
        times = [worker.left(self.limit) for worker in self.workers]
        limits = [max(0.0, left) for left in times if left is not None]
        by_pipe: dict[Any, _Worker] = {worker.pipe: worker for worker in self.workers}
        # The operating system refuses to wait for many days at once.
        speaking = connection.wait(list(by_pipe), min([*limits, LONGEST_WAIT]))
        return [by_pipe[pipe] for pipe in speaking]

    def _listen(self, worker: _Worker) -> Iterator[tuple[Cell, Outcome]]:
        """Take in one message, or a death."""
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        match message:
            case "ready":
                worker.ready = True
            case (str() as stage, int() as done, int() as total):
                assert worker.report is not None
                if worker.since is None and stage not in BEFORE:
                    worker.since = time.monotonic()
                worker.report(stage, done, total)
            case outcome:
                yield from self._close(worker, outcome)

    def _bury(self, worker: _Worker) -> Iterator[tuple[Cell, Outcome]]:
        self.workers.remove(worker)
        worker.pipe.close()
        code = _end(worker.process)
        if code > 0 and not worker.ready:
            raise HarnessError(
                f"workers: a process ended before it could begin (exit code {code}); in a script, "
                "call `run` under `if __name__ == '__main__':`, or use one worker"
            )
        error = f"the worker process {_death(code)}; run again to do only what is missing"
        yield from self._close(worker, {"status": "failed", "seconds": 0.0, "error": error})

    def _stop_late(self) -> Iterator[tuple[Cell, Outcome]]:
        for worker in list(self.workers):
            left = worker.left(self.limit)
            if left is None or left > 0:
                continue
            self.workers.remove(worker)
            worker.process.kill()
            worker.pipe.close()
            _end(worker.process)
            error = f"stopped at the time limit of {self.limit:g} s; raise execution.time_limit"
            yield from self._close(
                worker, {"status": "failed", "seconds": self.limit, "error": error}
            )

    def _close(self, worker: _Worker, outcome: Outcome) -> Iterator[tuple[Cell, Outcome]]:
        """Give back a cell, and leave its worker without one."""
        cell, worker.cell, worker.since = worker.cell, None, None
        if cell is not None:
            yield cell, outcome


def _end(process: SpawnProcess) -> int:
    """Wait for a process, kill it when it does not end, and return its exit code."""
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode or 0


def _death(code: int) -> str:
    """Return how a process ended.

    Examples
    --------
    >>> _death(-9)
    'was killed (SIGKILL), perhaps because memory ran out: use fewer workers'
    >>> _death(3)
    'ended by itself (exit code 3)'
    """
    if code >= 0:
        return f"ended by itself (exit code {code})"
    if code == -signal.SIGKILL:
        return "was killed (SIGKILL), perhaps because memory ran out: use fewer workers"
    return f"died ({signal.Signals(-code).name})"


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes that ignore Ctrl-C: the process that started them decides."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(
    pipe: connection.Connection,
    experiment: Experiment,
    base: Path | None,
    given: Ratings | None,
    folder: Path,
    threads: int,
    workers: int,
) -> None:
    """Compute cells until there are no more: the main loop of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.environ["HARNESS_THREADS"] = str(threads)
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    workspace, store = Workspace(experiment, base, given), CellStore(folder)
    with suppress(EOFError, OSError):  # the other end was closed
        pipe.send("ready")
        while True:
            cell, options = pipe.recv()
            report = _reporter(pipe)
            pipe.send(finish(cell, workspace, store, report, workers=workers, **options))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _reporter(pipe: connection.Connection) -> Report:
    """Return a report that sends each stage, and its steps now and then."""
    last: tuple[Any, float] = (None, 0.0)

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if stage != last[0] or now - last[1] >= BETWEEN_REPORTS:
            last = (stage, now)
            pipe.send((stage, done, total))

    return report
