"""Events that a run reports while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = [
    "CellFinished",
    "CellStarted",
    "Event",
    "Note",
    "RunPlanned",
    "Stage",
    "Watch",
    "ignore",
]


@dataclass(frozen=True)
class RunPlanned:
    """The cells are known.

    Parameters
    ----------
    n_cells : int or None
        None where seconds, not a number of trials, end a search.
    n_found : int
        How many of them were found in the cache.
    n_workers : int
        How many are computed at the same time.
    """

    n_cells: int | None
    n_found: int
    n_workers: int = 1


@dataclass(frozen=True)
class CellStarted:
    """A cell has begun."""

    cell: str


@dataclass(frozen=True)
class Stage:
    """A cell, or the run before its first cell, has reached a stage.

    Parameters
    ----------
    cell : str
        Empty before the first cell.
    stage : str
        ``waiting`` for another run, ``loading``, ``compiling``, ``fitting`` (``fitting by epoch``
        where steps are epochs), ``scoring`` (steps are users) or ``metrics``; ``comparing`` for the
        whole run.
    done, total : int
        Progress within the stage; 0 of 0 where it is unknown.
    """

    cell: str
    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class CellFinished:
    """A cell is on disk, was found there, or has failed.

    Parameters
    ----------
    cell : str
    seconds : float
        Of fitting and scoring.
    found : bool
    error : str or None
    traceback : str
        Of the error, where there is one.
    """

    cell: str
    seconds: float
    found: bool = False
    error: str | None = None
    traceback: str = ""


@dataclass(frozen=True)
class Note:
    """Something a reader of the results should know."""

    message: str


Event = RunPlanned | CellStarted | Stage | CellFinished | Note
Watch = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Ignore an event."""
