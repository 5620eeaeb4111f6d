"""Gradient descent of several models of SVD side by side on one training set, to the last bit.

In the fit of one model, each product of vectors waits for the step before, and each of its
additions for the one before, since they keep Surprise's order. Models do not wait for each other.
Their numbers lie side by side, in *lanes*, and one instruction works on all lanes, each of which
keeps its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness._util.kernels import Instruction, generate_prefetch, in_lines, kernel
from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset, Floats, GroupedLists
from harness.extras.accelerate.descent import State, steps_of

Sides = tuple[Floats, ...]  # of users and of items
Speeds = tuple[Floats, Floats]  # learning rates and penalties, shape (4, lanes)
LANES = 4  # doubles that most processors add at once
DOUBLE_BYTES = 8


class _Rows:
    """Code that reads and writes the rows of arrays as vectors."""

    def __init__(self, context: Any, builder: Any, signature: Any, values: Any) -> None:
        from llvmlite import ir
        from numba.core import cgutils

        self.builder, self.vector = builder, ir.VectorType(ir.DoubleType(), LANES)
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        ]
        pointer = self.vector.as_pointer()
        self.starts = [builder.bitcast(array.data, pointer) for array in arrays]
        self.length = cgutils.unpack_tuple(builder, arrays[0].shape)[0]
        self.index = ir.IntType(64)

    def read(self, array: int, row: Any) -> Any:
        value = self.builder.load(self.at(array, row))
        value.align = DOUBLE_BYTES
        return value

    def write(self, array: int, row: Any, value: Any) -> None:
        self.builder.store(value, self.at(array, row)).align = DOUBLE_BYTES

    def at(self, array: int, row: Any) -> Any:
        """Return where a row begins."""
        place = self.index(row) if isinstance(row, int) else row
        return self.builder.gep(self.starts[array], [place])


def _add_products(p: Floats, q: Floats, following: Floats, sums: Floats) -> None:
    sums[0] = 0.0
    for f in range(len(p)):
        sums[0] += q[f] * p[f]


def _generate_products(context: Any, builder: Any, signature: Any, values: Any) -> None:
    from numba.core import cgutils

    rows = _Rows(context, builder, signature, values)
    total = cgutils.alloca_once_value(builder, rows.vector([0.0] * LANES))
    with cgutils.for_range(builder, rows.length) as loop:
        address = builder.ptrtoint(rows.at(2, loop.index), rows.index)
        generate_prefetch(context, builder, None, [address])
        product = builder.fmul(rows.read(1, loop.index), rows.read(0, loop.index))
        builder.store(builder.fadd(builder.load(total), product), total)
    rows.write(3, 0, builder.load(total))


def _move(p: Floats, q: Floats, steps: Floats) -> None:
    error, lr_p, reg_p, lr_q, reg_q = steps
    p[:], q[:] = p + lr_p * (error * q - reg_p * p), q + lr_q * (error * p - reg_q * q)


def _generate_move(context: Any, builder: Any, signature: Any, values: Any) -> None:
    from numba.core import cgutils

    rows = _Rows(context, builder, signature, values)
    error, lr_p, reg_p, lr_q, reg_q = (rows.read(2, place) for place in range(5))

    def moved(here: Any, there: Any, rate: Any, penalty: Any) -> Any:
        pull = builder.fsub(builder.fmul(error, there), builder.fmul(penalty, here))
        return builder.fadd(here, builder.fmul(rate, pull))

    with cgutils.for_range(builder, rows.length) as loop:
        p, q = rows.read(0, loop.index), rows.read(1, loop.index)
        rows.write(0, loop.index, moved(p, q, lr_p, reg_p))
        rows.write(1, loop.index, moved(q, p, lr_q, reg_q))


add_products = Instruction(_add_products, _generate_products)
"""``add_products(p, q, following, sums)``: write products of two vectors into ``sums[0]``, by lane;
meanwhile, read `following` ahead."""
move = Instruction(_move, _generate_move)
"""``move(p, q, steps)``: move both vectors; rows of `steps` are errors, rates and penalties."""


def fit_together(
    models: Sequence[surprise.AlgoBase],
    trainset: ColumnTrainset,
    first_vectors: Sequence[Sequence[Floats]],
) -> list[State | None]:
    """Return what ``SVD.sgd`` learns of each model; None where numbers grew beyond all bounds.

    Parameters
    ----------
    models : sequence of SVD
        At most `LANES`, of equal `n_epochs` and `biased`.
    trainset : ColumnTrainset
        What all are fitted on.
    first_vectors : sequence
        For each model, the vectors of users and of items from which it begins.
    """
    biased, n_epochs = bool(models[0].biased), models[0].n_epochs
    steps = np.zeros((2, 4, LANES))
    for lane, model in enumerate(models):
        steps[:, :, lane] = steps_of(model, ("bu", "bi", "pu", "qi"))
    sizes = trainset.n_users, trainset.n_items
    bu, bi = biases = np.zeros((sizes[0], LANES)), np.zeros((sizes[1], LANES))
    of_users, of_items = zip(*first_vectors, strict=True)
    pu, qi = factors = _side_by_side(of_users), _side_by_side(of_items)
    mean = float(trainset.global_mean) if biased else 0.0
    for _ in range(n_epochs):
        descend_lanes(biased, trainset.by_user, mean, (steps[0], steps[1]), biases, factors)
    states: list[State | None] = []
    for lane, model in enumerate(models):
        learnt = bu[:, lane], bi[:, lane], pu[:, :, lane], qi[:, :, lane]
        if not all(np.isfinite(numbers).all() for numbers in learnt):
            states.append(None)  # zeros behind a model's factors are no longer zeros
            continue
        n_factors = int(model.n_factors)
        vectors = (side[:, :n_factors] for side in learnt[2:])
        columns = map(np.ascontiguousarray, (*learnt[:2], *vectors))
        states.append(dict(zip(("bu", "bi", "pu", "qi"), columns, strict=True)))
    return states


def _side_by_side(vectors: Sequence[Floats]) -> Floats:
    """Return vectors of several models, shape (n, factors, lanes), zeros where one has none."""
    n, width = len(vectors[0]), max(columns.shape[1] for columns in vectors)
    lanes = np.zeros((n, width, LANES))
    for lane, columns in enumerate(vectors):
        lanes[:, : columns.shape[1], lane] = columns
    return in_lines(lanes.reshape(n, -1)).reshape(n, -1, LANES)


@kernel
def descend_lanes(
    biased: bool, by_user: GroupedLists, mean: float, speeds: Speeds, biases: Sides, factors: Sides
) -> None:
    """Run one epoch of all lanes, rating by rating."""
    offsets, items, ratings = by_user
    rates, penalties = speeds
    bu, bi = biases
    pu, qi = factors
    sums = np.empty((1, LANES))
    steps = np.empty((5, LANES))
    for lane in range(LANES):
        steps[1, lane], steps[2, lane] = rates[2, lane], penalties[2, lane]
        steps[3, lane], steps[4, lane] = rates[3, lane], penalties[3, lane]
    for user in range(len(offsets) - 1):
        p = pu[user]
        for row in range(offsets[user], offsets[user + 1]):
            item = items[row]
            q = qi[item]
            add_products(p, q, qi[items[min(row + 1, len(items) - 1)]], sums)
            for lane in range(LANES):
                error = ratings[row] - (mean + bu[user, lane] + bi[item, lane] + sums[0, lane])
                if biased:
                    bu[user, lane] += rates[0, lane] * (error - penalties[0, lane] * bu[user, lane])
                    bi[item, lane] += rates[1, lane] * (error - penalties[1, lane] * bi[item, lane])
                steps[0, lane] = error
            move(p, q, steps)
