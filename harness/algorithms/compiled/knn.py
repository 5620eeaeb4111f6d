"""The four k-nearest-neighbour algorithms, and the similarities that they rest on.

An estimate rests on a weighted mean over the k most similar x that rated y (x the users and y the
items, or the other way round); every sum is Surprise's to the last bit.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from harness.algorithms import parameters, surprise
from harness.algorithms.base import (
    DOUBLE,
    MEAN,
    MEAN_AND_BIAS,
    Algorithm,
    Estimates,
    FitOptions,
    NeedsSurprise,
    Size,
)
from harness.algorithms.compiled import baseline_only
from harness.algorithms.compiled.matrix import (
    CATALOGUE_BLOCK,
    LazyMatrix,
    each_row,
    fits_densely,
    rows_of,
)
from harness.algorithms.parameters import Params
from harness.algorithms.registry import BLOCK
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, Lists, Offsets, Order
from harness.kernels import each_block, kernel, rows_of_owners
from harness.sections import SearchSpace, log_range

COSINE, MSD, PEARSON, PEARSON_BASELINE = range(4)  # as in parameters.SIMILARITIES
MEANS_A_THREAD = 8  # of rows of means over neighbours, the fewest
SIMILARITIES_AT_ONCE = 1 << 20  # that a thread holds, in up to 64 rows
X_A_PART = 1 << 14  # of a row of similarities, whose sums are kept at a time
MOST_EIGHTHS, MOST_PACKED, LARGEST_SUM = 255, 1 << 24, 1 << 32  # in 8, 24 and 32 bits
ONE = np.uint64(1 << 32)  # a count of 1, in the upper half
HALF = np.uint64(32)
Packed = npt.NDArray[np.unsignedinteger]
SPACE: SearchSpace = {
    "k": log_range(5, 200),
    "min_k": log_range(1, 100),
    "sim_options.name": ["msd", "cosine", "pearson", "pearson_baseline"],
    "sim_options.user_based": [True, False],
    "sim_options.min_support": log_range(1, 100),
    "sim_options.shrinkage": log_range(1.0, 500.0),
}


class KNNBasic(Algorithm):
    """The mean over the neighbours itself, and what the four algorithms have in common."""

    model_class = surprise.KNNBasic
    summary = "mean of the neighbours' ratings, weighted by similarity"
    unknown_user = MEAN
    style = ("orange", "^", "-", True)
    space = SPACE
    fit_methods = ("fit", "compute_similarities", "compute_baselines", "switch")
    score_methods = ("predict", "estimate", "default_prediction", "switch")
    too_few: ClassVar[float] = np.nan
    """The mean over too few neighbours; NaN where the estimate is impossible."""
    unknown: ClassVar[float] = np.nan
    """The same for an unknown user or item."""

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        options = {**parameters.SIM_OPTIONS, **params.get("sim_options", {})}
        n = size.n_users if options["user_based"] else size.n_items
        rows = (256 + n * fits_densely(n)) * n * DOUBLE  # under way, and kept
        if not (options["user_based"] or fits_densely(n)):  # means, and the same by user
            rows += 2 * min(CATALOGUE_BLOCK, size.n_users * n * DOUBLE)
        # Means beside the estimates; an order, ratings made of others, and what is collected of
        # equally similar neighbours.
        return rows + BLOCK // 2 + (12 + 6 * DOUBLE) * size.n_ratings

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        return super().accepts(model, trainset) and not trainset.has_repeats

    @classmethod
    def may_score(cls, model: surprise.AlgoBase) -> bool:
        if not (
            parameters.is_ordinary("k", model.k) and parameters.is_ordinary("min_k", model.min_k)
        ):
            return False
        # Without a least number of neighbours KNNBasic may divide by 0, which Surprise reports.
        return (model.min_k >= 1 or cls.too_few == 0.0) and super().may_score(model)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        model.n_x, model.n_y = model.switch(trainset.n_users, trainset.n_items)
        model.xr, model.yr = model.switch(trainset.ur, trainset.ir)
        cls.describe(model, trainset, model.switch(trainset.by_user, trainset.by_item)[0])
        similarities = similarities_of(model, trainset)
        dense = fits_densely(len(similarities))
        model.sim = similarities.matrix(how.progress) if dense else similarities

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        if model.sim_options["user_based"]:
            return super().fold_in(model, trainset)
        return {"n_y": trainset.n_users, "yr": trainset.ur}

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        """Set what the estimates centre on."""

    def __init__(self, model: surprise.AlgoBase) -> None:
        super().__init__(model)
        self.user_based = bool(model.sim_options["user_based"])
        y_lists, order = _sides(model, self.trainset)
        self.y_lists = y_lists._replace(ratings=self.centred(y_lists))
        self.x_lists = order.lists(self.y_lists.ratings)
        if not self.user_based and isinstance(model.sim, LazyMatrix):
            self.block_bytes = CATALOGUE_BLOCK
        self.spreads = self.spread_of_x()
        if not self.spreads.all():
            raise NeedsSurprise  # all ratings are the same: Surprise divides by 0 and goes on
        self.rows_at_once = max(1, min(64, SIMILARITIES_AT_ONCE // len(order.offsets)))
        n_most = int(np.diff(y_lists.offsets).max(initial=0))
        limits = min(max(int(model.k), 0), n_most), max(int(model.min_k), 1)
        self.options = (self.spreads, *limits, self.too_few)

    def centred(self, y_lists: Lists) -> Floats:
        """Return what is averaged, for each rating in the lists of y."""
        return y_lists.ratings

    def spread_of_x(self) -> Floats:
        """Return what the values of each x are divided by; empty for nothing."""
        return np.empty(0)

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        """Turn means over neighbours into estimates; users and items broadcast against them."""
        return means

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        known = np.flatnonzero((users >= 0) & (items >= 0))
        xs, ys = self.model.switch(users[known], items[known])
        means = np.full(len(users), self.unknown)
        k = self.options[1]

        def average(distinct: Codes, rows: Codes, places: Offsets) -> None:
            found = np.empty(len(places))
            scratch = np.empty(k + 1), np.empty(k + 1, np.int64)
            similarities = self.similarities(distinct)
            average_pairs(
                rows, ys[places], similarities, self.y_lists, *self.options, found, *scratch
            )
            means[known[places]] = found

        each_row(xs, self.rows_at_once, MEANS_A_THREAD, average)
        estimates = self.complete(means, users, items)
        return estimates, np.isnan(estimates)

    def rows(self, users: Codes) -> Estimates:
        known = users >= 0
        if self.user_based:
            found = self.average_all(users[known], self.x_lists, self.y_lists)
        else:
            found = self.average_all(self.items, *self.only(users[known])).T
        means = np.full((len(users), self.trainset.n_items), self.unknown)
        means[known] = found
        del found
        estimates = self.complete(means, users[:, None], self.items)
        return estimates, np.isnan(estimates)

    def similarities(self, xs: Codes) -> Floats:
        """Return similarity rows that have an order."""
        rows = rows_of(self.model.sim, xs)
        if np.isnan(rows).any():
            raise NeedsSurprise  # what nlargest does with NaN follows from its heap alone
        return rows

    def only(self, ys: Codes) -> tuple[Lists, Lists]:
        """Return the lists of all x restricted to some y, and of those y, numbered from 0."""
        offsets, xs, values = self.y_lists
        owners, rows = rows_of_owners(offsets, ys)
        starts = np.searchsorted(owners, np.arange(len(ys) + 1))
        y_lists = Lists(starts, xs[rows], values[rows])
        order = Order.of(starts, y_lists.ids, len(self.x_lists.offsets) - 1)
        return order.lists(y_lists.ratings), y_lists

    def average_all(self, xs: Codes, x_lists: Lists, y_lists: Lists) -> Floats:
        """Return the mean over the neighbours of each x for every y, shape (len(xs), n_y)."""
        means = np.empty((len(xs), len(y_lists.offsets) - 1))

        def average(start: int, stop: int) -> None:
            for first in range(start, stop, self.rows_at_once):
                last = min(first + self.rows_at_once, stop)
                similarities = self.similarities(xs[first:last])
                order = np.argsort(-similarities, axis=1)
                average_catalogue(
                    similarities, order, x_lists, y_lists, *self.options, means[first:last]
                )

        each_block(average, len(xs), MEANS_A_THREAD)
        return means


class KNNWithMeans(KNNBasic):
    """The mean of x plus its neighbours' deviations from theirs."""

    model_class = surprise.KNNWithMeans
    summary = "KNNBasic on ratings less each neighbour's mean"
    style = ("orange", "v", "--", False)
    too_few = 0.0

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        model.means = x_lists.means()

    def centred(self, y_lists: Lists) -> Floats:
        centred: Floats = y_lists.ratings - self.model.means[y_lists.ids]
        return centred

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means += self.model.means[self.model.switch(users, items)[0]]
        return means


