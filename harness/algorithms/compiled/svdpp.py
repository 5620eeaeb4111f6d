"""SVD++: SVD with implicit feedback, in O(n_factors) a rating.

Surprise adds up the implicit factors ``y_j`` of everything a user rated, and moves each of them, at
every rating of that user: O(|I_u| · n_factors). But all of a user's ``y_j`` get the same update

    y_j ← α y_j + (γ e / √|I_u|) q_i        α = 1 - γ λ

and ratings come user by user, so the sum that the estimate needs, ``z = Σ y_j / √|I_u|``, can be
moved by itself,

    z ← α z + γ e q_i

and the ``y_j`` brought up to date when the user is done. After n = |I_u| ratings that began with z₀

    y_j ← αⁿ y_j + (z - αⁿ z₀) / √|I_u|

which is the same in exact arithmetic, and equal to 1e-9 in doubles.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from harness.algorithms.columns import repeats
from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Codes,
    Floats,
    Offsets,
    Progress,
    are_integers,
    are_numbers,
)
from harness.algorithms.compiled.loops import summing_kernel
from harness.algorithms.compiled.svd import FactorScorer, initial_factors
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset

__all__ = ["SVDpp"]


class ImplicitScorer(FactorScorer):
    """Estimates whose user vector is ``p_u + Σ y_j / √|I_u|``."""

    def is_biased(self) -> bool:
        return True

    def user_factors(self, users: Codes) -> Floats:
        vectors = np.zeros((len(users), self.model.qi.shape[1]))
        offsets, items = self.trainset.user_offsets, self.trainset.user_items
        add_implicit(offsets, items, users.astype(np.int64), self.model.yj, vectors)
        vectors += self.model.pu[users]
        return vectors


class SVDpp(Accelerator):
    """Accelerates `surprise.SVDpp`."""

    surprise_class = surprise.SVDpp
    scorer = ImplicitScorer
    fit_methods = ("fit", "sgd")

    def accepts(self, model: Any) -> bool:  # noqa: D102
        kinds = ((kind, of) for kind in ("lr", "reg") for of in ("bu", "bi", "pu", "qi", "yj"))
        return are_integers(model.n_factors, model.n_epochs) and are_numbers(
            *(getattr(model, f"{kind}_{of}") for kind, of in kinds)
        )

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        rng = surprise.utils.get_rng(model.random_state)
        counts = (trainset.n_users, trainset.n_items, trainset.n_items)
        pu, qi, yj = (initial_factors(rng, model, n) for n in counts)
        bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
        rates = np.array([model.lr_bu, model.lr_bi, model.lr_pu, model.lr_qi, model.lr_yj], float)
        penalties = np.array(
            [model.reg_bu, model.reg_bi, model.reg_pu, model.reg_qi, model.reg_yj], float
        )
        # A user who rated an item twice needs a loop of its own, compiled only for such users.
        repeated = repeats(*trainset.user_order[:2])
        changes = np.flatnonzero(np.diff(repeated)) + 1
        stretches = list(pairwise([0, *changes.tolist(), trainset.n_users]))
        columns = (*trainset.by_user, float(trainset.global_mean), rates, penalties)
        learned = (bu, bi, pu, qi, yj, *np.empty((2, model.n_factors)))
        for epoch in range(model.n_epochs):
            for first, last in stretches:
                descend = descend_repeated if repeated[first] else descend_once
                descend(first, last, *columns, *learned)
            progress(epoch + 1, model.n_epochs)
        model.bu, model.bi, model.pu, model.qi, model.yj = bu, bi, pu, qi, yj


@summing_kernel
def add_implicit(offsets: Offsets, items: Codes, users: Offsets, yj: Floats, sums: Floats) -> None:
    """Add ``Σ y_j / √|I_u|`` of each known user to a row of `sums`."""
    for asked in range(len(users)):
        user = users[asked]
        if user < 0:
            continue
        total = sums[asked]
        for row in range(offsets[user], offsets[user + 1]):
            y = yj[items[row]]
            for f in range(len(total)):
                total[f] += y[f]
        root = np.sqrt(offsets[user + 1] - offsets[user])
        for f in range(len(total)):
            total[f] /= root


@summing_kernel
def descend_once(
    first: int,
    last: int,
    offsets: Offsets,
    items: Codes,
    ratings: Floats,
    mean: float,
    rates: Floats,
    penalties: Floats,
    bu: Floats,
    bi: Floats,
    pu: Floats,
    qi: Floats,
    yj: Floats,
    z: Floats,
    z_before: Floats,
) -> None:
    """Run one epoch over the ratings of some users, changing biases and factors in place.

    As the head of this module derives it: the implicit sum z moves with each rating, and the y of
    all the user's items are brought up to date behind the last one.
    """
    n_factors = pu.shape[1]
    lr_bu, lr_bi, lr_pu, lr_qi, lr_yj = rates
    reg_bu, reg_bi, reg_pu, reg_qi, reg_yj = penalties
    alpha = 1.0 - lr_yj * reg_yj
    for user in range(first, last):
        start, stop = offsets[user], offsets[user + 1]
        root = np.sqrt(stop - start)
        p = pu[user]
        for f in range(n_factors):
            z[f] = 0.0
        for row in range(start, stop):
            y = yj[items[row]]
            for f in range(n_factors):
                z[f] += y[f]
        for f in range(n_factors):
            z[f] /= root
            z_before[f] = z[f]
        for row in range(start, stop):
            item = items[row]
            q = qi[item]
            dot = 0.0
            for f in range(n_factors):
                dot += q[f] * (p[f] + z[f])
            error = ratings[row] - (mean + bu[user] + bi[item] + dot)
            bu[user] += lr_bu * (error - reg_bu * bu[user])
            bi[item] += lr_bi * (error - reg_bi * bi[item])
            for f in range(n_factors):
                p_f = p[f]
                q_f = q[f]
                z_f = z[f]
                p[f] = p_f + lr_pu * (error * q_f - reg_pu * p_f)
                q[f] = q_f + lr_qi * (error * (p_f + z_f) - reg_qi * q_f)
                z[f] = alpha * z_f + lr_yj * error * q_f
        shrink = alpha ** (stop - start)
        for f in range(n_factors):
            z[f] = (z[f] - shrink * z_before[f]) / root
        for row in range(start, stop):
            y = yj[items[row]]
            for f in range(n_factors):
                y[f] = shrink * y[f] + z[f]


@summing_kernel
def descend_repeated(
    first: int,
    last: int,
    offsets: Offsets,
    items: Codes,
    ratings: Floats,
    mean: float,
    rates: Floats,
    penalties: Floats,
    bu: Floats,
    bi: Floats,
    pu: Floats,
    qi: Floats,
    yj: Floats,
    z: Floats,
    q_before: Floats,
) -> None:
    """Do what `descend_once` does for users who rated an item twice, step by step as Surprise.

    The y of such an item moves twice with each rating, so z is summed again at each.
    """
    n_factors = pu.shape[1]
    lr_bu, lr_bi, lr_pu, lr_qi, lr_yj = rates
    reg_bu, reg_bi, reg_pu, reg_qi, reg_yj = penalties
    for user in range(first, last):
        start, stop = offsets[user], offsets[user + 1]
        root = np.sqrt(stop - start)
        p = pu[user]
        for row in range(start, stop):
            item = items[row]
            q = qi[item]
            for f in range(n_factors):
                z[f] = 0.0
            for other in range(start, stop):
                y = yj[items[other]]
                for f in range(n_factors):
                    z[f] += y[f] / root
            dot = 0.0
            for f in range(n_factors):
                dot += q[f] * (p[f] + z[f])
            error = ratings[row] - (mean + bu[user] + bi[item] + dot)
            bu[user] += lr_bu * (error - reg_bu * bu[user])
            bi[item] += lr_bi * (error - reg_bi * bi[item])
            for f in range(n_factors):
                p_f = p[f]
                q_f = q[f]
                q_before[f] = q_f
                p[f] = p_f + lr_pu * (error * q_f - reg_pu * p_f)
                q[f] = q_f + lr_qi * (error * (p_f + z[f]) - reg_qi * q_f)
            for other in range(start, stop):
                y = yj[items[other]]
                for f in range(n_factors):
                    y[f] += lr_yj * (error * q_before[f] / root - reg_yj * y[f])
