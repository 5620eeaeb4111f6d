"""The paths that a config names: of files on this machine, patterns of them, and addresses."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from harness.errors import MASK, is_url, masked

PATTERN = re.compile(r"[*?\[]")
"""What a path that stands for several files has in it."""


def placed(path: str | Path, base: Path | None) -> Path:
    """Return where a path is that a config names: relative to its folder or the working one."""
    # Path.expanduser raises an error for the home of a user that does not exist.
    return (base or Path()) / os.path.expanduser(path)  # noqa: PTH111


def as_list(paths: str | Sequence[str]) -> list[str]:
    """Return one path, or several, as a list."""
    return [paths] if isinstance(paths, str) else list(paths)


def are_there(paths: Sequence[str], base: Path | None) -> bool:
    """Return whether each path, or what a pattern stands for, is on this machine or elsewhere."""
    return all(
        is_url(path)
        or placed(path, base).exists()
        or (PATTERN.search(path) is not None and bool(glob.glob(str(placed(path, base)))))  # noqa: PTH207
        for path in paths
    )


def file_name(path: str) -> str:
    """Return the last part of a path, or of an address without its query.

    Examples
    --------
    >>> file_name("a/b.csv"), file_name("https://ann:secret@example.org/b.csv?key=a/b.c")
    ('b.csv', 'b.csv')
    """
    if is_url(path):
        path = masked(path).partition("://")[2].removesuffix("?" + MASK)
        return PurePosixPath(path.partition("/")[2]).name
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