class KNNWithZScore(KNNWithMeans):
    """The same with deviations in units of each x's own spread."""

    model_class = surprise.KNNWithZScore
    summary = "KNNBasic on ratings standardised by each neighbour"
    style = ("red", "<", "--", False)

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        model.means = x_lists.means()
        squares = (x_lists.ratings - np.repeat(model.means, np.diff(x_lists.offsets))) ** 2
        sigmas = np.sqrt(x_lists._replace(ratings=squares).means())
        model.overall_sigma = np.std(trainset.by_user.ratings)
        model.sigmas = np.where(sigmas == 0.0, model.overall_sigma, sigmas)

    def spread_of_x(self) -> Floats:
        spreads: Floats = self.model.sigmas
        return spreads

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means *= self.model.sigmas[self.model.switch(users, items)[0]]
        return super().complete(means, users, items)


class KNNBaseline(KNNBasic):
    """The baseline estimate plus the neighbours' deviations from theirs."""

    model_class = surprise.KNNBaseline
    summary = "KNNBasic on ratings less a baseline estimate"
    unknown_user = MEAN_AND_BIAS
    citation = "koren2010factor"
    style = ("red", ">", "-", True)
    space = SPACE | baseline_only.SPACE
    too_few = unknown = 0.0

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        model.bu, model.bi = baseline_only.fit_baselines(model.bsl_options, trainset)
        model.bx, model.by = model.switch(model.bu, model.bi)

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        found = super().fold_in(model, trainset)
        bu = baseline_only.fold_in_biases(model.bsl_options, model.bi, trainset)
        return found | {"bu": bu, "by": bu}

    def centred(self, y_lists: Lists) -> Floats:
        by = np.repeat(self.model.by, np.diff(y_lists.offsets))
        baselines = self.trainset.global_mean + self.model.bx[y_lists.ids] + by
        centred: Floats = y_lists.ratings - baselines
        return centred

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means += self.baselines(users, items)
        return means


