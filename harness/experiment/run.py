"""The whole flow: a config becomes cells, cells become scores, scores become a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import datasets
from harness.algorithms import registry
from harness.config.document import Document
from harness.config.experiment import GIVEN, Experiment
from harness.config.load import load
from harness.experiment.cell import Outcome
from harness.experiment.checks import check_relevance, check_tables
from harness.experiment.events import CellFinished, RunPlanned, Stage, Watch, ignore
from harness.experiment.execute import execute
from harness.experiment.ledger import Ledger
from harness.experiment.plan import Cell, make_cells, requested_metrics
from harness.experiment.remarks import remarks
from harness.experiment.scores import Scored, score_cells
from harness.experiment.tuning import n_planned, trials_frame, tune
from harness.experiment.workspace import Workspace
from harness.results import environment
from harness.results.compare import infer
from harness.results.record import (
    SCHEMA_VERSION,
    CellResult,
    FailedCell,
    MetricComparison,
    RunInfo,
)
from harness.results.run import Run, check_replaceable
from harness.results.store import CellStore

__all__ = ["run"]


def run(
    config: str | Path | Mapping[str, Any] | Experiment,
    *,
    results: str | Path | None = "runs",
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
        Loaded data, in place of the config's data set.
    overrides : iterable of str
        ``key.path=value`` each.
    workers : int, optional
        Processes at the same time; the config's ``execution.workers`` when left out.
    fresh : bool
        Compute every cell and every trial again, finished or not; the old one stays until
        the new one is complete.
    watch : callable
        Receives events, see `harness.experiment.events`.

    Returns
    -------
    Run
        With ``table``, ``users`` and ``folder``. A cell that failed is a row that says why.

    Raises
    ------
    ConfigError
        With every fault of the config, before anything is fitted.
    DataError, SplitError
        If the data cannot be loaded or split.

    Examples
    --------
    >>> done = run(
    ...     {
    ...         "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
    ...         "algorithms": ["BaselineOnly", "Random"],
    ...         "metrics": ["ndcg@10"],
    ...     },
    ...     results=None,
    ... )
    >>> done.table["algorithm"].tolist()[:3]
    ['BaselineOnly', 'Random', 'Popularity']
    """
    begun, started = time.perf_counter(), datetime.now(UTC)
    given = None if ratings is None else datasets.load(ratings)
    if given is not None:
        overrides = [*overrides, "dataset=bundled"]
    experiment, document = load(config, overrides=overrides)
    if results is not None:
        check_replaceable(Path(results) / experiment.name)
    workspace = Workspace(
        experiment,
        document.folder,
        given=given,
        progress=lambda done, total: watch(Stage("", "loading", done, total)),
    )
    store = CellStore.default()
    ledger = Ledger(store, watch, fresh=fresh)
    workers = workers or experiment.execution.workers

    def carry_out(todo: Iterable[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        for cell, outcome in execute(todo, workspace, store, workers, watch, fresh=fresh):
            ledger.note(cell, outcome)
            yield cell, outcome

    watch(Stage("", "loading"))
    check_tables(experiment, workspace, document)
    cells = list(make_cells(experiment, workspace))
    check_relevance(experiment, workspace)
    n_trials = n_planned(experiment, cells)
    if n_trials:
        watch(RunPlanned(len(cells) + n_trials, 0, workers))
    cells, searches, failures = tune(experiment, workspace, cells, ledger, carry_out)
    missing = ledger.missing(cell for cell in cells if cell.key not in failures)
    n_done = n_trials + len(cells) - len(missing) - len(failures)
    watch(RunPlanned(len(cells) + n_trials, n_done, workers))
    for cell in cells:
        if cell.key in failures:
            watch(CellFinished(cell.title, 0.0, error=failures[cell.key]))
    failures |= {
        cell.key: outcome["error"]
        for cell, outcome in carry_out(missing)
        if outcome["status"] == "failed"
    }
    scored = score_cells(experiment, workspace, cells, store, failures, watch)
    for described in scored.cells:
        described.found = not described.error and ledger.was_found(described.key)
    tuned = [(scored.cells[position], search) for position, search in searches.items()]
    for result, search in tuned:
        result.n_trials, result.search_seconds = search.n_trials, search.seconds
        if search.failure and isinstance(result, CellResult):
            result.notes = [*result.notes, f"{result.algorithm}: {search.failure}"]
    watch(Stage("", "comparing"))
    info = RunInfo.checked(
        _described(experiment, workspace, scored)
        | {
            "config_file": _relative(document),
            "started": started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - begun, 3),
            "files": {},
        }
    )
    finished = Run(info, scored.users, trials=trials_frame(tuned) if tuned else None)
    return finished if results is None else finished.write(Path(results))


def _described(experiment: Experiment, workspace: Workspace, scored: Scored) -> dict[str, Any]:
    """Return the content of ``run.json`` except its times."""
    given = workspace.given

    def told(messages: Iterable[str]) -> list[str]:
        return [environment.without_folders(message, workspace.base) for message in messages]

    for cell in scored.cells:
        if isinstance(cell, FailedCell):
            (cell.error,) = told([cell.error])
    statistics, not_compared = _statistics(experiment, scored)
    return {
        "schema_version": SCHEMA_VERSION,
        "name": experiment.name,
        "description": experiment.description,
        "metrics": [str(metric) for metric in requested_metrics(experiment)],
        "seeds": experiment.seed,
        "config": _explicit(experiment)
        | ({} if given is None else {"dataset": [GIVEN + given.name]}),
        "datasets": [data | {"notes": told(data["notes"])} for data in workspace.describe_data()],
        "splits": workspace.describe_splits(),
        "notes": told([*remarks(experiment, workspace, scored, statistics), *not_compared]),
        "cells": scored.cells,
        "rows": scored.rows,
        "bounds": scored.bounds,
        "conventions": scored.conventions,
        "ties": scored.ties,
        "statistics": statistics,
        "versions": environment.versions()
        | registry.library_versions(each.name for each in experiment.algorithms),
        "machine": environment.machine(),
        "commit": environment.commit(),
    }


def _explicit(experiment: Experiment) -> dict[str, Any]:
    """Return a config with the validation part that tuning used written out in each split."""
    config = experiment.model_dump(mode="json")
    if any(algorithm.search is not None for algorithm in experiment.algorithms):
        for section, written in zip(experiment.split, config["split"], strict=True):
            chosen = experiment.tuning.validation_of(section)
            written["validation"] = chosen.model_dump(mode="json")
    return config


def _statistics(experiment: Experiment, scored: Scored) -> tuple[list[MetricComparison], list[str]]:
    if experiment.statistics is None:
        return [], []
    labels = [str(metric) for metric in requested_metrics(experiment)]
    return infer(scored.users, labels, scored.cells, experiment.statistics, experiment.seed[0])


def _relative(document: Document) -> str | None:
    """Return the config's path as given, or its name alone where the path is absolute."""
    if document.folder is None:
        return None
    path = Path(document.source)
    return path.name if path.is_absolute() else path.as_posix()
