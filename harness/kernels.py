"""Compiled loops: compiled on first use, kept on disk, working where nothing can be written.

Importing this module imports Numba, so only modules that hold loops import it, and nothing that
``harness --help`` needs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

__all__ = ["compiled_before", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function with Numba, without the GIL, in strict IEEE arithmetic.

    The machine code is cached beside the source or, where that cannot be written, in the user's
    cache folder; where neither can be written it is compiled anew in each process.

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
    try:
        return numba.njit(nogil=True, cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder to cache in
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]


def compiled_before() -> bool:
    """Return whether this machine holds compiled loops of an earlier run.

    Examples
    --------
    >>> compiled_before() in (True, False)
    True
    """
    place = getattr(kernel(lambda: None)._cache, "cache_path", None)
    if place is None:  # there is no folder to keep them in
        return False
    package = Path(__file__).parent
    root = package if Path(place).is_relative_to(package) else Path(place).parent
    return any(root.rglob("*.nbi"))
