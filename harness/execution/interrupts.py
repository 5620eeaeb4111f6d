"""Ctrl-C while cells are computed: never lost, and without effect where it would do harm."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

LOOK_SECONDS = 1.0
"""Seconds between two looks for an interrupt, or at a cell that another run is computing."""

Check = Callable[..., None]
"""Raises an interrupt that was received, or one that an error given to it may have been."""


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Start processes in which Ctrl-C is blocked, before they can ignore it themselves."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Let Ctrl-C do nothing inside."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if is_main else None
    if before is not None:  # else it was not set by Python, and could not be set again
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


@contextmanager
def interrupts_kept() -> Iterator[Check]:
    """Yield a check that raises an interrupt that was received inside and perhaps lost."""
    # Python only prints one in the disposal of an object; code can catch it, or raise one itself.
    received = False
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    ours = main and before is signal.default_int_handler
    # Another handler, or thread, leaves no other sign of an interrupt than the exception.
    possible = not ours and before is not signal.SIG_IGN

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal received
        received = True
        signal.default_int_handler(number, frame)

    def check(error: BaseException | None = None) -> None:
        if received:
            raise KeyboardInterrupt from error
        if possible and isinstance(error, KeyboardInterrupt):
            raise error

    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
