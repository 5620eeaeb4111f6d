"""What a run reports while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

WAITING = "waiting"
LOADING = "loading"
COMPILING = "compiling"
BEFORE = (WAITING, LOADING, COMPILING)
"""Stages that count neither in the seconds of a cell nor against its time limit."""

Report = Callable[[str, int, int], object]
"""Called with the stage, the steps done and the steps in all."""


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
    ``scoring``, ``metrics``, ``groups``, ``describing``, ``comparing``,
    ``writing`` or ``power``."""
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
