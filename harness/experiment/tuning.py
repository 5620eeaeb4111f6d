"""Parameters searched on a validation part of the training data, before the test is touched."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from harness import metrics
from harness.algorithms import registry
from harness.algorithms.parameters import with_params
from harness.config.algorithm import AlgorithmConfig
from harness.config.experiment import Experiment, Tuning
from harness.config.spaces import SearchSpace
from harness.experiment.cell import Outcome
from harness.experiment.events import CellFinished
from harness.experiment.ledger import Ledger
from harness.experiment.plan import Cell, rekeyed
from harness.experiment.studies import Setting, Study, grid_size, make_study
from harness.experiment.workspace import Workspace
from harness.results.record import CellResult, FailedCell
from harness.results.store import CellStore, key_of
from harness.results.table import ROW

__all__ = ["Search", "Trial", "cut_grids", "n_planned", "space_of", "trials_frame", "tune"]

Execute = Callable[[Iterable[Cell]], Iterator[tuple[Cell, Outcome]]]


MOST_FAILED = 20
"""Trials without a score after which a search with a budget of seconds alone ends: a trial that
fails at once uses up none of them."""


@dataclass(frozen=True)
class Trial:
    """One setting, fitted on the inner training part and scored on the validation part."""

    params: dict[str, Any]
    value: float
    """The deciding metric; NaN when the trial failed."""
    seconds: float
    """Of fitting and scoring, or until it failed."""
    error: str | None = None


@dataclass
class Search:
    """The search for one cell's parameters.

    Parameters
    ----------
    cell : Cell
        As the config writes it.
    study : Study
    tried : list of Trial
        The setting of the config, then those of the
        search in order.
    """

    cell: Cell
    study: Study
    tried: list[Trial] = field(default_factory=list)
    exhausted: bool = False

    @property
    def trials(self) -> list[Trial]:
        """The trials of the search, without the setting of the config."""
        return self.tried[1:]

    @property
    def n_trials(self) -> int:
        """How many different settings were tried, without that of the config."""
        return len({repr(trial.params) for trial in self.trials})

    @property
    def seconds(self) -> float:
        """Seconds of fitting and scoring spent so far."""
        return sum(trial.seconds for trial in self.tried)

    def best(self, higher: bool) -> Trial | None:
        """Return the best trial, the earliest of equals; None when every trial failed."""
        good = [trial for trial in self.tried if not math.isnan(trial.value)]
        if not good:
            return None
        return max(good, key=lambda trial: trial.value if higher else -trial.value)

    @property
    def hopeless(self) -> bool:
        """Whether so many trials failed, and none had a score, that no further one is tried."""
        return len(self.tried) > MOST_FAILED and self.best(higher=True) is None

    @property
    def failure(self) -> str | None:
        """How many trials have no score, and the first reason; None where all have one."""
        failed = [trial for trial in self.tried if math.isnan(trial.value)]
        if not failed:
            return None
        reason = failed[0].error or "no user of the validation part has a score"
        return f"{len(failed)} of {len(self.tried)} trials failed: {reason}"


def space_of(algorithm: AlgorithmConfig) -> SearchSpace:
    """Return the space that an algorithm is searched over; empty when it is not."""
    if algorithm.search == "recommended":
        return registry.search_space(algorithm.name)
    return algorithm.search or {}


def tune(
    experiment: Experiment,
    workspace: Workspace,
    cells: list[Cell],
    ledger: Ledger,
    execute: Execute,
) -> tuple[list[Cell], dict[int, Search], dict[str, str]]:
    """Search parameters for every cell whose algorithm has a search.

    Trials are stored like other cells, so a search that was stopped resumes. All searches advance
    together: all trials at once for listed or random settings, otherwise one trial of each search.
    This keeps several workers busy, and their number does not change a result.

    Returns
    -------
    cells : list of Cell
        The given ones, with the best parameters found.
    searches : dict of int to Search
        By the position of the tuned cell.
    failures : dict of str to str
        Why no setting could be chosen, by the key of the cell.
    """
    metric = metrics.parse(experiment.tuning.metric)
    searches: dict[int, Search] = {}
    for position, cell in enumerate(cells):
        algorithm = experiment.algorithms[cell.algorithm]
        if algorithm.search is not None:
            names = (registry.canonical(algorithm.name), cell.fold)
            study = make_study(experiment.tuning, space_of(algorithm), cell.seed, *names)
            searches[position] = Search(cell, study)
    while under_way := [each for each in searches.values() if _goes_on(each, experiment)]:
        asked: list[tuple[Search, Setting, Cell]] = []
        for search in under_way:
            settings = _settings(search, experiment.tuning)
            for number, setting in enumerate(settings, start=len(search.tried)):
                trial = replace(
                    search.cell,
                    inner=True,
                    params=with_params(search.cell.params, setting),
                    title=f"{search.cell.title} · {f'trial {number}' if number else 'as written'}",
                )
                asked.append((search, setting, rekeyed(experiment, workspace, trial)))
        failed = _carry_out([cell for _, _, cell in asked], ledger, execute)
        for search, setting, cell in asked:
            trial_result = _judge(cell, ledger.store, metric, failed.get(cell.key))
            search.tried.append(trial_result)
            if setting:
                value = trial_result.value
                search.study.tell(setting, value if metric.higher_is_better else -value)
    tuned, failures = list(cells), {}
    for position, search in searches.items():
        best = search.best(metric.higher_is_better)
        if best is None:
            # A row without a search may have the same cell; its key must stay free of this failure.
            tuned[position] = replace(search.cell, key=key_of({"not tuned": search.cell.key}))
            failures[tuned[position].key] = f"no setting can be chosen: {search.failure}"
        else:
            cell = replace(search.cell, params=best.params)
            tuned[position] = rekeyed(experiment, workspace, cell)
    return tuned, searches, failures


def _goes_on(search: Search, experiment: Experiment) -> bool:
    budget = experiment.tuning
    space = space_of(experiment.algorithms[search.cell.algorithm])
    if not search.tried:
        return True
    if search.exhausted or not space or (budget.trials is None and search.hopeless):
        return False
    if budget.trials is not None and len(search.trials) >= budget.trials:
        return False
    return budget.seconds is None or search.seconds < budget.seconds


def _settings(search: Search, budget: Tuning) -> list[Setting]:
    """Return the settings to be tried at once: as many as do not wait for another's value."""
    settings: list[Setting] = [] if search.tried else [{}]
    at_once = not search.study.learns and budget.seconds is None
    left = (budget.trials or 1) - len(search.trials) + len(settings) if at_once else 1
    while len(settings) < left and not search.exhausted:
        setting = search.study.ask()
        if setting is None:
            search.exhausted = True
        else:
            settings.append(setting)
    return settings


