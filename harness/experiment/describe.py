"""What data are like, what each split of a config can answer, and which plug-ins it uses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import datasets
from harness._util.arguments import checked
from harness._util.files import RUN_FILE
from harness.algorithms import registry
from harness.algorithms.sources import source_name
from harness.config.experiment import LOCAL, Experiment
from harness.datasets import Ratings
from harness.datasets.openers import scheme_of
from harness.datasets.readers import kind_of
from harness.datasets.readers.json_lines import holds_records
from harness.errors import DataError, counted, is_url
from harness.experiment.plan import Plan
from harness.metrics import Metric, parse_many
from harness.metrics.labels import facts_of
from harness.notes.note import Note
from harness.plugins import registry as plugins
from harness.results.description import (
    MOST_VALUES,
    QUANTILES,
    DataDescription,
    Descriptions,
    Quantile,
    SplitDescription,
)
from harness.results.record import PluginUsed
from harness.splits import Split
from harness.splits.base import FilterSection

WARN_SHARE = 0.1
"""Proportion of users or ratings from which a warning is given."""
OF_SINGLES = {
    "user": "it is in the training or the test set, never in both",
    "item": "if it is in the test set, no model has seen the item",
}
"""What follows for the only rating of a user, or of an item."""


CUT = 10
"""The cut-off rank that is looked at where no metric of the config has one."""


def describe_plan(plan: Plan, *, noted: bool = True) -> list[DataDescription]:
    """Describe each data set of a plan, and the first fold of each split under the first seed.

    Without `noted` they have no notes.
    """
    cuts = sorted({metric.k for metric in plan.metrics if metric.k}) or [CUT]
    rated = any(rule.only_rated for rule in plan.experiment.candidates)
    seed, descriptions = plan.experiment.seed[0], []
    for dataset, name in enumerate(plan.names["dataset"]):
        if not (divided := plan.divided(dataset)):
            continue
        described = describe_ratings(*plan.ratings(dataset), noted=noted)
        described.name = name
        for number in divided:
            fold = plan.splits(dataset, number, seed)[0]
            split = _of_split(fold, plan.names["split"][number], cuts, noted=noted)
            described.splits.append(split)
            described.warnings += _warnings_of_split(split, fold.notes, rated=rated)
        descriptions.append(described)
    return descriptions


def describe_ratings(
    data: Ratings, filters: Iterable[str] = (), *, noted: bool = True
) -> DataDescription:
    """Describe ratings; if `noted`, with the reports of the filters that they went through."""
    filtered = (Note("filtered", {"counts": report}) for report in filters)
    of_user, of_item = _counts(data.users), _counts(data.items)
    distinct = _n_distinct(data.users, data.ratings)
    several, span = of_user > 1, []
    if data.timestamps is not None and len(data):
        ends = np.array([data.timestamps.min(), data.timestamps.max()], "datetime64[s]")
        span = ends.astype("datetime64[D]").astype(str).tolist()
    description = DataDescription(
        name=data.name,
        n_users=len(of_user),
        n_items=len(of_item),
        n_ratings=len(data),
        density=len(data) / max(1, len(of_user) * len(of_item)),
        scale=[float(end) for end in data.scale],
        histogram=_histogram(data.ratings),
        per_user=_quantiles(of_user),
        per_item=_quantiles(of_item),
        gini_users=_gini(of_user),
        gini_items=_gini(of_item),
        singles_users=int((of_user == 1).sum()),
        singles_items=int((of_item == 1).sum()),
        mean=float(data.ratings.mean()),
        median=float(np.median(data.ratings)),
        distinct_per_user=float(np.median(distinct)),
        constant_users=float((distinct == 1)[several].mean()) if several.any() else 0.0,
        span=span,
        notes=[*data.notes, *filtered] if noted else [],
        splits=[],
        warnings=[],
    )
    description.warnings += _warnings_of_data(description)
    return description


def _n_distinct(users: NDArray[np.int32], ratings: NDArray[np.float64]) -> NDArray[np.integer[Any]]:
    """Return how many distinct ratings each user gave, in the order of the users' codes."""
    # Sorted keys need less than half the memory of pandas' groups.
    values = np.sort(ratings)
    values = values[np.append(True, values[1:] != values[:-1])]
    keys = np.sort(users * np.int64(len(values)) + np.searchsorted(values, ratings))
    return _counts(keys[np.append(True, keys[1:] != keys[:-1])] // len(values))


def _counts(codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return how often each code that occurs does; NumPy's `unique` takes ten times as long."""
    counts = np.bincount(codes)
    return counts[counts > 0]


def _quantiles(counts: NDArray[np.int64]) -> dict[Quantile, float]:
    values = np.quantile(counts, list(QUANTILES.values()))
    return dict(zip(QUANTILES, values.tolist(), strict=True))


def _gini(counts: NDArray[np.int64]) -> float:
    """Return half the mean absolute difference of two counts, relative to their mean."""
    ordered, n = np.sort(counts).astype(float), len(counts)
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))


