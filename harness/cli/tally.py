"""The state of a run: finished and running cells, and the estimated time that is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.errors import counted
from harness.experiment.events import (
    CellFinished,
    CellStarted,
    Event,
    RunPlanned,
    Stage,
)

__all__ = ["Tally", "UnderWay", "clock"]

STEPS = {"fitting by epoch": "epoch {done} of {total}", "scoring": "user {done} of {total}"}
"""How the steps of a stage are shown; other stages show a percentage."""
FEWEST = 2
"""Computed cells before the time that is left is estimated."""
MUCH = 10_000
"""With more steps, only the percentage is shown."""


@dataclass
class UnderWay:
    """A running cell.

    Parameters
    ----------
    since : float
        Start time, by the clock of the progress state.
    stage : str
    done, total : int
        Steps within the stage.
    """

    since: float
    stage: str = "loading"
    done: int = 0
    total: int = 0

    def describe(self) -> str:
        """Return stage and steps in words.

        Examples
        --------
        >>> UnderWay(0.0, "fitting by epoch", 7, 20).describe()
        'fitting, epoch 7 of 20'
        >>> UnderWay(0.0, "fitting", 300, 900).describe(), UnderWay(0.0, "metrics").describe()
        ('fitting, 33%', 'metrics')
        """
        stage = self.stage.removesuffix(" by epoch")
        if not self.total:
            return stage
        steps = STEPS.get(self.stage, "") if self.total < MUCH else ""
        told = steps.format(done=f"{self.done:,}", total=f"{self.total:,}")
        return f"{stage}, {told or format(self.done / self.total, '.0%')}"


@dataclass
class Tally:
    """Counts events.

    Parameters
    ----------
    now : callable
        A clock, in seconds.
    """

    now: Callable[[], float]
    n_cells: int = 0
    n_done: int = 0
    n_failed: int = 0
    n_workers: int = 1
    planned: bool = False
    around: UnderWay = field(init=False)
    """What the run does before its first and after its last cell."""
    under_way: dict[str, UnderWay] = field(default_factory=dict)
    took: list[float] = field(default_factory=list)
    """Seconds of the cells that this run computed."""
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.now()
        self.around = UnderWay(self.begun, "preparing")

    def take(self, event: Event) -> None:
        """Process an event."""
        match event:
            case RunPlanned():
                self.n_cells, self.n_done = event.n_cells, event.n_found
                self.n_workers, self.planned = event.n_workers, True
            case CellStarted(cell):
                self.under_way[cell] = UnderWay(self.now())
            case Stage(cell, stage, done, total) if cell in self.under_way:
                entry = self.under_way[cell]
                entry.stage, entry.done, entry.total = stage, done, total
            case Stage(cell, stage, done, total):
                told = f"{stage} of {cell}" if cell else stage
                self.around = UnderWay(self.around.since, told, done, total)
            case CellFinished(cell, seconds, found, error):
                self.n_done += 1
                self.n_failed += error is not None
                self.under_way.pop(cell, None)
                if not found and error is None:
                    self.took.append(seconds)

    def plan(self) -> str:
        """Return how many cells there are, and how many of them were found.

        Examples
        --------
        >>> tally = Tally(lambda: 0.0)
        >>> tally.take(RunPlanned(3, 3))
        >>> tally.plan()
        '3 of 3 cells found, nothing is fitted'
        """
        cells = counted(self.n_cells, "cell")
        if self.n_done < self.n_cells or self.took or self.n_failed:
            return f"{cells}, {self.n_done} finished" if self.n_done else cells
        return f"{self.n_done} of {cells} found, nothing is fitted"

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.now() - self.begun

    def left(self) -> float | None:
        """Return an estimate of the seconds that are left, from the cells that this run computed.

        None before the second one: the first alone says little about other algorithms.
        """
        n_left = self.n_cells - self.n_done
        if len(self.took) < FEWEST or n_left <= 0:
            return None
        mean = sum(self.took) / len(self.took)
        now = self.now()
        begun = sum(min(now - entry.since, mean) for entry in self.under_way.values())
        return (n_left * mean - begun) / min(self.n_workers, n_left)


def clock(seconds: float) -> str:
    """Return a duration as a clock shows it.

    Examples
    --------
    >>> clock(7.9), clock(754), clock(7322)
    ('0:07', '12:34', '2:02:02')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
