"""Metrics: compute one score per user from arrays.

A metric is one decorated function in the module of its family; its label is its identity. `parse`
reads a label, `score` computes any number of metrics, at all their ranks, from `Rankings` and
`Pairs`. Only the modules of the metrics that are named are imported; reading a label compiles
nothing.

>>> from harness import metrics
>>> lists = metrics.Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
>>> for metric, scores in metrics.score(metrics.parse_many("ndcg@1,2"), lists).items():
...     print(metric, round(scores.mean, 4))
ndcg@1 0.1429
ndcg@2 0.7098
"""

from typing import TYPE_CHECKING

from harness import lazy

if TYPE_CHECKING:
    from harness.metrics.arrays import Pairs, Rankings, Scores
    from harness.metrics.convention import Convention, conventions
    from harness.metrics.definition import Definition
    from harness.metrics.exposure import Exposure
    from harness.metrics.labels import Metric, parse, parse_many
    from harness.metrics.listing import describe
    from harness.metrics.parameters import Value, number
    from harness.metrics.scoring import check_relevance, score

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

__getattr__ = lazy.members(
    __name__,
    {
        "arrays": ("Pairs", "Rankings", "Scores"),
        "convention": ("Convention", "conventions"),
        "definition": ("Definition",),
        "exposure": ("Exposure",),
        "labels": ("Metric", "parse", "parse_many"),
        "listing": ("describe",),
        "parameters": ("Value", "number"),
        "scoring": ("check_relevance", "score"),
    },
)
