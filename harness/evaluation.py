"""Rankings and pairs become one score per user and metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import metrics
from harness.metrics import Metric, Pairs, Rankings

__all__ = ["CellScores", "evaluate"]


@dataclass(frozen=True, eq=False)
class CellScores:
    """The scores of one cell.

    Parameters
    ----------
    per_user : dict of str to ndarray of float64, shape (n_users,)
        By metric label; NaN where the metric is undefined or the user is not evaluated.
    means : dict of str to dict
        By metric label: ``mean``, None when no user has a score, and ``n_undefined``.
    """

    per_user: dict[str, NDArray[np.float64]]
    means: dict[str, dict[str, Any]]


def evaluate(
    wanted: Sequence[Metric],
    rankings: Rankings,
    pairs: Pairs,
    kept: NDArray[np.bool_],
) -> CellScores:
    """Score every user of a cell by every metric.

    Parameters
    ----------
    wanted : sequence of Metric
    rankings : Rankings
        One list for each kept user.
    pairs : Pairs
        Every test pair, of all users.
    kept : ndarray of bool, shape (n_users,)
        Which users the rankings are of.
    """
    scores = metrics.score(wanted, rankings, pairs=pairs)
    per_user, means = {}, {}
    for metric, result in scores.items():
        column = result.per_user
        if len(column) != len(kept):
            column = np.full(len(kept), np.nan)
            column[kept] = result.per_user
        per_user[str(metric)] = column
        mean = float(result.mean)
        means[str(metric)] = {
            "mean": None if np.isnan(mean) else mean,
            "n_undefined": int(result.n_undefined),
        }
    return CellScores(per_user, means)
