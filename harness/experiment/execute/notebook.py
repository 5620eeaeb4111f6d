"""What a notebook shows while a run runs: a bar, the cells under way, and what failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from html import escape
from importlib import import_module
from typing import Self

from harness.errors import counted
from harness.experiment.execute.progress import (
    CellFinished,
    CellStarted,
    Event,
    Noted,
    Progress,
    RunPlanned,
    Stage,
    clock,
    in_words,
)
from harness.results.table import printable

Show = Callable[[dict[str, str]], object]
"""Shows a text and its HTML in place of those before."""

PAUSE = 0.5
"""Seconds between two displays."""
MOST_LINES = 8
"""Cells under way, and messages, that get a line; the others are counted."""


class NotebookProgress(Progress):
    """Shows in the output of a notebook's cell what a run does, and how far it is.

    IPython is all that it needs, no widgets: the output is replaced, also where a notebook is
    executed without a front end. What stays is one line, with a line for each cell that failed.

    Parameters
    ----------
    show : callable, optional
        Shows a display in place of the one before; by default in the output of the cell.
    get_time : callable
        Seconds of a clock.
    """

    def __init__(
        self, show: Show | None = None, get_time: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self.show = show
        self.get_time = get_time
        self.begun = self.planned = get_time()
        self.n_computed, self.seconds = 0, 0.0
        """Cells that were computed since the last plan, and how long they took together, which
        suggest the time that is left."""
        self.stage = "preparing"
        """What the run does besides its cells."""
        self.cells: dict[str, tuple[str, float]] = {}
        """The stage of each cell under way, and when the cell began."""
        self.messages: list[str] = []
        self._shown: list[str] = []
        self._ended = threading.Event()
        self._lock = threading.Lock()  # events come from one thread, displays from another
        self._thread = threading.Thread(target=self._refresh, daemon=True)

    def __enter__(self) -> Self:
        self.show = self.show or _output_of_a_cell()
        self._show(self.lines(), with_bar=True)
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._ended.set()
        self._thread.join()
        state = f"stopped: {self._state}" if kind else self._state
        self._show([f"{state}, {self._clock}", *_at_most(self.messages)])

    def __call__(self, event: Event) -> None:
        """Process an event; the display follows."""
        with self._lock:
            self._process(event)

    def _process(self, event: Event) -> None:
        match event:
            case RunPlanned():
                self.stage = self.plan(event)
                self.planned, self.n_computed = self.get_time(), 0
            case CellStarted(cell):
                self.cells[cell] = "loading", self.get_time()
            case Stage(cell) if cell in self.cells:
                self.cells[cell] = in_words(event), self.cells[cell][1]
            case Stage(cell):
                self.stage = in_words(event) + (f" of {cell}" if cell else "")
            case CellFinished(cell):
                self.finish(event)
                self.n_computed += not event.found
                self.seconds = self.get_time() - self.planned
                self.cells.pop(cell, None)
                if event.error:
                    self.messages.append(f"✗ {cell}: {event.error}")
            case Noted(message) if message not in self.messages:
                self.messages.append(message)

    def lines(self) -> list[str]:
        """Return the counts with the time, a line for each cell under way, and messages."""
        head = [self._state, self._clock]
        if self.n_computed and self.n_all and self.goes_on:
            seconds = self.seconds / self.n_computed * (self.n_all - self.n_done)
            head.append(f"about {clock(seconds)} left")
        elif self.n_all and not self.goes_on:
            head.append(self.stage)
        cells = [
            f"{cell}: {stage}, {clock(self.get_time() - since)}"
            for cell, (stage, since) in self.cells.items()
        ]
        return [", ".join(head), *_at_most(cells), *_at_most(self.messages)]

    @property
    def _state(self) -> str:
        return self.stage if self.n_all == 0 else str(self)

    @property
    def _clock(self) -> str:
        return clock(self.get_time() - self.begun)

    def _refresh(self) -> None:
        """Show what has changed, also while a fit reports nothing."""
        while not self._ended.wait(PAUSE):
            with self._lock:
                lines = self.lines()
            if lines != self._shown:
                self._show(lines, with_bar=True)

    def _show(self, lines: list[str], *, with_bar: bool = False) -> None:
        """Replace what is shown."""
        self._shown = lines
        lines = [printable(line) for line in lines]
        bar = ""
        if with_bar:
            amount = f' value="{self.n_done}" max="{self.n_all}"' if self.n_all else ""
            bar = f'<progress{amount} style="width: 16em"></progress> '
        shown = "<br>".join(escape(line) for line in lines)
        if self.show is not None:
            self.show({"text/plain": "\n".join(lines), "text/html": f"<div>{bar}{shown}</div>"})


def _at_most(lines: list[str]) -> list[str]:
    """Return the first lines, and how many more there are.

    >>> _at_most(["a"]), _at_most([*"abcdefghij"])[-2:]
    (['a'], ['h', '2 lines more'])
    """
    n_more = len(lines) - MOST_LINES
    return lines[:MOST_LINES] + [f"{counted(n_more, 'line')} more"] * (n_more > 0)


def _output_of_a_cell() -> Show:
    """Return what shows texts in the output of the notebook's cell that runs now."""
    display = import_module("IPython.display").display
    handle = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda texts: handle.update(texts, raw=True)
