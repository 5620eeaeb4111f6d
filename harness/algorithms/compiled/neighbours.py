"""KNNBasic, and what the four algorithms have in common."""

from __future__ import annotations

import copy
from typing import ClassVar

import numpy as np

from harness._util.kernels import each_block, kernel, rows_of_owners
from harness.algorithms import parameters, surprise
from harness.algorithms.base import (
    DOUBLE,
    MEAN,
    MEAN_AND_BIAS,
    Algorithm,
    Counts,
    Estimates,
    FitOptions,
    NeedsSurprise,
    Size,
    Work,
)
from harness.algorithms.compiled import baseline_only
from harness.algorithms.compiled.baseline_only import fold_in_biases
from harness.algorithms.compiled.matrix import (
    CATALOGUE_BLOCK,
    LazyMatrix,
    each_row,
    fits_densely,
    rows_of,
)
from harness.algorithms.compiled.similarities import (
    HALF,
    fill_msd,
    fill_similarities,
    sides,
    similarities_of,
)
from harness.algorithms.parameters import Params
from harness.algorithms.registry import BLOCK
from harness.algorithms.trainset import (
    Codes,
    ColumnTrainset,
    Floats,
    GroupedLists,
    Offsets,
    Order,
    RatingLists,
    group_lists,
)
from harness.schema.sections import SearchSpace, log_range

MEANS_A_THREAD = 8  # of rows of means over neighbours, the fewest


# For single pairs, the raters of y are gone through in the order of the list, and the nearest so
# far kept sorted by insertion: behind equal ones, as ``heapq.nlargest`` has them. What they are
# compared with is one number, which the processor foresees better than two conditions.
@kernel
def average_pairs(
    rows: Codes,
    ys: Codes,
    similarities: Floats,
    y_lists: GroupedLists,
    spreads: Floats,
    k: int,
    least: int,
    missing: float,
    means: Floats,
    weights: Floats,
    nearest: Offsets,
) -> None:
    """Average over the k nearest neighbours, for each pair of a row of similarities and a y.

    `weights` and `nearest`, of shape (k + 1,), are overwritten. Fewer than `least` give `missing`.
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


SIMILARITIES_AT_ONCE = 1 << 20  # that a thread holds, in up to 64 rows
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
    def work(cls, params: Params, counts: Counts) -> Work:
        options = {**parameters.SIM_OPTIONS, **params.get("sim_options", {})}
        sides = (counts.of_users, counts.pairs_of_users), (counts.of_items, counts.pairs_of_items)
        (of_x, pairs_of_x), (of_y, pairs_of_y) = (
            sides if options["user_based"] else (sides[1], sides[0])
        )
        n_x, n_y = (int(np.count_nonzero(of_side)) for of_side in (of_x, of_y))
        # For each x, the raters of all that it rated; and the measure of each pair of x.
        a_pair, a_cell = (1.0, 4.0) if str(options["name"]).lower() == "msd" else (2.5, 6.0)
        matrix = a_pair * float(of_y @ of_y) + a_cell * n_x * n_x
        # For each estimate, the raters of y, and for each x its row of the matrix.
        rows = int(np.count_nonzero(pairs_of_x[of_x > 0]))
        scores = 20.0 * counts.n_pairs + 2.0 * float(pairs_of_y @ of_y) + 1.0 * rows * n_x
        # For whole lists, the neighbours of each x in order, and what each of them rated.
        n_lists = counts.n_lists if options["user_based"] else n_x * (counts.n_lists > 0)
        share = 1.0 if options["user_based"] else counts.n_lists / max(1, counts.n_users)
        blocks = 1.0 if options["user_based"] else max(1.0, counts.n_lists * n_x / BLOCK * DOUBLE)
        ordered = 10.0 * n_x * np.log2(n_x + 2.0) * blocks
        scores += n_lists * (ordered + 3.0 * counts.n_ratings * share + 5.0 * n_y)
        if fits_densely(n_x):
            return Work(cls.steps_before(params, counts) + matrix, scores)
        of_rows = (rows + n_lists * blocks) / max(1, n_x)
        return Work(cls.steps_before(params, counts), scores + matrix * of_rows)

    @classmethod
    def steps_before(cls, params: Params, counts: Counts) -> float:
        """Return the steps of a fit beside similarities."""
        return 20.0 * counts.n_ratings

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
        return attributes_of(model, trainset)

    @classmethod
    def describe(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: GroupedLists
    ) -> None:
        """Set what the estimates centre on."""

    def __init__(self, model: surprise.AlgoBase) -> None:
        super().__init__(model)
        self.user_based = bool(model.sim_options["user_based"])
        # Of new users, the neighbours are those of the training set that was fitted.
        y_lists, order = getattr(model, "raters", None) or sides(model, self.trainset)
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

    def centred(self, y_lists: GroupedLists) -> Floats:
        """Return what is averaged, for each rating in the lists of y."""
        return y_lists.ratings

    def spread_of_x(self) -> Floats:
        """Return what the values of each x are divided by; empty for nothing."""
        return np.empty(0)

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        """Turn means over neighbours into estimates; users and items broadcast against them."""
        return means

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        places_known = np.flatnonzero((users >= 0) & (items >= 0))
        xs, ys = self.model.switch(users[places_known], items[places_known])
        means = np.full(len(users), self.unknown)
        k = self.options[1]

        def average(distinct: Codes, rows: Codes, places: Offsets) -> None:
            of_pairs = np.empty(len(places))
            scratch = np.empty(k + 1), np.empty(k + 1, np.int64)
            similarities = self.similarities(distinct)
            average_pairs(
                rows, ys[places], similarities, self.y_lists, *self.options, of_pairs, *scratch
            )
            means[places_known[places]] = of_pairs

        each_row(xs, self.rows_at_once, MEANS_A_THREAD, average)
        estimates = self.complete(means, users, items)
        return estimates, np.isnan(estimates)

    def rows(self, users: Codes) -> Estimates:
        is_known = users >= 0
        of_known = means_of_users(self, users[is_known])
        means = np.full((len(users), self.trainset.n_items), self.unknown)
        means[is_known] = of_known
        del of_known
        estimates = self.complete(means, users[:, None], self.items)
        return estimates, np.isnan(estimates)

    def similarities(self, xs: Codes) -> Floats:
        """Return similarity rows that have an order."""
        rows = rows_of(self.model.sim, xs)
        if np.isnan(rows).any():
            raise NeedsSurprise  # what nlargest does with NaN follows from its heap alone
        return rows


class KNNWithMeans(KNNBasic):
    """The mean of x plus its neighbours' deviations from theirs."""

    model_class = surprise.KNNWithMeans
    summary = "KNNBasic on ratings less each neighbour's mean"
    style = ("orange", "v", "--", False)
    too_few = 0.0

    @classmethod
    def describe(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: GroupedLists
    ) -> None:
        model.means = x_lists.means()

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        attributes = super().fold_in(model, trainset)
        if "raters" in attributes:
            means = np.concatenate([trainset.by_user.means(), model.means])
            attributes["means"] = means
        return attributes

    def centred(self, y_lists: GroupedLists) -> Floats:
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
    def describe(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: GroupedLists
    ) -> None:
        model.means = x_lists.means()
        sigmas = spreads_of(x_lists, model.means)
        model.overall_sigma = np.std(trainset.by_user.ratings)
        model.sigmas = np.where(sigmas == 0.0, model.overall_sigma, sigmas)

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        attributes = super().fold_in(model, trainset)
        if "raters" in attributes:
            sigmas = spreads_of(trainset.by_user, trainset.by_user.means())
            of_new = np.where(sigmas == 0.0, model.overall_sigma, sigmas)
            attributes["sigmas"] = np.concatenate([of_new, model.sigmas])
        return attributes

    def spread_of_x(self) -> Floats:
        spreads: Floats = self.model.sigmas
        return spreads

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means *= self.model.sigmas[self.model.switch(users, items)[0]]
        return super().complete(means, users, items)


