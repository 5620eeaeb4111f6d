"""What a run would do, and what would stop it, before anything is fitted or downloaded."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness import splits
from harness._util.libraries import psutil
from harness.algorithms import registry
from harness.candidates.base import Candidates
from harness.config.trackers import refuse_missing
from harness.errors import HarnessError, PluginError, counted
from harness.experiment import plan as checks
from harness.experiment.cell import SHARE_OF_MEMORY
from harness.experiment.duration import Duration, estimate
from harness.experiment.memory import available_bytes
from harness.experiment.plan import Plan, check_groups
from harness.experiment.tuning import cut_grids, n_planned
from harness.metrics import Rankings
from harness.notes.note import Note, by_weight
from harness.rankings import evaluation
from harness.results.cells import distinct_names
from harness.schema.sections import Section
from harness.splits import Split

LARGE = 1_000_000
"""Ratings from which a data set of the catalogue is not loaded for a check."""


def notes_before_fit(plan: Plan) -> Iterator[Note]:
    """Yield which metrics cannot distinguish algorithms on the lists of the first fold."""
    for (dataset, split, candidates), table in plan.tables.items():
        fold = plan.splits(dataset, split, plan.experiment.seed[0])[0]
        section = plan.experiment.candidates[candidates]
        tested = section.tested(fold)
        n_ranked = section.n_ranked(fold, tested)
        if n_ranked is None:
            continue  # the lists are those of each algorithm, or of a file or function
        lists = _test_lists(tested, n_ranked)
        where = table.place(plan.tables)
        for metric in plan.metrics:
            if reason := evaluation.cannot_distinguish(metric, lists, candidates=section.longer):
                values = {"metric": str(metric), "reason": reason}
                yield Note("indistinct", values, where, table.table)


def _test_lists(tested: Candidates, n_ranked: NDArray[np.int64]) -> Rankings:
    """Return lists of so many items in no particular order: all candidates of a user are tied."""
    owners = np.repeat(np.arange(tested.n_users), np.diff(tested.offsets))[tested.known]
    offsets = np.searchsorted(owners, np.arange(tested.n_users + 1))
    rank = np.arange(offsets[-1]) - offsets[owners] + 1
    return Rankings(offsets, tested.ratings[tested.known], rank, rank, rank, n_ranked)


class DryRun(NamedTuple):
    """What a run of an experiment would do."""

    name: str
    facts: list[tuple[str, str]]
    """Subjects (data, splits, candidates, work), and their descriptions."""
    rows: list[tuple[str, str, str, str, str]]
    """For each algorithm label, cells, trials, memory of its largest cell and parameters."""
    notes: list[Note]
    faults: list[str]
    duration: Duration | None = None
    """How long the run takes; None without a probe, and where there is a problem."""


def dry_run(
    config: str | Path | dict[str, object], *, overrides: Iterable[str] = (), probe: bool = False
) -> DryRun:
    """Plan an experiment, read and split its small data, and find what would stop a run.

    With `probe`, algorithms are fitted to samples of the data, which tells how long the run takes.
    """
    plan = Plan.from_config(config, overrides=overrides)
    experiment = plan.experiment
    faults = list(_missing_extras(plan))
    begun = np.array([time.perf_counter(), time.process_time()])
    here, notes = _loaded(plan, faults)
    divided = [_divide(here, number, faults) for number in range(len(experiment.split))]
    seconds_of_data = np.array([time.perf_counter(), time.process_time()]) - begun
    for check in (checks.check_metrics, check_groups) if here.read else ():
        with _collected(faults):
            check(here)
    if len(here.read) == len(experiment.dataset) and not faults:
        with _collected(faults):
            checks.check_tables(here)
    if here.read and not faults:
        notes += notes_before_fit(here)
    n_folds = 0
    for section, folds in zip(experiment.split, divided, strict=True):
        first_folds = next(filter(None, folds), [])
        if section.from_files and not first_folds:
            notes.append(Note("folds-unknown"))
        n_folds += len(first_folds) or section.n_folds
    n_cells = len(experiment.dataset) * len(experiment.candidates) * len(experiment.draws) * n_folds
    notes += [*cut_grids(experiment), *_notes_on_sizes(plan)]
    sizes = [each.counts for each, _ in here.read.values()]
    sizes += filter(None, (each.expected_size() for each in experiment.dataset))
    largest = max(sizes, key=lambda size: size[2], default=None)
    rows, n_trials = [], [_n_trials(plan, i, n_cells) for i in range(len(experiment.algorithms))]
    for algorithm, trials in zip(experiment.algorithms, n_trials, strict=True):
        memory = "unknown"
        if largest is not None:
            needed = registry.memory(algorithm.name, algorithm.params, *largest) / 1e9
            memory, free = f"{needed * 1e3:,.0f} MB", available_bytes()
            room = SHARE_OF_MEMORY * free
            total = psutil.virtual_memory().total
            if needed > total / 1e9 and experiment.execution.executor == "local":
                faults.append(
                    f"{algorithm.title}: {needed:,.1f} GB needed, and this machine has "
                    f"{total / 1e9:,.1f} GB; "
                    + registry.what_fits(algorithm.name, algorithm.params, largest, room)
                )
            elif needed > room / 1e9:
                values = {"algorithm": algorithm.title, "needed": needed, "free": free / 1e9}
                notes.append(Note("memory-refused", values))
        params = ", ".join(f"{key}={value!r}" for key, value in algorithm.params.items())
        tried = "no limit" if trials is None else f"{trials:,}"
        rows.append((algorithm.title, f"{n_cells:,}", tried, memory, params or "defaults"))
    work = counted(n_cells * len(rows), "cell")
    if None in n_trials:
        work += f" and trials for {experiment.tuning.seconds:g} s each"
    elif n_all := sum(filter(None, n_trials)):
        work += f" and up to {counted(n_all, 'trial')}"
    facts = [*_facts(plan, divided), ("work", work)]
    duration = None
    if probe and not faults:
        duration = estimate(here, len(experiment.dataset), seconds_of_data)
        facts.append(("time", duration.describe()))
    faults = [*dict.fromkeys(faults)]
    return DryRun(experiment.name, facts, rows, by_weight(notes), faults, duration)


def _n_trials(plan: Plan, number: int, n_cells: int) -> int | None:
    """Return the most trials for the cells of an algorithm; None where only seconds end them."""
    algorithm, trials = plan.experiment.algorithms[number], n_planned(plan, number)
    seeded = registry.takes_seed(algorithm.name) and algorithm.params.get("random_state") is None
    # Without random numbers, the cells of all model seeds are one, and searched once.
    n_alike = 1 if seeded or ":" in algorithm.name else plan.experiment.seeds.model
    return None if trials is None else trials * (n_cells // n_alike)


@contextmanager
def _collected(faults: list[str]) -> Iterator[None]:
    """Add what is refused inside to the problems."""
    try:
        yield
    except HarnessError as error:
        faults.append(str(error))


def _loaded(plan: Plan, faults: list[str]) -> tuple[Plan, list[Note]]:
    """Return a plan of the data sets that can be read here, and notes on all."""
    unread: list[Note] = []
    notes: list[Note] = []
    for number, section in enumerate(plan.experiment.dataset):
        size = section.expected_size()
        if size is not None and size[2] > LARGE:
            unread.append(Note("not-read-large", {"data": section.describe()}))
        elif section.data_set and not section.data_set.is_here(base=plan.document.folder):
            unread.append(Note("not-here", {"data": section.describe()}))
        else:
            with _collected(faults):
                plan.ratings(number)
            continue
        origin = section.synthetic or section.data_set
        # Of a file of your own, a scale says what ratings may be, not that they are.
        scale = None if origin is None else section.scale or origin.scale
        if scale is not None and scale[1] < np.inf and not plan.experiment.filters:
            with _collected(faults):
                checks.check_gains(plan, section.describe(), scale, np.array(scale))
    names = _names(plan)
    for number, (ratings, reports) in plan.read.items():
        filtered = (Note("filtered", {"counts": report}) for report in reports)
        notes += (note.at(names[number]) for note in (*ratings.notes, *filtered))
    readable = [plan.experiment.dataset[number] for number in plan.read]
    here = plan.experiment.model_copy(update={"dataset": readable})
    return Plan(here, plan.document, read=dict(enumerate(plan.read.values()))), unread + notes


def _divide(plan: Plan, number: int, faults: list[str]) -> list[list[Split]]:
    """Make one split of the config; return the folds of each data set, none where it fails."""
    experiment = plan.experiment
    section, seed = experiment.split[number], experiment.seed[0]
    folds: list[list[Split]] = [[] for _ in plan.read]
    for dataset in plan.read:
        with _collected(faults):
            folds[dataset] = parts = plan.splits(dataset, number, seed)
            if plan.is_tuned:
                inner = experiment.tuning.validation_of(section)
                splits.validation(parts[0], inner, seed, plan.document.folder)
    return folds


def _missing_extras(plan: Plan) -> Iterator[str]:
    """Yield the packages and programs that the config needs and this machine lacks."""
    experiment, find = plan.experiment, importlib.util.find_spec
    if plan.is_tuned and experiment.tuning.method == "tpe" and find("optuna") is None:
        yield "tuning.method: tpe needs Optuna; pip install 'surprise-harness[tpe]'"
    if experiment.execution.executor == "dask" and find("distributed") is None:
        yield "execution.executor: dask needs distributed; pip install 'surprise-harness[dask]'"
    for entry in {registry.entry(algorithm.name): None for algorithm in experiment.algorithms}:
        if lacking := entry.missing():
            yield lacking
    try:
        refuse_missing(experiment.trackers, experiment.trackers)
    except PluginError as error:
        yield str(error)


def _notes_on_sizes(plan: Plan) -> Iterator[Note]:
    """Yield a note on sizes that are probably meant as a percentage but count ratings."""
    for section in plan.experiment.split:
        for key in ("test_size", "train_size"):
            size = getattr(section, key, None)
            if isinstance(size, int) and 1 <= size <= 100:
                yield Note("size-is-a-count", {"key": key, "size": size, "share": size / 100})


def _names(plan: Plan) -> list[str]:
    """Return the names of the data sets: the names of the ratings where these are known."""
    sections = plan.experiment.dataset
    described = [section.describe() for section in sections]
    names = _unique(described, sections)
    for number, (ratings, _) in plan.read.items():
        if names[number] == described[number]:  # no other is called the same
            names[number] = ratings.name
    return names


def _unique(described: Sequence[str], sections: Sequence[Section]) -> list[str]:
    return distinct_names(described, [section.stated() for section in sections])


def _facts(plan: Plan, divided: list[list[list[Split]]]) -> Iterator[tuple[str, str]]:
    experiment, names = plan.experiment, _names(plan)
    for number, (section, name) in enumerate(zip(experiment.dataset, names, strict=True)):
        size, text = section.expected_size(), name
        if number in plan.read:
            ratings, _ = plan.read[number]
            text = name + repr(ratings).removeprefix(f"<Ratings {ratings.name}").removesuffix(">")
        elif size is not None:
            text += f": {size[2]:,} ratings of {size[1]:,} items by {size[0]:,} users"
        yield "data", text
    described = [
        section.describe() + " ratings" * section.counts_ratings for section in experiment.split
    ]
    for text, folds in zip(_unique(described, experiment.split), divided, strict=True):
        if not any(folds):
            yield "split", text
        for number, folds_of_data in zip(plan.read, folds, strict=True):
            if folds_of_data:
                first, n_folds = folds_of_data[0], len(folds_of_data)
                n_test = counted(len(first.test), "test rating")
                parts = f"{len(first.train):,} training and {n_test}"
                of = f" of {names[number]}" * (len(names) > 1)
                several = f"{n_folds} folds, {parts} in the first"
                yield "split", f"{text}{of}: {several if n_folds > 1 else parts}"
    rules = experiment.candidates
    yield "candidates", "; ".join(_unique([section.describe() for section in rules], rules))
