"""Finished cells on disk: each is one complete file, found by its key.

A damaged one is computed again. Beside the cells are files of the same form with scores of all
cells of a run.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from harness.errors import ResultsError, reason_of
from harness.files import cache_folder, hold, leftovers, read_regular, report_os_error, write_whole
from harness.metrics import Pairs, Rankings
from harness.results.cell_file import ARRAYS, MAGIC, SCORES_MAGIC, START, Arrays, packed
from harness.results.cells import CellFacts
from harness.results.reads import Reads

CELL, SCORES = "cell", "scores"
"""Endings of files: of a finished cell, and of the scores of all cells of a run."""
READS, LISTS = "reads", "lists"
"""Endings of files: of what a process of your own code read, and of the keys of such lists by cell.
"""
MOST_LISTS = 32
"""For one cell: so many versions of its code do not displace each other."""
Inputs = Mapping[str, object]


def key_of(inputs: Inputs) -> str:
    """Return the key of a cell: the SHA-256 of everything that decides its numbers."""
    return hashlib.sha256(_canonical(inputs).encode()).hexdigest()


def short_key(inputs: Inputs) -> str:
    """Return the first 16 digits of a key: the identity of a table or a row."""
    return key_of(inputs)[:16]


def _canonical(inputs: Inputs) -> str:
    return json.dumps(inputs, sort_keys=True, separators=(",", ":"), default=str)


@dataclass(frozen=True, eq=False)
class CellRecord:
    """The result of one fitted and scored cell."""

    facts: CellFacts
    users: NDArray[np.int32]  # codes of the evaluated users, shape (n_users,)
    rankings: Rankings  # a list of each user
    pairs: Pairs  # estimate and true rating of every test pair of these users
    inputs: Inputs = field(default_factory=dict)  # what decides its numbers; the key is its hash

    def to_bytes(self, key: str) -> bytes:
        """Return the record as one file's bytes, checksum and key included."""
        facts, inputs = self.facts.model_dump_json(), _canonical(self.inputs)
        header = f'{{"key":"{key}","facts":{facts},"inputs":{inputs}}}'.encode()
        arrays: Arrays = {}
        for name, (kind, _) in ARRAYS.items() if not self.facts.judged else ():
            if (value := attrgetter(name)(self)) is not None:
                arrays[name] = np.ascontiguousarray(value, dtype=kind)
        return packed(MAGIC, header, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, key: str) -> CellRecord:
        """Read the cell of a key back; a ResultsError if the bytes are not that cell, whole."""
        from harness.results.cell_reading import parts_of_cell

        return cls(**parts_of_cell(data, key))

    def fits(self, n_users: int, n_items: int) -> bool:
        """Return whether all its users and items are among so many."""
        named = (self.rankings.top_items, self.rankings.items)
        return int(self.users.max(initial=-1)) < n_users and all(
            items is None or int(items.max(initial=-1)) < n_items for items in named
        )


