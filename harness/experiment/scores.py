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
from harness.results.cells import CellRecord, CellStore
from harness.results.conventions import Redefinitions
from harness.results.table import ROW, TABLE
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
    cells : list of dict
        Every cell as ``run.json`` describes it, failed ones with their ``error``.
    rows : list of dict
        Every row of the tables with its value of each metric.
    bounds : list of dict
        For each table what the best and what a random order would score.
    users : DataFrame
        A row for each finished cell and user.
    redefined : dict of str to list
        ``conventions`` and ``ties``: what the lists score under other definitions.
    undistinguished : dict of str to dict
        By table and label: for each fold why every order of its lists scores the same, None where
        orders differ.
    """

    cells: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    bounds: list[dict[str, Any]]
    users: pd.DataFrame
    redefined: dict[str, list[dict[str, Any]]]
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
    places = [_place(experiment, workspace, cell) for cell in cells]
    described: list[dict[str, Any]] = [{} for _ in cells]
    frames: dict[int, pd.DataFrame] = {}
    rows = []
    bounds = _Bounds(wanted)
    redefined = Redefinitions([str(metric) for metric in wanted])
    # Row by row, so that what is kept of each user is that of one row.
    for positions in _by_row(places):
        values = {str(metric): RowValue(metric) for metric in wanted}
        for position in positions:
            cell, place = cells[position], places[position]
            record = None if cell.key in failures else store.get(cell.key)
            data, _ = workspace.ratings(cell.dataset)
            if record is None or not record.fits(data.n_users, data.n_items):
                error = "not computed" if record is None else "its stored cell is not of these data"
                described[position] = place | {"error": failures.get(cell.key, error)}
                continue
            watch(Stage(cell.title, "metrics"))
            scores, described[position] = _scored(wanted, workspace.split(cell), place, record)
            for label, value in values.items():
                mean = scores.means[label]["mean"]
                value.add(
                    record.users,
                    Scores(scores.per_user[label], math.nan if mean is None else mean, 0),
                )
            redefined.add(place, record)
            bounds.add(place, record)
            frames[position] = _frame(workspace, cell, place, record, scores.per_user)
        row = {key: places[positions[0]][key] for key in ROW}
        rows.append(row | {"scores": {label: each.value for label, each in values.items()}})
    columns = [*ROW, "seed", "fold", "user"]
    empty = pd.DataFrame(columns=[*columns, *(str(m) for m in wanted)])
    in_order = [frames[position] for position in sorted(frames)]
    users = pd.concat(in_order, ignore_index=True) if frames else empty
    return Scored(
        described, rows, bounds.described(), users, redefined.described(), bounds.undistinguished
    )


def _by_row(places: list[dict[str, Any]]) -> list[list[int]]:
    """Return the positions of the cells of each row, rows of a table after each other."""
    tables: dict[str, dict[str, list[int]]] = {}
    for position, place in enumerate(places):
        rows = tables.setdefault(place["table"], {})
        rows.setdefault(place["row"], []).append(position)
    return [positions for rows in tables.values() for positions in rows.values()]


def _scored(
    wanted: tuple[Metric, ...], split: Split, place: dict[str, Any], record: CellRecord
) -> tuple[evaluation.CellScores, dict[str, Any]]:
    """Return the scores of a finished cell, and the cell as ``run.json`` describes it."""
    needs_items = any(metric.needs_items for metric in wanted)
    compile_scoring(wanted, depth_of(wanted))
    begun = time.perf_counter()
    exposure = _exposure(split, record) if needs_items else None
    scores = evaluation.evaluate(wanted, record.rankings, record.pairs, record.kept, exposure)
    seconds = time.perf_counter() - begun
    described = {
        "metric_seconds": seconds,
        "n_users": int(record.kept.sum()),
        "scores": scores.means,
        "tied_at_cut": {
            str(metric): tied_share(record.rankings, metric.k)
            for metric in wanted
            if metric.k and not metric.needs_items
        },
    }
    return scores, place | record.meta | described


class _Bounds:
    """Collects the scores of the best and of a random order of the lists of each table."""

    def __init__(self, wanted: tuple[Metric, ...]) -> None:
        self.wanted = wanted
        self.seen: set[tuple[str, int, int]] = set()
        self.tables: dict[str, tuple[dict[str, Any], dict[str, dict[str, RowValue]]]] = {}
        self.undistinguished: dict[str, dict[str, list[str | None]]] = {}

    def add(self, place: dict[str, Any], record: CellRecord) -> None:
        """Take the lists of a cell, unless those of another model in its fold were taken."""
        where = (place["table"], place["seed"], place["fold"])
        if where in self.seen:
            return
        self.seen.add(where)
        names = {key: place[key] for key in TABLE}
        _, values = self.tables.setdefault(place["table"], (names, {}))
        limits = evaluation.bound_scores(self.wanted, record.rankings)
        for metric in self.wanted:
            for bound, scores in limits.get(str(metric), {}).items():
                of_bound = values.setdefault(bound, {})
                of_bound.setdefault(str(metric), RowValue(metric)).add(
                    record.users[record.kept], scores
                )
        reasons = self.undistinguished.setdefault(place["table"], {})
        for label, limit in limits.items():
            gain = limit["best"].per_user - limit["random"].per_user
            reason = None
            if not (gain > evaluation.NO_DIFFERENCE).any():
                reason = evaluation.cannot_distinguish(metrics.parse(label), record.rankings)
            reasons.setdefault(label, []).append(reason)

    def described(self) -> list[dict[str, Any]]:
        return [
            names
            | {
                "bound": bound,
                "scores": {label: each.value for label, each in of_bound.items()},
                "deviations": {label: each.deviation for label, each in of_bound.items()},
            }
            for names, values in self.tables.values()
            for bound, of_bound in values.items()
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


def _place(experiment: Experiment, workspace: Workspace, cell: Cell) -> dict[str, Any]:
    split = workspace.splits(cell.dataset, cell.split, cell.seed)[cell.fold]
    table = workspace.table(cell.dataset, cell.split, cell.candidates)
    return table | {
        "row": row_key(experiment, table["table"], cell),
        "algorithm": experiment.algorithms[cell.algorithm].title,
        "seed": cell.seed,
        "fold": cell.fold,
        "n_folds": cell.n_folds,
        "key": cell.key,
        "split_fingerprint": split.fingerprint,
        "params": cell.params,
    }


def _frame(
    workspace: Workspace,
    cell: Cell,
    place: dict[str, Any],
    record: CellRecord,
    per_user: dict[str, Any],
) -> pd.DataFrame:
    import pandas as pd

    ratings: Ratings = workspace.ratings(cell.dataset)[0]
    return pd.DataFrame(
        {
            **{key: place[key] for key in ROW},
            "seed": place["seed"],
            "fold": place["fold"],
            "user": ratings.user_ids[record.users].astype(str),
            **per_user,
        }
    )
