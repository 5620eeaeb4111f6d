"""The metrics of a model on its training part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness import evaluation
from harness.candidates import Rated
from harness.metrics import Metric
from harness.results.scores import or_none
from harness.splits import Split

if TYPE_CHECKING:
    from harness.experiment.cell import Scorer


def training_values(
    metrics: Sequence[Metric], split: Split, scorer: Scorer
) -> dict[str, float | None]:
    """Return by label what each metric is on the training ratings, which each user's list ranks.

    Metrics of which items are shown, and those with weights of exposure, have no value there.
    """
    scored = [metric for metric in metrics if not metric.needs_exposure]
    section, trained = Rated(), replace(split, test=split.train)
    of_training = replace(scorer, selected=section.select(trained, 0))
    pairs, _ = of_training.pairs()
    ids = split.ratings.user_ids, split.ratings.item_ids
    lists = of_training.rank(section, pairs, depth=0, ids=ids)
    scores, _ = evaluation.evaluate_apart(scored, lists, pairs)
    return {label: or_none(of_metric.mean) for label, of_metric in scores.items()}