def similarities_of(model: surprise.AlgoBase, trainset: ColumnTrainset) -> LazyMatrix:
    """Return what ``compute_similarities`` would.

    It sets the model's biases, if the measure needs them and there are none yet.
    """
    given = {**parameters.SIM_OPTIONS, **model.sim_options}
    measure = parameters.SIMILARITIES.index(given["name"].lower())
    min_support, shrinkage = int(given["min_support"]), 0.0
    y_lists, order = _sides(model, trainset)
    if measure == PEARSON_BASELINE:
        min_support, shrinkage = max(2, min_support), float(given["shrinkage"])
        if model.bu is None:
            model.bu, model.bi = baseline_only.fit_baselines(model.bsl_options, trainset)
        bx, by = model.switch(model.bu, model.bi)
        y_baselines = np.repeat(trainset.global_mean + by, np.diff(y_lists.offsets))
        y_lists = y_lists._replace(ratings=y_lists.ratings - (y_baselines + bx[y_lists.ids]))
    n_x, n_y = len(order.offsets) - 1, len(y_lists.offsets) - 1
    x_lists = order.lists(y_lists.ratings)
    raters = Order.of(order.offsets, order.ids, n_y)
    starts = _starts_of_parts(raters, n_x)
    codes = _eighths(x_lists.ratings) if measure == MSD and n_x <= MOST_PACKED else None
    if codes is not None and (n_codes := int(codes.max(initial=0)) + 1) ** 2 * n_y < LARGEST_SUM:
        packed = raters.ids.astype(np.uint32) << 8 | codes[raters.places]
        squares = np.square(np.arange(n_codes, dtype=np.uint64))
        lists = order.offsets, order.ids, codes, packed, starts
        return LazyMatrix(n_x, fill_msd, *lists, squares, min_support)
    options = (x_lists, raters.lists(x_lists.ratings), starts, measure, min_support, shrinkage)
    return LazyMatrix(n_x, fill_similarities, *options)


