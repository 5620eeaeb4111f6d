"""An accelerated call: what it does or, where it cannot, what Surprise's own code does."""

from __future__ import annotations

import gc
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from harness.errors import HarnessError
from harness.extras.accelerate.calls import (
    ACCELERATED,
    SURPRISE,
    NotAccelerated,
    count,
    is_active,
    state,
    suspended,
)

T = TypeVar("T")


class AccelerationError(HarnessError):
    """A call that cannot be accelerated, under ``patch_surprise(strict=True)``."""


class ComparisonError(HarnessError):
    """A result that is not Surprise's to the last bit, under ``patch_surprise(compare=True)``."""


class Streams:
    """The states of NumPy's global generator and of a model's, to begin there again."""

    def __init__(self, generator: object = None) -> None:
        self.own = generator if isinstance(generator, np.random.RandomState) else None
        self.states = self._now()

    def _now(self) -> tuple[Any, Any]:
        own = None if self.own is None else self.own.get_state()
        return np.random.get_state(), own  # noqa: NPY002

    def rewind(self) -> None:
        """Set the generators back."""
        np.random.set_state(self.states[0])  # noqa: NPY002
        if self.own is not None:
            self.own.set_state(self.states[1])


_pausing = threading.Lock()
_n_paused = 0
_was_enabled = False


@contextmanager
def no_collection() -> Iterator[None]:
    """Let Python not look for cycles while many small tuples are made, of which none is in one."""
    global _n_paused, _was_enabled
    with _pausing:
        if _n_paused == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _n_paused += 1
    try:
        yield
    finally:
        with _pausing:
            _n_paused -= 1
            if _n_paused == 0 and _was_enabled:
                gc.enable()


def run(
    call: str,
    attempt: Callable[[], T],
    original: Callable[[], T],
    *,
    generator: object = None,
    draws: bool = False,
    check: Callable[[T], None] | None = None,
    is_counted_inside: bool = False,
) -> T:
    """Return what `attempt` does or, where it cannot, what Surprise's own code does.

    Parameters
    ----------
    call : str
        A name such as ``SVD.fit``.
    attempt, original : callable
        Both ways. Whatever `attempt` raises, `original` answers in its place.
    generator : RandomState, optional
        A generator beside NumPy's global one that the call may draw from.
    draws : bool
        Whether the call may draw random numbers.
    check : callable, optional
        Called with the value under ``compare=True``; runs the other side, raises at a difference.
        What it prints was printed before.
    is_counted_inside : bool
        Whether `original` counts itself, as a method that is replaced does.
    """
    if not is_active():
        return original()
    streams = Streams(generator) if draws else None
    begin = perf_counter()
    refused = False
    try:
        value = attempt()
    except NotAccelerated as refusal:
        reason, refused = str(refusal), True
    except Exception as error:
        reason = f"Surprise's own code answers a {type(error).__name__}: {error}"[:200]
    else:
        seconds = perf_counter() - begin
        of_surprise = 0.0
        if check is not None and state.options.compare:
            begin = perf_counter()
            with suspended(), redirect_stdout(io.StringIO()):
                check(value)
            of_surprise = perf_counter() - begin
        count(call, ACCELERATED, "", seconds, of_surprise)
        return value
    if streams is not None:
        streams.rewind()
    message = (
        f"{call}: cannot be accelerated ({reason}); patch without `strict`, or change the call"
    )
    if refused and state.options.strict:
        raise AccelerationError(message)
    begin = perf_counter()
    try:
        value = original()
    finally:
        if not is_counted_inside:
            count(call, SURPRISE, reason, perf_counter() - begin)
    if state.options.strict:  # the error was not the user's
        raise AccelerationError(message)
    return value
