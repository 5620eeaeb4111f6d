"""SlopeOne: mean deviations between items."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms.columns import Lists, mean_of_each, truncated
from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Bools,
    Codes,
    Floats,
    Offsets,
    Progress,
    Scorer,
)
from harness.algorithms.compiled.loops import in_blocks
from harness.algorithms.compiled.similarities import LazyMatrix
from harness.algorithms.memory import SLOPE_ONE_DENSE
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.kernels import each_block, kernel

__all__ = ["SlopeOne"]

ROWS_BETWEEN_REPORTS = 1024
ITEMS_AT_ONCE = 16
LANES = 8  # doubles that a vector instruction adds at once


class SlopeOneScorer(Scorer):
    """The user's mean plus the mean deviation of the item from what the user rated."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.means = np.array(model.user_mean, np.float64)

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        known = (users >= 0) & (items >= 0)
        asked_users, asked_items = users[known], items[known]
        deviations = self.mean_deviations(asked_users, asked_items)
        estimates = np.full(len(users), float(self.model.default_prediction()))
        estimates[known] = self.means[asked_users] + deviations
        return estimates, ~known

    def mean_deviations(self, users: Codes, items: Codes) -> Floats:
        """Return the mean deviation of each item from what its user rated; 0 for none."""
        dev, lists = self.model.dev, self.trainset.by_user[:2]
        found = np.empty(len(users))
        if not isinstance(dev, Deviations):
            steps = len(users) * self.trainset.n_ratings / self.trainset.n_users
            in_blocks(average_pairs, len(users), steps, users, items, *lists, dev, found)
            return found
        order = np.argsort(items, kind="stable")
        distinct, edges = np.unique(items[order], return_index=True)
        edges = np.append(edges, len(order))

        def average(start: int, stop: int) -> None:
            for first in range(start, stop, ITEMS_AT_ONCE):
                last = min(first + ITEMS_AT_ONCE, stop)
                part = order[edges[first] : edges[last]]
                places = np.searchsorted(distinct[first:last], items[part]).astype(np.int32)
                means = np.empty(len(part))
                rows = dev.rows(distinct[first:last])
                average_pairs(0, len(part), users[part], places, *lists, rows, means)
                found[part] = means

        each_block(average, len(distinct), ITEMS_AT_ONCE)
        return found

    def rows(self, users: Codes) -> Floats:
        dev = self.model.dev
        dev = dev.matrix if isinstance(dev, Deviations) else dev
        estimates = np.zeros((len(users), self.trainset.n_items))
        lists = self.trainset.by_user[:2]
        steps = estimates.size * self.trainset.n_ratings / self.trainset.n_users / LANES
        blocks = (users, *lists, dev, estimates)
        in_blocks(average_rows, len(users), steps, *blocks)
        estimates += self.means[users][:, None]
        estimates[users < 0] = self.model.default_prediction()
        return estimates


class SlopeOne(Accelerator):
    """Accelerates `surprise.SlopeOne`, which casts ratings to integers; see `fit`."""

    surprise_class = surprise.SlopeOne
    scorer = SlopeOneScorer

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        by_user = truncated(trainset.by_user) if as_surprise else trainset.by_user
        # Raters in the order of users for both items of a pair, so that the deviations of i from j
        # and of j from i are exact opposites.
        offsets, raters, places = trainset.item_order
        by_item = Lists(offsets, raters, by_user.ratings[places])
        n_items = trainset.n_items
        if n_items > SLOPE_ONE_DENSE:
            model.dev = Deviations(by_item, by_user, counted=False)
            model.freq = Deviations(by_item, by_user, counted=True)
        else:
            model.dev, model.freq = np.empty((n_items, n_items)), np.empty((n_items,) * 2, np.intp)
            fill(by_item, by_user, model.dev, model.freq, progress)
        model.user_mean = list(mean_of_each(trainset.by_user))