def _starts_of_parts(raters: Order, n_x: int) -> Offsets:
    """Return where each part of the x begins in the list of each y, and where the last ends."""
    edges = np.arange(0, n_x, X_A_PART)[1:]
    offsets, ids, _ = raters
    starts = np.empty((len(offsets) - 1, len(edges) + 2), np.int64)
    starts[:, 0], starts[:, -1] = offsets[:-1], offsets[1:]
    for place in starts if len(edges) else ():
        place[1:-1] = place[0] + np.searchsorted(ids[place[0] : place[-1]], edges)
    return starts


def _eighths(ratings: Floats) -> Packed | None:
    """Return ratings as eighths above the lowest, if all are that and one byte holds them."""
    eighths = 8 * ratings
    codes = eighths - eighths.min(initial=np.inf)
    if (codes > MOST_EIGHTHS).any() or (eighths != np.rint(eighths)).any():
        return None
    packed: Packed = codes.astype(np.uint8)
    return packed


def fill_msd(xs: Offsets, rows: Floats, *arguments: Any) -> None:
    """Write rows of similarities by mean squared differences of ratings in eighths."""
    fill_rows_of_msd(xs, rows, np.empty(min(rows.shape[1], X_A_PART), np.uint64), *arguments)


def fill_similarities(xs: Offsets, rows: Floats, *arguments: Any) -> None:
    """Write rows of similarities by any measure, of any ratings."""
    fill_rows(xs, rows, np.empty((min(rows.shape[1], X_A_PART), 6)), *arguments)


def _sides(model: surprise.AlgoBase, trainset: ColumnTrainset) -> tuple[Lists, Order]:
    """Return the lists of y, and the order of each x's ratings in them."""
    if model.sim_options["user_based"]:
        return trainset.by_item, trainset.user_order
    return trainset.by_user, trainset.item_order


# For each y that x rated, all raters of y get their pair of ratings counted and added to the sums
# of which the measure is made. This is the order in which Surprise adds, but one row at a time, so
# that rows are independent, and one part of the row at a time, so that its sums are cached. No x
# rates a y twice here.
@kernel
def fill_rows(
    xs: Offsets,
    rows: Floats,
    sums: Floats,
    x_lists: Lists,
    y_lists: Lists,
    starts: Offsets,
    measure: int,
    min_support: int,
    shrinkage: float,
) -> None:
    """Write the similarities of each x to all."""
    x_offsets, x_ys, x_values = x_lists
    _, y_xs, y_values = y_lists
    for place in range(len(xs)):
        x = xs[place]
        for part in range(starts.shape[1] - 1):
            first = np.uint32(part * len(sums))
            row = rows[place, first : first + len(sums)]
            sums[:] = 0.0
            for p in range(x_offsets[x], x_offsets[x + 1]):
                y = x_ys[p]
                a = x_values[p]
                start, stop = starts[y, part], starts[y, part + 1]
                for q in range(start, stop if measure == MSD else start):
                    x2 = np.uint32(y_xs[q]) - first
                    sums[x2, 0] += 1.0
                    sums[x2, 1] += (a - y_values[q]) ** 2
                for q in range(start, start if measure == MSD else stop):
                    x2, b = np.uint32(y_xs[q]) - first, y_values[q]
                    sums[x2, 0] += 1.0
                    sums[x2, 1] += a * b
                    sums[x2, 2] += a * a
                    sums[x2, 3] += b * b
                    if measure == PEARSON:
                        sums[x2, 4] += a
                        sums[x2, 5] += b
            for other in range(len(row)):
                n, products, squares, squares2, total, total2 = sums[other]
                if first + other == x:
                    row[other] = 1.0
                elif n < min_support:
                    row[other] = 0.0
                elif measure == MSD:
                    row[other] = 1 / (products / n + 1)
                elif measure == PEARSON:
                    spread = np.sqrt((n * squares - total**2) * (n * squares2 - total2**2))
                    row[other] = 0.0 if spread == 0.0 else (n * products - total * total2) / spread
                else:
                    row[other] = products / np.sqrt(squares * squares2)
                    if measure == PEARSON_BASELINE:
                        row[other] *= (n - 1) / (n - 1 + shrinkage)


