"""Finished cells become scores: per user, per cell, and the bounds of what was possible."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import evaluation
from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.evaluation import tied_share
from harness.experiment.events import Stage, Watch
from harness.experiment.plan import Cell, depth_of, requested_metrics
from harness.experiment.scoring import compile_scoring
from harness.experiment.workspace import Workspace
from harness.metrics import Exposure
from harness.results.cells import CellRecord, CellStore
from harness.results.conventions import Redefinitions
from harness.results.table import GROUP
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
    bounds : list of dict
        For each fold: where, and by label what the best and a random order would score.
    users : DataFrame
        A row for each finished cell and user.
    redefined : dict of str to list
        ``conventions`` and ``ties``: what the lists score under other definitions.
    """

    cells: list[dict[str, Any]]
    bounds: list[dict[str, Any]]
    users: pd.DataFrame
    redefined: dict[str, list[dict[str, Any]]]


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
    needs_items = any(metric.needs_items for metric in wanted)
    described: list[dict[str, Any]] = []
    bounds: dict[tuple[Any, ...], dict[str, Any]] = {}
    frames = []
    redefined = Redefinitions([str(metric) for metric in wanted])
    for cell in cells:
        place = _place(experiment, workspace, cell)
        record = None if cell.key in failures else store.get(cell.key)
        if record is None:
            error = failures.get(cell.key, "not computed")
            described.append(place | {"error": error})
            continue
        watch(Stage(cell.title, "metrics"))
        compile_scoring(wanted, depth_of(wanted))
        begun = time.perf_counter()
        exposure = _exposure(workspace.split(cell), record) if needs_items else None
        scores = evaluation.evaluate(wanted, record.rankings, record.pairs, record.kept, exposure)
        seconds = time.perf_counter() - begun
        described.append(
            place
            | record.meta
            | {
                "metric_seconds": seconds,
                "n_users": int(record.kept.sum()),
                "scores": scores.means,
                "tied_at_cut": {
                    str(metric): tied_share(record.rankings, metric.k)
                    for metric in wanted
                    if metric.k and not metric.needs_items
                },
            }
        )
        redefined.add(place, record)
        where = {key: place[key] for key in (*GROUP, "seed", "fold")}
        if tuple(where.values()) not in bounds:
            limits = evaluation.bounds(wanted, record.rankings)
            bounds[tuple(where.values())] = where | {"scores": limits}
        frames.append(_frame(workspace, cell, place, record, scores.per_user))
    columns = ["dataset", "split", "candidates", "algorithm", "seed", "fold", "user"]
    empty = pd.DataFrame(columns=[*columns, *(str(m) for m in wanted)])
    users = pd.concat(frames, ignore_index=True) if frames else empty
    return Scored(described, list(bounds.values()), users, redefined.described())


def _exposure(split: Split, record: CellRecord) -> Exposure:
    """Return what training showed of the items that stand in a cell's lists."""
    ratings = split.ratings
    listed = record.users[record.kept]
    trained = np.zeros(ratings.n_users, dtype=bool)
    trained[ratings.users[split.train]] = True
    return Exposure(
        ratings.users[split.train],
        ratings.items[split.train],
        np.where(trained[listed], listed, -1),
        n_items=ratings.n_items,
    )


def _place(experiment: Experiment, workspace: Workspace, cell: Cell) -> dict[str, Any]:
    split = workspace.splits(cell.dataset, cell.split, cell.seed)[cell.fold]
    return {
        "dataset": workspace.ratings(cell.dataset)[0].name,
        "split": split.name,
        "candidates": experiment.candidates[cell.candidates].describe(),
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
            **{key: place[key] for key in (*GROUP, "algorithm")},
            "seed": place["seed"],
            "fold": place["fold"],
            "user": ratings.user_ids[record.users].astype(str),
            **per_user,
        }
    )
