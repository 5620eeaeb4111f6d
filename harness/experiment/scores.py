"""Finished cells become scores: per user, per cell, and the bounds of what was possible."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import evaluation, metrics
from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.evaluation import tied_share
from harness.experiment.events import Stage, Watch
from harness.experiment.plan import Cell, depth_of, requested_metrics, row_key
from harness.experiment.scoring import compile_scoring
from harness.experiment.workspace import Workspace
from harness.metrics import Exposure, Metric, Scores
from harness.results.record import (
    BoundResult,
    CellName,
    CellResult,
    ConventionScores,
    FailedCell,
    RowResult,
    Score,
    TableName,
    TieScores,
)
from harness.results.sensitivity import Sensitivity
from harness.results.store import CellRecord, CellStore
from harness.results.table import BOUNDS, ROW
from harness.results.values import RowValue
from harness.splits import Split

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Scored", "score_cells"]


@dataclass(frozen=True, eq=False)
class Scored:
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


def score_cells(
    experiment: Experiment,
    workspace: Workspace,
    cells: list[Cell],
    store: CellStore,
    failures: dict[str, str],
    watch: Watch,
) -> Scored:
    """Score every finished cell and describe every cell.

    Parameters
    ----------
    experiment : Experiment
    workspace : Workspace
    cells : list of Cell
    store : CellStore
        Holds the finished ones.
    failures : dict of str to str
        What went wrong with the others, by key.
    watch : callable
    """
    import pandas as pd

    wanted = requested_metrics(experiment)
    names = [_name(experiment, workspace, cell) for cell in cells]
    results: dict[int, CellResult | FailedCell] = {}
    frames: dict[int, pd.DataFrame] = {}
    rows = []
    bounds = _Bounds(wanted)
    sensitivity = Sensitivity([str(metric) for metric in wanted])
    # Row by row, so that what is kept of each user is that of one row.
    for positions in _by_row(names):
        values = {str(metric): RowValue(metric) for metric in wanted}
        for position in positions:
            cell, name = cells[position], names[position]
            record = None if cell.key in failures else store.get(cell.key)
            data, _ = workspace.ratings(cell.dataset)
            if record is None or not record.fits(data.n_users, data.n_items):
                error = "not computed" if record is None else "its stored cell is not of these data"
                results[position] = FailedCell(**dict(name), error=failures.get(cell.key, error))
                continue
            watch(Stage(cell.title, "metrics"))
            scores, results[position] = _scored(wanted, workspace.split(cell), name, record)
            for label, value in values.items():
                mean = scores.means[label]["mean"]
                value.add(
                    record.users,
                    Scores(scores.per_user[label], math.nan if mean is None else mean, 0),
                )
            sensitivity.add(name, record)
            bounds.add(name, record)
            frames[position] = _frame(workspace, cell, name, record, scores.per_user)
        means = {label: each.value for label, each in values.items()}
        rows.append(RowResult(**names[positions[0]].of_row, scores=means))
    columns = [*ROW, "seed", "fold", "user"]
    empty = pd.DataFrame(columns=[*columns, *(str(m) for m in wanted)])
    in_order = [frames[position] for position in sorted(frames)]
    users = pd.concat(in_order, ignore_index=True) if frames else empty
    return Scored(
        [results[position] for position in range(len(cells))],
        rows,
        bounds.results(),
        users,
        sensitivity.conventions,
        sensitivity.ties,
        bounds.undistinguished,
    )


def _by_row(names: list[CellName]) -> list[list[int]]:
    """Return the positions of the cells of each row, rows of a table after each other."""
    tables: dict[str, dict[str, list[int]]] = {}
    for position, name in enumerate(names):
        tables.setdefault(name.table, {}).setdefault(name.row, []).append(position)
    return [positions for rows in tables.values() for positions in rows.values()]


def _scored(
    wanted: tuple[Metric, ...], split: Split, name: CellName, record: CellRecord
) -> tuple[evaluation.CellScores, CellResult]:
    """Return the scores of a finished cell, and what the run says of it."""
    needs_items = any(metric.needs_items for metric in wanted)
    compile_scoring(wanted, depth_of(wanted))
    begun = time.perf_counter()
    exposure = _exposure(split, record) if needs_items else None
    scores = evaluation.evaluate(wanted, record.rankings, record.pairs, record.kept, exposure)
    seconds = time.perf_counter() - begun
    result = CellResult(
        **dict(name),
        **record.facts.model_dump(exclude_unset=True),
        metric_seconds=seconds,
        n_users=int(record.kept.sum()),
        scores={label: Score(**each) for label, each in scores.means.items()},
        tied_at_cut={
            str(metric): tied_share(record.rankings, metric.k)
            for metric in wanted
            if metric.k and not metric.needs_items
        },
    )
    return scores, result


class _Bounds:
    """Collects the scores of the best and of a random order of the lists of each table."""

    def __init__(self, wanted: tuple[Metric, ...]) -> None:
        self.wanted = wanted
        self.seen: set[tuple[str, int, int]] = set()
        self.tables: dict[str, tuple[TableName, dict[str, dict[str, RowValue]]]] = {}
        self.undistinguished: dict[str, dict[str, list[str | None]]] = {}

    def add(self, name: CellName, record: CellRecord) -> None:
        """Take the lists of a cell, unless those of another model in its fold were taken."""
        where = (name.table, name.seed, name.fold)
        if where in self.seen:
            return
        self.seen.add(where)
        _, values = self.tables.setdefault(name.table, (name, {}))
        limits = evaluation.bound_scores(self.wanted, record.rankings)
        for metric in self.wanted:
            for bound, scores in limits.get(str(metric), {}).items():
                of_bound = values.setdefault(bound, {})
                of_bound.setdefault(str(metric), RowValue(metric)).add(
                    record.users[record.kept], scores
                )
        reasons = self.undistinguished.setdefault(name.table, {})
        for label, limit in limits.items():
            gain = limit["best"].per_user - limit["random"].per_user
            reason = None
            if not (gain > evaluation.NO_DIFFERENCE).any():
                reason = evaluation.cannot_distinguish(metrics.parse(label), record.rankings)
            reasons.setdefault(label, []).append(reason)

    def results(self) -> list[BoundResult]:
        return [
            BoundResult(
                **table.of_table,
                bound=bound,
                scores={label: each.value for label, each in of_bound.items()},
                deviations={label: each.deviation for label, each in of_bound.items()},
            )
            for table, values in self.tables.values()
            for bound in BOUNDS
            if (of_bound := values.get(bound))
        ]


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


def _name(experiment: Experiment, workspace: Workspace, cell: Cell) -> CellName:
    split = workspace.splits(cell.dataset, cell.split, cell.seed)[cell.fold]
    table = workspace.table(cell.dataset, cell.split, cell.candidates)
    return CellName(
        **table,
        row=row_key(experiment, table["table"], cell),
        algorithm=experiment.algorithms[cell.algorithm].title,
        seed=cell.seed,
        fold=cell.fold,
        n_folds=cell.n_folds,
        key=cell.key,
        split_fingerprint=split.fingerprint,
        params=cell.params,
    )


def _frame(
    workspace: Workspace,
    cell: Cell,
    name: CellName,
    record: CellRecord,
    per_user: dict[str, Any],
) -> pd.DataFrame:
    import pandas as pd

    ratings: Ratings = workspace.ratings(cell.dataset)[0]
    return pd.DataFrame(
        {
            **{key: name[key] for key in ROW},
            "seed": name.seed,
            "fold": name.fold,
            "user": ratings.user_ids[record.users].astype(str),
            **per_user,
        }
    )
