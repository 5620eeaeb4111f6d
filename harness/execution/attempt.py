"""Where cells are computed, and what computes one in another process or on another machine."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Protocol

from harness.execution.outcome import Outcome

if TYPE_CHECKING:
    from harness.execution.events import Report
    from harness.execution.pool import Pool
    from harness.experiment.plan import Cell


class Place(Enum):
    """Where a cell is computed, and whether it can be reused."""

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
