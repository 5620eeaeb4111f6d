"""The folder of a run: which files are its own, whether they are unchanged, when it is replaced."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness.errors import ResultsError
from harness.files import RUN_FILE, digest_of, refuse_below_file, replace_folder, report_os_error
from harness.results.fields import AGAIN
from harness.results.parts import OUTPUTS, TRIALS_FILE, USERS_FILE
from harness.results.record import record_in

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


def digests_of(files: Mapping[str, bytes | Path]) -> dict[str, str]:
    """Return the SHA-256 of files, given as bytes or as where they are, by name."""
    return {
        name: digest_of(data) if isinstance(data, Path) else hashlib.sha256(data).hexdigest()
        for name, data in files.items()
    }


def replace_run(folder: Path, files: Mapping[str, bytes | Path], advice: str = "") -> Path | None:
    """Write files in place of a run, and return where that is kept if it is another one."""
    remedy = advice or "finished cells are kept: fix it and run again, or use --results DIR"
    with report_os_error(folder.parent, "cannot write the results", remedy):
        check_replaceable(folder, advice)
        return replace_folder(folder, files, own_names, _place_of_earlier)


def _place_of_earlier(folder: Path, replaced: Path) -> Path | None:
    """Return where the run that was replaced is kept."""
    from harness.results.history import place_of_earlier

    return place_of_earlier(folder, replaced)
