"""BaselineOnly: baseline estimates ``mean + b_u + b_i``, which KNNBaseline builds on too."""

from __future__ import annotations

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.models import Codes, ColumnTrainset, Floats, Lists
from harness.algorithms.registry import (
    Algorithm,
    Estimates,
    FitOptions,
    Params,
    Progress,
    are_integers,
    are_numbers,
)
from harness.kernels import kernel
from harness.sections import Range, SearchSpace

SPACE: SearchSpace = {
    "bsl_options.reg_u": Range(low=0.1, high=50.0, log=True),
    "bsl_options.reg_i": Range(low=0.1, high=50.0, log=True),
    "bsl_options.n_epochs": Range(low=5, high=30),
}


class BaselineOnly(Algorithm):
    """The baseline estimate itself."""

    model_class = surprise.BaselineOnly
    summary = "global mean plus a bias for the user and one for the item"
    citation = "koren2010factor"
    style = ("sky", "p", "-", True)
    space = SPACE
    fit_methods = ("fit", "compute_baselines")

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        return accepts_baselines(model.bsl_options)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        model.bu, model.bi = fit_baselines(model.bsl_options, trainset, how.progress)

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        return self.baselines(users, items), False


def accepts_baselines(options: object) -> bool:
    """Return whether these ``bsl_options`` are ordinary; Surprise answers for the others."""
    if not isinstance(options, dict) or options.get("method", "als") not in ("als", "sgd"):
        return False
    numbers = [value for key, value in options.items() if key not in ("method", "n_epochs")]
    return are_integers(options.get("n_epochs", 1)) and are_numbers(*numbers)


def fit_baselines(
    options: Params, trainset: ColumnTrainset, progress: Progress = lambda done, total: None
) -> tuple[Floats, Floats]:
    """Return the biases of users and items as ``compute_baselines`` would."""
    mean = float(trainset.global_mean)
    bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
    if options.get("method", "als") == "als":
        n_epochs = options.get("n_epochs", 10)
        reg_u, reg_i = float(options.get("reg_u", 15)), float(options.get("reg_i", 10))
        for epoch in range(n_epochs):
            alternate(trainset.by_item, mean, reg_i, bu, bi)
            alternate(trainset.by_user, mean, reg_u, bi, bu)
            progress(epoch + 1, n_epochs)
    else:
        n_epochs = options.get("n_epochs", 20)
        rate, penalty = float(options.get("learning_rate", 0.005)), float(options.get("reg", 0.02))
        for epoch in range(n_epochs):
            descend(trainset.by_user, mean, rate, penalty, bu, bi)
            progress(epoch + 1, n_epochs)
    return bu, bi


# Alternating least squares: with the biases of one side fixed, the best bias of each owner on the
# other side has a closed form, the sum of what is left of its ratings over their number plus the
# penalty.
@kernel
def alternate(lists: Lists, mean: float, penalty: float, fixed: Floats, moving: Floats) -> None:
    """Solve for the biases of one side with those of the other side fixed."""
    offsets, others, ratings = lists
    for owner in range(len(offsets) - 1):
        start, stop = offsets[owner], offsets[owner + 1]
        deviation = 0.0
        for row in range(start, stop):
            deviation += ratings[row] - mean - fixed[others[row]]
        moving[owner] = deviation / (penalty + (stop - start))


# Stochastic gradient descent: each rating, user by user, moves the two biases that its estimate is
# made of against the gradient of its squared error plus penalty.
@kernel
def descend(
    by_user: Lists, mean: float, rate: float, penalty: float, bu: Floats, bi: Floats
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
