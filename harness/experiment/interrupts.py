"""Raise a KeyboardInterrupt again that Python swallowed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["heeded"]


@contextmanager
def heeded() -> Iterator[Callable[[], None]]:
    """Yield a check that raises a lost interrupt again.

    Python raises `KeyboardInterrupt` wherever the main thread is. In the disposal of an object it
    only prints it, and goes on; a loop that waits calls the check now and then.

    Examples
    --------
    >>> with heeded() as check:
    ...     check()
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: None  # the caller decides what an interrupt does
        return
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        signal.default_int_handler(number, frame)

    def check() -> None:
        if received:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
