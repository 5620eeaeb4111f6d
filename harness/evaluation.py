"""Rankings and pairs become one score per user and metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import metrics
from harness.metrics import Exposure, Metric, Pairs, Rankings

__all__ = ["CellScores", "bounds", "evaluate", "tied_share"]


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
    exposure: Exposure | None = None,
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
    exposure : Exposure, optional
        What training showed, for the metrics of which items are recommended.
    """
    scores = metrics.score(wanted, rankings, pairs=pairs, exposure=exposure)
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


def bounds(wanted: Sequence[Metric], rankings: Rankings) -> dict[str, dict[str, float | None]]:
    """Return what the best order and, on average, a random order of the same lists would score.

    Parameters
    ----------
    wanted : sequence of Metric
        Those that are not computed from ranked lists are passed over.
    rankings : Rankings
        Of any model: only which items stand in the lists matters.

    Returns
    -------
    dict of str to dict
        By label: ``best`` and ``random``, the exact mean over all orders.
    """
    owners = np.repeat(np.arange(rankings.n_users), np.diff(rankings.offsets))
    order = np.lexsort((-rankings.relevance, owners))
    rank = (np.arange(len(order)) - rankings.offsets[owners] + 1).astype(np.int32)
    best = replace(
        rankings, relevance=rankings.relevance[order], rank=rank, tie_low=rank, tie_high=rank
    )
    shuffled = replace(
        rankings,
        rank=rank,
        tie_low=np.ones_like(rank),
        tie_high=rankings.n_ranked[owners].astype(np.int32),
    )
    found: dict[str, dict[str, float | None]] = {}
    for metric in wanted:
        if metric.needs_pairs or metric.needs_items:
            continue
        averaged = Metric(metric.name, tuple(c for c in metric.chosen if c[0] != "ties"), metric.k)
        values = {
            "best": metrics.score([metric], best)[metric].mean,
            "random": metrics.score([averaged], shuffled)[averaged].mean,
        }
        found[str(metric)] = {
            name: None if np.isnan(value) else float(value) for name, value in values.items()
        }
    return found


def tied_share(rankings: Rankings, k: int) -> float:
    """Return the share of users for whom a tie decides which judged items stand above rank `k`.

    Examples
    --------
    >>> lists = Rankings(np.array([0, 1]), np.array([3.0]), np.array([1]), np.array([1]),
    ...                  np.array([4]), np.array([5]))
    >>> tied_share(lists, 2), tied_share(lists, 4)
    (1.0, 0.0)
    """
    straddles = (rankings.tie_low <= k) & (rankings.tie_high > k)
    owners = np.repeat(np.arange(rankings.n_users), np.diff(rankings.offsets))
    return len(np.unique(owners[straddles])) / max(1, rankings.n_users)
