"""The scores of a run's lists by the definitions of other libraries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from harness import metrics
from harness._util.libraries import pd
from harness.errors import MetricError, ResultsError
from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.metrics import Metric, Scores, conventions
from harness.results.cells import AnyCell, RowName, TableName
from harness.results.fields import AGAIN
from harness.results.runs import Run
from harness.results.scores import RowScores
from harness.results.statistics import ConventionRow, ConventionScores
from harness.results.store import CellStore

if TYPE_CHECKING:
    from harness.experiment.execute.progress import Watch
    from harness.experiment.plan import Cell


USUAL_RANK = 10
EQUAL = 1e-9
"""Values that differ by less are equal but for rounding."""


def by_convention(role: str, k: int, threshold: float | None = None) -> dict[str, Metric]:
    """Return how each library computes the metric of one `role` (``ndcg``, ``ap``, ...).

    Without a `threshold`, each has its own for relevance. A role that none has is a MetricError.
    """
    by_name = conventions()
    defined = {
        name: convention.metric(role, k, threshold)
        for name, convention in by_name.items()
        if role in convention.roles
    }
    if not defined:
        roles = sorted({name for convention in by_name.values() for name in convention.roles})
        raise MetricError(f"{role}: no convention defines it; use one of {', '.join(roles)}")
    return defined


class TableByConvention:
    """Scores the rows of a table by each convention, of whose definitions some may be the same."""

    def __init__(self, defined: Mapping[str, Metric]) -> None:
        self.cells = RowScores([*dict.fromkeys(defined.values())])
        """Those of the present row: each is added with its record."""
        self.rows = [
            ConventionRow(convention=name, label=str(metric), scores={}, note="")
            for name, metric in defined.items()
        ]

    def end_row(self, row: str) -> None:
        """Keep the values of the present row, under its identity, and begin another one."""
        values = self.cells.values
        for written in self.rows:
            written.scores[row] = values[written.label]
            written.note = written.note or self.cells.failed.get(written.label, "")
        self.cells = RowScores(self.cells.metrics)

    def result(self, name: TableName, role: str, k: int) -> ConventionScores:
        """Return the scores as a record of a run has them."""
        for row in self.rows:
            values = [score for score in row.scores.values() if score is not None]
            is_same = len(values) > 1 and max(values) - min(values) <= EQUAL
            if is_same and len(values) == len(row.scores):
                row.note = row.note or "cannot distinguish these algorithms"
        return ConventionScores(**name.only(TableName), metric=role, k=k, rows=self.rows)


class Conventions(BuiltinAnalysis):
    """The nDCG of each row by the definition of each library, at the rank of the headline."""

    is_decided = True
    makes: ClassVar = {"conventions": list}

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Begin a table."""
        self.k = metrics.parse(self.plan.headline).k or USUAL_RANK
        self.table = TableByConvention(by_convention("ndcg", self.k))

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Score one cell."""
        self.table.cells.rescore(cell.record)

    def end_row(self, name: RowName) -> None:
        """Keep the values of a row."""
        self.table.end_row(name.row)

    def end_table(
        self, name: TableName, cells: Sequence[AnyCell], tables: Sequence[str], watch: Watch
    ) -> None:
        """Keep the scores of a table, unless none of its cells finished."""
        if any(not cell.error for cell in cells):
            self.parts["conventions"].append(self.table.result(name, "ndcg", self.k))


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = "ndcg",
    k: int = USUAL_RANK,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the finished cells of a run by the definition of each library; see `by_convention`.

    The table has a row for each convention and table of the run, a column for each algorithm, and a
    ``note`` where there is no value. Where the store has no longer all cells, the values in the run
    are used, if they are of the same metric at the same rank; else a ResultsError says so.
    """
    info, defined = run.info, by_convention(role, k, threshold)
    by_row = info.cells_of_rows.items()
    finished = {row: [cell for cell in cells if not cell.error] for row, cells in by_row}
    if not any(finished.values()):
        raise ResultsError(f"{run.name}: no cell finished; {AGAIN}")
    scored: dict[str, tuple[TableName, TableByConvention]] = {}
    try:
        for row, cells in finished.items():
            for cell in cells:
                record = store.get(cell.key)
                if record is None:
                    raise ResultsError(
                        f"{run.name}: its cell of {cell.algorithm} is not in the cache; "
                        "run the config again, which computes what is missing"
                    )
                _, scores = scored.setdefault(cell.table, (cell, TableByConvention(defined)))
                scores.cells.rescore(record)
            if cells:
                scores.end_row(row)
        tables = [scores.result(name, role, k) for name, scores in scored.values()]
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
