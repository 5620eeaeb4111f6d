"""Key paths of a config, and the values there, as messages show them."""

from __future__ import annotations

from harness.sections import KeyPath


def located(data: object, location: KeyPath) -> KeyPath:
    """Return a location in data without tags of unions and the index of a lone value."""
    path: KeyPath = ()
    for part in location:
        inner = dict(enumerate(data)) if isinstance(data, list) else data
        if isinstance(inner, dict) and part in inner:
            path, data = (*path, part), inner[part]
    return path


def brief(value: object) -> str:
    """Return a value in one line of a message."""
    text = repr(value)
    if "\n" in text:  # as of a DataFrame
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def dotted(path: KeyPath) -> str:
    """Return a key path as a person writes it."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
