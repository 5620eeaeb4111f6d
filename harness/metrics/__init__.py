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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
