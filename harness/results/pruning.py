"""Removing the earlier runs of a name that a config does not keep."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.files import report_os_error
from harness.results.folder import WRITTEN
from harness.results.history import earlier_runs
from harness.results.record import record_in


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
