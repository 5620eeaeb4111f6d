"""SlopeOne: mean deviations between items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness._util.kernels import LANES, kernel, rows_of_owners
from harness.algorithms import surprise
from harness.algorithms.base import (
    DOUBLE,
    MEAN,
    Algorithm,
    Counts,
    Estimates,
    FitOptions,
    Size,
    Work,
)
from harness.algorithms.compiled.matrix import (
    CATALOGUE_BLOCK,
    LazyMatrix,
    each_row,
    fits_densely,
    in_blocks,
    rows_of,
)
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists, Offsets

DENSE = 4096
"""Most items for which both matrices are kept whole; with more, rows are computed on demand."""
ITEMS_AT_ONCE = 16
COLUMNS_AT_ONCE = 128  # of the matrix, where it is not held
ORDER_ROW = 12  # ids of 4 bytes and places of 8


class SlopeOne(Algorithm):
    """The user's mean plus the mean deviation of the item from what the user rated."""

    model_class = surprise.SlopeOne
    summary = "mean deviation between pairs of items"
    unknown_user = MEAN
    citation = "lemire2005slope"
    style = ("pink", "D", "-", True)
    truncates = True

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        n = size.n_items
        matrices = (2 if n <= DENSE else 1) * n**2  # the second to score catalogues
        if not fits_densely(n):
            matrices = 2 * COLUMNS_AT_ONCE * n + min(CATALOGUE_BLOCK // DOUBLE, size.n_users * n)
        return DOUBLE * matrices + (ORDER_ROW + DOUBLE) * size.n_ratings

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        n = counts.n_items
        # For each item, all that its raters rated; and the means of a row of the matrix.
        matrix = 2.0 * float(counts.of_users @ counts.of_users) + 5.0 * n * n
        scores = 20.0 * counts.n_pairs + 2.0 * float(counts.pairs_of_users @ counts.of_users)
        walked = counts.n_ratings * counts.n_lists / max(1, counts.n_users)
        scores += 1.0 * n * walked + 5.0 * n * counts.n_lists
        rows = int(np.count_nonzero(counts.pairs_of_items[counts.of_items > 0])) / max(1, n)
        scores += 1.0 * rows * n * n
        if n <= DENSE:
            return Work(matrix, scores)
        # Rows are computed when they are asked for: for pairs, and again for whole lists.
        return Work(1e3 * n, scores + matrix * (rows + (counts.n_lists > 0)))

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        by_user = trainset.by_user.truncated() if how.as_surprise else trainset.by_user
        # Raters in the order of users for both items of a pair, so that the deviations of i from j
        # and of j from i are exact opposites.
        by_item = trainset.item_order.lists(by_user.ratings)
        n = trainset.n_items
        model.freq = np.empty((0 if n > DENSE else n, n), np.intp)
        model.dev = LazyMatrix(n, fill_deviations, by_item, by_user, model.freq)
        if n > DENSE:
            model.freq = LazyMatrix(n, fill_counts, by_item, by_user, dtype=np.intp)
        else:
            model.dev = model.dev.matrix(how.progress)
        model.user_mean = list(trainset.by_user.means())

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        return {"user_mean": list(trainset.by_user.means())}

    def __init__(self, model: surprise.AlgoBase) -> None:
        super().__init__(model)
        self.means = np.array(model.user_mean, np.float64)
        self.whole: Floats | None = None if isinstance(model.dev, LazyMatrix) else model.dev
        self.block_bytes = 0 if fits_densely(self.trainset.n_items) else CATALOGUE_BLOCK

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        unknown = (users < 0) | (items < 0)
        both_known = np.flatnonzero(~unknown)
        estimates = np.zeros(len(users))
        xs, ys = users[both_known], items[both_known]

        def average(distinct: Codes, rows: Codes, places: Offsets) -> None:
            deviations = np.empty(len(places))
            dev = rows_of(self.model.dev, distinct)
            average_pairs(self.trainset.by_user, xs[places], rows, dev, deviations)
            estimates[both_known[places]] = self.means[xs[places]] + deviations

        each_row(ys, ITEMS_AT_ONCE, ITEMS_AT_ONCE, average)
        return estimates, unknown

    def rows(self, users: Codes) -> Estimates:
        estimates = np.zeros((len(users), self.trainset.n_items))
        steps = len(users) * self.trainset.n_ratings / self.trainset.n_users / LANES
        for first, places, dev in self.deviations(users):
            arguments = (self.trainset.by_user, users, places, dev, first, estimates)
            in_blocks(average_rows, len(users), steps * dev.shape[1], *arguments)
        estimates += self.means[users][:, None]
        return estimates, users[:, None] < 0

    def deviations(self, users: Codes) -> Iterator[tuple[int, Codes, Floats]]:
        """Yield parts of the matrix: the first column, the row of each item, and the part.

        The part is the whole, the rows of what a few users rated, or some columns after the other.
        """
        n, dev, places = self.trainset.n_items, self.model.dev, self.items
        if self.whole is None and fits_densely(n):
            self.whole = dev.matrix()
        if self.whole is not None:
            yield 0, places, self.whole
            return
        offsets, ids, _ = self.trainset.by_user
        rated = np.unique(ids[rows_of_owners(offsets, users)[1]])
        if len(rated) * n * DOUBLE <= CATALOGUE_BLOCK // 4:
            places[rated] = np.arange(len(rated))
            yield 0, places, dev.block(rated)
            return
        for first in range(0, n, COLUMNS_AT_ONCE):
            rows = dev.block(np.arange(first, min(first + COLUMNS_AT_ONCE, n)))
            yield first, places, np.negative(rows.T, order="C")


def fill_deviations(
    items: Offsets, dev: Floats, by_item: GroupedLists, by_user: GroupedLists, freq: Offsets
) -> None:
    """Write rows of mean deviations, and into `freq`, unless it has none, rows of counts."""
    deviate(items, by_item, by_user, dev, freq[items[0] : items[-1] + 1])


def fill_counts(
    items: Offsets, freq: Offsets, by_item: GroupedLists, by_user: GroupedLists
) -> None:
    """Write rows of how many users rated both items."""
    deviate(items, by_item, by_user, np.empty(freq.shape), freq)


# For each rater of an item, the deviations from all that the rater rated are added to the sums of
# those other items, and counted: one item's row of both matrices at a time, so that rows are
# independent. The mean deviation is NaN if no user rated both.
@kernel
def deviate(
    items: Offsets, by_item: GroupedLists, by_user: GroupedLists, dev: Floats, freq: Offsets
) -> None:
    """Fill the rows of `dev` and `freq` of some items; `freq` may have no rows."""
    item_offsets, raters, item_ratings = by_item
    user_offsets, user_items, user_ratings = by_user
    n_items = len(item_offsets) - 1
    sums = np.empty((n_items, 2))  # as an argument, which may overlap others, half as fast
    for place in range(len(items)):
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
            mean = total / count if count > 0.0 else np.nan
            # Surprise has the other sign of the opposite, whose 0 is positive.
            dev[place, other] = -0.0 if mean == 0.0 and other < item else mean
        if len(freq):
            for other in range(n_items):
                freq[place, other] = np.int64(sums[other, 1])
        dev[place, item] = 0.0


# The deviations of all items from one that the user rated stand, with the other sign, in one row
# of the matrix. So an estimate of all items adds up the rows of what the user rated.
@kernel
def average_rows(
    first: int,
    last: int,
    by_user: GroupedLists,
    users: Codes,
    places: Codes,
    dev: Floats,
    column: int,
    deviations: Floats,
) -> None:
    """Write the mean deviation of the items from `column` on from those each user rated, or 0.

    `dev` has these columns of the matrix; `places` is each item's row in it.
    """
    offsets, rated, _ = by_user
    n_items = dev.shape[1]
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
            to_all = dev[places[rated[row]]]
            for item in range(n_items):
                deviation = to_all[item]
                common = deviation == deviation
                sums[item] -= deviation if common else 0.0
                counts[item] += 1.0 if common else 0.0
        for item in range(n_items):
            mean = sums[item] / counts[item] if counts[item] > 0.0 else 0.0
            deviations[place, column + item] = mean


@kernel
def average_pairs(
    by_user: GroupedLists, users: Codes, rows: Codes, dev: Floats, deviations: Floats
) -> None:
    """Write the mean deviation of each pair's item from those its user rated; 0 for none."""
    offsets, rated, _ = by_user
    for pair in range(len(users)):
        user = users[pair]
        of_item = dev[rows[pair]]
        total = 0.0
        count = 0
        for row in range(offsets[user], offsets[user + 1]):
            deviation = of_item[rated[row]]
            if deviation == deviation:
                total += deviation
                count += 1
        deviations[pair] = total / count if count else 0.0
