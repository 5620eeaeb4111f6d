"""How each call went: accelerated or by Surprise's own code, why, and in how many seconds."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

Method = Callable[..., Any]
Scores = tuple[dict[str, Any], dict[str, Any], float, float]
"""Scores of a fold, in the form of ``fit_and_score``."""
logger = logging.getLogger("harness").getChild("accelerate")
ACCELERATED, SURPRISE = "accelerated", "surprise"


class NotAccelerated(Exception):  # noqa: N818 - not an error: Surprise's own code answers
    """Raised within the package where only Surprise's own code will do; the text says why."""


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
