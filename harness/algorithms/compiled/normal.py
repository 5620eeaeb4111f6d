"""NormalPredictor: draws from one normal distribution."""

from __future__ import annotations

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.base import Algorithm, Counts, Estimates, FitOptions, Work
from harness.algorithms.parameters import Params
from harness.algorithms.predicted import own_generator
from harness.algorithms.trainset import Codes, ColumnTrainset


class NormalPredictor(Algorithm):
    """One random number for each estimate, in the order of the estimates."""

    model_class = surprise.NormalPredictor
    summary = "draws from a normal distribution fitted to the training ratings"
    unknown_user = "a random number, as for every user"
    is_personal = False
    style = ("grey", "h", ":", False)
    draws_in_order = True

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        return Work(5 * counts.n_ratings, 30 * (counts.n_pairs + counts.n_lists * counts.n_items))

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        squares = (trainset.by_user.ratings - trainset.global_mean) ** 2
        # Summed one after the other, as Surprise does.
        model.sigma = np.sqrt(np.add.accumulate(squares)[-1] / trainset.n_ratings)

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        rng = own_generator(self.model) or surprise.utils.get_rng(None)
        shape = np.broadcast_shapes(users.shape, items.shape)
        return rng.normal(self.trainset.global_mean, self.model.sigma, shape), False
