"""Where something stands in a config: its key, line and file; imported for what is wrong there."""

from __future__ import annotations

from harness.config.document import Document
from harness.errors import ConfigError, Fault
from harness.key_paths import dotted, located
from harness.sections import KeyPath


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
    """Return the error of a single fault."""
    return ConfigError(source, [Fault(line, dotted(path), message)])
