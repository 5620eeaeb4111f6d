"""Memory that a piece of work adds to its process, and how much is free."""

from __future__ import annotations

import ctypes
import gc
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

__all__ = ["PeakMemory", "available_bytes"]

RESET_PEAK = "5"
"""What the kernel takes in ``clear_refs`` to set VmHWM, the peak, to the memory of now."""


def available_bytes() -> int:
    """Return the bytes of memory that are free to use now."""
    import psutil

    return int(psutil.virtual_memory().available)


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

    def __init__(self, interval: float = 0.005) -> None:
        self.interval = interval
        self.bytes = 0
        """What was added."""
        self._before = 0
        self._sampled = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def megabytes(self) -> float:
        """The added memory in MB (10^6 bytes)."""
        return self.bytes / 1e6

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
        self.bytes = max(0, peak - self._before)

    def _sample(self) -> None:
        while not self._stop.wait(self.interval):
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
    """Return to the system what was freed, else it would hide what the next cell takes."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)
