"""Groups of users or items: who belongs to which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness.errors import DataError, counted, suggestion
from harness.lazy import pd
from harness.metrics import number
from harness.splits import Split
from harness.splits.base import natural

if TYPE_CHECKING:
    from harness.config.settings import GroupSection

QUANTILES = 4
MOST_VALUES = 10
"""A column of numbers with more values is divided into quantiles."""
MOST_GROUPS = 40
UNKNOWN = "unknown"
"""The group without a value, or without a training rating."""

Masks = NDArray[np.bool_]
"""Of shape (n_groups, n_codes)."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Who belongs to which group, in each of several splits of the same ratings."""

    names: list[str]
    masks: list[Masks]
    """One for each split; a user or item may belong to several groups."""


def divide(section: GroupSection, splits: Sequence[Split]) -> Groups:
    """Divide users or items for each fold of a table, or raise a DataError for a bad column.

    >>> from harness.config.settings import GroupSection
    >>> from harness.datasets import load
    >>> from harness.splits import make
    >>> from harness.splits.random import Holdout
    >>> found = divide(GroupSection(items="popularity"), make(Holdout(), load("bundled"), seed=0))
    >>> dict(zip(found.names, found.masks[0].sum(axis=1).tolist()))
    {'head': 283, 'middle': 893, 'tail': 7194, 'unknown': 696}
    """
    users = section.side == "users"
    counts = np.array([_counts(split, users) for split in splits])
    if section.title == "users: known":
        return Groups(["known", UNKNOWN], [np.array([row > 0, row == 0]) for row in counts])
    if section.title == "items: popularity":
        return Groups(["head", "middle", "tail", UNKNOWN], [_thirds(row) for row in counts])
    if section.title == "users: training_ratings":
        tests = (split.ratings.users[split.test] for split in splits)
        tested = np.array([np.bincount(codes, minlength=counts.shape[1]) > 0 for codes in tests])
        n_tested = tested.sum(axis=0)
        means = np.rint((counts * tested).sum(axis=0) / np.maximum(n_tested, 1))
        names, masks = _quantiles(means, (n_tested > 0) & (means > 0), section.quantiles)
        without = (n_tested > 0) & (means == 0)
        if without.any():
            names, masks = ["0", *names], np.vstack([without, masks])
    else:
        names, masks = _by_column(section, splits[0])
    return Groups(names, [masks] * len(splits))


def _counts(split: Split, of_users: bool) -> NDArray[np.int64]:
    """Return the number of training ratings of each user or item."""
    data = split.ratings
    codes, n = (data.users, data.n_users) if of_users else (data.items, data.n_items)
    return np.bincount(codes[split.train], minlength=n)


def _thirds(counts: NDArray[np.int64]) -> Masks:
    """Divide items, the most rated first, where the sum of their ratings reaches a third."""
    order = np.argsort(-counts, kind="stable")
    before = np.empty_like(counts)
    before[order] = np.cumsum(counts[order]) - counts[order]
    third = np.minimum(3 * before // max(counts.sum(), 1), 2)
    return np.array([*((third == band) & (counts > 0) for band in range(3)), counts == 0])


def _quantiles(
    values: NDArray[np.float64], counted_in: NDArray[np.bool_], n: int | None
) -> tuple[list[str], Masks]:
    """Divide values into `n` groups of about equal size; equal values stay together."""
    n = n or QUANTILES
    counted_values = values[counted_in]
    if not len(counted_values):
        return [], np.zeros((0, len(values)), dtype=bool)
    tops = np.unique(np.quantile(counted_values, np.arange(1, n + 1) / n, method="inverted_cdf"))
    group = np.where(counted_in, np.searchsorted(tops, values), -1)
    names = []
    for i, top in enumerate(tops):
        low = values[group == i].min()
        names.append(number(top) if low == top else f"{number(low)} to {number(top)}")
    return names, np.array([group == i for i in range(len(tops))])


def _by_column(section: GroupSection, split: Split) -> tuple[list[str], Masks]:
    """Divide users or items by a column of their file."""
    from harness.datasets.features import flags_of

    data = split.ratings
    features, computed = data.item_features, ["popularity"]
    if section.side == "users":
        features, computed = data.user_features, ["training_ratings", "known"]
    columns = [] if features is None else [*map(str, features.columns)]
    if features is None or section.by not in columns:
        advice = suggestion(section.by, [*computed, *columns])
        lacks = f"has no column {section.by!r} of {section.side}"
        if features is None:
            lacks += f", as it has no file of {section.side}"
            advice += f"; or give `{section.side}: {{path: FILE}}` in the dataset"
        raise DataError(f"groups: {section.title}: {data.name} {lacks}; {advice}")
    column: pd.Series[str] = features[section.by].str.strip()
    column = column.where(column != "")
    known_values, missing = column.dropna(), column.isna().to_numpy()
    numbers = pd.to_numeric(known_values, errors="coerce")
    many = section.quantiles or known_values.nunique() > MOST_VALUES
    if len(numbers) and np.isfinite(numbers).all() and many:
        values = np.zeros(len(column))
        values[~missing] = numbers
        names, masks = _quantiles(values, ~missing, section.quantiles)
    else:
        if section.quantiles:
            words = known_values[~np.isfinite(numbers)]
            problem = f"{words.iloc[0]!r} is no number" if len(words) else "the column is empty"
            raise DataError(f"groups: {section.title}: {problem}; leave `quantiles` out")
        flags = flags_of(column)
        names = sorted(flags.columns, key=natural)
        if len(names) > MOST_GROUPS:
            raise DataError(
                f"groups: {section.title}: {counted(len(names), 'value')}, as {names[0]!r}; "
                f"use a column of numbers, or of at most {MOST_GROUPS} values"
            )
        if UNKNOWN in names:  # a genre of MovieLens
            missing = missing | (flags[UNKNOWN] > 0).to_numpy()
            names.remove(UNKNOWN)
        masks = flags[names].to_numpy().T > 0
    return ([*names, UNKNOWN], np.vstack([masks, missing])) if missing.any() else (names, masks)
