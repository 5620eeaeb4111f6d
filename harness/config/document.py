"""What a config holds: plain data, with the line of each key where they come from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness.sections import KeyPath


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
    """Of a run's record, the file that the config came from."""
    overrides: dict[KeyPath, str] = field(default_factory=dict)
    """What was set in the call, by the key that it sets, or the first on the way that it makes."""
    sources: dict[KeyPath, str] = field(default_factory=dict)
    """Of keys that come from another file, as a base, the name of that file."""
    written: dict[KeyPath, str] = field(default_factory=dict)
    """Of values with variables of the environment, their text as it was written."""