class Deviations(LazyMatrix):
    """Mean deviations of items from each other, or how many users rated both.

    Parameters
    ----------
    by_item, by_user : Lists
        The ratings, raters of an item in the order of users.
    counted : bool
        Whether it is the numbers of users.
    """

    def __init__(self, by_item: Lists, by_user: Lists, *, counted: bool) -> None:
        self._lists = by_item, by_user
        self._counted = counted
        self.shape = (len(by_item.offsets) - 1,) * 2

    def rows(self, xs: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
        by_item, by_user = self._lists
        n = self.shape[1]
        dev, freq = np.empty((len(xs), n)), np.empty((len(xs) * self._counted, n), np.intp)
        items = xs.astype(np.int64)
        deviate(0, len(items), items, *by_item, *by_user, dev, freq)
        return freq if self._counted else dev

    @cached_property
    def matrix(self) -> Floats:
        """The mean deviations of all items, for whole catalogues."""
        dev = np.empty(self.shape)
        fill(*self._lists, dev, np.empty((0, self.shape[1]), np.intp), lambda *_: None)
        return dev

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "matrix"}


def fill(by_item: Lists, by_user: Lists, dev: Floats, freq: Offsets, progress: Progress) -> None:
    """Fill the matrices; `freq` may have no rows."""
    n_items = len(dev)
    columns = (np.arange(n_items), *by_item, *by_user, dev, freq)
    steps = float(np.sum(np.diff(by_user.offsets) ** 2))
    for start in range(0, n_items, ROWS_BETWEEN_REPORTS):
        stop = min(start + ROWS_BETWEEN_REPORTS, n_items)
        share = steps * (stop - start) / n_items
        in_blocks(deviate, stop, share, *columns, start=start)
        progress(stop, n_items)


@kernel
def deviate(
    first: int,
    last: int,
    items: Offsets,
    item_offsets: Offsets,
    raters: Codes,
    item_ratings: Floats,
    user_offsets: Offsets,
    user_items: Codes,
    user_ratings: Floats,
    dev: Floats,
    freq: Offsets,
) -> None:
    """Fill the rows of `dev` and `freq` of some items, from place `first` up to `last`.

    For each rater of an item, the deviations from all that the rater rated are added to the sums
    of those other items, and counted; the mean deviation is NaN if no user rated both.
    """
    n_items = len(item_offsets) - 1
    sums = np.empty((n_items, 2))
    for place in range(first, last):
        item = items[place]
        for other in range(n_items):
            sums[other, 0] = 0.0
            sums[other, 1] = 0.0
        for row in range(item_offsets[item], item_offsets[item + 1]):
            user = raters[row]
            rating = item_ratings[row]
            for other in range(user_offsets[user], user_offsets[user + 1]):
                shared = np.uint32(user_items[other])
                sums[shared, 0] += rating - user_ratings[other]
                sums[shared, 1] += 1.0
        for other in range(n_items):
            total, count = sums[other, 0], sums[other, 1]
            dev[place, other] = total / count if count > 0.0 else np.nan
        if len(freq):
            for other in range(n_items):
                freq[place, other] = np.int64(sums[other, 1])
        dev[place, item] = 0.0


@kernel
def average_rows(
    first: int,
    last: int,
    users: Codes,
    offsets: Offsets,
    rated: Codes,
    dev: Floats,
    deviations: Floats,
) -> None:
    """Write the mean deviation of every item from those each user rated; 0 where there is none.

    The deviations of all items from one that the user rated stand in one row, so rows are added.
    """
    n_items = len(dev)
    sums = np.empty(n_items)
    counts = np.empty(n_items)
    for place in range(first, last):
        user = users[place]
        if user < 0:
            continue
        for item in range(n_items):
            sums[item] = 0.0
            counts[item] = 0.0
        for row in range(offsets[user], offsets[user + 1]):
            to_all = dev[rated[row]]
            for item in range(n_items):
                deviation = to_all[item]
                common = deviation == deviation
                sums[item] -= deviation if common else 0.0
                counts[item] += 1.0 if common else 0.0
        for item in range(n_items):
            deviations[place, item] = sums[item] / counts[item] if counts[item] > 0.0 else 0.0


@kernel
def average_pairs(
    first: int,
    last: int,
    users: Codes,
    items: Codes,
    offsets: Offsets,
    rated: Codes,
    dev: Floats,
    deviations: Floats,
) -> None:
    """Write the mean deviation of each pair's item from those its user rated; 0 for none."""
    for pair in range(first, last):
        user = users[pair]
        of_item = dev[items[pair]]
        total = 0.0
        count = 0
        for row in range(offsets[user], offsets[user + 1]):
            deviation = of_item[rated[row]]
            if deviation == deviation:
                total += deviation
                count += 1
        deviations[pair] = total / count if count else 0.0
