"""Ctrl-C while cells are computed: never lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

LOOK_SECONDS = 1.0
"""Seconds between two looks for an interrupt, or at a cell that another run is computing."""

Check = Callable[..., None]
"""Raises an interrupt that was received, or one that an error given to it may have been."""


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
