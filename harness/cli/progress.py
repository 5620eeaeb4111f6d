"""What a run shows while it runs: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from harness.cli.live import Live, ending
from harness.cli.screen import say, shows_tracebacks
from harness.cli.tally import Tally
from harness.experiment.events import CellFinished, Event, Note, RunPlanned

__all__ = ["Display", "display"]


class Display(Protocol):
    """Watches a run inside a ``with`` block."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def __call__(self, event: Event) -> None:
        """Process an event."""


def display(quiet: bool) -> Display:
    """Return the display for standard error: live on a terminal, lines elsewhere."""
    if quiet:
        return Silence()
    return Live() if sys.stderr.isatty() else Lines()


class Silence:
    """Show nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Nothing was opened."""

    def __call__(self, event: Event) -> None:
        """Show only requested tracebacks."""
        if isinstance(event, CellFinished) and event.error and shows_tracebacks():
            say(ending(event), err=True)


class Lines:
    """One plain line for each cell that ends, on standard error."""

    def __init__(self) -> None:
        self.tally = Tally(time.monotonic)
        self.note: Note | None = None
        """The last one; each round of a search may send the same note."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Nothing was opened."""

    def __call__(self, event: Event) -> None:
        self.tally.take(event)
        if isinstance(event, RunPlanned):
            say(self.tally.plan(), err=True)
        elif isinstance(event, CellFinished) and not event.found:
            say(f"[{self.tally.n_done}/{self.tally.n_cells}] {ending(event)}", err=True)
        elif isinstance(event, Note) and event != self.note:
            self.note = event
            say(event.message, err=True)
