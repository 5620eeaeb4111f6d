"""Which cells have to be computed, and which are finished already."""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import ResultsError
from harness.experiment.cell import Outcome
from harness.experiment.events import Note, Watch
from harness.experiment.plan import Cell
from harness.results.store import CellStore

__all__ = ["Ledger"]


class Ledger:
    """Knows which cells of a run are missing.

    Parameters
    ----------
    store : CellStore
    watch : callable
        Receives a note on every broken file.
    fresh : bool
        Do not reuse older cells; they stay until the new ones are complete.
    """

    def __init__(self, store: CellStore, watch: Watch, *, fresh: bool) -> None:
        self.store = store
        self.watch = watch
        self.fresh = fresh
        self._renewed: set[str] = set()

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have to be computed.

        Of cells with one key the first is returned: an algorithm without random numbers
        is the same under every seed.
        """
        first: dict[str, Cell] = {}
        for cell in cells:
            first.setdefault(cell.key, cell)
        return [cell for cell in first.values() if not self._is_finished(cell.key)]

    def was_found(self, key: str) -> bool:
        """Return whether a finished cell was there before this run."""
        return key not in self._renewed

    def note(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell of this run."""
        if outcome["status"] != "failed":
            self._renewed.add(cell.key)

    def _is_finished(self, key: str) -> bool:
        """Return whether a cell exists; a broken file is removed and reported."""
        if self.fresh and key not in self._renewed:
            return False
        try:
            return self.store.get(key) is not None
        except ResultsError as error:
            self.store.discard(key)
            self.watch(Note(str(error)))
            return False
