"""SVD: matrix factorisation by stochastic gradient descent; estimates by factors."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.random import Generator

from harness._util.kernels import (
    CACHED,
    LANES,
    LINE,
    ROWS_AHEAD,
    cached_rows,
    drawn_in_lines,
    in_lines,
    kernel,
    out_of_lines,
    prefetch,
)
from harness.algorithms import surprise
from harness.algorithms.base import (
    DOUBLE,
    MEAN_AND_BIAS,
    Algorithm,
    Counts,
    Estimates,
    FitOptions,
    Progress,
    Size,
    Work,
)
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists
from harness.schema.sections import SearchSpace, log_range

PAIRS_AT_ONCE = 1 << 15
FACTORS: SearchSpace = {"n_factors": log_range(5, 150), "n_epochs": log_range(1, 100)}
F = TypeVar("F", bound=Callable[..., None])


def summing_kernel(function: F) -> F:
    """Compile as `harness._util.kernels.kernel` does, but let sums be regrouped and products fused.

    A sum of 100 products that may be added up in any order runs several times faster, since no
    addition waits for the one before. It moves the last bits of a result: parameters learned in
    20 epochs on 100,000 ratings stay within 1e-13 of those learned in Surprise's order, where the
    harness promises 1e-9. NaN and infinity keep their meaning.
    """
    return kernel(function, fastmath={"reassoc", "contract"})


class FactorModel(Algorithm):
    """Estimates of the form ``mean + b_u + b_i + p_u · q_i``, with or without the biases."""

    @classmethod
    def products(cls, params: Params, counts: Counts) -> float:
        """Return the steps of products of factors, for pairs and for whole rows."""
        n_factors = cls.count(params, "n_factors")
        of_rows = counts.n_lists * counts.n_items * (4 + 0.15 * n_factors)
        return counts.n_pairs * (20 + 3 * n_factors) + of_rows

    @classmethod
    def is_biased(cls, model: surprise.AlgoBase) -> bool:
        """Return whether mean and biases are part of the estimate."""
        return bool(getattr(model, "biased", False))

    def user_factors(self, users: Codes) -> Floats:
        """Return the vector of each user, shape (n, n_factors); anything for an unknown one."""
        factors: Floats = self.model.pu[users]
        return factors

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        products = np.zeros(len(users))
        both_known = np.flatnonzero((users >= 0) & (items >= 0))
        for start in range(0, len(both_known), PAIRS_AT_ONCE):
            part = both_known[start : start + PAIRS_AT_ONCE]
            vectors = self.user_factors(users[part])
            products[part] = np.einsum("nf,nf->n", vectors, self.model.qi[items[part]])
        return self.with_biases(products, users, items)

    def rows(self, users: Codes) -> Estimates:
        vectors = self.user_factors(users)
        vectors[users < 0] = 0.0
        return self.with_biases(vectors @ self.model.qi.T, users[:, None], self.items)

    def with_biases(self, products: Floats, users: Codes, items: Codes) -> Estimates:
        """Return estimates; without biases, an unknown side has none."""
        if not self.is_biased(self.model):
            unknown = users < 0
            return products, unknown | (items < 0) if np.any(items < 0) else unknown
        for part in cached_rows(products):
            products[part] += self.baselines(users[part], items if users.ndim > 1 else items[part])
        return products, False


class SVD(FactorModel):
    """Factors and biases that descend rating by rating."""

    model_class = surprise.SVD
    summary = "biased matrix factorisation by stochastic gradient descent"
    unknown_user = f"{MEAN_AND_BIAS}, without `biased` only the mean"
    citation = "koren2009matrix"
    style = ("blue", "o", "-", True)
    space = FACTORS | {"lr_all": log_range(0.00001, 0.1), "reg_all": log_range(0.001, 1.0)}
    fit_methods = ("fit", "sgd")
    steps_a_factor: ClassVar[float] = 0.6
    """Steps of a rating in an epoch, per factor."""
    learnt: ClassVar[tuple[str, ...]] = ("bu", "bi", "pu", "qi")
    """Attributes of a fitted model, each with a learning rate ``lr_`` and a penalty ``reg_``."""

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        return DOUBLE * (cls.count(params, "n_factors") + LANES) * (size.n_users + size.n_items)

    @classmethod
    def work(cls, params: Params, counts: Counts) -> Work:
        steps = cls.steps_a_factor * cls.count(params, "n_factors") + 6.0
        fit = counts.n_ratings * cls.epochs(params) * steps
        drawn = cls.count(params, "n_factors") * (counts.n_users + counts.n_items)
        return Work(fit + 25 * drawn, cls.products(params, counts))

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        n_users, n_items = trainset.n_users, trainset.n_items
        draw = partial(rng.normal, model.init_mean, model.init_std_dev)
        state = [np.zeros(n_users), np.zeros(n_items)]
        state += (
            drawn_in_lines(draw, n, model.n_factors)
            for n in (n_users, n_items, n_items)[: len(cls.learnt) - 2]
        )
        cls.descend(model, trainset, state, cls.learnt, how.progress)
        vars(model).update(zip(cls.learnt, state, strict=True))

    @classmethod
    def go_on(
        cls, model: surprise.AlgoBase, trainset: ColumnTrainset, n_epochs: int, rng: Generator
    ) -> bool:
        go_on(cls, model, trainset, n_epochs, rng)
        return True

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        return fold_in(cls, model, trainset)

    @classmethod
    def descend(
        cls,
        model: surprise.AlgoBase,
        trainset: ColumnTrainset,
        state: list[Floats],
        moving: tuple[str, ...],
        progress: Progress = lambda step, n_steps: None,
    ) -> None:
        """Run the model's epochs, changing the list in place; what is not `moving` stays the same.

        Factors come in lines of memory, and leave without the zeros behind them.
        """
        rates = [getattr(model, f"lr_{name}") * (name in moving) for name in cls.learnt]
        penalties = [getattr(model, f"reg_{name}") for name in cls.learnt]
        steps = np.array(rates, float), np.array(penalties, float)
        mean = float(trainset.global_mean) if cls.is_biased(model) else 0.0
        for epoch in range(model.n_epochs):
            cls.run_epoch(model, trainset.by_user, mean, *steps, *state)
            progress(epoch + 1, model.n_epochs)
        state[2:] = (out_of_lines(factors, model.n_factors) for factors in state[2:])

    @classmethod
    def run_epoch(cls, model: surprise.AlgoBase, *state: Any) -> None:
        """Let all that is learnt descend once over the ratings."""
        descend(bool(model.biased), *state)


# Stochastic gradient descent in Surprise's order: each rating moves the biases and vectors of its
# user and item against the gradient of its squared error plus penalty. A user's vector has just
# been changed when the next of the user's ratings needs its product with that item's, so one loop
# does both, and reads each vector once. Vectors of items are read ahead as `read_ahead` does; as a
# call it would take a tenth of the loop's time.
@summing_kernel
def descend(
    biased: bool,
    by_user: GroupedLists,
    mean: float,
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
    end = len(items) - 1
    is_far, vectors, size = qi.nbytes > CACHED, qi.ctypes.data, qi.strides[0]
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
            if is_far and row + ROWS_AHEAD <= end:
                start = vectors + items[row + ROWS_AHEAD] * size
                for address in range(start, start + size, LINE):
                    prefetch(address)
            item = items[row]
            q = qi[item]
            error = ratings[row] - (mean + b_u + bi[item] + dot)
            if biased:
                b_u += lr_bu * (error - reg_bu * b_u)
                bi[item] += lr_bi * (error - reg_bi * bi[item])
            step_p, step_q = lr_pu * error, lr_qi * error
            following = qi[items[min(row + 1, end)]]
            dot = 0.0
            for f in range(n_factors):
                p_f = p[f]
                q_f = q[f]
                p[f] = kept_p * p_f + step_p * q_f
                q[f] = kept_q * q_f + step_q * p_f
                dot += p[f] * following[f]
        bu[user] = b_u


def grown(biases: Floats, n: int) -> Floats:
    """Return a copy of biases, with 0 for new users or items."""
    return np.concatenate([biases, np.zeros(n - len(biases))])


def go_on(
    kind: type[SVD],
    model: surprise.AlgoBase,
    trainset: ColumnTrainset,
    n_epochs: int,
    rng: Generator,
) -> None:
    """Let a model take epochs more over ratings whose first users and items it knows."""
    sizes = (trainset.n_users, trainset.n_items)
    state = [grown(getattr(model, name), n) for name, n in zip(("bu", "bi"), sizes, strict=True)]
    for name, n in zip(kind.learnt[2:], (*sizes, trainset.n_items), strict=False):
        factors = getattr(model, name)
        shape = (n - len(factors), model.n_factors)
        drawn = rng.normal(model.init_mean, model.init_std_dev, shape)
        state.append(in_lines(factors, drawn))
    shorter = copy.copy(model)
    shorter.n_epochs = n_epochs
    kind.descend(shorter, trainset, state, kind.learnt)
    vars(model).update(zip(kind.learnt, state, strict=True))


def fold_in(
    kind: type[SVD], model: surprise.AlgoBase, trainset: ColumnTrainset
) -> dict[str, object]:
    """Return the attributes of a model of other users, with the same items."""
    new = {
        "bu": np.zeros(trainset.n_users),
        "pu": np.full((trainset.n_users, model.n_factors), float(model.init_mean)),
    }
    state = [np.array(new.get(name, getattr(model, name))) for name in kind.learnt[:2]]
    state += (in_lines(new.get(name, getattr(model, name))) for name in kind.learnt[2:])
    kind.descend(model, trainset, state, tuple(new))
    return {name: value for name, value in zip(kind.learnt, state, strict=True) if name in new}
