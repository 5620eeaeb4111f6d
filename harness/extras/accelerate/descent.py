"""Gradient descent of SVD and SVD++ with Surprise's result to the last bit.

A step of SVD changes the vectors of only one user and one item. So steps may be taken in any order
in which each user's and each item's steps keep theirs, and every number stays the same. Steps that
depend on each other are in different *waves*; steps of one wave are taken several at a time, so
that the processor adds up several products of vectors where one would wait for each addition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from harness._util.kernels import group_rows, in_lines, kernel
from harness.algorithms import surprise
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists, Offsets
from harness.extras.accelerate.products import PAIRS, dot_products

State = dict[str, Floats]
Learnt = tuple[Floats, Floats, Floats, Floats]  # bu, bi, pu, qi
ALL = slice(None)
_drawing = RLock()


class Waves(NamedTuple):
    """Ratings in an order in which no two of a wave have a user or an item in common."""

    starts: Offsets  # shape (n_waves + 1,)
    users: Codes
    items: Codes
    ratings: Floats


_WAVES: WeakKeyDictionary[ColumnTrainset, Waves] = WeakKeyDictionary()


def waves_of(trainset: ColumnTrainset) -> Waves:
    """Return the waves of a training set, found once for all fits on it."""
    waves = _WAVES.get(trainset)
    if waves is None:
        waves = _WAVES[trainset] = make_waves(trainset.by_user, trainset.n_items)
    return waves


def make_waves(by_user: GroupedLists, n_items: int) -> Waves:
    """Return the waves of the ratings of users."""
    offsets, items, ratings = by_user
    users = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    numbers = np.empty(len(items), np.int64)
    n_waves = number_waves(offsets, items, np.zeros(n_items, np.int64), numbers)
    starts, order = group_rows(numbers, n_waves)
    return Waves(starts, users[order], items[order], ratings[order])


@kernel
def number_waves(offsets: Offsets, items: Codes, last_of_item: Offsets, numbers: Offsets) -> int:
    """Write each rating's wave: the first after the waves of its user and of its item so far."""
    n_waves = 0
    for user in range(len(offsets) - 1):
        wave = 0
        for row in range(offsets[user], offsets[user + 1]):
            item = items[row]
            wave = max(wave, last_of_item[item])
            numbers[row] = wave
            wave += 1
            last_of_item[item] = wave
        n_waves = max(n_waves, wave)
    return n_waves


class RandomNumbers(NamedTuple):
    """What a seed has drawn so far, and the generator that draws more."""

    key: tuple[Any, ...]
    values: Floats
    generator: np.random.RandomState


KEPT_DRAWS = 4 << 20  # numbers: 32 MB
_last_draws: list[
    RandomNumbers
] = []  # of the last seed alone: folds and settings of a search share it


def first_vectors(model: surprise.AlgoBase, trainset: ColumnTrainset) -> list[Floats]:
    """Return the vectors of users and of items from which a fit of SVD begins; not to be changed.

    A seed draws the same numbers for each fold and setting, if more or fewer of them.
    """
    shapes = [(n, int(model.n_factors)) for n in (trainset.n_users, trainset.n_items)]
    seed, mean, deviation = model.random_state, model.init_mean, model.init_std_dev
    n = sum(n_rows * n_factors for n_rows, n_factors in shapes)
    if type(seed) is not int or n > KEPT_DRAWS:
        rng = surprise.utils.get_rng(seed)
        return [rng.normal(mean, deviation, shape) for shape in shapes]
    key = seed, mean, deviation
    with _drawing:
        draws = next((draws for draws in _last_draws if draws.key == key), None)
        if draws is None:
            draws = RandomNumbers(key, np.empty(0), surprise.utils.get_rng(seed))
        n_more = n - len(draws.values)
        if n_more > 0:
            more = draws.generator.normal(mean, deviation, n_more)
            draws = draws._replace(values=np.concatenate([draws.values, more]))
        _last_draws[:] = [draws]
    edge = shapes[0][0] * shapes[0][1]
    parts = draws.values[:edge], draws.values[edge:n]
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def forget_draws() -> None:
    """Give back the memory of what a seed has drawn."""
    _last_draws.clear()


