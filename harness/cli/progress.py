"""What a run shows while it runs: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Protocol, Self

from harness.cli.live import Live, ending
from harness.cli.screen import printable
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
        """Take in what happened."""


def display(quiet: bool) -> Display:
    """Return what fits the place where standard error goes."""
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
        """Nothing is shown."""


class Lines:
    """One plain line for each cell that ends, on standard error."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.note: Note | None = None
        """The last one; each round of a search may have the same to say."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Nothing was opened."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunPlanned):
            self.done, self.total = event.n_found, event.n_cells
            found = f", {event.n_found} finished" if event.n_found else ""
            self.say(f"{event.n_cells} cells{found}")
        elif isinstance(event, CellFinished):
            self.done += 1
            if not event.found:
                self.say(f"[{self.done}/{self.total}] {ending(event)}")
        elif isinstance(event, Note) and event != self.note:
            self.note = event
            self.say(event.message)

    def say(self, text: str) -> None:
        """Print a line at once."""
        print(printable(text), file=sys.stderr, flush=True)  # noqa: T201
