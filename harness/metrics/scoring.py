"""Compute scores from metrics and arrays: each family of metrics once for all its ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from harness.errors import MetricError
from harness.metrics import average_precision, cascade, discounted, hits
from harness.metrics.arrays import Floats, Ints, Pairs, Rankings, Scores
from harness.metrics.estimates import PAIRED
from harness.metrics.exposure import Exposure
from harness.metrics.grammar import Value
from harness.metrics.labels import Metric
from harness.metrics.recommended import RECOMMENDED

__all__ = ["score"]

T = TypeVar("T")
Family = Callable[[dict[str, Value], Ints, Rankings, str], Floats]

RANKING: dict[str, Family] = {
    "ndcg": discounted.score_ndcg,
    "dcg": discounted.score_dcg,
    "idcg": discounted.score_idcg,
    "precision": hits.score_precision,
    "recall": hits.score_recall,
    "fbeta": hits.score_fbeta,
    "ap": average_precision.score_ap,
    "rr": cascade.score_rr,
    "hit": cascade.score_hit,
    "hitrate_ndcg": cascade.score_hitrate_ndcg,
    "err": cascade.score_err,
    "rbp": hits.score_rbp,
    "auc": hits.score_auc,
    "user_coverage": hits.score_user_coverage,
}
"""The function of each ranking metric at several ranks; nan where nothing is relevant."""


def score(
    wanted: Iterable[Metric],
    rankings: Rankings | None = None,
    pairs: Pairs | None = None,
    exposure: Exposure | None = None,
) -> dict[Metric, Scores]:
    """Compute metrics; see `harness.metrics.score`."""
    metrics = list(dict.fromkeys(wanted))
    found: dict[Metric, Scores] = {}
    for group in _alike(metrics):
        first = group[0]
        if first.needs_pairs:
            found[first] = _score_pairs(first, _given(first, "pairs of estimate and rating", pairs))
            continue
        lists = _given(first, "rankings", rankings)
        if first.needs_items:
            found |= _score_items(group, lists, _given(first, "exposure", exposure))
        else:
            found |= _score_lists(group, lists)
    return {metric: found[metric] for metric in metrics}


def _given(metric: Metric, what: str, value: T | None) -> T:
    if value is None:
        raise MetricError(f"{metric}: it needs {what}, but there are none; leave the metric out")
    return value


def _alike(metrics: Iterable[Metric]) -> Iterator[list[Metric]]:
    """Group metrics that differ only in k."""
    groups: dict[Metric, list[Metric]] = {}
    for metric in metrics:
        groups.setdefault(Metric(metric.name, metric.chosen), []).append(metric)
    return iter(groups.values())


def _cuts(group: list[Metric], rankings: Rankings) -> tuple[Ints, Ints]:
    """Return the ranks of a group, rising, and which of them each metric has."""
    cuts = [rankings.longest if metric.k is None else metric.k for metric in group]
    return np.unique(np.array(cuts, dtype=np.int64), return_inverse=True)


def _score_lists(group: list[Metric], rankings: Rankings) -> dict[Metric, Scores]:
    """Score metrics that differ only in k."""
    ks, column = _cuts(group, rankings)
    values = RANKING[group[0].name](
        group[0].params, ks, rankings, str(Metric(group[0].name, group[0].chosen))
    )
    return {
        metric: _apply_rules(metric, values[:, column[i]], rankings)
        for i, metric in enumerate(group)
    }


def _score_items(
    group: list[Metric], rankings: Rankings, exposure: Exposure
) -> dict[Metric, Scores]:
    """Score metrics of which items are shown that differ only in k."""
    ks, column = _cuts(group, rankings)
    values = RECOMMENDED[group[0].name](group[0].params, ks, rankings, exposure, group[0].name)
    if not group[0].per_user:
        nobody = np.full(rankings.n_users, np.nan)
        return {
            metric: Scores(nobody, float(values[column[i]]), 0) for i, metric in enumerate(group)
        }
    return {metric: summarize(values[:, column[i]]) for i, metric in enumerate(group)}


def _score_pairs(metric: Metric, pairs: Pairs) -> Scores:
    per_user, pooled = PAIRED[metric.name](metric.params, pairs)
    return Scores(per_user, pooled, int(np.isnan(per_user).sum()))


def _apply_rules(metric: Metric, values: Floats, rankings: Rankings) -> Scores:
    """Fill in the scores of users without relevant items, lists or enough items; then average."""
    params = metric.params
    undefined = np.isnan(values)
    values = values.copy()
    if "undefined" in params and params["undefined"].word != "nan":
        values[undefined] = params["undefined"].as_number
    if "empty" in params:
        nothing = rankings.n_ranked == 0
        if params["empty"].word == "nan":
            values[nothing] = np.nan
        else:
            values[nothing & ~undefined] = params["empty"].as_number
    if "short" in params and params["short"].word == "skipped" and metric.k is not None:
        values[rankings.n_ranked < metric.k] = np.nan
    return summarize(values)


def summarize(values: Floats) -> Scores:
    """Average defined scores and count undefined ones.

    Examples
    --------
    >>> summarize(np.array([1.0, np.nan, 0.5]))
    Scores(per_user=array([1. , nan, 0.5]), mean=0.75, n_undefined=1)
    """
    undefined = np.isnan(values)
    n_defined = int((~undefined).sum())
    mean = float(values[~undefined].mean()) if n_defined else float("nan")
    return Scores(values, mean, len(values) - n_defined)