def n_planned(experiment: Experiment, cells: Iterable[Cell]) -> int:
    """Return how many trials the searches of cells have at the most, seconds aside."""
    budget = experiment.tuning.trials or 1
    return sum(
        1 + (budget if space_of(experiment.algorithms[cell.algorithm]) else 0)
        for cell in cells
        if experiment.algorithms[cell.algorithm].search is not None
    )


def cut_grids(experiment: Experiment) -> Iterator[str]:
    """Yield a note for each algorithm whose grid has more settings than there are trials."""
    tuning = experiment.tuning
    for algorithm in experiment.algorithms:
        size = grid_size(space_of(algorithm))
        if tuning.method == "grid" and tuning.trials is not None and size > tuning.trials:
            yield (
                f"{algorithm.title}: the grid has {size:,} settings, of which {tuning.trials:,}, "
                f"drawn at random, are tried; raise tuning.trials to {size} to try all"
            )


def _carry_out(cells: list[Cell], ledger: Ledger, execute: Execute) -> dict[str, tuple[str, float]]:
    """Compute the trials that are not stored; return errors and their seconds, by key."""
    begun = time.perf_counter()
    missing = ledger.missing(cells)
    keys = {cell.key for cell in missing}
    for cell in cells:
        if cell.key not in keys:
            ledger.watch(CellFinished(cell.title, 0.0, found=True))
    return {
        # A process that died has no seconds of its own. They must count, or a search never ends.
        cell.key: (outcome["error"], outcome["seconds"] or time.perf_counter() - begun)
        for cell, outcome in execute(missing)
        if outcome["status"] == "failed"
    }


def _judge(
    cell: Cell, store: CellStore, metric: metrics.Metric, failed: tuple[str, float] | None
) -> Trial:
    record = None if failed else store.get(cell.key)
    if record is None or str(metric) not in record.facts.judged:
        error, seconds = failed or ("not computed", 0.0)
        return Trial(cell.params, math.nan, seconds, error)
    mean = record.facts.judged[str(metric)]
    seconds = record.facts.fit_seconds + record.facts.score_seconds
    return Trial(cell.params, math.nan if mean is None else mean, seconds)


def trials_frame(searches: Iterable[tuple[CellResult | FailedCell, Search]]) -> Any:
    """Return every trial as a table, one row each, parameters as JSON; trial 0 is the config's.

    Parameters
    ----------
    searches : iterable of (CellResult or FailedCell, Search)
        Each tuned cell, and its search.
    """
    import pandas as pd

    rows = [
        {
            **{key: cell[key] for key in ROW},
            "seed": cell.seed,
            "fold": cell.fold,
            "trial": number,
            "params": json.dumps(trial.params, sort_keys=True),
            "value": trial.value,
            "seconds": trial.seconds,
            "error": trial.error or "",
        }
        for cell, search in searches
        for number, trial in enumerate(search.tried)
    ]
    return pd.DataFrame(rows)
