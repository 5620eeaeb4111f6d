"""Cached cells on disk: each is one complete file, found by its key.

A damaged one is computed again. Beside the cells are files of the same form with scores of all
cells of a run.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from harness._util.files import (
    cache_folder,
    hold,
    leftovers,
    read_regular,
    report_os_error,
    write_whole,
)
from harness.errors import MetricError, ResultsError, reason_of
from harness.metrics import Pairs, Rankings
from harness.results.cells import CellFacts
from harness.results.fields import Record
from harness.results.reads import Reads

MAGIC = b"harness-cell-3\n"
START = len(MAGIC) + hashlib.sha256().digest_size
SCORES_MAGIC = b"harness-scores-1\n"

ARRAYS = {
    "users": ("<i4", 1),
    "rankings.offsets": ("<i8", 1),
    "rankings.relevance": ("<f8", 1),
    "rankings.rank": ("<i4", 1),
    "rankings.tie_low": ("<i4", 1),
    "rankings.tie_high": ("<i4", 1),
    "rankings.n_ranked": ("<i8", 1),
    "rankings.pool_offsets": ("<i8", 1),
    "rankings.pool": ("<f8", 1),
    "rankings.top_items": ("<i4", 2),
    "rankings.top_estimates": ("<f8", 2),
    "rankings.items": ("<i4", 1),
    "pairs.offsets": ("<i8", 1),
    "pairs.estimates": ("<f8", 1),
    "pairs.ratings": ("<f8", 1),
}
"""Type and number of axes of every array of a cell; a trial has none."""
OPTIONAL = {"rankings.top_items", "rankings.top_estimates", "rankings.items"}
"""Missing where nothing asks which items were shown, how they were estimated, or which were judged.
"""

Arrays = dict[str, NDArray[Any]]


def packed(magic: bytes, header: bytes, arrays: Arrays) -> bytes:
    """Return a file's bytes: what it is, its checksum, and a header in JSON with plain arrays."""
    content = header
    if arrays:
        file = io.BytesIO()
        # NumPy 2.0 has no `allow_pickle` here; the types are plain, so nothing is pickled.
        np.savez(file, header=np.frombuffer(header, np.uint8), **arrays)  # type: ignore[arg-type]
        content = file.getvalue()
    return magic + hashlib.sha256(content).digest() + content


CELL, SCORES = "cell", "scores"
"""Endings of files: of a cached cell, and of the scores of all cells of a run."""
READS, LISTS = "reads", "lists"
"""Endings of files: of what a process with your own code read, and of the keys of such lists by
cell."""
MOST_LISTS = 32
"""For one cell: so many versions of its code do not displace each other."""
ROOM = "free space, fix permissions or set HARNESS_CACHE to another folder"
"""What to do where a file of the cache cannot be written."""
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
        return cls(**parts_of_cell(data, key))

    def fits(self, n_users: int, n_items: int) -> bool:
        """Return whether all its users and items are among so many."""
        named = (self.rankings.top_items, self.rankings.items)
        return int(self.users.max(initial=-1)) < n_users and all(
            items is None or int(items.max(initial=-1)) < n_items for items in named
        )


@dataclass(frozen=True, eq=False)
class CellStore:
    """A folder of cached cells, made when the first is written."""

    folder: Path

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
        """Return a cached cell, None where there is none; a ResultsError names a broken file."""
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
        with report_os_error(path.parent, "cannot write a cell to the cache", ROOM):
            for part in leftovers(path):
                part.unlink(missing_ok=True)
            write_whole(path, record.to_bytes(key), durable=not record.facts.judged)

    def get_scores(self, key: str) -> tuple[bytes, Arrays]:
        """Return the header and the arrays of the scores of a run; an OSError or a ResultsError."""
        path = self.path(key, SCORES)
        data = read_regular(path)

        try:
            return unpacked(SCORES_MAGIC, data)
        except ResultsError as error:
            raise ResultsError(f"{path}: {reason_of(error)}; it is computed again") from None

    def put_scores(self, key: str, header: bytes, arrays: Arrays) -> None:
        """Write the scores of a run, all or nothing, without waiting for the disk."""
        write_whole(self.path(key, SCORES), packed(SCORES_MAGIC, header, arrays), durable=False)

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
        with report_os_error(path.parent, "cannot write what a cell has read", ROOM):
            if self.reads(reads.key) is None:
                write_whole(self.path(reads.key, READS), reads.to_bytes(), durable=False)
            newest = list(dict.fromkeys(lists))[:MOST_LISTS]
            write_whole(path, json.dumps(newest).encode(), durable=False)

    def check_writable(self) -> None:
        """Make the folder, and see that a file can be written there."""
        advice = "fix it or set HARNESS_CACHE to another folder"
        with report_os_error(self.folder, "cells cannot be cached there", advice):
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


A_DAY = 86_400


@dataclass(frozen=True)
class Entry:
    """A file of the store: the key it is named by, its size and when it was written."""

    key: str
    n_bytes: int
    written: datetime


