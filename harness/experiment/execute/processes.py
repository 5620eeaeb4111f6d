"""Child processes that compute one cell at a time, and may die without harm.

A child shares no lock and no queue with others, so if it is killed, hangs or runs out of memory,
only its own cell fails. It ends when its standard input does, so none outlives the process that
started it.
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
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self

from harness._util import terminal as streams
from harness._util.kernels import n_threads
from harness.errors import HarnessError, Terminated
from harness.experiment.execute.attempt import Attempt, Outcome, portable
from harness.experiment.execute.progress import BEFORE, Report
from harness.experiment.execute.recorded import Recorder
from harness.results.reads import THREAD_VARIABLES, Reads

if TYPE_CHECKING:
    from harness.experiment.execute.pool import Pool
    from harness.experiment.plan import Cell


@contextmanager
def interrupts_held() -> Iterator[None]:
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
def interrupts_ignored() -> Iterator[None]:
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


BETWEEN_REPORTS = 0.1
"""Seconds between two reports of one stage: a loop that reports every step is not slowed down."""
IDLE_SECONDS = 300.0
"""Seconds without a cell after which a child process ends."""

START = """
import faulthandler, os, pickle, sys
# An import that runs out of memory can wait for itself for ever.
faulthandler.dump_traceback_later(300, exit=True, file=open(os.devnull, "w"))
requests, answers = open(os.dup(0), "rb"), open(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)  # what an algorithm prints must not get between the answers
try:
    sys.path[:], recorded = pickle.load(requests)
except (EOFError, pickle.UnpicklingError):
    os._exit(1)  # the process that started it is gone: nobody is interested
