"""NMF: non-negative factors, by multiplicative updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.algorithms.columns import Lists
from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Codes,
    Floats,
    Offsets,
    Progress,
    are_integers,
    are_numbers,
)
from harness.algorithms.compiled.loops import in_blocks
from harness.algorithms.compiled.svd import FactorScorer
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.kernels import kernel

__all__ = ["NMF"]

LANES = 8
"""Factors are padded with zeros to whole vectors of 8 doubles; zeros stay zero in every step."""


class NMF(Accelerator):
    """Accelerates `surprise.NMF`.

    Surprise collects the numerators and denominators of users and items in one pass over the
    ratings. Factors do not change during the pass, so the sums of each user, and then of each
    item, can be made by themselves, on several threads, in the order in which Surprise adds.
    """

    surprise_class = surprise.NMF
    scorer = FactorScorer
    fit_methods = ("fit", "sgd")

    def accepts(self, model: Any) -> bool:  # noqa: D102
        return are_integers(model.n_factors, model.n_epochs) and are_numbers(
            *(getattr(model, f"reg_{of}") for of in ("pu", "qi", "bu", "bi")),
            model.lr_bu,
            model.lr_bi,
        )

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        pu, qi = (
            _padded(rng.uniform(model.init_low, model.init_high, size=(n, model.n_factors)))
            for n in (trainset.n_users, trainset.n_items)
        )
        bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
        by_user = trainset.by_user
        item_offsets, raters, places = trainset.item_order
        by_item = Lists(item_offsets, raters, by_user.ratings[places])
        mean, reg_pu, reg_qi = float(trainset.global_mean), float(model.reg_pu), float(model.reg_qi)
        rates = np.array([model.lr_bu, model.lr_bi, model.reg_bu, model.reg_bi], np.float64)
        products = np.empty(trainset.n_ratings)
        steps = trainset.n_ratings * pu.shape[1] / LANES
        pu_next, qi_next = np.empty_like(pu), np.empty_like(qi)
        for epoch in range(model.n_epochs):
            in_blocks(multiply, trainset.n_users, steps, *by_user[:2], pu, qi, products)
            if model.biased:
                add_biases(*by_user, mean, rates, bu, bi, products)
            users = (*by_user, products, reg_pu, pu, qi, pu_next)
            in_blocks(step, trainset.n_users, steps, *users)
            items = (*by_item, products[places], reg_qi, qi, pu, qi_next)
            in_blocks(step, trainset.n_items, steps, *items)
            pu, pu_next, qi, qi_next = pu_next, pu, qi_next, qi
            progress(epoch + 1, model.n_epochs)
        model.bu, model.bi = bu, bi
        model.pu, model.qi = (np.ascontiguousarray(x[:, : model.n_factors]) for x in (pu, qi))


def _padded(factors: Floats) -> Floats:
    n, n_factors = factors.shape
    padded = np.zeros((n, -(-n_factors // LANES) * LANES))
    padded[:, :n_factors] = factors
    return padded


@kernel
def multiply(
    first: int,
    last: int,
    offsets: Offsets,
    items: Codes,
    pu: Floats,
    qi: Floats,
    products: Floats,
) -> None:
    """Write ``p_u · q_i`` of every rating of the users from `first` up to `last`."""
    for user in range(first, last):
        p = pu[user]
        for row in range(offsets[user], offsets[user + 1]):
            q = qi[items[row]]
            dot = 0.0
            for f in range(len(p)):
                dot += q[f] * p[f]
            products[row] = dot


@kernel
def add_biases(
    offsets: Offsets,
    items: Codes,
    ratings: Floats,
    mean: float,
    rates: Floats,
    bu: Floats,
    bi: Floats,
    estimates: Floats,
) -> None:
    """Turn products into biased estimates, moving the biases rating by rating."""
    lr_bu, lr_bi, reg_bu, reg_bi = rates
    for user in range(len(offsets) - 1):
        for row in range(offsets[user], offsets[user + 1]):
            item = items[row]
            estimates[row] += mean + bu[user] + bi[item]
            error = ratings[row] - estimates[row]
            bu[user] += lr_bu * (error - reg_bu * bu[user])
            bi[item] += lr_bi * (error - reg_bi * bi[item])


@kernel
def step(
    first: int,
    last: int,
    offsets: Offsets,
    others: Codes,
    ratings: Floats,
    estimates: Floats,
    penalty: float,
    before: Floats,
    across: Floats,
    after: Floats,
) -> None:
    """Multiply each factor by ``Σ q r / (Σ q r̂ + λ n p)``, q being the factors across.

    The two sums of an owner are made over its ratings, all factors at once.
    """
    n_factors = before.shape[1]
    above = np.empty(n_factors)  # arrays that the compiler knows apart from the arguments
    below = np.empty(n_factors)
    for owner in range(first, last):
        above[:] = 0.0
        below[:] = 0.0
        for row in range(offsets[owner], offsets[owner + 1]):
            q = across[others[row]]
            for f in range(n_factors):
                above[f] += q[f] * ratings[row]
                below[f] += q[f] * estimates[row]
        n = offsets[owner + 1] - offsets[owner]
        for f in range(n_factors):
            p = before[owner, f]
            if p != 0.0:  # a factor that has become 0 stays 0
                p *= above[f] / (below[f] + n * penalty * p)
            after[owner, f] = p
