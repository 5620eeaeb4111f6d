"""The scores of a run's lists by the definitions of other libraries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness._util.libraries import pd
from harness.config.experiment import headline_of
from harness.errors import MetricError, ResultsError
from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.metrics import Metric, Scores, conventions
from harness.results.cells import RowName, TableName
from harness.results.fields import AGAIN
from harness.results.runs import Run
from harness.results.scores import RowValue
from harness.results.statistics import ConventionRow, ConventionScores
from harness.results.store import CellRecord, CellStore

if TYPE_CHECKING:
    from harness.experiment.plan import Plan


class Rescored:
    """The values of some metrics for the rows of a run, whose cells come after each other."""

    def __init__(self, of: Iterable[Metric]) -> None:
        self.metrics = tuple(dict.fromkeys(of))
        self.row: RowName | None = None
        self.notes: dict[Metric, str] = {}
        """Of the present row: why a metric has no value."""

    def starts(self, cell: RowName) -> bool:
        """Return whether a cell is the first of another row than the present one."""
        return self.row is None or self.row.row != cell.row

    def start(self, cell: RowName) -> None:
        """Begin the row of a cell."""
        self.row, self.notes = cell, {}
        self._values = {metric: RowValue(metric) for metric in self.metrics}

    def add(self, record: CellRecord) -> None:
        """Score a cell of the present row."""
        for metric, value in self._values.items():
            try:
                scores = metrics.score([metric], record.rankings, record.pairs)[metric]
            except MetricError as error:
                self.notes.setdefault(metric, error.reason)
            else:
                value.add(record.users, scores)

    def values(self) -> dict[Metric, float | None]:
        """Return the values of the present row; None where a cell has no score."""
        return {
            metric: None if metric in self.notes else value.value
            for metric, value in self._values.items()
        }


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

    is_decided = True

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


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = "ndcg",
    k: int = USUAL_RANK,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the finished cells of a run by the definition of each library; see `ByConvention`.

    The table has a row for each convention and table of the run, a column for each algorithm, and a
    ``note`` where there is no value. Where the store has no longer all cells, the values in the run
    are used, if they are of the same metric at the same rank; else a ResultsError says so.
    """
    info = run.info
    scores = ByConvention(role, k, threshold)
    finished = [cell for row in info.cells_of_rows.values() for cell in row if not cell.error]
    if not finished:
        raise ResultsError(f"{run.name}: no cell finished; {AGAIN}")
    try:
        for cell in finished:
            record = store.get(cell.key)
            if record is None:
                raise ResultsError(
                    f"{run.name}: its cell of {cell.algorithm} is not in the cache; "
                    "run the config again, which computes what is missing"
                )
            scores.add(cell, record)
        tables = scores.results()
    except ResultsError:
        tables = [table for table in info.conventions if (table.metric, table.k) == (role, k)]
        if not tables or threshold is not None:
            raise
    names = {row.row: row.algorithm for row in info.rows}
    return pd.DataFrame(
        table.only(TableName)
        | {"convention": row.convention, "label": row.label}
        | {names[key]: math.nan if value is None else value for key, value in row.scores.items()}
        | {"note": row.note}
        for table in tables
        for row in table.rows
    ).drop(columns="table")
