"""What a run shows while it runs: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from harness.cli.screen import printable
from harness.experiment.events import CellFinished, CellStarted, Event, Note, RunPlanned, Stage

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


class Live:
    """A bar for the run, the cells under way with their stage, failures as they happen."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self.console = Console(stderr=True, highlight=False)
        self.progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
        )
        self.run = self.progress.add_task("preparing", total=None)
        self.stages: dict[str, float] = {}
        self.last = 0.0
        self.note: Note | None = None

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.progress.stop()

    def __call__(self, event: Event) -> None:
        from rich.text import Text

        match event:
            case RunPlanned(n_cells, n_found):
                self.progress.update(self.run, total=n_cells, completed=n_found, description="run")
            case CellStarted(cell):
                self.progress.update(self.run, description=printable(cell))
            case Stage(cell, stage, done, total):
                now = time.monotonic()
                if done and done < total and now - self.last < 0.1:
                    return
                self.last = now
                share = f" {done / total:.0%}" if total else ""
                title = f"{cell} · {stage}{share}" if cell else f"{stage}{share}"
                self.progress.update(self.run, description=printable(title))
            case CellFinished():
                self.progress.advance(self.run)
                if not event.found:
                    style = "red" if event.error else "default"
                    self.console.print(Text(printable(ending(event)), style=style))
            case Note(message) if event != self.note:
                self.note = event
                self.console.print(Text(printable(message), style="yellow"))


def ending(event: CellFinished) -> str:
    """Return the line for a cell that ended."""
    if event.error:
        return f"✗ {event.cell}: {event.error}"
    return f"✓ {event.cell}: {event.seconds:.2f} s"
