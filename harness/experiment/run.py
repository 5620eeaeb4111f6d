"""The whole flow: a config becomes cells, cells become scores, scores become a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.algorithms import registry
from harness.config.experiment import GIVEN, Experiment
from harness.datasets import load
from harness.experiment.describe import describe_plan
from harness.experiment.evaluate import Evaluation, evaluate, notes
from harness.experiment.events import CellFinished, RunPlanned, Stage, Watch
from harness.experiment.plan import Plan
from harness.experiment.pool import Pool
from harness.experiment.tuning import Search, describe, space_of, tune
from harness.results.record import (
    SCHEMA_VERSION,
    FailedCell,
    Machine,
    MetricComparison,
    RunInfo,
    commit,
    packages,
    versions,
    without_folders,
)
from harness.results.runs import Run, check_replaceable
from harness.results.scores import infer

__all__ = ["run"]


def run(
    config: str | Path | Mapping[str, Any] | Experiment,
    *,
    results: str | Path | None = "runs",
    ratings: Any = None,
    overrides: Iterable[str] = (),
    workers: int | None = None,
    fresh: bool = False,
    watch: Watch = lambda event: None,
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
    plan = Plan.from_config(
        config,
        overrides=overrides,
        ratings=None if ratings is None else load(ratings),
        progress=lambda done, total: watch(Stage("", "loading", done, total)),
    )
    if results is not None:
        check_replaceable(Path(results) / plan.experiment.name)
    watch(Stage("", "loading"))
    plan.check_tables()
    plan.check_metrics()
    plan.check_groups()
    cells, searches, failures = list(plan.cells), dict[int, Search](), dict[str, str]()
    workers = workers or plan.experiment.execution.workers
    with Pool(plan, workers, watch, fresh=fresh) as pool:
        if plan.is_tuned:
            cells, searches, failures = tune(plan, pool)
        todo = [cell for cell in cells if cell.key not in failures]
        n_trials = sum(len(search.tried) for search in searches.values())
        watch(RunPlanned(len(cells), len(todo) - len(pool.missing(todo)), workers, n_trials))
        for cell in cells:
            if cell.key in failures:
                watch(CellFinished(cell.title, 0.0, error=failures[cell.key]))
        failures |= {key: each.error or "" for key, each in pool.compute(todo).items()}
    found = evaluate(plan, cells, pool, failures)
    trials = describe(searches, found.cells) if searches else None
    watch(Stage("", "comparing"))
    described = _described(plan, found) | {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - begun, 3),
        "files": {},
    }
    finished = Run(RunInfo.checked(described), found.users, trials=trials, outputs=found.outputs)
    return finished if results is None else finished.write(Path(results))


def _described(plan: Plan, found: Evaluation) -> dict[str, object]:
    """Return the content of ``run.json`` except its times."""
    experiment, labels = plan.experiment, [str(metric) for metric in plan.metrics]

    def shown(messages: Iterable[str]) -> list[str]:
        return [without_folders(each, plan.document.folder) for each in messages]

    for cell in found.cells:
        if isinstance(cell, FailedCell):
            (cell.error,) = shown([cell.error])
    datasets = plan.loaded()
    for each in datasets:
        each.notes = shown(each.notes)
    descriptions = describe_plan(plan)
    for described in descriptions:  # whose notes stand with data sets and splits
        described.notes = []
        for split in described.splits:
            split.notes = []
    statistics: list[MetricComparison] = []
    not_compared: list[str] = []
    if experiment.statistics is not None:
        statistics, not_compared = infer(
            found.users,
            labels,
            found.cells,
            experiment.statistics,
            experiment.seed[0],
            experiment.draws,
            plan.made(),
        )
    config = experiment.model_dump(mode="json")
    if plan.is_tuned:  # the validation part that tuning used, written out in each split
        for section, written in zip(experiment.split, config["split"], strict=True):
            written["validation"] = experiment.tuning.validation_of(section).model_dump(mode="json")
    if plan.given is not None:
        config["dataset"] = [GIVEN + plan.given.name]
    source = Path(plan.document.recorded or plan.document.source)
    return {
        "schema_version": SCHEMA_VERSION,
        "name": experiment.name,
        "description": experiment.description,
        "metrics": labels,
        "seeds": list(experiment.draws),
        "config": config,
        "config_file": plan.document.folder
        and (source.name if source.is_absolute() else source.as_posix()),
        "datasets": datasets,
        "splits": plan.made(),
        "descriptions": descriptions,
        "notes": shown([*notes(plan, found, statistics), *not_compared]),
        "cells": found.cells,
        "rows": found.rows,
        "bounds": found.bounds,
        "conventions": found.conventions,
        "ties": found.ties,
        "statistics": statistics,
        "groups": found.groups,
        "spaces": {each.title: space_of(each) for each in experiment.algorithms if each.search},
        "packages": packages(),
        "versions": versions()
        | registry.library_versions(each.name for each in experiment.algorithms),
        "machine": Machine.here(),
        "commit": commit(),
    }
