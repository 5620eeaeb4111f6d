"""Ratings that are one filled-in number, such as those of an anti-test set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import warn


def filled_rating(ratings: ArrayLike) -> float | None:
    """Return the number that all ratings are if nobody gives it, else None.

    Surprise's ``build_anti_testset`` fills in the mean of the training ratings, so that the errors
    of estimates and the orders of lists say nothing. People give whole and half numbers.

    >>> filled_rating([3.53, 3.53, 3.53]), filled_rating([4, 4]), filled_rating([3.53, 4])
    (3.53, None, None)
    """
    values = np.asarray(ratings, dtype=np.float64)
    if len(values) < 2 or not np.isfinite(values[0]) or (2 * values[0]) % 1 == 0:
        return None
    return float(values[0]) if (values == values[0]).all() else None


def warn_of_filled(ratings: ArrayLike) -> None:
    """Warn of ratings that are one number that nobody gives."""
    number = filled_rating(ratings)
    if number is not None:
        warn(
            f"all ratings are {number:.6g}, which nobody gives: a mean that stands for unknown "
            "ratings, as in an anti-test set; score a test set"
        )
