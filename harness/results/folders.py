"""A run's folder: its own files are replaced together, and other files are kept."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from harness.errors import ResultsError
from harness.files import beside, hold, leftovers, read_regular, sync_folder, write_whole

__all__ = ["check_replaceable", "replace_folder", "restore_folder"]

PATIENCE = 60.0
RUN_FILE = "run.json"
DERIVED = ("report.html",)
"""Files that are made from a run's files, and are outdated when these are replaced."""
WRITTEN = {
    RUN_FILE,
    "table.csv",
    "bounds.csv",
    "table.md",
    "users.parquet",
    "trials.parquet",
    *DERIVED,
}
"""A folder with nothing else is a run's, even if its ``run.json`` is damaged."""


def replace_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Replace the files that an earlier run wrote into a folder, all of them or none.

    Other files in the folder stay there. Writers take turns; when one is killed between
    moving the old folder away and moving the new one in, `restore_folder` or the next writer
    brings the old one back.

    Parameters
    ----------
    folder : Path
    files : dict of str to bytes
        Every file of the new run, ``run.json`` among them.

    Raises
    ------
    ResultsError
        If the folder has files and no run of the harness; it is left as it is.
    OSError
        If it cannot be written; what was there before is there still.

    Examples
    --------
    >>> place = getfixture("tmp_path") / "run"
    >>> replace_folder(place, {"run.json": b'{"schema_version": 2}', "a.txt": b"1"})
    >>> (place / "notes.txt").write_text("by hand") and None
    >>> replace_folder(place, {"run.json": b'{"schema_version": 2}', "a.txt": b"2"})
    >>> sorted(each.name for each in place.iterdir())
    ['a.txt', 'notes.txt', 'run.json']
    """
    fresh = beside(folder, "new")
    with hold(_lock(folder), PATIENCE):
        _restore(folder)
        for unfinished in leftovers(folder, "new"):
            shutil.rmtree(unfinished, ignore_errors=True)
        own = _own_names(folder) | files.keys()
        check_replaceable(folder)
        aside = None
        try:
            for name, data in files.items():
                write_whole(fresh / name, data)
            if folder.exists():
                aside = folder.rename(beside(folder, "old"))
            fresh.rename(folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            if aside is not None and not folder.exists():
                aside.rename(folder)
            raise
        if aside is not None:
            _bring_back(folder, aside, own)
        sync_folder(folder.parent)


def check_replaceable(folder: Path) -> None:
    """Refuse an existing path that has files but no run.

    Raises
    ------
    ResultsError
    """
    if not folder.exists() or (folder.is_dir() and not _others(folder, WRITTEN | {"plots"})):
        return
    if "schema_version" not in _description(folder):
        raise ResultsError(
            f"{folder}: has files, and no run that the harness wrote; "
            "give the run another name, or use --results DIR"
        )


def restore_folder(folder: Path) -> None:
    """Restore the folder that a killed writer had moved away."""
    if not leftovers(folder, "old"):
        return
    # A folder that cannot be written has no writer, and stays as it is.
    with suppress(OSError), hold(_lock(folder), PATIENCE):
        _restore(folder)


def _restore(folder: Path) -> None:
    for aside in leftovers(folder, "old"):
        if not folder.exists():
            aside.rename(folder)
        else:
            _bring_back(folder, aside, _own_names(aside) | _own_names(folder))


def _bring_back(folder: Path, aside: Path, own: Container[str]) -> None:
    """Move the files that are not a run's from the old folder to the new, and remove the old."""
    for other in _others(aside, own):
        if not (folder / other.name).exists():  # the new run's file has the name now
            other.rename(folder / other.name)
    shutil.rmtree(aside, ignore_errors=True)


def _others(folder: Path, own: Container[str]) -> list[Path]:
    return [each for each in folder.iterdir() if each.name not in own] if folder.is_dir() else []


def _own_names(folder: Path) -> set[str]:
    """Return the names of the files in a folder that a run wrote and that are unchanged."""
    written = _description(folder).get("files", {})
    names = {RUN_FILE, *DERIVED}
    for name, digest in written.items() if isinstance(written, dict) else ():
        with suppress(OSError):
            if hashlib.sha256(read_regular(folder / name)).hexdigest() == digest:
                names.add(name)
    return names


def _description(folder: Path) -> dict[str, object]:
    """Return what a folder's ``run.json`` holds; nothing where it is missing or another format."""
    try:
        found = json.loads(read_regular(folder / RUN_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _lock(folder: Path) -> Path:
    return folder.with_name(".lock")
