"""The data of a plan: ratings, splits, training sets and candidates, each made on first use.

A data set that cannot be loaded, or split, is absent: its rows fail, and the others stay.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness import datasets, splits
from harness._util.files import are_there
from harness.algorithms.trainset import ColumnTrainset
from harness.candidates.base import Candidates, CandidatesSection
from harness.config.document import Document, fault_at, key_at
from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.datasets.section import DatasetSection
from harness.errors import ConfigError, DataError, HarnessError, SplitError
from harness.plugins import registry as plugins
from harness.results.cells import FailedCell, RowName, TableName, distinct_names
from harness.results.statistics import RowResult
from harness.results.store import key_of, short_key
from harness.splits import Split

if TYPE_CHECKING:
    from harness.experiment.evaluate import Evaluation
    from harness.experiment.plan import Cell, Plan


@dataclass
class PlanData:
    """What the cells of an experiment are fitted and scored on."""

    experiment: Experiment
    document: Document = field(default_factory=lambda: Document("config", {}))
    given: Ratings | None = None
    """Ratings from Python, in place of the data set that the config names."""
    progress: Callable[[int, int], object] | None = None
    read: dict[int, tuple[Ratings, list[str]]] = field(default_factory=dict)
    """Filtered data and the reports of filters."""
    absent: dict[tuple[int, int], str] = field(default_factory=dict)
    """By data set and split, why it cannot be loaded or divided; it has no cells."""
    _splits: dict[tuple[int, int, int], list[Split]] = field(default_factory=dict)
    _inner: dict[tuple[int, int, str], list[Split]] = field(default_factory=dict)
    _trainset: tuple[str, ColumnTrainset] | None = None
    _chosen: dict[tuple[str, int, int, int], str] = field(default_factory=dict)
    _selected: tuple[tuple[str, int, int, int], Candidates] | None = None

    def ratings(self, dataset: int) -> tuple[Ratings, list[str]]:
        """Return the ratings of the config's data set number `dataset`, filtered, and the steps."""
        if dataset not in self.read:
            loaded = self.given
            if loaded is None:
                section = self.experiment.dataset[dataset]
                folder = self.document.folder
                try:
                    loaded = datasets.load(section, base=folder, progress=self.progress)
                except DataError as error:
                    if missing := of_missing_file(self, dataset, error):
                        raise missing from None
                    raise
            self.read[dataset] = loaded, []
            if filters := self.experiment.filters:
                # Those that draw a sample use the first seed: the data are the same for all seeds.
                try:
                    self.read[dataset] = splits.filter(filters, loaded, self.experiment.seed[0])
                except SplitError as error:
                    raise with_data_set(error, self.experiment.dataset, dataset) from None
        return self.read[dataset]

    def divided(self, dataset: int) -> list[int]:
        """Return the splits of the config by which a data set can be divided."""
        return [n for n in range(len(self.experiment.split)) if (dataset, n) not in self.absent]

    def splits(self, dataset: int, split: int, seed: int) -> list[Split]:
        """Return the folds of the config's split number `split` for the cells of one seed."""
        seed = self.experiment.draws[seed].split
        position = (dataset, split, seed)
        if position not in self._splits:
            ratings, _ = self.ratings(dataset)
            section = self.experiment.split[split]
            try:
                self._splits[position] = section.splits(ratings, None, seed, self.document.folder)
            except SplitError as error:
                raise with_data_set(error, self.experiment.dataset, dataset) from None
        return self._splits[position]

    def split(self, cell: Cell) -> Split:
        """Return what a cell is fitted and scored on; for a trial, parts of the training set."""
        outer = self.splits(cell.dataset, cell.split, cell.seed)[cell.fold]
        return self.inner(cell.split, cell.seed, outer)[cell.part] if cell.inner else outer

    def inner(self, split: int, seed: int, outer: Split) -> list[Split]:
        """Return the parts of a fold's training set on which settings are fitted and compared."""
        seed = self.experiment.draws[seed].search
        position = (split, seed, outer.fingerprint)
        if position not in self._inner:
            section = self.experiment.tuning.validation_of(self.experiment.split[split])
            folder = self.document.folder
            self._inner[position] = splits.validation(outer, section, seed, folder)
        return self._inner[position]

    def trainset(self, split: Split, *, shared: bool = True) -> ColumnTrainset:
        """Return the training set of a split: the last one, or a new one that may be changed."""
        if shared and self._trainset is not None and self._trainset[0] == split.fingerprint:
            self._trainset[1].drop_derived()
            return self._trainset[1]
        trainset = ColumnTrainset.of_ratings(split.ratings, split.train)
        if shared:
            self._trainset = (split.fingerprint, trainset)
        else:
            trainset.user_ids = np.array(trainset.user_ids)
            trainset.item_ids = np.array(trainset.item_ids)
        return trainset

    def selected(self, cell: Cell) -> Candidates:
        """Return the candidates of a cell, which are the last cell's for all its trials."""
        position = self._position(cell)
        if self._selected is None or self._selected[0] != position:
            section = self.experiment.candidates[cell.candidates]
            selected = section.select(self.split(cell), position[-1])
            if _is_own(section):
                digest = hashlib.sha256()
                for part in vars(selected).values():
                    digest.update(part.tobytes() if isinstance(part, np.ndarray) else b"|")
                if self._chosen.setdefault(position, digest.hexdigest()) != digest.hexdigest():
                    raise of_other_items(section)
            self._selected = (position, selected)
        return self._selected[1]

    def decisive_candidates(self, cell: Cell) -> dict[str, object]:
        """Return what decides the candidates of a cell; for your own code, what it chose."""
        section, position = self.experiment.candidates[cell.candidates], self._position(cell)
        if not _is_own(section):
            return section.decisive()
        if position not in self._chosen:
            self.selected(cell)
        return section.decisive() | {"chosen": self._chosen[position]}

    def _position(self, cell: Cell) -> tuple[str, int, int, int]:
        seed = self.experiment.draws[cell.seed].split
        return self.split(cell).fingerprint, cell.fold, cell.candidates, seed


