"""A config and its data become cells: one fit and one scoring each, with a key."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import harness
from harness import datasets, metrics
from harness._util import seeds
from harness._util.files import placed
from harness._util.libraries import pd
from harness.algorithms import depends, distributions, registry
from harness.algorithms.sources import source_of
from harness.config.experiment import Experiment, headline_of
from harness.config.load import load, repeated
from harness.datasets import Ratings
from harness.errors import AlgorithmError, ConfigError, DataError, MetricError
from harness.experiment.analyses.groups import divide
from harness.experiment.data import PlanData
from harness.experiment.execute.attempt import Workplace
from harness.metrics import Metric, labels
from harness.plugins import own_modules
from harness.plugins import registry as plugins
from harness.rankings.exposure import propensities
from harness.results.cells import CellName, TableName, distinct_names
from harness.results.environment import code_of_package, without_folders
from harness.results.reads import content_digest
from harness.results.record import DataInfo, SplitInfo
from harness.results.store import key_of, short_key

PACKAGE = __name__.partition(".")[0]


@dataclass(eq=False)
class Code:
    """The code of an experiment that is not built in.

    In another process (`files_planned`) it is the code and the files there: a key that was made of
    others differs. Files that are not on that machine count as the run was planned.
    """

    experiment: Experiment
    folder: Path | None
    files_planned: dict[int, dict[str, str]] | None = None
    package_planned: str = ""
    _of_session: dict[str, bool] = field(default_factory=dict, init=False)
    _imported: bool = field(default=False, init=False)

    def for_another_process(self) -> Code:
        """Return the same code for another process."""
        files = {n: self.files(n) for n in range(len(self.experiment.algorithms))}
        folder = (self.folder or Path()).resolve()
        return Code(self.experiment, folder, files, self.of_package)

    @cached_property
    def of_package(self) -> str:
        """What tells versions of this package apart: a hash of its files."""
        return code_of_package(self.package_planned)

    def import_files(self) -> None:
        """Import the files under `plugins`, once; loading a config has done so where it was."""
        if not self._imported:
            files = [placed(file, self.folder) for file in self.experiment.plugins or ()]
            own_modules.add_files(file for file in files if file.is_file())  # not on every machine
        self._imported = True

    def place(self, cell: Cell) -> Workplace:
        """Return where a cell is computed, and whether it can be reused."""
        name = self.experiment.algorithms[cell.algorithm].name
        if not (registry.is_own(name) or cell.inner or self.experiment.plugins):
            return Workplace.USUAL
        modules = [self._module("algorithms", name)]
        modules += [self._module("metrics", self._metric)] if cell.inner else []
        if any(self.is_of_session(module) for module in modules if module):
            return Workplace.SESSION
        is_usual = not any(modules) and not self.experiment.plugins  # a file can change anything
        return Workplace.USUAL if is_usual else Workplace.RECORDED

    def names(self, algorithm: int, *, is_trial: bool) -> Iterator[str]:
        """Yield the names in your own code that a cell uses."""
        name = self.experiment.algorithms[algorithm].name
        if self._module("algorithms", name):
            yield name
        if is_trial and self._module("metrics", self._metric):
            yield self.experiment.tuning.metric

    @cached_property
    def _metric(self) -> str:
        return metrics.parse(self.experiment.tuning.metric).name

    def _module(self, kind: str, name: str) -> str:
        """Return your own module that a name stands for; '' for a part of this package."""
        if "/" in name:  # the model of another library, in a process of its own
            return ""
        if kind == "algorithms":
            name = registry.canonical(name)
        plugin = plugins.find(kind, name)
        return "" if plugin.is_builtin else plugin.target.partition(":")[0]

    def is_of_session(self, module: str) -> bool:
        """Return whether your own module was loaded in this process before it was named.

        It may have been changed since, and have been loaded from another text than its file has.
        Another process loads a module only because its cells need it: with the classes of the
        plan, before its name is looked up.
        """
        if self.files_planned is not None:
            return False
        if module not in self._of_session:
            names = own_modules.loaded_by_others(module)
            self._of_session[module] = any(map(is_own, names))
        return self._of_session[module]

    def identity(self, kind: str, name: str) -> str:
        """Return a name, with a hash of the file if it stands for your own module.

        It only tells rows of different runs apart: what else the module reads is recorded.
        """
        if "/" in name:
            return source_of(name).identity(name)
        if kind == "algorithms" and not registry.is_own(name):
            return registry.canonical(name)
        module = self._module(kind, name)
        if not module:
            return name
        if self.is_of_session(module):
            return f"{name} (of the session)"
        (registry.find if kind == "algorithms" else metrics.parse)(name)  # which imports it
        file = getattr(sys.modules.get(module), "__file__", None)
        return f"{name} {content_digest(str(file))}" if file else name

    def files(self, algorithm: int) -> dict[str, str]:
        """Return a hash for each entry of `depends` of the algorithm of this number."""
        digests: dict[str, str] = {}
        for pattern in self.experiment.algorithms[algorithm].depends:
            try:
                digests[pattern] = depends.digest(pattern, self.folder)
            except AlgorithmError:
                if self.files_planned is None:
                    raise
                digests[pattern] = self.files_planned[algorithm][pattern]
        return digests


def is_own(name: str) -> bool:
    """Return whether a loaded module is neither of this package, nor of Python, nor installed."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if name.partition(".")[0] == PACKAGE:
        return False
    if file is None:  # typed in, built in, or a folder
        return name == "__main__" or name not in sys.stdlib_module_names
    return not distributions.is_standard(name, file) and not distributions.are_installed(file)


