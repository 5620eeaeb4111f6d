"""The paths that a config names: of files on this machine, patterns of them, and addresses."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

PATTERN = re.compile(r"[*?\[]")
"""What a path that stands for several files has in it."""


def placed(path: str | Path, base: Path | None) -> Path:
    """Return where a path is that a config names: relative to its folder or the working one."""
    # Path.expanduser raises an error for the home of a user that does not exist.
    return (base or Path()) / os.path.expanduser(path)  # noqa: PTH111


def as_list(paths: str | Sequence[str]) -> list[str]:
    """Return one path, or several, as a list."""
    return [paths] if isinstance(paths, str) else list(paths)


def is_url(path: str) -> bool:
    """Return whether a path names a file that is not on this machine.

    Examples
    --------
    >>> is_url("https://example.org/a.csv"), is_url("C:/a.csv"), is_url("a/b.csv")
    (True, False, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def are_there(paths: Sequence[str], base: Path | None) -> bool:
    """Return whether each path, or what a pattern stands for, is on this machine or elsewhere."""
    return all(
        is_url(path)
        or placed(path, base).exists()
        or (PATTERN.search(path) is not None and bool(glob.glob(str(placed(path, base)))))  # noqa: PTH207
        for path in paths
    )
