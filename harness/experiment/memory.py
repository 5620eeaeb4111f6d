"""Memory that a piece of work adds to its process, and how much is free."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

__all__ = ["PeakMemory", "available_bytes", "total_bytes"]

BETWEEN_SAMPLES = 0.005
"""Seconds, where the kernel does not count the peak."""
RESET_PEAK = "5"
"""What the kernel takes in ``clear_refs`` to set VmHWM, the peak, to the memory of now."""


def available_bytes(system: Path = Path("/")) -> int:
    """Return the bytes of memory that this process can still use.

    The minimum of the machine's free memory and of what each limit leaves: those of the control
    groups that the process is in (a container, a batch job) and of its address space (`ulimit -v`).
    """
    import psutil

    rooms = [int(psutil.virtual_memory().available), *_control_group_rooms(system)]
    with suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            rooms.append(max(0, limit - psutil.Process().memory_info().vms))
    return min(rooms)


def total_bytes() -> int:
    """Return the bytes of memory that the machine has."""
    import psutil

    return int(psutil.virtual_memory().total)


def _reclaimable(group: Path) -> int:
    """Return the bytes of a control group that the kernel gives up first: pages of files."""
    for line in (group / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def _control_group_rooms(system: Path) -> Iterator[int]:
    """Yield what each control group of this process, and each group above it, leaves free."""
    try:
        lines = (system / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers == "":  # version 2, where one hierarchy has all controllers
            top, files = "sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top = "sys/fs/cgroup/memory"
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        folder = system / top / group.strip("/")
        for each in (folder, *folder.parents):
            # "max" is no limit. Inside a container the folder of the host's path may be missing.
            with suppress(OSError, ValueError):
                limit, used = (int((each / name).read_text()) for name in files)
                yield max(0, limit - used + _reclaimable(each))
            if each == system / top:
                break


class PeakMemory:
    """Measure the memory that a ``with`` block adds to this process, at the most.

    The peak of resident memory inside the block less the memory before it. Memory that earlier
    work has freed is returned to the system first, so the order of blocks does not matter. Linux
    counts the peak itself; elsewhere a thread samples every few milliseconds, beside compiled
    loops too, since they release the interpreter.

    Examples
    --------
    >>> with PeakMemory() as peak:
    ...     data = bytes(range(250)) * 100_000
    ...     del data
    >>> 20 < peak.megabytes < 40
    True
    """

    def __init__(self) -> None:
        self.megabytes = 0.0
        """The added memory in MB (10^6 bytes)."""
        self._before = self._sampled = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        _return_freed()
        self._before = self._sampled = _resident()
        if not _reset_peak():
            self._thread = threading.Thread(target=self._sample, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._thread is None:
            peak = _peak()
        else:
            self._stop.set()
            self._thread.join()
            peak = max(self._sampled, _resident())
        self.megabytes = max(0, peak - self._before) / 1e6

    def _sample(self) -> None:
        while not self._stop.wait(BETWEEN_SAMPLES):
            self._sampled = max(self._sampled, _resident())


def _resident() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)


def _peak() -> int:
    """Return the greatest resident memory since the last reset, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def _reset_peak() -> bool:
    """Let the kernel count the peak from now on; return whether it does."""
    try:
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
        return _peak() > 0
    except (OSError, ValueError):
        return False


def _return_freed() -> None:
    """Return freed memory to the system; otherwise it would hide the memory of the next cell."""
    gc.collect(1)  # all generations would cost more than a small fit; arrays need no collection
    with suppress(OSError, AttributeError, TypeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)