def spreads_of(lists: GroupedLists, means: Floats) -> Floats:
    """Return the standard deviation of each list, of which these are the means."""
    squares = (lists.ratings - np.repeat(means, np.diff(lists.offsets))) ** 2
    spreads: Floats = np.sqrt(lists._replace(ratings=squares).means())
    return spreads


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
    def steps_before(cls, params: Params, counts: Counts) -> float:
        before = super().steps_before(params, counts)
        return before + baseline_only.baseline_steps(params, counts)

    @classmethod
    def describe(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: GroupedLists
    ) -> None:
        model.bu, model.bi = baseline_only.fit_baselines(model.bsl_options, trainset)
        model.bx, model.by = model.switch(model.bu, model.bi)

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        attributes = super().fold_in(model, trainset)
        if "raters" in attributes:
            return attributes | {"bx": attributes["bu"]}
        bu = baseline_only.fold_in_biases(model.bsl_options, model.bi, trainset)
        return attributes | {"bu": bu, "by": bu}

    def centred(self, y_lists: GroupedLists) -> Floats:
        by = np.repeat(self.model.by, np.diff(y_lists.offsets))
        baselines = self.trainset.global_mean + self.model.bx[y_lists.ids] + by
        centred: Floats = y_lists.ratings - baselines
        return centred

    def complete(self, means: Floats, users: Codes, items: Codes) -> Floats:
        means += self.baselines(users, items)
        return means


