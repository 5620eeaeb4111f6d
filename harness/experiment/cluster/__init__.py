"""Cells on a Dask cluster.

::

    driver      this process: plans, sends tasks, stores finished cells
    shelf       the scheduler's store of data files, named by the hash of their content
    errands     a worker's thread: fetches data files once, passes the cell to a child process
    slot        a child process of a worker, which computes one cell at a time

A task names the cell and the config; data files are sent only to workers that lack them.
A cell has a process of its own, as with local workers, so that it can be stopped after its time
limit, may die without harm, draws from generators of its own and never keeps its worker from
answering the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.errors import ClusterError
from harness.experiment.cell import Outcome, Report
from harness.experiment.events import Watch
from harness.experiment.plan import Cell
from harness.experiment.workspace import Workspace
from harness.results.store import CellStore

__all__ = ["on_cluster"]


def on_cluster(
    cells: Sequence[Cell],
    workspace: Workspace,
    store: CellStore,
    workers: int,
    tell: Callable[[Cell], Report],
    watch: Watch,
    *,
    fresh: bool = False,
) -> Iterator[tuple[Cell, Outcome]]:
    """Send cells to the workers of a Dask cluster, and store their results.

    Dask runs the cells of a lost worker again elsewhere, and gives those that wait to workers that
    join late.

    Parameters
    ----------
    cells : sequence of Cell
    workspace : Workspace
        Its experiment names the scheduler.
    store : CellStore
    workers : int
        How many workers to wait for before the first cell.
    tell : callable
        Returns the report of a cell's stages.
    watch : callable
        Receives notes on workers.
    fresh : bool
        Store a cell even if it is there.

    Yields
    ------
    Cell, Outcome
        As they end.

    Raises
    ------
    ClusterError
        If Dask is not installed, no scheduler answers, no worker can be used, or the scheduler is
        lost on the way; what had finished is stored.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ClusterError(
            "execution.executor: dask needs distributed; pip install 'surprise-harness[dask]'"
        ) from None
    from harness.experiment.cluster.driver import Cluster, connected

    with connected(workspace) as client:
        cluster = Cluster(client, workspace, store, watch)
        cluster.wait_for(workers)
        yield from cluster.carry_out(cells, tell, fresh=fresh)
