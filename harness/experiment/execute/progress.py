"""How far a run is: its counts, and its plan and stages in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from harness.errors import counted

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


class Noted(NamedTuple):
    """Something a reader of the results should know."""

    message: str


Event = RunPlanned | CellStarted | Stage | CellFinished | Noted
Watch = Callable[[Event], object]


STEPS = {"fitting by epoch": "epoch {:,} of {:,}", "scoring": "user {:,} of {:,}"}
"""How the steps of a stage are shown; other stages show a percentage."""
MANY = 10_000
"""With more steps, only the percentage is shown."""
NOTHING = " found, nothing is fitted"


class Progress:
    """The cells and trials of a run: how many there are, have ended, have failed."""

    def __init__(self) -> None:
        self.n_all: int | None = 0
        """Cells and trials; None where seconds end a search."""
        self.units = "cells"
        self.n_done = self.n_failed = self.n_found = 0

    def plan(self, event: RunPlanned) -> str:
        """Set the counts to a plan's, and return it in words."""
        n_cells, n_found, _, n_trials = event
        searched = self.n_done > 0  # trials, which came before
        text = _planned(event, self.n_found if searched else None)
        self.n_all = None if n_trials is None else n_cells + n_trials
        self.n_done = n_found + (n_trials or 0) * searched
        self.units = "cells and trials" if n_trials != 0 else "cells"
        return text

    def finish(self, event: CellFinished) -> None:
        """Count a cell or trial that ended."""
        self.n_done += 1
        self.n_failed += event.error is not None
        self.n_found += event.found

    @property
    def goes_on(self) -> bool:
        """Whether cells or trials are still to come."""
        return self.n_all is None or self.n_done < self.n_all

    def __str__(self) -> str:
        """Return the counts, such as ``5 of 16 cells, 1 failed``."""
        of = "" if self.n_all is None else f" of {self.n_all}"
        units = self.units.removesuffix("s") if self.n_all == 1 else self.units
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return f"{self.n_done}{of} {units}{failed}"


def _planned(event: RunPlanned, trials_found: int | None) -> str:
    """Return what a run computes, and what it found: trials and cells apart.

    `trials_found` is None before a search.

    >>> _planned(RunPlanned(14, 0, 1, 16), None), _planned(RunPlanned(14, 5), 0)
    ('up to 16 trials, then 14 cells', '14 cells: 5 found, 9 to compute')
    >>> _planned(RunPlanned(14, 12, 1, 16), 14)
    '16 trials: 14 found, 2 computed; 14 cells: 12 found, 2 to compute'
    >>> _planned(RunPlanned(14, 14, 1, 16), 16)
    '16 of 16 trials and 14 of 14 cells found, nothing is fitted'
    """
    n_cells, n_found, _, n_trials = event
    cells = counted(n_cells, "cell")
    if trials_found is None and n_trials != 0:
        if n_trials is None:
            return f"as many trials as fit into the seconds of the search, then {cells}"
        return f"up to {counted(n_trials, 'trial')}, then {cells}"
    kinds = [("trial", n_trials or 0, trials_found or 0, "computed")] * (n_trials != 0)
    kinds.append(("cell", n_cells, n_found, "to compute"))
    if all(n == n_found for _, n, n_found, _ in kinds):
        parts = [f"{n} of {counted(n, kind)}" for kind, n, _, _ in kinds]
        return f"{' and '.join(parts)}{NOTHING}"
    parts = [
        counted(n, kind) + (f": {n_found} found, {n - n_found} {state}" if n_found else "")
        for kind, n, n_found, state in kinds
    ]
    return "; ".join(parts)


def in_words(event: Stage) -> str:
    """Return a stage and its steps in words.

    >>> in_words(Stage("SVD", "fitting by epoch", 7, 20)), in_words(Stage("", "loading"))
    ('fitting, epoch 7 of 20', 'loading')
    >>> in_words(Stage("SVD", "fitting", 300, 900))
    'fitting, 33%'
    """
    stage = event.stage.removesuffix(" by epoch")
    if not event.total:
        return stage
    steps = STEPS.get(event.stage) if event.total < MANY else None
    share = f"{event.done / event.total:.0%}"
    return f"{stage}, {steps.format(event.done, event.total) if steps else share}"


def clock(seconds: float) -> str:
    """Return a duration as a clock shows it.

    >>> clock(7.9), clock(754), clock(7322)
    ('0:07', '12:34', '2:02:02')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
