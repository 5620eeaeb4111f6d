"""What is wrong with a plan once its data are read: before the first fit, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness import metrics
from harness.errors import ConfigError, MetricError
from harness.experiment.plan import Plan, Positions
from harness.lazy import pd


def check_tables(plan: Plan) -> None:
    """Refuse entries of the config that give one table twice: equal data, or equal splits."""
    seen: dict[str, Positions] = {}
    for positions, table in plan.tables.items():
        first = seen.setdefault(table.table, positions)
        for key, how, one, other in (
            ("dataset", "holds the same ratings as", first[0], positions[0]),
            ("split", "has the same training and test parts as", first[1], positions[1]),
        ):
            if one != other:
                from harness.config.faults import repeated

                fault = repeated(plan.document, key, one, other, how)
                raise ConfigError(plan.document.source, [fault])


def check_metrics(plan: Plan) -> None:
    """Raise an error if a metric lacks genres, or has no gain for some rating, of any part."""
    for dataset in range(len(plan.experiment.dataset)):
        if not plan.divided(dataset):
            continue
        ratings, _ = plan.ratings(dataset)
        if any(m.needs_genres or m.needs_column or m.needs_sample for m in plan.metrics):
            from harness.experiment.feature_checks import check_features

            check_features(plan, ratings)
        scored = [ratings.ratings] if plan.is_tuned else []
        for number in plan.divided(dataset):
            fold = plan.splits(dataset, number, plan.experiment.seed[0])[0]
            own = fold.ratings is ratings  # else test rows are grades, of no part of the data
            scored.append(ratings.ratings if own else fold.ratings.ratings[fold.test])
        relevance = np.sort(pd.unique(np.concatenate([*map(pd.unique, scored)])))
        check_gains(plan, ratings.name, ratings.scale, relevance)


def check_gains(
    plan: Plan, name: str, scale: tuple[float, float], relevance: NDArray[np.float64]
) -> None:
    """Raise an error if a metric has no gain for some of the ratings of a data set, sorted."""
    wanted, (low, high) = list(plan.metrics), scale
    if plan.is_tuned:
        wanted.append(metrics.parse(plan.experiment.tuning.metric))
    if relevance[0] < 0:  # suggest an offset that suits the whole scale
        relevance = np.append(relevance, min(relevance[0], low))
    try:
        for metric in wanted:
            metrics.check_relevance(metric, relevance)
    except MetricError as error:
        raise MetricError(f"{name}, rated from {low:.16g} to {high:.16g}: {error}") from None
