"""The whole flow: a config becomes cells, scores and a run; and one row of it a model for use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import seeds
from harness.algorithms import models, numerical_faults, registry, surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.arguments import checked
from harness.comparison.best import best
from harness.comparison.inference import infer
from harness.config.experiment import Experiment, headline_of
from harness.config.from_python import GIVEN
from harness.datasets.section import OF_LOADED
from harness.errors import AlgorithmError, ConfigError, DataError, Fault, HarnessError, suggestion
from harness.execution.events import CellFinished, RunPlanned, Stage, Watch
from harness.execution.pool import Pool
from harness.experiment import checks
from harness.experiment.absent import add_absent, find_absent
from harness.experiment.cell import attempt, refuse_what_cannot_fit
from harness.experiment.describe import describe_plan
from harness.experiment.evaluate import Evaluation, evaluate
from harness.experiment.notes import notes
from harness.experiment.plan import Plan
from harness.experiment.plugins_used import plugins_used
from harness.experiment.tuning import Search, describe, space_of, tune
from harness.files import placed
from harness.notes import Note, by_weight
from harness.results.cells import FailedCell
from harness.results.environment import Machine, commit, packages, versions, without_folders
from harness.results.folder import check_replaceable
from harness.results.record import SCHEMA_VERSION, RunInfo
from harness.results.runs import Run
from harness.results.statistics import MetricComparison


@checked(HarnessError, leaving=("config", "overrides", "workers"))
def run(
    config: str | Path | Mapping[str, Any] | Experiment,
    *,
    results: str | Path | None = "runs",
    ratings: Any = None,
    overrides: Iterable[str] = (),
    workers: int | None = None,
    fresh: bool = False,
    trust_cache: bool = False,
    trust: bool = False,
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
        Loaded data, in place of the config's data set. Options of ``dataset`` hold for them, as
        ``scale`` and ``duplicates``; keys that say where or how a file is written are refused.
    overrides : iterable of str
        ``key.path=value`` each.
    workers : int, optional
        Processes at the same time; the config's ``execution.workers`` when left out.
    fresh : bool
        Compute every cell and every trial again, finished or not; the old one stays until
        the new one is complete.
    trust_cache : bool
        Take finished cells also where their key does not cover all code of a class of your own, as
        of a compiled extension; otherwise these are computed again, and a note says why.
    trust : bool
        Import the code that the record of a run names, where the config is the folder of a run.
    watch : callable
        Receives events, see `harness.execution.events`.

    Returns
    -------
    Run
        With ``table``, ``users`` and ``folder``. A cell that failed is a row that says why.

    Raises
    ------
    ConfigError
        With every fault of the config, before anything is fitted.
    DataError, SplitError
        If no data set can be loaded and split; where some can, the others are rows that say why.
    MetricError
        If a metric does not define the gain of a rating, as of a negative one.
    ResultsError
        If the results cannot be written.

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
    if not (workers is None or (isinstance(workers, int) and workers > 0)):
        fault = Fault(0, "workers", f"found {workers!r}; use a whole number from 1")
        raise ConfigError("run", [fault])
    plan = Plan.from_config(
        config,
        overrides=overrides,
        ratings=ratings,
        progress=lambda done, total: watch(Stage("", "loading", done, total)),
        trust=trust,
    )
    if results is not None:
        check_replaceable(Path(results) / plan.experiment.name)
    watch(Stage("", "loading"))
    find_absent(plan)
    checks.check_tables(plan)
    checks.check_metrics(plan)
    checks.check_groups(plan)
    cells, searches, failures = list(plan.cells), dict[int, Search](), dict[str, str]()
    workers = workers or plan.experiment.execution.workers
    with Pool(plan, attempt, workers, watch, fresh=fresh, trust_cache=trust_cache) as pool:
        if plan.is_tuned:
            cells, searches, failures = tune(plan, pool)
        todo = [cell for cell in cells if cell.key not in failures]
        n_trials = sum(len(search.tried) for search in searches.values())
        watch(RunPlanned(len(cells), len(todo) - len(pool.missing(todo)), workers, n_trials))
        for cell in cells:
            if cell.key in failures:
                watch(CellFinished(cell.title, 0.0, error=failures[cell.key]))
        failures |= {key: result.error or "" for key, result in pool.compute(todo).items()}
    evaluation = evaluate(plan, cells, pool, failures)
    trials = describe(searches, evaluation.cells) if searches else None
    add_absent(plan, evaluation)
    record = _record(plan, evaluation, watch) | {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - begun, 3),
        "files": {},
    }
    done = Run(
        RunInfo.checked(record),
        evaluation.users,
        trials=trials,
        outputs=evaluation.parts.get("outputs"),
    )
    if results is None:
        return done
    watch(Stage("", "writing"))
    return done.write(Path(results))


def _record(plan: Plan, evaluation: Evaluation, watch: Watch) -> dict[str, object]:
    """Return the content of ``run.json`` except its times."""
    experiment, labels = plan.experiment, [str(metric) for metric in plan.metrics]

    def without(text: str) -> str:
        return without_folders(text, plan.document.folder)

    def shown(made: Iterable[Note]) -> list[Note]:
        return [note.mapped(without) for note in made]

    for cell in evaluation.cells:
        if isinstance(cell, FailedCell):
            cell.error = without(cell.error)
    datasets = plan.loaded()
    for data in datasets:
        data.notes = shown(data.notes)
    watch(Stage("", "describing"))
    descriptions = describe_plan(plan)
    for described in descriptions:  # whose notes stand with data sets and splits
        described.notes = []
        for split in described.splits:
            split.notes = []
    watch(Stage("", "comparing"))
    statistics: list[MetricComparison] = []
    not_compared: list[Note] = []
    if (settings := experiment.statistics) is not None:
        scores = evaluation.users, labels, evaluation.cells, settings, experiment.seed[0]
        statistics, not_compared = infer(
            *scores,
            experiment.draws,
            plan.made(),
            progress=lambda done, total: watch(Stage("", "comparing", done, total)),
        )
    config = experiment.model_dump(mode="json")
    if plan.is_tuned:  # the validation part that tuning used, written out in each split
        for section, written in zip(experiment.split, config["split"], strict=True):
            written["validation"] = experiment.tuning.validation_of(section).model_dump(mode="json")
    if plan.given is not None:
        stated = experiment.dataset[0].model_dump(mode="json", exclude_defaults=True)
        name = GIVEN + plan.given.name
        config["dataset"] = [{**stated, "path": name} if stated.keys() - {"path"} else name]
    source = Path(plan.document.recorded or plan.document.source)
    file = source.name if source.is_absolute() else source.as_posix()
    return {
        "schema_version": SCHEMA_VERSION,
        "name": experiment.name,
        "description": experiment.description,
        "metrics": labels,
        "headline": headline_of(labels, experiment.headline),
        "seeds": list(experiment.draws),
        "config": config,
        "config_file": plan.document.folder and file,
        "datasets": datasets,
        "splits": plan.made(),
        "descriptions": descriptions,
        "notes": shown(
            by_weight([*notes(plan, evaluation, statistics), *not_compared, *plan.code.notes()])
        ),
        "cells": evaluation.cells,
        "rows": evaluation.rows,
        "bounds": evaluation.parts.get("bounds", []),
        "conventions": evaluation.parts.get("conventions", []),
        "ties": evaluation.parts.get("ties", []),
        "groups": evaluation.parts.get("groups", []),
        "analyses": evaluation.tables,
        "statistics": statistics,
        "spaces": {
            algorithm.title: space_of(algorithm)
            for algorithm in experiment.algorithms
            if algorithm.search
        },
        "packages": packages(),
        "plugins": [*plugins_used(experiment)],
        "versions": versions() | registry.library_versions(e.name for e in experiment.algorithms),
        "machine": Machine.here(),
        "commit": commit(),
    }


@checked(HarnessError)
def fit_row(
    source: Run | str | Path | Mapping[str, Any] | Experiment,
    algorithm: str | None = None,
    *,
    ratings: Any = None,
    progress: Callable[[str, int, int], object] = lambda stage, done, total: None,
    say: Callable[[str], object] = lambda sentence: None,
    check: Callable[[ColumnTrainset], object] = lambda trainset: None,
    **table: str | None,
) -> surprise.AlgoBase:
    """Fit one row of a run or of a config on all ratings, training and test alike.

    Parameters
    ----------
    source : Run, path, mapping or Experiment
        A run, or a config with one data set; its splits and metrics are not used.
    algorithm : str, optional
        The display name of a row. By default the best row of a run, see `harness.best`, or the only
        algorithm of a config.
    ratings : Ratings, DataFrame or surprise.Dataset, optional
        Loaded data, in place of the data set; needed where a run was given its data from Python.
    progress : callable, optional
        Called with the stage, steps done and steps in all, from time to time.
    say : callable, optional
        Called with each sentence of the evidence for the row of a run.
    check : callable, optional
        Called with the ratings as a training set before the fit; if it raises, nothing is fitted.
    **table : str
        ``dataset``, ``split``, ``candidates`` or ``metric``, to choose among the tables of a run.

    Returns
    -------
    surprise.AlgoBase
        For `harness.recommend`, `harness.save_model` or ``predict``.

    Raises
    ------
    AlgorithmError
        If several rows could be meant, or none of this name is there; if a config is given with the
        choice of a table.
    ConfigError
        If the config has faults, or the run was given its data from Python and they are not here.
    CapacityError
        If the algorithm needs more memory than is free.
    DataError
        If the data are not those that the run was made with.
    ResultsError
        As from `harness.best`.

    Notes
    -----
    A row that a search tuned has the parameters of `harness.best`; a config with a search has to be
    run first. A seed that the parameters do not set is derived from the run's first seed by name.

    Examples
    --------
    >>> import harness
    >>> model = harness.fit_row({"dataset": "bundled", "algorithms": ["ItemMean"],
    ...                          "metrics": ["rmse"], "baselines": False})
    >>> round(float(model.predict("1", "31").est), 3)
    3.179
    """
    if unknown := table.keys() - {"dataset", "split", "candidates", "metric"}:
        raise TypeError(f"fit_row() got an unexpected keyword argument {min(unknown)!r}")
    expected = folder = None
    config: Any = source
    if isinstance(source, Run):
        choice = best(source, algorithm=algorithm, **table)
        names = {entry.name: entry.fingerprint for entry in source.info.datasets}
        config, expected, algorithm = dict(choice.config), names[choice.row.dataset], None
        folder, data = choice.folder, config["dataset"]
        if ratings is not None and isinstance(data, dict):  # which have to be those of the run
            config["dataset"] = {key: data[key] for key in OF_LOADED if key in data}
        path = Path(data.get("path", "")) if isinstance(data, dict) else Path()
        if ratings is None and not placed(path, folder).exists():
            raise DataError(
                f"{source.name}: its data, {path}, are not found from here; change to the folder "
                f"where `harness run {source.info.config_file}` was called, or write a config with "
                "`harness best` and correct its path"
            )
        for sentence in choice.evidence:
            say(sentence)
    elif options := ", ".join(key for key, value in table.items() if value is not None):
        raise AlgorithmError(f"{options}: only a run has tables to choose from; leave it out")
    plan = Plan.from_config(
        config,
        # Without a name the rows that are written count, not those that are added to them.
        overrides=("baselines=false", "statistics=null") if algorithm is None else (),
        ratings=ratings,
        progress=lambda done, total: progress("loading", done, total),
        folder=folder,
    )
    experiment = plan.experiment
    rows = {entry.title: entry for entry in experiment.algorithms}
    if algorithm is None:
        titles = [
            title
            for title, entry in rows.items()
            if len(rows) == 1 or registry.canonical(entry.name) not in ("Random", "Popularity")
        ]
        if len(titles) != 1:
            raise AlgorithmError(
                f"algorithm: the config has {', '.join(rows)}; choose one (--algorithm)"
            )
        algorithm = titles[0]
    if algorithm not in rows:
        raise AlgorithmError(f"algorithm: no row {algorithm!r}; {suggestion(algorithm, rows)}")
    chosen = rows[algorithm]
    if chosen.search is not None:
        raise AlgorithmError(f"{algorithm}: its parameters are searched; run the config first")
    if len(experiment.dataset) > 1:
        raise AlgorithmError("dataset: the config has several; use one, or a run and its best row")
    progress("loading", 0, 0)
    data, _ = plan.ratings(0)
    if expected is not None and expected != data.fingerprint:
        raise DataError(
            f"{data.name}: the ratings are not those of the run ({expected[:12]} then, "
            f"{data.fingerprint[:12]} now); run the config again"
        )
    trainset = ColumnTrainset.of_ratings(data)
    check(trainset)
    seed = seeds.derive(experiment.seed[0], "all ratings", chosen.title)
    refuse_what_cannot_fit(chosen.name, chosen.params, trainset)
    model = registry.create(chosen.name, chosen.params, seed)
    progress("fitting", 0, 0)
    how = {"accelerate": experiment.accelerate, "as_surprise": chosen.as_surprise}
    with seeds.global_generators(seed), numerical_faults.report_division_by_zero(model):
        models.fit(model, trainset, progress=lambda n, total: progress("fitting", n, total), **how)
    return model