def _histogram(ratings: NDArray[np.float64]) -> dict[str, int]:
    values, counts = np.unique(ratings, return_counts=True)
    digits = 6
    if len(values) > MOST_VALUES:
        (counts, values), digits = np.histogram(ratings, bins=10), 4
    # As many digits as distinguish the values: 17 do for any two numbers.
    # Where four do, a whole number below a million still needs no exponent.
    shown = (
        [f"{float(f'{value:.{n}g}'):.{max(n, 6)}g}" for value in values] for n in range(digits, 18)
    )
    names = next(texts for texts in shown if len({*texts}) == len(texts))
    if len(names) > len(counts):
        names = [f"{a} to {b}" for a, b in pairwise(names)]
    return dict(zip(names, counts.tolist(), strict=True))


def _of_split(fold: Split, title: str, cuts: list[int], *, noted: bool) -> SplitDescription:
    data, train, test, times = fold.ratings, fold.train, fold.test, fold.ratings.timestamps
    counts = _counts(data.users[test])
    unknown_users, unknown_items = fold.unknown
    return SplitDescription(
        name=title,
        n_folds=fold.n_folds,
        n_train=len(train),
        n_test=len(test),
        n_users=len(counts),
        unknown_users=unknown_users,
        unknown_items=unknown_items,
        per_user=_quantiles(counts),
        short={str(k): float((counts <= k).mean()) for k in cuts},
        equal=float((_n_distinct(data.users[test], data.ratings[test]) == 1).mean()),
        backwards=bool(times is not None and times[train].min() > times[test].max()),
        notes=list(fold.notes) if noted else [],
    )


def _warnings_of_data(description: DataDescription) -> Iterator[str]:
    if len(description.histogram) == 1:
        yield f"all ratings are {next(iter(description.histogram))}: no order of items is better"
    if description.constant_users >= WARN_SHARE:
        yield (
            f"{description.constant_users:.0%} of the users with several ratings always give the "
            "same: for them, every order of rated items is ideal"
        )
    for n, noun, n_all in (
        (description.singles_users, "user", description.n_users),
        (description.singles_items, "item", description.n_items),
    ):
        if n >= WARN_SHARE * n_all:
            verb = "has" if n == 1 else "have"
            yield (
                f"{n:,} of {counted(n_all, noun)} ({n / n_all:.0%}) {verb} a single rating: "
                f"{OF_SINGLES[noun]}"
            )


def _warnings_of_split(
    split: SplitDescription, notes: Iterable[Note], *, rated: bool
) -> Iterator[str]:
    short = [f"{s:.0%} (k = {k})" for k, s in split.short.items() if s >= WARN_SHARE]
    if rated and short:
        yield (
            f"{split.name}: {', '.join(short)} of the test users have at most k test ratings: on "
            "rated items, a metric at k sees all of their list"
        )
    if rated and split.equal >= WARN_SHARE:
        yield (
            f"{split.name}: {split.equal:.0%} of the test users have equal test ratings: on rated "
            "items, every order of them is ideal"
        )
    if split.unknown_users >= WARN_SHARE:
        yield (
            f"{split.name}: {split.unknown_users:.0%} of the test users have no training rating: "
            "their lists show what a model does without knowing the user"
        )
    if split.backwards:
        yield f"{split.name}: every training rating is later than every test rating"
    told = ("leak", "judgements", "judgements-rated")
    yield from (f"{split.name}: {note}" for note in notes if note.code in told)


