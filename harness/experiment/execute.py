"""Cells get done: in this process, or in worker processes that may die without harm."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import TimeoutError as CellTimeout
from pathlib import Path
from typing import Any

from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.experiment.cell import Outcome, finish
from harness.experiment.events import CellFinished, CellStarted, Stage, Watch
from harness.experiment.plan import Cell
from harness.experiment.workspace import Workspace
from harness.parallel import n_threads
from harness.results.cells import CellStore

__all__ = ["execute"]


def execute(
    cells: Iterable[Cell], workspace: Workspace, store: CellStore, workers: int, watch: Watch
) -> Iterator[tuple[Cell, Outcome]]:
    """Do the cells that are not done yet.

    A cell that another run is computing is put off to the end and then waited for.

    Parameters
    ----------
    cells : iterable of Cell
    workspace : Workspace
    store : CellStore
    workers : int
        One does them here, one after the other, unless the config sets a time limit.
    watch : callable
        Told when a cell starts, reaches a stage and ends.

    Yields
    ------
    Cell, Outcome
        As they end, in no set order.
    """
    put_off: list[Cell] = []
    in_pool = workers > 1 or workspace.experiment.execution.time_limit is not None
    do = _in_processes if in_pool else _in_this_process
    for wait in (False, True):
        todo, put_off = (put_off, []) if wait else (list(cells), [])
        if not todo:
            continue
        for cell, outcome in do(todo, workspace, store, workers, watch, wait=wait):
            if outcome["status"] == "busy":
                put_off.append(cell)
                continue
            watch(
                CellFinished(
                    cell.title,
                    outcome["seconds"],
                    found=outcome["status"] == "found",
                    error=outcome.get("error"),
                )
            )
            yield cell, outcome


def _in_this_process(
    cells: list[Cell],
    workspace: Workspace,
    store: CellStore,
    workers: int,
    watch: Watch,
    *,
    wait: bool,
) -> Iterator[tuple[Cell, Outcome]]:
    for cell in cells:
        watch(CellStarted(cell.title))

        def report(stage: str, done: int, total: int, title: str = cell.title) -> None:
            watch(Stage(title, stage, done, total))

        yield cell, finish(cell, workspace, store, report, wait=wait)


def _in_processes(
    cells: list[Cell],
    workspace: Workspace,
    store: CellStore,
    workers: int,
    watch: Watch,
    *,
    wait: bool,
) -> Iterator[tuple[Cell, Outcome]]:
    """Hand cells to a pool in which each has its own time limit and its own death."""
    from pebble import ProcessExpired, ProcessPool

    limit = workspace.experiment.execution.time_limit
    setup = (
        workspace.experiment,
        workspace.base,
        workspace.given,
        store.folder,
        max(1, n_threads() // workers),
    )
    pool = ProcessPool(
        max_workers=workers,
        initializer=_start_worker,
        initargs=setup,
        context=multiprocessing.get_context("spawn"),
    )
    try:
        futures = {pool.schedule(_do, args=(cell, wait), timeout=limit): cell for cell in cells}
        for cell in cells:
            watch(CellStarted(cell.title))
        for future in _as_completed(futures):
            cell = futures[future]
            try:
                outcome = future.result()
            except CellTimeout:
                error = f"stopped after the time limit of {limit:g} s; raise execution.time_limit"
                outcome = {"status": "failed", "seconds": limit or 0.0, "error": error}
            except ProcessExpired as death:
                error = (
                    f"the worker process died (exit code {death.exitcode}), perhaps out of memory; "
                    "run again to do only this cell, with fewer workers"
                )
                outcome = {"status": "failed", "seconds": 0.0, "error": error}
            yield cell, outcome
        pool.close()
        pool.join()
    finally:
        # Reached with work left only by an interrupt or an error: nothing is waited for.
        pool.stop()
        pool.join()


def _as_completed(futures: Iterable[Any]) -> Iterator[Any]:
    from concurrent.futures import as_completed

    return as_completed(futures)


_worker: tuple[Workspace, CellStore] | None = None


def _start_worker(
    experiment: Experiment, base: Path | None, given: Ratings | None, folder: Path, threads: int
) -> None:
    """Prepare a worker process: its share of the cores, and its own copy of the data."""
    global _worker
    os.environ["HARNESS_THREADS"] = str(threads)
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    _worker = (Workspace(experiment, base, given), CellStore(folder))


def _do(cell: Cell, wait: bool) -> Outcome:
    assert _worker is not None
    workspace, store = _worker
    return finish(cell, workspace, store, lambda stage, done, total: None, wait=wait)
