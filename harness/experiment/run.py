"""The whole flow: a config becomes cells, cells become scores, scores become a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import datasets, evaluation
from harness.algorithms import registry
from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.load import load
from harness.datasets import Ratings
from harness.errors import ResultsError
from harness.experiment.cell import Outcome
from harness.experiment.events import Note, RunPlanned, Stage, Watch, ignore
from harness.experiment.execute import execute
from harness.experiment.plan import Cell, make_cells, requested_metrics
from harness.experiment.tuning import trials_frame, tune
from harness.experiment.workspace import Workspace
from harness.results import provenance
from harness.results.cells import CellRecord, CellStore
from harness.results.run import SCHEMA_VERSION, Run

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["run"]


def run(
    config: str | Path | Mapping[str, Any] | Experiment,
    *,
    results: str | Path | None = "results",
    ratings: Any = None,
    overrides: Iterable[str] = (),
    workers: int | None = None,
    fresh: bool = False,
    watch: Watch = ignore,
) -> Run:
    """Carry out an experiment.

    Parameters
    ----------
    config : path, mapping or Experiment
        A YAML file, or the same as Python data.
    results : path or None
        Folder in which the run gets a folder of its own; None writes nothing.
    ratings : Ratings, DataFrame or surprise.Dataset, optional
        Data at hand, in place of the config's data set.
    overrides : iterable of str
        ``key.path=value`` each.
    workers : int, optional
        Processes at the same time; the config's ``execution.workers`` when left out.
    fresh : bool
        Compute every cell again, finished or not.
    watch : callable
        Told what happens, see `harness.experiment.events`.

    Returns
    -------
    Run
        With ``table``, ``users`` and ``folder``. A cell that failed is a row that says why.

    Raises
    ------
    ConfigError
        With every fault of the config, before anything is fitted.
    DataError, SplitError
        If the data cannot be had or divided.

    Examples
    --------
    >>> done = run(
    ...     {
    ...         "dataset": {"name": "synthetic", "n_users": 50, "n_items": 40, "n_ratings": 800},
    ...         "algorithms": ["BaselineOnly", "Random"],
    ...         "metrics": ["ndcg@10"],
    ...     },
    ...     results=None,
    ... )
    >>> done.table["algorithm"].tolist()
    ['BaselineOnly', 'Random']
    """
    begun = time.perf_counter()
    started = datetime.now(UTC)
    given = None if ratings is None else datasets.load(ratings)
    if given is not None and isinstance(config, Mapping):
        config = {"dataset": "bundled", **config}
    experiment, document = load(config, overrides=overrides, check_algorithm=registry.check)
    workspace = Workspace(
        experiment,
        document.folder,
        given=given,
        progress=lambda done, total: watch(Stage("", "loading", done, total)),
    )
    watch(Stage("", "loading"))
    cells = list(make_cells(experiment, workspace))
    store = CellStore.default()
    n_workers = workers or experiment.execution.workers

    def carry_out(todo: Iterable[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        return execute(todo, workspace, store, n_workers, watch)

    cells, searches = tune(experiment, workspace, cells, store, carry_out)
    missing = [cell for cell in _unique(cells) if fresh or not _whole(store, cell, watch)]
    watch(RunPlanned(len(cells), len(cells) - len(missing)))
    if fresh:
        for cell in missing:
            store.discard(cell.key)
    failures = {
        cell.key: outcome["error"]
        for cell, outcome in carry_out(missing)
        if outcome["status"] == "failed"
    }
    described, users = _evaluate(experiment, workspace, cells, store, failures, watch)
    tuned = [(described[position], search) for position, search in searches.items()]
    for place, search in tuned:
        place |= {"n_trials": len(search.trials), "search_seconds": search.seconds}
    finished = Run(
        {
            "schema_version": SCHEMA_VERSION,
            "name": experiment.name,
            "description": experiment.description,
            "metrics": [str(metric) for metric in requested_metrics(experiment)],
            "seeds": experiment.seed,
            "config": experiment.model_dump(mode="json")
            | ({} if given is None else {"dataset": [f"given from Python: {given.name}"]}),
            "config_file": _relative(document),
            "datasets": workspace.describe_data(),
            "splits": workspace.describe_splits(),
            "notes": _notes(workspace, described),
            "cells": described,
            "versions": provenance.versions(),
            "machine": provenance.machine(),
            "commit": provenance.commit(),
            "started": started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - begun, 3),
        },
        users,
        trials=trials_frame(tuned) if tuned else None,
    )
    return finished if results is None else finished.write(Path(results))


def _unique(cells: list[Cell]) -> list[Cell]:
    """Return each key's first cell: a deterministic algorithm is the same under every seed."""
    first: dict[str, Cell] = {}
    for cell in cells:
        first.setdefault(cell.key, cell)
    return list(first.values())


