"""What the scores of a run depend on: others' definitions, ties, and parameters (with Optuna)."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.config.experiment import headline_of
from harness.errors import AlgorithmError, MetricError, ResultsError
from harness.lazy import pd
from harness.metrics import Metric, conventions
from harness.results.display import ROW
from harness.results.record import (
    AGAIN,
    ConventionRow,
    ConventionScores,
    RowKey,
    RowName,
    RunInfo,
    TableName,
    TieRow,
    TieScores,
)
from harness.results.scores import RowValue, mean_or_none
from harness.results.store import CellRecord, CellStore
from harness.sections import Range, SearchSpace

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

    from harness.results.runs import Run

USUAL_RANK = 10

TIE_RULES = ("average", "first", "last", "best", "worst")
BEST = 0.25  # share of the trials of a search that count as good: of 20 trials, five
FEWEST_TRIALS = 20  # with fewer, over all searches of a row, there is no share: it would be chance


class Sensitivity:
    """How much the scores of a run depend on definitions: those of other libraries, and of ties.

    Each library computes the metric of one `role` (``ndcg``, ``ap``, ...) in its own way; without a
    `threshold`, with its own for relevance. The headline metric gives the cut-off rank
    when `k` is left out, and its ties are ordered in every way.
    """

    def __init__(
        self,
        labels: Sequence[str],
        headline: str | None = None,
        *,
        role: str = "ndcg",
        k: int | None = None,
        threshold: float | None = None,
    ) -> None:
        primary = metrics.parse(headline_of(labels, headline))
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
        self.primary = primary
        self.rules: dict[str, Metric] = {}
        for rule in TIE_RULES:
            with suppress(MetricError):  # a metric that has no such rule
                self.rules[rule] = primary.having(ties=rule)
        self._conventions: dict[str, ConventionScores] = {}
        self._ties: dict[str, TieScores] = {}
        self._row: RowName | None = None

    def add(self, cell: RowName, record: CellRecord) -> None:
        """Score one cell; the cells of a row come after each other."""
        from harness.evaluation import tied_shares

        if self._row is None or self._row.row != cell.row:
            self._end_row()
            wanted = {*self.definitions.values(), *self.rules.values()}
            self._values = {metric: RowValue(metric) for metric in wanted}
            self._row, self._tied, self._notes = cell, list[float](), dict[Metric, str]()
        with suppress(MetricError):  # ndcg, in place of a metric without ties, has no gain below 0
            self._tied += tied_shares([self.primary], record.rankings).values()
        for metric, value in self._values.items():
            try:
                scores = metrics.score([metric], record.rankings, record.pairs)[metric]
            except MetricError as error:
                self._notes.setdefault(metric, error.reason)
            else:
                value.add(record.users, scores)

    def _end_row(self) -> None:
        """Keep the values of a row in place of its users' scores; none if a cell has no score."""
        row, self._row = self._row, None
        if row is None:
            return
        values = {m: None if m in self._notes else each.value for m, each in self._values.items()}
        table = row.only(TableName)
        if (found := self._conventions.get(row.table)) is None:
            rows = [ConventionRow(convention=name, label=str(metric), scores={}, note="")
                    for name, metric in self.definitions.items()]  # fmt: skip
            found = ConventionScores(**table, metric=self.role, k=self.k, rows=rows)
            self._conventions[row.table] = found
        for each, metric in zip(found.rows, self.definitions.values(), strict=True):
            each.scores[row.row] = values[metric]
            each.note = each.note or self._notes.get(metric, "")
        if self.rules:
            scores = {rule: values[metric] for rule, metric in self.rules.items()}
            own = TieRow(**row.only(RowKey), tied=mean_or_none(self._tied), scores=scores)
            if row.table in self._ties:
                self._ties[row.table].rows.append(own)
            else:
                label = str(next(iter(self.rules.values())))
                self._ties[row.table] = TieScores(**table, metric=label, rows=[own])

    def results(self) -> tuple[list[ConventionScores], list[TieScores]]:
        """Return the scores by the definition of each library and under each rule for ties."""
        self._end_row()
        for row in (each for table in self._conventions.values() for each in table.rows):
            values = [score for score in row.scores.values() if score is not None]
            is_same = len(values) > 1 and max(values) - min(values) <= 1e-9
            if is_same and len(values) == len(row.scores):
                row.note = row.note or "cannot distinguish these algorithms"
        return [*self._conventions.values()], [*self._ties.values()]


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
    info = run.info
    collected = Sensitivity(info.metrics, info.headline, role=role, k=k, threshold=threshold)
    finished = [cell for own in info.cells_of_rows.values() for cell in own if not cell.error]
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


def need_optuna(what: str) -> Any:
    """Return Optuna, quiet; an AlgorithmError where it is not installed."""
    try:
        import optuna
    except ImportError:
        raise AlgorithmError(f"{what} needs Optuna; pip install 'surprise-harness[tpe]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def distributions(space: SearchSpace) -> dict[str, BaseDistribution]:
    """Return a search space as Optuna has it."""
    from optuna import distributions as kinds

    found: dict[str, BaseDistribution] = {}
    for name, values in space.items():
        if not isinstance(values, Range):
            found[name] = kinds.CategoricalDistribution(values)
        elif values.whole:
            found[name] = kinds.IntDistribution(int(values.low), int(values.high), log=values.log)
        else:
            found[name] = kinds.FloatDistribution(values.low, values.high, log=values.log)
    return found


def value_at(params: Mapping[str, Any], path: str) -> Any:
    """Return the value of a dotted name, None where there is none."""
    value: Any = params
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def importance_frame(info: RunInfo, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the shares that `Run.importance` describes."""
    optuna = need_optuna("importance of parameters")
    higher = metrics.parse(info.experiment.tuning.metric).higher_is_better
    searched = {each.title: each.search for each in info.experiment.algorithms} | info.spaces
    rows = []
    for key, every in trials.groupby(list(ROW), sort=False):
        title = str(key[ROW.index("algorithm")])
        space = searched.get(title)
        if not isinstance(space, dict):
            raise ResultsError(f"{info.name}: has no search space of {title}; {AGAIN}")
        own = every[every["trial"] > 0].dropna(subset=["value"])
        # Ranks within each search, from the best: searches of other folds have other levels.
        ranks = own.groupby(["seed", "fold"])["value"].rank(ascending=not higher, pct=True)
        study, known = optuna.create_study(), distributions(space)
        try:
            for params, rank in zip(map(json.loads, own["params"]), ranks, strict=True):
                setting = {name: value_at(params, name) for name in space}
                made = {"params": setting, "distributions": known, "value": float(rank)}
                study.add_trial(optuna.trial.create_trial(**made))
        except ValueError as error:
            raise ResultsError(f"{info.name}: a trial of {title}: {error}; {AGAIN}") from None
        shares = dict.fromkeys(space, 0.0)
        if len(own) >= FEWEST_TRIALS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of an interface that may change
                evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=BEST)
                shares |= evaluator.evaluate(study)
        total = sum(shares.values()) or float("nan")
        rows += [
            dict(zip(ROW, key, strict=True))
            | {"parameter": name, "importance": share / total, "n_trials": len(own)}
            for name, share in sorted(shares.items(), key=lambda each: -each[1])
        ]
    return pd.DataFrame(rows, columns=[*ROW, "parameter", "importance", "n_trials"])