def fit_svd(
    model: surprise.AlgoBase,
    trainset: ColumnTrainset,
    begin_epoch: Callable[[int], None],
    vectors: Sequence[Floats] | None = None,
) -> State:
    """Return what ``SVD.sgd`` learns; `vectors` are its first ones, if they are drawn already."""
    pu, qi = map(in_lines, vectors or first_vectors(model, trainset))
    means = means_of(model, trainset)
    learnt = learn(model, waves_of(trainset), means, pu, qi, begin_epoch)
    return state_of(model, learnt)


def means_of(model: surprise.AlgoBase, trainset: ColumnTrainset) -> Floats:
    """Return for each user the mean to which the biases of a model add."""
    return np.full(trainset.n_users, float(trainset.global_mean) if model.biased else 0.0)


def learn(
    model: surprise.AlgoBase,
    waves: Waves,
    means: Floats,
    pu: Floats,
    qi: Floats,
    begin_epoch: Callable[[int], None],
) -> Learnt:
    """Run all epochs of SVD; `pu` and `qi` are in lines of memory, and change in place."""
    bu, bi = np.zeros(len(pu)), np.zeros(len(qi))
    steps = steps_of(model, ("bu", "bi", "pu", "qi"))
    for epoch in range(model.n_epochs):
        begin_epoch(epoch)
        descend(bool(model.biased), waves, means, *steps, bu, bi, pu, qi, int(model.n_factors))
    return bu, bi, pu, qi


def state_of(
    model: surprise.AlgoBase, learnt: Learnt, users: slice = ALL, items: slice = ALL
) -> State:
    """Return what was learnt of some users and items, as arrays like Surprise's."""
    bu, bi, pu, qi = learnt
    factors = slice(int(model.n_factors))
    parts = {"bu": bu[users], "bi": bi[items], "pu": pu[users, factors], "qi": qi[items, factors]}
    return {name: np.array(part) for name, part in parts.items()}


