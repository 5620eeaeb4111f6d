"""What a run shows while it runs: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from harness.cli.screen import say, shows_tracebacks
from harness.errors import counted
from harness.experiment.events import CellFinished, Event, Note, RunPlanned, Stage, Watch

__all__ = ["Count", "Lines", "clock", "display", "ending", "in_words", "silent"]

STEPS = {"fitting by epoch": "epoch {:,} of {:,}", "scoring": "user {:,} of {:,}"}
"""How the steps of a stage are shown; other stages show a percentage."""
MANY = 10_000
"""With more steps, only the percentage is shown."""


def display(quiet: bool) -> AbstractContextManager[Watch]:
    """Return what watches a run: live on a terminal, lines elsewhere."""
    if quiet or not sys.stderr.isatty():
        return nullcontext(silent if quiet else Lines())
    from harness.cli.live import Live  # imports much that only a terminal needs

    return Live()


@dataclass
class Count:
    """Cells that ended; of how many, where that is known."""

    n_cells: int | None = 0
    n_done: int = 0
    n_failed: int = 0

    def take(self, event: Event) -> None:
        """Count an event."""
        match event:
            case RunPlanned(n_cells, n_found):
                self.n_cells, self.n_done = n_cells, n_found
            case CellFinished(error=error):
                self.n_done += 1
                self.n_failed += error is not None

    def __str__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        if self.n_cells is None:
            return f"{counted(self.n_done, 'cell')}{failed}"
        return f"{self.n_done} of {counted(self.n_cells, 'cell')}{failed}"

    def plan(self) -> str:
        """Return how many cells there are, and how many of them were found.

        Examples
        --------
        >>> Count(3, 3).plan(), Count(3, 1).plan()
        ('3 of 3 cells found, nothing is fitted', '3 cells, 1 finished')
        """
        if self.n_cells is None:
            return "as many trials as fit into the seconds of the search"
        cells = counted(self.n_cells, "cell")
        if self.n_done == self.n_cells and not self.n_failed:
            return f"{self.n_done} of {cells} found, nothing is fitted"
        return f"{cells}, {self.n_done} finished" if self.n_done else cells


class Lines:
    """One plain line for each cell that ends, on standard error."""

    def __init__(self) -> None:
        self.count = Count()
        self.note: Note | None = None
        """The last one; each round of a search may send the same note."""

    def __call__(self, event: Event) -> None:
        """Process an event."""
        self.count.take(event)
        if isinstance(event, RunPlanned):
            say(self.count.plan(), err=True)
        elif isinstance(event, CellFinished) and not event.found:
            of = "" if self.count.n_cells is None else f"/{self.count.n_cells}"
            say(f"[{self.count.n_done}{of}] {ending(event)}", err=True)
        elif isinstance(event, Note) and event != self.note:
            self.note = event
            say(event.message, err=True)


def silent(event: Event) -> None:
    """Show only tracebacks, if they are asked for."""
    if isinstance(event, CellFinished) and event.error and shows_tracebacks():
        say(ending(event), err=True)


def ending(event: CellFinished) -> str:
    """Return the line for a cell that ended.

    Examples
    --------
    >>> ending(CellFinished("SVD", 0.25)), ending(CellFinished("NMF", 0.1, error="no; yes"))
    ('✓ SVD: 0.25 s', '✗ NMF: no; yes')
    """
    if event.error:
        trace = f"\n{event.traceback.rstrip()}" if shows_tracebacks() else ""
        return f"✗ {event.cell}: {event.error}{trace}"
    return f"✓ {event.cell}: {event.seconds:.2f} s"


def in_words(event: Stage) -> str:
    """Return a stage and its steps in words.

    Examples
    --------
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

    Examples
    --------
    >>> clock(7.9), clock(754), clock(7322)
    ('0:07', '12:34', '2:02:02')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
