"""Paths in the parts of a config, as seen from another folder."""

from __future__ import annotations

import os
from collections.abc import Set
from contextlib import suppress
from pathlib import Path

from harness.errors import is_url
from harness.named_paths import placed


def moved(part: object, base: Path, folder: str | Path, keys: Set[str]) -> object:
    """Return a part of a config whose paths, of these keys at any depth, are seen from a folder.

    >>> moved({"path": "a.csv", "kind": "file"}, Path("data"), ".", {"path"})
    {'path': 'data/a.csv', 'kind': 'file'}
    """
    if isinstance(part, list):
        return [moved(entry, base, folder, keys) for entry in part]
    if not isinstance(part, dict):
        return part
    return {
        key: moved_paths(value, base, folder) if key in keys else moved(value, base, folder, keys)
        for key, value in part.items()
    }


def moved_paths(value: object, base: Path, folder: str | Path) -> object:
    """Return a path, or a list of them, as seen from another folder; a URL as it is."""
    if isinstance(value, list):
        return [moved_paths(path, base, folder) for path in value]
    if not isinstance(value, str) or is_url(value):
        return value
    place = placed(value, base)
    with suppress(ValueError):  # on another drive
        place = Path(os.path.relpath(place, folder))
    return place.as_posix()
