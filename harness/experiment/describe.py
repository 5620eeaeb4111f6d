"""What data are like, and what each split of a config can answer, before anything is fitted."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import datasets
from harness.datasets import Ratings
from harness.errors import counted
from harness.experiment.plan import Plan
from harness.splits import Split

__all__ = ["DataDescription", "SplitDescription", "describe"]

QUANTILES = {
    "least": 0.0,
    "10%": 0.1,
    "25%": 0.25,
    "median": 0.5,
    "75%": 0.75,
    "90%": 0.9,
    "most": 1.0,
}
MOST_VALUES = 20
"""Distinct ratings in a histogram; of more, it has intervals."""
WARN_SHARE = 0.1
"""Share of users or ratings from which a warning is given."""
CUT = 10
"""The cut-off rank that is looked at where no metric of the config has one."""


@dataclasses.dataclass(frozen=True)
class SplitDescription:
    """What one kind of split does with the data, by its first fold.

    Attributes
    ----------
    name : str
    n_folds, n_train, n_test, n_users : int
        Folds; ratings in training and test, and users in test, of the first.
    unknown_users, unknown_items : float
        Share of the test users, and of the test ratings' items, without a training rating.
    per_user : dict of str to float
        Quantiles of the test ratings a user.
    short : dict of int to float
        By cut-off rank k, the share of test users with at most k test ratings.
    equal : float
        Share of test users whose test ratings are all the same.
    backwards : bool
        Whether every training rating is later than every test rating.
    notes : list of str
        As a run notes them.
    """

    name: str
    n_folds: int
    n_train: int
    n_test: int
    n_users: int
    unknown_users: float
    unknown_items: float
    per_user: dict[str, float]
    short: dict[int, float]
    equal: float
    backwards: bool
    notes: list[str]


@dataclasses.dataclass(frozen=True)
class DataDescription:
    """What `describe` finds.

    Attributes
    ----------
    name : str
    n_users, n_items, n_ratings : int
    density : float
        Ratings over pairs of user and item, in [0, 1].
    scale : tuple of float
    histogram : dict of str to int
        How often each rating is given; intervals where there are more than 20.
    per_user, per_item : dict of str to float
        Quantiles of the ratings a user and an item.
    gini_users, gini_items : float
        Gini coefficient of the ratings a user and an item: 0 if all have as many, near 1 if few
        have nearly all.
    singles_users, singles_items : int
        Users and items with a single rating.
    mean, median : float
        Of the ratings.
    distinct_per_user : float
        Distinct ratings that the median user gives: few make ties in the ideal order.
    constant_users : float
        Share of users with several ratings who always give the same.
    span : tuple of str, or None
        First and last day with a rating.
    notes : list of str
        What was done to the rows while they were read, and by filters.
    splits : list of SplitDescription
        One for each split of a config.
    warnings : list of str
        What the data or a split cannot answer.
    """

    name: str
    n_users: int
    n_items: int
    n_ratings: int
    density: float
    scale: tuple[float, float]
    histogram: dict[str, int]
    per_user: dict[str, float]
    per_item: dict[str, float]
    gini_users: float
    gini_items: float
    singles_users: int
    singles_items: int
    mean: float
    median: float
    distinct_per_user: float
    constant_users: float
    span: tuple[str, str] | None
    notes: list[str]
    splits: list[SplitDescription]
    warnings: list[str]

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(dataclasses.asdict(self), indent=1)

    def __str__(self) -> str:
        return "\n".join(_text(self))


def describe(
    source: str | Path | Mapping[str, Any] | Ratings, *, ratings: Any = None
) -> list[DataDescription]:
    """Describe data, and each split of a config.

    Parameters
    ----------
    source : str, path, mapping or Ratings
        A name from ``harness list datasets``, a file of ratings, a config (YAML file or mapping
        with ``algorithms``), or loaded data.
    ratings : Ratings, DataFrame or surprise.Dataset, optional
        Loaded data, in place of the data set of a config.

    Returns
    -------
    list of DataDescription
        One for each data set of a config, filtered as it says; otherwise one. ``print`` shows it.

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
        return [_of_ratings(source, (), [], [])]
    is_config = isinstance(source, Mapping) and "algorithms" in source
    if not is_config and (
        isinstance(source, Mapping) or Path(str(source)).suffix not in (".yaml", ".yml", ".json")
    ):
        return [_of_ratings(datasets.load(source), (), [], [])]
    plan = Plan.from_config(source, ratings=None if ratings is None else datasets.load(ratings))
    cuts = sorted({metric.k for metric in plan.metrics if metric.k}) or [CUT]
    rated = any(getattr(each, "kind", "") == "rated" for each in plan.experiment.candidates)
    found = []
    for dataset in range(len(plan.experiment.dataset)):
        data, filters = plan.ratings(dataset)
        seed = plan.experiment.seed[0]
        splits: list[SplitDescription] = []
        warnings: list[str] = []
        for number in range(len(plan.experiment.split)):
            folds = plan.splits(dataset, number, seed)
            splits.append(_of_split(folds[0], cuts))
            warnings += _warnings_of_split(splits[-1], rated=rated)
        one = _of_ratings(data, filters, splits, warnings)
        found.append(dataclasses.replace(one, name=plan.names["dataset"][dataset]))
    return found


