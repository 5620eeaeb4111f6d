"""SVD++: matrix factorisation that also learns from which items a user rated."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness._util.kernels import LANES, in_lines, read_ahead
from harness.algorithms import surprise
from harness.algorithms.base import DOUBLE, MEAN_AND_BIAS, Size
from harness.algorithms.compiled.svd import SVD, summing_kernel
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists

ORDERING_ROW = 28  # of the items of each user, while it is searched for repeated ones


class SVDpp(SVD):
    """Estimates whose user vector is ``p_u + Σ y_j / √|I_u|``."""

    model_class = surprise.SVDpp
    summary = "SVD that also learns from which items a user rated (SVD++)"
    unknown_user = MEAN_AND_BIAS
    citation = "koren2008factorization"
    style = ("blue", "s", "--", False)
    steps_a_factor = 1.8
    learnt = (*SVD.learnt, "yj")

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        vectors = size.n_users + 2 * size.n_items
        n_factors = cls.count(params, "n_factors") + LANES
        return DOUBLE * n_factors * vectors + ORDERING_ROW * size.n_ratings

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        # The y of an item that a user rated twice moves twice with each rating.
        return super().accepts(model, trainset) and not trainset.has_repeats

    @classmethod
    def is_biased(cls, model: surprise.AlgoBase) -> bool:
        return True

    @classmethod
    def run_epoch(cls, model: surprise.AlgoBase, *state: Any) -> None:
        descend_implicit(*state, *in_lines(np.empty((2, model.n_factors))))

    def user_factors(self, users: Codes) -> Floats:
        vectors = np.zeros((len(users), self.model.qi.shape[1]))
        add_implicit(self.trainset.by_user, users.astype(np.int64), self.model.yj, vectors)
        vectors += self.model.pu[users]
        return vectors


@summing_kernel
def add_implicit(by_user: GroupedLists, users: Codes, yj: Floats, sums: Floats) -> None:
    """Add ``Σ y_j / √|I_u|`` of each known user to a row of `sums`."""
    offsets, items, _ = by_user
    for place in range(len(users)):
        user = users[place]
        if user < 0:
            continue
        total = sums[place]
        for row in range(offsets[user], offsets[user + 1]):
            y = yj[items[row]]
            for f in range(len(total)):
                total[f] += y[f]
        root = np.sqrt(offsets[user + 1] - offsets[user])
        for f in range(len(total)):
            total[f] /= root


# Surprise adds up the implicit factors y_j of everything a user rated, and moves each of them, at
# every rating of that user: O(|I_u| · n_factors). But all of a user's y_j get the same update
#
#     y_j ← α y_j + (γ e / √|I_u|) q_i        α = 1 - γ λ
#
# and ratings come user by user, so the sum that the estimate needs, z = Σ y_j / √|I_u|, can be
# moved by itself,
#
#     z ← α z + γ e q_i
#
# and the y_j brought up to date when the user is done. After n = |I_u| ratings that began with z₀
#
#     y_j ← αⁿ y_j + (z - αⁿ z₀) / √|I_u|
#
# which is the same in exact arithmetic, and equal to 1e-9 in doubles.
@summing_kernel
def descend_implicit(
    by_user: GroupedLists,
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
    """Run one epoch over the ratings, user by user, changing biases and factors in place."""
    offsets, items, ratings = by_user
    n_factors = pu.shape[1]
    lr_bu, lr_bi, lr_pu, lr_qi, lr_yj = rates
    reg_bu, reg_bi, reg_pu, reg_qi, reg_yj = penalties
    alpha = 1.0 - lr_yj * reg_yj
    for user in range(len(offsets) - 1):
        start, stop = offsets[user], offsets[user + 1]
        root = np.sqrt(stop - start)
        p = pu[user]
        z[:] = 0.0
        read_ahead(yj, items, start, stop)
        for row in range(start, stop):
            y = yj[items[row]]
            for f in range(n_factors):
                z[f] += y[f]
        for f in range(n_factors):
            z[f] /= root
            z_before[f] = z[f]
        read_ahead(qi, items, start, stop)
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
