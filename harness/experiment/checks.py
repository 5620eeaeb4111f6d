"""Checks before anything is fitted: of a config against its data, and a dry run of all of it."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness import evaluation, metrics, splits
from harness.algorithms import registry
from harness.candidates import CandidatesSection, Catalogue, Rated, Sampled
from harness.config.experiment import Experiment
from harness.config.load import repeated
from harness.datasets.section import DatasetSection
from harness.errors import ConfigError, HarnessError, MetricError, counted
from harness.experiment.memory import available_bytes, total_bytes
from harness.experiment.plan import Plan, settings
from harness.experiment.tuning import cut_grids, n_planned
from harness.metrics import Rankings
from harness.results.record import distinct_names
from harness.splits import Split

__all__ = ["DryRun", "check_relevance", "check_tables", "dry_run", "notes_before_fit"]

LARGE = 1_000_000
"""Ratings from which a data set of the catalogue is not loaded for a check."""


def _tables(plan: Plan) -> Iterator[tuple[int, int, int]]:
    """Yield the positions of data set, split and candidates of each table."""
    config = plan.experiment
    return itertools.product(
        range(len(config.dataset)), range(len(config.split)), range(len(config.candidates))
    )


def check_tables(plan: Plan) -> None:
    """Refuse entries of a config that give the same table: equal data, or equal splits.

    Raises
    ------
    ConfigError
        It names both entries, and their lines.
    """
    seen: dict[str, tuple[int, int, int]] = {}
    for place in _tables(plan):
        first = seen.setdefault(plan.table(*place).table, place)
        for key, how, one, other in zip(
            ("dataset", "split"),
            ("holds the same ratings as", "has the same training and test parts as"),
            first,
            place,
            strict=False,
        ):
            if one != other:
                fault = repeated(plan.document, key, one, other, how)
                raise ConfigError(plan.document.source, [fault])


def check_relevance(plan: Plan) -> None:
    """Refuse data whose ratings a metric of the config does not define.

    All ratings are checked, so that the result, and the
    offset that the message suggests, do not depend on the split.

    Raises
    ------
    MetricError
        If a metric has no gain for some rating: a negative one, one beyond the table of gains or
        above ``max`` of err, or one so large that 2 to its power is no number.
    """
    import pandas as pd

    wanted = list(plan.metrics)
    if plan.is_tuned:
        wanted.append(metrics.parse(plan.experiment.tuning.metric))
    for position in range(len(plan.experiment.dataset)):
        ratings, _ = plan.ratings(position)
        relevance = np.sort(pd.unique(ratings.ratings))
        if relevance[0] < 0:  # suggest an offset that suits the whole scale
            relevance = np.append(relevance, min(relevance[0], ratings.scale[0]))
        for metric in wanted:
            try:
                metrics.check_relevance(metric, relevance)
            except MetricError as error:
                low, high = ratings.scale
                raise MetricError(
                    f"{ratings.name}, rated from {low:g} to {high:g}: {error}"
                ) from None


def notes_before_fit(plan: Plan) -> Iterator[str]:
    """Yield which metrics of a config cannot distinguish algorithms on its test lists.

    The first fold under the first seed is looked at. Notes on one of several tables begin with the
    table's data, split and candidates.
    """
    places = list(_tables(plan))
    for place in places:
        dataset, split, candidates = place
        made = plan.splits(dataset, split, plan.experiment.seed[0])[0]
        lists = _test_lists(plan.experiment.candidates[candidates], made)
        where = f"{', '.join(plan.table(*place).names)}: "
        for metric in plan.metrics:
            if reason := evaluation.cannot_distinguish(metric, lists):
                note = f"{metric} cannot distinguish algorithms: {reason}"
                yield (where if len(places) > 1 else "") + note


def _test_lists(section: CandidatesSection, split: Split) -> Rankings:
    """Return the lists of a split in no particular order: all candidates of a user are tied."""
    rule = section if isinstance(section, Rated) else Catalogue(unknown_users=section.unknown_users)
    selected = rule.select(split, seed=0)
    ratings, kept = split.ratings, selected.kept
    owners = np.repeat(np.arange(selected.n_users), np.diff(selected.offsets))[selected.known]
    counts = n_ranked = np.bincount(owners, minlength=selected.n_users)
    if not isinstance(section, Rated):
        n_items = len(np.unique(ratings.items[split.train]))
        seen = np.bincount(ratings.users[split.train], minlength=ratings.n_users)[selected.users]
        if isinstance(section, Sampled):
            n_ranked = np.minimum(counts + section.n, n_items - seen)
        else:
            n_ranked = n_items - seen * (section.training_items == "drop")
    offsets = np.concatenate(([0], np.cumsum(counts[kept])))
    rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts[kept]) + 1
    relevance = selected.ratings[selected.known][kept[owners]]
    return Rankings(offsets, relevance, rank, rank, rank, np.maximum(n_ranked, counts)[kept])


@dataclass(frozen=True)
class DryRun:
    """What a run of an experiment would do.

    Parameters
    ----------
    name : str
    facts : tuple of (str, str)
        Data, splits, candidates and cells: what each is called, and what is known of it.
    rows : tuple of tuples of str
        For each algorithm: label, cells, trials, memory of its largest cell, parameters.
    notes : tuple of str
        What a reader should know before the run.
    faults : tuple of str
        What would stop the run, or fail each cell of an algorithm.
    """

    name: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, str, str, str], ...]
    notes: tuple[str, ...]
    faults: tuple[str, ...]


def dry_run(config: str | Path | dict[str, Any], *, overrides: Iterable[str] = ()) -> DryRun:
    """Plan an experiment: read and split its data, and find what would stop a run.

    Nothing is fitted and nothing is downloaded. A data set of the catalogue is read where it is on
    this machine and small.

    Raises
    ------
    ConfigError
        With every fault of the config.

    Examples
    --------
    >>> plan = dry_run({"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]})
    >>> plan.rows[0][:3], plan.faults
    (('SVD', '1', '0'), ())
    """
    plan = Plan.from_config(config, overrides=overrides)
    experiment = plan.experiment
    faults = list(_missing_extras(experiment))
    here, notes = _loaded(plan, faults)
    divided = [_divide(here, number, faults) for number in range(len(experiment.split))]
    if here.experiment.dataset:
        faults += _faults_of(lambda: check_relevance(here))
    if len(here.experiment.dataset) == len(experiment.dataset) and not faults:
        faults += _faults_of(lambda: check_tables(here))
    if here.experiment.dataset and not faults:
        notes += notes_before_fit(here)
    folds = [_n_folds(*each) for each in zip(experiment.split, divided, strict=True)]
    if None in folds:
        notes.append("the number of folds is in files that could not be read; one is counted here")
    notes += [*cut_grids(experiment), *_notes_on_sizes(experiment)]
    n_tables = len(experiment.dataset) * len(experiment.candidates) * len(experiment.seed)
    n_cells = n_tables * sum(fold or 1 for fold in folds)
    sizes = [
        *((each.n_users, each.n_items, len(each)) for each, _ in here.read.values()),
        *filter(None, (each.expected_size() for each in experiment.dataset)),
    ]
    largest = max(sizes, key=lambda size: size[2], default=None)
    rows, n_trials = [], [n_planned(plan, number) for number in range(len(experiment.algorithms))]
    for algorithm, trials in zip(experiment.algorithms, n_trials, strict=True):
        shown = "unknown"
        if largest is not None:
            memory = registry.memory(algorithm.name, algorithm.params, *largest)
            shown = f"{memory / 1e6:,.0f} MB"
            needed, total, free = memory / 1e9, total_bytes() / 1e9, available_bytes() / 1e9
            if needed > total and experiment.execution.executor == "local":
                faults.append(
                    f"{algorithm.title}: {needed:,.1f} GB needed, and this machine has "
                    f"{total:,.1f} GB; choose smaller parameters, filter the data, or leave it out"
                )
            elif needed > free:
                notes.append(
                    f"{algorithm.title}: {needed:.1f} GB needed, {free:.1f} GB free; "
                    "it would be refused"
                )
        params = ", ".join(f"{key}={value!r}" for key, value in algorithm.params.items())
        tried = "no limit" if trials is None else f"{n_cells * trials:,}"
        rows.append((algorithm.title, f"{n_cells:,}", tried, shown, params or "defaults"))
    work = counted(n_cells * len(rows), "cell")
    if None in n_trials:
        work += f" and trials for {experiment.tuning.seconds:g} s each"
    elif total := n_cells * sum(trials or 0 for trials in n_trials):
        work += f" and up to {total:,} trials"
    facts = (*_facts(plan, here, divided), ("work", work))
    return DryRun(experiment.name, facts, tuple(rows), tuple(dict.fromkeys(notes)), tuple(faults))


def _loaded(plan: Plan, faults: list[str]) -> tuple[Plan, list[str]]:
    """Return a plan of the data sets that can be read here, and notes on all."""
    notes: list[str] = []
    kept: list[DatasetSection] = []
    read = {}
    for section in plan.experiment.dataset:
        size = section.expected_size()
        if size is not None and size[2] > LARGE:
            notes.append(f"{section.describe()}: not read by a check, as it is large")
        elif section.data_set and not section.data_set.is_here(base=plan.document.folder):
            notes.append(f"{section.describe()}: not on this machine; a run downloads it")
        else:
            alone = plan.experiment.model_copy(update={"dataset": [section]})
            try:
                read[len(kept)] = Plan(alone, plan.document).ratings(0)
                kept.append(section)
            except HarnessError as error:
                faults.append(str(error))
    for ratings, reports in read.values():
        notes += (f"{ratings.name}: {note}" for note in ratings.notes)
        notes += (f"{ratings.name}: {report}" for report in reports)
    here = plan.experiment.model_copy(update={"dataset": kept})
    return Plan(here, plan.document, read=read), notes


def _divide(plan: Plan, number: int, faults: list[str]) -> list[Split]:
    """Make one split of the config; return the folds of the first data set."""
    experiment = plan.experiment
    section, seed = experiment.split[number], experiment.seed[0]
    folds: list[Split] = []
    for dataset in range(len(experiment.dataset)):
        try:
            made = plan.splits(dataset, number, seed)
            folds = folds or made
            if plan.is_tuned:
                inner = experiment.tuning.validation_of(section)
                splits.validation(made[0], inner, seed, plan.document.folder)
        except HarnessError as error:
            faults.append(str(error))
    return folds


def _n_folds(section: Any, made: list[Split]) -> int | None:
    """Return how many folds a split has, None if only its files show it."""
    if made:
        return len(made)
    if section.from_files:
        return None
    return int(getattr(section, "n_splits", 1) * getattr(section, "n_repeats", 1))


def _faults_of(check: Callable[[], object]) -> list[str]:
    try:
        check()
    except ConfigError as error:
        return [fault.message for fault in error.faults]
    except HarnessError as error:
        return [str(error)]
    return []


def _missing_extras(experiment: Experiment) -> Iterator[str]:
    """Yield the packages and programs that the config needs and this machine lacks."""

    def lacks(module: str) -> bool:
        return importlib.util.find_spec(module) is None

    def install(extra: str) -> str:
        return f"pip install 'surprise-harness[{extra}]'"

    searched = any(algorithm.search is not None for algorithm in experiment.algorithms)
    if searched and experiment.tuning.method == "tpe" and lacks("optuna"):
        yield f"tuning.method: tpe needs Optuna; {install('tpe')}"
    if experiment.execution.executor == "dask" and lacks("distributed"):
        yield f"execution.executor: dask needs distributed; {install('dask')}"
    for entry in {registry.entry(each.name): None for each in experiment.algorithms}:
        if lacking := entry.missing():
            yield lacking


def _notes_on_sizes(experiment: Experiment) -> Iterator[str]:
    """Yield a note on sizes that are probably meant as a percentage but count ratings."""
    for section in experiment.split:
        for key in ("test_size", "train_size"):
            size = getattr(section, key, None)
            if isinstance(size, int) and 1 <= size <= 100:
                yield (
                    f"{key}: {size} means {counted(size, 'rating')}, not a percentage; "
                    f"for {size}% write {size / 100:g}"
                )


def _facts(plan: Plan, here: Plan, divided: list[list[Split]]) -> Iterator[tuple[str, str]]:
    experiment = plan.experiment
    numbers = {id(section): number for number, section in enumerate(here.experiment.dataset)}
    names = distinct_names(
        [section.describe() for section in experiment.dataset],
        [settings(section) for section in experiment.dataset],
    )
    for section, name in zip(experiment.dataset, names, strict=True):
        size = section.expected_size()
        text = name
        if id(section) in numbers:
            ratings, _ = here.ratings(numbers[id(section)])
            text = repr(ratings).removeprefix("<Ratings ").removesuffix(">")
            if name != section.describe():  # another section is called the same
                text = name + text.removeprefix(ratings.name)
        elif size is not None:
            text += f": {size[2]:,} ratings of {size[1]:,} items by {size[0]:,} users"
        yield "data", text
    for split, made in zip(experiment.split, divided, strict=True):
        text = split.describe()
        if isinstance(getattr(split, "test_size", None), int):
            text += " ratings"
        if made:
            parts = f"{len(made[0].train):,} training and {len(made[0].test):,} test ratings"
            text += f": {len(made)} folds, {parts} in the first" if made[1:] else f": {parts}"
        yield "split", text
    yield "candidates", "; ".join(each.describe() for each in experiment.candidates)
