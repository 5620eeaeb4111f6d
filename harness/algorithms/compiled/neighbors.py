"""The four k-nearest-neighbour algorithms.

An estimate rests on a weighted mean over the k most similar x that rated y (x the users and y the
items, or the other way round). For a whole catalogue, the neighbours of x are walked in descending
similarity, and each adds its ratings to the y that hold fewer than k. Where neighbours are equally
similar, Surprise's ``heapq.nlargest`` prefers the one that comes first in the list of y, and sums
are made in that order; so the ratings of such a group are brought into the order of the lists
before they are added. Every sum is then Surprise's to the last bit.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from harness.algorithms.columns import Lists, mean_of_each, transpose
from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Bools,
    Codes,
    Floats,
    NeedsSurprise,
    Progress,
    Scorer,
    are_integers,
)
from harness.algorithms.compiled.baselines import accepts_baselines, fit_baselines
from harness.algorithms.compiled.neighbor_walk import average_catalogue, average_pairs
from harness.algorithms.compiled.similarities import (
    accepts_similarities,
    fit_similarities,
    rows_of,
)
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.kernels import each_block

__all__ = ["KNNBaseline", "KNNBasic", "KNNWithMeans", "KNNWithZScore"]

WORTH_A_THREAD = 8
SIMILARITIES_AT_ONCE = 1 << 20  # that a thread holds, in up to 64 rows
ESTIMATES_AT_ONCE = 1 << 26


class NeighborScorer(Scorer):
    """Estimates of `surprise.KNNBasic`: the mean itself, impossible where there is none."""

    always_possible: ClassVar[bool] = False

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        trainset = self.trainset
        self.user_based = bool(model.sim_options["user_based"])
        y_lists = trainset.by_item if self.user_based else trainset.by_user
        x_offsets, x_ys, places = trainset.user_order if self.user_based else trainset.item_order
        values = self.centred(y_lists)
        self.x_lists = Lists(x_offsets, x_ys, values[places])
        self.y_lists = y_lists._replace(ratings=values)
        n_most = int(np.diff(y_lists.offsets).max(initial=0))
        n_x = trainset.n_users if self.user_based else trainset.n_items
        self.rows_at_once = max(1, min(64, SIMILARITIES_AT_ONCE // n_x))
        self.limits = min(max(int(model.k), 0), n_most), max(int(model.min_k), 1)
        self.spreads = self.spread_of_x()
        if not self.spreads.all():
            raise NeedsSurprise  # all ratings are the same: Surprise divides by 0 and goes on

    def centred(self, y_lists: Lists) -> Floats:
        """Return what is averaged, for each rating in the lists of y."""
        return y_lists.ratings

    def spread_of_x(self) -> Floats:
        """Return what the values of each x are divided by; empty for nothing."""
        return np.empty(0)

    def complete(self, means: Floats, users: Any, items: Any) -> Floats:
        """Turn means over neighbours into estimates; users and items broadcast against them."""
        return means

    def unknown(self, users: Codes, items: Codes) -> Floats | float:
        """Return the estimates where user or item is unknown, NaN where they are impossible."""
        return np.nan

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        known = np.flatnonzero((users >= 0) & (items >= 0))
        xs, ys = users[known], items[known]
        if not self.user_based:
            xs, ys = ys, xs
        means = np.empty(len(known))
        order = np.argsort(xs, kind="stable")
        asked, edges = np.unique(xs[order], return_index=True)
        edges = np.append(edges, len(order))

        def average(start: int, stop: int) -> None:
            for first in range(start, stop, self.rows_at_once):
                last = min(first + self.rows_at_once, stop)
                similarities = self.similarities(asked[first:last])
                part = order[edges[first] : edges[last]]
                rows = np.searchsorted(asked[first:last], xs[part])
                found = np.empty(len(part))
                average_pairs(
                    rows,
                    ys[part],
                    similarities,
                    *self.y_lists,
                    self.spreads,
                    *self.limits,
                    0.0 if self.always_possible else np.nan,
                    found,
                    np.empty(self.limits[0] + 1),
                    np.empty(self.limits[0] + 1, np.int64),
                )
                means[part] = found

        each_block(average, len(asked), WORTH_A_THREAD)
        estimates = np.empty(len(users))
        estimates[:] = self.unknown(users, items)
        estimates[known] = self.complete(means, users[known], items[known])
        impossible = np.isnan(estimates)
        estimates[impossible] = self.model.default_prediction()
        return estimates, impossible

    def rows(self, users: Codes) -> Floats:
        known = np.flatnonzero(users >= 0)
        items = np.arange(self.trainset.n_items, dtype=np.int32)
        estimates = np.empty((len(users), len(items)))
        if len(known) < len(users):
            estimates[:] = self.unknown(users[:, None], items)
            estimates[users < 0] = np.nan_to_num(
                estimates[users < 0], nan=self.model.default_prediction()
            )
        asked = users[known]
        if self.user_based:
            means = self.average_all(asked, self.x_lists, self.y_lists)
        else:
            by_item = self.average_all(items, *self.only(asked))
            means = np.ascontiguousarray(by_item.T)
        complete = self.complete(means, asked[:, None], items)
        if len(known) == len(users):
            return complete
        estimates[known] = complete
        return estimates

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
        x_offsets, x_ys, places = transpose(starts, y_lists.ids, len(self.x_lists.offsets) - 1)
        return Lists(x_offsets, x_ys, y_lists.ratings[places]), y_lists

    def average_all(self, xs: Codes, x_lists: Lists, y_lists: Lists) -> Floats:
        """Return the mean over the neighbours of each x for every y, shape (len(xs), n_y)."""
        means = np.empty((len(xs), len(y_lists.offsets) - 1))
        missing = 0.0 if self.always_possible else float(self.model.default_prediction())

        def average(start: int, stop: int) -> None:
            for first in range(start, stop, self.rows_at_once):
                last = min(first + self.rows_at_once, stop)
                similarities = self.similarities(xs[first:last])
                order = np.argsort(-similarities, axis=1)
                average_catalogue(
                    similarities,
                    order,
                    *x_lists,
                    *y_lists,
                    self.spreads,
                    *self.limits,
                    missing,
                    means[first:last],
                )

        each_block(average, len(xs), WORTH_A_THREAD)
        return means

    def x_of(self, users: Any, items: Any) -> npt.NDArray[Any]:
        """Return the side whose neighbours are used."""
        side: npt.NDArray[Any] = users if self.user_based else items
        return side


class MeanScorer(NeighborScorer):
    """Estimates of `surprise.KNNWithMeans`: the mean of x plus its neighbours' deviations."""

    always_possible = True

    def centred(self, y_lists: Lists) -> Floats:
        centred: Floats = y_lists.ratings - self.model.means[y_lists.ids]
        return centred

    def complete(self, means: Floats, users: Any, items: Any) -> Floats:
        means += self.model.means[self.x_of(users, items)]
        return means


