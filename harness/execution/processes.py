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
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import IO, TYPE_CHECKING, NamedTuple, Self

from harness import streams
from harness.errors import HarnessError
from harness.execution.attempt import Attempt
from harness.execution.child_interrupts import interrupts_held
from harness.execution.events import BEFORE, Report
from harness.execution.outcome import Outcome
from harness.results.reads import THREAD_VARIABLES, Reads

if TYPE_CHECKING:
    from harness.experiment.plan import Cell

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
from harness.execution.processes import serve
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
        import_module("harness.experiment.cell")  # by name: it imports this module
        from harness.execution.recorded import Recorder

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
