"""SVD and its relatives with ratings that came after the fit: more epochs, and new users."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset, Floats

if TYPE_CHECKING:
    from harness.algorithms.compiled.svd import SVD


def grown(biases: Floats, n: int) -> Floats:
    """Return a copy of biases with those of new users or items, which are 0."""
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
        state.append(np.concatenate([factors, drawn]))
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
    state = [np.array(new.get(name, getattr(model, name))) for name in kind.learnt]
    kind.descend(model, trainset, state, tuple(new))
    return {name: value for name, value in zip(kind.learnt, state, strict=True) if name in new}
