"""The child processes of a pool: an idle one is used again, and all end with it."""

from __future__ import annotations

import pickle
import queue
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.execution.attempt import portable
from harness.execution.child_interrupts import interrupts_ignored
from harness.execution.interrupts import LOOK_SECONDS, Check
from harness.execution.outcome import Outcome
from harness.execution.processes import ChildProcess, Task
from harness.kernels import n_threads

if TYPE_CHECKING:
    from harness.execution.pool import Pool
    from harness.experiment.plan import Cell


class Children:
    """Processes that compute the cells of a pool, begun when they are needed."""

    def __init__(self, pool: Pool, *, recorded: bool = False) -> None:
        self.pool, self.recorded = pool, recorded
        self._open = True
        self._children: list[ChildProcess] = []
        self._idle: list[ChildProcess] = []

    def close(self) -> None:
        """End them all; one that is begun later ends too."""
        self._open = False
        for child in self._children:
            child.close()

    def compute(
        self, cells: list[Cell], patience: float, check: Check
    ) -> Iterator[tuple[Cell, Outcome | None]]:
        """Compute cells in child processes, with a thread for each that waits for its answers."""
        size = min(self.pool.workers, len(cells))
        threads, limit = max(1, n_threads() // size), self.pool.plan.experiment.execution.time_limit
        news: queue.SimpleQueue[Future[Outcome | None] | tuple[Cell, str, int, int]]
        news = queue.SimpleQueue()

        def compute(cell: Cell) -> Outcome:
            try:
                child, task = self._child(threads), Task(cell, size, threads)
            except (HarnessError, OSError) as error:
                return Outcome.failed(error)
            outcome = child.compute(task, lambda *stage: news.put((cell, *stage)), limit)
            self._idle.append(child)
            return outcome

        workers = ThreadPoolExecutor(size)
        pending: dict[Future[Outcome | None], Cell] = {}
        try:
            for cell in cells:
                future = workers.submit(self.pool.finish, cell, partial(compute, cell), patience)
                pending[future] = cell
                future.add_done_callback(news.put)
            while pending:
                check()
                with suppress(queue.Empty):
                    answer = news.get(timeout=LOOK_SECONDS)
                    if isinstance(answer, tuple):
                        self.pool.report(*answer)
                    else:  # what went wrong beside a cell ends the run
                        ended = answer.result()
                        yield pending.pop(answer), ended
        finally:
            # Interrupted, or failed: what is under way is not waited for. Another Ctrl-C in between
            # would leave a thread and its child waiting for each other.
            with interrupts_ignored() if pending else nullcontext():
                if pending:
                    self.pool.__exit__(None, None, None)
                workers.shutdown(cancel_futures=True)

    def _child(self, threads: int) -> ChildProcess:
        """Return an idle child process, or a new one."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                if (child := self._idle.pop()).usable:
                    return child
                child.close()
        child = ChildProcess(threads, recorded=self.recorded)
        self._children.append(child)
        if not self._open:
            child.close()
        return child.begin(lambda stream: pickle.dump(portable(self.pool), stream))
