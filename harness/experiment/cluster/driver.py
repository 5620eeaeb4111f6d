"""The driver of a cluster: sends tasks, receives finished cells."""

from __future__ import annotations

import asyncio
import hashlib
import json
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import ClusterError, HarnessError
from harness.experiment.cell import Outcome, Report
from harness.experiment.cluster import parcels, shelf
from harness.experiment.cluster.errands import PACKAGES, run_errand, versions_here
from harness.experiment.events import Note, Watch
from harness.experiment.interrupts import interrupts_kept
from harness.experiment.plan import Cell
from harness.experiment.workspace import Workspace
from harness.files import read_regular
from harness.results.store import CellRecord, CellStore
from harness.splits import Split

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Cluster", "connected"]

KNOCK_SECONDS = 6.0
"""Seconds to wait for an answer of an address; the message must come within ten."""
CONNECT_SECONDS = 30.0
"""Seconds to wait for a scheduler that has answered to accept a client."""
LOOK_SECONDS = 2.0
FROM_FILES = ("predefined", "file")

Errand = dict[str, Any]
"""What `harness.experiment.cluster.errands.run_errand` takes."""


@contextmanager
def connected(workspace: Workspace) -> Iterator[Client]:
    """Connect to the scheduler that the config names.

    Raises
    ------
    ClusterError
        If none answers within a few seconds.
    """
    import cloudpickle
    from distributed import Client

    # The module is sent as code, so that the scheduler needs only Dask.
    cloudpickle.register_pickle_by_value(shelf)
    named = workspace.experiment.execution.scheduler or ""
    address = _address(named, workspace.base)
    try:
        # In a thread, since a notebook has a loop of its own in this one.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _knock(address)).result()
        client = Client(
            address, timeout=CONNECT_SECONDS, set_as_default=False, name="surprise-harness"
        )
    except (OSError, ValueError, ImportError, TypeError, RuntimeError) as error:
        raise ClusterError(
            f"execution.scheduler: no Dask scheduler answers at {address} "
            f"({_first_line(error)}); start one with `dask scheduler`, or fix the address"
        ) from None
    try:
        yield client
    finally:
        # Leaving a lost scheduler behind needs no error of its own.
        with suppress(TimeoutError, OSError):
            client.close(timeout=LOOK_SECONDS)


async def _knock(address: str) -> None:
    """Check that a scheduler answers; the client itself would wait forever."""
    from distributed.comm import connect
    from distributed.security import Security

    options = Security().get_connection_args("client")
    greeting = connect(address, timeout=KNOCK_SECONDS, **options)
    (await asyncio.wait_for(greeting, KNOCK_SECONDS)).abort()


def _address(named: str, base: Path | None) -> str:
    """Return the address itself, or the one that a scheduler file holds.

    Raises
    ------
    ClusterError
        If there is no such file, or it holds none.
    """
    host, _, port = named.rpartition(":")
    if "://" in named or (host and port.isdigit()):
        return named
    path = (base or Path()) / Path(named).expanduser()
    try:
        return str(json.loads(read_regular(path))["address"])
    except OSError as error:
        reason = f"neither an address nor a file that can be read ({error.strerror})"
    except (ValueError, LookupError, TypeError):
        reason = "a file without an address"
    raise ClusterError(
        f"execution.scheduler: {named}: {reason}; write tcp://host:8786, or give the file that "
        "`dask scheduler --scheduler-file` wrote"
    )