def _whole(store: CellStore, cell: Cell, watch: Watch) -> bool:
    """Return whether a cell is finished; a broken file is removed and said to be."""
    try:
        return store.get(cell.key) is not None
    except ResultsError as error:
        store.discard(cell.key)
        watch(Note(str(error)))
        return False


def _evaluate(
    experiment: Experiment,
    workspace: Workspace,
    cells: list[Cell],
    store: CellStore,
    failures: dict[str, str],
    watch: Watch,
) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """Score every finished cell and describe every cell."""
    import pandas as pd

    wanted = requested_metrics(experiment)
    described, frames = [], []
    for cell in cells:
        place = _place(experiment, workspace, cell)
        record = None if cell.key in failures else store.get(cell.key)
        if record is None:
            error = failures.get(cell.key, "not computed")
            described.append(place | {"error": error})
            continue
        watch(Stage(cell.title, "metrics"))
        begun = time.perf_counter()
        scores = evaluation.evaluate(wanted, record.rankings, record.pairs, record.kept)
        seconds = time.perf_counter() - begun
        described.append(
            place
            | record.meta
            | {
                "metric_seconds": seconds,
                "n_users": int(record.kept.sum()),
                "scores": scores.means,
            }
        )
        frames.append(_frame(workspace, cell, place, record, scores.per_user))
    columns = ["dataset", "split", "candidates", "algorithm", "seed", "fold", "user"]
    empty = pd.DataFrame(columns=[*columns, *(str(m) for m in wanted)])
    return described, pd.concat(frames, ignore_index=True) if frames else empty


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
    n_users = len(record.users)
    same = {
        key: pd.Categorical([place[key]] * n_users)
        for key in ("dataset", "split", "candidates", "algorithm")
    }
    return pd.DataFrame(
        {
            **{key: values.astype(str) for key, values in same.items()},
            "seed": place["seed"],
            "fold": place["fold"],
            "user": ratings.user_ids[record.users].astype(str),
            **per_user,
        }
    )


def _notes(workspace: Workspace, cells: list[dict[str, Any]]) -> list[str]:
    """Return what a reader of the table has to know, each thing once."""
    notes = [*workspace.notes()]
    for cell in cells:
        notes += cell.get("notes", [])
    notes += _impossible(cells)
    undefined: dict[str, int] = {}
    for cell in cells:
        for label, score in cell.get("scores", {}).items():
            undefined[label] = max(undefined.get(label, 0), score["n_undefined"])
    notes += [
        f"{label}: up to {count:,} users a cell are undefined"
        for label, count in undefined.items()
        if count
    ]
    return list(dict.fromkeys(notes))


def _impossible(cells: list[dict[str, Any]]) -> list[str]:
    """Say which algorithms could not estimate how many test ratings, those alike together."""
    counts: dict[str, tuple[int, int]] = {}
    for cell in cells:
        if not cell.get("error"):
            before = counts.get(cell["algorithm"], (0, 0))
            counts[cell["algorithm"]] = (
                before[0] + cell["n_impossible"],
                before[1] + cell["n_test"],
            )
    alike: dict[tuple[int, int], list[str]] = {}
    for algorithm, count in counts.items():
        if count[0]:
            alike.setdefault(count, []).append(algorithm)
    return [
        f"{', '.join(algorithms)}: {n_impossible:,} of {n_test:,} test estimates were impossible "
        "and became the model's default, as in Surprise"
        for (n_impossible, n_test), algorithms in alike.items()
    ]


def _relative(document: Document) -> str | None:
    """Return the config's path as given, or its name alone where the path is absolute."""
    if document.folder is None:
        return None
    path = Path(document.source)
    return path.name if path.is_absolute() else path.as_posix()
