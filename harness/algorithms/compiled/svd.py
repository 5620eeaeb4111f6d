"""SVD: biased or plain matrix factorisation by stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from harness.algorithms.algorithm import (
    DOUBLE,
    Algorithm,
    FitOptions,
    Size,
    are_integers,
    are_numbers,
)
from harness.algorithms.compiled.baseline_only import baseline_estimates
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats, Lists
from harness.kernels import compile_lazily
from harness.sections import Range, SearchSpace

__all__ = ["FACTORS", "SPACE", "initial_factors", "summing_kernel"]

PAIRS_AT_ONCE = 1 << 15
FACTORS: SearchSpace = {
    "n_factors": Range(low=5, high=150, log=True),
    "n_epochs": Range(low=5, high=60, log=True),
}
SPACE: SearchSpace = FACTORS | {
    "lr_all": Range(low=0.001, high=0.03, log=True),
    "reg_all": Range(low=0.005, high=0.3, log=True),
}


def summing_kernel(function: Any) -> Any:
    """Compile as `harness.kernels.kernel` does, but let sums be regrouped and products fused.

    A sum of 100 products that may be added up in any order runs several times faster, since no
    addition waits for the one before. It moves the last bits of a result: parameters learned in
    20 epochs on 100,000 ratings stay within 1e-13 of those learned in Surprise's order, where the
    harness promises 1e-9. NaN and infinity keep their meaning.
    """
    return compile_lazily(function, fastmath={"reassoc", "contract"})


class FactorModel(Algorithm):
    """Estimates of the form ``mean + b_u + b_i + p_u · q_i``, with or without the biases."""

    rates: ClassVar[tuple[str, ...]]
    """Attributes of a model that hold its learning rates,"""
    penalties: ClassVar[tuple[str, ...]]
    """and those that hold what it multiplies squares by."""

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        numbers = cls.values(model, cls.rates + cls.penalties)
        return are_integers(model.n_factors, model.n_epochs) and are_numbers(*numbers)

    @staticmethod
    def values(model: surprise.AlgoBase, names: Iterable[str]) -> list[Any]:
        """Return attributes of a model."""
        return [getattr(model, name) for name in names]

    def is_biased(self) -> bool:
        """Return whether mean and biases are part of the estimate."""
        return bool(self.model.biased)

    def user_factors(self, users: Codes) -> Floats:
        """Return the vector of each user, shape (n, n_factors); anything for an unknown one."""
        factors: Floats = self.model.pu[users]
        return factors

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        products = np.zeros(len(users))
        known = np.flatnonzero((users >= 0) & (items >= 0))
        for start in range(0, len(known), PAIRS_AT_ONCE):
            part = known[start : start + PAIRS_AT_ONCE]
            vectors = self.user_factors(users[part])
            products[part] = np.einsum("nf,nf->n", vectors, self.model.qi[items[part]])
        return self.with_biases(products, users, items)

    def rows(self, users: Codes) -> tuple[Floats, Bools | bool]:
        vectors = self.user_factors(users)
        vectors[users < 0] = 0.0
        return self.with_biases(vectors @ self.model.qi.T, users[:, None], self.items)

    def with_biases(
        self, products: Floats, users: Codes, items: Codes
    ) -> tuple[Floats, Bools | bool]:
        """Return estimates; without biases, those of an unknown side are impossible."""
        if not self.is_biased():
            return products, (users < 0) | (items < 0)
        products += baseline_estimates(self.model, users, items)
        return products, False


class SVD(FactorModel):
    """Factors and biases that descend rating by rating."""

    model_class = surprise.SVD
    summary = "biased matrix factorisation by stochastic gradient descent"
    citation = "koren2009matrix"
    style = ("blue", "o", "-", True)
    space = SPACE
    fit_methods = ("fit", "sgd")
    rates = ("lr_bu", "lr_bi", "lr_pu", "lr_qi")
    penalties = ("reg_bu", "reg_bi", "reg_pu", "reg_qi")

    @classmethod
    def memory(cls, params: Mapping[str, Any], size: Size) -> int:
        n_factors = int(params.get("n_factors", 100))
        return DOUBLE * n_factors * 2 * (size.n_users + size.n_items)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        pu, qi = (initial_factors(rng, model, n) for n in (trainset.n_users, trainset.n_items))
        bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
        biased = bool(model.biased)
        mean = float(trainset.global_mean) if biased else 0.0
        steps = [np.array(cls.values(model, each), float) for each in (cls.rates, cls.penalties)]
        for epoch in range(model.n_epochs):
            descend(trainset.by_user, mean, biased, *steps, bu, bi, pu, qi)
            how.progress(epoch + 1, model.n_epochs)
        model.bu, model.bi, model.pu, model.qi = bu, bi, pu, qi


def initial_factors(rng: np.random.RandomState, model: surprise.AlgoBase, n: int) -> Floats:
    """Draw the factors that a model starts from, in the order in which Surprise draws them."""
    return rng.normal(model.init_mean, model.init_std_dev, size=(n, model.n_factors))


# Stochastic gradient descent in Surprise's order: each rating moves the biases and vectors of its
# user and item against the gradient of its squared error plus penalty. A user's vector has just
# been changed when the next of the user's ratings needs its product with that item's, so one loop
# does both, and reads each vector once.
@summing_kernel
def descend(
    by_user: Lists,
    mean: float,
    biased: bool,
    rates: Floats,
    penalties: Floats,
    bu: Floats,
    bi: Floats,
    pu: Floats,
    qi: Floats,
) -> None:
    """Run one epoch over the ratings, user by user, changing biases and factors in place."""
    offsets, items, ratings = by_user
    n_factors = pu.shape[1]
    lr_bu, lr_bi, lr_pu, lr_qi = rates
    reg_bu, reg_bi, reg_pu, reg_qi = penalties
    kept_p, kept_q = 1.0 - lr_pu * reg_pu, 1.0 - lr_qi * reg_qi
    for user in range(len(offsets) - 1):
        first, last = offsets[user], offsets[user + 1] - 1
        if last < first:
            continue
        p = pu[user]
        b_u = bu[user]
        q = qi[items[first]]
        dot = 0.0
        for f in range(n_factors):
            dot += q[f] * p[f]
        for row in range(first, last + 1):
            item = items[row]
            q = qi[item]
            error = ratings[row] - (mean + b_u + bi[item] + dot)
            if biased:
                b_u += lr_bu * (error - reg_bu * b_u)
                bi[item] += lr_bi * (error - reg_bi * bi[item])
            step_p, step_q = lr_pu * error, lr_qi * error
            following = qi[items[min(row + 1, last)]]
            dot = 0.0
            for f in range(n_factors):
                p_f = p[f]
                q_f = q[f]
                p[f] = kept_p * p_f + step_p * q_f
                q[f] = kept_q * q_f + step_q * p_f
                dot += p[f] * following[f]
        bu[user] = b_u
