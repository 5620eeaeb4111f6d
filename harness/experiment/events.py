"""What a run tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = [
    "CellFinished",
    "CellStarted",
    "Event",
    "Expected",
    "Note",
    "RunPlanned",
    "Stage",
    "Watch",
    "ignore",
]


@dataclass(frozen=True)
class RunPlanned:
    """The cells are known: how many there are and how many were found finished."""

    n_cells: int
    n_found: int


@dataclass(frozen=True)
class Expected:
    """What the cells that come next will take, by what such cells took before.

    Parameters
    ----------
    seconds : mapping of str to float or None
        By the cell's title; None where nothing like it was ever done on this machine.
    n_workers : int
        How many cells are done at the same time.
    """

    seconds: Mapping[str, float | None]
    n_workers: int


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
        ``waiting`` for another run, ``loading``, ``fitting`` (``fitting by epoch`` where steps are
        epochs), ``scoring`` (steps are users) or ``metrics``; ``comparing`` for the whole run.
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


Event = RunPlanned | Expected | CellStarted | Stage | CellFinished | Note
Watch = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Watch nothing."""
