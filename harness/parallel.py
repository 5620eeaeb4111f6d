"""Threads for compiled loops: a range is cut into blocks, one per thread.

Kernels release the GIL, so plain threads share the arrays and nothing is copied. A block writes
only its own part of the output, so the result does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

__all__ = ["each_block", "n_threads", "positive"]

LONGEST = 4
"""Digits of a number of threads."""


def n_threads() -> int:
    """Return how many threads a loop may use: ``HARNESS_THREADS``, or the cores of this process.

    Examples
    --------
    >>> n_threads() >= 1
    True
    """
    if asked := positive(os.environ.get("HARNESS_THREADS", "")):
        return asked
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def positive(text: str) -> int:
    """Return a number of threads as a variable of the environment gives it; 0 where it is none.

    Examples
    --------
    >>> positive("4"), positive("x"), positive("-4"), positive("9" * 30)
    (4, 0, 0, 0)
    """
    return int(text) if text.isdecimal() and len(text) <= LONGEST else 0


def each_block(task: Callable[[int, int], object], n: int, smallest: int = 1) -> None:
    """Call ``task(start, stop)`` for blocks that cover ``range(n)``, on several threads.

    Parameters
    ----------
    task : callable
        Takes a half-open range; its return value is ignored.
    n : int
        Length of the range.
    smallest : int
        Fewest elements for a thread of its own.

    Examples
    --------
    >>> seen = []
    >>> each_block(lambda start, stop: seen.extend(range(start, stop)), 5)
    >>> sorted(seen)
    [0, 1, 2, 3, 4]
    """
    threads = max(1, min(n_threads(), n // max(smallest, 1)))
    if threads == 1:
        if n:
            task(0, n)
        return
    # Several blocks a thread, so that one slow block does not leave the others idle.
    n_blocks = min(4 * threads, max(threads, n // max(smallest, 1)))
    edges = [n * block // n_blocks for block in range(n_blocks + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(task, a, b) for a, b in pairwise(edges)]:
            future.result()
