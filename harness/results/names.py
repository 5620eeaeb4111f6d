"""What a table and a row are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import TypeVar

from harness.results.fields import Identity, Record, Word

Key = TypeVar("Key")
Value = TypeVar("Value")


class TableName(Record):
    """Display names and identity of a table."""

    dataset: Word
    split: Word
    candidates: Word
    table: Identity

    @property
    def names(self) -> tuple[str, str, str]:
        """Data set, split and candidates."""
        return self.dataset, self.split, self.candidates

    def place(self, tables: Sized) -> str:
        """Return what this one of some tables is called; '' where there is no other."""
        return ", ".join(self.names) if len(tables) > 1 else ""

    def start(self, tables: Sized) -> str:
        """Return how a message about this one of some tables begins; of a single one, with ''."""
        return f"{place}: " if (place := self.place(tables)) else ""


class RowKey(Record):
    """Identity and display name of a row within its table."""

    row: Identity
    algorithm: Word


class RowName(RowKey, TableName):
    """Display names and identities of a row: an algorithm in a table."""


def distinct_names(names: Sequence[str], settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return names of which no two are equal, marked by the settings in which they differ.

    `settings` holds what each name stands for, without defaults; mappings may be nested. A ``path``
    replaces the name by an end of the path, as long as it must be to distinguish them.
    """
    if len({*names}) == len(names):
        return list(names)

    return told_apart(names, settings)


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the second parts of pairs by the first."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


LONGEST_VALUE = 40
"""Characters of a setting that distinguishes two names."""


def told_apart(names: Sequence[str], settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return names marked as `distinct_names` says."""
    shown = list(names)
    for group in _equal(shown):
        paths = [str(settings[i].get("path", "")).replace("\\", "/").split("/") for i in group]
        n_paths = len({*map(tuple, paths)})
        if n_paths > 1:
            lengths = range(1, max(map(len, paths)) + 1)
            ends = ([path[-n:] for path in paths] for n in lengths)
            distinct = next(end for end in ends if len({*map(tuple, end)}) == n_paths)
            for i, end in zip(group, distinct, strict=True):
                shown[i] = "/".join(end) or shown[i]
    for group in _equal(shown):
        flat = {i: {k: value[:LONGEST_VALUE] for k, value in flattened(settings[i])} for i in group}
        keys = dict.fromkeys(key for values in flat.values() for key in values if key != "path")
        differing = [key for key in keys if len({values.get(key) for values in flat.values()}) > 1]
        for i, values in flat.items():
            marks = [f"{k.rpartition('.')[2]} {values[k]}" for k in differing if k in values]
            shown[i] += f" ({', '.join(marks)})" if marks else ""
    unique: list[str] = []
    for name in shown:
        number, free = 1, name
        while free in unique or (number > 1 and free in shown):
            number += 1
            free = f"{name} ({number})"
        unique.append(free)
    return unique


def _equal(names: Sequence[str]) -> list[list[int]]:
    """Return the positions of names that occur several times, by name."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        positions.setdefault(name, []).append(position)
    return [group for group in positions.values() if len(group) > 1]


def flattened(settings: Mapping[str, object], start: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted names of nested settings, and their values as text."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{start}{key}.")
        elif value is not None:
            yield f"{start}{key}", str(value).lower() if isinstance(value, bool) else str(value)
