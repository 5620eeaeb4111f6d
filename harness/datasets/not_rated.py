"""Numbers in a column of ratings that stand for "not rated", as -1, 0 or 99 in public data sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.notes.note import Note

LEAST_RATINGS = 20
"""Fewer ratings show no scale."""
MOST_VALUES = 101
"""More distinct ratings are measured or counted, not chosen from a scale."""
LEAST_OTHERS = 3
"""Distinct other ratings that make a scale; -1 and 1 beside 0 are dislike and like."""
LEAST_SHARE = 0.01
"""Zeros, or values far from all others, below this share of the ratings are but odd ratings."""
BEYOND = (99.0, 999.0, 9999.0)
"""Numbers that are written for a missing one, above the scale or, with a minus, below it."""


class Suspect(NamedTuple):
    """A value that may stand for "not rated", how many ratings have it, and what is odd in it."""

    value: float
    n: int
    reason: str

    @property
    def advice(self) -> str:
        """What removes its rows."""
        return f"`not_rated: [{self.value:.16g}]` drops {self.n:,} of them"

    def note(self, n_all: int) -> Note:
        """Return the note that asks what the value means, and says what to set."""
        values = {"value": f"{self.value:.16g}", "reason": self.reason}
        return Note(
            "maybe-not-rated",
            {**values, "n": self.n, "n_all": n_all, "share": self.n / n_all},
        )


def suspect(ratings: NDArray[np.float64]) -> Suspect | None:
    """Return the value that looks like a mark for "not rated", or None.

    It is the only negative one beside a scale from 0 or more; 0 where the scale has a gap above it
    or where it is at least twice as frequent as the lowest rating above it; or 99, 999 or 9999,
    with either sign, far from all others.

    Parameters
    ----------
    ratings : ndarray of float, shape (n,)
        Finite.

    Examples
    --------
    >>> suspect(np.array([-1.0, 7, 8, 9, 10] * 8))
    Suspect(value=-1.0, n=8, reason='the only negative one beside 7 to 10')
    >>> suspect(np.array([0.0, 0, 0, 0, 1, 2, 3, 4, 5] * 4)).value
    0.0
    >>> suspect(np.array([0.0, 1, 2, 3, 4] * 8)) is None
    True
    """
    if len(ratings) < LEAST_RATINGS:
        return None
    values, counts = np.unique(ratings, return_counts=True)
    if len(values) <= LEAST_OTHERS:
        return None
    doubt = _far(values, counts)
    if doubt is None and len(values) <= MOST_VALUES:
        doubt = _lowest(values, counts)
    return doubt if doubt is not None and doubt.n > 1 else None


def _far(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Suspect | None:
    """Return the largest or the smallest value if it is 99, 999 or 9999 and far from the others."""
    for place, rest in ((-1, values[:-1]), (0, values[1:])):
        value = float(values[place])
        if abs(value) in BEYOND and (place == -1) == (value > 0):
            reach = max(abs(float(rest[0])), abs(float(rest[-1])))
            if 2 * reach < abs(value) and counts[place] >= LEAST_SHARE * counts.sum():
                return _suspect(value, counts[place], "far from the others, {}", rest)
    return None


def _lowest(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Suspect | None:
    lowest, rest = float(values[0]), values[1:]
    if lowest < 0 <= rest[0]:
        return _suspect(lowest, counts[0], "the only negative one beside {}", rest)
    if lowest:
        return None
    step = float(np.diff(rest).min())
    if rest[0] > 1.5 * step and rest[0] > 1:
        return _suspect(lowest, counts[0], "with none between it and {}", rest)
    stands_out = counts[0] >= 2 * counts[1] and counts[0] >= LEAST_SHARE * counts.sum()
    if stands_out and np.array_equal(rest, np.round(2 * rest) / 2):
        times = f"{counts[0] / counts[1]:.1f} times as frequent as {rest[0]:.16g}, beside {{}}"
        return _suspect(lowest, counts[0], times, rest)
    return None


def _suspect(value: float, n: np.int64, reason: str, rest: NDArray[np.float64]) -> Suspect:
    return Suspect(value, int(n), reason.format(f"{rest[0]:.16g} to {rest[-1]:.16g}"))