def _of_ratings(
    data: Ratings, filters: Any, splits: list[SplitDescription], warnings: list[str]
) -> DataDescription:
    of_user, of_item = (
        np.bincount(codes, minlength=n)
        for codes, n in ((data.users, data.n_users), (data.items, data.n_items))
    )
    of_user, of_item = of_user[of_user > 0], of_item[of_item > 0]
    least, most, distinct = _by_user(data.users, data.ratings)
    several = of_user > 1
    span = None
    if data.timestamps is not None and len(data):
        days = [
            datetime.fromtimestamp(int(each), UTC).date().isoformat()
            for each in (data.timestamps.min(), data.timestamps.max())
        ]
        span = (days[0], days[1])
    found = DataDescription(
        name=data.name,
        n_users=len(of_user),
        n_items=len(of_item),
        n_ratings=len(data),
        density=len(data) / max(1, len(of_user) * len(of_item)),
        scale=(float(data.scale[0]), float(data.scale[1])),
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
        constant_users=float((least == most)[several].mean()) if several.any() else 0.0,
        span=span,
        notes=[*data.notes, *filters],
        splits=splits,
        warnings=[],
    )
    return dataclasses.replace(found, warnings=[*_warnings_of_data(found), *warnings])


def _by_user(
    users: NDArray[np.int32], ratings: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the least and the most of each user's ratings, and how many are distinct."""
    order = np.lexsort((ratings, users))
    users, ratings = users[order], ratings[order]
    starts = np.flatnonzero(np.diff(users, prepend=-1))
    new = np.diff(ratings, prepend=np.nan) != 0
    new[starts] = True
    ends = np.append(starts[1:], len(users)) - 1
    return ratings[starts], ratings[ends], np.add.reduceat(new.astype(np.int64), starts)


def _quantiles(counts: NDArray[np.int64]) -> dict[str, float]:
    values = np.quantile(counts, list(QUANTILES.values()))
    return {name: float(value) for name, value in zip(QUANTILES, values, strict=True)}


def _gini(counts: NDArray[np.int64]) -> float:
    """Return half the mean absolute difference of two counts, relative to their mean."""
    ordered = np.sort(counts).astype(float)
    n = len(ordered)
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))


def _histogram(ratings: NDArray[np.float64]) -> dict[str, int]:
    values, counts = np.unique(ratings, return_counts=True)
    if len(values) <= MOST_VALUES:
        return {f"{value:g}": int(n) for value, n in zip(values, counts, strict=True)}
    counts, edges = np.histogram(ratings, bins=10)
    names = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
    return {name: int(n) for name, n in zip(names, counts, strict=True)}


