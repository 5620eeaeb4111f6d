"""Completed cells become scores: per user, per cell, and the bounds of what was possible."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness import evaluation, metrics
from harness.evaluation import tied_share
from harness.experiment.completed import CompletedCells
from harness.experiment.events import Stage
from harness.experiment.plan import Cell, Plan
from harness.experiment.ranking import compile_scoring
from harness.metrics import Exposure, Metric, Scores
from harness.results.record import (
    BoundResult,
    CellName,
    CellResult,
    ConventionScores,
    FailedCell,
    RowName,
    RowResult,
    Score,
    TableName,
    TieScores,
)
from harness.results.runs import BOUNDS, ROW
from harness.results.scores import RowValue, Sensitivity, mean_or_none
from harness.results.store import CellRecord
from harness.splits import Split

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of a run.

    Parameters
    ----------
    cells : list of CellResult or FailedCell
    rows : list of RowResult
    bounds : list of BoundResult
    users : DataFrame
        A row for each finished cell and user.
    conventions : list of ConventionScores
    ties : list of TieScores
    undistinguished : dict of str to dict
        By table and label: for each fold why every order of its lists scores the same, None where
        orders differ.
    """

    cells: list[CellResult | FailedCell]
    rows: list[RowResult]
    bounds: list[BoundResult]
    users: pd.DataFrame
    conventions: list[ConventionScores]
    ties: list[TieScores]
    undistinguished: dict[str, dict[str, list[str | None]]]


def evaluate(
    plan: Plan, cells: Sequence[Cell], completed: CompletedCells, failures: Mapping[str, str]
) -> Evaluation:
    """Score every completed cell and describe every cell."""
    import pandas as pd

    wanted = plan.metrics
    names = [_name(plan, cell) for cell in cells]
    results: dict[int, CellResult | FailedCell] = {}
    frames: dict[int, pd.DataFrame] = {}
    rows = []
    bounds = _Bounds(wanted)
    sensitivity = Sensitivity([str(metric) for metric in wanted])
    tables: dict[str, dict[str, list[int]]] = {}
    for position, name in enumerate(names):
        tables.setdefault(name.table, {}).setdefault(name.row, []).append(position)
    # Row by row, so that what is kept of each user is that of one row.
    for positions in (each for of_rows in tables.values() for each in of_rows.values()):
        values = {str(metric): RowValue(metric) for metric in wanted}
        for position in positions:
            cell, name = cells[position], names[position]
            record = None if cell.key in failures else completed.take(cell.key)
            ratings, _ = plan.ratings(cell.dataset)
            if record is None or not record.fits(ratings.n_users, ratings.n_items):
                error = "not computed" if record is None else "its stored cell is not of these data"
                results[position] = FailedCell(
                    **name.model_dump(exclude_unset=True), error=failures.get(cell.key, error)
                )
                continue
            completed.pool.watch(Stage(cell.title, "metrics"))
            scores, result = _scored(plan, plan.split(cell), name, record)
            result.found = cell.key not in completed.computed
            results[position] = result
            for label, value in values.items():
                value.add(record.users, scores[label])
            sensitivity.add(name, record)
            bounds.add(name, record)
            frames[position] = pd.DataFrame(
                {key: name[key] for key in (*ROW, "seed", "fold")}
                | {"user": ratings.user_ids[record.users].astype(str)}
                | {label: each.per_user for label, each in scores.items()}
            )
        means = {label: each.value for label, each in values.items()}
        rows.append(RowResult(**names[positions[0]].only(RowName), scores=means))
    empty = pd.DataFrame(columns=[*ROW, "seed", "fold", "user", *map(str, wanted)])
    in_order = [frames[position] for position in sorted(frames)]
    return Evaluation(
        [results[position] for position in range(len(cells))],
        rows,
        bounds.results(),
        pd.concat(in_order, ignore_index=True) if frames else empty,
        *sensitivity.results(),
        bounds.undistinguished,
    )


