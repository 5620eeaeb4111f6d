"""Data and splits, loaded once in each process and shared by its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import datasets, splits
from harness.algorithms.trainset import ColumnTrainset
from harness.candidates import Sampled
from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.results.compare import distinct_names
from harness.results.store import short_key
from harness.sections import Section
from harness.splits import Split
from harness.splits.predefined import Predefined
from harness.splits.saved import SavedSplit

if TYPE_CHECKING:
    from harness.experiment.plan import Cell

__all__ = ["Names", "Workspace"]


@dataclass(frozen=True)
class Names:
    """Display names of a config's data sets, splits and candidates, unique within each kind."""

    datasets: tuple[str, ...]
    splits: tuple[str, ...]
    candidates: tuple[str, ...]


@dataclass
class Workspace:
    """The data sets and splits of one experiment.

    Parameters
    ----------
    experiment : Experiment
    base : Path or None
        Where relative paths in the config start.
    given : Ratings or None
        Ratings handed over from Python, in place of the config's data set.
    progress : callable, optional
        Called as ``progress(done, total)`` while a data set is downloaded.
    """

    experiment: Experiment
    base: Path | None = None
    given: Ratings | None = None
    progress: Callable[[int, int], object] | None = None
    _ratings: dict[int, tuple[Ratings, list[str]]] = field(default_factory=dict)
    _splits: dict[tuple[int, int, int], list[Split]] = field(default_factory=dict)
    _inner: dict[tuple[int, int, str], Split] = field(default_factory=dict)
    _trainset: tuple[str, ColumnTrainset] | None = None

    def ratings(self, dataset: int) -> tuple[Ratings, list[str]]:
        """Return the ratings of the config's data set number `dataset`, filtered, and the steps."""
        if dataset not in self._ratings:
            loaded = self.given
            if loaded is None:
                loaded = datasets.load(
                    self.experiment.dataset[dataset], base=self.base, progress=self.progress
                )
            # Filters that draw a sample use the first seed: the data are the same for all seeds.
            self._ratings[dataset] = splits.filter(
                self.experiment.filters, loaded, self.experiment.seed[0]
            )
        return self._ratings[dataset]

    def splits(self, dataset: int, split: int, seed: int) -> list[Split]:
        """Return the folds of the config's split number `split` under one seed."""
        place = (dataset, split, seed)
        if place not in self._splits:
            ratings, _ = self.ratings(dataset)
            self._splits[place] = splits.make(
                self.experiment.split[split], ratings, seed, self.base
            )
        return self._splits[place]

    def split(self, cell: Cell) -> Split:
        """Return what a cell is fitted and scored on; for a trial, parts of the training part."""
        outer = self.splits(cell.dataset, cell.split, cell.seed)[cell.fold]
        if not cell.inner:
            return outer
        place = (cell.split, cell.seed, outer.fingerprint)
        if place not in self._inner:
            section = self.experiment.tuning.validation_of(self.experiment.split[cell.split])
            self._inner[place] = splits.validation(outer, section, cell.seed, self.base)
        return self._inner[place]

    @cached_property
    def names(self) -> Names:
        """Display names; loads all data sets and makes all splits under the first seed."""
        experiment, seed = self.experiment, self.experiment.seed[0]
        datasets = [self.ratings(i)[0].name for i in range(len(experiment.dataset))]
        splits = [self.splits(0, i, seed)[0].name for i in range(len(experiment.split))]
        candidates = [section.describe() for section in experiment.candidates]
        return Names(
            *(
                tuple(distinct_names(names, [_settings(section) for section in sections]))
                for names, sections in (
                    (datasets, experiment.dataset),
                    (splits, experiment.split),
                    (candidates, experiment.candidates),
                )
            )
        )

    def table(self, dataset: int, split: int, candidates: int) -> dict[str, str]:
        """Return the identity of a table, ``table``, and its display names.

        The identity covers the data, the division without the run's seed, and the candidates:
        seeds of one run are cells of one row, and runs that divide equal data alike share it.
        """
        section = self.experiment.split[split]
        divided = _settings(section) | {"kind": section.kind}
        divided.pop("validation", None)
        if isinstance(section, Predefined | SavedSplit):  # known by content, not by path
            folds = self.splits(dataset, split, self.experiment.seed[0])
            divided = {"kind": section.kind, "folds": [fold.fingerprint for fold in folds]}
        chosen = self.experiment.candidates[candidates]
        return {
            "table": short_key(
                {
                    "data": self.ratings(dataset)[0].fingerprint,
                    "split": divided,
                    "candidates": _settings(chosen) | {"kind": chosen.kind},
                }
            ),
            "dataset": self.names.datasets[dataset],
            "split": self.names.splits[split],
            "candidates": self.names.candidates[candidates],
        }

    def trainset(self, split: Split, *, shared: bool = True) -> ColumnTrainset:
        """Return the training set of a split.

        Parameters
        ----------
        split : Split
        shared : bool
            Whether the last one is kept and returned again; otherwise
            a new one is returned, which its user may change.
        """
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

    def describe_data(self) -> list[dict[str, Any]]:
        """Return what ``run.json`` says of each data set: counts, identity, filters."""
        described = []
        for position, (ratings, reports) in sorted(self._ratings.items()):
            described.append(
                {
                    "name": self.names.datasets[position],
                    "source": ratings.name,
                    "fingerprint": ratings.fingerprint,
                    "n_users": ratings.n_users,
                    "n_items": ratings.n_items,
                    "n_ratings": len(ratings),
                    "scale": list(ratings.scale),
                    "filters": reports,
                    "notes": list(ratings.notes),
                }
            )
        return described

    def describe_splits(self) -> list[dict[str, Any]]:
        """Return what ``run.json`` says of each fold: counts and identity."""
        return [
            {
                "dataset": self.names.datasets[dataset],
                "split": self.names.splits[split],
                "seed": seed,
                "fold": made.fold,
                "fingerprint": made.fingerprint,
                "n_train": len(made.train),
                "n_test": len(made.test),
                "notes": list(made.notes),
            }
            for (dataset, split, seed), folds in self._splits.items()
            for made in folds
        ]

    def dataset_names(self) -> list[str]:
        """Return the names of the data sets that were loaded."""
        return [ratings.name for ratings, _ in self._ratings.values()]

    def notes(self) -> Iterator[str]:
        """Yield notes on data, splits and candidates."""
        names = self.names
        for position, (ratings, reports) in sorted(self._ratings.items()):
            yield from (f"{names.datasets[position]}: {note}" for note in ratings.notes)
            yield from (f"{names.datasets[position]}: {each}" for each in reports)
        seeds = self.experiment.seed
        for (dataset, split, seed), folds in self._splits.items():
            if seed != seeds[0]:
                continue
            where = names.splits[split] + (", first fold" if len(folds) > 1 else "")
            where += ", first seed" if len(seeds) > 1 else ""
            if len(names.datasets) > 1:
                where = f"{names.datasets[dataset]}, {where}"
            yield from (f"{where}: {note}" for note in folds[0].notes)
        for name, section in zip(names.candidates, self.experiment.candidates, strict=True):
            if isinstance(section, Sampled):
                yield (
                    f"{name}: metrics over sampled candidates are biased and may "
                    "order algorithms differently than the whole catalogue "
                    "(doi:10.1145/3394486.3403226)"
                )


def _settings(section: Section) -> dict[str, Any]:
    """Return the keys of a section that are not defaults."""
    return section.model_dump(mode="json", exclude_defaults=True)
