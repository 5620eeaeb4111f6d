"""NMF: non-negative factors, by multiplicative updates."""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
from numpy.random import Generator

from harness._util.kernels import (
    LANES,
    ROWS_AHEAD,
    drawn_in_lines,
    in_lines,
    kernel,
    out_of_lines,
    read_ahead,
)
from harness.algorithms import surprise
from harness.algorithms.base import DOUBLE, MEAN, Counts, FitOptions, Progress, Size, Work
from harness.algorithms.compiled.matrix import in_blocks
from harness.algorithms.compiled.svd import FACTORS, FactorModel, grown
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import ColumnTrainset, Floats, GroupedLists
from harness.schema.sections import log_range

PASSES_ROW = 12 + 3 * DOUBLE  # the ratings in another order, and their products


class NMF(FactorModel):
    """Factors that stay non-negative, with or without biases."""

    model_class = surprise.NMF
    summary = "non-negative matrix factorisation"
    unknown_user = f"{MEAN}, with `biased` plus the item's bias"
    citation = "luo2014efficient"
    style = ("green", "s", "-", True)
    space = FACTORS | {
        "biased": [False],
        "reg_pu": log_range(0.005, 0.5),
        "reg_qi": log_range(0.005, 0.5),
    }
    fit_methods = ("fit", "sgd")

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        vectors = 2 * (size.n_users + size.n_items)
        n_factors = cls.count(params, "n_factors") + LANES
        return DOUBLE * n_factors * vectors + PASSES_ROW * size.n_ratings

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        steps = 1.5 * cls.count(params, "n_factors") + 10.0
        fit = counts.n_ratings * cls.epochs(params) * steps
        return Work(fit, cls.products(params, counts))

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        draw = partial(rng.uniform, model.init_low, model.init_high)
        sizes = trainset.n_users, trainset.n_items
        pu, qi = (drawn_in_lines(draw, n, model.n_factors) for n in sizes)
        bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
        pu, qi = cls.alternate(model, trainset, pu, qi, bu, bi, how.progress)
        model.bu, model.bi = bu, bi
        model.pu, model.qi = (out_of_lines(x, model.n_factors) for x in (pu, qi))

    @classmethod
    def go_on(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, n_epochs: int, rng: Generator
    ) -> bool:
        sizes = (trainset.n_users, trainset.n_items)
        low, high, n_factors = model.init_low, model.init_high, model.n_factors
        pu, qi = (
            in_lines(factors, rng.uniform(low, high, (n - len(factors), n_factors)))
            for factors, n in zip((model.pu, model.qi), sizes, strict=True)
        )
        bu, bi = grown(model.bu, sizes[0]), grown(model.bi, sizes[1])
        shorter = copy.copy(model)
        shorter.n_epochs = n_epochs
        pu, qi = cls.alternate(shorter, trainset, pu, qi, bu, bi)
        model.bu, model.bi = bu, bi
        model.pu, model.qi = (out_of_lines(x, model.n_factors) for x in (pu, qi))
        return True

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        start = (model.init_low + model.init_high) / 2
        pu, qi = np.full((trainset.n_users, model.n_factors), float(start)), model.qi
        bu, bi = np.zeros(trainset.n_users), np.array(model.bi)
        pu, _ = cls.alternate(model, trainset, in_lines(pu), in_lines(qi), bu, bi, items_move=False)
        return {"bu": bu, "pu": out_of_lines(pu, model.n_factors)}

    @classmethod
    def alternate(
        cls,
        model: surprise.AlgoBase,
        trainset: ColumnTrainset,
        pu: Floats,
        qi: Floats,
        bu: Floats,
        bi: Floats,
        progress: Progress = lambda step, n_steps: None,
        *,
        items_move: bool = True,
    ) -> tuple[Floats, Floats]:
        """Run the model's epochs and return the factors; biases are changed in place."""
        by_user, order = trainset.by_user, trainset.item_order
        by_item = order.lists(by_user.ratings)
        mean = float(trainset.global_mean)
        # The learning rates of the biases of users and items, and the penalties.
        bias_steps = [model.lr_bu, model.lr_bi * items_move, model.reg_bu, model.reg_bi]
        products = np.empty(trainset.n_ratings)
        steps = trainset.n_ratings * pu.shape[1] / LANES
        pu_next, qi_next = in_lines(pu), in_lines(qi)
        for epoch in range(model.n_epochs):
            in_blocks(multiply, trainset.n_users, steps, by_user, pu, qi, products)
            if model.biased:
                add_biases(by_user, mean, np.array(bias_steps, float), bu, bi, products)
            users = (by_user, products, float(model.reg_pu), pu, qi, pu_next)
            in_blocks(step, trainset.n_users, steps, *users)
            if items_move:
                items = (by_item, products[order.places], float(model.reg_qi), qi, pu, qi_next)
                in_blocks(step, trainset.n_items, steps, *items)
                qi, qi_next = qi_next, qi
            pu, pu_next = pu_next, pu
            progress(epoch + 1, model.n_epochs)
        return pu, qi


