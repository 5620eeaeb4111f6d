"""Whether metrics can score the ratings of a config, told before anything is fitted."""

from __future__ import annotations

import numpy as np

from harness import metrics, rankings
from harness.config.experiment import Experiment
from harness.errors import MetricError
from harness.experiment.plan import requested_metrics
from harness.experiment.workspace import Workspace
from harness.metrics import Pairs

__all__ = ["LARGEST_GRADE", "refuse_counts"]

LARGEST_GRADE = 1000.0
"""Beyond it, a relevance is a count, and 2 to its power no number."""


def refuse_counts(experiment: Experiment, workspace: Workspace) -> None:
    """Score a list of the highest rating alone where it is larger than any grade.

    Raises
    ------
    MetricError
        If a metric has no gain for so large a relevance, as the default of ndcg for plays.
    """
    wanted = [each for each in requested_metrics(experiment) if not each.needs_items]
    for position in range(len(experiment.dataset)):
        ratings, _ = workspace.ratings(position)
        highest = float(ratings.ratings.max())
        if highest <= LARGEST_GRADE:
            continue
        pairs = Pairs(np.array([0, 1]), np.array([highest]), np.array([highest]))
        try:
            metrics.score(wanted, rankings.from_grouped(pairs), pairs=pairs)
        except MetricError as error:
            raise MetricError(
                f"{ratings.name}, whose highest rating is {highest:g}: {error}"
            ) from None
