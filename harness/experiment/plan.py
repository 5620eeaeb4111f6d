"""A config and its data become cells: one fit and one scoring each, with a key."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import harness
from harness import datasets, metrics, seeds, splits
from harness.algorithms import registry
from harness.algorithms.own import code_digest
from harness.algorithms.trainset import ColumnTrainset
from harness.candidates import Sampled
from harness.config.experiment import AlgorithmConfig, Experiment
from harness.config.load import Document, load
from harness.datasets import Ratings
from harness.metrics import Metric
from harness.results.record import TableName, distinct_names
from harness.results.store import key_of, short_key
from harness.sections import Section
from harness.splits import Split

__all__ = ["Cell", "Names", "Plan"]

NUMBERS_VERSION = 4
"""Raised whenever a change of the code changes what a cell computes."""


@dataclass(frozen=True)
class Cell:
    """One algorithm on one fold of one split of one data set, under one seed.

    The integers are positions in the lists of the config.

    Parameters
    ----------
    dataset, split, candidates, algorithm : int
    seed : int
        The run's seed itself, not a position.
    fold : int
        From 0.
    n_folds : int
    title : str
        What progress lines call it.
    params : dict
        Arguments of the constructor, `random_state` included where there is one.
    inner : bool
        Whether it is a trial: fitted on the inner training part and scored on the validation part.
    key : str
        Identity of the cell's numbers.
    """

    dataset: int
    split: int
    candidates: int
    algorithm: int
    seed: int
    fold: int
    n_folds: int
    title: str
    params: dict[str, Any] = field(hash=False)
    inner: bool = False
    key: str = ""


@dataclass(frozen=True)
class Names:
    """Display names of a config's data sets, splits and candidates, unique within each kind."""

    datasets: list[str]
    splits: list[str]
    candidates: list[str]


