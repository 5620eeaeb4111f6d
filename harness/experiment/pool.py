"""Cells computed here, in child processes that may die without harm, or on a cluster; events.

A child process computes one cell at a time. It shares no lock and no queue with others, so if it is
killed, hangs or runs out of memory, only its own cell fails. It ends when its standard input does,
so none outlives the process that started it.
"""

from __future__ import annotations

import faulthandler
import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import IO, NamedTuple, Self

import numpy as np

from harness import streams
from harness.errors import HarnessError, ResultsError
from harness.experiment.cell import BEFORE, WAITING, Outcome, Report, attempt
from harness.experiment.plan import Cell, Plan
from harness.kernels import n_threads
from harness.results.store import CellRecord, CellStore

LOOK_SECONDS = 1.0
"""Seconds between two looks for an interrupt, or at a cell that another run is computing."""
BETWEEN_REPORTS = 0.1
"""Seconds between two reports of one stage: a loop that reports every step is not slowed down."""
IDLE_SECONDS = 300.0
"""Seconds without a cell after which a child process ends."""
MOST_BYTES = 256_000_000
"""Of records that are kept in memory until they are scored; the others are read back."""

START = """
import faulthandler, os, pickle, sys
# An import that runs out of memory can wait for itself for ever.
faulthandler.dump_traceback_later(300, exit=True, file=open(os.devnull, "w"))
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


class RunPlanned(NamedTuple):
    """The cells are known: before a search (`n_trials` at most, None for no limit) and after it."""

    n_cells: int
    n_found: int
    n_workers: int = 1
    n_trials: int | None = 0


class CellStarted(NamedTuple):
    """A cell has begun."""

    cell: str


class Stage(NamedTuple):
    """A cell, or the run (an empty `cell`), has reached a stage or a step of it."""

    cell: str
    stage: str
    """``waiting`` for another run, ``loading``, ``compiling``, ``fitting`` (``fitting by epoch``),
    ``scoring``, ``metrics``, ``groups`` or ``comparing``."""
    done: int = 0
    total: int = 0
    """Steps in all, 0 where their number is unknown."""


class CellFinished(NamedTuple):
    """A cell is on disk, was found there, or has failed; seconds are of fitting and scoring."""

    cell: str
    seconds: float
    found: bool = False
    error: str | None = None
    traceback: str = ""


class Note(NamedTuple):
    """Something a reader of the results should know."""

    message: str


Event = RunPlanned | CellStarted | Stage | CellFinished | Note
Watch = Callable[[Event], object]


class Task(NamedTuple):
    """What a child process is asked for: a cell, and how many are computed at the same time."""

    cell: Cell
    workers: int
    threads: int


class Pool:
    """Computes and stores the cells of a run: here, in child processes or on a cluster.

    `fresh` computes cells again that are stored, all or, unless `trust_cache`, those whose key does
    not cover all of their code.
    """

    def __init__(
        self,
        plan: Plan,
        workers: int,
        watch: Watch,
        *,
        fresh: bool = False,
        trust_cache: bool = False,
    ) -> None:
        self.plan, self.workers, self.watch = plan, workers, watch
        self.fresh, self.trust_cache = fresh, trust_cache
        self.store = CellStore.default()
        self.computed: set[str] = set()
        """Keys of the cells of this run that were not there before."""
        self._records: dict[str, CellRecord] = {}
        self._n_bytes = 0
        self._begun: set[str] = set()
        self._open = True
        self._children: list[ChildProcess] = []
        self._idle: list[ChildProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._open = False
        for child in self._children:
            child.close()

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have to be computed, the first of those with one key."""
        first = {cell.key: cell for cell in reversed([*cells])}
        return [cell for cell in cells if first[cell.key] is cell and not self._is_there(cell)]

    def compute(self, cells: Sequence[Cell], *, trials: bool = False) -> dict[str, Outcome]:
        """Compute and store the cells that are missing; return those that failed, by key.

        An interrupt ends it even if the code of an algorithm caught it.
        """
        missing = self.missing(cells)
        keys = {cell.key for cell in missing}
        for cell in cells if trials else ():
            if cell.key not in keys:
                self.watch(CellFinished(cell.title, 0.0, found=True))
        if missing:
            self.store.check_writable()
        failed, patience = {}, 0.0
        while missing:
            busy: list[Cell] = []  # another run computes them; they come last, and are waited for
            with (
                interrupts_kept() as check,
                closing(self._execute(missing, patience, check)) as outcomes,
            ):
                for cell, done in outcomes:
                    if done is None:
                        busy.append(cell)
                        continue
                    how = (done.seconds, done.found, done.error, done.traceback)
                    self.watch(CellFinished(cell.title, *how))
                    if done.record is None:
                        failed[cell.key] = done
                    else:
                        self._keep(cell.key, done.record)
                        self.computed |= set() if done.found else {cell.key}
                    check()  # an interrupt ends it even if the code of an algorithm caught it
            missing, patience = busy, LOOK_SECONDS
            for cell in busy:
                self.watch(Stage(cell.title, WAITING))
        return failed

    def take(self, key: str) -> CellRecord | None:
        """Return a completed cell, from memory or else from the disk."""
        record = self._records.get(key)
        return record if record is not None else self.store.get(key)

    def _may_take(self, cell: Cell) -> bool:
        """Return whether the result of an earlier run stands for a cell."""
        if self.fresh or self.trust_cache:
            return not self.fresh
        return self.plan.code.is_followed(cell.algorithm, is_trial=cell.inner)

    def _is_there(self, cell: Cell) -> bool:
        """Return whether a cell is completed; a broken file is removed and reported."""
        key = cell.key
        if key in self._records or key in self.computed:
            return True
        if not self._may_take(cell):
            return False
        try:
            record = self.store.get(key)
        except ResultsError as error:
            self.store.discard(key)
            self.watch(Note(str(error)))
            return False
        if record is not None:
            self._keep(key, record)
        return record is not None

    def _keep(self, key: str, record: CellRecord) -> None:
        parts = (*vars(record.rankings).values(), *vars(record.pairs).values())
        n_bytes = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
        if key not in self._records and self._n_bytes + n_bytes <= MOST_BYTES:
            self._records[key] = record
            self._n_bytes += n_bytes

    def _execute(
        self, cells: list[Cell], patience: float, check: Check
    ) -> Generator[tuple[Cell, Outcome | None], None, None]:
        """Yield how each cell ended, in no set order; None if another run is computing it."""
        execution = self.plan.experiment.execution
        if execution.executor == "dask":
            from harness.experiment.dask import on_cluster

            for cell, done in on_cluster(cells, self, check):
                # The lock is waited for only to store the cell: nothing is computed twice.
                while (ended := self._finish(cell, partial(replace, done), LOOK_SECONDS)) is None:
                    check()
                yield cell, ended
        elif self.workers > 1 or execution.time_limit is not None:
            yield from self._in_children(cells, patience, check)
        else:
            for cell in cells:
                report = partial(self.report, cell)
                compute = partial(attempt, cell, self.plan, report, check=check)
                yield cell, self._finish(cell, compute, patience)

    def _finish(
        self, cell: Cell, compute: Callable[[], Outcome], patience: float
    ) -> Outcome | None:
        """Compute and store a cell unless it is stored; None if another run is still at it."""
        with suppress(TimeoutError), self.store.lock(cell.key, patience):
            with suppress(ResultsError):  # a broken one is computed again
                if self._may_take(cell) and (record := self.store.get(cell.key)) is not None:
                    return Outcome(record=record, found=True)
            outcome = compute()
            try:
                if outcome.record is not None:
                    self.store.put(cell.key, outcome.record)
            except ResultsError as error:
                return Outcome.failed(error, outcome.seconds)
            return outcome
        return None

    def _in_children(
        self, cells: list[Cell], patience: float, check: Check
    ) -> Iterator[tuple[Cell, Outcome | None]]:
        """Compute cells in child processes, with a thread for each that waits for its answers."""
        size = min(self.workers, len(cells))
        threads, limit = max(1, n_threads() // size), self.plan.experiment.execution.time_limit
        news: queue.SimpleQueue[Future[Outcome | None] | tuple[Cell, str, int, int]]
        news = queue.SimpleQueue()

        def compute(cell: Cell) -> Outcome:
            child, task = self._child(threads), Task(cell, size, threads)
            outcome = child.compute(task, lambda *stage: news.put((cell, *stage)), limit)
            self._idle.append(child)
            return outcome

        workers = ThreadPoolExecutor(size)
        pending: dict[Future[Outcome | None], Cell] = {}
        try:
            for cell in cells:
                future = workers.submit(self._finish, cell, partial(compute, cell), patience)
                pending[future] = cell
                future.add_done_callback(news.put)
            while pending:
                check()
                with suppress(queue.Empty):
                    answer = news.get(timeout=LOOK_SECONDS)
                    if isinstance(answer, tuple):
                        self.report(*answer)
                    else:  # what went wrong beside a cell ends the run
                        ended = answer.result()
                        yield pending.pop(answer), ended
        finally:
            # Interrupted, or failed: what is under way is not waited for. Another Ctrl-C in between
            # would leave a thread and its child waiting for each other.
            with _interrupts_ignored() if pending else nullcontext():
                if pending:
                    self.__exit__(None, None, None)
                workers.shutdown(cancel_futures=True)

    def _child(self, threads: int) -> ChildProcess:
        """Return an idle child process, or a new one."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                if (child := self._idle.pop()).usable:
                    return child
                child.close()
        child = ChildProcess(threads)
        self._children.append(child)
        if not self._open:
            child.close()
        return child.begin(lambda stream: pickle.dump(self.plan.portable(), stream))

    def report(self, cell: Cell, stage: str, done: int, total: int) -> None:
        """Tell the watcher of a stage, and before the first of a cell that it has begun."""
        if cell.key not in self._begun:
            self._begun.add(cell.key)
            self.watch(CellStarted(cell.title))
        self.watch(Stage(cell.title, stage, done, total))


class ChildProcess:
    """A process that computes one cell at a time."""

    def __init__(self, threads: int) -> None:
        with _interrupts_held():
            self.process = subprocess.Popen(
                [sys.executable, "-c", START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if streams.is_open(2) else subprocess.DEVNULL,
                env=os.environ | dict.fromkeys(LINEAR_ALGEBRA, str(threads)),
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout
        self.used = time.monotonic()
        """When its last cell ended."""

    def begin(self, send_plan: Callable[[IO[bytes]], object]) -> Self:
        """Wait until it has the pickled plan, which `send_plan` writes, and can take a cell."""
        try:
            pickle.dump(sys.path, self.requests)
            send_plan(self.requests)
            self.requests.flush()
            pickle.load(self.answers)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise HarnessError(
                f"workers: a process ended before it could begin (exit code {self.close()}); what "
                "it printed says why: allow more memory, processes or files, or use one worker"
            ) from None
        return self

    @property
    def usable(self) -> bool:
        """Whether it can take another cell, and will not end by itself before it does."""
        idle = time.monotonic() - self.used
        return self.process.poll() is None and idle < IDLE_SECONDS / 2

    def compute(self, task: Task, report: Report, limit: float | None = None) -> Outcome:
        """Compute a cell within `limit` seconds; the death of the process is an outcome too."""
        begun, end, timer = time.monotonic(), math.inf, None
        try:
            pickle.dump(task, self.requests)
            self.requests.flush()
            while not isinstance(answer := pickle.load(self.answers), Outcome):
                if limit is not None and timer is None and answer[0] not in BEFORE:
                    end = time.monotonic() + limit
                    timer = threading.Timer(min(limit, threading.TIMEOUT_MAX), self.process.kill)
                    timer.start()
                report(*answer)
            if time.monotonic() < end:
                return answer
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            pass  # it has died, or its pipes are closed; reported below
        finally:
            if timer is not None:
                timer.cancel()
            self.used = time.monotonic()
        code = self.close()
        if self.used >= end:
            error = f"stopped at the time limit of {limit:g} s; raise execution.time_limit"
            return Outcome(limit or 0.0, error=error)
        how = f"ended by itself (exit code {code})"
        if code == -signal.SIGKILL:
            how = "was killed (SIGKILL), perhaps because memory ran out: use fewer workers"
        elif code < 0:
            how = f"died ({signal.Signals(-code).name})"
        error = f"the worker process {how}; run again to do only what is missing"
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
    streams.prepare()  # an algorithm may print anything, also when nobody reads it any more
    plan: Plan = pickle.load(requests)
    faulthandler.cancel_dump_traceback_later()  # everything is imported
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
def _interrupts_ignored() -> Iterator[None]:
    """Let Ctrl-C do nothing inside."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if is_main else None
    if before is not None:  # else it was not set by Python, and could not be set again
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


@contextmanager
def interrupts_kept() -> Iterator[Check]:
    """Yield a check that raises an interrupt that was received inside and perhaps lost."""
    # Python only prints one in the disposal of an object; code can catch it, or raise one itself.
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
