"""How much scores depend on definitions: those of other libraries, and other rules for ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness import metrics
from harness.errors import MetricError, ResultsError
from harness.metrics import Metric, Value, conventions
from harness.results.record import (
    ConventionRow,
    ConventionScores,
    RowName,
    TableName,
    TieRow,
    TieScores,
)
from harness.results.run import Run
from harness.results.store import CellRecord, CellStore
from harness.results.table import GROUP, grouped, primary_metric
from harness.results.values import RowValue, mean_or_none, or_nan

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Sensitivity", "under_conventions", "with_sensitivity"]

ROLE = "ndcg"
USUAL_RANK = 10
TIE_RULES = ("average", "first", "last", "best", "worst")


class Sensitivity:
    """Collects the scores of finished cells under other definitions, one cell at a time.

    Parameters
    ----------
    labels : sequence of str
        The metrics of the run. The first of them for a headline gives the cut-off rank, and the
        metric whose ties are ordered in every way.
    role : str
        Which metric each library computes in its own way: ``ndcg``, ``ap``, ``recall``, ...
    k : int, optional
        Cut-off rank.
    threshold : float, optional
        Least rating of a relevant item for binary metrics; each library's own when left out.

    Raises
    ------
    MetricError
        If no library has such a metric.
    """

    def __init__(
        self,
        labels: Sequence[str],
        *,
        role: str = ROLE,
        k: int | None = None,
        threshold: float | None = None,
    ) -> None:
        primary = metrics.parse(primary_metric(labels))
        self.role = role
        self.k = k or primary.k or USUAL_RANK
        known = conventions()
        self.definitions = {
            name: each.metrics(self.k, threshold)[role]
            for name, each in known.items()
            if role in each.roles
        }
        if not self.definitions:
            roles = sorted({each for convention in known.values() for each in convention.roles})
            raise MetricError(f"{role}: no convention defines it; use one of {', '.join(roles)}")
        self.rules = _tie_rules(primary if "ties" in primary.params else None, self.k)
        self._tables: dict[str, tuple[TableName, dict[str, _RowScores]]] = {}

    def add(self, cell: RowName, record: CellRecord) -> None:
        """Score one cell; the cells of a row come after each other."""
        from harness.evaluation import tied_share

        _, rows = self._tables.setdefault(cell.table, (cell, {}))
        if cell.row not in rows:
            for each in rows.values():
                each.finish()
            rows[cell.row] = _RowScores(cell.algorithm)
        row = rows[cell.row]
        row.tied.append(tied_share(record.rankings, self.k))
        for metric in {*self.definitions.values(), *self.rules.values()}:
            row.add(metric, record)

    @property
    def conventions(self) -> list[ConventionScores]:
        """The scores under the definition of each library, by table."""
        return [
            ConventionScores(
                **table.of_table,
                metric=self.role,
                k=self.k,
                rows=[
                    ConventionRow(
                        convention=name,
                        label=str(metric),
                        scores=(scores := {row: each.value(metric) for row, each in rows.items()}),
                        note=next(
                            (each.notes[metric] for each in rows.values() if metric in each.notes),
                            _same_for_all(scores),
                        ),
                    )
                    for name, metric in self.definitions.items()
                ],
            )
            for table, rows in self._tables.values()
        ]

    @property
    def ties(self) -> list[TieScores]:
        """The scores under each rule for ties, by table; none for a metric that has no rules."""
        return [
            TieScores(
                **table.of_table,
                metric=str(next(iter(self.rules.values()))),
                rows=[
                    TieRow(
                        row=row,
                        algorithm=each.algorithm,
                        tied=mean_or_none(each.tied),
                        scores={rule: each.value(metric) for rule, metric in self.rules.items()},
                    )
                    for row, each in rows.items()
                ],
            )
            for table, rows in self._tables.values()
            if self.rules
        ]


class _RowScores:
    """The scores of one row's lists under other definitions."""

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self.tied: list[float] = []
        self.notes: dict[Metric, str] = {}
        self._open: dict[Metric, RowValue] = {}
        self._values: dict[Metric, float | None] = {}

    def add(self, metric: Metric, record: CellRecord) -> None:
        """Score a cell, or note why it has no score."""
        value = self._open.setdefault(metric, RowValue(metric))
        try:
            scores = metrics.score([metric], record.rankings)[metric]
        except MetricError as error:
            self.notes.setdefault(metric, str(error).partition(": ")[2])
        else:
            value.add(record.users[record.kept], scores)

    def finish(self) -> None:
        """Forget what is kept of each user; a definition without a score in a cell has none."""
        for metric, value in self._open.items():
            self._values[metric] = None if metric in self.notes else value.value
        self._open = {}

    def value(self, metric: Metric) -> float | None:
        """Return the row's value."""
        self.finish()
        return self._values[metric]


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = ROLE,
    k: int = USUAL_RANK,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the finished cells of a run by the definition of each library; see `Sensitivity`.

    Where the store has no longer all cells, the values in the run are used, if they are of the same
    metric at the same rank; else a ResultsError says so.

    Returns
    -------
    DataFrame
        For each convention and each table of the run: ``dataset``, ``split``, ``candidates``,
        ``convention``, ``label``, a column for each algorithm with its value, and
        ``note``, why there is none.
    """
    import pandas as pd

    collected = Sensitivity(run.info.metrics, role=role, k=k, threshold=threshold)
    try:
        _collect(run, store, collected)
        tables = collected.conventions
    except ResultsError:
        same = [each for each in run.info.conventions if (each.metric, each.k) == (role, k)]
        tables = same if threshold is None else []
        if not tables:
            raise
    names = {each.row: each.algorithm for each in run.info.rows}
    rows = [
        dict(zip(GROUP, table.names, strict=True))
        | {"convention": row.convention, "label": row.label}
        | {names[key]: or_nan(value) for key, value in row.scores.items()}
        | {"note": row.note}
        for table in tables
        for row in table.rows
    ]
    if not rows:
        raise ResultsError(f"{run.name}: no cell finished; run the config again")
    return pd.DataFrame(rows)


def with_sensitivity(run: Run, store: CellStore) -> Run:
    """Return a run that has ``conventions`` and ``ties``: itself, or scored again from its cells.

    Without its cells in the store, the run comes back as it is.
    """
    if run.info.conventions:
        return run
    collected = Sensitivity(run.info.metrics)
    try:
        _collect(run, store, collected)
    except ResultsError:
        return run
    found = {"conventions": collected.conventions, "ties": collected.ties}
    return Run(run.info.model_copy(update=found), run.users, run.folder, run.trials)


def _collect(run: Run, store: CellStore, collected: Sensitivity) -> None:
    for cells in grouped(run.info).values():
        for cell in cells:
            if cell.error:
                continue
            record = store.get(cell.key)
            if record is None:
                raise ResultsError(
                    f"{run.name}: its cell of {cell.algorithm} is not in the cache; "
                    "run the config again, which computes what is missing"
                )
            collected.add(cell, record)


def _tie_rules(metric: Metric | None, k: int) -> dict[str, Metric]:
    """Return a metric under each rule for ties that it can have."""
    metric = metric or metrics.parse(f"{ROLE}@{k}")
    others = tuple(each for each in metric.chosen if each[0] != "ties")
    found = {}
    for rule in TIE_RULES:
        written = Metric(metric.name, (*others, ("ties", Value(rule))), metric.k)
        try:
            found[rule] = metrics.parse(str(written))
        except MetricError:
            continue  # a metric that has no such rule
    return found


def _same_for_all(scores: Mapping[str, float | None]) -> str:
    """Return a note on a definition under which several algorithms all score the same."""
    values = [value for value in scores.values() if value is not None]
    if len(values) < 2 or len(values) < len(scores) or max(values) - min(values) > 1e-9:
        return ""
    return "cannot distinguish these algorithms"
