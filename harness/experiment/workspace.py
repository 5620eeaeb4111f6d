"""Data and splits, loaded once in each process and shared by its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness import datasets, splits
from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.splits import FilterReport, Split

__all__ = ["Workspace"]


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
    _ratings: dict[int, tuple[Ratings, list[FilterReport]]] = field(default_factory=dict)
    _splits: dict[tuple[int, int, int], list[Split]] = field(default_factory=dict)

    def ratings(self, dataset: int) -> tuple[Ratings, list[FilterReport]]:
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
            self._splits[place] = splits.make(self.experiment.split[split], ratings, seed)
        return self._splits[place]