@contextmanager
def own_code_unloaded() -> Iterator[None]:
    """Unload your own modules that a run has loaded, so that the next one reads their files.

    The process that computes cells with your own code does too: the data, the splits and the
    metrics of both must be of one text.
    """
    try:
        yield
    finally:
        if own_modules.BROUGHT and own_modules.forget(is_own):
            registry.named.cache_clear()
            labels.declaration.cache_clear()


NUMBERS_VERSION = 6
"""Raised whenever a change of the code changes what a cell computes."""

Positions = tuple[int, int, int]
"""Positions of a data set, a split and candidates in the lists of a config."""


@dataclass(frozen=True)
class Cell:
    """One algorithm on one fold of a split of a data set, under a seed; or a trial (`inner`)."""

    dataset: int
    """A position in the list of the config, as the next three."""
    split: int
    candidates: int
    algorithm: int
    seed: int
    fold: int
    n_folds: int
    title: str
    params: dict[str, object] = field(hash=False)
    inner: bool = False
    part: int = 0
    """For a trial, the number of its fold of the validation."""
    key: str = ""


@dataclass
class Plan(PlanData):
    """What an experiment computes: its data, and its cells."""

    code_planned: Code | None = None
    """In another process, the code of the plan that was made."""
    stored_as: dict[str, str] = field(default_factory=dict)
    """By the key of a planned cell with your own code, the key with what the code has read."""

    @classmethod
    def from_config(
        cls,
        config: str | Path | Mapping[str, object] | Experiment,
        *,
        overrides: Iterable[str] = (),
        ratings: Any = None,
        progress: Callable[[int, int], object] | None = None,
        folder: Path | None = None,
        trust: bool = True,
    ) -> Plan:
        """Read and check a config, or raise a ConfigError; no data are read yet.

        `ratings` are loaded data, to which the options of the config's data set apply.
        """
        given = ratings is not None
        experiment, document = load(
            config, overrides=overrides, folder=folder, with_ratings=given, trust=trust
        )
        for section in experiment.candidates:
            section.prepare(document.folder)
        if given:
            ratings = datasets.load_under(ratings, experiment.dataset[0], document.folder)
        return cls(experiment, document, ratings, progress)

    def __post_init__(self) -> None:
        experiment = self.experiment
        parsed = metrics.parse_many(experiment.metrics)
        self.metrics: tuple[Metric, ...] = tuple(dict.fromkeys(parsed))
        """The metrics of the config in its order, each once."""
        self.labels = [str(metric) for metric in self.metrics]
        self.headline = headline_of(self.labels, experiment.headline)
        """The label of the headline metric."""
        self.is_tuned = any(each.search is not None for each in experiment.algorithms)
        """Whether an algorithm has a search."""
        self.deciding = (metrics.parse(experiment.tuning.metric),) if self.is_tuned else ()
        """The metric by which searches select; none without a search."""
        wanted = [*self.metrics, *self.deciding]
        self.of_genres = [str(metric) for metric in wanted if metric.definition.needs_genres]
        """The metrics that need the genres of items."""
        depths = [metric.k or 0 for metric in wanted if metric.definition.needs_items]
        self.depth = max(depths, default=0)
        """How many items at the top of each list metrics have to know by name."""
        outputs = ["outputs"] if experiment.outputs.wanted else []
        self.analyses = list(dict.fromkeys([*experiment.analyses, "groups", *outputs]))
        """The analyses of scored cells, by name; groups can be of the config or of a split."""
        kinds = [plugins.find("analyses", name).load() for name in experiment.analyses]
        needed = [getattr(kind, "needs_items", 0) for kind in kinds]
        self.n_shown = max(experiment.outputs.lists or 0, *needed, 0)
        """How many items at the top of each list outputs and analyses have to know by name."""
        self.names_items = (
            any(section.side == "items" for section in experiment.groups)
            or any(metric.needs_names for metric in self.metrics)
            or experiment.outputs.wanted
            or self.n_shown > 0
        )
        """Whether the judged items of each list have to be known by name."""
        self.without_folders = partial(without_folders, base=self.document.folder)
        """Replaces the folders of this machine in a message."""
        self.code = self.code_planned or Code(experiment, self.document.folder)
        """The code that decides numbers and is not built in, and the files that it reads."""

    def portable(self) -> Plan:
        """Return a plan for another process: with all ratings, and splits that no seed makes."""
        outer = self.experiment.split
        inner = [self.experiment.tuning.validation_of(section) for section in outer]
        used = [i for i in range(len(self.experiment.dataset)) if self.divided(i)]
        return Plan(
            self.experiment,
            read={i: (self.ratings(i)[0].bare(), []) for i in used},
            absent=self.absent,
            _splits={k: made for k, made in self._splits.items() if outer[k[1]].from_files},
            _inner={k: made for k, made in self._inner.items() if inner[k[0]].from_files},
            code_planned=self.code.for_another_process(),
            _chosen=self._chosen,
        )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, all algorithms of a fold after each other; loads the data and divides them."""
        experiment, cells = self.experiment, []
        for dataset, split, seed in itertools.product(
            range(len(experiment.dataset)), range(len(experiment.split)), experiment.draws
        ):
            if (dataset, split) in self.absent:
                continue
            for fold, candidates, (number, algorithm) in itertools.product(
                self.splits(dataset, split, seed),
                range(len(experiment.candidates)),
                enumerate(experiment.algorithms),
            ):
                name, params = algorithm.name, dict(algorithm.params)
                if registry.takes_seed(name) and params.get("random_state") is None:
                    # Neither the label nor other parameters change the stream: two settings of
                    # one algorithm start from the same random numbers.
                    stream = ("fit", registry.canonical(name), fold.fold)
                    params["random_state"] = seeds.derive(seed, *stream)
                parts = (
                    (self.names["dataset"][dataset], experiment.dataset),
                    (self.names["split"][split], experiment.split),
                    (f"fold {fold.fold + 1}/{fold.n_folds}", range(fold.n_folds)),
                    (f"seed {seed}", experiment.draws),
                    (self.names["candidates"][candidates], experiment.candidates),
                )
                title = [algorithm.title, *(text for text, of in parts if len(of) > 1)]
                where = (dataset, split, candidates, number, seed, fold.fold, fold.n_folds)
                cells.append(self.keyed(Cell(*where, " · ".join(title), params)))
        return tuple(cells)

    def keyed(self, cell: Cell) -> Cell:
        """Return a cell with the key for its contents."""
        return replace(cell, key=key_of(self.inputs(cell)))

    def inputs(self, cell: Cell) -> dict[str, Any]:
        """Return everything that decides the numbers of a cell, from the loaded data and code.

        ``global_seed`` is what the global generators start from in a cell with your own class, and
        ``depth`` how many items at the top of each list are kept by name.
        """
        experiment = self.experiment
        chosen = experiment.algorithms[cell.algorithm]
        section, draw = experiment.candidates[cell.candidates], experiment.draws[cell.seed].split
        surprise = registry.package_version("scikit-surprise")
        versions = {"harness": harness.__version__, "surprise": surprise}
        state = seeds.derive(cell.seed, "global", chosen.name, cell.fold)
        decisive = {
            "numbers": NUMBERS_VERSION,
            "code": self.code.of_package,
            "versions": versions | registry.library_versions([chosen.name]),
            "data": self.ratings(cell.dataset)[0].fingerprint,
            "split": self.split(cell).fingerprint,
            "candidates": self.decisive_candidates(cell),
            "sample": (draw, cell.fold) if section.is_sample else None,
            "algorithm": self.code.identity("algorithms", chosen.name),
            "params": cell.params,
            "global_seed": state if registry.is_own(chosen.name) else None,
            "as_surprise": chosen.as_surprise,
            "clip": experiment.clip,
            "accelerate": experiment.accelerate,
            "depth": max(self.depth, 0 if cell.inner else self.n_shown),
        }
        if experiment.fallback != "default":
            decisive["fallback"] = experiment.fallback
        if chosen.depends:
            decisive["depends"] = self.code.files(cell.algorithm)
        if cell.inner:  # of a trial, only the metric that decides is kept
            return decisive | {"judged": experiment.tuning.metric}
        kept = {"items": self.names_items, "outputs": experiment.outputs.wanted}
        kept["training"] = experiment.outputs.training
        return decisive | {what: True for what, is_kept in kept.items() if is_kept}

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """Display names of data sets, splits (under the first seed) and candidates, each unique."""
        given = self.experiment
        names: dict[str, list[str]] = {"dataset": [], "split": []}
        for number, dataset in enumerate(given.dataset):
            is_there = number in self.read or self.divided(number)
            names["dataset"] += [self.ratings(number)[0].name if is_there else dataset.describe()]
        for number, split in enumerate(given.split):
            there = [n for n in range(len(given.dataset)) if (n, number) not in self.absent][:1]
            made = [self.splits(n, number, given.seed[0])[0].name for n in there]
            names["split"] += made or [split.describe()]
        names["candidates"] = [each.describe() for each in given.candidates]
        return {
            key: distinct_names(each, [section.stated() for section in getattr(given, key)])
            for key, each in names.items()
        }

    @cached_property
    def tables(self) -> dict[Positions, TableName]:
        """The display names of each table, and its identity: data, division and candidates.

        The run's seed does not count: runs that split equal data alike share a table.
        """
        experiment, tables = self.experiment, {}
        counts = len(experiment.dataset), len(experiment.split), len(experiment.candidates)
        for dataset, split, candidates in itertools.product(*map(range, counts)):
            if (dataset, split) in self.absent:
                continue
            section, chosen = experiment.split[split], experiment.candidates[candidates]
            divided = section.stated({"validation"})
            if section.from_files:
                folds = self.splits(dataset, split, experiment.seed[0])
                divided = {"kind": section.kind, "folds": [fold.fingerprint for fold in folds]}
            data = self.ratings(dataset)[0].fingerprint
            identity = {"data": data, "split": divided, "candidates": chosen.stated()}
            positions = dataset, split, candidates
            named = zip(self.names.items(), positions, strict=True)
            names = {key: of[position] for (key, of), position in named}
            tables[positions] = TableName(**names, table=short_key(identity))
        return tables

    @cached_property
    def _described(self) -> list[dict[str, Any]]:
        described = []
        for number, algorithm in enumerate(self.experiment.algorithms):
            row = algorithm.decisive()
            row["name"] = self.code.identity("algorithms", algorithm.name)
            if algorithm.depends:
                row["depends"] = self.code.files(number)
            described.append(row)
        return described

    def name(self, cell: Cell) -> CellName:
        """Return the names and identities of a cell; neither label nor run's seed decide its row.

        A config may list one algorithm twice under two labels; these are counted, to be two rows.
        """
        experiment, table = self.experiment, self.tables[cell.dataset, cell.split, cell.candidates]
        own = self._described[cell.algorithm]
        tuning = None
        if own["search"] is not None:
            validation = experiment.tuning.validation_of(experiment.split[cell.split])
            tuning = experiment.tuning.identity() | {"validation": validation.identity()}
        copies = self._described[: cell.algorithm].count(own)
        row = {"table": table.table, "algorithm": own, "copy": copies, "tuning": tuning}
        row["clip"] = experiment.clip
        if experiment.fallback != "default":
            row["fallback"] = experiment.fallback
        return CellName(
            **table.only(TableName),
            row=short_key(row),
            algorithm=experiment.algorithms[cell.algorithm].title,
            split_fingerprint=self.split(cell).fingerprint,
            key=self.stored_as.get(cell.key, cell.key),
            **{key: getattr(cell, key) for key in ("seed", "fold", "n_folds", "params")},
        )

    def loaded(self) -> list[DataInfo]:
        """Return what a record says of the data sets that were loaded."""
        return [
            DataInfo(
                name=self.names["dataset"][number],
                source=ratings.name,
                fingerprint=ratings.fingerprint,
                **dict(zip(("n_users", "n_items", "n_ratings"), ratings.counts, strict=True)),
                scale=list(ratings.scale),
                filters=reports,
                notes=[note.mapped(self.without_folders) for note in ratings.notes],
                genres=_key_of_genres(ratings) if self.of_genres else "",
            )
            for number, (ratings, reports) in sorted(self.read.items())
        ]

    def made(self) -> list[SplitInfo]:
        """Return what a record says of the splits that were made."""
        return [
            SplitInfo(
                dataset=self.names["dataset"][dataset],
                split=self.names["split"][split],
                seed=seed,
                fold=made.fold,
                fingerprint=made.fingerprint,
                n_train=len(made.train),
                n_test=len(made.test),
                notes=list(made.notes),
                unknown=list(made.unknown),
            )
            for (dataset, split, seed), folds in self._splits.items()
            for made in folds
        ]


def _key_of_genres(ratings: Ratings) -> str:
    """Return what tells the genres of items apart; '' where none are known."""
    known = ratings.item_features
    if known is None or "genres" not in known:
        return ""
    return short_key({"genres": known["genres"].to_dict()})


def check_tables(plan: Plan) -> None:
    """Refuse entries of the config that give one table twice: equal data, or equal splits."""
    seen: dict[str, Positions] = {}
    for positions, table in plan.tables.items():
        first = seen.setdefault(table.table, positions)
        if first == positions:
            continue
        for key, how, one, other in (
            ("dataset", "holds the same ratings as", first[0], positions[0]),
            ("split", "has the same training and test sets as", first[1], positions[1]),
        ):
            if one != other:
                fault = repeated(plan.document, key, one, other, how)
                raise ConfigError(plan.document.source, [fault])


def check_metrics(plan: Plan) -> None:
    """Raise an error if a metric lacks genres, or has no gain for some rating, of any part."""
    for dataset in range(len(plan.experiment.dataset)):
        if not plan.divided(dataset):
            continue
        ratings, _ = plan.ratings(dataset)
        if any(metric.needs_features for metric in plan.metrics):
            check_features(plan, ratings)
        scored = [ratings.ratings] if plan.is_tuned else []
        for number in plan.divided(dataset):
            fold = plan.splits(dataset, number, plan.experiment.seed[0])[0]
            own = fold.ratings is ratings  # else test rows are grades, of no part of the data
            scored.append(ratings.ratings if own else fold.ratings.ratings[fold.test])
        relevance = np.sort(pd.unique(np.concatenate([*map(pd.unique, scored)])))
        check_gains(plan, ratings.name, ratings.scale, relevance)


def check_gains(
    plan: Plan, name: str, scale: tuple[float, float], relevance: NDArray[np.float64]
) -> None:
    """Raise an error if a metric has no gain for some of the ratings of a data set, sorted."""
    low, high = scale
    if relevance[0] < 0:  # suggest an offset that suits the whole scale
        relevance = np.append(relevance, min(relevance[0], low))
    try:
        for metric in (*plan.metrics, *plan.deciding):
            metric.definition.check_relevance(metric.chosen, relevance)
    except MetricError as error:
        raise MetricError(f"{name}, rated from {low:.16g} to {high:.16g}: {error}") from None


def check_features(plan: Plan, ratings: Ratings) -> None:
    """Raise a MetricError if a metric needs genres, propensities or a sample that are not there."""
    if plan.of_genres:
        try:
            _ = ratings.genres
        except DataError as error:
            raise MetricError(f"{plan.of_genres[0]}: {error}") from None
    if column := next((metric for metric in plan.metrics if metric.needs_column), None):
        try:
            propensities(ratings)
        except DataError as error:
            raise MetricError(f"{column}: {error}") from None
    if ratings.at_random is None:
        for metric in (metric for metric in plan.metrics if metric.needs_sample):
            raise MetricError(
                f"{metric}: {ratings.name} has no ratings at random; give a file of them, for "
                "example `at_random: random.csv` under `dataset`, or load(ratings, "
                "at_random=values)"
            )


def check_groups(plan: Plan) -> None:
    """Raise a DataError if a group is of a column that a data set lacks."""
    for dataset in plan.read:
        if not (divided := plan.divided(dataset)):
            continue
        split = plan.splits(dataset, divided[0], plan.experiment.seed[0])[:1]
        for section in plan.experiment.groups:
            divide(section, split)
