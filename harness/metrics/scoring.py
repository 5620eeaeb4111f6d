"""Metrics and arrays in, scores out: each family of metrics computed once for all its ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from harness.errors import MetricError
from harness.metrics import discounted
from harness.metrics.arrays import Floats, Ints, Pairs, Rankings, Scores
from harness.metrics.estimates import PAIRED
from harness.metrics.grammar import Value
from harness.metrics.labels import Metric

__all__ = ["score"]

Family = Callable[[dict[str, Value], Ints, Rankings, str], Floats]

RANKING: dict[str, Family] = {
    "ndcg": discounted.score_ndcg,
    "dcg": discounted.score_dcg,
    "idcg": discounted.score_idcg,
}
"""What computes each ranking metric at several ranks; nan where nothing is relevant."""


def score(
    wanted: Iterable[Metric], rankings: Rankings | None = None, pairs: Pairs | None = None
) -> dict[Metric, Scores]:
    """Compute metrics; see `harness.metrics.score`."""
    metrics = list(dict.fromkeys(wanted))
    found: dict[Metric, Scores] = {}
    for group in _alike(m for m in metrics if not m.needs_pairs and not m.needs_items):
        if rankings is None:
            raise MetricError(f"{group[0]}: there are no rankings; give them, or leave it out")
        found.update(_score_lists(group, rankings))
    for metric in (m for m in metrics if m.needs_pairs):
        if pairs is None:
            raise MetricError(f"{metric}: there are no pairs; give them, or leave it out")
        per_user, pooled = PAIRED[metric.name](pairs)
        found[metric] = Scores(per_user, pooled, int(np.isnan(per_user).sum()))
    return {metric: found[metric] for metric in metrics}


def _alike(metrics: Iterable[Metric]) -> Iterator[list[Metric]]:
    """Group metrics that differ in k alone."""
    groups: dict[Metric, list[Metric]] = {}
    for metric in metrics:
        groups.setdefault(Metric(metric.name, metric.chosen), []).append(metric)
    return iter(groups.values())


def _score_lists(group: list[Metric], rankings: Rankings) -> dict[Metric, Scores]:
    """Score metrics that differ in k alone."""
    cuts = [rankings.longest if metric.k is None else metric.k for metric in group]
    ks, where = np.unique(np.array(cuts, dtype=np.int64), return_inverse=True)
    params = group[0].params
    values = RANKING[group[0].name](params, ks, rankings, str(group[0]))
    scores = {}
    for metric, column in zip(group, where, strict=True):
        scores[metric] = _apply_rules(metric, values[:, column], rankings)
    return scores


def _apply_rules(metric: Metric, values: Floats, rankings: Rankings) -> Scores:
    """Fill in what users without relevant items, lists or enough items get; then average."""
    params = metric.params
    undefined = np.isnan(values)
    values = values.copy()
    if "undefined" in params and params["undefined"].word != "nan":
        values[undefined] = params["undefined"].as_number
    if "empty" in params:
        nothing = (rankings.n_ranked == 0) & ~undefined
        empty = params["empty"].as_number
        values[nothing] = np.nan if empty is None else empty
    if "short" in params and params["short"].word == "skipped" and metric.k is not None:
        values[rankings.n_ranked < metric.k] = np.nan
    return summarize(values)


def summarize(values: Floats) -> Scores:
    """Average what is defined and count what is not.

    Examples
    --------
    >>> summarize(np.array([1.0, np.nan, 0.5]))
    Scores(per_user=array([1. , nan, 0.5]), mean=0.75, n_undefined=1)
    """
    undefined = np.isnan(values)
    n_defined = int((~undefined).sum())
    mean = float(values[~undefined].mean()) if n_defined else float("nan")
    return Scores(values, mean, len(values) - n_defined)
