"""A dry run: everything that can be checked about an experiment without fitting."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import datasets, splits
from harness.algorithms import registry
from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.load import load
from harness.datasets.section import DatasetSection
from harness.errors import ConfigError, HarnessError
from harness.experiment.checks import check_relevance, check_tables, notes_before_fit
from harness.experiment.memory import available_bytes
from harness.experiment.tuning import cut_grids, n_planned
from harness.experiment.workspace import Workspace
from harness.results.compare import distinct_names
from harness.splits import Split

__all__ = ["Outline", "outline"]

LARGE = 1_000_000
"""Ratings from which a data set of the catalogue is not loaded for a check."""

EXTRAS = {"spark-als": ("pyspark", "spark"), "implicit-als": ("implicit", "implicit")}
"""By algorithm, the module that it needs and the extra that brings it."""


@dataclass(frozen=True)
class Outline:
    """The plan of an experiment.

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


def outline(config: str | Path | dict[str, Any], *, overrides: Iterable[str] = ()) -> Outline:
    """Plan an experiment: read and split its data, and find what would stop a run.

    Nothing is fitted and nothing is downloaded. A data set of the catalogue is read where it is on
    this machine and small.

    Raises
    ------
    ConfigError
        With every fault of the config.

    Examples
    --------
    >>> plan = outline({"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]})
    >>> plan.rows[0][:3], plan.faults
    (('SVD', '1', '0'), ())
    """
    experiment, document = load(config, overrides=overrides)
    faults = list(_missing_extras(experiment))
    workspace, notes = _loaded(experiment, document, faults)
    here = workspace.experiment
    divided = [_divide(workspace, number, faults) for number in range(len(experiment.split))]
    folds = [_n_folds(*each) for each in zip(experiment.split, divided, strict=True)]
    if here.dataset:
        faults += _faults_of(lambda: check_relevance(here, workspace))
    if len(here.dataset) == len(experiment.dataset) and not faults:
        faults += _faults_of(lambda: check_tables(experiment, workspace, document))
    if here.dataset and not faults:
        notes += notes_before_fit(here, workspace)
    if None in folds:
        notes.append("the number of folds is in files that could not be read; one is counted here")
    notes += [*cut_grids(experiment), *_notes_on_sizes(experiment)]
    n_tables = len(experiment.dataset) * len(experiment.candidates) * len(experiment.seed)
    n_cells = n_tables * sum(fold or 1 for fold in folds)
    sizes = [
        *map(_size, map(workspace.ratings, range(len(here.dataset)))),
        *filter(None, (each.expected_size() for each in experiment.dataset)),
    ]
    rows = _rows(experiment, n_cells, max(sizes, key=lambda size: size[2], default=None), notes)
    facts = tuple(_facts(experiment, workspace, divided, rows))
    return Outline(experiment.name, facts, rows, tuple(dict.fromkeys(notes)), tuple(faults))


def _loaded(
    experiment: Experiment, document: Document, faults: list[str]
) -> tuple[Workspace, list[str]]:
    """Return the data sets that can be read here, as an experiment of their own, and notes."""
    notes: list[str] = []
    kept: list[tuple[DatasetSection, tuple[datasets.Ratings, list[str]]]] = []
    for section in experiment.dataset:
        size = section.expected_size()
        own = section.path is not None
        if size is not None and size[2] > LARGE:
            notes.append(f"{section.describe()}: not read by a check, as it is large")
        elif not own and section.data_set and not section.data_set.is_here(base=document.folder):
            notes.append(f"{section.describe()}: not on this machine; a run downloads it")
        else:
            alone = experiment.model_copy(update={"dataset": [section]})
            try:
                kept.append((section, Workspace(alone, document.folder).ratings(0)))
            except HarnessError as error:
                faults.append(str(error))
    here = experiment.model_copy(update={"dataset": [section for section, _ in kept]})
    loaded = {number: ratings for number, (_, ratings) in enumerate(kept)}
    for ratings, reports in loaded.values():
        notes += (f"{ratings.name}: {note}" for note in ratings.notes)
        notes += (f"{ratings.name}: {report}" for report in reports)
    return Workspace(here, document.folder, _ratings=loaded), notes


