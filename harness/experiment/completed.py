"""Which cells of a run are completed, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from harness.errors import ResultsError
from harness.experiment.cell import Outcome
from harness.experiment.events import CellFinished, Note
from harness.experiment.plan import Cell
from harness.experiment.pool import Pool
from harness.results.store import CellRecord

__all__ = ["CompletedCells"]

MOST_BYTES = 256_000_000
"""Of records that are kept in memory until they are scored; the others are read back."""


class CompletedCells:
    """The cells that a run has found or computed: in memory, or else on the disk."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.store = pool.store
        self.computed: set[str] = set()
        """Keys of the cells of this run that were not there before."""
        self._records: dict[str, CellRecord] = {}
        self._n_bytes = 0

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have to be computed.

        Of cells with one key the first is returned: an algorithm without random numbers
        is the same under every seed.
        """
        first: dict[str, Cell] = {}
        for cell in cells:
            first.setdefault(cell.key, cell)
        return [cell for key, cell in first.items() if not self._is_there(key)]

    def compute(self, cells: list[Cell], *, trials: bool = False) -> dict[str, Outcome]:
        """Compute the cells that are missing, and return those that failed, by key."""
        missing = self.missing(cells)
        keys = {cell.key for cell in missing}
        for cell in cells if trials else ():
            if cell.key not in keys:
                self.pool.watch(CellFinished(cell.title, 0.0, found=True))
        failed = {}
        for cell, outcome in self.pool.execute(missing):
            if outcome.record is None:
                failed[cell.key] = outcome
                continue
            if not outcome.found:
                self.computed.add(cell.key)
            self._keep(cell.key, outcome.record)
        return failed

    def take(self, key: str) -> CellRecord | None:
        """Return a completed cell, from memory or else from the disk."""
        record = self._records.get(key)
        return record if record is not None else self.store.get(key)

    def _is_there(self, key: str) -> bool:
        """Return whether a cell is completed; a broken file is removed and reported."""
        if key in self._records or key in self.computed:
            return True
        if self.pool.fresh:
            return False
        try:
            record = self.store.get(key)
        except ResultsError as error:
            self.store.discard(key)
            self.pool.watch(Note(str(error)))
            return False
        if record is not None:
            self._keep(key, record)
        return record is not None

    def _keep(self, key: str, record: CellRecord) -> None:
        parts = (*vars(record.rankings).values(), *vars(record.pairs).values())
        n_bytes = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
        if key not in self._records and self._n_bytes + n_bytes <= MOST_BYTES:
            self._records[key] = record
            self._n_bytes += n_bytes
