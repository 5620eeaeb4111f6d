"""Notes on the learning curves of a run; imported where it has some."""

from __future__ import annotations

from collections.abc import Iterator

from harness.comparison import learning
from harness.config.experiment import headline_of
from harness.experiment.evaluate import Evaluation
from harness.experiment.plan import Plan
from harness.notes import Note


def notes_on_curves(plan: Plan, results: Evaluation) -> Iterator[Note]:
    """Yield notes on the curve of each row by the headline metric."""
    yield from learning.notes_on_curves(
        plan.made(),
        {table.table: table.names for table in plan.tables.values()},
        results.users,
        headline_of(map(str, plan.metrics), plan.experiment.headline),
        plan.experiment.statistics,
        plan.experiment.seed[0],
    )
