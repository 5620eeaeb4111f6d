"""How each call went: accelerated or by Surprise's own code, why, and in how many seconds."""

from __future__ import annotations

import gc
import io
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from threading import RLock
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from harness.errors import HarnessError, listed

T = TypeVar("T")
Method = Callable[..., Any]
Scores = tuple[dict[str, Any], dict[str, Any], float, float]
"""Scores of a fold, in the form of ``fit_and_score``."""
logger = logging.getLogger("harness").getChild("accelerate")
ACCELERATED, SURPRISE = "accelerated", "surprise"
NAMED = 4
"""Kinds of calls that the summary names."""
REASONS_NAMED = 2
"""Reasons that a sentence on a script without an accelerated call names."""


class NotAccelerated(Exception):  # noqa: N818 - not an error: Surprise's own code answers
    """Raised within the package where only Surprise's own code will do; the text says why."""


class AccelerationError(HarnessError):
    """A call that cannot be accelerated, under ``patch_surprise(strict=True)``."""


class ComparisonError(HarnessError):
    """A result that is not Surprise's to the last bit, under ``patch_surprise(compare=True)``."""


class Options:
    """What `harness.patch_surprise` was called with."""

    def __init__(
        self,
        strict: bool = False,
        compare: bool = False,
        verbose: bool = False,
        exact: bool = False,
    ) -> None:
        self.strict = strict
        self.compare = compare
        self.verbose = verbose
        self.exact = exact


class Count:
    """Calls of one kind that went the same way for the same reason."""

    calls = 0
    seconds = 0.0
    seconds_of_surprise = 0.0  # where both sides ran


class State:
    """The options of the patch, and the calls since it was made."""

    def __init__(self) -> None:
        self.options = Options()
        self.is_patched = False
        self.begin_to_count()

    def begin_to_count(self) -> None:
        """Forget the calls of before."""
        self.runs_elsewhere = False
        """Whether a call gave its fits to processes of joblib, which count for themselves."""
        self.counts: dict[tuple[str, str, str], Count] = {}


state = State()
_counting = RLock()


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


def count(call: str, way: str, reason: str, seconds: float, of_surprise: float = 0.0) -> None:
    """Count a call and, if the patch is verbose, log it."""
    with _counting:
        counted = state.counts.setdefault((call, way, reason), Count())
        counted.calls += 1
        counted.seconds += seconds
        counted.seconds_of_surprise += of_surprise
    if state.options.verbose:
        why = f" ({reason})" if reason else ""
        logger.info("%s: %s%s, %.4f s", call, way, why, seconds)


def show_calls(on: bool) -> None:
    """Send the log to standard error, or no longer."""
    for handler in [*logger.handlers]:
        if isinstance(handler, _ToStandardError):
            logger.removeHandler(handler)
    if on:
        handler = _ToStandardError()
        handler.setFormatter(logging.Formatter("harness: %(message)s"))
        logger.addHandler(handler)
    logger.setLevel(logging.INFO if on else logging.NOTSET)


class _ToStandardError(logging.StreamHandler[Any]):
    """Writes to standard error as it is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class _Here(threading.local):
    is_suspended = False


_here = _Here()


def is_active() -> bool:
    """Return whether calls of this thread are accelerated.

    A script may hold a method of the patch, and call it when Surprise is no longer patched.
    """
    return state.is_patched and not _here.is_suspended


@contextmanager
def suspended() -> Iterator[None]:
    """Let Surprise's own code answer every call of this thread."""
    before, _here.is_suspended = _here.is_suspended, True
    try:
        yield
    finally:
        _here.is_suspended = before


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


def summary() -> str:
    """Return in one line which calls were accelerated since Surprise was patched, and which not.

    >>> state.counts.clear()
    >>> summary()
    'no call of Surprise was accelerated'
    """
    ways: dict[str, dict[str, tuple[int, float]]] = {ACCELERATED: {}, SURPRISE: {}}
    for (call, way, _), counted in state.counts.items():
        calls, seconds = ways[way].get(call, (0, 0.0))
        ways[way][call] = calls + counted.calls, seconds + counted.seconds
    fast, slow = (_listed(ways[way]) for way in (ACCELERATED, SURPRISE))
    fast = f"accelerated {fast}" if fast else "no call of Surprise was accelerated"
    return f"{fast}; Surprise's own code answered {slow}" if slow else fast


def nothing_accelerated() -> str:
    """Return why no call was accelerated since Surprise was patched; empty if one was.

    Calls in processes of joblib are not known here: where some ran, the answer is empty.

    >>> state.begin_to_count()
    >>> nothing_accelerated()
    'no call of Surprise was accelerated: Surprise is not patched'
    """
    ways = {way for _, way, _ in state.counts}
    if ACCELERATED in ways or state.runs_elsewhere:
        return ""
    if not state.counts:
        reason = "the script calls nothing that the patch replaces"
        if not state.is_patched:
            reason = "Surprise is not patched"
        return f"no call of Surprise was accelerated: {reason}"
    seconds: dict[str, float] = {}
    for (_, _, reason), counted in state.counts.items():
        seconds[reason] = seconds.get(reason, 0.0) + counted.seconds
    reasons = sorted(filter(None, seconds), key=lambda reason: -seconds[reason])
    return f"{summary()}: {listed(reasons, REASONS_NAMED)}"


def _listed(calls: dict[str, tuple[int, float]]) -> str:
    """Return how many calls there were, and the names of those that took the most seconds."""
    names = sorted(calls, key=lambda call: -calls[call][1])
    total = sum(n for n, _ in calls.values())
    if not total:
        return ""
    shown = ", ".join(names[:NAMED]) + (" and others" if len(names) > NAMED else "")
    return f"{total:,} call{'s' if total > 1 else ''} ({shown})"
