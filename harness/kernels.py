"""Compiled loops: compiled on first use, kept on disk, working where nothing can be written.

Importing this module imports Numba, so only modules that hold loops import it, and nothing that
``harness --help`` needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from harness.parallel import positive

# Numba cannot be imported with another value. No loop here runs on Numba's own threads.
if not positive(os.environ.get("NUMBA_NUM_THREADS", "1")):
    del os.environ["NUMBA_NUM_THREADS"]

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["compile_lazily", "compiled_before", "group_rows", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function with Numba, without the GIL, in strict IEEE arithmetic.

    The machine code is cached beside the source or, where that cannot be written, in the user's
    cache folder; where neither can be written it is compiled again in each process.

    NumPy's functions, `min` and `max` are compiled with the kernel that calls them. A kernel that
    takes its scratch arrays and copies element by element is compiled several times faster.

    Parameters
    ----------
    function : callable
        Loops over arrays and scalars, in the part of Python that Numba compiles.

    Examples
    --------
    >>> @kernel
    ... def total(values):
    ...     s = 0.0
    ...     for value in values:
    ...         s += value
    ...     return s
    >>> import numpy as np
    >>> total(np.array([1.0, 2.0]))
    3.0
    """
    return compile_lazily(function)


def compile_lazily(function: F, **options: Any) -> F:
    """Do what `kernel` does, with further options of ``numba.njit``."""
    options |= {"nogil": True, "no_cfunc_wrapper": True}
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder to cache in
        return numba.njit(**options)(function)  # type: ignore[no-any-return]


def compiled_before() -> bool:
    """Return whether this machine holds compiled loops of an earlier run.

    Examples
    --------
    >>> compiled_before() in (True, False)
    True
    """
    compiled: Any = kernel(lambda: None)
    place = getattr(compiled._cache, "cache_path", None)
    if place is None:  # there is no folder to keep them in
        return False
    package = Path(__file__).parent
    root = package if Path(place).is_relative_to(package) else Path(place).parent
    return any(root.rglob("*.nbi"))


def group_rows(
    keys: NDArray[np.integer[Any]], n_keys: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the rows of each key start, and the rows by key, in their order within each.

    Parameters
    ----------
    keys : ndarray of int, shape (n_rows,)
        From 0 to `n_keys` - 1.
    n_keys : int

    Returns
    -------
    offsets : ndarray of int64, shape (n_keys + 1,)
    rows : ndarray of int64, shape (n_rows,)

    Examples
    --------
    >>> offsets, rows = group_rows(np.array([2, 0, 2]), 3)
    >>> offsets.tolist(), rows.tolist()
    ([0, 1, 1, 3], [1, 0, 2])
    """
    codes = np.ascontiguousarray(keys, dtype=np.int64)
    offsets = np.zeros(n_keys + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=n_keys), out=offsets[1:])
    rows = np.empty(len(codes), dtype=np.int64)
    _place(codes, offsets[:-1].copy(), rows)
    return offsets, rows


@kernel
def _place(keys: NDArray[np.int64], free: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Write each row to the next free place of its key: a counting sort, linear in the rows."""
    for row in range(len(keys)):
        place = free[keys[row]]
        free[keys[row]] = place + 1
        rows[place] = row
