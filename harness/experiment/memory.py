"""The memory that this process can still use, and the most that a block of code adds to it."""

from __future__ import annotations

import ctypes
import gc
import math
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from harness._util.kernels import address_space_left
from harness._util.libraries import psutil

LIMITS = {
    "": ("sys/fs/cgroup", "memory.max", "memory.current"),
    "memory": ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
}
"""By controller, the folder of groups and their files with limit and use; version 2 of control
groups has one hierarchy, of all controllers, under ''."""


def available_bytes(system: Path = Path("/")) -> int:
    """Return the least of free memory and of what limits of address space and containers leave."""
    left = address_space_left()
    room = int(psutil.virtual_memory().available)
    room = room if left is None else min(room, max(0, left))
    try:
        lines = (system / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return room
    for line in lines:
        _, controllers, group = line.split(":", 2)
        for top, *files in (LIMITS[name] for name in controllers.split(",") if name in LIMITS):
            folder = system / top / group.strip("/")  # each group above it has limits too
            for each in (folder, *folder.parents):
                # "max" is no limit. Inside a container the host's folder may be missing.
                with suppress(OSError, ValueError):
                    limit, used = (int((each / name).read_text()) for name in files)
                    if limit - used < room:
                        # Pages of files are given up first.
                        text = (each / "memory.stat").read_text()
                        pages = re.search(r"^(?:total_)?inactive_file (\d+)$", text, re.M)
                        free = limit - used + int(pages[1] if pages else 0)
                        room = min(room, max(0, free))
                if each == system / top:
                    break
    return room


class PeakMemory:
    """Measure the memory that a ``with`` block adds to this process, at the most, in 10^6 bytes."""

    megabytes = math.nan
    """Not known before the end of the block."""
    _sampler: Sampler | None = None
    _before = 0

    def __enter__(self) -> Self:
        gc.collect(1)  # all generations would cost more than a small fit; arrays need no collection
        with suppress(OSError, AttributeError, TypeError):  # glibc alone can return freed memory
            ctypes.CDLL(None).malloc_trim(0)
        with suppress(OSError):  # Linux counts the peak of resident memory itself, from now on
            Path("/proc/self/clear_refs").write_text("5")
            self._before = _peak()
        if not self._before:
            self._before, self._sampler = _resident(), Sampler(_resident)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        most = _peak() if self._sampler is None else self._sampler.end()
        self.megabytes = max(0, most - self._before) / 1e6


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


def _peak() -> int:
    """Return the greatest resident memory since the last reset, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


class Sampler:
    """Samples the memory of this process until its end.

    A thread does, beside compiled loops too, which release the GIL.
    """

    def __init__(self, resident: Callable[[], int]) -> None:
        self._resident, self._most = resident, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def end(self) -> int:
        """Stop, and return the greatest memory, in bytes."""
        self._stop.set()
        self._thread.join()
        return self._most

    def _sample(self) -> None:
        """Note the resident memory from now until the end of the block, and once at its end."""
        stopped = False
        while not stopped:
            stopped = self._stop.wait(0.005)
            self._most = max(self._most, self._resident())
