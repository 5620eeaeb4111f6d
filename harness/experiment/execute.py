"""Compute cells in this process, or in worker processes that may die without harm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.experiment.cell import WAITING, Outcome, Report, finish
from harness.experiment.events import CellFinished, CellStarted, Stage, Watch
from harness.experiment.plan import Cell
from harness.experiment.workers import Crew
from harness.experiment.workspace import Workspace
from harness.results.store import CellStore

__all__ = ["execute"]


def execute(
    cells: Iterable[Cell],
    workspace: Workspace,
    store: CellStore,
    workers: int,
    watch: Watch,
    *,
    fresh: bool = False,
) -> Iterator[tuple[Cell, Outcome]]:
    """Do the cells that are not done yet.

    A cell that another run is computing comes last, and this run then waits for it.

    Parameters
    ----------
    cells : iterable of Cell
    workspace : Workspace
    store : CellStore
    workers : int
        One does them here, one after the other, unless the config sets a time limit.
    watch : callable
        Receives the events of cells that start, reach a stage and end.
    fresh : bool
        Compute a cell even if it is there; the old one stays until the new one is complete.

    Yields
    ------
    Cell, Outcome
        As they end, in no set order.

    Raises
    ------
    ResultsError
        If finished cells cannot be kept; before anything is computed.
    ClusterError
        If the Dask cluster of the config cannot be reached or used, or its scheduler is lost.
    """

    def tell(cell: Cell) -> Report:
        begun = False

        def report(stage: str, done: int, total: int) -> None:
            nonlocal begun
            if not begun and stage != WAITING:
                begun = True
                watch(CellStarted(cell.title))
            watch(Stage(cell.title, stage, done, total))

        return report

    def do(todo: Sequence[Cell], wait: bool) -> Iterator[tuple[Cell, Outcome]]:
        if workspace.experiment.execution.executor == "dask":
            from harness.experiment.cluster import on_cluster

            yield from on_cluster(todo, workspace, store, workers, tell, watch, fresh=fresh)
            return
        limit = workspace.experiment.execution.time_limit
        if workers > 1 or limit is not None:
            crew = Crew(workspace, store, min(workers, len(todo)), limit)
            yield from crew.work(todo, tell, wait=wait, fresh=fresh)
            return
        for cell in todo:
            yield cell, finish(cell, workspace, store, tell(cell), wait=wait, fresh=fresh)

    todo = list(cells)
    if todo:
        store.check_writable()
    for wait in (False, True):
        put_off: list[Cell] = []
        for cell, outcome in do(todo, wait) if todo else ():
            if outcome["status"] == "busy":
                put_off.append(cell)
                continue
            if outcome["status"] == "failed" and not fresh and store.is_whole(cell.key):
                # A worker that died after it had stored the cell, or another run that did.
                outcome = {"status": "found", "seconds": outcome["seconds"]}
            found, error = outcome["status"] == "found", outcome.get("error")
            trace = outcome.get("traceback", "")
            watch(CellFinished(cell.title, outcome["seconds"], found, error, trace))
            yield cell, outcome
        todo = put_off