def _divide(workspace: Workspace, number: int, faults: list[str]) -> list[Split]:
    """Make one split of the config; return the folds of the first data set."""
    experiment = workspace.experiment
    section, seed = experiment.split[number], experiment.seed[0]
    folds: list[Split] = []
    for dataset in range(len(experiment.dataset)):
        try:
            made = workspace.splits(dataset, number, seed)
            folds = folds or made
            if any(algorithm.search is not None for algorithm in experiment.algorithms):
                inner = experiment.tuning.validation_of(section)
                splits.validation(made[0], inner, seed, workspace.base)
        except HarnessError as error:
            faults.append(str(error))
    return folds


def _n_folds(section: Any, made: list[Split]) -> int | None:
    """Return how many folds a split has, None if only its files show it."""
    if made:
        return len(made)
    if section.kind in ("file", "predefined"):
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
    names = {
        registry.canonical(algorithm.name): None
        for algorithm in experiment.algorithms
        if ":" not in algorithm.name
    }
    for name in filter(EXTRAS.__contains__, names):
        module, extra = EXTRAS[name]
        if lacks(module):
            yield f"{name}: needs {module}; {install(extra)}"
        elif extra == "spark":
            from harness.algorithms.spark_session import find_java

            yield from _faults_of(lambda name=name: find_java(name))  # type: ignore[misc]


def _notes_on_sizes(experiment: Experiment) -> Iterator[str]:
    """Yield a note on sizes that are probably meant as a percentage but count ratings."""
    for section in experiment.split:
        for key in ("test_size", "train_size"):
            size = getattr(section, key, None)
            if isinstance(size, int) and 1 <= size <= 100:
                yield (
                    f"{key}: {size} means {size} rating{'s' * (size > 1)}, not a percentage; "
                    f"for {size}% write {size / 100:g}"
                )


def _rows(
    experiment: Experiment,
    n_cells: int,
    largest: tuple[int, int, int] | None,
    notes: list[str],
) -> tuple[tuple[str, str, str, str, str], ...]:
    free = available_bytes()
    rows = []
    for position, algorithm in enumerate(experiment.algorithms):
        shown = "unknown"
        if largest is not None:
            name = registry.canonical(algorithm.name)
            memory = registry.memory(name, algorithm.params, *largest)
            shown = f"{memory / 1e6:,.0f} MB"
            if memory > free:
                notes.append(
                    f"{algorithm.title}: {memory / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free; "
                    "it would be refused"
                )
        trials = n_cells * n_planned(experiment, [_CellOf(position)])  # type: ignore[list-item]
        params = ", ".join(f"{key}={value!r}" for key, value in algorithm.params.items())
        rows.append((algorithm.title, f"{n_cells:,}", f"{trials:,}", shown, params or "defaults"))
    return tuple(rows)


@dataclass(frozen=True)
class _CellOf:
    """Stands for any cell of an algorithm."""

    algorithm: int


def _size(loaded: tuple[datasets.Ratings, list[str]]) -> tuple[int, int, int]:
    ratings, _ = loaded
    return ratings.n_users, ratings.n_items, len(ratings)


def _facts(
    experiment: Experiment,
    workspace: Workspace,
    divided: list[list[Split]],
    rows: tuple[tuple[str, str, str, str, str], ...],
) -> Iterator[tuple[str, str]]:
    read = {id(section): number for number, section in enumerate(workspace.experiment.dataset)}
    names = distinct_names(
        [section.describe() for section in experiment.dataset],
        [section.model_dump(mode="json", exclude_defaults=True) for section in experiment.dataset],
    )
    for section, name in zip(experiment.dataset, names, strict=True):
        size = section.expected_size()
        text = name
        if id(section) in read:
            ratings, _ = workspace.ratings(read[id(section)])
            text = repr(ratings).removeprefix("<Ratings ").removesuffix(">")
            if name != section.describe():  # another section is called the same
                text = name + text.removeprefix(ratings.name)
        elif size is not None:
            text += f": {size[2]:,} ratings of {size[1]:,} items by {size[0]:,} users"
        yield "data", text
    for section_of_split, made in zip(experiment.split, divided, strict=True):
        text = section_of_split.describe()
        if isinstance(getattr(section_of_split, "test_size", None), int):
            text += " ratings"
        if made:
            parts = f"{len(made[0].train):,} training and {len(made[0].test):,} test ratings"
            text += f": {len(made)} folds, {parts} in the first" if made[1:] else f": {parts}"
        yield "split", text
    yield "candidates", "; ".join(each.describe() for each in experiment.candidates)
    total, trials = (sum(int(row[place].replace(",", "")) for row in rows) for place in (1, 2))
    cells = f"{total:,} cell{'s' * (total != 1)}"
    yield "work", cells + (f" and up to {trials:,} trials" if trials else "")
