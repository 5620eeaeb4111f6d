"""CoClustering: means of user clusters, item clusters and their crossings."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.algorithms.columns import Lists, mean_of_each, truncated
from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Bools,
    Codes,
    Floats,
    Offsets,
    Progress,
    Scorer,
    are_integers,
)
from harness.algorithms.compiled.loops import in_blocks
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.kernels import kernel

__all__ = ["CoClustering"]


class CoClusteringScorer(Scorer):
    """The crossing's mean plus how user and item depart from their clusters."""

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        model = self.model
        of_user, of_item = model.cltr_u[users], model.cltr_i[items]
        estimates = model.avg_cocltr[of_user, of_item] + model.user_mean[users]
        estimates -= model.avg_cltr_u[of_user]
        estimates += model.item_mean[items]
        estimates -= model.avg_cltr_i[of_item]
        # Surprise has an estimate for one unknown side, but never reaches it.
        estimates[(users < 0) | (items < 0)] = self.trainset.global_mean
        return estimates, np.zeros(len(users), np.bool_)

    def rows(self, users: Codes) -> Floats:
        model = self.model
        of_user = model.cltr_u[users]
        estimates: Floats = model.avg_cocltr[:, model.cltr_i][of_user]
        estimates += model.user_mean[users][:, None]
        estimates -= model.avg_cltr_u[of_user][:, None]
        estimates += model.item_mean
        estimates -= model.avg_cltr_i[model.cltr_i]
        estimates[users < 0] = self.trainset.global_mean
        return estimates


class CoClustering(Accelerator):
    """Accelerates `surprise.CoClustering`, which casts ratings to integers; see `fit`."""

    surprise_class = surprise.CoClustering
    scorer = CoClusteringScorer
    fit_methods = ("fit", "compute_averages")

    def accepts(self, model: Any) -> bool:  # noqa: D102
        return are_integers(model.n_cltr_u, model.n_cltr_i, model.n_epochs)

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        cltr_u = rng.randint(model.n_cltr_u, size=trainset.n_users).astype(np.intp)
        cltr_i = rng.randint(model.n_cltr_i, size=trainset.n_items).astype(np.intp)
        by_user, by_item = trainset.by_user, trainset.by_item
        if as_surprise:
            by_user, by_item = truncated(by_user), truncated(by_item)
        user_mean, item_mean = mean_of_each(by_user), mean_of_each(by_item)
        mean = float(trainset.global_mean)
        avg_u, avg_i = np.empty(model.n_cltr_u), np.empty(model.n_cltr_i)
        avg_cross = np.empty((model.n_cltr_u, model.n_cltr_i))
        averages = (avg_u, avg_i, avg_cross)
        for epoch in range(model.n_epochs):
            average(by_user, cltr_u, cltr_i, mean, *averages)
            users = (*by_user, user_mean, item_mean, *averages, cltr_i, True, cltr_u)
            steps = trainset.n_ratings * model.n_cltr_u
            in_blocks(assign, trainset.n_users, steps, *users)
            crossed = np.ascontiguousarray(avg_cross.T)
            items = (*by_item, item_mean, user_mean, avg_i, avg_u, crossed, cltr_u, False, cltr_i)
            steps = trainset.n_ratings * model.n_cltr_i
            in_blocks(assign, trainset.n_items, steps, *items)
            progress(epoch + 1, model.n_epochs)
        average(by_user, cltr_u, cltr_i, mean, *averages)
        model.cltr_u, model.cltr_i = cltr_u, cltr_i
        model.user_mean, model.item_mean = user_mean, item_mean
        model.avg_cltr_u, model.avg_cltr_i, model.avg_cocltr = averages


def average(
    lists: Lists,
    cltr_u: Offsets,
    cltr_i: Offsets,
    mean: float,
    avg_u: Floats,
    avg_i: Floats,
    avg_cross: Floats,
) -> None:
    """Write the mean rating of each cluster and crossing; the mean of all where one is empty."""
    sums, counts = np.zeros((2, *avg_cross.shape))
    add_up(*lists, cltr_u, cltr_i, sums, counts)
    for out, axis in ((avg_u, 1), (avg_i, 0), (avg_cross, None)):
        # `cumsum` adds one after the other, as Surprise does; `sum` would not.
        total, n = sums, counts
        if axis is not None:
            total, n = (np.take(np.cumsum(x, axis), -1, axis) for x in (sums, counts))
        out[...] = np.divide(total, n, out=np.full(out.shape, mean), where=n > 0.0)


@kernel
def add_up(
    offsets: Offsets,
    items: Codes,
    ratings: Floats,
    cltr_u: Offsets,
    cltr_i: Offsets,
    sums: Floats,
    counts: Floats,
) -> None:
    """Add every rating to the crossing of its user's and its item's cluster, and count it."""
    for user in range(len(offsets) - 1):
        of_user = cltr_u[user]
        for row in range(offsets[user], offsets[user + 1]):
            of_item = cltr_i[items[row]]
            sums[of_user, of_item] += ratings[row]
            counts[of_user, of_item] += 1.0


@kernel
def assign(
    first: int,
    last: int,
    offsets: Offsets,
    others: Codes,
    ratings: Floats,
    own_mean: Floats,
    other_mean: Floats,
    avg_own: Floats,
    avg_other: Floats,
    avg_cross: Floats,
    other_clusters: Offsets,
    users_first: bool,
    clusters: Offsets,
) -> None:
    """Move each owner to the cluster with the least squared error, the first of equal ones.

    Terms are added in Surprise's order, users before items, so that ties stay ties.
    """
    n_clusters = len(avg_own)
    errors = np.empty(n_clusters)
    for owner in range(first, last):
        for own in range(n_clusters):
            errors[own] = 0.0
        mean = own_mean[owner]
        for row in range(offsets[owner], offsets[owner + 1]):
            other = others[row]
            across = other_clusters[other]
            for own in range(n_clusters):
                estimate = avg_cross[own, across]
                if users_first:
                    estimate = (
                        estimate + mean - avg_own[own] + other_mean[other] - avg_other[across]
                    )
                else:
                    estimate = (
                        estimate + other_mean[other] - avg_other[across] + mean - avg_own[own]
                    )
                errors[own] += (ratings[row] - estimate) ** 2
        best = 0
        for own in range(1, n_clusters):
            if errors[own] < errors[best]:
                best = own
        clusters[owner] = best
