"""What a config holds: plain data, with the line of each key where they come from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ConfigError, Fault
from harness.sections import KeyPath, dotted, located

if TYPE_CHECKING:
    pass


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

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, or of the nearest key around it; 0 when there is none."""
        ends = range(len(path), -1, -1)
        return next((self.lines[path[:end]] for end in ends if path[:end] in self.lines), 0)

    def known(self, location: KeyPath) -> KeyPath:
        """Return a location without tags of unions and the index of a lone value."""
        return located(self.data, location)

    def fault(self, path: KeyPath, message: str) -> Fault:
        """Return what is wrong at a key, of the file or of an override."""
        for end in range(len(path), 0, -1):
            if override := self.overrides.get(path[:end]):
                inside = f": {dotted(path)}" if path[end:] else ""
                return Fault(0, f"--set {override}{inside}", message)
        key = f"{dotted(path)} ({self.written[path]})" if path in self.written else dotted(path)
        return Fault(self.line(path), key, message, self.source_of(path))

    def source_of(self, path: KeyPath) -> str:
        """Return the file of a key where it is not the document's own, else ""."""
        ends = range(len(path), -1, -1)
        place = next((path[:end] for end in ends if path[:end] in self.lines), ())
        return self.sources.get(place, "")


def refusal(source: str, message: str, line: int = 0, path: KeyPath = ()) -> ConfigError:
    """Return the error of a single fault."""
    return ConfigError(source, [Fault(line, dotted(path), message)])
