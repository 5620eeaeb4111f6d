"""Whether a tracker keeps what is expected of one, tried with a small run in a passing folder."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness._util.files import digest_of
from harness.config.trackers import Tracker, parameter_faults, tracker_class
from harness.errors import reason_of
from harness.experiment.run import run
from harness.experiment.tracking import tracked_rows
from harness.extras.plugin_checks.small_runs import CONFIG
from harness.results.runs import Run


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a tracker in this process.

    It is made without parameters, with the passing folder as the working directory: what it logs
    elsewhere stays there, as a run with the name ``conformance``.
    """
    kind = tracker_class(name)
    if lacking := kind.missing():
        yield lacking
        return
    params: dict[str, Any] = dict(kind.example)
    for parameter, message in parameter_faults(name, params):
        yield f"{parameter or 'parameters'}: {message}; give a default, so that it can be tried"
        return
    folder = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True) as scratch:
        done = run(CONFIG, results=Path(scratch, "runs"))
        os.chdir(scratch)
        try:
            yield from _told(kind(**params), done)
            yield from _told(kind(**params), run(CONFIG, results=None))
            yield from _stopped(kind(**params), done)
        finally:
            os.chdir(folder)


def _told(tracker: Tracker, done: Run) -> Iterator[str]:
    """Tell a tracker of a whole run, with a copy of everything beside it."""
    config = copy.deepcopy(done.info.config)
    rows, copies = list(tracked_rows(done.info)), list(tracked_rows(done.info))
    files = _files(done)
    tracker.start(done.name, config)
    for row in rows:
        tracker.row(row)
    tracker.end(done)
    if config != done.info.config or rows != copies:
        yield "it changes what it is given; work on a copy"
    if _files(done) != files:
        yield "it changes files in the folder of the run; write elsewhere"


def _stopped(tracker: Tracker, done: Run) -> Iterator[str]:
    """Tell a tracker of a run that is stopped after it began."""
    tracker.start(done.name, copy.deepcopy(done.info.config))
    try:
        tracker.fail("interrupted")
    except Exception as error:
        said = f"{type(error).__name__}: {reason_of(error)}"
        yield f"`fail` failed ({said}); let it end what `start` began"


def _files(done: Run) -> dict[str, str]:
    folder = done.folder
    return {} if folder is None else {path.name: digest_of(path) for path in folder.iterdir()}
