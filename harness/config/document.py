"""What a config holds: plain data, with the line of each key where they come from a file."""

from __future__ import annotations

import os
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness._util.files import placed
from harness.errors import ConfigError, Fault, is_url
from harness.schema.sections import KeyPath, dotted, located


@dataclass(frozen=True)
class Document:
    """What a config holds: plain data, the line of each key, where its relative paths start."""

    source: str
    """Name for messages: the path as the user gave it, or ``config``."""
    data: dict[str, object]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    """From 1; empty when the data did not come from a file."""
    folder: Path | None = None
    recorded: str = ""
    """For a run's record, the file that the config came from."""
    overrides: dict[KeyPath, str] = field(default_factory=dict)
    """The part of the call that sets a key, by the key, or by the first on the way that it
    makes."""
    sources: dict[KeyPath, str] = field(default_factory=dict)
    """For keys that come from another file, such as a base, the name of that file."""
    written: dict[KeyPath, str] = field(default_factory=dict)
    """For values with variables of the environment, their text as it was written."""


def line_of(document: Document, path: KeyPath) -> int:
    """Return the line of a key, or of the nearest key around it; 0 when there is none."""
    lines, ends = document.lines, range(len(path), -1, -1)
    return next((lines[path[:end]] for end in ends if path[:end] in lines), 0)


def source_of(document: Document, path: KeyPath) -> str:
    """Return the file of a key where it is not the document's own, else ""."""
    ends = range(len(path), -1, -1)
    place = next((path[:end] for end in ends if path[:end] in document.lines), ())
    return document.sources.get(place, "")


def key_at(document: Document, location: KeyPath) -> KeyPath:
    """Return a location without tags of unions and the index of a lone value."""
    return located(document.data, location)


def fault_at(document: Document, path: KeyPath, message: str) -> Fault:
    """Return what is wrong at a key, of the file or of an override."""
    for end in range(len(path), 0, -1):
        if override := document.overrides.get(path[:end]):
            inside = f": {dotted(path)}" if path[end:] else ""
            return Fault(0, f"--set {override}{inside}", message)
    written = document.written.get(path)
    key = dotted(path) if written is None else f"{dotted(path)} ({written})"
    return Fault(line_of(document, path), key, message, source_of(document, path))


def refusal(source: str, message: str, line: int = 0, path: KeyPath = ()) -> ConfigError:
    """Return the error of a single problem."""
    return ConfigError(source, [Fault(line, dotted(path), message)])


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