def steps_of(model: surprise.AlgoBase, learnt: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return the learning rates and the penalties of what a model learns."""
    rates = [getattr(model, f"lr_{name}") for name in learnt]
    return np.array(rates, float), np.array(
        [getattr(model, f"reg_{name}") for name in learnt], float
    )


@kernel
def descend(
    biased: bool,
    waves: Waves,
    means: Floats,
    rates: Floats,
    penalties: Floats,
    bu: Floats,
    bi: Floats,
    pu: Floats,
    qi: Floats,
    n_factors: int,
) -> None:
    """Run one epoch, wave by wave; `means` are the users' means."""
    starts, users, items, ratings = waves
    lr_bu, lr_bi, lr_pu, lr_qi = rates
    reg_bu, reg_bi, reg_pu, reg_qi = penalties
    dots = np.empty(PAIRS)
    for wave in range(len(starts) - 1):
        first, last = starts[wave], starts[wave + 1]
        while first < last:
            stop = min(first + PAIRS, last)
            if stop - first > 1:
                dot_products(pu, qi, users, items, first, stop, n_factors, dots)
            else:
                p, q = pu[users[first]], qi[items[first]]
                dot = 0.0
                for f in range(n_factors):
                    dot += q[f] * p[f]
                dots[0] = dot
            for row in range(first, stop):
                user, item = users[row], items[row]
                error = ratings[row] - (means[user] + bu[user] + bi[item] + dots[row - first])
                if biased:
                    bu[user] += lr_bu * (error - reg_bu * bu[user])
                    bi[item] += lr_bi * (error - reg_bi * bi[item])
                p, q = pu[user], qi[item]
                for f in range(n_factors):
                    p_f = p[f]
                    q_f = q[f]
                    p[f] = p_f + lr_pu * (error * q_f - reg_pu * p_f)
                    q[f] = q_f + lr_qi * (error * p_f - reg_qi * q_f)
            first = stop


def n_implicit_steps(model: surprise.AlgoBase, trainset: ColumnTrainset) -> int:
    """Return how many numbers of implicit factors a fit of SVD++ adds up in Surprise's order."""
    lengths = np.diff(trainset.by_user.offsets)
    return int(lengths @ lengths) * int(model.n_factors) * int(model.n_epochs)


def fit_svdpp(
    model: surprise.AlgoBase, trainset: ColumnTrainset, begin_epoch: Callable[[int], None]
) -> State:
    """Return what ``SVDpp.sgd`` learns, by as many steps as Surprise takes."""
    rng = surprise.utils.get_rng(model.random_state)
    n_factors = int(model.n_factors)
    bu, bi = np.zeros(trainset.n_users), np.zeros(trainset.n_items)
    pu, qi, yj = (
        rng.normal(model.init_mean, model.init_std_dev, (n, n_factors))
        for n in (trainset.n_users, trainset.n_items, trainset.n_items)
    )
    steps = steps_of(model, ("bu", "bi", "pu", "qi", "yj"))
    mean = float(trainset.global_mean)
    scratch = np.empty((2, n_factors)), np.full(trainset.n_items, -1, np.int64)
    block = np.empty((int(np.diff(trainset.by_user.offsets).max(initial=0)), n_factors))
    for epoch in range(model.n_epochs):
        begin_epoch(epoch)
        descend_implicit(trainset.by_user, mean, *steps, bu, bi, pu, qi, yj, *scratch, block)
    return {"bu": bu, "bi": bi, "pu": pu, "qi": qi, "yj": yj}


@kernel
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
    scratch: Floats,
    place_of: Offsets,
    block: Floats,
) -> None:
    """Run one epoch; the y of a user's items are in a block meanwhile, each item's once."""
    offsets, items, ratings = by_user
    lr_bu, lr_bi, lr_pu, lr_qi, lr_yj = rates
    reg_bu, reg_bi, reg_pu, reg_qi, reg_yj = penalties
    implicit, pull = scratch
    n_factors = len(implicit)
    places = np.empty(len(block), np.int64)
    for user in range(len(offsets) - 1):
        start, stop = offsets[user], offsets[user + 1]
        root = np.sqrt(stop - start)
        n_places = 0
        for row in range(start, stop):
            item = items[row]
            if place_of[item] < 0:
                place_of[item] = n_places
                for f in range(n_factors):
                    block[n_places, f] = yj[item, f]
                n_places += 1
            places[row - start] = place_of[item]
        p = pu[user]
        for row in range(start, stop):
            item = items[row]
            q = qi[item]
            for f in range(n_factors):
                implicit[f] = 0.0
            for place in places[: stop - start]:
                y = block[place]
                for f in range(n_factors):
                    implicit[f] += y[f] / root
            dot = 0.0
            for f in range(n_factors):
                dot += q[f] * (p[f] + implicit[f])
            error = ratings[row] - (mean + bu[user] + bi[item] + dot)
            bu[user] += lr_bu * (error - reg_bu * bu[user])
            bi[item] += lr_bi * (error - reg_bi * bi[item])
            for f in range(n_factors):
                p_f = p[f]
                q_f = q[f]
                p[f] = p_f + lr_pu * (error * q_f - reg_pu * p_f)
                q[f] = q_f + lr_qi * (error * (p_f + implicit[f]) - reg_qi * q_f)
                pull[f] = error * q_f / root
            for place in places[: stop - start]:
                y = block[place]
                for f in range(n_factors):
                    y[f] += lr_yj * (pull[f] - reg_yj * y[f])
        for row in range(start, stop):
            item = items[row]
            place = place_of[item]
            if place >= 0:
                yj[item] = block[place]
                place_of[item] = -1
