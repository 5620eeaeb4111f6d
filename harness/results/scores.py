"""What is computed from the scores of a run's cells: values of rows, comparisons, sensitivity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness import metrics, seeds, statistics
from harness.config.experiment import Draw, Inference
from harness.errors import MetricError, ResultsError
from harness.metrics import Metric, Scores, conventions
from harness.results.design import Design
from harness.results.record import (
    AnyCell,
    ConventionRow,
    ConventionScores,
    MetricComparison,
    RowName,
    SplitInfo,
    TableName,
    TieRow,
    TieScores,
)
from harness.results.store import CellRecord, CellStore
from harness.statistics import SEED_TESTS

if TYPE_CHECKING:
    import pandas as pd

    from harness.results.runs import Run

USUAL_RANK = 10
TIE_RULES = ("average", "first", "last", "best", "worst")


def is_mean_of_users(metric: Metric) -> bool:
    """Return whether the value of a metric is a mean of users' scores, as that of ``ndcg@10``.

    The others, as ``rmse``, are computed from all pairs or all lists of a cell at once.
    """
    return metric.per_user and not metric.pooled


class RowValue:
    """Collects one metric over the cells of a row.

    The value of a metric that is a mean of users' scores is the mean over users of each user's
    average over the folds and seeds in which the user has a score: the quantity that intervals
    and tests are about. That of any other metric is the mean over cells.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._means: list[float] = []
        self._users: list[NDArray[np.int32]] = []
        self._scores: list[NDArray[np.float64]] = []

    def add(self, users: NDArray[np.int32], scores: Scores) -> None:
        """Add the scores of a cell, and the codes of its users in their data set."""
        self._means.append(float(scores.mean))
        if is_mean_of_users(self.metric):
            self._users.append(users)
            self._scores.append(scores.per_user)

    @property
    def value(self) -> float | None:
        """The value; None where no cell, or no user, has a score."""
        if not is_mean_of_users(self.metric):
            return mean_or_none(self._means)
        scores = np.concatenate([np.empty(0), *self._scores])
        known = ~np.isnan(scores)
        if not known.any():
            return None
        users = np.concatenate(self._users)[known]
        counts = np.bincount(users)
        averages = np.bincount(users, scores[known])[counts > 0] / counts[counts > 0]
        return float(averages.mean())

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the cells' means; None for a single cell."""
        return deviation(self._means)


