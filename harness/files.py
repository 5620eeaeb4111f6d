"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees all of it or nothing, even after a power cut.

    Parameters
    ----------
    path : Path
        Its folder is made when it is missing; what was there before is replaced.
    data : bytes

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full; what was there before is untouched.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> write_whole(folder / "a.txt", b"whole")
    >>> [each.name for each in folder.iterdir()]
    ['a.txt']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
