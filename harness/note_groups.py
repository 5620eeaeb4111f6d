"""Notes in groups by what they change, for those who read all of them."""

from __future__ import annotations

from collections.abc import Iterable

from harness.notes import Note, by_weight

WEIGHTS = {
    3: "The numbers mean something else than they seem to",
    2: "Some numbers depend on this",
    1: "How the numbers were made",
}
"""What notes of a weight change."""


def in_groups(notes: Iterable[Note]) -> dict[str, list[Note]]:
    """Return notes by what they change, under the titles of `WEIGHTS`, the most important first.

    >>> few = Note("users-undefined", {"metric": "rmse", "n": 1, "n_all": 3})
    >>> [(title, len(notes)) for title, notes in in_groups([few, few]).items()]
    [('Some numbers depend on this', 1)]
    """
    groups: dict[str, list[Note]] = {}
    for note in by_weight(notes):
        groups.setdefault(WEIGHTS[min(max(note.weight, 1), 3)], []).append(note)
    return groups
