"""Earlier runs of a name: what they are called, where they are, and when a run becomes one."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.files import RUN_FILE
from harness.results.record import record_in

MARK = "@"
"""Between the name of an earlier run and its time; no run that a config names contains it."""
_TIME = "%Y-%m-%dT%H-%M-%S"
"""Sorts by age, and is legal in the name of a file on Windows."""
_STARTED = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)")
_EARLIER = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(-\d+)?")
NOT_IN_NUMBERS = frozenset({"description", "execution", "results", "trackers"})
"""Keys of a config that change no number of a run."""


OTHER_SCORES = "other scores"
OTHER_ANALYSES = "other results of analyses"


def name_of(folder: Path) -> str:
    """Return the name that the config of a run gives, without the time of an earlier one.

    >>> name_of(Path("runs/movies@2026-11-26T02-41-07"))
    'movies'
    """
    name, _, time = folder.name.rpartition(MARK)
    return name if _EARLIER.fullmatch(time) else folder.name


def earlier_runs(folder: Path) -> list[Path]:
    """Return the folders of the earlier runs of the same name as a run, the oldest first."""
    name = name_of(folder)
    beside = folder.parent.iterdir() if folder.parent.is_dir() else ()
    earlier = (path for path in beside if path.name != name and name_of(path) == name)
    return sorted((path for path in earlier if (path / RUN_FILE).is_file()), key=_age)


def _age(folder: Path) -> tuple[str, int]:
    """Return the time in a folder's name, and its number among those of one second."""
    time = folder.name.rpartition(MARK)[2]
    return time[:19], int(time[20:] or 1)


def _earlier_place(folder: Path, replaced: Path, described: Mapping[str, Any]) -> Path:
    """Return an unused place for a run that was in a folder and was moved aside.

    Its time is when it was started; where the record does not say so, when it was written.
    """
    started = _STARTED.match(str(described.get("started")))
    if started is not None:
        time = "{}T{}-{}-{}".format(*started.groups())
    else:
        written = (replaced / RUN_FILE).stat().st_mtime
        time = datetime.fromtimestamp(written, UTC).strftime(_TIME)
    first = folder.with_name(f"{name_of(folder)}{MARK}{time}")
    later = (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([first], later) if not os.path.lexists(path))


def differences(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> list[str]:
    """Return in what two records differ, in short; nothing where the later one has it all.

    It has it all if config and data are the same, each cell that the earlier one finished is there
    with the same key and the same scores, and so are the tables of its analyses.
    """
    try:
        parts: dict[str, Callable[[Mapping[str, Any]], object]]
        parts = {"another config": _config, "other data": _fingerprints}
        changed = [aspect for aspect, part in parts.items() if part(earlier) != part(later)]
        if changed:
            return changed
        cells, others = _cells(earlier), _cells(later)
        if any(cell not in others for cell in cells):
            return ["other code, versions or settings found by a search"]
        if any(others[cell] != cells[cell] for cell in cells):
            return [OTHER_SCORES]
        tables, of_later = (record.get("analyses", {}) for record in (earlier, later))
        differ = any(of_later.get(name) != table for name, table in tables.items())
        return [OTHER_ANALYSES] if differ else []
    except (AttributeError, LookupError, TypeError, ValueError):
        return ["a record that cannot be read"]


def _config(described: Mapping[str, Any]) -> dict[str, Any]:
    config = described["config"]
    return {key: value for key, value in config.items() if key not in NOT_IN_NUMBERS}


def _fingerprints(described: Mapping[str, Any]) -> list[str]:
    return sorted(str(entry["fingerprint"]) for entry in described["datasets"])


def _cells(described: Mapping[str, Any]) -> dict[tuple[object, ...], object]:
    """Return the scores of each finished cell, by what it computes."""
    return {
        tuple(cell[key] for key in ("row", "seed", "fold", "key")): cell["scores"]
        for cell in described["cells"]
        if "error" not in cell
    }


def place_of_earlier(folder: Path, replaced: Path) -> Path | None:
    """Return where the run that a run replaced in a folder is kept; None if it need not be.

    It need not be kept if nothing of a run is there, or if the new one holds all that it holds.
    """
    if not (replaced / RUN_FILE).is_file():
        return None
    described = record_in(replaced)
    if not differences(described, record_in(folder)):
        return None
    return _earlier_place(folder, replaced, described)
