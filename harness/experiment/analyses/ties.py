"""The headline metric of a run under every rule for the order of equal estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from harness import metrics
from harness.errors import MetricError
from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.metrics import Metric, Scores
from harness.rankings.evaluation import tied_shares
from harness.results.cells import AnyCell, RowKey, RowName, TableName
from harness.results.scores import RowScores, mean_or_none
from harness.results.statistics import TieRow, TieScores

if TYPE_CHECKING:
    from harness.experiment.execute.progress import Watch
    from harness.experiment.plan import Cell


USUAL = "ndcg@{}"
USUAL_RANK = 10
RULES = ("average", "first", "last", "best", "worst")


class Ties(BuiltinAnalysis):
    """The headline metric, or nDCG where that has no ties, with its ties ordered in every way."""

    is_decided = True
    makes = ("ties",)

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Begin a table."""
        self.headline = metrics.parse(self.plan.headline)
        if "ties" not in self.headline.params:
            self.headline = metrics.parse(USUAL.format(self.headline.k or USUAL_RANK))
        self.rules: dict[str, Metric] = {}
        for rule in RULES:
            with suppress(MetricError):  # a metric that has no such rule
                self.rules[rule] = self.headline.having(ties=rule)
        self.rows: list[TieRow] = []
        self.cells, self.shares = RowScores([*self.rules.values()]), list[float]()

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Score one cell."""
        with suppress(MetricError):  # ndcg, in place of a metric without ties, has no gain below 0
            self.shares += tied_shares([self.headline], cell.record.rankings).values()
        self.cells.rescore(cell.record)

    def end_row(self, name: RowName) -> None:
        """Keep the values of a row, and begin another one."""
        scores = {rule: self.cells.value(metric) for rule, metric in self.rules.items()}
        tied = mean_or_none(self.shares)
        self.rows.append(TieRow(**name.only(RowKey), tied=tied, scores=scores))
        self.cells, self.shares = RowScores(self.cells.metrics), []

    def end_table(
        self, name: TableName, cells: Sequence[AnyCell], tables: Sequence[str], watch: Watch
    ) -> None:
        """Keep the scores of a table."""
        if self.rows and self.rules:
            label = str(next(iter(self.rules.values())))
            table = TieScores(**name.only(TableName), metric=label, rows=self.rows)
            self.parts["ties"].append(table)
