"""What a run shows while it runs: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Self

from rich import progress as bars
from rich.console import Console, Group
from rich.live import Live as Screen
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TaskID
from rich.table import Column
from rich.text import Text

from harness.console.screen import listeners, printable, say, shows_tracebacks
from harness.experiment.execute.progress import (
    NOTHING,
    CellFinished,
    CellStarted,
    Event,
    Noted,
    Progress,
    RunPlanned,
    Stage,
    Watch,
    clock,
    in_words,
)

NARROW = 64
"""Columns below which bar and clocks of cells are left out."""
FIRST_SECONDS, MOST_SECONDS = 5.0, 60.0
"""Seconds of a stage after which a line says how far it is, and between two such lines at most."""
MOST_LINES = 8
"""Running cells that get a line; for the others only the number is shown."""


def display(quiet: bool) -> AbstractContextManager[Watch]:
    """Return what watches a run: live on a terminal, lines elsewhere."""
    if quiet:
        return nullcontext(Heard() if listeners else silent)
    return Live() if sys.stderr.isatty() else nullcontext(Lines())


def silent(event: Event) -> None:
    """Show only tracebacks, if they are asked for."""
    if isinstance(event, CellFinished) and event.error and shows_tracebacks():
        say(_ending(event), err=True)


class Lines(Progress):
    """One plain line for each cell that ends, on standard error."""

    counts = True
    """Whether lines say how many cells there are and how many have ended."""

    def __init__(self, get_time: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.get_time = get_time
        self.stages: dict[tuple[str, str], tuple[float, float]] = {}
        """When a line was last shown of a stage, or its beginning, and seconds until the next."""
        self.note: Noted | None = None
        """The last one; each round of a search may send the same note."""

    def __call__(self, event: Event) -> None:
        """Process an event: count cells, and show what ended."""
        match event:
            case RunPlanned():
                text = self.plan(event)
                if self.counts or text.endswith(NOTHING):
                    self.show(text)
            case CellFinished():
                self.finish(event)
                of = "" if self.n_all is None else f"/{self.n_all}"
                if not event.found:
                    count = f"[{self.n_done}{of}] " if self.counts else ""
                    self.show(count + _ending(event), "red" if event.error else "")
            case Noted(message) if event != self.note:
                self.note = event
                self.show(message, "yellow")
            case Stage() if self.counts:
                self._show_stage(event)

    def _show_stage(self, event: Stage) -> None:
        """Say from time to time how far a long stage is, more rarely the longer it takes."""
        stage, now = (event.cell, event.stage), self.get_time()
        since, pause = self.stages.setdefault(stage, (now, FIRST_SECONDS))
        if event.total and now - since >= pause:
            self.stages[stage] = now, min(2 * pause, MOST_SECONDS)
            of = f" of {printable(event.cell)}" if event.cell else ""
            self.show(in_words(event) + of)

    def show(self, text: str, style: str = "") -> None:
        """Show a line that stays, with the time, which no clock beside it shows."""
        say(text, err=True, has_time=True)


class Heard(Lines):
    """The same lines only for the file of ``--log-file``; the screen shows only tracebacks."""

    def __call__(self, event: Event) -> None:
        """Process an event."""
        super().__call__(event)
        silent(event)

    def show(self, text: str, style: str = "") -> None:
        """Tell those who listen."""
        for hear in listeners:
            hear(text)


class Live(Lines):
    """A progress bar for the run and a line for each running cell; what ended stays above them."""

    counts = False  # the bar does

    def __init__(
        self, console: Console | None = None, get_time: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self.console = console or Console(stderr=True, highlight=False)
        name = _Text(lambda task: task.description, shrinks=True)
        indented = _Text(lambda task: f"  {task.description}", shrinks=True)
        stage = _Text(lambda task: str(task.fields["stage"]), style="dim")
        elapsed = _Text(lambda task: clock(task.elapsed or 0.0))
        spinner = "line" if self.console.options.ascii_only else "dots"
        run = [SpinnerColumn(spinner), name, BarColumn(24), elapsed, _Text(_left)]
        cell = [indented, stage, elapsed]
        if self.console.width < NARROW:
            del run[2], cell[2]
        # Cells take very different times: all that ended count for the estimate.
        self.run = bars.Progress(
            *run, console=self.console, get_time=get_time, speed_estimate_period=1e9
        )
        self.cells = bars.Progress(*cell, console=self.console, get_time=get_time)
        self.row = self.run.add_task("preparing", total=None)
        self.rows: dict[str, TaskID] = {}
        self.screen = Screen(
            console=self.console, get_renderable=self._shown, refresh_per_second=8, transient=True
        )

    def __enter__(self) -> Self:
        self.screen.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.screen.stop()

    def __call__(self, event: Event) -> None:
        """Process an event: move the bars, and print what stays on the screen."""
        super().__call__(event)
        match event:
            case RunPlanned():
                self.run.update(self.row, total=self.n_all, completed=self.n_done)
            case CellStarted(cell):
                self.rows[cell] = self.cells.add_task(printable(cell), stage="loading")
            case Stage(cell) if cell in self.rows:
                self.cells.update(self.rows[cell], stage=in_words(event))
            case Stage(cell):
                of = f" of {printable(cell)}" if cell else ""
                self.run.update(self.row, description=in_words(event) + of)
            case CellFinished(cell):
                if cell in self.rows:
                    self.cells.remove_task(self.rows.pop(cell))
                self.run.advance(self.row)
        if self.goes_on:
            self.run.update(self.row, description=str(self))

    def show(self, text: str, style: str = "") -> None:
        """Print above the bars."""
        for hear in listeners:
            hear(text)
        self.console.print(Text(printable(text), style=style))

    def _shown(self) -> Group:
        tasks = self.cells.tasks
        more = len(tasks) - MOST_LINES
        rest = [Text(f"  and {more} more", style="dim")] if more > 0 else []
        return Group(self.run, self.cells.make_tasks_table(tasks[:MOST_LINES]), *rest)


class _Text(ProgressColumn):
    """A column of text on one line; where the line is too long, what `shrinks` is cut."""

    def __init__(
        self, text: Callable[[Task], str], *, style: str = "", shrinks: bool = False
    ) -> None:
        super().__init__(Column(no_wrap=not shrinks))
        self.text, self.style = text, style

    def render(self, task: Task) -> Text:
        return Text(self.text(task), style=self.style, no_wrap=True, overflow="ellipsis")


def _left(task: Task) -> str:
    """Return the time that is left, as the cells that ended in this run suggest."""
    seconds = task.time_remaining
    return "" if seconds is None or task.finished else f"about {clock(seconds)} left"


def _ending(event: CellFinished) -> str:
    """Return the line for a cell that ended."""
    if event.error:
        trace = f"\n{event.traceback.rstrip()}" if shows_tracebacks() else ""
        return f"✗ {event.cell}: {event.error}{trace}"
    return f"✓ {event.cell}: {event.seconds:.2f} s"
