"""What a table and a row are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
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
    from harness.results.equal_names import told_apart

    return told_apart(names, settings)


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the second parts of pairs by the first."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
