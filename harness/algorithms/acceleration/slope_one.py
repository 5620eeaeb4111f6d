"""SlopeOne: mean deviations between items."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.algorithms.acceleration.accelerator import (
    Accelerator,
    Bools,
    Codes,
    Floats,
    Offsets,
    Progress,
    Scorer,
)
from harness.algorithms.acceleration.loops import in_blocks
from harness.algorithms.columns import Lists, mean_of_each, truncated
from harness.algorithms.quiet_surprise import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.kernels import kernel

__all__ = ["SlopeOne"]

ROWS_BETWEEN_REPORTS = 1024
LANES = 8  # doubles that a vector instruction adds at once


class SlopeOneScorer(Scorer):
    """The user's mean plus the mean deviation of the item from what the user rated."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.means = np.array(model.user_mean, np.float64)

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        known = (users >= 0) & (items >= 0)
        asked_users, asked_items = users[known], items[known]
        deviations = np.empty(len(asked_users))
        lists = self.trainset.by_user[:2]
        pairs = (asked_users, asked_items, *lists, self.model.dev, deviations)
        steps = len(deviations) * self.trainset.n_ratings / self.trainset.n_users
        in_blocks(average_pairs, len(deviations), steps, *pairs)
        estimates = np.full(len(users), float(self.model.default_prediction()))
        estimates[known] = self.means[asked_users] + deviations
        return estimates, ~known

    def rows(self, users: Codes) -> Floats:
        estimates = np.zeros((len(users), self.trainset.n_items))
        lists = self.trainset.by_user[:2]
        steps = estimates.size * self.trainset.n_ratings / self.trainset.n_users / LANES
        blocks = (users, *lists, self.model.dev, estimates)
        n_items = self.trainset.n_items
        in_blocks(average_rows, len(users), steps, *blocks, scratch=(n_items, n_items))
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
        model.freq = np.empty((n_items, n_items), np.intp)
        model.dev = np.empty((n_items, n_items))
        columns = (*by_item, *by_user, model.dev, model.freq)
        steps = float(np.sum(np.diff(by_user.offsets) ** 2))
        for start in range(0, n_items, ROWS_BETWEEN_REPORTS):
            stop = min(start + ROWS_BETWEEN_REPORTS, n_items)
            share = steps * (stop - start) / n_items
            in_blocks(deviate, stop, share, *columns, start=start, scratch=((n_items, 2),))
            progress(stop, n_items)
        model.user_mean = list(mean_of_each(trainset.by_user))


@kernel
def deviate(
    first: int,
    last: int,
    item_offsets: Offsets,
    raters: Codes,
    item_ratings: Floats,
    user_offsets: Offsets,
    user_items: Codes,
    user_ratings: Floats,
    dev: Floats,
    freq: Offsets,
    sums: Floats,
) -> None:
    """Fill the rows of `dev` and `freq` of the items from `first` up to `last`.

    For each rater of an item, the deviations from all that the rater rated are added to the sums
    of those other items, and counted; the mean deviation is NaN where nobody rated both.
    """
    n_items = len(item_offsets) - 1
    for item in range(first, last):
        for other in range(n_items):
            sums[other, 0] = 0.0
            sums[other, 1] = 0.0
        for row in range(item_offsets[item], item_offsets[item + 1]):
            user = raters[row]
            rating = item_ratings[row]
            for other in range(user_offsets[user], user_offsets[user + 1]):
                place = np.uint32(user_items[other])
                sums[place, 0] += rating - user_ratings[other]
                sums[place, 1] += 1.0
        for other in range(n_items):
            total, count = sums[other, 0], sums[other, 1]
            freq[item, other] = np.int64(count)
            dev[item, other] = total / count if count > 0.0 else np.nan
        dev[item, item] = 0.0


@kernel
def average_rows(
    first: int,
    last: int,
    users: Codes,
    offsets: Offsets,
    rated: Codes,
    dev: Floats,
    deviations: Floats,
    sums: Floats,
    counts: Floats,
) -> None:
    """Write the mean deviation of every item from those each user rated; 0 where there is none.

    The deviations of all items from one that the user rated stand in one row, so rows are added.
    """
    n_items = len(dev)
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
