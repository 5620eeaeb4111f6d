"""What a run tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["CellFinished", "CellStarted", "Event", "Note", "RunPlanned", "Stage", "Watch", "ignore"]


@dataclass(frozen=True)
class RunPlanned:
    """The cells are known: how many there are and how many were found finished."""

    n_cells: int
    n_found: int


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
        ``loading``, ``fitting``, ``scoring`` or ``metrics``.
    done, total : int
        Progress within the stage; 0 of 0 when it cannot be told.
    """

    cell: str
    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class CellFinished:
    """A cell is on disk, was found there, or has failed."""

    cell: str
    seconds: float
    found: bool = False
    error: str | None = None


@dataclass(frozen=True)
class Note:
    """Something a reader of the results should know."""

    message: str


Event = RunPlanned | CellStarted | Stage | CellFinished | Note
Watch = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Watch nothing."""
