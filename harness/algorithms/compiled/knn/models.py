"""KNNBasic, and what the four algorithms have in common."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from harness.algorithms import parameters, surprise
from harness.algorithms.base import (
    DOUBLE,
    MEAN,
    Algorithm,
    Estimates,
    FitOptions,
    NeedsSurprise,
    Size,
)
from harness.algorithms.compiled.knn.neighbours import MEANS_A_THREAD, average_pairs
from harness.algorithms.compiled.knn.similarities import sides, similarities_of
from harness.algorithms.compiled.matrix import (
    CATALOGUE_BLOCK,
    LazyMatrix,
    each_row,
    fits_densely,
    rows_of,
)
from harness.algorithms.parameters import Params
from harness.algorithms.registry import BLOCK
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, Lists, Offsets
from harness.quantities import SearchSpace, log_range

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
        from harness.algorithms.compiled.knn.new_users import attributes_of

        return attributes_of(model, trainset)

    @classmethod
    def describe(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, x_lists: Lists) -> None:
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
        from harness.algorithms.compiled.knn.catalogue import means_of_users

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
