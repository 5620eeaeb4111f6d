"""The whole flow: a config becomes cells, scores and a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness._util.arguments import checked
from harness.algorithms import registry
from harness.comparison.inference import infer
from harness.config.experiment import DEFAULT_ANALYSES, Experiment
from harness.config.trackers import refuse_missing, with_names
from harness.datasets.section import GIVEN
from harness.errors import ConfigError, Fault, HarnessError, masked_value
from harness.experiment import plan as checks
from harness.experiment import tuning
from harness.experiment.cell import attempt
from harness.experiment.data import add_absent, find_absent
from harness.experiment.describe import describe_plan, plugins_used
from harness.experiment.evaluate import Evaluation, StoredScores, evaluate
from harness.experiment.execute.notebook import NotebookProgress
from harness.experiment.execute.pool import Pool
from harness.experiment.execute.progress import CellFinished, RunPlanned, Stage, Watch
from harness.experiment.notes import notes
from harness.experiment.plan import Plan, check_groups, own_code_unloaded
from harness.experiment.tracking import track as tracked
from harness.notes.note import Note, by_weight, plain
from harness.results.cells import FailedCell
from harness.results.environment import Machine, commit, packages, versions
from harness.results.folder import check_replaceable, remove_earlier
from harness.results.record import SCHEMA_VERSION, RunInfo
from harness.results.runs import Run

if TYPE_CHECKING:
    from harness.experiment.tuning import Search


@checked(HarnessError, leaving=("config", "overrides", "workers", "track"))
@own_code_unloaded()
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
    track: str | Sequence[str] = (),
    watch: Watch | None = None,
) -> Run:
    """Carry out an experiment.

    Parameters
    ----------
    config : path, mapping or Experiment
        A YAML file, or the same as Python data.
    results : path or None
        Folder in which the run gets its own folder; None writes nothing.
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
        Reuse cells with your own code also if not all that decides them could be recorded, for
        example a program that it starts; otherwise they are computed again, and a note says why.
    trust : bool
        Import the code that the record of a run names, where the config is the folder of a run.
    track : str or sequence of str
        Names of trackers, beside the trackers of the config. One that fails is a note of the run;
        one whose package is not installed is refused.
    watch : callable, optional
        Receives events, see `harness.experiment.execute.progress`. By default a notebook shows how
        far the run is, and nothing is shown elsewhere; ``watch=lambda event: None`` is silent
        everywhere.

    Returns
    -------
    Run
        With ``table``, ``users`` and ``folder``. A cell that failed is a row that says why.

    Raises
    ------
    ConfigError
        With every problem of the config, before anything is fitted.
    DataError, SplitError
        If no data set can be loaded and split; where some can, the others are rows that say why.
    MetricError
        If a metric does not define the gain of a rating, as of a negative one.
    ResultsError
        If the results cannot be written.
    PluginError
        If `track` names an unknown tracker, or one that needs parameters, or if the package of a
        tracker is not installed.

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
    with default_display() if watch is None else nullcontext(watch) as watch:
        begun, started = time.perf_counter(), datetime.now(UTC)
        if not (workers is None or (isinstance(workers, int) and workers > 0)):
            fault = Fault(0, "workers", f"found {workers!r}; use a whole number from 1")
            raise ConfigError("run", [fault])
        plan = Plan.from_config(
            config,
            overrides=overrides,
            ratings=ratings,
            progress=None
            if watch is UNWATCHED
            else lambda done, total: watch(Stage("", "loading", done, total)),
            trust=trust,
        )
        experiment = plan.experiment
        trackers = experiment.trackers
        if trackers or not isinstance(track, tuple) or track:
            trackers = with_names(trackers, [track] if isinstance(track, str) else track)
            refuse_missing(trackers, experiment.trackers)
        if results is not None:
            check_replaceable(Path(results) / experiment.name)
        watch(Stage("", "loading"))
        find_absent(plan)
        if len(plan.tables) > 1:
            checks.check_tables(plan)
        checks.check_metrics(plan)
        if experiment.groups:
            check_groups(plan)
        workers = workers or experiment.execution.workers
        pool = Pool(plan, attempt, workers, watch, fresh=fresh, trust_cache=trust_cache)
        compute = partial(_computed, plan, pool, watch, started, begun)
        write = partial(_written, results=results, keep=experiment.results.keep, watch=watch)
        if not trackers:
            return write(compute())

        config_in_full = plain(experiment.model_dump(mode="json"), masked_value)
        return tracked(trackers, experiment.name, config_in_full, compute, write, watch)