def _of_split(fold: Split, cuts: list[int]) -> SplitDescription:
    data, train, test, times = fold.ratings, fold.train, fold.test, fold.ratings.timestamps
    counts = np.unique(data.users[test], return_counts=True)[1]
    unknown_users, unknown_items = fold.unknown
    least, most, _ = _by_user(data.users[test], data.ratings[test])
    return SplitDescription(
        name=fold.name,
        n_folds=fold.n_folds,
        n_train=len(train),
        n_test=len(test),
        n_users=len(counts),
        unknown_users=unknown_users,
        unknown_items=unknown_items,
        per_user=_quantiles(counts),
        short={k: float((counts <= k).mean()) for k in cuts},
        equal=float((least == most).mean()),
        backwards=bool(times is not None and times[train].min() > times[test].max()),
        notes=list(fold.notes),
    )


def _warnings_of_data(found: DataDescription) -> Iterator[str]:
    if len(found.histogram) == 1:
        yield f"all ratings are {next(iter(found.histogram))}: no order of items is better"
    if found.constant_users >= WARN_SHARE:
        yield (
            f"{found.constant_users:.0%} of the users with several ratings always give the same: "
            "for them, every order of rated items is ideal"
        )
    if found.singles_users >= WARN_SHARE * found.n_users:
        yield (
            f"{counted(found.singles_users, 'user')} of {found.n_users:,} "
            f"({found.singles_users / found.n_users:.0%}) with a single rating: it is in training "
            "or in test, never in both"
        )
    if found.singles_items >= WARN_SHARE * found.n_items:
        yield (
            f"{counted(found.singles_items, 'item')} of {found.n_items:,} "
            f"({found.singles_items / found.n_items:.0%}) with a single rating: where it is in "
            "test, no model has seen the item"
        )


def _warnings_of_split(split: SplitDescription, *, rated: bool) -> Iterator[str]:
    short = [f"{s:.0%} (k = {k})" for k, s in split.short.items() if s >= WARN_SHARE]
    if rated and short:
        yield (
            f"{split.name}: {', '.join(short)} of the test users have at most k test ratings: on "
            "rated items, a metric at k sees their whole list"
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
    yield from (f"{split.name}: {note}" for note in split.notes if note.startswith("leaks"))


def _text(found: DataDescription) -> Iterator[str]:
    """Yield the lines of a description; none is wider than 80 columns unless a name is."""
    yield f"{found.name}"
    yield ""
    facts = {
        "ratings": f"{found.n_ratings:,} by {found.n_users:,} users of {found.n_items:,} items",
        "density": f"{found.density:.3%}",
        "scale": f"{found.scale[0]:g} to {found.scale[1]:g}; mean {found.mean:.2f}, median "
        f"{found.median:g}",
        "time": "no timestamps" if found.span is None else " to ".join(found.span),
        "ties": f"the median user gives {found.distinct_per_user:g} distinct ratings",
    }
    yield from (f"{name:<12}{fact}" for name, fact in facts.items())
    yield ""
    yield f"{'ratings':<12}{''.join(f'{name:>7}' for name in QUANTILES)}   Gini   single"
    for name, counts, gini, singles in (
        ("per user", found.per_user, found.gini_users, found.singles_users),
        ("per item", found.per_item, found.gini_items, found.singles_items),
    ):
        shown = "".join(f"{value:>7,.0f}" for value in counts.values())
        yield f"{name:<12}{shown}{gini:>7.2f}{singles:>9,}"
    yield ""
    most, width = max(found.histogram.values()), max(map(len, found.histogram))
    for name, n in found.histogram.items():
        bar = "#" * round(40 * n / most)
        yield f"{name:>{width}}  {n:>11,}  {n / found.n_ratings:>6.1%}  {bar}".rstrip()
    for split in found.splits:
        yield ""
        folds = f"first of {split.n_folds} folds: " if split.n_folds > 1 else ""
        yield f"{split.name}"
        yield f"  {folds}{split.n_train:,} training and {split.n_test:,} test ratings"
        yield (
            f"  {split.n_users:,} test users, {split.unknown_users:.1%} of them unknown; items "
            f"unknown in {split.unknown_items:.1%} of the test"
        )
        short = ", ".join(f"{share:.0%} at most {k}" for k, share in split.short.items())
        yield f"  test ratings a user: median {split.per_user['median']:g}; {short}"
    if found.notes or found.warnings:
        yield ""
    yield from (f"note: {note}" for note in found.notes)
    yield from (f"warning: {warning}" for warning in found.warnings)