def _name(plan: Plan, cell: Cell) -> CellName:
    table = plan.table(cell.dataset, cell.split, cell.candidates)
    outer = plan.splits(cell.dataset, cell.split, cell.seed)[cell.fold]
    return CellName(
        dataset=table.dataset,
        split=table.split,
        candidates=table.candidates,
        table=table.table,
        row=plan.row_key(table.table, cell),
        algorithm=plan.experiment.algorithms[cell.algorithm].title,
        seed=cell.seed,
        fold=cell.fold,
        n_folds=cell.n_folds,
        key=cell.key,
        split_fingerprint=outer.fingerprint,
        params=cell.params,
    )


def _scored(
    plan: Plan, split: Split, name: CellName, record: CellRecord
) -> tuple[dict[str, Scores], CellResult]:
    """Return the scores of a finished cell, and what the run says of it."""
    wanted = plan.metrics
    compile_scoring(wanted, plan.depth)
    begun = time.perf_counter()
    exposure = _exposure(split, record) if any(each.needs_items for each in wanted) else None
    scores = evaluation.evaluate(wanted, record.rankings, record.pairs, record.kept, exposure)
    seconds = time.perf_counter() - begun
    result = CellResult(
        **name.model_dump(exclude_unset=True),
        **record.facts.model_dump(exclude_unset=True),
        metric_seconds=seconds,
        n_users=int(record.kept.sum()),
        scores={
            label: Score(mean=mean_or_none([each.mean]), n_undefined=int(each.n_undefined))
            for label, each in scores.items()
        },
        tied_at_cut={
            str(metric): tied_share(record.rankings, metric.k)
            for metric in wanted
            if metric.k and not metric.needs_items
        },
    )
    return scores, result


def _exposure(split: Split, record: CellRecord) -> Exposure:
    """Return what training showed of the items that stand in a cell's lists."""
    ratings = split.ratings
    listed = record.users[record.kept]
    trained = np.zeros(ratings.n_users, dtype=bool)
    trained[ratings.users[split.train]] = True
    position = np.full(ratings.n_users, -1)
    position[listed] = np.arange(len(listed))
    judged = split.test[position[ratings.users[split.test]] >= 0]
    return Exposure(
        ratings.users[split.train],
        ratings.items[split.train],
        np.where(trained[listed], listed, -1),
        n_items=ratings.n_items,
        judged=(position[ratings.users[judged]], ratings.items[judged], ratings.ratings[judged]),
    )


class _Bounds:
    """Collects the scores of the best and of a random order of the lists of each table."""

    def __init__(self, wanted: tuple[Metric, ...]) -> None:
        self.wanted = wanted
        self.seen: set[tuple[str, int, int]] = set()
        self.tables: dict[str, tuple[CellName, dict[str, dict[str, RowValue]]]] = {}
        self.undistinguished: dict[str, dict[str, list[str | None]]] = {}

    def add(self, name: CellName, record: CellRecord) -> None:
        """Take the lists of a cell, unless those of another model in its fold were taken."""
        where = (name.table, name.seed, name.fold)
        if where in self.seen:
            return
        self.seen.add(where)
        _, values = self.tables.setdefault(name.table, (name, {}))
        reasons = self.undistinguished.setdefault(name.table, {})
        listed = record.users[record.kept]
        for label, limits in evaluation.bound_scores(self.wanted, record.rankings).items():
            metric = metrics.parse(label)
            for bound, scores in limits.items():
                of_bound = values.setdefault(bound, {})
                of_bound.setdefault(label, RowValue(metric)).add(listed, scores)
            gain = limits["best"].per_user - limits["random"].per_user
            reason = None
            if not (gain > evaluation.NO_DIFFERENCE).any():
                reason = evaluation.cannot_distinguish(metric, record.rankings)
            reasons.setdefault(label, []).append(reason)

    def results(self) -> list[BoundResult]:
        return [
            BoundResult(
                **table.only(TableName),
                bound=bound,
                scores={label: each.value for label, each in of_bound.items()},
                deviations={label: each.deviation for label, each in of_bound.items()},
            )
            for table, values in self.tables.values()
            for bound in BOUNDS
            if (of_bound := values.get(bound))
        ]
