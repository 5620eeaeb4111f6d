"""Whether data have what metrics and groups of a config need to know of users and items."""

from __future__ import annotations

from harness.datasets import Ratings
from harness.errors import DataError, MetricError
from harness.experiment.plan import Plan
from harness.grouping import divide
from harness.split_exposure import propensities


def check_features(plan: Plan, ratings: Ratings) -> None:
    """Raise a MetricError if a metric needs genres, propensities or a sample that are not there."""
    if plan.of_genres:
        try:
            _ = ratings.genres
        except DataError as error:
            raise MetricError(f"{plan.of_genres[0]}: {error}") from None
    if column := next((metric for metric in plan.metrics if metric.needs_column), None):
        try:
            propensities(ratings)
        except DataError as error:
            raise MetricError(f"{column}: {error}") from None
    if ratings.at_random is None:
        for metric in (metric for metric in plan.metrics if metric.needs_sample):
            raise MetricError(
                f"{metric}: {ratings.name} has no ratings at random; give a file of them, as "
                "`at_random: random.csv` under `dataset`, or load(ratings, at_random=values)"
            )


def check_groups(plan: Plan) -> None:
    """Raise a DataError if a group is of a column that a data set lacks."""
    for dataset in plan.read:
        if not (divided := plan.divided(dataset)):
            continue
        split = plan.splits(dataset, divided[0], plan.experiment.seed[0])[:1]
        for section in plan.experiment.groups:
            divide(section, split)
