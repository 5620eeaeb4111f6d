"""Completed cells become scores, and bounds of what was possible."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness import evaluation, metrics
from harness.algorithms import registry
from harness.datasets import Ratings
from harness.execution.events import Stage
from harness.execution.pool import Pool
from harness.experiment.cell import compile_scoring
from harness.experiment.group_scores import TableGroups
from harness.experiment.plan import Cell, Plan
from harness.lazy import pd
from harness.metrics import Exposure, Metric, Scores
from harness.notes import Note
from harness.results.display import BOUNDS, ROW
from harness.results.outputs import OutputFiles
from harness.results.record import (
    Bound,
    BoundResult,
    CellName,
    CellResult,
    ConventionScores,
    FailedCell,
    GroupScores,
    RowResult,
    Score,
    TableName,
    TieScores,
)
from harness.results.scores import RowScores, RowValue, or_none
from harness.results.sensitivity import Sensitivity
from harness.results.store import CellRecord
from harness.splits import Split


@dataclass(eq=False)
class Evaluation:
    """The scores of a run."""

    outputs: OutputFiles | None
    users: pd.DataFrame
    """A row for each finished cell and user."""
    cells: list[CellResult | FailedCell] = field(default_factory=list)
    rows: list[RowResult] = field(default_factory=list)
    bounds: list[BoundResult] = field(default_factory=list)
    conventions: list[ConventionScores] = field(default_factory=list)
    ties: list[TieScores] = field(default_factory=list)
    undistinguished: dict[str, dict[str, list[Note | None]]] = field(default_factory=dict)
    """By table and label: for each fold why every order of its lists scores the same, None where
    orders differ."""
    groups: list[GroupScores] = field(default_factory=list)
    group_notes: list[Note] = field(default_factory=list)


def evaluate(
    plan: Plan, cells: Sequence[Cell], pool: Pool, failures: Mapping[str, str]
) -> Evaluation:
    """Score every completed cell and describe every cell."""
    labels = [str(metric) for metric in plan.metrics]
    tables: dict[str, dict[str, list[tuple[int, Cell, CellName]]]]
    tables = defaultdict(lambda: defaultdict(list))
    for position, cell in enumerate(cells):
        name = plan.name(cell)
        tables[name.table][name.row].append((position, cell, name))
    results: dict[int, CellResult | FailedCell] = {}
    frames: dict[int, pd.DataFrame] = {}
    kept, sections = plan.experiment.outputs, plan.experiment.candidates
    empty = pd.DataFrame(columns=[*ROW, "seed", "fold", "user", *labels])
    found = Evaluation(OutputFiles(kept) if kept.wanted else None, empty)
    sensitivity = Sensitivity(labels, plan.experiment.headline)
    for table, of_table in tables.items():
        limits = _Bounds(plan.metrics)
        positions = [position for of_row in of_table.values() for position, _, _ in of_row]
        by_group = TableGroups(plan, [cells[position] for position in positions])
        for of_row in of_table.values():  # so that what is kept of each user is that of one row
            row = RowScores(plan.metrics)
            for position, cell, name in of_row:
                record = None if cell.key in failures else pool.take(cell.key)
                ratings, _ = plan.ratings(cell.dataset)
                if record is None or not record.fits(ratings.n_users, ratings.n_items):
                    error = "its stored cell is not of these data" if record else "not computed"
                    results[position] = FailedCell(
                        **name.model_dump(exclude_unset=True), error=failures.get(cell.key, error)
                    )
                    continue
                pool.watch(Stage(cell.title, "metrics"))
                entry = registry.entry(plan.experiment.algorithms[cell.algorithm].name)
                prefers = entry.gives_preferences(cell.params)  # as a search chose them
                scores, result = scored(plan, plan.split(cell), name, record, prefers)
                result.found = cell.key not in pool.computed
                results[position] = result
                row.add(record.users, scores)
                sensitivity.add(name, record)
                if sections[cell.candidates].least_estimate is None:
                    limits.add(name, record)  # else each algorithm has lists of its own
                if found.outputs is not None:
                    found.outputs.add(name, plan.split(cell), sections[cell.candidates], record)
                frames[position] = users_of(name, ratings, record, scores)
                by_group.add(cell, record, frames[position])
            found.rows.append(row.result(name))
        found.bounds += limits.results(name)
        of_groups, groups = ", ".join(name.names), []
        pool.watch(Stage(of_groups, "groups", 0, by_group.n_results))
        for scores_of_groups in by_group.results([results[position] for position in positions]):
            groups.append(scores_of_groups)
            pool.watch(Stage(of_groups, "groups", len(groups), by_group.n_results))
        found.group_notes += by_group.notes(name.place(tables), groups)
        found.groups += groups
        found.undistinguished[table] = limits.reasons
    if found.outputs is not None:
        found.outputs.close()
    if frames:
        found.users = pd.concat([frames[each] for each in sorted(frames)], ignore_index=True)
    found.cells = [results[position] for position in range(len(cells))]
    found.conventions, found.ties = sensitivity.results()
    return found


def users_of(
    name: CellName, ratings: Ratings, record: CellRecord, scores: Mapping[str, Scores]
) -> pd.DataFrame:
    """Return the scores of each user of a cell."""
    return pd.DataFrame(
        {key: name[key] for key in (*ROW, "seed", "fold")}
        | {"user": ratings.user_ids[record.users].astype(str)}
        | {label: each.per_user for label, each in scores.items()}
    )


def scored(
    plan: Plan, split: Split, name: CellName, record: CellRecord, prefers: bool
) -> tuple[dict[str, Scores], CellResult]:
    """Return the scores of a finished cell, those of ratings blank if it `prefers`; and facts."""
    wanted = plan.metrics
    compile_scoring(wanted, plan.depth)
    begun = time.perf_counter()
    exposure = None
    if any(each.needs_items for each in wanted):
        exposure = _exposure(split, record, split.ratings.genres if plan.of_genres else None)
    scores = evaluation.evaluate(wanted, record.rankings, record.pairs, exposure)
    blank = Scores(np.full(len(record.users), np.nan), np.nan, 0)
    scores |= {str(each): blank for each in wanted if prefers and each.needs_ratings}
    seconds = time.perf_counter() - begun
    result = CellResult(
        **name.model_dump(exclude_unset=True),
        **record.facts.model_dump(exclude_unset=True),
        metric_seconds=seconds,
        n_users=len(record.users),
        scores={
            label: Score(mean=or_none(each.mean), n_undefined=int(each.n_undefined))
            for label, each in scores.items()
        },
        tied=evaluation.tied_shares(wanted, record.rankings),
    )
    return scores, result


def _exposure(split: Split, record: CellRecord, genres: NDArray[np.bool_] | None) -> Exposure:
    """Return what training showed of the items that stand in a cell's lists."""
    ratings = split.ratings
    users = record.users
    position = np.full(ratings.n_users, -1)
    position[users] = np.arange(len(users))
    judged = split.test[position[ratings.users[split.test]] >= 0]
    return Exposure(
        ratings.users[split.train],
        ratings.items[split.train],
        np.where(split.known_users[users], users, -1),
        n_items=ratings.n_items,
        judged=(position[ratings.users[judged]], ratings.items[judged], ratings.ratings[judged]),
        ratings=ratings.ratings[split.train],
        genres=genres,
    )


