"""Any number of metrics computed together, each at all its ranks in one pass."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from harness.arguments import checked
from harness.errors import MetricError
from harness.metrics.arrays import Exposure, Pairs, Rankings, Scores
from harness.metrics.definition import Chosen
from harness.metrics.labels import Metric, definition


@checked(MetricError)
def score(
    metrics: Iterable[Metric],
    rankings: Rankings | None = None,
    pairs: Pairs | None = None,
    exposure: Exposure | None = None,
) -> dict[Metric, Scores]:
    """Compute metrics.

    Parameters
    ----------
    metrics : iterable of Metric
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
    metrics = list(metrics)
    if labels := [label for label in metrics if not isinstance(label, Metric)]:
        raise MetricError(f"{labels[0]!r:.60}: not a Metric; make one from its label with parse")
    computed: dict[Metric, Scores | None] = dict.fromkeys(metrics)
    alike: dict[tuple[str, Chosen], list[Metric]] = {}  # that differ only in k
    for metric in computed:
        alike.setdefault((metric.name, metric.chosen), []).append(metric)
    for (name, chosen), group in alike.items():
        ranks = [metric.k for metric in group]
        scores = definition(name).scores(chosen, ranks, rankings, pairs, exposure)
        computed |= zip(group, scores, strict=True)
    return {metric: scores for metric, scores in computed.items() if scores is not None}


@checked(MetricError)
def check_relevance(metric: Metric, relevance: ArrayLike) -> None:
    """Refuse relevances that a metric does not define, with what to change in the label."""
    metric.definition.check_relevance(metric.chosen, relevance)