import harness.experiment.cell  # before anything is recorded
from harness.experiment.execute.processes import serve
serve(requests, answers, recorded)
"""
"""What a child process runs."""


class Task(NamedTuple):
    """What a child process is asked for: a cell, and how many are computed at the same time."""

    cell: Cell
    workers: int
    threads: int
    recorded: bool = False
    """Whether what your own code reads is recorded."""
    lists: tuple[Reads, ...] = ()
    """What it had read in earlier runs; where one of them holds, nothing is computed."""


class ChildProcess:
    """A process that computes one cell at a time; a `recorded` one records what it reads."""

    def __init__(self, threads: int, *, recorded: bool = False) -> None:
        self.recorded = recorded
        with interrupts_held():
            self.process = subprocess.Popen(
                [sys.executable, "-c", START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if streams.is_open(2) else subprocess.DEVNULL,
                env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout
        self.used = time.monotonic()
        """When its last cell ended."""

    def begin(self, send_plan: Callable[[IO[bytes]], object]) -> Self:
        """Wait until it has what computes cells, which `send_plan` writes, and can take one.

        Raises
        ------
        HarnessError
            If the process ends before.
        """
        try:
            pickle.dump((sys.path, self.recorded), self.requests)
            send_plan(self.requests)
            self.requests.flush()
            pickle.load(self.answers)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise HarnessError(
                f"the worker process {_ending(self.close())} before it could begin; what it "
                "printed says why: allow more memory, processes or files, or use one worker; run "
                "again to do only what is missing"
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
        advice = ", perhaps because memory ran out: use fewer workers" if code == -9 else ""
        error = f"the worker process {_ending(code)}{advice}; run again to do only what is missing"
        return Outcome(self.used - begun, error=error)

    def close(self) -> int:
        """End the process, whatever it does, and return its exit code."""
        self.process.kill()
        code = self.process.wait()
        for stream in (self.requests, self.answers):
            with suppress(OSError):  # what was still to be written has nobody to read it
                stream.close()
        return code


def _ending(code: int) -> str:
    """Return how a process with an exit code ended.

    >>> _ending(-9), _ending(-11), _ending(3)
    ('was killed (SIGKILL)', 'died (SIGSEGV)', 'ended by itself (exit code 3)')
    """
    if code >= 0:
        return f"ended by itself (exit code {code})"
    name = signal.Signals(-code).name
    return f"was killed ({name})" if name == "SIGKILL" else f"died ({name})"


def serve(requests: IO[bytes], answers: IO[bytes], recorded: bool = False) -> None:
    """Compute cells until there are no more: what a child process does.

    A `recorded` one has imported this package before it begins to record; your own code comes next.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides
    streams.prepare()  # an algorithm may print anything, also when nobody reads it any more
    recorder = None
    if recorded:
        recorder = Recorder()
        recorder.begin()
    try:
        attempt: Attempt = pickle.load(requests)
    except (EOFError, pickle.UnpicklingError):
        os._exit(1)  # the process that started it is gone, which is no error here
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
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except OSError:
            os._exit(1)

    last: tuple[str, float] = ("", 0.0)

    def report(stage: str, n_steps: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if stage != last[0] or now - last[1] >= BETWEEN_REPORTS:
            last = (stage, now)
            send((stage, n_steps, total))

    threading.Thread(target=receive, daemon=True).start()
    send("ready")
    with suppress(queue.Empty):  # nobody has asked for long
        while True:
            cell, workers, threads, *_ = tasks.get(timeout=IDLE_SECONDS)
            os.environ["HARNESS_THREADS"] = str(threads)
            last = ("", 0.0)
            outcome = attempt(cell, report, workers)
            send(outcome if recorder is None else replace(outcome, reads=recorder.reads()))


LOOK_SECONDS = 1.0
"""Seconds between two looks for an interrupt, or at a cell that another run is computing."""

Check = Callable[..., None]
"""Raises an interrupt that was received, or one that an error given to it may have been."""


@contextmanager
def interrupts_kept() -> Iterator[Check]:
    """Yield a check that raises an interrupt that was received inside and perhaps lost."""
    # Python only prints one in the disposal of an object; code can catch it, or raise one itself.
    received: list[type[KeyboardInterrupt]] = []
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    ours = main and before is signal.default_int_handler
    watched: dict[int, Any] = {signal.SIGINT: before} if ours else {}
    # Another handler, or thread, leaves no other sign of an interrupt than the exception.
    possible = not ours and before is not signal.SIG_IGN
    if main and callable(ending := signal.getsignal(signal.SIGTERM)):
        watched[signal.SIGTERM] = ending

    def note(number: int, frame: FrameType | None) -> None:
        received.append(KeyboardInterrupt if number == signal.SIGINT else Terminated)
        watched[number](number, frame)

    def check(error: BaseException | None = None) -> None:
        if received:
            raise received[-1] from error
        if isinstance(error, Terminated) or (possible and isinstance(error, KeyboardInterrupt)):
            raise error

    for number in watched:
        signal.signal(number, note)
    try:
        yield check
    finally:
        for number, handler in watched.items():
            if number == signal.SIGINT or signal.getsignal(number) is note:
                signal.signal(number, handler)


class Children:
    """Processes that compute the cells of a pool, begun when they are needed."""

    def __init__(self, pool: Pool, *, recorded: bool = False) -> None:
        self.pool, self.recorded = pool, recorded
        self._open = True
        self._children: list[ChildProcess] = []
        self._idle: list[ChildProcess] = []

    def close(self) -> None:
        """End them all; one that is begun later ends too."""
        self._open = False
        for child in self._children:
            child.close()

    def compute(
        self, cells: list[Cell], patience: float, check: Check
    ) -> Iterator[tuple[Cell, Outcome | None]]:
        """Compute cells in child processes, with a thread for each that waits for its answers."""
        size = min(self.pool.workers, len(cells))
        threads, limit = max(1, n_threads() // size), self.pool.plan.experiment.execution.time_limit
        news: queue.SimpleQueue[Future[Outcome | None] | tuple[Cell, str, int, int]]
        news = queue.SimpleQueue()

        def compute(cell: Cell) -> Outcome:
            try:
                child, task = self._child(threads), Task(cell, size, threads)
            except (HarnessError, OSError) as error:
                return Outcome.failed(error)
            outcome = child.compute(task, lambda *stage: news.put((cell, *stage)), limit)
            self._idle.append(child)
            return outcome

        workers = ThreadPoolExecutor(size)
        pending: dict[Future[Outcome | None], Cell] = {}
        try:
            for cell in cells:
                future = workers.submit(self.pool.finish, cell, partial(compute, cell), patience)
                pending[future] = cell
                future.add_done_callback(news.put)
            while pending:
                check()
                with suppress(queue.Empty):
                    answer = news.get(timeout=LOOK_SECONDS)
                    if isinstance(answer, tuple):
                        self.pool.report(*answer)
                    else:  # what went wrong beside a cell ends the run
                        ended = answer.result()
                        yield pending.pop(answer), ended
        finally:
            # Interrupted, or failed: what is under way is not waited for. Another Ctrl-C in between
            # would leave a thread and its child waiting for each other.
            with interrupts_ignored() if pending else nullcontext():
                if pending:
                    self.pool.close()
                workers.shutdown(cancel_futures=True)

    def _child(self, threads: int) -> ChildProcess:
        """Return an idle child process, or a new one."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                if (child := self._idle.pop()).usable:
                    return child
                child.close()
        child = ChildProcess(threads, recorded=self.recorded)
        self._children.append(child)
        if not self._open:
            child.close()
        return child.begin(lambda stream: pickle.dump(portable(self.pool), stream))