class ZScoreScorer(MeanScorer):
    """Estimates of `surprise.KNNWithZScore`: deviations in units of each x's own spread."""

    def spread_of_x(self) -> Floats:
        spreads: Floats = self.model.sigmas
        return spreads

    def complete(self, means: Floats, users: Any, items: Any) -> Floats:
        means *= self.model.sigmas[self.x_of(users, items)]
        return super().complete(means, users, items)


class BaselineNeighborScorer(NeighborScorer):
    """Estimates of `surprise.KNNBaseline`: the baseline plus the neighbours' deviations from it."""

    always_possible = True

    def centred(self, y_lists: Lists) -> Floats:
        by = np.repeat(self.model.by, np.diff(y_lists.offsets))
        baselines = self.trainset.global_mean + self.model.bx[y_lists.ids] + by
        centred: Floats = y_lists.ratings - baselines
        return centred

    def complete(self, means: Floats, users: Any, items: Any) -> Floats:
        means += self.baselines(users, items)
        return means

    def unknown(self, users: Codes, items: Codes) -> Floats | float:
        return self.baselines(users, items)

    def baselines(self, users: Any, items: Any) -> Floats:
        """Return ``mean + b_u + b_i``; an unknown side adds nothing."""
        mean = self.trainset.global_mean
        baselines: Floats = (mean + np.where(users >= 0, self.model.bu[users], 0.0)) + np.where(
            items >= 0, self.model.bi[items], 0.0
        )
        return baselines