def mean_or_none(values: Sequence[float]) -> float | None:
    """Return the mean; None where there is none, or a value is NaN."""
    mean = math.fsum(values) / len(values) if values else math.nan
    return None if math.isnan(mean) else mean


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation; None for fewer than two values, or where one is NaN."""
    mean = mean_or_none(values)
    if mean is None or len(values) < 2:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def infer(
    users: pd.DataFrame,
    labels: Sequence[str],
    cells: Sequence[AnyCell],
    settings: Inference,
    seed: int,
    draws: Mapping[int, Draw] | None = None,
    splits: Iterable[SplitInfo] = (),
) -> tuple[list[MetricComparison], list[str]]:
    """Compare the algorithms of each table by every metric that is a mean over users.

    `users` is as a run has it; `cells` give tables and rows their order; `draws` say which seeds
    are nested in which. A row with a failed cell is not compared: its users are not those of the
    others. Notes say what is not compared, and why.
    """
    ratios = {each.fingerprint: each.n_test / max(1, each.n_train) for each in splits}
    tables: dict[str, dict[str, list[AnyCell]]] = {}
    for cell in cells:
        tables.setdefault(cell.table, {}).setdefault(cell.row, []).append(cell)
    wanted = [each for each in map(metrics.parse, labels) if is_mean_of_users(each)]
    users_of = dict(iter(users.groupby("table", sort=False)))
    found, notes = [], []
    for table, rows in tables.items():
        named = next(iter(rows.values()))[0]
        where = f"{', '.join(named.names)}: " if len(tables) > 1 else ""
        names = {row: own[0].algorithm for row, own in rows.items()}
        whole = [row for row, own in rows.items() if not any(cell.error for cell in own)]
        for row, own in rows.items():
            n_finished = sum(not cell.error for cell in own)
            if 0 < n_finished < len(own):
                notes.append(
                    f"{where}{names[row]}: {n_finished} of {len(own)} cells finished; its values "
                    "are of those alone, and it is not compared with the others"
                )
        for metric in wanted if table in users_of and len(whole) > 1 else ():
            label = str(metric)
            # A user in several folds and seeds is one observation.
            scores = users_of[table].pivot_table(
                index="user", columns="row", values=label, aggfunc="mean", sort=False
            )
            scores = scores.reindex(columns=whole).sort_index()
            kept = [whole[i] for i in _comparable(scores.notna().to_numpy())]
            if len(kept) < 2:
                notes.append(
                    f"{where}{label}: no two algorithms have scores of the same users; "
                    "none are compared"
                )
                continue
            if left_out := [names[row] for row in whole if row not in kept]:
                notes.append(
                    f"{where}{label}: {', '.join(left_out)} not compared: without users in common "
                    "with every other algorithm"
                )
            titles = [names[row] for row in kept]
            design = Design.of([cell for row in kept for cell in rows[row]], draws or {})
            claim, test = settings.about(len(design.units))
            by_seed = None
            if test in SEED_TESTS:
                by_seed = design.by_part(users_of[table], label, scores[kept], test)
                if len(by_seed) < 2:
                    claim, test, by_seed = "models", "randomisation", None
                    notes.append(
                        f"{where}{label}: its rows have no two folds or seeds in common, so that "
                        "tests are of the fitted models"
                    )
            ratio = [ratios[each] for each in design.fingerprints if each in ratios]
            compared = statistics.compare(
                scores[kept].to_numpy(),
                titles,
                baseline=settings.baseline if settings.baseline in titles else None,
                test=test,
                correction=settings.correction,
                interval=settings.interval,
                n_resamples=settings.resamples,
                confidence=settings.confidence,
                seed=seeds.derive(seed, "statistics", table, label),
                higher_is_better=metric.higher_is_better,
                by_seed=by_seed,
                ratio=float(np.mean(ratio)) if ratio else None,
                margin=settings.margin,
            )
            about = design.about(claim, test)
            of_rows = _rows(compared.algorithms.assign(row=kept))
            for own_row, row in zip(of_rows, kept, strict=True):
                own_row["components"] = design.components(users_of[table], label, row)
            baseline = compared.baseline
            described = {
                "metric": label,
                "method": f"{compared.describe()} {about}.",
                "note": compared.note,
                "claim": claim,
                "about": about,
                "margin": settings.margin,
                "algorithms": of_rows,
                "pairs": _rows(compared.pairs),
                "baseline": None if baseline is None else _rows(baseline),
            }
            found.append(MetricComparison.model_validate(named.only(TableName) | described))
    return found, list(dict.fromkeys(notes))


def _comparable(scored: NDArray[np.bool_]) -> list[int]:
    """Return columns of which every two have a user in common, those with most users first."""
    together = scored.T.astype(np.int64) @ scored.astype(np.int64) > 0
    chosen: list[int] = []
    for column in np.argsort(-scored.sum(axis=0), kind="stable").tolist():
        if together[column, column] and together[column, chosen].all():
            chosen.append(column)
    return sorted(chosen)


def _rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows as plain data that JSON holds; what is not finite becomes None."""
    return [
        {
            str(key): None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in row.items()
        }
        for row in frame.to_dict(orient="records")
    ]


def primary_metric(labels: Sequence[str]) -> str:
    """Return the primary label of a run: nDCG at 10, or the nearest one."""

    def distance(metric: Metric) -> tuple[bool, bool, bool]:
        is_ndcg = metric.name == "ndcg"
        return not is_ndcg or metric.k != USUAL_RANK, not is_ndcg, metric.needs_pairs

    return str(min(map(metrics.parse, labels), key=distance))


@dataclass
class _Row:
    """One row's lists under other definitions."""

    name: RowName
    tied: list[float] = field(default_factory=list)
    notes: dict[Metric, str] = field(default_factory=dict)
    open: dict[Metric, RowValue] = field(default_factory=dict)
    values: dict[Metric, float | None] = field(default_factory=dict)

    def close(self) -> _Row:
        """Forget what is kept of each user; a definition without a score in a cell has none."""
        for metric, value in self.open.items():
            self.values[metric] = None if metric in self.notes else value.value
        self.open = {}
        return self