def means_of_users(scorer: KNNBasic, users: Codes) -> Floats:
    """Return the means over neighbours of known users with all items, shape (n, n_items)."""
    if scorer.user_based:
        return _average(scorer, users, scorer.x_lists, scorer.y_lists)
    return _average(scorer, scorer.items, *_only(scorer, users)).T


def _only(scorer: KNNBasic, ys: Codes) -> tuple[GroupedLists, GroupedLists]:
    """Return the lists of all x restricted to some y, and of those y, numbered from 0."""
    offsets, xs, values = scorer.y_lists
    owners, rows = rows_of_owners(offsets, ys)
    starts = np.searchsorted(owners, np.arange(len(ys) + 1))
    y_lists = GroupedLists(starts, xs[rows], values[rows])
    order = Order.of(starts, y_lists.ids, len(scorer.x_lists.offsets) - 1)
    return order.lists(y_lists.ratings), y_lists


def _average(scorer: KNNBasic, xs: Codes, x_lists: GroupedLists, y_lists: GroupedLists) -> Floats:
    """Return the mean over the neighbours of each x for every y, shape (len(xs), n_y)."""
    means = np.empty((len(xs), len(y_lists.offsets) - 1))

    def average(start: int, stop: int) -> None:
        for first in range(start, stop, scorer.rows_at_once):
            last = min(first + scorer.rows_at_once, stop)
            similarities = scorer.similarities(xs[first:last])
            order = np.argsort(-similarities, axis=1)
            average_catalogue(
                similarities, order, x_lists, y_lists, *scorer.options, means[first:last]
            )

    each_block(average, len(xs), MEANS_A_THREAD)
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
    x_lists: GroupedLists,
    y_lists: GroupedLists,
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
                    y_rated = np.uint32(x_ys[row])
                    value = admit(y_rated, weight, k, counts, sums) * x_values[row]
                    sums[y_rated, 1] += value / spreads[member] if divide else value
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


def attributes_of(model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
    """Return the attributes of a model of the users of `trainset`, with the same items."""
    if not model.sim_options["user_based"]:
        return {"n_y": trainset.n_users, "yr": trainset.ur}
    bu = model.bu
    if bu is not None:
        of_new = fold_in_biases(model.bsl_options, model.bi, trainset)
        bu = np.concatenate([of_new, bu])
    return with_neighbours(model, trainset, bu)


def with_neighbours(
    model: surprise.AlgoBase, trainset: ColumnTrainset, bu: Floats | None
) -> dict[str, object]:
    """Return the attributes of a model of new users, whose neighbours are training users.

    New users have the first inner ids, and training users those behind them; only these are
    neighbours, so that the estimates of a new user do not depend on other new users. A new user of
    the name of a training user is that user: their similarity is the 1 of Surprise's diagonal.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted, with users as neighbours.
    trainset : ColumnTrainset
        Of the new users.
    bu : ndarray of float64, shape (n_new + n_training,), optional
        Biases of all, where the model has some.
    """
    fitted: ColumnTrainset = model.trainset
    n_new, n_all = trainset.n_users, trainset.n_users + fitted.n_users
    of_new, of_training = _columns(trainset, 0), _columns(fitted, n_new)
    users, items = (np.concatenate([of_new[side], of_training[side]]) for side in (0, 1))
    ratings = np.concatenate([of_new[2], of_training[2]])
    by_user = group_lists(users, items, ratings, n_all)
    by_item = group_lists(items, users, ratings, fitted.n_items)
    codes = np.arange(n_all, dtype=np.int32), fitted.item_codes
    names = range(n_all), fitted.item_ids
    together = ColumnTrainset(by_user, by_item, codes, names, fitted.rating_scale)
    together.__dict__["global_mean"] = fitted.global_mean
    joined = copy.copy(model)
    joined.trainset, joined.bu = together, bu
    similarities = similarities_of(joined, together)
    rows = rows_of(similarities, np.arange(n_new, dtype=np.int32))
    known = fitted._raw2inner_id_users
    for user, name in enumerate(trainset.raw_users(trainset.user_codes)):
        if (place := known.get(name)) is not None:
            rows[user, n_new + place] = 1.0
    raters = fitted.by_item._replace(ids=fitted.by_item.ids + np.int32(n_new))
    return {
        "n_x": n_all,
        "xr": trainset.ur,
        "yr": RatingLists(raters),
        "raters": (raters, Order.of(raters.offsets, raters.ids, n_all)),
        "sim": rows,
        "bu": bu,
    }


def _columns(trainset: ColumnTrainset, first: int) -> tuple[Codes, Codes, Floats]:
    """Return users, from `first` on, items and ratings in the order of `by_user`."""
    lists: GroupedLists = trainset.by_user
    owners = np.arange(first, first + trainset.n_users, dtype=np.int32)
    return np.repeat(owners, np.diff(lists.offsets)), lists.ids, lists.ratings


__all__ = ["fill_msd", "fill_similarities"]
