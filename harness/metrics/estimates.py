"""rmse, mae and their kin: how far estimates are from ratings, whatever order they give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.metrics.arrays import Floats, Pairs

__all__ = ["PAIRED"]

Paired = Callable[[Pairs], tuple[Floats, float]]
"""Scores per user, and the value over all pairs."""


def score_mse(pairs: Pairs) -> tuple[Floats, float]:
    """Return ``mean((estimate - rating)**2)``.

    Examples
    --------
    >>> score_mse(Pairs([0, 2, 3], [1.0, 4.0, 3.0], [2.0, 4.0, 5.0]))
    (array([0.5, 4. ]), 1.6666666666666667)
    """
    errors = np.square(pairs.estimates - pairs.ratings)
    return _means(pairs, errors), _mean(errors)


def score_rmse(pairs: Pairs) -> tuple[Floats, float]:
    """Return ``sqrt(mean((estimate - rating)**2))``.

    Examples
    --------
    >>> score_rmse(Pairs([0, 1, 2], [1.0, 4.0], [2.0, 4.0]))
    (array([1., 0.]), 0.7071067811865476)
    """
    per_user, pooled = score_mse(pairs)
    return np.sqrt(per_user), float(np.sqrt(pooled))


def score_mae(pairs: Pairs) -> tuple[Floats, float]:
    """Return ``mean(abs(estimate - rating))``.

    Examples
    --------
    >>> score_mae(Pairs([0, 2, 3], [1.0, 4.0, 3.0], [2.0, 4.0, 5.0]))
    (array([0.5, 2. ]), 1.0)
    """
    errors = np.abs(pairs.estimates - pairs.ratings)
    return _means(pairs, errors), _mean(errors)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _means(pairs: Pairs, values: Floats) -> Floats:
    counts = np.diff(pairs.offsets)
    users = np.repeat(np.arange(pairs.n_users), counts)
    means: Floats = np.full(pairs.n_users, np.nan)
    sums = np.bincount(users, weights=values, minlength=pairs.n_users)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


PAIRED: dict[str, Paired] = {"rmse": score_rmse, "mae": score_mae, "mse": score_mse}
"""What computes each metric of pairs."""