class Sensitivity:
    """How much the scores of a run depend on definitions: those of other libraries, and of ties.

    Each library computes the metric of one `role` (``ndcg``, ``ap``, ...) in its own way; without a
    `threshold`, with its own for relevance. The primary of the run's metrics gives the cut-off rank
    when `k` is left out, and its ties are ordered in every way.
    """

    def __init__(
        self,
        labels: Sequence[str],
        *,
        role: str = "ndcg",
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
        if "ties" not in primary.params:
            primary = metrics.parse(f"ndcg@{self.k}")
        self.rules: dict[str, Metric] = {}
        for rule in TIE_RULES:
            try:
                self.rules[rule] = primary.having(ties=rule)
            except MetricError:
                continue  # a metric that has no such rule
        self._tables: dict[str, dict[str, _Row]] = {}
        self._last: _Row | None = None

    def add(self, cell: RowName, record: CellRecord) -> None:
        """Score one cell; the cells of a row come after each other."""
        from harness.evaluation import tied_share

        row = self._tables.setdefault(cell.table, {}).setdefault(cell.row, _Row(cell))
        if self._last is not None and self._last is not row:
            self._last.close()
        self._last = row
        row.tied.append(tied_share(record.rankings, self.k))
        for metric in {*self.definitions.values(), *self.rules.values()}:
            value = row.open.setdefault(metric, RowValue(metric))
            try:
                scores = metrics.score([metric], record.rankings, record.pairs)[metric]
            except MetricError as error:
                row.notes.setdefault(metric, str(error).partition(": ")[2])
            else:
                value.add(record.users[record.kept], scores)

    def results(self) -> tuple[list[ConventionScores], list[TieScores]]:
        """Return the scores by the definition of each library and under each rule for ties."""
        found: list[ConventionScores] = []
        ties: list[TieScores] = []
        for of_table in self._tables.values():
            rows = [row.close() for row in of_table.values()]
            table = rows[0].name.only(TableName)
            by_library = []
            for name, metric in self.definitions.items():
                scores = {row.name.row: row.values[metric] for row in rows}
                notes = (row.notes[metric] for row in rows if metric in row.notes)
                note = next(notes, _same_for_all([*scores.values()]))
                by_library.append(
                    ConventionRow(convention=name, label=str(metric), scores=scores, note=note)
                )
            found.append(ConventionScores(**table, metric=self.role, k=self.k, rows=by_library))
            by_rule = [
                TieRow(
                    row=row.name.row,
                    algorithm=row.name.algorithm,
                    tied=mean_or_none(row.tied),
                    scores={rule: row.values[metric] for rule, metric in self.rules.items()},
                )
                for row in rows
            ]
            ties += [
                TieScores(**table, metric=str(metric), rows=by_rule)
                for metric in [*self.rules.values()][:1]
            ]
        return found, ties


def _same_for_all(scores: Sequence[float | None]) -> str:
    """Return a note on a definition under which several algorithms all score the same."""
    values = [score for score in scores if score is not None]
    if len(values) < 2 or len(values) < len(scores) or max(values) - min(values) > 1e-9:
        return ""
    return "cannot distinguish these algorithms"


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = "ndcg",
    k: int = USUAL_RANK,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the finished cells of a run by the definition of each library; see `Sensitivity`.

    The table has a row for each convention and table of the run, a column for each algorithm, and a
    ``note`` where there is no value. Where the store has no longer all cells, the values in the run
    are used, if they are of the same metric at the same rank; else a ResultsError says so.
    """
    import pandas as pd

    info = run.info
    collected = Sensitivity(info.metrics, role=role, k=k, threshold=threshold)
    finished = [cell for own in info.cells_of_rows.values() for cell in own if not cell.error]
    if not finished:
        raise ResultsError(f"{run.name}: no cell finished; run the config again")
    try:
        for cell in finished:
            record = store.get(cell.key)
            if record is None:
                raise ResultsError(
                    f"{run.name}: its cell of {cell.algorithm} is not in the cache; "
                    "run the config again, which computes what is missing"
                )
            collected.add(cell, record)
        tables, _ = collected.results()
    except ResultsError:
        tables = [each for each in info.conventions if (each.metric, each.k) == (role, k)]
        if not tables or threshold is not None:
            raise
    names = {each.row: each.algorithm for each in info.rows}
    return pd.DataFrame(
        table.only(TableName)
        | {"convention": row.convention, "label": row.label}
        | {names[key]: math.nan if value is None else value for key, value in row.scores.items()}
        | {"note": row.note}
        for table in tables
        for row in table.rows
    ).drop(columns="table")