UNWATCHED: Watch = lambda event: None  # noqa: E731 - what stands for nobody


def default_display() -> AbstractContextManager[Watch]:
    """Return what watches a run that its caller does not watch: a display in a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):  # as in a terminal
        return nullcontext(UNWATCHED)

    return NotebookProgress()


def _computed(plan: Plan, pool: Pool, watch: Watch, started: datetime, begun: float) -> Run:
    """Fit and score every cell of a plan, and compare their scores."""
    cells, failures = list(plan.cells), dict[str, str]()
    searches: dict[int, Search] = {}
    with closing(pool):
        if plan.is_tuned:
            cells, searches, failures = tuning.tune(plan, pool)
        todo = [cell for cell in cells if cell.key not in failures]
        n_trials = sum(len(search.tried) for search in searches.values())
        watch(RunPlanned(len(cells), len(todo) - len(pool.missing(todo)), pool.workers, n_trials))
        for cell in (cell for cell in cells if cell.key in failures):
            watch(CellFinished(cell.title, 0.0, error=failures[cell.key]))
        failures |= {key: result.error or "" for key, result in pool.compute(todo).items()}
    stored = StoredScores(plan, cells, pool, bool(failures))
    evaluation = (None if pool.fresh else stored.read()) or evaluate(plan, cells, pool, failures)
    trials = tuning.describe(searches, evaluation.cells) if searches else None
    if plan.absent:
        add_absent(plan, evaluation)
    if not evaluation.is_found:  # else an earlier run of these cells compared the rows too
        watch(Stage("", "comparing"))
        if (settings := plan.experiment.statistics) is not None:
            evaluation.statistics, evaluation.not_compared = infer(
                evaluation.users,
                plan.labels,
                evaluation.cells,
                settings,
                plan.experiment.seed[0],
                plan.experiment.draws,
                plan.made(),
                progress=lambda done, total: watch(Stage("", "comparing", done, total)),
            )
        stored.write(evaluation)
    record = _record(plan, evaluation, watch, pool.discard_unrepeatable()) | {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - begun, 3),
    }
    info, outputs = RunInfo.checked(record, is_read=False), evaluation.parts.get("outputs")
    return Run(info, evaluation.users, trials=trials, outputs=outputs)


def _written(run: Run, results: str | Path | None, keep: int | None, watch: Watch) -> Run:
    """Return a run with its folder in `results`, of whose earlier runs some are kept."""
    if results is None:
        return run
    watch(Stage("", "writing"))
    written = run.write(Path(results))
    if keep is not None and written.folder is not None:
        written.removed = remove_earlier(written.folder, keep)
    return written


def _record(
    plan: Plan, evaluation: Evaluation, watch: Watch, on_code: Iterable[Note]
) -> dict[str, object]:
    """Return the content of ``run.json`` except its times."""
    experiment = plan.experiment
    for cell in evaluation.cells:
        if isinstance(cell, FailedCell):
            cell.error = plan.without_folders(cell.error)
    watch(Stage("", "describing"))
    said = by_weight([*notes(plan, evaluation), *evaluation.not_compared, *on_code])
    config = experiment.model_dump(mode="json")
    if plan.is_tuned:  # the validation set that tuning used, written out in each split
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
        "metrics": plan.labels,
        "headline": plan.headline,
        "seeds": list(experiment.draws),
        "config": config,
        "config_file": plan.document.folder and file,
        "datasets": plan.loaded(),
        "splits": plan.made(),
        "descriptions": describe_plan(plan, noted=False),  # notes are with data sets and splits
        "notes": [note.mapped(plan.without_folders) for note in said],
        "cells": evaluation.cells,
        "rows": evaluation.rows,
        **{part: evaluation.parts.get(part, []) for part in (*DEFAULT_ANALYSES, "groups")},
        "analyses": evaluation.tables,
        "statistics": evaluation.statistics,
        "spaces": {
            row.title: registry.space_of(row) for row in experiment.algorithms if row.search
        },
        "packages": packages(),
        "plugins": [*plugins_used(experiment)],
        "versions": versions() | registry.library_versions(e.name for e in experiment.algorithms),
        "machine": Machine.here(),
        "commit": commit(),
        "files": {},
    }
