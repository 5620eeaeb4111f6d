"""Metrics: compute one score per user from arrays.

A metric is its label. `parse` reads one, `score` computes any number of them, at all their ranks,
from `Rankings` and `Pairs`. Reading a label compiles nothing.

>>> from harness import metrics
>>> lists = metrics.Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
>>> for metric, scores in metrics.score(metrics.parse_many("ndcg@1,2"), lists).items():
...     print(metric, round(scores.mean, 4))
ndcg@1 0.1429
ndcg@2 0.7098
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from harness.metrics.arrays import Pairs, Rankings, Scores
from harness.metrics.conventions import Convention, conventions
from harness.metrics.exposure import Exposure
from harness.metrics.grammar import Value, number
from harness.metrics.labels import Metric, describe, parse, parse_many

__all__ = [
    "Convention",
    "Exposure",
    "Metric",
    "Pairs",
    "Rankings",
    "Scores",
    "Value",
    "check_relevance",
    "conventions",
    "describe",
    "number",
    "parse",
    "parse_many",
    "score",
]


def score(
    wanted: Iterable[Metric],
    rankings: Rankings | None = None,
    pairs: Pairs | None = None,
    exposure: Exposure | None = None,
) -> dict[Metric, Scores]:
    """Compute metrics.

    Parameters
    ----------
    wanted : iterable of Metric
    rankings : Rankings, optional
        Input of ranking metrics.
    pairs : Pairs, optional
        Input of rmse and similar metrics.
    exposure : Exposure, optional
        The training ratings, for metrics of which items are recommended.

    Returns
    -------
    dict of Metric to Scores
        In the given order, each once.

    Raises
    ------
    MetricError
        If what a metric needs is missing, or holds values that it does not define.
    """
    from harness.metrics.scoring import score as compute

    return compute(wanted, rankings, pairs, exposure)


def check_relevance(metric: Metric, relevance: ArrayLike) -> None:
    """Refuse relevances that a metric does not define.

    Parameters
    ----------
    metric : Metric
    relevance : array_like of float, shape (n,)

    Raises
    ------
    MetricError
        With what to change in the label.

    Examples
    --------
    >>> check_relevance(parse("ndcg@10"), [1, 5])
    >>> check_relevance(parse("ndcg@10"), [-2, 5])
    Traceback (most recent call last):
    harness.errors.MetricError: ndcg: a relevance of -2; add negative=zero, or move the scale with \
offset=-2
    """
    from harness.metrics.cascade import err_worth
    from harness.metrics.worth import make_worth

    grades = np.asarray(relevance, np.float64)
    label = str(Metric(metric.name, metric.chosen))
    if metric.name == "err":
        err_worth(metric.params, grades, label)
    elif "gain" in metric.params:
        make_worth(metric.params, grades, label)
