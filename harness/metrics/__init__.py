"""Metrics: compute one score per user from arrays.

A metric is one decorated function in the module of its family; its label is its identity. `parse`
reads a label, `score` computes any number of metrics, at all their ranks, from `Rankings` and
`Pairs`. Reading a label compiles nothing.

>>> from harness import metrics
>>> lists = metrics.Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
>>> for metric, scores in metrics.score(metrics.parse_many("ndcg@1,2"), lists).items():
...     print(metric, round(scores.mean, 4))
ndcg@1 0.1429
ndcg@2 0.7098
"""

# Each declares the metrics of its family; lists of metrics have them in this order.
from harness.metrics import dcg, binary, beyond_accuracy, cascade, rating_error  # noqa: F401, I001
from harness.metrics.arrays import Exposure, Pairs, Rankings, Scores
from harness.metrics.labels import (
    Convention,
    Definition,
    Metric,
    Value,
    check_relevance,
    conventions,
    describe,
    number,
    parse,
    parse_many,
    score,
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