# Mean squared differences, the default, of ratings that are eighths: whole numbers in any order
# have the sum that Surprise's floating-point numbers have, which are exact here. One integer holds
# the count in its upper half and the sum in its lower, and another an x and its rating.
@kernel
def fill_rows_of_msd(
    xs: Offsets,
    rows: Floats,
    sums: Packed,
    x_offsets: Offsets,
    x_ys: Codes,
    x_codes: Packed,
    raters: Packed,
    starts: Offsets,
    squares: Packed,
    min_support: int,
) -> None:
    """Write the mean squared difference similarities of each x to all."""
    n_codes = len(squares)
    added = np.empty(n_codes, np.uint64)
    for place in range(len(xs)):
        x = xs[place]
        for part in range(starts.shape[1] - 1):
            first = np.uint32(part * len(sums))
            row = rows[place, first : first + len(sums)]
            sums[:] = 0
            for p in range(x_offsets[x], x_offsets[x + 1]):
                y = x_ys[p]
                for code in range(n_codes):
                    added[code] = squares[abs(code - np.int64(x_codes[p]))] | ONE
                for q in range(starts[y, part], starts[y, part + 1]):
                    sums[(raters[q] >> np.uint32(8)) - first] += added[raters[q] & np.uint32(255)]
            for other in range(len(row)):
                n = float(sums[other] >> HALF)
                of_squares = np.uint32(sums[other]) / 64.0
                row[other] = 1 / (of_squares / n + 1) if n >= min_support else 0.0
        rows[place, x] = 1.0


@kernel
def admit(y: np.uint32, weight: float, k: int, counts: Codes, sums: Floats) -> float:
    """Count a neighbour of y and return its weight, 0 if y is full.

    To add 0 is faster than a branch that the processor cannot foresee.
    """
    count = counts[y]
    weight = weight if count < k else 0.0
    counts[y] = count + (count < k)
    sums[y, 0] += weight
    return weight


