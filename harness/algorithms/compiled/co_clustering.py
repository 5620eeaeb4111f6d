"""CoClustering: means of user clusters, item clusters and their crossings."""

from __future__ import annotations

import numpy as np

from harness._util.kernels import cached_rows, kernel
from harness.algorithms import surprise
from harness.algorithms.base import MEAN, Algorithm, Counts, Estimates, FitOptions, Work
from harness.algorithms.compiled.matrix import in_blocks
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists, Offsets
from harness.schema.sections import log_range


class CoClustering(Algorithm):
    """The crossing's mean plus how user and item depart from their clusters."""

    model_class = surprise.CoClustering
    summary = "means of user clusters, item clusters and co-clusters"
    unknown_user = MEAN
    citation = "george2005scalable"
    style = ("green", "D", "--", False)
    space = {
        "n_cltr_u": log_range(1, 20),
        "n_cltr_i": log_range(1, 20),
        "n_epochs": log_range(1, 100),
    }
    truncates = True
    fit_methods = ("fit", "compute_averages")

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        clusters = cls.count(params, "n_cltr_u") + cls.count(params, "n_cltr_i")
        fit = counts.n_ratings * cls.epochs(params) * (10.0 + 2.0 * clusters)
        return Work(fit, super().work(params, counts).scores)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        cltr_u = rng.randint(model.n_cltr_u, size=trainset.n_users).astype(np.intp)
        cltr_i = rng.randint(model.n_cltr_i, size=trainset.n_items).astype(np.intp)
        by_user, by_item = trainset.by_user, trainset.by_item
        if how.as_surprise:
            by_user, by_item = by_user.truncated(), by_item.truncated()
        user_mean, item_mean = by_user.means(), by_item.means()
        mean = float(trainset.global_mean)
        for epoch in range(model.n_epochs):
            avg_u, avg_i, avg_cross = averages(model, by_user, cltr_u, cltr_i, mean)
            users = (by_user, user_mean, item_mean, avg_u, avg_i, avg_cross, cltr_i, True, cltr_u)
            in_blocks(assign, trainset.n_users, trainset.n_ratings * model.n_cltr_u, *users)
            crossed = np.ascontiguousarray(avg_cross.T)
            items = (by_item, item_mean, user_mean, avg_i, avg_u, crossed, cltr_u, False, cltr_i)
            in_blocks(assign, trainset.n_items, trainset.n_ratings * model.n_cltr_i, *items)
            how.progress(epoch + 1, model.n_epochs)
        model.cltr_u, model.cltr_i = cltr_u, cltr_i
        model.user_mean, model.item_mean = user_mean, item_mean
        model.avg_cltr_u, model.avg_cltr_i, model.avg_cocltr = averages(
            model, by_user, cltr_u, cltr_i, mean
        )

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        means = trainset.by_user.means()
        clusters = np.zeros(trainset.n_users, dtype=np.intp)
        averages_of = (model.avg_cltr_u, model.avg_cltr_i, model.avg_cocltr, model.cltr_i)
        state = (trainset.by_user, means, model.item_mean, *averages_of, True, clusters)
        in_blocks(assign, trainset.n_users, trainset.n_ratings * model.n_cltr_u, *state)
        return {"user_mean": means, "cltr_u": clusters}

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        model = self.model
        of_user, of_item = model.cltr_u[users], model.cltr_i[items]
        estimates = model.avg_cocltr[of_user, of_item] + model.user_mean[users]
        estimates -= model.avg_cltr_u[of_user]
        estimates += model.item_mean[items]
        estimates -= model.avg_cltr_i[of_item]
        # Surprise has an estimate for one unknown side, but never reaches it.
        np.copyto(estimates, self.trainset.global_mean, where=(users < 0) | (items < 0))
        return estimates, False

    def rows(self, users: Codes) -> Estimates:
        model = self.model
        of_user, of_item = model.cltr_u[users], model.cltr_i[self.items]
        crossed = model.avg_cocltr[of_user] + model.user_mean[users, None]
        crossed -= model.avg_cltr_u[of_user, None]  # of the user with each cluster of items
        item_mean, avg_cltr_i = model.item_mean[self.items], model.avg_cltr_i[of_item]
        estimates = np.empty((len(users), len(of_item)))
        for part in cached_rows(estimates):
            np.take(crossed[part], of_item, axis=1, out=estimates[part], mode="clip")
            estimates[part] += item_mean
            estimates[part] -= avg_cltr_i
        estimates[users < 0] = self.trainset.global_mean
        return estimates, False


def averages(
    model: surprise.AlgoBase, by_user: GroupedLists, cltr_u: Offsets, cltr_i: Offsets, mean: float
) -> list[Floats]:
    """Return the mean rating of user and item clusters and crossings; `mean` where one is empty."""
    sums, counts = np.zeros((2, model.n_cltr_u, model.n_cltr_i))
    add_up(by_user, cltr_u, cltr_i, sums, counts)
    means = []
    for axis in (1, 0, None):
        # `cumsum` adds one after the other, as Surprise does; `sum` would not.
        total, n = sums, counts
        if axis is not None:
            total, n = (np.take(np.cumsum(x, axis), -1, axis) for x in (sums, counts))
        means.append(np.divide(total, n, out=np.full(n.shape, mean), where=n > 0.0))
    return means


@kernel
def add_up(
    by_user: GroupedLists, cltr_u: Offsets, cltr_i: Offsets, sums: Floats, counts: Floats
) -> None:
    """Add every rating to the crossing of its user's and its item's cluster, and count it."""
    offsets, items, ratings = by_user
    for user in range(len(offsets) - 1):
        of_user = cltr_u[user]
        for row in range(offsets[user], offsets[user + 1]):
            of_item = cltr_i[items[row]]
            sums[of_user, of_item] += ratings[row]
            counts[of_user, of_item] += 1.0


# An epoch moves every user, then every item, to the cluster that would estimate its ratings with
# the least squared error. Clusters of one side do not change while those of the other are chosen,
# so owners are independent. Terms are added in Surprise's order, users before items, so that ties
# stay ties, of which the first cluster wins.
@kernel
def assign(
    first: int,
    last: int,
    lists: GroupedLists,
    own_mean: Floats,
    other_mean: Floats,
    avg_own: Floats,
    avg_other: Floats,
    avg_cross: Floats,
    other_clusters: Offsets,
    users_first: bool,
    clusters: Offsets,
) -> None:
    """Move the owners from `first` up to `last` to their best clusters."""
    offsets, partners, ratings = lists
    n_clusters = len(avg_own)
    errors = np.empty(n_clusters)
    for owner in range(first, last):
        for cluster in range(n_clusters):
            errors[cluster] = 0.0
        mean = own_mean[owner]
        for row in range(offsets[owner], offsets[owner + 1]):
            other = partners[row]
            across = other_clusters[other]
            theirs, average, rating = other_mean[other], avg_other[across], ratings[row]
            one, two = (mean, theirs) if users_first else (theirs, mean)
            for cluster in range(n_clusters):
                less_one, less_two = avg_own[cluster], average
                if not users_first:
                    less_one, less_two = less_two, less_one
                estimate = avg_cross[cluster, across] + one - less_one + two - less_two
                error = rating - estimate
                errors[cluster] += error * error
        best = 0
        for cluster in range(1, n_clusters):
            if errors[cluster] < errors[best]:
                best = cluster
        clusters[owner] = best
