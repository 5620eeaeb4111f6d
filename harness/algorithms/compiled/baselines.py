"""Baseline estimates ``mean + b_u + b_i``, by alternating least squares or gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Bools,
    Codes,
    Floats,
    Offsets,
    Progress,
    Scorer,
    are_integers,
    are_numbers,
)
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.kernels import kernel

__all__ = ["BaselineOnly", "BaselineScorer", "accepts_baselines", "fit_baselines"]


class BaselineScorer(Scorer):
    """Estimates of the form ``mean + b_u + b_i``; an unknown side adds nothing."""

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:  # noqa: D102
        estimates = self.user_shifts(users)
        estimates += np.where(items >= 0, self.model.bi[items], 0.0)
        return estimates, np.zeros(len(users), np.bool_)

    def rows(self, users: Codes) -> Floats:  # noqa: D102
        estimates: Floats = self.user_shifts(users)[:, None] + self.model.bi
        return estimates

    def user_shifts(self, users: Codes) -> Floats:
        """Return ``mean + b_u``, the mean alone for an unknown user."""
        shifts: Floats = np.where(users >= 0, self.model.bu[users], 0.0)
        shifts += self.trainset.global_mean
        return shifts


class BaselineOnly(Accelerator):
    """Accelerates `surprise.BaselineOnly`."""

    surprise_class = surprise.BaselineOnly
    scorer = BaselineScorer
    fit_methods = ("fit", "compute_baselines")

    def accepts(self, model: Any) -> bool:  # noqa: D102
        return accepts_baselines(model.bsl_options)

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        model.bu, model.bi = fit_baselines(model.bsl_options, trainset, progress)


def accepts_baselines(options: Any) -> bool:
    """Return whether these ``bsl_options`` are ordinary; Surprise answers for the others.

    Examples
    --------
    >>> accepts_baselines({"method": "sgd", "reg": 0.1}), accepts_baselines({"method": "lbfgs"})
    (True, False)
    """
    if not isinstance(options, dict) or options.get("method", "als") not in ("als", "sgd"):
        return False
    numbers = [value for key, value in options.items() if key not in ("method", "n_epochs")]
    return are_integers(options.get("n_epochs", 1)) and are_numbers(*numbers)


def fit_baselines(
    options: dict[str, Any], trainset: ColumnTrainset, progress: Progress
) -> tuple[Floats, Floats]:
    """Return the biases of users and items as ``compute_baselines`` would."""
    mean = float(trainset.global_mean)
    bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
    if options.get("method", "als") == "als":
        n_epochs = options.get("n_epochs", 10)
        reg_u, reg_i = float(options.get("reg_u", 15)), float(options.get("reg_i", 10))
        for epoch in range(n_epochs):
            alternate(*trainset.by_item, mean, reg_i, bu, bi)
            alternate(*trainset.by_user, mean, reg_u, bi, bu)
            progress(epoch + 1, n_epochs)
    else:
        n_epochs = options.get("n_epochs", 20)
        rate, penalty = float(options.get("learning_rate", 0.005)), float(options.get("reg", 0.02))
        for epoch in range(n_epochs):
            descend(*trainset.by_user, mean, rate, penalty, bu, bi)
            progress(epoch + 1, n_epochs)
    return bu, bi


@kernel
def alternate(
    offsets: Offsets,
    others: Codes,
    ratings: Floats,
    mean: float,
    penalty: float,
    fixed: Floats,
    moving: Floats,
) -> None:
    """Solve for the biases of one side with those of the other side fixed."""
    for owner in range(len(offsets) - 1):
        start, stop = offsets[owner], offsets[owner + 1]
        deviation = 0.0
        for row in range(start, stop):
            deviation += ratings[row] - mean - fixed[others[row]]
        moving[owner] = deviation / (penalty + (stop - start))


@kernel
def descend(
    offsets: Offsets,
    items: Codes,
    ratings: Floats,
    mean: float,
    rate: float,
    penalty: float,
    bu: Floats,
    bi: Floats,
) -> None:
    """Run one epoch of gradient descent over the ratings, user by user."""
    for user in range(len(offsets) - 1):
        b_u = bu[user]
        for row in range(offsets[user], offsets[user + 1]):
            item = items[row]
            error = ratings[row] - (mean + b_u + bi[item])
            b_u += rate * (error - penalty * b_u)
            bi[item] += rate * (error - penalty * bi[item])
        bu[user] = b_u