@dataclass
class Plan:
    """What an experiment computes: its data and splits, made on first use, and its cells.

    Parameters
    ----------
    experiment : Experiment
    document : Document
        Where the config came from; relative paths start in its folder.
    given : Ratings, optional
        Ratings from Python, in place of the config's data set.
    progress : callable, optional
        Called as ``progress(done, total)`` while a data set is downloaded.
    read : dict, optional
        The data sets that were read already, filtered, by their position.
    """

    experiment: Experiment
    document: Document = field(default_factory=lambda: Document("config", {}))
    given: Ratings | None = None
    progress: Callable[[int, int], object] | None = None
    read: dict[int, tuple[Ratings, list[str]]] = field(default_factory=dict)
    _splits: dict[tuple[int, int, int], list[Split]] = field(default_factory=dict)
    _inner: dict[tuple[int, int, str], Split] = field(default_factory=dict)
    _trainset: tuple[str, ColumnTrainset] | None = None

    @classmethod
    def from_config(
        cls,
        config: str | Path | Mapping[str, Any] | Experiment,
        *,
        overrides: Iterable[str] = (),
        ratings: Ratings | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Plan:
        """Read and check a config; no data are loaded yet.

        Raises
        ------
        ConfigError
            With all faults of the config.
        """
        if ratings is not None:
            overrides = [*overrides, "dataset=bundled"]
        experiment, document = load(config, overrides=overrides)
        return cls(experiment, document, ratings, progress)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the config in its order, each once."""
        return tuple(dict.fromkeys(metrics.parse_many(self.experiment.metrics)))

    @cached_property
    def depth(self) -> int:
        """How many items at the top of each list have to be known by name."""
        return max((metric.k or 0 for metric in self.metrics if metric.needs_items), default=0)

    @property
    def is_tuned(self) -> bool:
        """Whether an algorithm has a search."""
        return any(each.search is not None for each in self.experiment.algorithms)

    def ratings(self, dataset: int) -> tuple[Ratings, list[str]]:
        """Return the ratings of the config's data set number `dataset`, filtered, and the steps."""
        if dataset not in self.read:
            loaded = self.given
            if loaded is None:
                section = self.experiment.dataset[dataset]
                folder = self.document.folder
                loaded = datasets.load(section, base=folder, progress=self.progress)
            # Filters that draw a sample use the first seed: the data are the same for all seeds.
            self.read[dataset] = splits.filter(
                self.experiment.filters, loaded, self.experiment.seed[0]
            )
        return self.read[dataset]

    def splits(self, dataset: int, split: int, seed: int) -> list[Split]:
        """Return the folds of the config's split number `split` under one seed."""
        place = (dataset, split, seed)
        if place not in self._splits:
            ratings, _ = self.ratings(dataset)
            section = self.experiment.split[split]
            self._splits[place] = splits.make(section, ratings, seed, self.document.folder)
        return self._splits[place]

    def split(self, cell: Cell) -> Split:
        """Return what a cell is fitted and scored on; for a trial, parts of the training part."""
        outer = self.splits(cell.dataset, cell.split, cell.seed)[cell.fold]
        if not cell.inner:
            return outer
        place = (cell.split, cell.seed, outer.fingerprint)
        if place not in self._inner:
            section = self.experiment.tuning.validation_of(self.experiment.split[cell.split])
            self._inner[place] = splits.validation(outer, section, cell.seed, self.document.folder)
        return self._inner[place]

    def trainset(self, split: Split, *, shared: bool = True) -> ColumnTrainset:
        """Return the training set of a split: the last one, or a new one that may be changed."""
        if shared and self._trainset is not None and self._trainset[0] == split.fingerprint:
            self._trainset[1].drop_derived()
            return self._trainset[1]
        rows, data = split.train, split.ratings
        trainset = ColumnTrainset.from_columns(
            data.users[rows],
            data.items[rows],
            data.ratings[rows],
            user_ids=data.user_ids if shared else data.user_ids.copy(),
            item_ids=data.item_ids if shared else data.item_ids.copy(),
            scale=data.scale,
        )
        if shared:
            self._trainset = (split.fingerprint, trainset)
        return trainset

    def portable(self) -> Plan:
        """Return a plan for another process: with all ratings, and the splits that are in files.

        The other splits are made there again, from the seed.
        """
        outer = self.experiment.split
        inner = [self.experiment.tuning.validation_of(section) for section in outer]
        return Plan(
            self.experiment,
            read={i: (self.ratings(i)[0], []) for i in range(len(self.experiment.dataset))},
            _splits={k: made for k, made in self._splits.items() if outer[k[1]].from_files},
            _inner={k: made for k, made in self._inner.items() if inner[k[0]].from_files},
        )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells in the order in which they are best run; a search may change their parameters.

        Loads the data and makes the splits, because a cell's key depends on both. All algorithms of
        a fold come after each other, so that what they share stays in memory.
        """
        experiment = self.experiment
        return tuple(
            self.keyed(
                Cell(
                    dataset=dataset,
                    split=split,
                    candidates=candidates,
                    algorithm=number,
                    seed=seed,
                    fold=made.fold,
                    n_folds=made.n_folds,
                    title=self._title(algorithm, dataset, split, candidates, seed, made),
                    params=seeded_params(algorithm.name, algorithm.params, seed, made.fold),
                )
            )
            for dataset, split, seed in itertools.product(
                range(len(experiment.dataset)), range(len(experiment.split)), experiment.seed
            )
            for made in self.splits(dataset, split, seed)
            for candidates in range(len(experiment.candidates))
            for number, algorithm in enumerate(experiment.algorithms)
        )

    def keyed(self, cell: Cell) -> Cell:
        """Return a cell with the key for its contents."""
        return replace(cell, key=key_of(self.inputs(cell)))

    def inputs(self, cell: Cell) -> dict[str, Any]:
        """Return everything that decides the numbers of a cell, from the loaded data and code."""
        experiment = self.experiment
        section = experiment.candidates[cell.candidates]
        chosen = experiment.algorithms[cell.algorithm]
        versions = {"harness": harness.__version__, "surprise": version("scikit-surprise")}
        decisive = {
            "numbers": NUMBERS_VERSION,
            "versions": versions | registry.library_versions([chosen.name]),
            "data": self.ratings(cell.dataset)[0].fingerprint,
            "split": self.split(cell).fingerprint,
            "candidates": section.model_dump(),
            "sample": (cell.seed, cell.fold) if isinstance(section, Sampled) else None,
            "algorithm": identity(chosen.name),
            "params": cell.params,
            "global_seed": self.global_seed(cell),
            "as_surprise": chosen.as_surprise,
            "clip": experiment.clip,
            "accelerate": experiment.accelerate,
            "depth": self.depth,
        }
        if cell.inner:  # of a trial, only the metric that decides is kept
            decisive["judged"] = experiment.tuning.metric
        return decisive

    def global_seed(self, cell: Cell) -> int | None:
        """Return what the global generators start from in a cell of a class of your own."""
        name = self.experiment.algorithms[cell.algorithm].name
        return seeds.derive(cell.seed, "global", name, cell.fold) if ":" in name else None

    @cached_property
    def names(self) -> Names:
        """Display names; loads all data sets and makes all splits under the first seed."""
        experiment, seed = self.experiment, self.experiment.seed[0]
        named: list[tuple[list[str], list[Any]]] = [
            ([self.ratings(i)[0].name for i in range(len(experiment.dataset))], experiment.dataset),
            (
                [self.splits(0, i, seed)[0].name for i in range(len(experiment.split))],
                experiment.split,
            ),
            ([section.describe() for section in experiment.candidates], experiment.candidates),
        ]
        return Names(
            *(distinct_names(names, [settings(each) for each in given]) for names, given in named)
        )

    def table(self, dataset: int, split: int, candidates: int) -> TableName:
        """Return the identity of a table and its display names.

        The identity covers the data, the division without the run's seed, and the candidates:
        seeds of one run are cells of one row, and runs that divide equal data alike share it.
        """
        section = self.experiment.split[split]
        divided = settings(section) | {"kind": section.kind}
        divided.pop("validation", None)
        if section.from_files:
            folds = self.splits(dataset, split, self.experiment.seed[0])
            divided = {"kind": section.kind, "folds": [fold.fingerprint for fold in folds]}
        chosen = self.experiment.candidates[candidates]
        identity = {
            "data": self.ratings(dataset)[0].fingerprint,
            "split": divided,
            "candidates": settings(chosen) | {"kind": chosen.kind},
        }
        return TableName(
            dataset=self.names.datasets[dataset],
            split=self.names.splits[split],
            candidates=self.names.candidates[candidates],
            table=short_key(identity),
        )

    def row_key(self, table: str, cell: Cell) -> str:
        """Return the identity of a row: its table, and all that a config says of its algorithm.

        The label and the run's seed do not count, so that runs which share a row are known to. A
        config may list one algorithm twice under two labels; these are counted, to be two rows.
        """
        experiment = self.experiment
        described = [
            each.model_dump(mode="json", exclude={"label"}) | {"name": identity(each.name)}
            for each in experiment.algorithms[: cell.algorithm + 1]
        ]
        own = described.pop()
        tuning = None
        if own["search"] is not None:
            section = experiment.tuning.validation_of(experiment.split[cell.split])
            tuning = experiment.tuning.model_dump(mode="json") | {
                "validation": section.model_dump(mode="json")
            }
        return short_key(
            {
                "table": table,
                "algorithm": own,
                "copy": described.count(own),
                "tuning": tuning,
                "clip": experiment.clip,
            }
        )

    def loaded(self) -> Iterator[tuple[str, Ratings, list[str]]]:
        """Yield the data sets that were loaded: display name, ratings and filters."""
        for number, (ratings, reports) in sorted(self.read.items()):
            yield self.names.datasets[number], ratings, reports

    def made(self) -> Iterator[tuple[str, str, int, list[Split]]]:
        """Yield the splits that were made: names of data and split, seed and folds."""
        for (dataset, split, seed), folds in self._splits.items():
            yield self.names.datasets[dataset], self.names.splits[split], seed, folds

    def _title(
        self,
        algorithm: AlgorithmConfig,
        dataset: int,
        split: int,
        candidates: int,
        seed: int,
        made: Split,
    ) -> str:
        experiment, names = self.experiment, self.names
        parts = (
            (algorithm.title, True),
            (names.datasets[dataset], len(experiment.dataset) > 1),
            (names.splits[split], len(experiment.split) > 1),
            (f"fold {made.fold + 1}/{made.n_folds}", made.n_folds > 1),
            (f"seed {seed}", len(experiment.seed) > 1),
            (names.candidates[candidates], len(experiment.candidates) > 1),
        )
        return " · ".join(text for text, distinguishes in parts if distinguishes)


def seeded_params(name: str, params: dict[str, Any], seed: int, fold: int) -> dict[str, Any]:
    """Return the constructor's arguments with the seed of this use among them.

    The stream depends on the algorithm and the fold but not on the label or the other parameters,
    so two settings of one algorithm start from the same random numbers.

    Examples
    --------
    >>> seeded_params("SlopeOne", {}, seed=0, fold=0)
    {}
    >>> seeded_params("SVD", {"random_state": 3}, seed=0, fold=0)
    {'random_state': 3}
    """
    if not registry.takes_seed(name) or params.get("random_state") is not None:
        return dict(params)
    return {**params, "random_state": seeds.derive(seed, "fit", registry.canonical(name), fold)}


def identity(name: str) -> str:
    """Return an algorithm's identity in a cell's key; for a class of your own, its code too."""
    if ":" not in name:
        return registry.canonical(name)
    return f"{name} {code_digest(registry.find(name))}"


def settings(section: Section) -> dict[str, Any]:
    """Return the keys of a section that are not defaults."""
    return section.model_dump(mode="json", exclude_defaults=True)