class KNNBasic(Accelerator):
    """Accelerates `surprise.KNNBasic`, and what the four classes have in common."""

    surprise_class: ClassVar[type] = surprise.KNNBasic
    scorer: ClassVar[type[Scorer]] = NeighborScorer
    fit_methods = ("fit", "compute_similarities", "compute_baselines", "switch")
    score_methods = ("predict", "estimate", "default_prediction", "switch")

    def accepts(self, model: Any) -> bool:  # noqa: D102
        return accepts_similarities(model)

    def may_score(self, model: Any) -> bool:  # noqa: D102
        # Without a least number of neighbours KNNBasic may divide by 0, which Surprise reports.
        possible = self.scorer is not NeighborScorer or (
            are_integers(model.min_k) and model.min_k >= 1
        )
        return possible and are_integers(model.k, model.min_k) and super().may_score(model)

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        user_based = bool(model.sim_options["user_based"])
        model.n_x, model.n_y = trainset.n_users, trainset.n_items
        model.xr, model.yr = trainset.ur, trainset.ir
        if not user_based:
            model.n_x, model.n_y, model.xr, model.yr = model.n_y, model.n_x, model.yr, model.xr
        self.describe(model, trainset)

        def baselines() -> tuple[Floats, Floats]:
            if model.bu is None:
                model.bu, model.bi = fit_baselines(model.bsl_options, trainset, lambda *_: None)
            return model.bu, model.bi

        model.sim = fit_similarities(model.sim_options, trainset, baselines, progress)

    def describe(self, model: Any, trainset: ColumnTrainset) -> None:
        """Set what the estimates centre on."""


class KNNWithMeans(KNNBasic):
    """Accelerates `surprise.KNNWithMeans`."""

    surprise_class = surprise.KNNWithMeans
    scorer = MeanScorer

    def describe(self, model: Any, trainset: ColumnTrainset) -> None:  # noqa: D102
        model.means = mean_of_each(_x_lists(model, trainset))


class KNNWithZScore(KNNBasic):
    """Accelerates `surprise.KNNWithZScore`."""

    surprise_class = surprise.KNNWithZScore
    scorer = ZScoreScorer

    def describe(self, model: Any, trainset: ColumnTrainset) -> None:  # noqa: D102
        lists = _x_lists(model, trainset)
        model.means = mean_of_each(lists)
        squares = (lists.ratings - np.repeat(model.means, np.diff(lists.offsets))) ** 2
        sigmas = np.sqrt(mean_of_each(lists._replace(ratings=squares)))
        model.overall_sigma = np.std(trainset.user_ratings)
        model.sigmas = np.where(sigmas == 0.0, model.overall_sigma, sigmas)


class KNNBaseline(KNNBasic):
    """Accelerates `surprise.KNNBaseline`."""

    surprise_class = surprise.KNNBaseline
    scorer = BaselineNeighborScorer

    def accepts(self, model: Any) -> bool:  # noqa: D102
        return accepts_baselines(model.bsl_options) and accepts_similarities(model)

    def describe(self, model: Any, trainset: ColumnTrainset) -> None:  # noqa: D102
        model.bu, model.bi = fit_baselines(model.bsl_options, trainset, lambda *_: None)
        model.bx, model.by = model.switch(model.bu, model.bi)


def _x_lists(model: Any, trainset: ColumnTrainset) -> Lists:
    return trainset.by_user if model.sim_options["user_based"] else trainset.by_item
