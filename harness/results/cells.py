"""Finished cells on disk: each is one complete file, found by its key."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.datasets import cache_folder
from harness.errors import ResultsError
from harness.files import hold, leftovers, read_regular, write_whole
from harness.results.record import CellRecord, key_of

__all__ = ["CellRecord", "CellStore", "Entry", "key_of", "short_key"]


def short_key(description: dict[str, Any]) -> str:
    """Return the first 16 digits of a key: the identity of a table or a row.

    Examples
    --------
    >>> len(short_key({"a": 1}))
    16
    """
    return key_of(description)[:16]


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

    def lock(self, key: str, patience: float = -1.0) -> AbstractContextManager[None]:
        """Return a lock on a cell, so that one process at a time computes it.

        There are at most 4,096 lock files, shared by keys with the same beginning: two cells of one
        lock are computed one after the other, which is rare and harmless.

        Raises
        ------
        TimeoutError
            On entry, if another process has held it for longer than `patience` seconds.
        OSError
            On entry, if its file cannot be made.
        """
        return hold(self.folder / "locks" / f"{key[:3]}.lock", patience)

    def get(self, key: str) -> CellRecord | None:
        """Return a finished cell, or None where there is none.

        Raises
        ------
        ResultsError
            If the file is not that cell or is incomplete; the message names the file.
        """
        path = self.path(key)
        try:
            data = read_regular(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ResultsError(f"{path}: {_why(error)}; it is computed again") from None
        try:
            return CellRecord.from_bytes(data, key)
        except ResultsError as error:
            raise ResultsError(f"{path}: {error}; it is computed again") from None

    def is_whole(self, key: str) -> bool:
        """Return whether a cell is there that can be read; a broken one is computed again."""
        try:
            return self.get(key) is not None
        except ResultsError:
            return False

    def put(self, key: str, record: CellRecord) -> Path:
        """Write a cell to a temporary name, sync it, and give it its own name.

        To be called by the holder of the cell's lock.

        Raises
        ------
        ResultsError
            If the folder cannot be written or the disk is full; nothing half written is left.
        """
        path = self.path(key)
        try:
            for part in leftovers(path):
                part.unlink(missing_ok=True)
            write_whole(path, record.to_bytes(key))
        except OSError as error:
            raise ResultsError(
                f"{path.parent}: cannot write a finished cell ({_why(error)}); "
                "free space, fix permissions or set HARNESS_CACHE to another folder"
            ) from None
        return path

    def check_writable(self) -> None:
        """Make the folder, and see that a file can be written there.

        Raises
        ------
        ResultsError
            If it cannot.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(b"room for a cell")
        except OSError as error:
            raise ResultsError(
                f"{self.folder}: finished cells cannot be kept there ({_why(error)}); "
                "fix it or set HARNESS_CACHE to another folder"
            ) from None

    def discard(self, key: str) -> None:
        """Remove a cell, if it is there.

        Raises
        ------
        ResultsError
            If it is there and cannot be removed.
        """
        path = self.path(key)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise ResultsError(
                f"{path}: cannot be removed ({_why(error)}); fix its permissions"
            ) from None

    def entries(self) -> Iterator[Entry]:
        """Yield every file of the store, by key."""
        for path in sorted(self.folder.glob("??/*.cell")):
            if not re.fullmatch("[0-9a-f]{64}", path.stem) or path.parent.name != path.stem[:2]:
                continue
            try:
                status = path.stat()
            except FileNotFoundError:  # removed by another process since it was listed
                continue
            yield Entry(path.stem, status.st_size, datetime.fromtimestamp(status.st_mtime))

    def fault(self, key: str) -> str | None:
        """Return the fault of a stored cell, None if it is complete and its key is right."""
        try:
            record = self.get(key)
        except ResultsError as error:
            return str(error)
        if record is not None and key_of(record.inputs) != key:
            return f"{self.path(key)}: was computed from other data or code than its key says"
        return None

    def prune(self, days: float) -> int:
        """Remove the cells written more than `days` ago, and temporary files of killed writers.

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
        for path in self.folder.glob("*/.*.part"):
            if now - path.stat().st_mtime > 86_400:
                path.unlink(missing_ok=True)
        return len(old)


def _why(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