@checked(DataError)
def describe(
    source: str | Path | Mapping[str, Any] | Ratings | Any, *, ratings: Any = None
) -> Descriptions:
    """Describe data, and each split of a config.

    Parameters
    ----------
    source : str, path, mapping, Ratings, DataFrame or surprise.Dataset
        A name from ``harness list datasets``, a file of ratings, a config (YAML file, run's folder,
        or mapping with ``algorithms``), or loaded data.
    ratings : Ratings, DataFrame or surprise.Dataset, optional
        Loaded data, in place of the data set of a config.

    Returns
    -------
    list of DataDescription
        One for each data set of a config, filtered as it says; otherwise one. ``print`` and a
        notebook show them.

    Raises
    ------
    DataError, ConfigError, SplitError
        If the data cannot be read or divided.

    Examples
    --------
    >>> import harness
    >>> (found,) = harness.describe("bundled")
    >>> found.n_users, found.n_items, round(found.gini_items, 2)
    (671, 9066, 0.72)
    """
    if isinstance(source, Ratings):
        return Descriptions([describe_ratings(source)])
    if isinstance(source, os.PathLike):
        source = Path(source)
    if not is_config(source):
        return Descriptions([describe_ratings(datasets.load(source))])
    if isinstance(ratings, str | os.PathLike | Mapping):
        ratings = datasets.load(ratings)
    return Descriptions(describe_plan(Plan.from_config(source, ratings=ratings)))


def is_config(source: str | Path | Mapping[str, Any] | Any) -> bool:
    """Return whether a source names a config, or is one, rather than ratings."""
    if not isinstance(source, str | Path):
        return isinstance(source, Mapping) and not {"algorithms", "dataset"}.isdisjoint(source)
    path = Path(source)
    if path.suffix == ".json" and path.is_file():
        return not holds_records(path)
    return path.suffix in (".yaml", ".yml", ".json") or (path / RUN_FILE).is_file()


def plugins_used(experiment: Experiment) -> Iterator[PluginUsed]:
    """Yield each plug-in that is not this package's own, with what readers of the run need."""
    used: list[tuple[str, str, Any]] = []  # a kind, a name, and what of the config has facts
    for data in experiment.dataset:
        if data.name is not None and data.data_set is None:
            used.append(("datasets", data.name, None))
        reader = data.format or (None if data.path is None else kind_of(data.paths[0]))
        used += [("readers", reader, None)] if reader else []
        schemes = dict.fromkeys(map(scheme_of, filter(is_url, data.paths)))
        # Others that nobody has are of fsspec.
        used += [("openers", s, None) for s in schemes if plugins.foreign_origin("openers", s)]
    for name in dict.fromkeys(row.name for row in experiment.algorithms):
        of_library = "/" in name
        part = source_name(name) if of_library else registry.canonical(name)
        used.append(("sources" if of_library else "algorithms", part, None))
    metrics = {metric.name: metric for metric in parse_many(experiment.metrics)}
    used += [("metrics", name, metric) for name, metric in metrics.items()]
    used += [("analyses", name, None) for name in experiment.analyses]
    used += [("trackers", name, None) for name in experiment.trackers]
    used += [("splits", each.kind, each) for each in (*experiment.split, *experiment.filters)]
    used += [("candidates", each.kind, each) for each in experiment.candidates]
    if experiment.execution.executor != LOCAL:
        used.append(("executors", experiment.execution.executor, None))
    for kind, name, of in used:
        if not plugins.find(kind, name).is_builtin:
            yield from plugin_used(kind, name, _facts(of))


def _facts(used: Any) -> dict[str, Any]:
    """Return what readers of a run need of a metric, a split, a filter or candidates."""
    if used is None:
        return {}
    if isinstance(used, Metric):
        return facts_of(used.definition)
    facts = {"name": used.describe()}
    return facts if isinstance(used, FilterSection) else facts | {"sentence": used.sentence()}


def plugin_used(kind: str, name: str, facts: dict[str, Any]) -> Iterator[PluginUsed]:
    """Yield a plug-in unless it is this package's own."""
    plugin = plugins.find(kind, name)
    if not plugin.is_builtin:
        yield PluginUsed(
            kind=kind, name=name, package=plugin.package, version=plugin.version, facts=facts
        )
