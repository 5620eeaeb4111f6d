"""Cells on a Dask cluster.

The driver packs the plan, with its ratings, into one task; Dask moves what it returns to the
workers that compute a cell, and packs it again if they are lost. A worker passes each cell to a
child process, as a local run does, so that a cell can be stopped, may die without harm, and never
keeps its worker from answering the scheduler. Scheduler and refused workers need no code of this
package: what Dask itself reads is bytes and functions that are sent as code.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import pickle
import queue
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ClusterError, HarnessError, counted, reason_of
from harness.experiment.cell import Outcome
from harness.experiment.plan import Cell, Plan
from harness.experiment.pool import LOOK_SECONDS, Check, ChildProcess, Note, Pool, Task
from harness.files import placed, read_regular
from harness.kernels import n_threads
from harness.lazy import pa

if TYPE_CHECKING:
    from distributed import Client, Future, Worker

PACKAGES = ("surprise-harness", "scikit-surprise")
"""Their versions must be the driver's on every worker."""
KNOCK_SECONDS = 6.0
"""Seconds to wait for an answer of an address; the message must come within ten."""
CONNECT_SECONDS = 30.0
"""Seconds to wait for a scheduler that has answered to accept a client."""

LOST = (
    "dask: the scheduler was lost; finished cells are kept: start it again, and run again to do "
    "the rest"
)

Packed = tuple[bytes, int]
"""Compressed bytes, and how many they are unpacked."""


