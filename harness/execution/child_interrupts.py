"""Ctrl-C where child processes start and are ended: without effect, since it would do harm."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
