"""The cells of a run, computed and stored: here, in child processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from harness import plugins
from harness.errors import ResultsError
from harness.execution.events import WAITING, CellFinished, CellStarted, Note, Stage, Watch
from harness.execution.interrupts import LOOK_SECONDS, Check, interrupts_kept
from harness.execution.outcome import Outcome
from harness.results.store import CellRecord, CellStore

if TYPE_CHECKING:
    from harness.execution.elsewhere import Elsewhere
    from harness.experiment.plan import Cell, Plan

MOST_BYTES = 256_000_000
"""Of records that are kept in memory until they are scored; the others are read back."""


class Pool:
    """Computes and stores the cells of a run: here, in child processes or on a cluster.

    `attempt` computes a cell of the `plan` given to it; it is imported by name elsewhere. `fresh`
    computes cells again that are stored, all or, unless `trust_cache`, those whose key does not
    cover all of their code.
    """

    def __init__(
        self,
        plan: Plan,
        attempt: Callable[..., Outcome],
        workers: int,
        watch: Watch,
        *,
        fresh: bool = False,
        trust_cache: bool = False,
    ) -> None:
        self.plan, self.workers, self.watch = plan, workers, watch
        self.fresh, self.trust_cache = fresh, trust_cache
        self.attempt = attempt
        self.store = CellStore.default()
        self.computed: set[str] = set()
        """Keys of the cells of this run that were not there before."""
        self._records: dict[str, CellRecord] = {}
        self._n_bytes = 0
        self._begun: set[str] = set()
        self._elsewhere: Elsewhere | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._elsewhere is not None:
            self._elsewhere.close()

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have to be computed, the first of those with one key."""
        first = {cell.key: cell for cell in reversed([*cells])}
        return [cell for cell in cells if first[cell.key] is cell and not self._is_there(cell)]

    def compute(self, cells: Sequence[Cell], *, trials: bool = False) -> dict[str, Outcome]:
        """Compute and store the cells that are missing; return those that failed, by key.

        An interrupt ends it even if the code of an algorithm caught it.
        """
        missing = self.missing(cells)
        keys = {cell.key for cell in missing}
        for cell in cells if trials else ():
            if cell.key not in keys:
                self.watch(CellFinished(cell.title, 0.0, found=True))
        if missing:
            self.store.check_writable()
        failed, patience = {}, 0.0
        while missing:
            busy: list[Cell] = []  # another run computes them; they come last, and are waited for
            with (
                interrupts_kept() as check,
                closing(self._execute(missing, patience, check)) as outcomes,
            ):
                for cell, outcome in outcomes:
                    if outcome is None:
                        busy.append(cell)
                        continue
                    outcome = self._with_origin(cell, outcome)
                    seconds, error = outcome.seconds, outcome.error
                    ending = (seconds, outcome.found, error, outcome.traceback)
                    self.watch(CellFinished(cell.title, *ending))
                    if outcome.record is None:
                        failed[cell.key] = outcome
                    else:
                        self._keep(cell.key, outcome.record)
                        self.computed |= set() if outcome.found else {cell.key}
                    check()  # an interrupt ends it even if the code of an algorithm caught it
            missing, patience = busy, LOOK_SECONDS
            for cell in busy:
                self.watch(Stage(cell.title, WAITING))
        return failed

    def _with_origin(self, cell: Cell, outcome: Outcome) -> Outcome:
        """Name the package of an algorithm that failed, unless it is this one."""
        name = self.plan.experiment.algorithms[cell.algorithm].name
        if outcome.error is None or not (origin := plugins.foreign_origin("algorithms", name)):
            return outcome
        return replace(outcome, error=f"{outcome.error} ({origin})")

    def take(self, key: str) -> CellRecord | None:
        """Return a completed cell, from memory or else from the disk."""
        record = self._records.get(key)
        return record if record is not None else self.store.get(key)

    def _may_take(self, cell: Cell) -> bool:
        """Return whether the result of an earlier run stands for a cell."""
        if self.fresh or self.trust_cache:
            return not self.fresh
        return self.plan.code.is_followed(cell.algorithm, is_trial=cell.inner)

    def _is_there(self, cell: Cell) -> bool:
        """Return whether a cell is completed; a broken file is removed and reported."""
        key = cell.key
        if key in self._records or key in self.computed:
            return True
        if not self._may_take(cell):
            return False
        try:
            record = self.store.get(key)
        except ResultsError as error:
            self.store.discard(key)
            self.watch(Note(str(error)))
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

    def _execute(
        self, cells: list[Cell], patience: float, check: Check
    ) -> Generator[tuple[Cell, Outcome | None], None, None]:
        """Yield how each cell ended, in no set order; None if another run is computing it."""
        execution = self.plan.experiment.execution
        is_local = execution.executor == "local"
        if not is_local or self.workers > 1 or execution.time_limit is not None:
            if self._elsewhere is None:
                from harness.execution.elsewhere import Elsewhere

                self._elsewhere = Elsewhere(self)
            yield from self._elsewhere.compute(cells, patience, check)
        else:
            for cell in cells:
                report = partial(self.report, cell)
                compute = partial(self.attempt, cell, report, check=check, plan=self.plan)
                yield cell, self.finish(cell, compute, patience)

    def finish(self, cell: Cell, compute: Callable[[], Outcome], patience: float) -> Outcome | None:
        """Compute and store a cell unless it is stored; None if another run is still at it."""
        with suppress(TimeoutError), self.store.lock(cell.key, patience):
            with suppress(ResultsError):  # a broken one is computed again
                if self._may_take(cell) and (record := self.store.get(cell.key)) is not None:
                    return Outcome(record=record, found=True)
            outcome = compute()
            try:
                if outcome.record is not None:
                    self.store.put(cell.key, outcome.record)
            except ResultsError as error:
                return Outcome.failed(error, outcome.seconds)
            return outcome
        return None

    def report(self, cell: Cell, stage: str, n_steps: int, total: int) -> None:
        """Tell the watcher of a stage, and before the first of a cell that it has begun."""
        if cell.key not in self._begun:
            self._begun.add(cell.key)
            self.watch(CellStarted(cell.title))
        self.watch(Stage(cell.title, stage, n_steps, total))
