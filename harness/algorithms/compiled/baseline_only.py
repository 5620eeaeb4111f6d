"""BaselineOnly: baseline estimates ``mean + b_u + b_i``, which KNNBaseline builds on too."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.random import Generator

from harness._util.kernels import kernel
from harness.algorithms import parameters, surprise
from harness.algorithms.base import (
    MEAN_AND_BIAS,
    Algorithm,
    Counts,
    Estimates,
    FitOptions,
    Progress,
    Work,
)
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists
from harness.schema.sections import SearchSpace, log_range

SPACE: SearchSpace = {
    "bsl_options.reg_u": log_range(0.1, 10_000.0),
    "bsl_options.reg_i": log_range(0.1, 10_000.0),
    "bsl_options.n_epochs": log_range(1, 50),
}


class BaselineOnly(Algorithm):
    """The baseline estimate itself."""

    model_class = surprise.BaselineOnly
    summary = "global mean plus a bias for the user and one for the item"
    unknown_user = MEAN_AND_BIAS
    citation = "koren2010factor"
    style = ("sky", "p", "-", True)
    space = SPACE
    fit_methods = ("fit", "compute_baselines")

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        return Work(baseline_steps(params, counts), super().work(params, counts).scores)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        model.bu, model.bi = fit_baselines(model.bsl_options, trainset, how.progress)

    @classmethod
    def go_on(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, n_epochs: int, rng: Generator
    ) -> bool:
        if model.bsl_options.get("method", "als") == "als":
            return False
        options = {**parameters.BSL_OPTIONS["sgd"], **model.bsl_options}
        bu, bi = (
            np.concatenate([biases, np.zeros(n - len(biases))])
            for biases, n in ((model.bu, trainset.n_users), (model.bi, trainset.n_items))
        )
        steps = float(options["learning_rate"]), float(options["reg"])
        for _ in range(n_epochs):
            descend(trainset.by_user, float(trainset.global_mean), *steps, bu, bi)
        model.bu, model.bi = bu, bi
        return True

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        return {"bu": fold_in_biases(model.bsl_options, model.bi, trainset)}

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        return self.baselines(users, items), False

    def rows(self, users: Codes) -> Estimates:
        return self.estimates(users[:, None], self.items)  # one sum: nothing to keep in a cache


def baseline_steps(params: Params, counts: Counts) -> float:
    """Return the steps of fitting biases."""
    given = params.get("bsl_options", {})
    options = {**parameters.BSL_OPTIONS[given.get("method", "als")], **given}
    return 4.0 * counts.n_ratings * float(options["n_epochs"])


def fit_baselines(
    bsl_options: Params, trainset: ColumnTrainset, progress: Progress = lambda step, n_steps: None
) -> tuple[Floats, Floats]:
    """Return the biases of users and items as ``compute_baselines`` would."""
    options = {**parameters.BSL_OPTIONS[bsl_options.get("method", "als")], **bsl_options}
    mean, n_epochs = float(trainset.global_mean), options["n_epochs"]
    bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
    for epoch in range(n_epochs):
        if options["method"] == "als":
            alternate(trainset.by_item, mean, float(options["reg_i"]), bu, bi)
            alternate(trainset.by_user, mean, float(options["reg_u"]), bi, bu)
        else:
            steps = float(options["learning_rate"]), float(options["reg"])
            descend(trainset.by_user, mean, *steps, bu, bi)
        progress(epoch + 1, n_epochs)
    return bu, bi


def fold_in_biases(options: Params, bi: Floats, trainset: ColumnTrainset) -> Floats:
    """Return the biases of new users, with the biases of the items as they are."""
    mean, bu = float(trainset.global_mean), np.zeros(trainset.n_users)
    if options.get("method", "als") == "als":
        alternate(trainset.by_user, mean, float(options.get("reg_u", 15)), bi, bu)
        return bu
    rate, penalty = float(options.get("learning_rate", 0.005)), float(options.get("reg", 0.02))
    offsets, items, ratings = trainset.by_user
    deviations = ratings - mean - bi[items]
    for user, (start, stop) in enumerate(pairwise(offsets.tolist())):
        for value in deviations[start:stop].tolist() * options.get("n_epochs", 20):
            bu[user] += rate * (value - bu[user] - penalty * bu[user])
    return bu


# Alternating least squares: with the biases of one side fixed, the best bias of each owner on the
# other side has a closed form, the sum of what is left of its ratings over their number plus the
# penalty.
@kernel
def alternate(
    lists: GroupedLists, mean: float, penalty: float, fixed: Floats, moving: Floats
) -> None:
    """Solve for the biases of one side, with the other side fixed."""
    offsets, partners, ratings = lists
    for owner in range(len(offsets) - 1):
        start, stop = offsets[owner], offsets[owner + 1]
        deviation = 0.0
        for row in range(start, stop):
            deviation += ratings[row] - mean - fixed[partners[row]]
        moving[owner] = deviation / (penalty + (stop - start))


# Stochastic gradient descent: each rating, user by user, moves the two biases that its estimate is
# made of against the gradient of its squared error plus penalty.
@kernel
def descend(
    by_user: GroupedLists, mean: float, rate: float, penalty: float, bu: Floats, bi: Floats
) -> None:
    """Run one epoch of gradient descent over the ratings, user by user."""
    offsets, items, ratings = by_user
    for user in range(len(offsets) - 1):
        b_u = bu[user]
        for row in range(offsets[user], offsets[user + 1]):
            item = items[row]
            error = ratings[row] - (mean + b_u + bi[item])
            b_u += rate * (error - penalty * b_u)
            bi[item] += rate * (error - penalty * bi[item])
        bu[user] = b_u
