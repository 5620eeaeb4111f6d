"""The scores of a run's lists by the definitions of other libraries."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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
    defined = {
        name: convention.metric(role, k, threshold)
        for name, convention in conventions().items()
        if role in convention.labels
    }
    if not defined:
        roles = sorted({name for convention in conventions().values() for name in convention.roles})
        raise MetricError(f"{role}: no convention defines it; use one of {', '.join(roles)}")
    return defined


def scores_by_convention(
    defined: Mapping[str, Metric],
    values: Mapping[str, Mapping[str, float | None]],
    failed: Mapping[str, str],
) -> list[ConventionRow]:
    """Return the scores of the rows of a table by each convention.

    `values` are the values of the rows by identity and label; `failed` are the labels of metrics
    that failed, with the reason.
    """
    rows = []
    for convention, label in ((name, str(metric)) for name, metric in defined.items()):
        scores, note = {row: of_row[label] for row, of_row in values.items()}, failed.get(label, "")
        known = [score for score in scores.values() if score is not None]
        if len(known) == len(scores) > 1 and max(known) - min(known) <= EQUAL:
            note = note or "cannot distinguish these algorithms"
        rows.append(ConventionRow(convention=convention, label=label, scores=scores, note=note))
    return rows


class Conventions(BuiltinAnalysis):
    """The nDCG of each row by the definition of each library, at the rank of the headline."""

    is_decided = True
    makes = ("conventions",)

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Begin a table."""
        self.k = metrics.parse(self.plan.headline).k or USUAL_RANK
        self.defined = by_convention("ndcg", self.k)
        self.row = RowScores([*dict.fromkeys(self.defined.values())])
        self.values: dict[str, dict[str, float | None]] = {}
        self.failed: dict[str, str] = {}

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Score one cell."""
        self.row.rescore(cell.record)

    def end_row(self, name: RowName) -> None:
        """Keep the values of a row, and begin another one."""
        self.values[name.row] = self.row.values
        self.failed = {**self.row.failed, **self.failed}
        self.row = RowScores(self.row.metrics)

    def end_table(
        self, name: TableName, cells: Sequence[AnyCell], tables: Sequence[str], watch: Watch
    ) -> None:
        """Keep the scores of a table, unless none of its cells finished."""
        if self.values:
            rows = scores_by_convention(self.defined, self.values, self.failed)
            table = ConventionScores(**name.only(TableName), metric="ndcg", k=self.k, rows=rows)
            self.parts["conventions"].append(table)


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = "ndcg",
    k: int = USUAL_RANK,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the computed cells of a run by the definition of each library; see `by_convention`.

    The table has a row for each convention and table of the run, a column for each algorithm, and a
    ``note`` where there is no value. If the store has no longer all cells, the values in the run
    are used, if they are of the same metric at the same rank; else a ResultsError is raised.
    """
    info, defined = run.info, by_convention(role, k, threshold)
    by_row = info.cells_of_rows.items()
    finished = {row: [cell for cell in cells if not cell.error] for row, cells in by_row}
    if not any(finished.values()):
        raise ResultsError(f"{run.name}: no cell finished; {AGAIN}")
    values: dict[str, dict[str, dict[str, float | None]]] = defaultdict(dict)
    failed: dict[str, dict[str, str]] = defaultdict(dict)
    try:
        for name in info.rows:
            scored = RowScores([*dict.fromkeys(defined.values())])
            for cell in finished[name.row]:
                record = store.get(cell.key)
                if record is None:
                    raise ResultsError(
                        f"{run.name}: its cell of {cell.algorithm} is not in the cache; "
                        "run the config again, which computes what is missing"
                    )
                scored.rescore(record)
            if finished[name.row]:
                values[name.table][name.row] = scored.values
                failed[name.table] = {**scored.failed, **failed[name.table]}
        names_of = {row.table: row.only(TableName) for row in info.rows}
        tables = [
            ConventionScores(
                **names_of[table],
                metric=role,
                k=k,
                rows=scores_by_convention(defined, of_rows, failed[table]),
            )
            for table, of_rows in values.items()
        ]
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
