"""Parameters searched on a validation part of the training data, before the test is touched."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from harness import metrics
from harness.algorithms import registry
from harness.config.algorithm import AlgorithmConfig
from harness.config.experiment import Experiment
from harness.config.spaces import RECOMMENDED
from harness.config.tuning import SearchSpace, Tuning
from harness.experiment.cell import Outcome
from harness.experiment.events import CellFinished
from harness.experiment.ledger import Ledger
from harness.experiment.plan import Cell, rekeyed
from harness.experiment.studies import Setting, Study, make_study, with_params
from harness.experiment.workspace import Workspace
from harness.results.cells import CellStore
from harness.results.table import ROW

__all__ = ["Search", "Trial", "n_planned", "space_of", "trials_frame", "tune"]

Execute = Callable[[Iterable[Cell]], Iterator[tuple[Cell, Outcome]]]


@dataclass(frozen=True)
class Trial:
    """One setting, fitted on the inner training part and scored on the validation part."""

    params: dict[str, Any]
    value: float
    """The deciding metric; NaN when the trial failed."""
    seconds: float
    error: str | None = None


@dataclass
class Search:
    """The search for one cell's parameters.

    Parameters
    ----------
    cell : Cell
        As the config writes it; its setting is the first trial.
    study : Study
    trials : list of Trial
        In the order in which they were asked for.
    """

    cell: Cell
    study: Study
    trials: list[Trial] = field(default_factory=list)
    exhausted: bool = False

    @property
    def seconds(self) -> float:
        """Seconds of fitting and scoring spent so far."""
        return sum(trial.seconds for trial in self.trials)

    def best(self, higher: bool) -> Trial | None:
        """Return the best trial, the earliest of equals; None when every trial failed."""
        good = [trial for trial in self.trials if not math.isnan(trial.value)]
        if not good:
            return None
        return max(good, key=lambda trial: trial.value if higher else -trial.value)


def space_of(algorithm: AlgorithmConfig) -> SearchSpace:
    """Return the space that an algorithm is searched over; empty when it is not."""
    if algorithm.search == "recommended":
        return RECOMMENDED.get(registry.canonical(algorithm.name), {})
    return algorithm.search or {}


def tune(
    experiment: Experiment,
    workspace: Workspace,
    cells: list[Cell],
    ledger: Ledger,
    execute: Execute,
) -> tuple[list[Cell], dict[int, Search]]:
    """Search parameters for every cell whose algorithm asks for it.

    Trials are cells of their own, kept like others, so a search that was stopped goes on where it
    was. All searches advance together: where settings are listed or drawn all trials at once, else
    one trial each, which keeps several workers busy without letting their number change a result.

    Returns
    -------
    cells : list of Cell
        The given ones, with the best parameters found.
    searches : dict of int to Search
        By the position of the tuned cell.
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
            for number, setting in enumerate(settings, start=len(search.trials) + 1):
                trial = replace(
                    search.cell,
                    inner=True,
                    params=with_params(search.cell.params, setting),
                    title=f"{search.cell.title} · trial {number}",
                )
                asked.append((search, setting, rekeyed(experiment, workspace, trial)))
        errors = _carry_out([cell for _, _, cell in asked], ledger, execute)
        for search, setting, cell in asked:
            trial_result = _judge(cell, ledger.store, metric, errors.get(cell.key))
            search.trials.append(trial_result)
            if setting:
                value = trial_result.value
                search.study.tell(setting, value if metric.higher_is_better else -value)
    tuned = list(cells)
    for position, search in searches.items():
        best = search.best(metric.higher_is_better)
        params = search.cell.params if best is None else best.params
        tuned[position] = rekeyed(experiment, workspace, replace(search.cell, params=params))
    return tuned, searches


def _goes_on(search: Search, experiment: Experiment) -> bool:
    budget = experiment.tuning
    space = space_of(experiment.algorithms[search.cell.algorithm])
    if not search.trials:
        return True
    if search.exhausted or not space:
        return False
    if budget.trials is not None and len(search.trials) >= budget.trials:
        return False
    return budget.seconds is None or search.seconds < budget.seconds


def _settings(search: Search, budget: Tuning) -> list[Setting]:
    """Return the settings to be tried at once: as many as do not wait for another's value."""
    settings: list[Setting] = [] if search.trials else [{}]
    at_once = not search.study.learns and budget.seconds is None
    left = (budget.trials or 1) - len(search.trials) if at_once else 1
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
        budget if space_of(experiment.algorithms[cell.algorithm]) else 1
        for cell in cells
        if experiment.algorithms[cell.algorithm].search is not None
    )


def _carry_out(cells: list[Cell], ledger: Ledger, execute: Execute) -> dict[str, str]:
    """Do the trials that are not on disk; return what went wrong, by key."""
    missing = ledger.missing(cells)
    keys = {cell.key for cell in missing}
    for cell in cells:
        if cell.key not in keys:
            ledger.watch(CellFinished(cell.title, 0.0, found=True))
    return {
        cell.key: outcome["error"]
        for cell, outcome in execute(missing)
        if outcome["status"] == "failed"
    }


def _judge(cell: Cell, store: CellStore, metric: metrics.Metric, error: str | None) -> Trial:
    record = None if error else store.get(cell.key)
    judged = {} if record is None else record.meta.get("judged", {})
    if record is None or str(metric) not in judged:
        return Trial(cell.params, math.nan, 0.0, error or "not computed")
    mean = judged[str(metric)]
    seconds = record.meta["fit_seconds"] + record.meta["score_seconds"]
    return Trial(cell.params, math.nan if mean is None else mean, seconds)


def trials_frame(searches: Iterable[tuple[dict[str, Any], Search]]) -> Any:
    """Return every trial as a table, one row each, parameters as JSON.

    Parameters
    ----------
    searches : iterable of (dict, Search)
        The place of each search, as a run describes it, and the search.
    """
    import pandas as pd

    rows = [
        {
            **{key: place[key] for key in ROW},
            "seed": place["seed"],
            "fold": place["fold"],
            "trial": number,
            "params": json.dumps(trial.params, sort_keys=True),
            "value": trial.value,
            "seconds": trial.seconds,
            "error": trial.error or "",
        }
        for place, search in searches
        for number, trial in enumerate(search.trials, start=1)
    ]
    return pd.DataFrame(rows)
