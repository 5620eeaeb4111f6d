"""The live display of a run: a line for the run, a line for each running cell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from harness.cli.screen import printable, shows_tracebacks
from harness.cli.tally import Tally, UnderWay, clock
from harness.errors import counted
from harness.experiment.events import CellFinished, Event, Note, RunPlanned

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

__all__ = ["Live", "ending"]

BAR = 24
NARROW = 64
"""Columns below which the bar is left out."""
MOST_LINES = 8
"""Running cells that get a line; for the others only the number is shown."""


class Live:
    """A progress bar for the run, the running cells with their stage, and failures.

    Parameters
    ----------
    console : rich.console.Console, optional
        Standard error when left out.
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live as Screen
        from rich.spinner import Spinner

        self.console = console or Console(stderr=True, highlight=False)
        self.spinner = Spinner("dots")
        self.tally = Tally(time.monotonic)
        self.note: Note | None = None
        self.screen = Screen(self, console=self.console, refresh_per_second=8, transient=True)

    def __enter__(self) -> Self:
        self.screen.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.screen.stop()

    def __call__(self, event: Event) -> None:
        """Process an event, and print what stays on the screen."""
        from rich.text import Text

        self.tally.take(event)
        match event:
            case RunPlanned() if self.tally.n_done == self.tally.n_cells:
                self.console.print(self.tally.plan())
            case CellFinished(found=False):
                style = "red" if event.error else ""
                self.console.print(Text(printable(ending(event)), style=style))
            case Note(message) if event != self.note:
                self.note = event
                self.console.print(Text(printable(message), style="yellow"))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the current lines, none wider than the terminal."""
        width = options.max_width
        for line in self._lines(width):
            line.truncate(width, overflow="ellipsis")
            line.no_wrap, line.end = True, "\n"
            yield line

    def _lines(self, width: int) -> list[Text]:
        from rich.text import Text

        tally = self.tally
        head = Text.assemble(str(self.spinner.render(time.monotonic())), " ")
        if not tally.planned or tally.n_done >= tally.n_cells:
            head.append(f"{printable(tally.around.describe())} ")
            head.append(clock(tally.elapsed), style="dim")
            return [head]
        narrow = width < NARROW
        many = (
            f"{tally.n_done}/{tally.n_cells}"
            if narrow
            else f"{tally.n_done} of {counted(tally.n_cells, 'cell')}"
        )
        head.append(f"{many} ")
        if tally.n_failed:
            head.append(f"{tally.n_failed} failed ", style="red")
        if not narrow:
            full = round(BAR * tally.n_done / tally.n_cells)
            head.append("━" * full, style="green").append("━" * (BAR - full), style="dim")
            head.append(" ")
        head.append(clock(tally.elapsed))
        left = tally.left()
        if left is not None:
            head.append(f", about {clock(left)} left")
        shown = list(tally.under_way.items())[:MOST_LINES]
        lines = [head, *(self._line(cell, entry, width) for cell, entry in shown)]
        if more := len(tally.under_way) - len(shown):
            lines.append(Text(f"  and {more} more", style="dim"))
        return lines

    def _line(self, cell: str, entry: UnderWay, width: int) -> Text:
        """Return the line of a running cell; its name is cut if the line is too long."""
        from rich.text import Text

        took = self.tally.now() - entry.since
        tail = entry.describe() + ("" if width < NARROW else f"  {clock(took)}")
        name = Text("  " + printable(cell))
        name.truncate(max(12, width - len(tail) - 2), overflow="ellipsis")
        return Text.assemble(name, "  ", (tail, "dim"))


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
