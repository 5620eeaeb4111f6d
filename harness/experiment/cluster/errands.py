"""What a Dask worker does with a cell: fetch missing data, pass the cell to a child process."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.datasets import cache_folder
from harness.errors import HarnessError
from harness.experiment.cluster import shelf
from harness.experiment.cluster.slot import Slot
from harness.files import hold, write_whole

if TYPE_CHECKING:
    from distributed import Worker

__all__ = ["PACKAGES", "Slots", "parcel_path", "run_errand", "versions_here"]

IDLE_SECONDS = 120.0
DAYS_KEPT = 30.0
PACKAGES = ("surprise-harness", "scikit-surprise")


class Slots:
    """The child processes of one worker: one for each cell at a time, ended after a long idle time.

    Parameters
    ----------
    idle : float
        Seconds after which a child without work is ended.
    """

    def __init__(self, idle: float = IDLE_SECONDS) -> None:
        self.idle = idle
        self.free: list[tuple[str, Slot]] = []
        self.lock = threading.Lock()
        self.timer: threading.Timer | None = None

    def take(self, job: str) -> Slot:
        """Return a free child, if possible one with the job's data in memory."""
        with self.lock:
            self._end(lambda owner, slot: not slot.alive)
            place = next((i for i, (owner, _) in enumerate(self.free) if owner == job), None)
            if place is not None:
                return self.free.pop(place)[1]
            # Data of other jobs would stay in memory for nothing.
            self._end(lambda owner, slot: owner != job)
        return Slot(_threads())

    def give_back(self, job: str, slot: Slot) -> None:
        """Release a child."""
        with self.lock:
            self.free.append((job, slot))
            if self.timer is None:
                self._wind_up()

    def _wind_up(self) -> None:
        self.timer = threading.Timer(self.idle + 0.1, self._end_idle)
        self.timer.daemon = True
        self.timer.start()

    def _end_idle(self) -> None:
        with self.lock:
            self._end(lambda owner, slot: time.monotonic() - slot.idle_since >= self.idle)
            self.timer = None
            if self.free:
                self._wind_up()

    def _end(self, doomed: Callable[[str, Slot], bool]) -> None:
        for each in [each for each in self.free if doomed(*each)]:
            self.free.remove(each)
            each[1].close()


SLOTS = Slots()


def run_errand(errand: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Compute one cell on this worker.

    Parameters
    ----------
    errand : dict
        ``job``, ``experiment``, ``data``, ``folds`` and ``cell`` as in a request, but with
        names of data files in place of paths; ``limit`` in seconds, or None; ``versions``, those of
        the driver.

    Returns
    -------
    outcome : dict
        With ``worker``, this one's address.
    body : bytes
        The finished cell; empty when it failed.
    """
    from distributed import get_worker

    begun = time.perf_counter()
    worker = get_worker()
    if versions_here() != errand["versions"]:
        # Its driver finds out which they are, and says so.
        error = f"{worker.address}: other versions than the driver's"
        return {"status": "failed", "error": error, "seconds": 0.0, "worker": worker.address}, b""
    slot = SLOTS.take(errand["job"])
    try:
        worker.log_event(f"harness-{errand['job']}", errand["cell"]["key"])
        wanted = _wanted_by(worker)
        outcome, body = slot.ask(_request(errand), errand["limit"], wanted)
        if "broken" in outcome:  # the disk, or a worker killed long ago: once more from the shelf
            Path(outcome["broken"]).unlink(missing_ok=True)
            outcome, body = slot.ask(_request(errand), errand["limit"], wanted)
    except (HarnessError, OSError) as error:
        seconds = time.perf_counter() - begun
        outcome = {"status": "failed", "error": f"{worker.address}: {error}", "seconds": seconds}
        body = b""
    finally:
        SLOTS.give_back(errand["job"], slot)
    return {**outcome, "worker": worker.address}, body


def _wanted_by(worker: Worker) -> Callable[[], bool]:
    """Return a check of whether the driver still waits for the task of this thread.

    Otherwise a task whose driver has cancelled it, or is gone, would run to its end.
    """
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted


def versions_here() -> dict[str, str]:
    """Return the versions that driver and workers have to share.

    Examples
    --------
    >>> sorted(versions_here())
    ['scikit-surprise', 'surprise-harness']
    """
    return {package: version(package) for package in PACKAGES}


def parcel_path(name: str) -> Path:
    """Return the path of a data file: in the worker's cache, or in a temporary folder.

    Examples
    --------
    >>> getfixture("monkeypatch").setenv("HARNESS_CACHE", str(getfixture("tmp_path")))
    >>> parcel_path("ratings-1-ab").parent.name
    'parcels'
    """
    folder = cache_folder() / "parcels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder / name
    except OSError:
        user = hashlib.sha256(str(Path.home()).encode()).hexdigest()[:12]
        folder = Path(tempfile.gettempdir()) / f"harness-parcels-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / name


def _request(errand: dict[str, Any]) -> dict[str, Any]:
    """Return the request for a child process, with paths of existing data files."""
    return {
        **{key: errand[key] for key in ("job", "experiment", "cell", "workers")},
        "data": [str(_present(name)) for name in errand["data"]],
        "folds": {place: str(_present(name)) for place, name in errand["folds"].items()},
    }


def _present(name: str) -> Path:
    """Return the path of a data file; the first thread that lacks it fetches it."""
    path = parcel_path(name)
    with hold(path.with_suffix(".lock")):
        if path.exists():
            os.utime(path)
        else:
            _prune(path.parent)
            write_whole(path, _fetched(name))
    return path


def _fetched(name: str) -> bytes:
    from distributed import get_client

    client = get_client()
    pieces: list[bytes] = []
    start = 0
    while data := client.run_on_scheduler(shelf.piece, name, start, shelf.PIECE):
        pieces.append(data)
        start += len(data)
    if data is None:
        raise HarnessError(f"the scheduler no longer has the data {name}; run again")
    return b"".join(pieces)


def _prune(folder: Path) -> None:
    """Remove data files that were not used for a long time."""
    for old in folder.iterdir():
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > DAYS_KEPT * 86_400:
                old.unlink()


def _threads() -> int:
    """Return how many threads a cell may use: one, since each thread of a worker has a cell."""
    asked = os.environ.get("HARNESS_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else 1
