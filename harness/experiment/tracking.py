"""A run is logged by the trackers that it names; one that fails is a note, and the run goes on."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from harness.config.trackers import TrackedRow, Tracker, tracker_class
from harness.errors import HarnessError, reason_of
from harness.experiment.describe import plugin_used
from harness.experiment.execute import progress as events
from harness.notes.note import Note, by_weight
from harness.plugins import registry as plugins
from harness.results.cells import CellResult
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.table import result_rows


def track(
    named: Mapping[str, Mapping[str, Any]],
    name: str,
    config: Mapping[str, Any],
    compute: Callable[[], Run],
    write: Callable[[Run], Run],
    watch: events.Watch,
) -> Run:
    """Compute and write a run, and tell trackers of it.

    Parameters
    ----------
    named : mapping
        Parameters of each tracker by its name.
    name, config
        Of the run.
    compute, write : callable
    watch : callable
        Told of each tracker that fails.

    Returns
    -------
    Run
        What `write` returns. A tracker that failed is among its notes.
    """
    trackers = _Trackers(named, watch)
    trackers.tell(lambda tracker: tracker.start(name, copy.deepcopy(dict(config))))
    try:
        run = compute()
        _add_plugins(run, named)
        _add_notes(run, trackers.notes)
        n_noted = len(trackers.notes)
        written = write(run)  # first: a tracker may wait for a server, or end the process
        for row in tracked_rows(run.info):
            trackers.tell(lambda tracker, row=row: tracker.row(copy.deepcopy(row)))  # type: ignore[misc]
    except BaseException as error:
        is_stopped = isinstance(error, KeyboardInterrupt)
        reason = "interrupted" if is_stopped else f"{type(error).__name__}: {reason_of(error)}"
        trackers.tell(lambda tracker: tracker.fail(reason))
        raise
    trackers.tell(lambda tracker: tracker.end(written))
    if late := trackers.notes[n_noted:]:  # the record is written once more, with these notes
        _add_notes(run, late)
        again = write(run)
        again.earlier, again.changed = written.earlier, written.changed
        again.removed, again.outdated = written.removed, written.outdated
        return again
    return written


def _add_plugins(run: Run, named: Mapping[str, object]) -> None:
    """Add trackers of other packages that the config does not name to the record."""
    recorded = [*run.info.plugins]
    for name in named:
        recorded += [used for used in plugin_used("trackers", name, {}) if used not in recorded]
    run.info = run.info.model_copy(update={"plugins": recorded})


def _add_notes(run: Run, notes: list[Note]) -> None:
    if notes:
        run.info = run.info.model_copy(update={"notes": by_weight([*run.info.notes, *notes])})


class _Trackers:
    """The trackers of a run; one that fails stops only itself."""

    def __init__(self, named: Mapping[str, Mapping[str, Any]], watch: events.Watch) -> None:
        self.watch = watch
        self.active: dict[str, Tracker] = {}
        self.notes: list[Note] = []
        for name, params in named.items():
            with self._alone(name):
                self.active[name] = tracker_class(name)(**copy.deepcopy(dict(params)))

    def tell(self, message: Callable[[Tracker], object]) -> None:
        """Call a method of each tracker."""
        for name, tracker in [*self.active.items()]:
            with self._alone(name):
                message(tracker)

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Drop a tracker that fails, let it end what it began, and keep the reason."""
        try:
            yield
        except (Exception, SystemExit) as error:
            kind = "" if isinstance(error, HarnessError) else f"{type(error).__name__}: "
            reason = f"{kind}{reason_of(error)}"
            origin = plugins.find("trackers", name).origin
            note = Note("tracker-failed", {"tracker": name, "reason": f"{reason} ({origin})"})
            self.notes.append(note)
            self.watch(events.Noted(f"note: {note}"))
            if (tracker := self.active.pop(name, None)) is not None:
                with suppress(Exception, SystemExit):
                    tracker.fail(reason)


def tracked_rows(info: RunInfo) -> Iterator[TrackedRow]:
    """Yield the rows of a run's table as trackers receive them."""
    cells, several = info.cells_of_rows, len(info.tables) > 1
    for row in result_rows(info):
        finished = [cell for cell in cells[row["row"]] if isinstance(cell, CellResult)]
        first = (finished or cells[row["row"]])[0]
        ends = {
            label: (row.get(f"{label}_low"), row.get(f"{label}_high")) for label in info.metrics
        }
        places = [*info.tables[row["table"]]] if several else []
        yield TrackedRow(
            run=info.name,
            title=", ".join([*places, row["algorithm"]]),
            **{key: row[key] for key in ("algorithm", "dataset", "split", "candidates")},
            error=row["error"] if row["n_failed"] else "",
            params=dict(first.params),
            metrics={
                label: float(row[label]) for label in info.metrics if math.isfinite(row[label])
            },
            intervals={
                label: (float(low), float(high))
                for label, (low, high) in ends.items()
                if low is not None and high is not None and math.isfinite(low + high)
            },
            fit_seconds=_or_none(row["fit_seconds"]),
            score_seconds=_or_none(row["score_seconds"]),
            metric_seconds=_or_none(row["metric_seconds"]),
            peak_mb=_or_none(row["peak_mb"]),
            n_users=None if math.isnan(row["n_users"]) else int(row["n_users"]),
        )


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