# Surprise collects the numerators and denominators of users and items in one pass over the
# ratings. Factors do not change during the pass, so an epoch is three passes here: the products of
# all ratings, then the sums of each user, then those of each item, each on several threads and in
# the order in which Surprise adds.
@kernel
def multiply(
    first: int, last: int, by_user: GroupedLists, pu: Floats, qi: Floats, out: Floats
) -> None:
    """Write ``p_u · q_i`` of every rating of the users from `first` up to `last`."""
    offsets, items, _ = by_user
    for user in range(first, last):
        p = pu[user]
        for row in range(offsets[user], offsets[user + 1]):
            read_ahead(qi, items, row + ROWS_AHEAD, row + ROWS_AHEAD + 1)
            q = qi[items[row]]
            dot = 0.0
            for f in range(len(p)):
                dot += q[f] * p[f]
            out[row] = dot


@kernel
def add_biases(
    by_user: GroupedLists, mean: float, steps: Floats, bu: Floats, bi: Floats, estimates: Floats
) -> None:
    """Turn products into biased estimates, moving the biases rating by rating."""
    offsets, items, ratings = by_user
    lr_bu, lr_bi, reg_bu, reg_bi = steps
    for user in range(len(offsets) - 1):
        for row in range(offsets[user], offsets[user + 1]):
            item = items[row]
            estimates[row] += mean + bu[user] + bi[item]
            error = ratings[row] - estimates[row]
            bu[user] += lr_bu * (error - reg_bu * bu[user])
            bi[item] += lr_bi * (error - reg_bi * bi[item])


# Each factor p of an owner is multiplied by Σ q r / (Σ q r̂ + λ n p), summed over the owner's n
# ratings r with their estimates r̂, q being the factors across.
@kernel
def step(
    first: int,
    last: int,
    lists: GroupedLists,
    estimates: Floats,
    penalty: float,
    before: Floats,
    across: Floats,
    after: Floats,
) -> None:
    """Write the next factors of the owners from `first` up to `last`, all factors at once."""
    offsets, partners, ratings = lists
    n_factors = before.shape[1]
    above = np.empty(n_factors)  # arrays that the compiler knows apart from the arguments
    below = np.empty(n_factors)
    for owner in range(first, last):
        above[:] = 0.0
        below[:] = 0.0
        for row in range(offsets[owner], offsets[owner + 1]):
            read_ahead(across, partners, row + ROWS_AHEAD, row + ROWS_AHEAD + 1)
            q = across[partners[row]]
            for f in range(n_factors):
                above[f] += q[f] * ratings[row]
                below[f] += q[f] * estimates[row]
        n = offsets[owner + 1] - offsets[owner]
        for f in range(n_factors):
            p = before[owner, f]
            if p != 0.0:  # a factor that has become 0 stays 0
                p *= above[f] / (below[f] + n * penalty * p)
            after[owner, f] = p
