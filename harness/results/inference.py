"""Intervals, tests and letters for the rows of a table, from the scores of the users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness import metrics, seeds, statistics
from harness.config.inference import Inference

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["infer"]

GROUP = ["dataset", "split", "candidates"]


def infer(
    users: pd.DataFrame, labels: list[str], order: list[str], settings: Inference, seed: int
) -> list[dict[str, Any]]:
    """Compare the algorithms of each table by every metric that is a mean over users.

    Parameters
    ----------
    users : DataFrame
        As a run has it: a row for each cell and user, a column for each label.
    labels : list of str
        Metrics; one whose table value is not a mean of users' scores (``rmse``) is passed over.
    order : list of str
        Algorithms in the order of the table.
    settings : Inference
    seed : int
        The run's seed.

    Returns
    -------
    list of dict
        For each data set, split, candidates and metric: where, ``metric``, ``method`` (a
        sentence), ``algorithms``, ``pairs`` and ``baseline`` as records. Nothing where fewer than
        two algorithms have scores.
    """
    found = []
    for place, rows in users.groupby(GROUP, sort=False):
        for label in labels:
            metric = metrics.parse(label)
            if metric.pooled or not metric.per_user:
                continue
            # A user in several folds and seeds is one observation.
            scores = rows.pivot_table(
                index="user", columns="algorithm", values=label, aggfunc="mean", sort=False
            )
            names = [name for name in order if name in scores.columns]
            names = [name for name in names if scores[name].notna().any()]
            if len(names) < 2:
                continue
            compared = statistics.compare(
                scores[names].sort_index().to_numpy(),
                names,
                baseline=settings.baseline if settings.baseline in names else None,
                test=settings.test,
                correction=settings.correction,
                interval=settings.interval,
                n_resamples=settings.resamples,
                confidence=settings.confidence,
                seed=seeds.derive(seed, "statistics", *place, label),
                higher_is_better=metric.higher_is_better,
            )
            found.append(
                {
                    **dict(zip(GROUP, place, strict=True)),
                    "metric": label,
                    "method": compared.describe(),
                    "algorithms": _records(compared.algorithms),
                    "pairs": _records(compared.pairs),
                    "baseline": None if compared.baseline is None else _records(compared.baseline),
                }
            )
    return found


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as plain data that JSON holds; what is not a number becomes None."""
    return [
        {
            str(key): (None if isinstance(value, float) and not np.isfinite(value) else value)
            for key, value in row.items()
        }
        for row in frame.to_dict(orient="records")
    ]
