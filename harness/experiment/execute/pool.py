"""The cells of a run, computed and stored: here, in child processes, or on a cluster."""

from __future__ import annotations

import itertools
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from harness.config.experiment import LOCAL
from harness.errors import ResultsError
from harness.experiment.execute.attempt import Outcome, Workplace
from harness.experiment.execute.processes import LOOK_SECONDS, Check, Children, interrupts_kept
from harness.experiment.execute.progress import (
    WAITING,
    CellFinished,
    CellStarted,
    Noted,
    Stage,
    Watch,
)
from harness.notes.note import Note as ResultNote
from harness.plugins import registry as plugins
from harness.results.reads import Reads
from harness.results.store import CellRecord, CellStore, key_of

if TYPE_CHECKING:
    from harness.experiment.plan import Cell, Plan


MOST_BYTES = 256_000_000
"""Bytes of records that are kept in memory until they are scored; the others are read back."""


@dataclass(eq=False)
class Pool:
    """Computes and stores the cells of a run: here, in child processes or on a cluster.

    `attempt` computes a cell of the `plan` given to it; it is imported by name elsewhere. `fresh`
    computes all cells again that are stored. `trust_cache` takes cells with your own code if
    not all that decides them could be recorded.
    """

    plan: Plan
    attempt: Callable[..., Outcome]
    workers: int
    watch: Watch
    _: KW_ONLY
    fresh: bool = False
    trust_cache: bool = False
    store: CellStore = field(default_factory=CellStore.default)
    computed: set[str] = field(default_factory=set)
    """Keys of the cells of this run that were not there before."""
    unrecorded: dict[str, dict[str, None]] = field(default_factory=dict)
    """Reasons why cells with your own code cannot be reused, by its name."""
    of_session: dict[str, None] = field(default_factory=dict)
    """Names in your own code that were computed with the objects of this process."""
    _reads: dict[str, Reads | None] = field(default_factory=dict)
    """Lists of reads by key; None for one that is damaged."""
    _holds: dict[str, bool] = field(default_factory=dict)
    """By the key of a list, whether everything in it is as it was."""
    _of_this_run: set[str] = field(default_factory=set)
    """Keys of stored cells that no other run can take."""
    _records: dict[str, CellRecord] = field(default_factory=dict)
    _n_bytes: int = 0
    _begun: set[str] = field(default_factory=set)
    _elsewhere: Elsewhere | None = None

    def close(self) -> None:
        """End what computes cells elsewhere."""
        if self._elsewhere is not None:
            self._elsewhere.close()

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have to be computed, the first of those with one key."""
        first = {cell.key: cell for cell in reversed([*cells])}
        known = {*self._records, *self.computed, *self.plan.stored_as}
        unknown = [cell for cell in cells if first[cell.key] is cell and cell.key not in known]
        return [cell for cell in unknown if self._stored(cell) is None]

    def compute(self, cells: Sequence[Cell], *, trials: bool = False) -> dict[str, Outcome]:
        """Compute and store the cells that are missing; return those that failed, by key.

        An interrupt ends it even if the code of an algorithm caught it.
        """
        missing = self.missing(cells)
        if trials:
            keys = {cell.key for cell in missing}
            for cell in [cell for cell in cells if cell.key not in keys]:
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
                    if outcome.record is None:
                        outcome = failed[cell.key] = self._with_origin(cell, outcome)
                    else:
                        self._keep(cell.key, outcome.record)
                        self.computed |= set() if outcome.found else {cell.key}
                    ending = outcome.seconds, outcome.found, outcome.error, outcome.traceback
                    self.watch(CellFinished(cell.title, *ending))
                    check()  # an interrupt ends it even if the code of an algorithm caught it
            missing, patience = busy, LOOK_SECONDS
            for cell in busy:
                self.watch(Stage(cell.title, WAITING))
        return failed

    def _with_origin(self, cell: Cell, outcome: Outcome) -> Outcome:
        """Name the package of an algorithm that failed, unless it is this one."""
        name = self.plan.experiment.algorithms[cell.algorithm].name
        origin = plugins.foreign_origin("algorithms", name)
        return replace(outcome, error=f"{outcome.error} ({origin})") if origin else outcome

    def take(self, key: str) -> CellRecord | None:
        """Return a completed cell, from memory or else from the disk."""
        record = self._records.get(key)
        return record if record is not None else self.store.get(self.plan.stored_as.get(key, key))

    def _stored(self, cell: Cell) -> CellRecord | None:
        """Return the result of an earlier run; a broken file is removed and reported."""
        place = self.plan.code.place(cell)
        if self.fresh or place is Workplace.SESSION:
            return None
        for key in [cell.key] if place is Workplace.USUAL else self._keys_with_reads(cell):
            try:
                record = self.store.get(key)
            except ResultsError as error:
                self.store.discard(key)
                self.watch(Noted(str(error)))
                continue
            if record is not None:
                self.plan.stored_as[cell.key] = key
                self._keep(cell.key, record)
                return record
        return None

    def _keys_with_reads(self, cell: Cell) -> Iterator[str]:
        """Yield the keys of a cell with your own code whose lists of reads hold."""
        if self.plan.experiment.execution.executor != "local":
            return
        for reads in self.lists_of(cell):
            if reads.key not in self._holds:
                self._holds[reads.key] = reads.holds()
            if self._holds[reads.key]:
                self._explain(cell, self._unrecorded(cell, reads))
                yield self._key_with(cell, reads)

    def lists_of(self, cell: Cell) -> Iterator[Reads]:
        """Yield what the code of a cell had read in earlier runs whose results can be reused."""
        if self.fresh or self.plan.code.place(cell) is not Workplace.RECORDED:
            return
        for list_key in self.store.lists(cell.key):
            if list_key not in self._reads:
                self._reads[list_key] = self.store.reads(list_key)
            reads = self._reads[list_key]
            if reads is not None and (self.trust_cache or not self._unrecorded(cell, reads)):
                yield reads

    def _unrecorded(self, cell: Cell, reads: Reads) -> list[str]:
        declared = bool(self.plan.experiment.algorithms[cell.algorithm].depends)
        return reads.unrecorded(declared=declared)

    def _key_with(self, cell: Cell, reads: Reads) -> str:
        """Return the key of a cell with what its process had read."""
        return key_of(self.plan.inputs(cell) | {"reads": reads.key})

    def _taken(self, cell: Cell, reads: Reads) -> Outcome:
        """Return the stored result of a cell whose code has read a list that holds elsewhere."""
        key = self._key_with(cell, reads)
        record = self.store.get(key)
        if record is None:
            return Outcome.failed(ResultsError("its stored cell was removed; run again"))
        self._explain(cell, self._unrecorded(cell, reads))
        self.plan.stored_as[cell.key] = key
        return Outcome(record=record, found=True)

    def _put(self, cell: Cell, outcome: Outcome) -> None:
        """Store what was computed; for your own code, beside the list of what it has read."""
        record, place = outcome.record, self.plan.code.place(cell)
        if record is None:
            return
        key = cell.key
        if place is not Workplace.USUAL:
            reads = outcome.reads
            list_key = uuid.uuid4().hex if reads is None else reads.key
            if reads is not None:
                self._explain(cell, self._unrecorded(cell, reads))
                self.store.add_reads(key, reads)
            inputs = {**record.inputs, "reads": list_key}
            record, key = replace(record, inputs=inputs), key_of(inputs)
            self.plan.stored_as[cell.key] = key
            self._of_this_run |= {key} if reads is None else set()
        self.store.put(key, record)

    def _explain(self, cell: Cell, reasons: Iterable[str]) -> None:
        for name in self._names(cell):
            for reason in reasons:
                self.unrecorded.setdefault(name, {})[reason] = None

    def _names(self, cell: Cell) -> list[str]:
        """Return the names in your own code that a cell uses."""
        names = [*self.plan.code.names(cell.algorithm, is_trial=cell.inner)]
        return names or [self.plan.experiment.algorithms[cell.algorithm].name]

    def discard_unrepeatable(self) -> list[ResultNote]:
        """Remove the cells that no other run can take, and return for whose code, and why."""
        for key in self._of_this_run:
            with suppress(ResultsError):
                self.store.discard(key)
        return [
            *(ResultNote("code-of-session", {"name": name}) for name in self.of_session),
            *(
                ResultNote("code-not-followed", {"name": name, "reasons": "; ".join(reasons)})
                for name, reasons in self.unrecorded.items()
            ),
        ]

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
        in_others = self.workers > 1 or (execution.executor, execution.time_limit) != (LOCAL, None)
        if in_others:  # several at once, which are of one place
            cells = sorted(cells, key=self._order)
        for place, of_place in itertools.groupby(cells, self.plan.code.place):
            elsewhere = in_others or place is Workplace.RECORDED
            if elsewhere and place is not Workplace.SESSION:
                if self._elsewhere is None:
                    self._elsewhere = Elsewhere(self)
                recorded = place is Workplace.RECORDED
                group = [*of_place]
                yield from self._elsewhere.compute(group, patience, check, recorded=recorded)
                continue
            for cell in of_place:
                if place is Workplace.SESSION:
                    self.of_session |= dict.fromkeys(self._names(cell))
                report = partial(self.report, cell)
                compute = partial(self.attempt, cell, report, check=check, plan=self.plan)
                yield cell, self.finish(cell, compute, patience)

    def _order(self, cell: Cell) -> int:
        """Return what sorts cells by where they are computed."""
        return [*Workplace].index(self.plan.code.place(cell))

    def finish(self, cell: Cell, compute: Callable[[], Outcome], patience: float) -> Outcome | None:
        """Compute and store a cell unless it is stored; None if another run is still at it."""
        with suppress(TimeoutError), self.store.lock(cell.key, patience):
            with suppress(ResultsError):  # a broken one is computed again
                if (record := self._stored(cell)) is not None:
                    return Outcome(record=record, found=True)
            outcome = compute()
            try:
                if outcome.found and outcome.reads is not None:
                    return self._taken(cell, outcome.reads)
                self._put(cell, outcome)
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


class Executor(ABC):
    """What computes cells elsewhere than on this machine: a plug-in of ``harness.executors``.

    A config names it as `execution: {executor: NAME}`; it is made when the first cell is needed.

    Parameters
    ----------
    pool : Pool
        With the plan, the number of workers and the receivers of progress.

    Raises
    ------
    ResultsError
        If nobody answers, or a package is missing: what to start or install.
    """

    @abstractmethod
    def __init__(self, pool: Pool) -> None: ...

    @abstractmethod
    def compute(
        self, cells: list[Cell], check: Check, *, recorded: bool = False
    ) -> Iterator[tuple[Cell, Outcome]]:
        """Yield how each cell ended, in no set order; call `check` at least each second.

        With `recorded`, a cell computes with your own code, and its outcome says what was read.
        """

    @abstractmethod
    def close(self) -> None:
        """Leave the workers; what is under way is given up."""


class Elsewhere:
    """The child processes or the executor of a pool, begun when they are needed."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._children: dict[bool, Children] = {}
        """By whether they record what they read."""
        self._executor: Executor | None = None

    def close(self) -> None:
        """End the processes, or leave the cluster."""
        for children in self._children.values():
            children.close()
        if self._executor is not None:
            self._executor.close()

    def compute(
        self, cells: list[Cell], patience: float, check: Check, *, recorded: bool = False
    ) -> Iterator[tuple[Cell, Outcome | None]]:
        """Yield how each cell ended, in no set order; None if another run is computing it."""
        pool = self.pool
        name = pool.plan.experiment.execution.executor
        if name != LOCAL:
            if self._executor is None:
                made = cast("type[Executor]", plugins.find("executors", name).load())
                self._executor = made(pool)
            for cell, outcome in self._executor.compute(cells, check, recorded=recorded):
                # The lock is waited for only to store the cell: nothing is computed twice.
                store = partial(pool.finish, cell, partial(replace, outcome), LOOK_SECONDS)
                while (ended := store()) is None:
                    check()
                yield cell, ended
        else:
            if recorded not in self._children:
                self._children[recorded] = Children(pool, recorded=recorded)
            yield from self._children[recorded].compute(cells, patience, check)