def on_cluster(cells: Sequence[Cell], pool: Pool, check: Check) -> Iterator[tuple[Cell, Outcome]]:
    """Compute cells on the workers of the cluster that a config names, or raise a ClusterError."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ClusterError(
            "execution.executor: dask needs distributed; pip install 'surprise-harness[dask]'"
        ) from None
    named = pool.plan.experiment.execution.scheduler or ""
    client = _connect(_address(named, pool.plan.document.folder))
    cluster = _Cluster(client, pool)
    try:
        cluster.wait_for(pool.workers)
        yield from cluster.compute(cells, check)
    except OSError:  # of a request to the scheduler: what goes wrong elsewhere is an outcome
        raise ClusterError(LOST) from None
    finally:
        with suppress(TimeoutError, OSError):  # leaving a lost scheduler needs no error of its own
            client.close(timeout=2.0)


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


class _Cluster:
    """A connection, and what the driver knows about the workers."""

    def __init__(self, client: Client, pool: Pool) -> None:
        self.client, self.pool = client, pool
        self.versions = {package: version(package) for package in PACKAGES}
        self.checked: set[str] = set()
        self.refused: set[str] = set()

    def note(self, message: str) -> None:
        self.pool.watch(Note(f"dask: {message}"))

    def usable(self) -> dict[str, int]:
        """Return the threads of each worker that may be used; others are refused by name."""
        if self.client.status != "running":
            raise ClusterError(LOST)
        threads: dict[str, int] = self.client.nthreads()
        unknown = sorted(set(threads) - self.checked)
        self.checked |= set(unknown)
        for package, here in self.versions.items() if unknown else ():
            found = self.client.run(version, package, workers=unknown, on_error="return")
            for address, there in found.items():
                if there == here or address in self.refused:
                    continue
                if isinstance(there, Exception) and not isinstance(there, PackageNotFoundError):
                    self.checked.discard(address)  # lost, or asked again if it is not
                    continue
                self.refused.add(address)
                has = f"is {there}" if isinstance(there, str) else "is not installed"
                self.note(
                    f"{address} refused: {package} {has} there, {here} here; "
                    f"pip install {package}=={here} there"
                )
        return {each: n for each, n in threads.items() if each not in self.refused}

    def wait_for(self, n_workers: int) -> None:
        """Wait until enough workers have joined that can be used."""
        n_before = -1
        while len(usable := self.usable()) < n_workers:
            if not usable and len(self.refused) >= n_workers:
                here = " with ".join(f"{package} {own}" for package, own in self.versions.items())
                raise ClusterError(
                    f"dask: every worker is refused, as none has {here}; install them there"
                )
            if len(usable) != n_before:
                n_before = len(usable)
                self.note(f"{n_before} of {n_workers} workers have joined; waiting")
            time.sleep(0.5)
        has_dashboard = "dashboard" in self.client.scheduler_info().get("services", {})
        where = f"; dashboard {self.client.dashboard_link}" if has_dashboard else ""
        at_once = counted(sum(usable.values()), "cell")
        self.note(f"{counted(len(usable), 'worker')}, {at_once} at a time{where}")

    def compute(self, cells: Sequence[Cell], check: Check) -> Iterator[tuple[Cell, Outcome]]:
        """Submit every cell, and yield it when it has ended."""
        from dask import config

        plan = self.pool.plan
        numbered = {cell.key: (number, cell) for number, cell in enumerate(cells)}
        packed = pack(plan)
        job, topic = hashlib.sha256(packed[0]).hexdigest(), f"harness-{uuid.uuid4().hex}"
        limit, versions = plan.experiment.execution.time_limit, self.versions
        news: queue.SimpleQueue[Future | str] = queue.SimpleQueue()
        self.client.subscribe_topic(topic, lambda event: news.put(event[1]))

        # Functions of a function have no module to be imported from, so Dask sends them as code.
        def hold(packed: Packed) -> Packed:
            return packed

        def compute(packed: Packed, request: bytes) -> bytes | None:
            from importlib.metadata import version

            from distributed import get_worker

            checked = vars(get_worker()).setdefault("_harness_versions", {})
            if checked != versions:  # once a worker: to read versions takes milliseconds
                if any(version(package) != here for package, here in versions.items()):
                    return None
                checked |= versions
            from harness.experiment.dask import work

            return work(packed, job, request, limit, topic)

        def submit(cell: Cell) -> Future:
            number, request = numbered[cell.key][0], pickle.dumps(Task(cell, n_at_once, 1))
            future = self.client.submit(
                compute,
                data,
                request,
                key=f"cell-{cell.key[:16]}-{uuid.uuid4().hex}",
                workers=sorted(usable) if self.refused else None,
                priority=-number,  # Dask itself orders what comes at once as it likes
                pure=False,
            )
            future.add_done_callback(news.put)
            return future

        usable = self.usable()
        n_at_once = sum(usable.values())
        with config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            data = self.client.submit(hold, packed, key=f"plan-{job}-{uuid.uuid4().hex}")
            pending = {submit(cell): cell for cell in cells}
        try:
            while pending:
                check()
                try:
                    ended = news.get(timeout=LOOK_SECONDS)
                except queue.Empty:
                    before, usable = usable, self.usable()
                    if before and not usable:
                        self.note("no worker is left; waiting for one to join")
                    elif usable and not before:
                        self.note(f"{counted(len(usable), 'worker')} there again")
                    continue
                if isinstance(ended, str):
                    self.pool.report(numbered[ended][1], "fitting", 0, 0)
                    continue
                cell, outcome = pending.pop(ended), self.outcome(ended)
                if outcome is None:
                    usable = self.usable()
                    pending[submit(cell)] = cell
                else:
                    yield cell, outcome
        finally:
            # Work is left only after an interrupt or an error: nobody waits for it.
            if pending and self.client.status == "running":
                self.client.cancel([*pending, data])

    def outcome(self, future: Future) -> Outcome | None:
        """Return how a task ended; None if it has to be submitted again."""
        from distributed import KilledWorker

        if future.status not in ("error", "finished"):  # cancelled with the connection
            raise ClusterError(LOST)
        try:
            answer = future.result()
        except OSError:
            raise ClusterError(LOST) from None
        except KilledWorker as error:
            return Outcome(
                error=f"{error.allowed_failures + 1} workers died while they computed it, perhaps "
                "out of memory; use workers with more memory or fewer threads"
            )
        except Exception as error:
            # A worker without the package, or with another version, cannot even begin.
            refused = len(self.refused)
            self.usable()
            if len(self.refused) > refused:
                return None
            return Outcome(error=f"{type(error).__name__}: {reason_of(error)}")
        finally:
            future.release()
        return None if answer is None else pickle.loads(answer)


def pack(plan: Plan) -> Packed:
    """Return a plan for another process as compressed bytes."""
    data = pickle.dumps(plan.portable())
    return pa.compress(data, "zstd", asbytes=True), len(data)


_idle: list[tuple[str, ChildProcess]] = []
"""On a worker: child processes without a cell, and the job whose plan they have."""
_lock = threading.Lock()


def work(packed: Packed, job: str, request: bytes, limit: float | None, topic: str) -> bytes:
    """Compute one cell on this worker."""
    from distributed import get_worker

    worker = get_worker()
    # A worker computes a cell in each of its threads, so a cell has one thread by default.
    threads = n_threads() if "HARNESS_THREADS" in os.environ else 1
    task: Task = pickle.loads(request)._replace(threads=threads)
    worker.log_event(topic, task.cell.key)
    try:
        child = _child(packed, job, threads)
    except (HarnessError, OSError) as error:
        return pickle.dumps(Outcome.failed(HarnessError(f"{worker.address}: {error}")))
    ended, key = threading.Event(), worker.get_current_task()
    watcher = threading.Thread(target=_watch, args=(worker, key, child, ended), daemon=True)
    watcher.start()
    outcome = child.compute(task, lambda stage, done, total: None, limit)
    ended.set()
    watcher.join()
    with _lock:
        _idle.append((job, child))
    return pickle.dumps(outcome)


def _child(packed: Packed, job: str, threads: int) -> ChildProcess:
    """Return an idle child process that has a job's plan, or a new one; end the others."""
    with _lock:
        while _idle:
            owner, child = _idle.pop()
            if owner == job and child.usable:
                return child
            child.close()
    data, size = packed
    started = ChildProcess(threads)
    return started.begin(lambda stream: stream.write(pa.decompress(data, size, "zstd")))


def _watch(worker: Worker, key: object, child: ChildProcess, ended: threading.Event) -> None:
    """Kill a child whose task was cancelled, or whose driver is gone: it would run to its end."""
    while not ended.wait(LOOK_SECONDS):
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            child.process.kill()
            return
