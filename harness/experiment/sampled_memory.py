"""The peak of memory, sampled where the kernel does not count it, as elsewhere than on Linux."""

from __future__ import annotations

import threading
from collections.abc import Callable


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
