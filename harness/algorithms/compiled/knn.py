"""The four k-nearest-neighbour algorithms.

An estimate rests on a weighted mean over the k most similar x that rated y (x the users and y the
items, or the other way round); every sum is Surprise's to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from harness.algorithms.algorithm import (
    DOUBLE,
    Algorithm,
    FitOptions,
    NeedsSurprise,
    Size,
    are_integers,
)
from harness.algorithms.compiled import baseline_only
from harness.algorithms.compiled.matrix import each_row, fits_densely, rows_of
from harness.algorithms.compiled.similarities import accepts_similarities, fit_similarities
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import (
    Bools,
    Codes,
    ColumnTrainset,
    Floats,
    Lists,
    Offsets,
    Order,
)
from harness.kernels import each_block, kernel
from harness.sections import Range, SearchSpace

WORTH_A_THREAD = 8
SIMILARITIES_AT_ONCE = 1 << 20  # that a thread holds, in up to 64 rows
ESTIMATES_AT_ONCE = 1 << 26
HALF = np.uint64(32)
SPACE: SearchSpace = {
    "k": Range(low=5, high=200, log=True),
    "min_k": Range(low=1, high=10),
    "sim_options.name": ["msd", "cosine", "pearson", "pearson_baseline"],
    "sim_options.user_based": [True, False],
    "sim_options.min_support": Range(low=1, high=10),
    "sim_options.shrinkage": Range(low=1.0, high=500.0, log=True),
}


class KNNBasic(Algorithm):
    """The mean over the neighbours itself, and what the four algorithms have in common."""

    model_class = surprise.KNNBasic
    summary = "mean of the neighbours' ratings, weighted by similarity"
    style = ("orange", "^", "-", True)
    space = SPACE
    fit_methods = ("fit", "compute_similarities", "compute_baselines", "switch")
    score_methods = ("predict", "estimate", "default_prediction", "switch")
    too_few: ClassVar[float] = np.nan
    """The mean over too few neighbours; NaN where the estimate is impossible."""
    unknown: ClassVar[float] = np.nan
    """The same for an unknown user or item."""

    @classmethod
    def memory(cls, params: Mapping[str, Any], size: Size) -> int:
        options = params.get("sim_options", {})
        n = size.n_users if options.get("user_based", True) else size.n_items
        rows = (n if fits_densely(n) else 256) * n * DOUBLE
        return rows + (12 + 5 * DOUBLE) * size.n_ratings  # an order, and ratings made of others

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        return accepts_similarities(model) and not trainset.has_repeats

    @classmethod
    def may_score(cls, model: surprise.AlgoBase) -> bool:
        if not are_integers(model.k, model.min_k):
            return False
        # Without a least number of neighbours KNNBasic may divide by 0, which Surprise reports.
        return (model.min_k >= 1 or cls.too_few == 0.0) and super().may_score(model)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        user_based = bool(model.sim_options["user_based"])
        model.n_x, model.n_y = trainset.n_users, trainset.n_items
        model.xr, model.yr = trainset.ur, trainset.ir
        if not user_based:
            model.n_x, model.n_y, model.xr, model.yr = model.n_y, model.n_x, model.yr, model.xr
        cls.describe(model, trainset, trainset.by_user if user_based else trainset.by_item)
        model.sim = fit_similarities(model, trainset, how.progress)

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        """Set what the estimates centre on."""

    def __init__(self, model: surprise.AlgoBase) -> None:
        super().__init__(model)
        trainset = self.trainset
        self.user_based = bool(model.sim_options["user_based"])
        y_lists = trainset.by_item if self.user_based else trainset.by_user
        order = trainset.user_order if self.user_based else trainset.item_order
        self.y_lists = y_lists._replace(ratings=self.centred(y_lists))
        self.x_lists = order.lists(self.y_lists.ratings)
        self.spreads = self.spread_of_x()
        if not self.spreads.all():
            raise NeedsSurprise  # all ratings are the same: Surprise divides by 0 and goes on
        self.rows_at_once = max(1, min(64, SIMILARITIES_AT_ONCE // len(order.offsets)))
        n_most = int(np.diff(y_lists.offsets).max(initial=0))
        self.limits = min(max(int(model.k), 0), n_most), max(int(model.min_k), 1)

    def centred(self, y_lists: Lists) -> Floats:
        """Return what is averaged, for each rating in the lists of y."""
        return y_lists.ratings

    def spread_of_x(self) -> Floats:
        """Return what the values of each x are divided by; empty for nothing."""
        return np.empty(0)

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        """Turn means over neighbours into estimates; users and items broadcast against them."""
        return means

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        known = np.flatnonzero((users >= 0) & (items >= 0))
        xs, ys = users[known], items[known]
        if not self.user_based:
            xs, ys = ys, xs
        means = np.full(len(users), self.unknown)

        def average(distinct: Codes, rows: Codes, places: Offsets) -> None:
            found = np.empty(len(places))
            scratch = np.empty(self.limits[0] + 1), np.empty(self.limits[0] + 1, np.int64)
            similarities = self.similarities(distinct)
            options = (self.spreads, *self.limits, self.too_few)
            average_pairs(rows, ys[places], similarities, self.y_lists, *options, found, *scratch)
            means[known[places]] = found

        each_row(xs, self.rows_at_once, WORTH_A_THREAD, average)
        estimates = self.complete(means, users, items)
        return estimates, np.isnan(estimates)

    def rows(self, users: Codes) -> tuple[Floats, Bools | bool]:
        known = users >= 0
        if self.user_based:
            found = self.average_all(users[known], self.x_lists, self.y_lists)
        else:
            found = self.average_all(self.items, *self.only(users[known])).T
        means = np.full((len(users), self.trainset.n_items), self.unknown)
        means[known] = found
        estimates = self.complete(means, users[:, None], self.items)
        return estimates, np.isnan(estimates)

    def users_at_once(self) -> int:
        if self.user_based:
            return super().users_at_once()
        # Each block walks the neighbours of every item, so blocks are as large as memory allows.
        return max(16, min(1024, ESTIMATES_AT_ONCE // max(self.trainset.n_items, 1)))

    def similarities(self, xs: Codes) -> Floats:
        """Return similarity rows that have an order."""
        rows = rows_of(self.model.sim, xs)
        if np.isnan(rows).any():
            raise NeedsSurprise  # what nlargest does with NaN follows from its heap alone
        return rows

    def only(self, ys: Codes) -> tuple[Lists, Lists]:
        """Return the lists of all x restricted to some y, and of those y, numbered from 0."""
        offsets, xs, values = self.y_lists
        lengths = offsets[ys + 1] - offsets[ys]
        starts = np.zeros(len(ys) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        rows = np.repeat(offsets[ys] - starts[:-1], lengths) + np.arange(starts[-1])
        y_lists = Lists(starts, xs[rows], values[rows])
        order = Order.of(starts, y_lists.ids, len(self.x_lists.offsets) - 1)
        return order.lists(y_lists.ratings), y_lists

    def average_all(self, xs: Codes, x_lists: Lists, y_lists: Lists) -> Floats:
        """Return the mean over the neighbours of each x for every y, shape (len(xs), n_y)."""
        means = np.empty((len(xs), len(y_lists.offsets) - 1))
        options = (self.spreads, *self.limits, self.too_few)

        def average(start: int, stop: int) -> None:
            for first in range(start, stop, self.rows_at_once):
                last = min(first + self.rows_at_once, stop)
                similarities = self.similarities(xs[first:last])
                order = np.argsort(-similarities, axis=1)
                average_catalogue(
                    similarities, order, x_lists, y_lists, *options, means[first:last]
                )

        each_block(average, len(xs), WORTH_A_THREAD)
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
        means += self.model.means[users if self.user_based else items]
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
        means *= self.model.sigmas[users if self.user_based else items]
        return super().complete(means, users, items)


class KNNBaseline(KNNBasic):
    """The baseline estimate plus the neighbours' deviations from theirs."""

    model_class = surprise.KNNBaseline
    summary = "KNNBasic on ratings less a baseline estimate"
    citation = "koren2010factor"
    style = ("red", ">", "-", True)
    space = SPACE | baseline_only.SPACE
    too_few = unknown = 0.0

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        ordinary = baseline_only.accepts_baselines(model.bsl_options)
        return ordinary and super().accepts(model, trainset)

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
        fitted = baseline_only.fit_baselines(model.bsl_options, trainset, lambda *_: None)
        model.bu, model.bi = fitted
        model.bx, model.by = model.switch(model.bu, model.bi)

    def centred(self, y_lists: Lists) -> Floats:
        by = np.repeat(self.model.by, np.diff(y_lists.offsets))
        baselines = self.trainset.global_mean + self.model.bx[y_lists.ids] + by
        centred: Floats = y_lists.ratings - baselines
        return centred

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means += baseline_only.baseline_estimates(self.model, users, items)
        return means


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

    `orders` holds the places of the similarities from the highest, equal ones in any order; values
    of each x are divided by its spread; `missing` is the mean over fewer than `least`.
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
# far kept sorted by insertion: behind equal ones, as ``heapq.nlargest`` has them.
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
        for row in range(y_offsets[y], y_offsets[y + 1]):
            weight = similarity[np.uint32(y_xs[row])]
            if not weight > 0.0 or (n == k and (k == 0 or weight <= weights[k - 1])):
                continue
            place = n
            while place > 0 and weights[place - 1] < weight:
                weights[place] = weights[place - 1]
                nearest[place] = nearest[place - 1]
                place -= 1
            weights[place] = weight
            nearest[place] = row
            if n < k:
                n += 1
        total = 0.0
        weighted = 0.0
        for place in range(n):
            row = nearest[place]
            total += weights[place]
            value = weights[place] * y_values[row]
            weighted += value / spreads[y_xs[row]] if divide else value
        means[pair] = weighted / total if n >= least else missing
