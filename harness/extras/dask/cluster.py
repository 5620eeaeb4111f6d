"""Cells on a Dask cluster.

The driver packs the plan, with its ratings, into one task; Dask moves what it returns to the
workers that compute a cell, and packs it again if they are lost. Scheduler and refused workers need
no code of this package: what Dask itself reads is bytes and functions that are sent as code.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import pickle
import queue
import time
import uuid
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future as LocalFuture
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness._util.files import placed, read_regular
from harness.errors import ClusterError, counted, reason_of
from harness.experiment.execute.attempt import Outcome, portable
from harness.experiment.execute.pool import Executor
from harness.experiment.execute.processes import LOOK_SECONDS, Check, Task
from harness.experiment.execute.progress import Noted
from harness.extras.dask.worker import Packed, pack

if TYPE_CHECKING:
    from distributed import Client, Future

    from harness.experiment.execute.pool import Pool
    from harness.experiment.plan import Cell


PACKAGES = ("surprise-harness", "scikit-surprise")
"""Their versions must be the driver's on every worker."""
KNOCK_SECONDS = 6.0
"""Seconds to wait for an answer of an address; the message must come within ten."""
CONNECT_SECONDS = 30.0
"""Seconds to wait for a scheduler that has answered to accept a client."""
JOIN_SECONDS = 60.0
"""Seconds to wait for workers, unless `execution.join_timeout` is set."""

LOST = (
    "dask: the scheduler was lost; computed cells are cached: start it again, and run again to do "
    "the rest"
)


