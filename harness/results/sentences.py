"""Sentences of a verdict that stay short: names without their middle, and as many as fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.errors import counted, joined, listed
from harness.results.display import plain

LONGEST_SENTENCE = 200
"""Characters of a sentence of a verdict."""
MOST_NAMES = 3
"""Rows that a sentence names; it counts the others."""
LONGEST_NAME = 48


def row_names(names: Sequence[str], most: int) -> str:
    """Return some names, and how many more there are; their number alone for `most` 0."""
    if not most:
        return counted(len(names), "row")
    names = [shortened(name) for name in names]
    return listed(names, most) if len(names) > most else joined(names)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name without its middle where it is too long."""
    text = plain(name)
    end = (longest - 5) // 2
    return text if len(text) <= longest else f"{text[:end]} ... {text[-end:]}"


def fitting(text: Callable[[int], str]) -> str:
    """Return a sentence that names as many rows as fit in `LONGEST_SENTENCE`."""
    texts = [text(most) for most in range(MOST_NAMES, -1, -1)]
    return next((shown for shown in texts if len(shown) <= LONGEST_SENTENCE), texts[-1])
