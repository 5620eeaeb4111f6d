"""Cells computed in this process, in child processes that may die without harm, or on a cluster.

A child process computes one cell at a time. It shares no lock and no queue with others, so if it is
killed, hangs or runs out of memory, only its own cell fails. It ends when its standard input does,
so none outlives the process that started it.
"""

from __future__ import annotations

import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import IO, Any, NamedTuple, Self

from harness.errors import HarnessError, ResultsError
from harness.experiment.cell import BEFORE, WAITING, Outcome, Report, attempt
from harness.experiment.events import CellFinished, CellStarted, Stage, Watch
from harness.experiment.plan import Cell, Plan
from harness.kernels import n_threads
from harness.results.store import CellStore

__all__ = ["ChildProcess", "Pool", "Task", "finish", "serve"]

LOOK_SECONDS = 1.0
"""Seconds between two looks for an interrupt, or at a cell that another run is computing."""

PATIENCE = 5.0
"""Seconds that a process or a thread is given to end by itself."""

BETWEEN_REPORTS = 0.1
"""Seconds between two reports of one stage: a loop that reports every step is not slowed down."""

IDLE_SECONDS = 300.0
"""Seconds without a cell after which a child process ends."""

START = """
import os, pickle, sys
requests, answers = open(os.dup(0), "rb"), open(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)  # what an algorithm prints must not get between the answers
sys.path[:] = pickle.load(requests)
from harness.experiment.pool import serve
serve(requests, answers)
"""
"""What a child process runs."""

LINEAR_ALGEBRA = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Check = Callable[..., None]
"""Raises an interrupt that was received, or one that an error given to it may have been."""


class Task(NamedTuple):
    """What a child process is asked for: a cell, and how many are computed at the same time."""

    cell: Cell
    workers: int
    threads: int


def finish(
    cell: Cell,
    store: CellStore,
    compute: Callable[[Cell, Report], Outcome],
    report: Report,
    *,
    fresh: bool = False,
    patience: float = 0.0,
) -> Outcome | None:
    """Compute a cell and store it, unless it is stored already.

    Parameters
    ----------
    cell : Cell
    store : CellStore
    compute : callable
        Computes the cell: here, in a child process or elsewhere.
    report : callable
    fresh : bool
        Compute it even if it is stored; the old one stays until the new one is complete.
    patience : float
        Seconds to wait for another run that is computing the same cell.

    Returns
    -------
    Outcome or None
        None if another run is computing the cell.
    """
    if patience:
        report(WAITING, 0, 0)
    with ExitStack() as held:
        try:
            held.enter_context(store.lock(cell.key, patience))
        except TimeoutError:
            return None
        with suppress(ResultsError):  # a broken one is computed again
            if not fresh and (record := store.get(cell.key)) is not None:
                return Outcome(record=record, found=True)
        outcome = compute(cell, report)
        try:
            if outcome.record is not None:
                store.put(cell.key, outcome.record)
        except ResultsError as error:
            return Outcome.failed(error, outcome.seconds)
        return outcome


