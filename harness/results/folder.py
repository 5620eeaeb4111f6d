"""The folder of a run: which files are its own, whether they are unchanged, when it is replaced."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from harness._util.files import (
    RUN_FILE,
    digest_of,
    refuse_below_file,
    replace_folder,
    report_os_error,
)
from harness.errors import ResultsError
from harness.results.fields import AGAIN
from harness.results.record import record_in
from harness.results.table import ROW

USERS_FILE = "users.parquet"
TRIALS_FILE = "trials.parquet"
LISTS_FILE = "lists.parquet"
ESTIMATES_FILE = "estimates.parquet"
Kind = Literal["word", "count", "number"]  # what a column of a Parquet file holds
CELL: dict[str, Kind] = {**dict.fromkeys(ROW, "word"), "seed": "count", "fold": "count"}
"""Columns that say which cell a row is of."""
TRIAL: dict[str, Kind] = {
    "trial": "count",
    "params": "word",
    "value": "number",
    "seconds": "number",
    "error": "word",
}
OUTPUTS: dict[str, dict[str, Kind]] = {
    LISTS_FILE: {"user": "word", "rank": "count", "item": "word", "estimate": "number"},
    ESTIMATES_FILE: {
        **dict.fromkeys(("user", "item"), "word"),
        **dict.fromkeys(("estimate", "rating"), "number"),
        **dict.fromkeys(("rank", "tie_low", "tie_high", "n_ranked"), "count"),
    },
}
"""Files that a run has where its config asks for them: their columns beside the columns of the
cell."""


GROUPS_FILES = ("groups.csv", "gaps.csv")
DERIVED = ("report.html",)  # made from a run's files, and outdated when these are replaced
TABLE_FILES = {"table.csv", "bounds.csv", "table.md"}
WRITTEN = {RUN_FILE, USERS_FILE, TRIALS_FILE, *OUTPUTS, *TABLE_FILES, *GROUPS_FILES, *DERIVED}
"""A folder with ``run.json`` and nothing else but these is a run's, even if that is damaged."""


def check_file(path: Path, digest: str) -> None:
    """Compare a file with the SHA-256 that was noted when it was written."""
    with report_os_error(path, "cannot be read", "check its permissions"):
        present = digest_of(path)
    if present != digest:
        raise ResultsError(f"{path}: changed since it was written; {AGAIN}")


def check_replaceable(folder: Path, advice: str = "") -> None:
    """Refuse a path below a file, and an existing one that has files but no run."""
    refuse_below_file(folder)
    if not folder.exists():
        return
    if folder.is_dir():
        names = {file.name for file in folder.iterdir()}
        if not names or RUN_FILE in names <= WRITTEN | {"plots"}:
            return
    if "schema_version" not in record_in(folder):
        advice = advice or "give the run another name, or use --results DIR"
        raise ResultsError(f"{folder}: has files, and no run that the harness wrote; {advice}")


def own_names(folder: Path) -> set[str]:
    """Return the names of the files in a folder that a run wrote and that are unchanged."""
    written = record_in(folder).get("files", {})
    names = {RUN_FILE, *DERIVED}
    for name, digest in written.items() if isinstance(written, dict) else ():
        with suppress(OSError):
            if digest_of(folder / name) == digest:
                names.add(name)
    return names


def replace_run(folder: Path, files: Mapping[str, bytes | Path], advice: str = "") -> Path | None:
    """Write files in place of a run, and return where that is kept if it is another one."""
    remedy = advice or "computed cells are cached: fix it and run again, or use --results DIR"
    with report_os_error(folder.parent, "cannot write the results", remedy):
        check_replaceable(folder, advice)
        return replace_folder(folder, files, own_names, place_of_earlier)


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
    """Return the time in a folder's name, and its number among folders of one second."""
    time = folder.name.rpartition(MARK)[2]
    return time[:19], int(time[20:] or 1)


def _earlier_place(folder: Path, replaced: Path, described: Mapping[str, Any]) -> Path:
    """Return an unused place for a run that was in a folder and was moved aside.

    Its time is when it was started; where the record does not have it, when it was written.
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
    """Return the scores of each computed cell, by what it computes."""
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


def remove_earlier(folder: Path, keep: int) -> list[Path]:
    """Remove the earlier runs of a name beyond the latest `keep`; return those that are gone.

    A folder with files that no run wrote stays, and so does what a link leads to.
    """
    surplus = earlier_runs(folder)
    removed = []
    for place in surplus[: len(surplus) - keep] if keep else surplus:
        is_run = "schema_version" in record_in(place)
        names = {file.name for file in place.iterdir()}
        if is_run and not place.is_symlink() and names <= WRITTEN | {"plots"}:
            with report_os_error(place, "cannot be removed", "remove it by hand"):
                shutil.rmtree(place)
            removed.append(place)
    return removed
