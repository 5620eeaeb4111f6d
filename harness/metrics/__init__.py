"""Metrics: compute one score per user from arrays.

A metric is one decorated function, `Definition`, in the module of its family; its label is its
identity. `parse` reads a label, `score` computes any number of metrics, at all their ranks, from
`Rankings` and `Pairs`. Reading a label compiles nothing.

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

from harness.metrics import (  # noqa: F401  (each declares the metrics of its family)
    average_precision,
    beyond_accuracy,
    binary,
    cascade,
    dcg,
    rating_error,
)
from harness.metrics.arrays import Exposure, Pairs, Rankings, Scores
from harness.metrics.definitions import Definition, Value, number
from harness.metrics.labels import (
    Convention,
    Metric,
    conventions,
    describe,
    parse,
    parse_many,
)

__all__ = [
    "Convention",
    "Definition",
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
    metrics = list(dict.fromkeys(wanted))
    alike: dict[tuple[object, ...], list[Metric]] = {}  # that differ only in k
    for metric in metrics:
        alike.setdefault((metric.name, metric.chosen), []).append(metric)
    found: dict[Metric, Scores] = {}
    for group in alike.values():
        first, ks = group[0], [metric.k for metric in group]
        scores = first.definition.scores(dict(first.chosen), ks, rankings, pairs, exposure)
        found |= zip(group, scores, strict=True)
    return {metric: found[metric] for metric in metrics}


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
    grades = np.asarray(relevance, np.float64)
    metric.definition.check_relevance(dict(metric.chosen), grades)
