"""The headline metric of a run under every rule for the order of equal estimates."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.config.experiment import headline_of
from harness.errors import MetricError
from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.experiment.analyses.conventions import Rescored
from harness.metrics import Metric, Scores
from harness.rankings.evaluation import tied_shares
from harness.results.cells import RowKey, TableName
from harness.results.scores import mean_or_none
from harness.results.statistics import TieRow, TieScores

if TYPE_CHECKING:
    from harness.experiment.plan import Plan


USUAL = "ndcg@{}"
USUAL_RANK = 10
RULES = ("average", "first", "last", "best", "worst")


class Ties(BuiltinAnalysis):
    """The headline metric, or nDCG where that has no ties, with its ties ordered in every way."""

    is_decided = True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        labels = [str(metric) for metric in plan.metrics]
        headline = metrics.parse(headline_of(labels, plan.experiment.headline))
        if "ties" not in headline.params:
            headline = metrics.parse(USUAL.format(headline.k or USUAL_RANK))
        self.headline = headline
        self.rules: dict[str, Metric] = {}
        for rule in RULES:
            with suppress(MetricError):  # a metric that has no such rule
                self.rules[rule] = headline.having(ties=rule)
        self._rescored = Rescored(self.rules.values())
        self._tables: dict[str, TieScores] = {}
        self._shares: list[float] = []

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Score one cell."""
        if self._rescored.starts(cell.name):
            self._end_row()
            self._rescored.start(cell.name)
            self._shares = []
        with suppress(MetricError):  # ndcg, in place of a metric without ties, has no gain below 0
            self._shares += tied_shares([self.headline], cell.record.rankings).values()
        self._rescored.add(cell.record)

    def _end_row(self) -> None:
        row = self._rescored.row
        if row is None or not self.rules:
            return
        values = self._rescored.values()
        scores = {rule: values[metric] for rule, metric in self.rules.items()}
        written = TieRow(**row.only(RowKey), tied=mean_or_none(self._shares), scores=scores)
        if row.table in self._tables:
            self._tables[row.table].rows.append(written)
        else:
            label = str(next(iter(self.rules.values())))
            named = row.only(TableName)
            self._tables[row.table] = TieScores(**named, metric=label, rows=[written])

    def parts(self) -> dict[str, Any]:
        """Return the scores of each table."""
        self._end_row()
        self._rescored.row = None
        return {"ties": [*self._tables.values()]}
