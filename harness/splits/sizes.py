"""Convert shares to counts, robust to rounding in the last bit."""

from __future__ import annotations

import math

__all__ = ["rounded_down", "rounded_up"]

# 0.07 * 100 is 7.000000000000001: a share is taken as it is written, to this many counts.
_SLACK = 1e-6


def rounded_up(size: float, n: int) -> int:
    """Return a share of `n` rounded up, or a count as it is.

    Examples
    --------
    >>> rounded_up(0.07, 100), rounded_up(0.071, 100), rounded_up(7, 100)
    (7, 8, 7)
    """
    return math.ceil(size * n - _SLACK) if isinstance(size, float) else size


def rounded_down(size: float, n: int) -> int:
    """Return a share of `n` rounded down, or a count as it is.

    Examples
    --------
    >>> rounded_down(0.29, 100), rounded_down(0.299, 100), rounded_down(29, 100)
    (29, 29, 29)
    """
    return math.floor(size * n + _SLACK) if isinstance(size, float) else size