class CellStore:
    """A folder of finished cells, made when the first is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def default(cls) -> Self:
        """Return the store that all runs of this user share."""
        return cls(cache_folder() / "cells")

    def path(self, key: str, ending: str = CELL) -> Path:
        """Return where the cell of a key, or the scores of a run, are, or would be."""
        return self.folder / key[:2] / f"{key}.{ending}"

    @contextmanager
    def lock(self, key: str, patience: float = -1.0) -> Iterator[None]:
        """Hold a lock on a cell, so that one process at a time computes it.

        There are at most 4,096 lock files, shared by keys with the same beginning: two cells of one
        lock are computed one after the other, which is rare and harmless. Entering raises a
        TimeoutError after `patience` seconds, a ResultsError if the file cannot be made.
        """
        path = self.folder / "locks" / f"{key[:3]}.lock"
        with ExitStack() as stack:
            try:
                stack.enter_context(hold(path, patience))
            except TimeoutError:
                raise
            except OSError as error:
                advice = "remove what is in its place, or set HARNESS_CACHE to another folder"
                raise ResultsError(f"{path}: no lock ({reason_of(error)}); {advice}") from None
            yield

    def get(self, key: str) -> CellRecord | None:
        """Return a finished cell, None where there is none; a ResultsError names a broken file."""
        path = self.path(key)
        try:
            return CellRecord.from_bytes(read_regular(path), key)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ResultsError) as error:
            raise ResultsError(f"{path}: {reason_of(error)}; it is computed again") from None

    def checksum(self, key: str) -> str:
        """Return the checksum that the file of a cell begins with; an OSError if there is none."""
        return read_regular(self.path(key), START)[len(MAGIC) :].hex()

    def put(self, key: str, record: CellRecord) -> None:
        """Write a cell, all of it or nothing; to be called by the holder of its lock.

        A trial does not wait for the disk: one that a power cut damages is computed again.
        """
        path = self.path(key)
        advice = "free space, fix permissions or set HARNESS_CACHE to another folder"
        with report_os_error(path.parent, "cannot write a finished cell", advice):
            for part in leftovers(path):
                part.unlink(missing_ok=True)
            write_whole(path, record.to_bytes(key), durable=not record.facts.judged)

    def get_scores(self, key: str) -> tuple[bytes, Arrays]:
        """Return the header and the arrays of the scores of a run; an OSError or a ResultsError."""
        path = self.path(key, SCORES)
        data = read_regular(path)
        from harness.results.cell_reading import unpacked

        try:
            return unpacked(SCORES_MAGIC, data)
        except ResultsError as error:
            raise ResultsError(f"{path}: {reason_of(error)}; it is computed again") from None

    def put_scores(self, key: str, header: bytes, arrays: Arrays) -> None:
        """Write the scores of a run, all or nothing, without waiting for the disk."""
        data = packed(SCORES_MAGIC, header, arrays)
        write_whole(self.path(key, SCORES), data, durable=False)

    def lists(self, key: str) -> list[str]:
        """Return the keys of the lists of reads with which a cell was computed, the newest first.

        A damaged file is none: the cell is computed again.
        """
        try:
            found = json.loads(read_regular(self.path(key, LISTS)))
        except (OSError, ValueError):
            return []
        known = found if isinstance(found, list) else []
        return [list_key for list_key in known if isinstance(list_key, str)]

    def reads(self, key: str) -> Reads | None:
        """Return a list of reads by its key; None where it is missing or damaged."""
        try:
            reads = Reads.model_validate_json(read_regular(self.path(key, READS)))
        except (OSError, ValueError):
            return None
        return reads if reads.key == key else None

    def add_reads(self, key: str, reads: Reads) -> None:
        """Keep with what a cell was computed; to be called by the holder of its lock."""
        path, lists = self.path(key, LISTS), [reads.key, *self.lists(key)]
        advice = "free space, fix permissions or set HARNESS_CACHE to another folder"
        with report_os_error(path.parent, "cannot write what a cell has read", advice):
            if self.reads(reads.key) is None:
                write_whole(self.path(reads.key, READS), reads.to_bytes(), durable=False)
            newest = list(dict.fromkeys(lists))[:MOST_LISTS]
            write_whole(path, json.dumps(newest).encode(), durable=False)

    def check_writable(self) -> None:
        """Make the folder, and see that a file can be written there."""
        advice = "fix it or set HARNESS_CACHE to another folder"
        with report_os_error(self.folder, "finished cells cannot be kept there", advice):
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(b"room for a cell")

    def discard(self, key: str, ending: str = CELL) -> None:
        """Remove a file, if it is there, or an empty folder in its place."""
        path = self.path(key, ending)
        is_folder = path.is_dir() and not path.is_symlink()
        advice = "move it elsewhere" if is_folder else "fix its permissions"
        with report_os_error(path, "cannot be removed", advice):
            path.rmdir() if is_folder else path.unlink(missing_ok=True)
