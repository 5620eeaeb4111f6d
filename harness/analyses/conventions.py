"""The scores of a run's lists by the definitions of other libraries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.analyses.base import BuiltinAnalysis, ScoredCell
from harness.analyses.rescoring import Rescored
from harness.config.experiment import headline_of
from harness.errors import MetricError
from harness.metrics import Scores, conventions
from harness.results.names import RowName, TableName
from harness.results.statistics import ConventionRow, ConventionScores
from harness.results.store import CellRecord

if TYPE_CHECKING:
    from harness.experiment.plan import Plan

USUAL_RANK = 10
EQUAL = 1e-9
"""Values that differ by less are equal but for rounding."""


class ByConvention:
    """Scores lists as each library computes the metric of one `role` (``ndcg``, ``ap``, ...).

    Without a `threshold`, each has its own for relevance.
    """

    def __init__(self, role: str, k: int, threshold: float | None = None) -> None:
        self.role, self.k = role, k
        by_name = conventions()
        self.definitions = {
            name: convention.metric(role, k, threshold)
            for name, convention in by_name.items()
            if role in convention.roles
        }
        if not self.definitions:
            roles = sorted({name for convention in by_name.values() for name in convention.roles})
            raise MetricError(f"{role}: no convention defines it; use one of {', '.join(roles)}")
        self._rescored = Rescored(self.definitions.values())
        self._tables: dict[str, ConventionScores] = {}

    def add(self, cell: RowName, record: CellRecord) -> None:
        """Score one cell; the cells of a row come after each other."""
        if self._rescored.starts(cell):
            self._end_row()
            self._rescored.start(cell)
        self._rescored.add(record)

    def _end_row(self) -> None:
        row, values = self._rescored.row, self._rescored.values
        if row is None:
            return
        scores = values()
        if (table := self._tables.get(row.table)) is None:
            rows = [
                ConventionRow(convention=name, label=str(metric), scores={}, note="")
                for name, metric in self.definitions.items()
            ]
            named = row.only(TableName)
            table = ConventionScores(**named, metric=self.role, k=self.k, rows=rows)
            self._tables[row.table] = table
        for written, metric in zip(table.rows, self.definitions.values(), strict=True):
            written.scores[row.row] = scores[metric]
            written.note = written.note or self._rescored.notes.get(metric, "")

    def results(self) -> list[ConventionScores]:
        """Return the scores of each table."""
        self._end_row()
        self._rescored.row = None
        for row in (row for table in self._tables.values() for row in table.rows):
            values = [score for score in row.scores.values() if score is not None]
            is_same = len(values) > 1 and max(values) - min(values) <= EQUAL
            if is_same and len(values) == len(row.scores):
                row.note = row.note or "cannot distinguish these algorithms"
        return [*self._tables.values()]


class Conventions(BuiltinAnalysis):
    """The nDCG of each row by the definition of each library, at the rank of the headline."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        labels = [str(metric) for metric in plan.metrics]
        k = metrics.parse(headline_of(labels, plan.experiment.headline)).k
        self._scores = ByConvention("ndcg", k or USUAL_RANK)

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Score one cell."""
        self._scores.add(cell.name, cell.record)

    def parts(self) -> dict[str, Any]:
        """Return the scores of each table."""
        return {"conventions": self._scores.results()}
