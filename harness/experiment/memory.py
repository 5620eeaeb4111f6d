"""Peak memory of a piece of work, and how much there is."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

__all__ = ["PeakMemory", "available_bytes"]


def available_bytes() -> int:
    """Return the bytes of memory that are free to use now."""
    import psutil

    return int(psutil.virtual_memory().available)


class PeakMemory:
    """Measure the largest resident memory of this process inside a ``with`` block.

    A thread samples every few milliseconds; compiled loops release the interpreter, so it keeps
    running beside them.

    Examples
    --------
    >>> with PeakMemory() as peak:
    ...     _ = bytes(1000)
    >>> peak.megabytes > 1
    True
    """

    def __init__(self, interval: float = 0.005) -> None:
        self.interval = interval
        self.bytes = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def megabytes(self) -> float:
        """The peak in MB (10^6 bytes)."""
        return self.bytes / 1e6

    def __enter__(self) -> Self:
        import psutil

        process = psutil.Process()
        self.bytes = process.memory_info().rss

        def watch() -> None:
            while not self._stop.wait(self.interval):
                self.bytes = max(self.bytes, process.memory_info().rss)

        self._thread = threading.Thread(target=watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import psutil

        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.bytes = max(self.bytes, psutil.Process().memory_info().rss)
