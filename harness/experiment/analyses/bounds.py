"""The scores of the best and of a random order of each table's lists: what was possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.metrics import Scores
from harness.notes.note import Note
from harness.rankings import evaluation
from harness.results.cells import AnyCell, TableName
from harness.results.scores import RowScores, deviation
from harness.results.statistics import BoundResult
from harness.results.table import BOUNDS

if TYPE_CHECKING:
    from harness.experiment.execute.progress import Watch
    from harness.experiment.plan import Cell


class Bounds(BuiltinAnalysis):
    """The best and the expected score of each table, and which metrics cannot tell rows apart."""

    is_decided = True
    makes = ("bounds", "undistinguished")

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Begin a table."""
        self.folds: set[tuple[int, int]] = set()
        self.rows = {bound: RowScores(self.plan.metrics) for bound in BOUNDS}
        self.reasons: dict[str, list[Note | None]] = {}
        """By label, for each fold why every order of its lists scores the same; None where orders
        differ."""

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Take the lists of a cell, unless another model's lists in its fold were taken."""
        fold = cell.name.seed, cell.name.fold
        if fold in self.folds or cell.candidates.least_estimate is not None:
            return  # with a least estimate, each algorithm has lists of its own
        self.folds.add(fold)
        rankings = cell.record.rankings
        limits = evaluation.bound_scores(self.plan.metrics, rankings)
        for bound, row in self.rows.items():
            row.add(cell.record.users, {label: limits[label][bound] for label in limits})
        for metric in self.plan.metrics:
            if of_metric := limits.get(str(metric)):
                more = cell.candidates.longer
                reason = evaluation.cannot_distinguish(metric, rankings, of_metric, more)
                self.reasons.setdefault(str(metric), []).append(reason)

    def end_table(
        self, name: TableName, cells: Sequence[AnyCell], tables: Sequence[str], watch: Watch
    ) -> None:
        """Keep what the table's lists allow."""
        n_folds = {label: len(of_folds) for label, of_folds in self.reasons.items()}
        # A metric that failed on a fold has no bounds.
        bounded = [m for m in self.plan.metrics if n_folds.get(str(m)) == len(self.folds)]
        for bound, row in self.rows.items() if bounded else ():
            result = BoundResult(
                **name.only(TableName),
                bound=bound,
                scores={str(metric): row.value(metric) for metric in bounded},
                deviations={str(metric): deviation(row.means(str(metric))) for metric in bounded},
            )
            self.parts["bounds"].append(result)
        self.parts.setdefault("undistinguished", {})[name.table] = self.reasons
