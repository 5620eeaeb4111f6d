"""The rule of measurement of the benchmarks; it needs NumPy alone, so that peers follow it too.

Wall and CPU seconds of a call are the medians of its runs. Runs end when half the width of the
median's 95% interval (order statistics) is at most 2% of the median, or at a limit of seconds.
Sides that are compared in one process take turns.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

VARIABLES = (
    *("HARNESS_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"),
    *("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS"),
    *("LK_NUM_THREADS", "LK_NUM_BACKEND_THREADS"),
)
CLOSE = 0.02


def environment(n: int) -> dict[str, str]:
    """Return the variables that limit a new process to so many threads."""
    return os.environ | dict.fromkeys(VARIABLES, str(n))


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Limit the harness, BLAS and OpenMP in this process to so many threads."""
    from threadpoolctl import threadpool_limits

    before = os.environ.get("HARNESS_THREADS")
    os.environ["HARNESS_THREADS"] = str(n)
    try:
        with threadpool_limits(n):
            yield
    finally:
        del os.environ["HARNESS_THREADS"]
        if before is not None:
            os.environ["HARNESS_THREADS"] = before


def half_width(seconds: list[float]) -> float:
    """Return half the 95% interval of the median as its share; below 6 runs, half the range.

    The ranks are those of a binomial with p = 1/2, by the normal approximation.
    """
    ordered = np.sort(seconds)
    low = max(0, round(len(ordered) / 2 - 0.98 * len(ordered) ** 0.5) - 1)
    return float((ordered[-1 - low] - ordered[low]) / 2 / np.median(ordered))


def measure(
    task: Callable[[], object], limit: float = 3.0, least: int = 5, most: int = 100
) -> dict[str, float]:
    """Run a task by the rule: median wall and CPU seconds, spread as a share, number of runs.

    CPU seconds are those of all threads, and of child processes that have ended. After `limit`
    seconds no further run starts; a task that takes longer runs once.
    """
    return measure_in_turn({"": task}, limit, least, most)[""]


def measure_in_turn(
    tasks: Mapping[str, Callable[[], object]],
    limit: float = 3.0,
    least: int = 5,
    most: int = 100,
) -> dict[str, dict[str, float]]:
    """Measure tasks that are compared: they take turns, since a machine's speed varies."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in tasks}
    found: dict[str, dict[str, float]] = {}
    while left := tasks.keys() - found.keys():
        for name in [each for each in tasks if each in left]:
            wall, processor = time.perf_counter(), processor_seconds()
            tasks[name]()
            seconds[name].append((time.perf_counter() - wall, processor_seconds() - processor))
            walls = [each for each, _ in seconds[name]]
            known = len(walls) >= least and half_width(walls) <= CLOSE
            if known or len(walls) >= most or sum(walls) >= limit:
                wall, cpu = np.median(seconds[name], axis=0).tolist()
                spread = half_width(walls)
                found[name] = {"wall": wall, "cpu": cpu, "spread": spread, "runs": len(walls)}
    return {name: found[name] for name in tasks}


def is_parallel(measured: dict[str, float]) -> bool:
    """Return whether a call used more than one thread, so that it differs from one with one."""
    return measured["cpu"] > 1.05 * measured["wall"]


def processor_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
