"""The trackers that a config names, however it does; imported where there are some."""

from __future__ import annotations

from collections.abc import Iterator

from harness.key_paths import brief
from harness.sections import KeyPath


def entries_of(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str, object]]:
    """Yield where each tracker is named, its name, and its parameters."""
    if isinstance(value, str):
        yield path, value, None
    elif isinstance(value, dict):
        for name, params in value.items():
            if not isinstance(name, str):
                raise ValueError(f"found {brief(name)} as a name; write text")
            yield (*path, name), name, params
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            if isinstance(entry, list):
                raise ValueError(f"found a list in a list at [{position}]; write names")
            yield from entries_of(entry, (*path, position))
    elif value is not None:
        raise ValueError(f"found {brief(value)}; name trackers, as [csv], or csv: {{path: a.csv}}")
