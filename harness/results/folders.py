"""A folder of files that is replaced as a whole."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from harness.files import hold, sync_folder, write_whole

__all__ = ["replace_folder", "restore_folder"]

PATIENCE = 60.0


def replace_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Put a new folder in the place of an old one, whole or not at all.

    Writers take turns; when one is killed between moving the old folder away and moving the new
    one in, the old one is brought back by `restore_folder` or by the next writer.

    Parameters
    ----------
    folder : Path
    files : dict of str to bytes
        Everything that the new folder holds.

    Raises
    ------
    OSError
        If it cannot be written; what was there before is there still.

    Examples
    --------
    >>> place = getfixture("tmp_path") / "run"
    >>> replace_folder(place, {"a.txt": b"first"})
    >>> replace_folder(place, {"b.txt": b"second"})
    >>> [each.name for each in place.iterdir()]
    ['b.txt']
    """
    fresh, aside = folder.with_name(f".{folder.name}.new"), _aside(folder)
    with hold(_lock(folder), PATIENCE):
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            for name, data in files.items():
                write_whole(fresh / name, data)
            if folder.exists():
                shutil.rmtree(aside, ignore_errors=True)
                folder.replace(aside)
            fresh.replace(folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            if aside.exists() and not folder.exists():
                aside.replace(folder)
            raise
        sync_folder(folder.parent)
        shutil.rmtree(aside, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Bring back an old folder whose writer died before it could put the new one in its place."""
    if folder.exists() or not _aside(folder).is_dir():
        return
    # A folder that cannot be written has no writer, and stays as it is.
    with suppress(OSError), hold(_lock(folder), PATIENCE):
        if not folder.exists():
            _aside(folder).replace(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _lock(folder: Path) -> Path:
    return folder.with_name(".lock")
