"""Care of the store of finished cells: lists, checks and prunes it, for the command ``cache``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from harness.errors import ResultsError
from harness.results.store import CELL, LISTS, READS, SCORES, CellStore, key_of

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
    """Of the files that it holds."""

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
        """Return the fault of a stored file, None if it is complete and a cell's key is right."""
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
