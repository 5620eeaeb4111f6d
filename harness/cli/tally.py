"""What is known of a run while it runs: cells done and under way, and the time that is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.experiment.events import (
    CellFinished,
    CellStarted,
    Event,
    Expected,
    RunPlanned,
    Stage,
)

__all__ = ["Tally", "UnderWay", "clock"]

STEPS = {"fitting by epoch": "epoch {done} of {total}", "scoring": "user {done} of {total}"}
"""How the steps of a stage are told; others as a share."""
MUCH = 10_000
"""Steps from which on only their share is told."""


@dataclass
class UnderWay:
    """A cell that is being done.

    Parameters
    ----------
    since : float
        When it began, by the clock of the tally.
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
    """Counts what events tell.

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
    ahead: dict[str, float | None] = field(default_factory=dict)
    """By title, what cells that are not done are expected to take."""
    took: list[float] = field(default_factory=list)
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.now()
        self.around = UnderWay(self.begun, "preparing")

    def take(self, event: Event) -> None:
        """Take in what happened."""
        match event:
            case RunPlanned(n_cells, n_found):
                self.n_cells, self.n_done, self.planned = n_cells, n_found, True
            case Expected(seconds, n_workers):
                self.ahead |= seconds
                self.n_workers = n_workers
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
                self.ahead.pop(cell, None)
                if not found and error is None:
                    self.took.append(seconds)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.now() - self.begun

    def left(self) -> float | None:
        """Return the seconds until the last cell is done; None where nothing tells.

        Cells like none before are taken to last as long as the others do on average.
        """
        known = [each for each in self.ahead.values() if each is not None]
        usual = known + self.took
        n_left = self.n_cells - self.n_done
        if not self.planned or not usual or n_left <= 0:
            return None
        mean = sum(usual) / len(usual)
        total = sum(known) + mean * max(0, n_left - len(known))
        now = self.now()
        for cell, entry in self.under_way.items():
            total -= min(now - entry.since, self.ahead.get(cell) or mean)
        return total / max(1, min(self.n_workers, n_left))


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
