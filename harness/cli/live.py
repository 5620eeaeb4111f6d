"""The live display of a run: a bar for the run, a line for each running cell."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console, Group
from rich.live import Live as Screen
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
)
from rich.table import Column
from rich.text import Text

from harness.cli.progress import Count, clock, ending, in_words
from harness.cli.screen import printable
from harness.experiment.events import CellFinished, CellStarted, Event, Note, RunPlanned, Stage

__all__ = ["Live"]

NARROW = 64
"""Columns below which bar and clocks of cells are left out."""
MOST_LINES = 8
"""Running cells that get a line; for the others only the number is shown."""


class Live:
    """A progress bar for the run, the running cells with their stage, and failures.

    Parameters
    ----------
    console : rich.console.Console, optional
        Standard error when left out.
    get_time : callable
        A clock, in seconds.
    """

    def __init__(
        self, console: Console | None = None, get_time: Callable[[], float] = time.monotonic
    ) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        narrow = self.console.width < NARROW
        whole = [SpinnerColumn(), _Name(), BarColumn(24), _Elapsed(), _Left()]
        cell = [_Name("  "), _Stage(), _Elapsed()]
        if narrow:
            del whole[2], cell[2]
        # Cells take very different times: all that ended count for the estimate.
        self.run = Progress(
            *whole, console=self.console, get_time=get_time, speed_estimate_period=1e9
        )
        self.cells = Progress(*cell, console=self.console, get_time=get_time)
        self.row = self.run.add_task("preparing", total=None)
        self.rows: dict[str, TaskID] = {}
        self.count = Count()
        self.note: Note | None = None
        self.screen = Screen(
            console=self.console,
            get_renderable=self._shown,
            refresh_per_second=8,
            transient=True,
        )

    def __enter__(self) -> Self:
        self.screen.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.screen.stop()

    def __call__(self, event: Event) -> None:
        """Process an event, and print what stays on the screen."""
        self.count.take(event)
        match event:
            case RunPlanned(n_cells, n_found):
                self.run.update(self.row, total=n_cells, completed=n_found)
                if n_cells == n_found:
                    self.console.print(self.count.plan())
            case CellStarted(cell):
                self.rows[cell] = self.cells.add_task(printable(cell), stage="loading")
            case Stage(cell) if cell in self.rows:
                self.cells.update(self.rows[cell], stage=in_words(event))
            case Stage(cell):
                of = f" of {printable(cell)}" if cell else ""
                self.run.update(self.row, description=in_words(event) + of)
            case CellFinished(cell, found=found, error=error):
                if cell in self.rows:
                    self.cells.remove_task(self.rows.pop(cell))
                self.run.advance(self.row)
                if not found:
                    style = "red" if error else ""
                    self.console.print(Text(printable(ending(event)), style=style))
            case Note(message) if event != self.note:
                self.note = event
                self.console.print(Text(printable(message), style="yellow"))
        if self.count.n_cells is None or self.count.n_done < self.count.n_cells:
            self.run.update(self.row, description=str(self.count))

    def _shown(self) -> Group:
        tasks = self.cells.tasks
        more = len(tasks) - MOST_LINES
        rest = [Text(f"  and {more} more", style="dim")] if more > 0 else []
        return Group(self.run, self.cells.make_tasks_table(tasks[:MOST_LINES]), *rest)


class _Fixed(ProgressColumn):
    """A column that keeps its width."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))


class _Name(ProgressColumn):
    """What a line is about; cut where the line is too long."""

    def __init__(self, indent: str = "") -> None:
        # The column may shrink, and its text may not wrap.
        super().__init__(Column(no_wrap=False))
        self.indent = indent

    def render(self, task: Task) -> Text:
        return Text(self.indent + task.description, no_wrap=True, overflow="ellipsis")


class _Stage(_Fixed):
    """The stage of a cell and its steps."""

    def render(self, task: Task) -> Text:
        return Text(str(task.fields["stage"]), style="dim")


class _Elapsed(_Fixed):
    """The time since a cell, or the run, began."""

    def render(self, task: Task) -> Text:
        return Text(clock(task.elapsed or 0.0))


class _Left(_Fixed):
    """An estimate of the time that is left, from the cells that ended in this run."""

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        return Text("" if left is None or task.finished else f"about {clock(left)} left")