class Pool:
    """Computes the cells of a run and stores them.

    One worker without a time limit computes in this process, others in child processes; the workers
    of a cluster do where the config names one. `fresh` computes cells again that are stored.
    """

    def __init__(
        self, plan: Plan, store: CellStore, workers: int, watch: Watch, *, fresh: bool = False
    ) -> None:
        self.plan = plan
        self.store = store
        self.workers = workers
        self.watch = watch
        self.fresh = fresh
        self._open = True
        self._children: list[ChildProcess] = []
        self._idle: list[ChildProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._open = False
        for child in self._children:
            child.close()

    def execute(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        """Compute and store cells.

        A cell that another run is computing comes last, and this run then waits for it.

        Yields
        ------
        Cell, Outcome
            As they end, in no set order.

        Raises
        ------
        KeyboardInterrupt
            If the process received one, even if the code of an algorithm caught it.
        HarnessError
            If finished cells cannot be kept, before anything is computed; if no process can be
            started; if a cluster cannot be used or its scheduler is lost.
        """
        todo, patience = list(cells), 0.0
        if todo:
            self.store.check_writable()
        while todo:
            busy: list[Cell] = []
            with interrupts_kept() as check:
                for cell, outcome in self._computed(todo, patience, check):
                    if outcome is None:
                        busy.append(cell)
                        continue
                    seconds, error = outcome.seconds, outcome.error
                    self.watch(
                        CellFinished(cell.title, seconds, outcome.found, error, outcome.traceback)
                    )
                    yield cell, outcome
                    check()
            todo, patience = busy, LOOK_SECONDS

    def _computed(
        self, cells: list[Cell], patience: float, check: Check
    ) -> Iterator[tuple[Cell, Outcome | None]]:
        execution = self.plan.experiment.execution
        reports = {cell.key: self._report(cell.title) for cell in cells}
        options: dict[str, Any] = {"fresh": self.fresh, "patience": patience}
        if execution.executor == "dask":
            from harness.experiment.dask import on_cluster

            options["patience"] = LOOK_SECONDS  # only to store it: nothing is computed twice
            for cell, done in on_cluster(
                cells, self.plan, self.workers, reports, self.watch, check
            ):

                def take(cell: Cell, report: Report, done: Outcome = done) -> Outcome:
                    return done

                while (ended := finish(cell, self.store, take, _silent, **options)) is None:
                    check()
                yield cell, ended
        elif self.workers > 1 or execution.time_limit is not None:
            yield from self._in_children(cells, reports, check, options)
        else:
            for cell in cells:

                def compute(cell: Cell, report: Report) -> Outcome:
                    return attempt(cell, self.plan, report, check=check)

                yield cell, finish(cell, self.store, compute, reports[cell.key], **options)

    def _in_children(
        self, cells: list[Cell], reports: dict[str, Report], check: Check, options: dict[str, Any]
    ) -> Iterator[tuple[Cell, Outcome | None]]:
        """Compute cells in child processes, with a thread for each that waits for its answers."""
        size = min(self.workers, len(cells))
        limit = self.plan.experiment.execution.time_limit
        todo: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        news: queue.SimpleQueue[tuple[Cell, Any]] = queue.SimpleQueue()
        for cell in cells:
            todo.put(cell)

        def compute(cell: Cell, report: Report) -> Outcome:
            threads = max(1, n_threads() // size)
            child = self._child(threads)
            outcome = child.compute(Task(cell, size, threads), report, limit)
            self._idle.append(child)
            return outcome

        def work() -> None:
            with suppress(queue.Empty):
                while self._open:
                    cell = todo.get_nowait()

                    def report(*stage: Any, cell: Cell = cell) -> None:
                        news.put((cell, stage))

                    try:
                        news.put((cell, finish(cell, self.store, compute, report, **options)))
                    except BaseException as error:  # it ends the run, not only this thread
                        news.put((cell, error))

        threads = [threading.Thread(target=work, daemon=True) for _ in range(size)]
        n_left = len(cells)
        try:
            for thread in threads:
                thread.start()
            while n_left:
                check()
                with suppress(queue.Empty):
                    cell, told = news.get(timeout=LOOK_SECONDS)
                    if isinstance(told, BaseException):
                        raise told
                    if isinstance(told, tuple):
                        reports[cell.key](*told)
                        continue
                    n_left -= 1
                    yield cell, told
        finally:
            if n_left:  # interrupted, or failed: what is under way is not waited for
                self.__exit__(None, None, None)
            for thread in threads:
                if thread.ident is not None:
                    thread.join(PATIENCE)

    def _child(self, threads: int) -> ChildProcess:
        """Return an idle child process, or a new one."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                if (child := self._idle.pop()).usable:
                    return child
                child.close()
        child = ChildProcess(lambda stream: pickle.dump(self.plan.portable(), stream), threads)
        self._children.append(child)
        if not self._open:
            child.close()
        return child

    def _report(self, title: str) -> Report:
        """Return a report that tells the watcher when a cell starts, and every stage."""
        begun = False

        def report(stage: str, done: int, total: int) -> None:
            nonlocal begun
            if not begun and stage != WAITING:
                begun = True
                self.watch(CellStarted(title))
            self.watch(Stage(title, stage, done, total))

        return report


def _silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class ChildProcess:
    """A process that computes one cell at a time; `send_plan` writes it a pickled plan."""

    def __init__(self, send_plan: Callable[[IO[bytes]], object], threads: int) -> None:
        with _interrupts_held():
            self.process = subprocess.Popen(
                [sys.executable, "-c", START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | dict.fromkeys(LINEAR_ALGEBRA, str(threads)),
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout
        self.used = time.monotonic()
        """When its last cell ended."""
        try:
            pickle.dump(sys.path, self.requests)
            send_plan(self.requests)
            self.requests.flush()
            pickle.load(self.answers)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise HarnessError(
                f"workers: a process ended before it could begin (exit code {self.close()}); what "
                "it printed says why: allow more memory, processes or files, or use one worker"
            ) from None

    @property
    def usable(self) -> bool:
        """Whether it can take another cell, and will not end by itself before it does."""
        idle = time.monotonic() - self.used
        return self.process.poll() is None and idle < IDLE_SECONDS / 2

    def compute(self, task: Task, report: Report, limit: float | None = None) -> Outcome:
        """Compute a cell in the process; its death is an outcome too.

        The process is killed after `limit` seconds of fitting and scoring.
        """
        begun, end, timer = time.monotonic(), math.inf, None
        try:
            pickle.dump(task, self.requests)
            self.requests.flush()
            while not isinstance(told := pickle.load(self.answers), Outcome):
                if limit is not None and timer is None and told[0] not in BEFORE:
                    end = time.monotonic() + limit
                    timer = threading.Timer(min(limit, threading.TIMEOUT_MAX), self.process.kill)
                    timer.start()
                report(*told)
            if time.monotonic() < end:
                return told
        except (EOFError, OSError, pickle.UnpicklingError):
            pass  # it has died; reported below
        finally:
            if timer is not None:
                timer.cancel()
            self.used = time.monotonic()
        if self.used >= end:
            self.close()
            error = f"stopped at the time limit of {limit:g} s; raise execution.time_limit"
            return Outcome(limit or 0.0, error=error)
        error = f"the worker process {death(self.close())}; run again to do only what is missing"
        return Outcome(self.used - begun, error=error)

    def close(self) -> int:
        """End the process, whatever it does, and return its exit code."""
        self.process.kill()
        code = self.process.wait()
        for stream in (self.requests, self.answers):
            with suppress(OSError):  # what was still to be written has nobody to read it
                stream.close()
        return code


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Compute cells until there are no more: what a child process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides
    plan: Plan = pickle.load(requests)
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()

    def receive() -> None:
        """Take in tasks while a cell is computed too; the process ends with the last of them."""
        try:
            while True:
                tasks.put(pickle.load(requests))
        finally:
            os._exit(0)

    def send(answer: object) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    last: tuple[str, float] = ("", 0.0)

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if stage != last[0] or now - last[1] >= BETWEEN_REPORTS:
            last = (stage, now)
            send((stage, done, total))

    threading.Thread(target=receive, daemon=True).start()
    send("ready")
    with suppress(queue.Empty):  # nobody has asked for long
        while True:
            cell, workers, threads = tasks.get(timeout=IDLE_SECONDS)
            os.environ["HARNESS_THREADS"] = str(threads)
            last = ("", 0.0)
            send(attempt(cell, plan, report, workers))


def death(code: int) -> str:
    """Return how a process ended.

    Examples
    --------
    >>> death(-9)
    'was killed (SIGKILL), perhaps because memory ran out: use fewer workers'
    >>> death(3)
    'ended by itself (exit code 3)'
    """
    if code >= 0:
        return f"ended by itself (exit code {code})"
    if code == -signal.SIGKILL:
        return "was killed (SIGKILL), perhaps because memory ran out: use fewer workers"
    return f"died ({signal.Signals(-code).name})"


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes in which Ctrl-C is blocked, before they can ignore it themselves."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts_kept() -> Iterator[Check]:
    """Yield a check that raises an interrupt that was received inside and perhaps lost.

    Python raises `KeyboardInterrupt` wherever the main thread is. In the disposal of an object it
    only prints it and goes on, and the code of an algorithm can catch it, or raise one itself. A
    loop that waits calls the check, and so does whoever has caught an exception, with it: where
    it can have been an interrupt, it is raised again.
    """
    received = False
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    ours = main and before is signal.default_int_handler
    # Another handler, or thread, leaves no other sign of an interrupt than the exception.
    possible = not ours and before is not signal.SIG_IGN

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal received
        received = True
        signal.default_int_handler(number, frame)

    def check(error: BaseException | None = None) -> None:
        if received:
            raise KeyboardInterrupt from error
        if possible and isinstance(error, KeyboardInterrupt):
            raise error

    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