class _Bounds:
    """Collects the scores of the best and of a random order of the lists of a table."""

    def __init__(self, wanted: tuple[Metric, ...]) -> None:
        self.wanted = wanted
        self.folds: set[tuple[int, int]] = set()
        self.values: dict[Bound, dict[str, RowValue]] = {bound: {} for bound in BOUNDS}
        self.reasons: dict[str, list[Note | None]] = {}

    def add(self, name: CellName, record: CellRecord) -> None:
        """Take the lists of a cell, unless those of another model in its fold were taken."""
        if (name.seed, name.fold) in self.folds:
            return
        self.folds.add((name.seed, name.fold))
        for label, limits in evaluation.bound_scores(self.wanted, record.rankings).items():
            metric = metrics.parse(label)
            for bound, of_bound in self.values.items():
                of_bound.setdefault(label, RowValue(metric)).add(record.users, limits[bound])
            reason = evaluation.cannot_distinguish(metric, record.rankings, limits)
            self.reasons.setdefault(label, []).append(reason)

    def results(self, table: TableName) -> Iterator[BoundResult]:
        for bound, values in self.values.items():
            if values:
                yield BoundResult(
                    **table.only(TableName),
                    bound=bound,
                    scores={label: each.value for label, each in values.items()},
                    deviations={label: each.deviation for label, each in values.items()},
                )
