"""SVD: biased or plain matrix factorization by stochastic gradient descent."""

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
from harness.algorithms.compiled.loops import summing_kernel
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset

__all__ = ["SVD", "FactorScorer", "initial_factors"]

PAIRS_AT_ONCE = 1 << 15


class FactorScorer(Scorer):
    """Estimates of the form ``mean + b_u + b_i + p_u · q_i``, with or without the biases."""

    def is_biased(self) -> bool:
        """Return whether mean and biases are part of the estimate."""
        return bool(self.model.biased)

    def user_factors(self, users: Codes) -> Floats:
        """Return the vector of each user, shape (n, n_factors); anything for an unknown one."""
        factors: Floats = self.model.pu[users]
        return factors

    def user_shifts(self, users: Codes) -> Floats:
        """Return ``mean + b_u``, the mean alone for an unknown user."""
        shifts: Floats = np.where(users >= 0, self.model.bu[users], 0.0)
        shifts += self.trainset.global_mean
        return shifts

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:  # noqa: D102
        known = (users >= 0) & (items >= 0)
        dots = np.zeros(len(users))
        places = np.flatnonzero(known)
        for start in range(0, len(places), PAIRS_AT_ONCE):
            part = places[start : start + PAIRS_AT_ONCE]
            vectors = self.user_factors(users[part])
            dots[part] = np.einsum("nf,nf->n", vectors, self.model.qi[items[part]])
        if not self.is_biased():
            dots[~known] = self.model.default_prediction()
            return dots, ~known
        estimates = self.user_shifts(users)
        estimates += np.where(items >= 0, self.model.bi[items], 0.0)
        return estimates + dots, np.zeros(len(users), np.bool_)

    def rows(self, users: Codes) -> Floats:  # noqa: D102
        unknown = users < 0
        vectors = self.user_factors(users)
        vectors[unknown] = 0.0
        estimates: Floats = vectors @ self.model.qi.T
        if self.is_biased():
            estimates += self.user_shifts(users)[:, None] + self.model.bi
        else:
            estimates[unknown] = self.model.default_prediction()
        return estimates


class SVD(Accelerator):
    """Accelerates `surprise.SVD`."""

    surprise_class = surprise.SVD
    scorer = FactorScorer
    fit_methods = ("fit", "sgd")

    def accepts(self, model: Any) -> bool:  # noqa: D102
        return are_integers(model.n_factors, model.n_epochs) and are_numbers(
            *(
                getattr(model, f"{kind}_{of}")
                for kind in ("lr", "reg")
                for of in ("bu", "bi", "pu", "qi")
            )
        )

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        pu, qi = (initial_factors(rng, model, n) for n in (trainset.n_users, trainset.n_items))
        bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
        biased = bool(model.biased)
        mean = float(trainset.global_mean) if biased else 0.0
        rates = np.array([model.lr_bu, model.lr_bi, model.lr_pu, model.lr_qi], np.float64)
        penalties = np.array([model.reg_bu, model.reg_bi, model.reg_pu, model.reg_qi], np.float64)
        for epoch in range(model.n_epochs):
            descend(
                *trainset.by_user,
                mean,
                biased,
                rates,
                penalties,
                bu,
                bi,
                pu,
                qi,
            )
            progress(epoch + 1, model.n_epochs)
        model.bu, model.bi, model.pu, model.qi = bu, bi, pu, qi


def initial_factors(rng: np.random.RandomState, model: Any, n: int) -> Floats:
    """Draw the factors that a model starts from, in the order in which Surprise draws them."""
    return rng.normal(model.init_mean, model.init_std_dev, size=(n, model.n_factors))


@summing_kernel
def descend(
    offsets: Offsets,
    items: Codes,
    ratings: Floats,
    mean: float,
    biased: bool,
    rates: Floats,
    penalties: Floats,
    bu: Floats,
    bi: Floats,
    pu: Floats,
    qi: Floats,
) -> None:
    """Run one epoch over the ratings, user by user, changing biases and factors in place.

    A user's vector has just been changed when the next of the user's ratings asks for its product
    with that item's, so one loop does both, and reads each vector once.
    """
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
