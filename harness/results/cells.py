"""Finished cells on disk: each one file, whole or absent, found again by its key."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.datasets import cache_folder
from harness.errors import ResultsError
from harness.files import write_whole
from harness.metrics import Pairs, Rankings

__all__ = ["CellRecord", "CellStore", "key_of"]

MAGIC = b"harness-cell-1\n"
DIGEST_BYTES = 32


@dataclass(frozen=True, eq=False)
class CellRecord:
    """Everything that one fitted and scored cell leaves behind.

    Parameters
    ----------
    meta : dict
        Plain data: timings, memory, paths taken, notes, counts.
    users : ndarray of int32, shape (n_users,)
        Codes of the test users.
    kept : ndarray of bool, shape (n_users,)
        Users whose ranking is evaluated; `rankings` has one list for each of them.
    rankings : Rankings
    pairs : Pairs
        Estimate and true rating of every test pair, by user.
    """

    meta: dict[str, Any]
    users: NDArray[np.int32]
    kept: NDArray[np.bool_]
    rankings: Rankings
    pairs: Pairs

    def to_bytes(self) -> bytes:
        """Return the record as one file's bytes, checksum included."""
        arrays: dict[str, NDArray[Any]] = {"users": self.users, "kept": self.kept}
        for prefix, part in (("rankings.", self.rankings), ("pairs.", self.pairs)):
            for field in fields(part):
                value = getattr(part, field.name)
                if value is not None:
                    arrays[prefix + field.name] = value
        body = io.BytesIO()
        meta = np.frombuffer(json.dumps(self.meta).encode(), dtype=np.uint8)
        np.savez(body, allow_pickle=False, meta=meta, **arrays)
        content = body.getvalue()
        return MAGIC + hashlib.sha256(content).digest() + content

    @classmethod
    def from_bytes(cls, data: bytes) -> CellRecord:
        """Read a record back.

        Raises
        ------
        ResultsError
            If the bytes are not a whole record.
        """
        start = len(MAGIC) + DIGEST_BYTES
        if not data.startswith(MAGIC) or len(data) <= start:
            raise ResultsError("not a finished cell, or written by another version")
        content = data[start:]
        if hashlib.sha256(content).digest() != data[len(MAGIC) : start]:
            raise ResultsError("the bytes do not match their checksum")
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        parts: dict[str, dict[str, Any]] = {"rankings": {}, "pairs": {}}
        for name, array in arrays.items():
            prefix, dot, field = name.partition(".")
            if dot:
                parts[prefix][field] = array
        return cls(
            meta=json.loads(arrays["meta"].tobytes()),
            users=arrays["users"],
            kept=arrays["kept"],
            rankings=Rankings(**parts["rankings"]),
            pairs=Pairs(**parts["pairs"]),
        )


def key_of(description: dict[str, Any]) -> str:
    """Return the key of a cell: the SHA-256 of everything that decides its numbers.

    Examples
    --------
    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    True
    """
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """A file of the store: the key it is named by, its size and when it was written."""

    key: str
    n_bytes: int
    written: datetime


class CellStore:
    """A folder of finished cells.

    Parameters
    ----------
    folder : Path
        Made when the first cell is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def default(cls) -> CellStore:
        """Return the store that all runs of this user share."""
        return cls(cache_folder() / "cells")

    def path(self, key: str) -> Path:
        """Return where the cell of a key is, or would be."""
        return self.folder / key[:2] / f"{key}.cell"

    def get(self, key: str) -> CellRecord | None:
        """Return a finished cell, or None where there is none.

        Raises
        ------
        ResultsError
            If there is a file that is not a whole cell; it names the file.
        """
        path = self.path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}; check its permissions") from None
        try:
            return CellRecord.from_bytes(data)
        except ResultsError as error:
            raise ResultsError(f"{path}: {error}; it is computed again") from None

    def is_whole(self, key: str) -> bool:
        """Return whether a cell is there; a broken file is removed, to be computed again."""
        if self.fault(key) is not None:
            self.discard(key)
            return False
        return self.path(key).exists()

    def put(self, key: str, data: bytes) -> Path:
        """Write a cell to a temporary name, sync it, and give it its own name.

        Raises
        ------
        ResultsError
            If the folder cannot be written or the disk is full; nothing half written is left.
        """
        path = self.path(key)
        try:
            write_whole(path, data)
        except OSError as error:
            raise ResultsError(
                f"{path.parent}: cannot write a finished cell ({error.strerror}); "
                "free space, mend permissions or set HARNESS_CACHE to another folder"
            ) from None
        return path

    def discard(self, key: str) -> None:
        """Remove a cell, if it is there."""
        self.path(key).unlink(missing_ok=True)

    def entries(self) -> Iterator[Entry]:
        """Yield every file of the store, by key."""
        for path in sorted(self.folder.glob("??/*.cell")):
            status = path.stat()
            yield Entry(path.stem, status.st_size, datetime.fromtimestamp(status.st_mtime))

    def fault(self, key: str) -> str | None:
        """Return what is wrong with a stored cell, None when it is whole."""
        try:
            self.get(key)
        except ResultsError as error:
            return str(error)
        return None

    def prune(self, days: float) -> int:
        """Remove the cells written more than `days` ago, and what killed writers left behind.

        Returns
        -------
        int
            How many cells were removed.
        """
        now = datetime.now().timestamp()
        old = [
            entry for entry in self.entries() if now - entry.written.timestamp() >= days * 86_400
        ]
        for entry in old:
            self.discard(entry.key)
        for pattern in ("??/.*.part", "??/*.lock"):
            for path in self.folder.glob(pattern):
                if now - path.stat().st_mtime > 86_400:
                    path.unlink(missing_ok=True)
        return len(old)