# For a whole catalogue, the neighbours of x are walked in descending similarity, and each adds its
# ratings to the y that hold fewer than k. Where neighbours are equally similar, Surprise's
# ``heapq.nlargest`` prefers the one that comes first in the list of y, and sums are made in that
# order; so the ratings of such a group are brought into the order of the lists before they are
# added. Neighbours by themselves, or without a positive similarity, are in group 0.
@kernel
def average_catalogue(
    similarities: Floats,
    orders: Offsets,
    x_lists: Lists,
    y_lists: Lists,
    spreads: Floats,
    k: int,
    least: int,
    missing: float,
    means: Floats,
) -> None:
    """Average over the k nearest neighbours, for each row of similarities and every y.

    `orders` holds places from the highest similarity; fewer than `least` give `missing`.
    """
    x_offsets, x_ys, x_values = x_lists
    y_offsets, y_xs, y_values = y_lists
    n_x = similarities.shape[1]
    n_y = means.shape[1]
    counts = np.zeros(n_y, np.int32)
    sums = np.zeros((n_y, 2))  # weights, weighted values
    group_of = np.zeros(n_x, np.uint32)
    steps = np.ones(n_x + 1, np.uint32)
    steps[0] = 0  # what is collected of group 0 goes to place 0, which is never read
    heads = np.zeros(n_x + 1, np.uint32)
    divide = len(spreads) > 0
    tied = np.empty(len(y_xs) + 1, np.uint64)  # y in the upper half, the row in the lower
    for place in range(len(similarities)):
        similarity = similarities[place]
        order = orders[place]
        counts[:] = 0
        sums[:] = 0.0
        # Number the groups of equal similarity and make room for their ratings.
        n_positive = 0
        n_groups = 0
        n_tied = 1
        while n_positive < n_x and similarity[order[n_positive]] > 0.0:
            first = n_positive
            highest = similarity[order[first]]
            n_positive += 1
            while n_positive < n_x and similarity[order[n_positive]] == highest:
                n_positive += 1
            if n_positive - first > 1:
                n_groups += 1
                heads[n_groups] = n_tied
                for member in order[first:n_positive]:
                    group_of[member] = n_groups
                    n_tied += x_offsets[member + 1] - x_offsets[member]
        # Collect the ratings of each group in the order of the lists.
        if n_groups:
            for y in range(n_y):
                upper = np.uint64(y) << HALF
                for row in range(y_offsets[y], y_offsets[y + 1]):
                    group = group_of[np.uint32(y_xs[row])]
                    head = heads[group]
                    tied[head] = upper | np.uint64(row)
                    heads[group] = head + steps[group]
        # Walk the neighbours.
        nearest = 0
        start = np.uint32(1)
        while nearest < n_positive:
            member = order[nearest]
            weight = similarity[member]
            group = group_of[member]
            nearest += 1
            if group == 0:
                for row in range(x_offsets[member], x_offsets[member + 1]):
                    own = np.uint32(x_ys[row])
                    value = admit(own, weight, k, counts, sums) * x_values[row]
                    sums[own, 1] += value / spreads[member] if divide else value
                continue
            for t in range(start, heads[group]):
                shared, source = np.uint32(tied[t] >> HALF), np.uint32(tied[t])
                value = admit(shared, weight, k, counts, sums) * y_values[source]
                sums[shared, 1] += value / spreads[y_xs[source]] if divide else value
            start = heads[group]
            group_of[member] = 0
            while nearest < n_positive and group_of[order[nearest]] == group:
                group_of[order[nearest]] = 0
                nearest += 1
        for y in range(n_y):
            means[place, y] = sums[y, 1] / sums[y, 0] if counts[y] >= least else missing


# For single pairs, the raters of y are gone through in the order of the list, and the nearest so
# far kept sorted by insertion: behind equal ones, as ``heapq.nlargest`` has them. What they are
# compared with is one number, which the processor foresees better than two conditions.
@kernel
def average_pairs(
    rows: Codes,
    ys: Codes,
    similarities: Floats,
    y_lists: Lists,
    spreads: Floats,
    k: int,
    least: int,
    missing: float,
    means: Floats,
    weights: Floats,
    nearest: Offsets,
) -> None:
    """Average over the k nearest neighbours, for each pair of a row of similarities and a y.

    `weights` and `nearest`, of shape (k + 1,), are overwritten; the rest is as above.
    """
    y_offsets, y_xs, y_values = y_lists
    divide = len(spreads) > 0
    for pair in range(len(rows)):
        similarity = similarities[rows[pair]]
        y = ys[pair]
        n = 0
        lowest = 0.0 if k > 0 else np.inf
        for row in range(y_offsets[y], y_offsets[y + 1]):
            weight = similarity[np.uint32(y_xs[row])]
            if not weight > lowest:
                continue
            place = n
            while place > 0 and weights[place - 1] < weight:
                weights[place] = weights[place - 1]
                nearest[place] = nearest[place - 1]
                place -= 1
            weights[place] = weight
            nearest[place] = row
            n += n < k
            if n == k:
                lowest = weights[k - 1]
        total = 0.0
        weighted = 0.0
        for place in range(n):
            row = nearest[place]
            total += weights[place]
            value = weights[place] * y_values[row]
            weighted += value / spreads[y_xs[row]] if divide else value
        means[pair] = weighted / total if n >= least else missing