def connect(pool: Pool) -> Cluster:
    """Connect to the cluster that a config names, and wait for its workers."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ClusterError(
            "execution.executor: dask needs distributed; pip install 'surprise-harness[dask]'"
        ) from None
    scheduler = pool.plan.experiment.execution.scheduler or ""
    cluster = Cluster(_connect(_address(scheduler, pool.plan.document.folder)), pool)
    try:
        cluster.wait_for(pool.workers)
    except BaseException:
        cluster.close()
        raise
    return cluster


def _address(named: str, base: Path | None) -> str:
    """Return the address itself, or the one that a scheduler file holds."""
    host, _, port = named.rpartition(":")
    if "://" in named or (host and port.isdigit()):
        return named
    try:
        return str(json.loads(read_regular(placed(named, base)))["address"])
    except OSError as error:
        reason = f"neither an address nor a file that can be read ({reason_of(error)})"
    except (ValueError, LookupError, TypeError):
        reason = "a file without an address"
    raise ClusterError(
        f"execution.scheduler: {named}: {reason}; write tcp://host:8786, or give the file that "
        "`dask scheduler --scheduler-file` wrote"
    )


def _connect(address: str) -> Client:
    from distributed import Client
    from distributed.comm import connect
    from distributed.security import Security

    async def knock() -> None:
        """Check that a scheduler answers; the client itself would wait forever."""
        options = Security().get_connection_args("client")
        greeting = connect(address, timeout=KNOCK_SECONDS, **options)
        (await asyncio.wait_for(greeting, KNOCK_SECONDS)).abort()

    try:
        # In a thread, since a notebook has a loop of its own in this one.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(knock())).result()
        return Client(
            address, timeout=CONNECT_SECONDS, set_as_default=False, name="surprise-harness"
        )
    except Exception as error:  # what another program says there fails in any way
        raise ClusterError(
            f"execution.scheduler: no Dask scheduler answers at {address} "
            f"({reason_of(error)}); start one with `dask scheduler`, or fix the address"
        ) from None


class Submission(NamedTuple):
    """A cell on the cluster."""

    cell: Cell
    workers: frozenset[str]
    """The only ones that may compute it; empty where every worker may."""


class Cluster:
    """A connection for one run, and what the driver knows about the workers."""

    def __init__(self, client: Client, pool: Pool) -> None:
        self.client, self.pool = client, pool
        self.versions = {package: version(package) for package in PACKAGES}
        self.join_seconds = pool.plan.experiment.execution.join_timeout or JOIN_SECONDS
        self.checks: dict[str, LocalFuture[list[Any]]] = {}
        """By the address of a worker, its versions; they come when it answers."""
        self.refused: set[str] = set()
        self.empty_since: float | None = None
        """When the last worker was lost; None while there is one."""

    def close(self) -> None:
        """Leave the cluster; a lost scheduler needs no separate error."""
        with suppress(TimeoutError, OSError):
            self.client.close(timeout=2.0)

    def note(self, message: str) -> None:
        """Tell the watcher of the run."""
        self.pool.watch(Noted(f"dask: {message}"))

    def usable(self) -> dict[str, int]:
        """Return the threads of each worker that may be used; others are refused by name.

        A worker that has not answered yet, or is lost before it does, is not among them.
        """
        if self.client.status != "running":
            raise ClusterError(LOST)
        threads: dict[str, int] = self.client.nthreads()
        for address in sorted(threads.keys() - self.checks.keys()):
            self.checks[address] = self._in_loop(self._versions_at(address))
        wait([self.checks[address] for address in threads], timeout=LOOK_SECONDS)
        checked = [address for address in threads if self.checks[address].done()]
        return {address: threads[address] for address in checked if self._may_be_used(address)}

    def _may_be_used(self, address: str) -> bool:
        """Return whether a worker has answered with the versions of the driver."""
        for package, there in zip(PACKAGES, self.checks[address].result(), strict=True):
            here = self.versions[package]
            if there == here:
                continue
            if not isinstance(there, str | PackageNotFoundError):
                del self.checks[address]  # lost, or asked again if it is not
                return False
            if address not in self.refused:
                self.refused.add(address)
                state = f"is {there}" if isinstance(there, str) else "is not installed"
                self.note(
                    f"{address} refused: {package} {state} there, {here} here; "
                    f"pip install {package}=={here} there"
                )
        return address not in self.refused

    async def _versions_at(self, address: str) -> list[Any]:
        """Return the version of each package on a worker, or the error in its place."""
        answers: list[Any] = []
        for package in PACKAGES:
            try:
                arguments = {"workers": [address], "on_error": "return"}
                answers.append((await self.client.run(version, package, **arguments))[address])
            except Exception as error:  # it is lost, in any of many ways
                answers.append(error)
        return answers

    def _in_loop(self, coroutine: Coroutine[Any, Any, Any]) -> LocalFuture[Any]:
        """Run a coroutine in the thread of the client."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)

    def wait_for(self, n_workers: int) -> None:
        """Wait for workers that can be used; after `join_seconds`, one is enough."""
        end, n_before = time.monotonic() + self.join_seconds, -1
        while len(usable := self.usable()) < n_workers:
            if not usable and len(self.refused) >= n_workers:
                here = " with ".join(f"{package} {here}" for package, here in self.versions.items())
                raise ClusterError(
                    f"dask: every worker is refused, as none has {here}; install them there"
                )
            if time.monotonic() > end:
                if not usable:
                    raise ClusterError(
                        f"dask: no worker has joined within {self.join_seconds:g} s; start one "
                        "with `dask worker`, or raise execution.join_timeout"
                    )
                self.note(
                    f"{len(usable)} of {n_workers} workers have joined within "
                    f"{self.join_seconds:g} s; they begin, and others may follow"
                )
                break
            if len(usable) != n_before:
                n_before = len(usable)
                self.note(f"{n_before} of {n_workers} workers have joined; waiting")
            time.sleep(0.5)
        has_dashboard = "dashboard" in self.client.scheduler_info().get("services", {})
        where = f"; dashboard {self.client.dashboard_link}" if has_dashboard else ""
        at_once = counted(sum(usable.values()), "cell")
        self.note(f"{counted(len(usable), 'worker')}, {at_once} at a time{where}")

    def look(self) -> dict[str, int]:
        """Return the workers that may be used; raise an error if there was none for too long."""
        usable = self.usable()
        if usable and self.empty_since is not None:
            self.empty_since = None
            self.note(f"{counted(len(usable), 'worker')} there again")
        if usable:
            return usable
        if self.empty_since is None:
            self.empty_since = time.monotonic()
            self.note(f"no worker is left; waiting {self.join_seconds:g} s for one to join")
        if time.monotonic() - self.empty_since > self.join_seconds:
            raise ClusterError(
                f"dask: all workers were lost, and none has joined within {self.join_seconds:g} s; "
                "computed cells are cached: start workers, and run again to do the rest"
            )
        return usable

    def compute(
        self, cells: Sequence[Cell], check: Check, *, recorded: bool = False
    ) -> Iterator[tuple[Cell, Outcome]]:
        """Submit every cell, and yield it when it has ended; or raise a ClusterError."""
        try:
            yield from self._compute(cells, check, recorded)
        except OSError:  # of a request to the scheduler: what goes wrong elsewhere is an outcome
            raise ClusterError(LOST) from None

    def _compute(
        self, cells: Sequence[Cell], check: Check, recorded: bool
    ) -> Iterator[tuple[Cell, Outcome]]:
        from dask import config

        numbers = dict(zip(map(attrgetter("key"), cells), enumerate(cells), strict=True))
        packed = pack(portable(self.pool))
        job, topic = hashlib.sha256(packed[0]).hexdigest(), f"harness-{uuid.uuid4().hex}"
        limit, versions = self.pool.plan.experiment.execution.time_limit, self.versions
        news: queue.SimpleQueue[tuple[Future, LocalFuture[Any]] | str] = queue.SimpleQueue()
        self.client.subscribe_topic(topic, lambda event: news.put(event[1]))

        # Functions of a function have no module to be imported from, so Dask sends them as code.
        def hold(packed: Packed) -> Packed:
            return packed

        def compute(packed: Packed, request: bytes) -> bytes | None:
            from importlib.metadata import version

            from distributed import get_worker

            checked = vars(get_worker()).setdefault("_harness_versions", {})
            if checked != versions:  # once a worker: to read versions takes milliseconds
                if [*map(version, versions)] != [*versions.values()]:
                    return None
                checked |= versions

            # Dask sends this function by its value, past a scheduler without this package.
            from harness.extras.dask.worker import work

            return work(packed, job, request, limit, topic)

        def submit(cell: Cell) -> None:
            lists = tuple(self.pool.lists_of(cell))
            request = pickle.dumps(Task(cell, n_at_once, 1, recorded, lists))
            workers = frozenset(usable if self.refused else ())
            future = self.client.submit(
                compute,
                data,
                request,
                key=f"cell-{cell.key[:16]}-{uuid.uuid4().hex}",
                workers=sorted(workers) or None,
                priority=-numbers[cell.key][0],  # Dask itself orders what comes at once as it likes
                pure=False,
            )
            pending[future] = Submission(cell, workers)
            # A result that is lost with its worker is awaited again, while others are received.
            result = self._in_loop(_result_of(future))
            result.add_done_callback(lambda result: news.put((future, result)))

        pending: dict[Future, Submission] = {}
        usable = self.look()
        n_at_once = sum(usable.values())
        with config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            data = self.client.submit(hold, packed, key=f"plan-{job}-{uuid.uuid4().hex}")
            for cell in cells:
                submit(cell)
        looked = time.monotonic()
        try:
            while pending:
                check()
                if time.monotonic() - looked > LOOK_SECONDS:
                    usable, looked = self.look(), time.monotonic()
                    for future in _stranded(pending, usable):
                        self.client.cancel([future])
                        submit(pending.pop(future).cell)
                try:
                    answer = news.get(timeout=LOOK_SECONDS)
                except queue.Empty:
                    continue
                if isinstance(answer, str):
                    self.pool.report(numbers[answer][1], "fitting", 0, 0)
                    continue
                future, result = answer
                if future not in pending:  # it was cancelled here
                    continue
                cell = pending.pop(future).cell
                outcome = self.outcome(result.result())
                future.release()
                if outcome is None:
                    usable = self.look()
                    submit(cell)
                else:
                    yield cell, outcome
        finally:
            # Work is left only after an interrupt or an error: nobody waits for it.
            if self.client.status == "running":
                self.client.cancel([*pending, data] if pending else [])
                self.client.unsubscribe_topic(topic)

    def outcome(self, result: bytes | BaseException | None) -> Outcome | None:
        """Return how a task ended; None if it has to be submitted again."""
        from distributed import KilledWorker

        if isinstance(result, bytes):
            outcome: Outcome = pickle.loads(result)
            return outcome
        if self.client.status != "running" or isinstance(result, OSError):
            raise ClusterError(LOST)
        if isinstance(result, KilledWorker):
            return Outcome(
                error=f"{result.allowed_failures + 1} workers died while they computed it, perhaps "
                "out of memory; use workers with more memory or fewer threads"
            )
        # Cancelled by the scheduler, or a worker with another version.
        if result is None or not isinstance(result, Exception):
            return None
        # A worker without the package cannot even begin.
        n_refused = len(self.refused)
        self.usable()
        if len(self.refused) > n_refused:
            return None
        return Outcome(error=f"{type(result).__name__}: {reason_of(result)}")


async def _result_of(future: Future) -> object:
    """Return the result of a task, or the error that it raised or was cancelled with."""
    try:
        return await future
    except BaseException as error:
        return error


def _stranded(pending: dict[Future, Submission], usable: dict[str, int]) -> list[Future]:
    """Return the tasks that may run only on lost workers."""
    return [
        future
        for future, submission in pending.items()
        if usable and submission.workers and submission.workers.isdisjoint(usable)
    ]


class Dask(Executor):
    """Cells on a cluster of Dask: `execution: {executor: dask, scheduler: ADDRESS}`."""

    def __init__(self, pool: Pool) -> None:
        self._cluster = connect(pool)

    def compute(
        self, cells: list[Cell], check: Check, *, recorded: bool = False
    ) -> Iterator[tuple[Cell, Outcome]]:
        yield from self._cluster.compute(cells, check, recorded=recorded)

    def close(self) -> None:
        self._cluster.close()
