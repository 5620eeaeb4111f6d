"""Places where cells are computed, and the computation in another process or machine."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.experiment.execute.pool import Pool
    from harness.experiment.execute.progress import Report
    from harness.experiment.plan import Cell
    from harness.results.reads import Reads
    from harness.results.store import CellRecord


LONGEST_REASON = 500
LONGEST_TRACEBACK = 20_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a cell ended: with a record, which may have been there already, or with an error."""

    seconds: float = 0.0
    """Seconds of fitting and scoring, also of a failure."""
    record: CellRecord | None = None
    found: bool = False
    error: str | None = None
    """Why it failed, in one line."""
    traceback: str = ""
    reads: Reads | None = None
    """What its process had read, if that was recorded."""

    @classmethod
    def failed(cls, error: BaseException, seconds: float = 0.0, algorithm: str = "") -> Outcome:
        """Return the outcome of a cell that raised an error."""
        module = sys.modules.get(algorithm.partition(":")[0]) if ":" in algorithm else None
        return cls(
            seconds,
            error=_reason(error, getattr(module, "__file__", None)),
            traceback="".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:],
        )


def _reason(error: BaseException, own_file: str | None) -> str:
    """Return one line with the error and, for errors of other code, the place."""
    if isinstance(error, MemoryError):
        return "out of memory; use fewer workers, a smaller data set or fewer factors"
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "no more threads are allowed; raise the limit (ulimit -u, -v) or set HARNESS_THREADS"
    try:
        text = str(error)
    except Exception:  # a foreign class whose message cannot be made
        text = "without a message"
    if not isinstance(error, HarnessError):
        every = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in every if frame.filename == own_file] or every
        where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        text = f"{type(error).__name__}: {text}{where}"
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shown if len(shown) <= LONGEST_REASON else f"{shown[:LONGEST_REASON]} …"


class Workplace(Enum):
    """A place where a cell is computed, and whether the cell can be reused."""

    USUAL = "usual"
    """Wherever the execution of the config says; its key has all that decides its numbers."""
    RECORDED = "recorded"
    """In a process that records what your own code reads: it is reused while all that is equal."""
    SESSION = "session"
    """In this process, with objects that only this process has; it is never reused."""


class Attempt(Protocol):
    """Computes a cell of one plan; what goes wrong is its outcome, unless `check` raises it."""

    def __call__(
        self,
        cell: Cell,
        report: Report,
        workers: int = 1,
        check: Callable[[BaseException], object] = ...,
    ) -> Outcome:
        """Compute the cell, while `workers` are computed at the same time."""


def portable(pool: Pool) -> Attempt:
    """Return what computes the cells of the plan of a pool in another process."""
    return partial(pool.attempt, plan=pool.plan.portable())
