"""The cells of a pool that are not computed in this process: in child processes, or on Dask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.execution.children import Children
from harness.execution.interrupts import LOOK_SECONDS, Check
from harness.execution.outcome import Outcome

if TYPE_CHECKING:
    from harness.execution.dask import Cluster
    from harness.execution.pool import Pool
    from harness.experiment.plan import Cell


class Elsewhere:
    """The child processes or the cluster of a pool, begun when they are needed."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._children: dict[bool, Children] = {}
        """By whether they record what they read."""
        self._cluster: Cluster | None = None

    def close(self) -> None:
        """End the processes, or leave the cluster."""
        for children in self._children.values():
            children.close()
        if self._cluster is not None:
            self._cluster.close()

    def compute(
        self, cells: list[Cell], patience: float, check: Check, *, recorded: bool = False
    ) -> Iterator[tuple[Cell, Outcome | None]]:
        """Yield how each cell ended, in no set order; None if another run is computing it."""
        pool = self.pool
        if pool.plan.experiment.execution.executor == "dask":
            if self._cluster is None:
                from harness.execution.dask import connect

                self._cluster = connect(pool)
            for cell, outcome in self._cluster.compute(cells, check, recorded=recorded):
                # The lock is waited for only to store the cell: nothing is computed twice.
                store = partial(pool.finish, cell, partial(replace, outcome), LOOK_SECONDS)
                while (ended := store()) is None:
                    check()
                yield cell, ended
        else:
            if recorded not in self._children:
                self._children[recorded] = Children(pool, recorded=recorded)
            yield from self._children[recorded].compute(cells, patience, check)
