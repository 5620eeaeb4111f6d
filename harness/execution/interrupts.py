"""Ctrl-C and SIGTERM while cells are computed: never lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from harness.errors import Terminated

LOOK_SECONDS = 1.0
"""Seconds between two looks for an interrupt, or at a cell that another run is computing."""

Check = Callable[..., None]
"""Raises an interrupt that was received, or one that an error given to it may have been."""


@contextmanager
def interrupts_kept() -> Iterator[Check]:
    """Yield a check that raises an interrupt that was received inside and perhaps lost."""
    # Python only prints one in the disposal of an object; code can catch it, or raise one itself.
    received: list[type[KeyboardInterrupt]] = []
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    ours = main and before is signal.default_int_handler
    # Another handler, or thread, leaves no other sign of an interrupt than the exception.
    possible = not ours and before is not signal.SIG_IGN
    ending = signal.getsignal(signal.SIGTERM) if main else None

    def note(number: int, frame: FrameType | None) -> None:
        received.append(KeyboardInterrupt)
        signal.default_int_handler(number, frame)

    def note_end(number: int, frame: FrameType | None) -> None:
        received.append(Terminated)
        assert callable(ending)
        ending(number, frame)

    def check(error: BaseException | None = None) -> None:
        if received:
            raise received[-1] from error
        if isinstance(error, Terminated) or (possible and isinstance(error, KeyboardInterrupt)):
            raise error

    if ours:
        signal.signal(signal.SIGINT, note)
    if callable(ending):
        signal.signal(signal.SIGTERM, note_end)
    try:
        yield check
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
        if callable(ending) and signal.getsignal(signal.SIGTERM) is note_end:
            signal.signal(signal.SIGTERM, ending)