class Cluster:
    """A connection, and what the driver knows about scheduler and workers.

    Parameters
    ----------
    client : distributed.Client
    workspace : Workspace
    store : CellStore
    watch : callable
        Receives notes on workers.
    """

    def __init__(
        self, client: Client, workspace: Workspace, store: CellStore, watch: Watch
    ) -> None:
        self.client = client
        self.workspace = workspace
        self.store = store
        self.watch = watch
        self.checked: set[str] = set()
        self.refused: set[str] = set()
        self.news: queue.SimpleQueue[Future | str] = queue.SimpleQueue()
        """Tasks that have ended, and the keys of cells that have begun."""

    def wait_for(self, n_workers: int) -> None:
        """Wait until enough workers have joined that can be used.

        Raises
        ------
        ClusterError
            If as many have joined, and none of them can be used.
        """
        said = -1
        while True:
            self._refuse_foreign()
            usable = self._usable()
            n_usable = len(usable)
            if n_usable >= n_workers:
                break
            if not usable and len(self.refused) >= n_workers:
                raise ClusterError(
                    f"dask: every worker is refused, as none has {PACKAGES[0]} "
                    f"{version(PACKAGES[0])} with {PACKAGES[1]} {version(PACKAGES[1])}; install "
                    "them there"
                )
            if n_usable != said:
                self.watch(Note(f"dask: {n_usable} of {n_workers} workers have joined; waiting"))
                said = n_usable
            self._check_scheduler()
            time.sleep(min(LOOK_SECONDS, 0.5))
        link = self.client.dashboard_link
        where = f"; dashboard {link}" if self._has_dashboard() else ""
        at_once = _counted(sum(usable.values()), "cell")
        self.watch(Note(f"dask: {_counted(n_usable, 'worker')}, {at_once} at a time{where}"))

    def carry_out(
        self, cells: Sequence[Cell], tell: Callable[[Cell], Report], *, fresh: bool
    ) -> Iterator[tuple[Cell, Outcome]]:
        """Submit every cell, and yield it when it has ended."""
        errands = self._errands(cells)
        reports = {cell.key: tell(cell) for cell in cells}
        topic = f"harness-{errands[0]['job']}"
        self.client.subscribe_topic(topic, lambda event: self.news.put(event[1]))
        pending: dict[Future, tuple[Cell, Errand]] = {
            self._submit(errand): (cell, errand)
            for cell, errand in zip(cells, errands, strict=True)
        }
        n_usable = len(self._usable())
        with interrupts_kept() as check:
            try:
                while pending:
                    check()
                    try:
                        news = self.news.get(timeout=LOOK_SECONDS)
                    except queue.Empty:
                        n_usable = self._look(n_usable)
                        continue
                    if isinstance(news, str):
                        if news in reports:
                            reports[news]("fitting", 0, 0)
                        continue
                    cell, errand = pending.pop(news)
                    outcome = self._outcome(cell, news, fresh)
                    if outcome is None:
                        pending[self._submit(errand)] = (cell, errand)
                        continue
                    yield cell, outcome
            finally:
                # Reached with work left only by an interrupt or an error: nobody waits for it.
                if pending and self.client.status == "running":
                    self.client.cancel(list(pending))

    def _errands(self, cells: Sequence[Cell]) -> list[Errand]:
        """Describe each cell, and send the data that workers may need to the scheduler."""
        experiment = self.workspace.experiment
        whole = [self.workspace.ratings(position)[0] for position in range(len(experiment.dataset))]
        for ratings in whole:
            name = parcels.name_of_ratings(ratings)
            if not self._held(name):
                self._send(name, parcels.pack_ratings(ratings))
        job = {
            "experiment": experiment.model_dump_json(),
            "data": [parcels.name_of_ratings(ratings) for ratings in whole],
            "folds": self._send_folds(cells),
            "versions": versions_here(),
        }
        text = json.dumps(job, sort_keys=True)
        job["job"] = hashlib.sha256(text.encode()).hexdigest()
        common = {
            **job,
            "limit": experiment.execution.time_limit,
            "workers": sum(self._usable().values()),
        }
        return [{**common, "cell": asdict(cell)} for cell in cells]

    def _send_folds(self, cells: Sequence[Cell]) -> dict[str, str]:
        """Send the splits that are read from files, which workers do not have."""
        experiment, named = self.workspace.experiment, {}
        for cell in cells:
            section = experiment.split[cell.split]
            inner = experiment.tuning.validation_of(section)
            place = f"{cell.dataset},{cell.split},{cell.seed}"
            if section.kind in FROM_FILES and place not in named:
                folds = self.workspace.splits(cell.dataset, cell.split, cell.seed)
                named[place] = self._send_splits(folds)
            if cell.inner and inner.kind in FROM_FILES:
                place += f",{cell.fold}"
                if place not in named:
                    named[place] = self._send_splits([self.workspace.split(cell)])
        return named

    def _send_splits(self, folds: list[Split]) -> str:
        name = parcels.name_of_splits(folds)
        if not self._held(name):
            self._send(name, parcels.pack_splits(folds))
        return name

    def _held(self, name: str) -> bool:
        with self._connected():
            return bool(self.client.run_on_scheduler(shelf.held, [name]))

    def _send(self, name: str, data: bytes) -> None:
        writer = uuid.uuid4().hex
        for start in range(0, len(data), shelf.PIECE):
            piece = data[start : start + shelf.PIECE]
            last = start + shelf.PIECE >= len(data)
            with self._connected():
                fault = self.client.run_on_scheduler(shelf.add, name, writer, piece, last)
            if fault:
                raise ClusterError(
                    f"dask: the scheduler cannot keep the data ({fault}); free space in its "
                    "temporary folder, or start it with TMPDIR set to another one"
                )

    def _submit(self, errand: Errand) -> Future:
        future = self.client.submit(
            run_errand,
            errand,
            key=f"cell-{errand['cell']['key'][:16]}-{uuid.uuid4().hex}",
            workers=sorted(self._usable()) if self.refused else None,
            pure=False,
        )
        future.add_done_callback(self.news.put)
        return future

    def _outcome(self, cell: Cell, future: Future, fresh: bool) -> Outcome | None:
        """Store a finished cell; None if it has to be submitted again."""
        try:
            if future.status == "error":
                return self._failure(future.exception())
            if future.status != "finished":  # cancelled with the connection
                raise self._lost()
            outcome: Outcome
            outcome, body = future.result()
        except OSError:  # of a connection: what goes wrong on a worker is in its outcome
            raise self._lost() from None
        finally:
            future.release()
        if outcome["status"] == "failed":
            return None if self._is_foreign(outcome) else outcome
        try:
            record = CellRecord.from_bytes(body, cell.key)
            with self.store.lock(cell.key):
                if not fresh and self.store.is_whole(cell.key):
                    return {**outcome, "status": "found"}
                self.store.put(cell.key, record)
        except (HarnessError, OSError) as error:
            return {**outcome, "status": "failed", "error": f"{outcome['worker']}: {error}"}
        return outcome

    def _failure(self, error: BaseException) -> Outcome | None:
        """Return why a task failed; None if it has to be submitted again."""
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            reason = (
                f"{error.allowed_failures + 1} workers died while they computed it, perhaps "
                "out of memory; "
                "use workers with more memory or fewer threads"
            )
        elif self._refuse_foreign():
            return None  # a worker of another version may not even be able to read an errand
        else:
            reason = f"{type(error).__name__}: {_first_line(error)}"
        return {"status": "failed", "seconds": 0.0, "error": reason}

    def _is_foreign(self, outcome: Outcome) -> bool:
        """Return whether a cell failed on a worker that is refused, or turns out to be."""
        self._refuse_foreign()
        return outcome.get("worker") in self.refused

    def _refuse_foreign(self) -> set[str]:
        """Find workers with other versions than the driver's; return those newly refused."""
        unknown = sorted(set(self._threads()) - self.checked)
        self.checked |= set(unknown)
        newly: set[str] = set()
        for package in PACKAGES if unknown else ():
            here = version(package)
            with self._connected():
                found = self.client.run(version, package, workers=unknown, on_error="return")
            for address, there in found.items():
                if there == here or address in newly:
                    continue
                if isinstance(there, Exception) and not isinstance(there, PackageNotFoundError):
                    self.checked.discard(address)  # lost, or asked again if it is not
                    continue
                newly.add(address)
                has = f"is {there}" if isinstance(there, str) else "is not installed"
                self.watch(
                    Note(
                        f"dask: {address} refused: {package} {has} there, {here} here; "
                        f"pip install {package}=={here} there"
                    )
                )
        self.refused |= newly
        return newly

    def _usable(self) -> dict[str, int]:
        """Return the threads of each worker that may be used, by address."""
        return {each: n for each, n in self._threads().items() if each not in self.refused}

    def _threads(self) -> dict[str, int]:
        """Return the threads of every worker that has joined, by address."""
        with self._connected():
            threads: dict[str, int] = self.client.nthreads()
        return threads

    def _look(self, n_before: int) -> int:
        """Say when no worker is left; return how many there are."""
        self._check_scheduler()
        self._refuse_foreign()
        n_usable = len(self._usable())
        if n_before and not n_usable:
            self.watch(Note("dask: no worker is left; waiting for one to join"))
        elif n_usable and not n_before:
            self.watch(Note(f"dask: {_counted(n_usable, 'worker')} there again"))
        return n_usable

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Raise a clear error if a request to the scheduler fails."""
        try:
            yield
        except OSError:
            raise self._lost() from None

    def _check_scheduler(self) -> None:
        if self.client.status != "running":
            raise self._lost()

    def _lost(self) -> ClusterError:
        return ClusterError(
            "dask: the scheduler was lost; finished cells are kept: start it again, and run again "
            "to do the rest"
        )

    def _has_dashboard(self) -> bool:
        with self._connected():
            services = self.client.scheduler_info().get("services", {})
        return "dashboard" in services


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
