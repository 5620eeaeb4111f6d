"""The scores of the best and of a random order of each table's lists: what was possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.metrics import Scores
from harness.notes.note import Note
from harness.rankings import evaluation
from harness.results.cells import AnyCell, TableName
from harness.results.scores import RowValue, deviation
from harness.results.statistics import Bound, BoundResult
from harness.results.table import BOUNDS

if TYPE_CHECKING:
    from harness.experiment.plan import Cell, Plan


class Bounds(BuiltinAnalysis):
    """The best and the expected score of each table, and which metrics cannot tell rows apart."""

    is_decided = True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.results: list[BoundResult] = []
        self.undistinguished: dict[str, dict[str, list[Note | None]]] = {}
        """By table and label: for each fold why every order of its lists scores the same, None
        where orders differ."""

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Begin a table."""
        self.folds: set[tuple[int, int]] = set()
        self.values: dict[Bound, dict[str, RowValue]] = {bound: {} for bound in BOUNDS}
        self.reasons: dict[str, list[Note | None]] = {}

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Take the lists of a cell, unless those of another model in its fold were taken."""
        fold = cell.name.seed, cell.name.fold
        if fold in self.folds or cell.candidates.least_estimate is not None:
            return  # with a least estimate, each algorithm has lists of its own
        self.folds.add(fold)
        rankings = cell.record.rankings
        for label, limits in evaluation.bound_scores(self.plan.metrics, rankings).items():
            metric = metrics.parse(label)
            for bound, of_bound in self.values.items():
                value = of_bound.setdefault(label, RowValue(metric))
                value.add(cell.record.users, limits[bound])
            more = cell.candidates.longer
            reason = evaluation.cannot_distinguish(metric, rankings, limits, more)
            self.reasons.setdefault(label, []).append(reason)

    def end_table(
        self,
        name: TableName,
        cells: Sequence[AnyCell],
        tables: Iterable[str],
        report: Callable[[str, int, int], object],
    ) -> None:
        """Keep what the table's lists allow."""
        for bound, of_bound in self.values.items():
            values = {  # a metric that failed on a fold has none
                label: value
                for label, value in of_bound.items()
                if len(value.means) == len(self.folds)
            }
            if values:
                self.results.append(
                    BoundResult(
                        **name.only(TableName),
                        bound=bound,
                        scores={label: value.value for label, value in values.items()},
                        deviations={
                            label: deviation(value.means) for label, value in values.items()
                        },
                    )
                )
        self.undistinguished[name.table] = self.reasons

    def parts(self) -> dict[str, Any]:
        """Return the bounds, and why orders score the same."""
        return {"bounds": self.results, "undistinguished": self.undistinguished}
