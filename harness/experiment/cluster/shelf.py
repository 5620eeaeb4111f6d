"""The scheduler's folder of data files, named by their content.

These functions are sent to the scheduler as code, through ``Client.run_on_scheduler``, so the
scheduler needs nothing but Dask. They are called one at a time, on its event loop, with pieces
small enough not to hold it up.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

__all__ = ["PIECE", "add", "held", "piece"]

PIECE = 4_000_000
"""Bytes that are sent at once."""


def held(names: list[str], dask_scheduler: Any = None) -> list[str]:
    """Return which complete data files exist."""
    folder = _folder(dask_scheduler)
    return [name for name in names if (folder / name).exists()]


def add(name: str, writer: str, data: bytes, last: bool, dask_scheduler: Any = None) -> str:
    """Append a piece to a data file; the last piece gives it its name.

    Parameters
    ----------
    name : str
    writer : str
        The sender, so that two that send the same file at once do not mix.
    data : bytes
    last : bool

    Returns
    -------
    str
        Why it could not be kept; empty when it was.
    """
    part = None
    try:
        folder = _folder(dask_scheduler)
        part = folder / f"{name}.{writer}.part"
        with part.open("ab") as file:
            file.write(data)
        if last:
            part.replace(folder / name)
    except OSError as error:
        if part is not None:
            part.unlink(missing_ok=True)
        return str(error.strerror or error).lower()
    return ""


def piece(name: str, start: int, length: int, dask_scheduler: Any = None) -> bytes | None:
    """Return a piece of a data file: empty after its end, None if the file does not exist."""
    try:
        with (_folder(dask_scheduler) / name).open("rb") as file:
            file.seek(start)
            return file.read(length)
    except FileNotFoundError:
        return None


def _folder(dask_scheduler: Any) -> Path:
    """Return the folder, which is removed with the scheduler."""
    found = dask_scheduler.extensions.get("harness-shelf")
    if found is None:
        found = tempfile.TemporaryDirectory(prefix="harness-shelf-")
        dask_scheduler.extensions["harness-shelf"] = found
    return Path(found.name)