class MaintainedStore(CellStore):
    """A store whose files are looked through one by one."""

    endings: ClassVar = (CELL, SCORES, READS, LISTS)
    """Endings of the files that it holds."""

    def entries(self, ending: str = CELL) -> Iterator[Entry]:
        """Yield every cell of the store, or every file of another ending, by key."""
        for path in sorted(self.folder.glob(f"??/*.{ending}")):
            if not re.fullmatch("[0-9a-f]{64}", path.stem) or path.parent.name != path.stem[:2]:
                continue
            try:
                status = path.stat()
            except FileNotFoundError:  # removed by another process since it was listed
                continue
            yield Entry(path.stem, status.st_size, datetime.fromtimestamp(status.st_mtime))

    def fault(self, key: str, ending: str = CELL) -> str | None:
        """Return the problem of a stored file, None if it is complete and a cell's key is right."""
        try:
            if ending == SCORES:
                self.get_scores(key)
                return None
            if ending == READS:
                return None if self.reads(key) else f"{self.path(key, ending)}: damaged"
            if ending == LISTS:
                return None if self.lists(key) else f"{self.path(key, ending)}: damaged"
            record = self.get(key)
        except ResultsError as error:
            return str(error)
        if record is not None and key_of(record.inputs) != key:
            return f"{self.path(key)}: was computed from other data or code than its key says"
        return None

    def prune(self, days: float) -> int:
        """Remove the cells written more than `days` ago, scores too, and what killed writers left.

        Returns the number of cells.
        """
        now, n_cells = datetime.now(), 0
        for ending in self.endings:
            old = [e for e in self.entries(ending) if now - e.written >= timedelta(days)]
            n_cells += len(old) if ending == CELL else 0
            for entry in old:
                self.discard(entry.key, ending)
        for path in self.folder.glob("*/.*.part"):
            with suppress(FileNotFoundError):  # its writer has ended since it was listed
                if now.timestamp() - path.stat().st_mtime > A_DAY:
                    path.unlink()
        return n_cells


@cache
def no_lists() -> dict[str, Any]:
    """Return the parts of a record without users."""
    lists = Rankings([0], [], [], [], [], [])
    return {"users": np.empty(0, np.int32), "rankings": lists, "pairs": Pairs([0], [], [])}


class _Header(Record):
    key: str
    facts: CellFacts
    inputs: dict[str, object] = Field(default_factory=dict)


def parts_of_cell(data: bytes, key: str) -> dict[str, Any]:
    """Return the parts of a record; a ResultsError if the bytes are not the cell of the key."""
    try:
        content, arrays = unpacked(MAGIC, data)
        header = _Header.model_validate_json(content)
        if header.key != key:
            raise ResultsError("the cell of another key")
        described = {"facts": header.facts, "inputs": header.inputs}
        if header.facts.judged and not arrays:
            return described | no_lists()
        if not arrays.keys() - OPTIONAL <= ARRAYS.keys() <= arrays.keys() | OPTIONAL:
            raise ValueError("arrays are missing or too many")
        parts: dict[str, Arrays] = {"": {}, "rankings": {}, "pairs": {}}
        for name, array in arrays.items():
            if (array.dtype.str, array.ndim) != ARRAYS[name]:
                raise ValueError(f"{name} is of another type")
            part, _, own = name.rpartition(".")
            parts[part][own] = array
        users = parts[""]["users"]
        rankings, pairs = Rankings(**parts["rankings"]), Pairs(**parts["pairs"])
        is_possible = len(users) == rankings.n_users and bool((users >= 0).all())
        if not is_possible or not are_possible(rankings, pairs):
            raise ValueError("its arrays contradict each other")
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "its header"
        raise ResultsError(f"not a cached cell ({where} is not right)") from None
    except (MetricError, IndexError, TypeError, ValueError) as error:
        raise ResultsError(f"not a cached cell ({error})") from None
    return {**described, "users": users, "rankings": rankings, "pairs": pairs}


def are_possible(lists: Rankings, pairs: Pairs) -> bool:
    """Return whether lists and pairs of the users of a cell are safe for loops without checks."""
    if pairs.n_users != lists.n_users or (np.diff(pairs.offsets) < 0).any():
        return False
    longest = np.repeat(lists.n_ranked, np.diff(lists.offsets))
    top, shown = lists.top_items, lists.top_estimates
    return bool(
        ((lists.n_ranked >= 0) & (lists.n_ranked < 2**31)).all()
        and (lists.tie_low >= 1).all()
        and (lists.tie_low <= lists.rank).all()
        and (lists.rank <= lists.tie_high).all()
        and (lists.tie_high <= longest).all()
        and (top is None or (len(top) == lists.n_users and (top >= -1).all()))
        and (shown is None or (top is not None and shown.shape == top.shape))
        and (lists.items is None or (lists.items >= 0).all())
        and all(
            np.isfinite(values).all()
            for values in (lists.relevance, lists.pool, pairs.estimates, pairs.ratings)
        )
    )


def unpacked(magic: bytes, data: bytes) -> tuple[bytes, Arrays]:
    """Return the header and the arrays of a file; a ResultsError if it is another, or damaged."""
    if not data.startswith(magic):
        raise ResultsError("not a cached cell, or written by another version")
    start = len(magic) + hashlib.sha256().digest_size
    content = data[start:]
    if hashlib.sha256(content).digest() != data[len(magic) : start]:
        raise ResultsError("the bytes do not match their checksum")
    if content.startswith(b"{"):
        return content, {}
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: np.ascontiguousarray(file[name]) for name in file.files}
        return arrays.pop("header").tobytes(), arrays
    except Exception as error:  # of bytes that are no archive, NumPy and zipfile raise anything
        raise ResultsError(f"not a cached cell ({error})") from None