def of_missing_file(plan: PlanData, dataset: int, error: DataError) -> ConfigError | None:
    """Return the error of the key of a data set that names a missing file, if one does."""
    section, document = plan.experiment.dataset[dataset], plan.document
    # Files are looked for in this order, before the first is read.
    besides = {"users": section.users, "items": section.items}
    parts = {name: part.paths for name, part in besides.items() if part}
    parts |= {"at_random": [section.at_random or ""], "path": section.paths}
    for name, paths in parts.items():
        if any(paths) and not are_there(paths, document.folder):
            key = key_at(document, ("dataset", dataset, name, "path"))
            return ConfigError(document.source, [fault_at(document, key, str(error))])
    return None


def with_data_set(
    error: SplitError, sections: Sequence[DatasetSection], dataset: int
) -> SplitError:
    """Return an error that says of which data set it is, where there are several."""
    known = [each.describe() for each in sections], [each.stated() for each in sections]
    where = f"{distinct_names(*known)[dataset]}: " if len(sections) > 1 else ""
    return SplitError(f"{where}{error}")


def _is_own(section: CandidatesSection) -> bool:
    """Return whether your own code, or another package, chooses candidates."""
    return section.by_function or not plugins.find("candidates", section.kind).is_builtin


def of_other_items(section: CandidatesSection) -> SplitError:
    """Return the error of a function that does not list the same candidates again."""
    return SplitError(
        f"{section.describe()}: it lists other items in another call, so that rows "
        "would have different candidates; sample with the `rng` that it is given"
    )


def find_absent(plan: Plan) -> None:
    """Load and split all data of a plan, and note which parts fail.

    The error of a part is raised where nothing else is left to compute.
    """
    experiment, errors = plan.experiment, list[HarnessError]()
    parts = list(itertools.product(range(len(experiment.dataset)), range(len(experiment.split))))
    unloaded: dict[int, HarnessError] = {}
    for dataset, split in parts:
        try:
            if dataset in unloaded:  # which is not tried to be reached once more
                raise unloaded[dataset]
            try:
                plan.ratings(dataset)
            except HarnessError as error:
                unloaded[dataset] = error
                raise
            for seed in experiment.draws:
                plan.splits(dataset, split, seed)
        except HarnessError as error:
            errors.append(error)
            plan.absent[dataset, split] = _reason(error)
    if len(errors) == len(parts):
        raise errors[0]


def _reason(error: HarnessError) -> str:
    if isinstance(error, ConfigError):
        return "; ".join(fault.message for fault in error.faults)
    return " ".join(str(error).split())


def add_absent(plan: Plan, evaluation: Evaluation) -> None:
    """Add a failed row for each algorithm of what is absent, in the order of the config."""
    order = {table.table: place for place, table in enumerate(_tables(plan))}
    for (dataset, split), reason in plan.absent.items():
        for candidates in range(len(plan.experiment.candidates)):
            table = _absent_table(plan, dataset, split, candidates)
            for cell in _failed_cells(plan, table, reason):
                if cell.seed == plan.experiment.seed[0]:
                    empty = dict.fromkeys(map(str, plan.metrics))
                    evaluation.rows.append(RowResult(**cell.only(RowName), scores=empty))
                evaluation.cells.append(cell)
    evaluation.rows.sort(key=lambda row: order[row.table])
    evaluation.cells.sort(key=lambda cell: order[cell.table])


def _tables(plan: Plan) -> Iterator[TableName]:
    """Yield the tables of a plan in the order of its config, those that are absent too."""
    experiment = plan.experiment
    for dataset, split, candidates in itertools.product(
        range(len(experiment.dataset)),
        range(len(experiment.split)),
        range(len(experiment.candidates)),
    ):
        table = plan.tables.get((dataset, split, candidates))
        yield table or _absent_table(plan, dataset, split, candidates)


def _absent_table(plan: Plan, dataset: int, split: int, candidates: int) -> TableName:
    """Return the name of a table without data, whose identity is its config's."""
    parts = {"dataset": dataset, "split": split, "candidates": candidates}
    stated = {key: getattr(plan.experiment, key)[n].stated() for key, n in parts.items()}
    names = {key: plan.names[key][n] for key, n in parts.items()}
    return TableName(**names, table=short_key({"absent": stated}))


def _failed_cells(plan: Plan, table: TableName, reason: str) -> Iterator[FailedCell]:
    for number, algorithm in enumerate(plan.experiment.algorithms):
        row = {"table": table.table, "algorithm": number, "name": algorithm.name}
        for seed in plan.experiment.draws:
            yield FailedCell(
                **table.only(TableName),
                row=short_key(row),
                algorithm=algorithm.title,
                seed=seed,
                fold=0,
                n_folds=1,
                key=key_of({"absent": row, "seed": seed}),
                split_fingerprint="not divided",
                params=dict(algorithm.params),
                error=reason,
            )
