"""Interrupts that are not lost, and are told from what the code of an algorithm raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["interrupts_kept"]

_received: list[int] = []


@contextmanager
def interrupts_kept() -> Iterator[Callable[..., None]]:
    """Yield a check that raises an interrupt that was received inside and perhaps lost.

    Python raises `KeyboardInterrupt` wherever the main thread is. In the disposal of an object it
    only prints it and goes on, and the code of an algorithm can catch it, or raise one itself. A
    loop that waits calls the check, and so does whoever has caught an exception, with it: where
    it can have been an interrupt, it is raised again.

    Examples
    --------
    >>> with interrupts_kept() as check:
    ...     check()
    """
    before = signal.getsignal(signal.SIGINT)
    here = threading.current_thread() is threading.main_thread()
    if not here or before not in (signal.default_int_handler, _note):
        yield _ignored if before is signal.SIG_IGN else _unknown
        return
    if before is not _note:
        _received.clear()
        signal.signal(signal.SIGINT, _note)
    try:
        yield _check
    finally:
        if before is not _note:
            signal.signal(signal.SIGINT, before)


def _note(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    signal.default_int_handler(number, frame)


def _check(error: BaseException | None = None) -> None:
    if _received:
        raise KeyboardInterrupt from error


def _ignored(error: BaseException | None = None) -> None:
    """Let pass what cannot have been an interrupt, since this process ignores them."""


def _unknown(error: BaseException | None = None) -> None:
    """Raise what may have been an interrupt, where another part of the program handles them."""
    if isinstance(error, KeyboardInterrupt):
        raise error
