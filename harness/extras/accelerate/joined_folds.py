"""Gradient descent of one setting of SVD on several training sets at once, to the last bit.

In the fit on one training set, most ratings wait for the one before: it is of the same user or
item. Folds have no user or item in common once each has its own numbers, so that the waves of all
are wider, and the processor has sums to add up while others wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise, starmap

import numpy as np

from harness._util.kernels import in_lines
from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset, Floats, GroupedLists
from harness.extras.accelerate.descent import State, learn, make_waves, means_of, state_of

FOLDS = 4
"""Training sets, at most: of more, the vectors no longer fit into the caches of most processors."""


def fit_joined(
    model: surprise.AlgoBase,
    trainsets: Sequence[ColumnTrainset],
    first_vectors: Sequence[Sequence[Floats]],
) -> list[State]:
    """Return what ``SVD.sgd`` learns on each training set.

    Parameters
    ----------
    model : SVD
        A model with the parameters of all fits.
    trainsets : sequence of ColumnTrainset
        What it is fitted on.
    first_vectors : sequence
        For each training set, the vectors of users and of items from which the fit begins.
    """
    waves = make_waves(joined_lists(trainsets), sum(trainset.n_items for trainset in trainsets))
    means = np.concatenate([means_of(model, trainset) for trainset in trainsets])
    of_users, of_items = zip(*first_vectors, strict=True)
    pu, qi = in_lines(*of_users), in_lines(*of_items)
    learnt = learn(model, waves, means, pu, qi, lambda epoch: None)
    edges = [accumulate(map(len, side), initial=0) for side in (of_users, of_items)]
    users, items = (starmap(slice, pairwise(side)) for side in edges)
    return [state_of(model, learnt, *rows) for rows in zip(users, items, strict=True)]


def joined_lists(trainsets: Sequence[ColumnTrainset]) -> GroupedLists:
    """Return the ratings of all users, with numbers of items that no two training sets share."""
    offsets, items, ratings = [np.zeros(1, np.int64)], [], []
    n_ratings = n_items = 0
    for trainset in trainsets:
        lists = trainset.by_user
        offsets.append(lists.offsets[1:] + n_ratings)
        items.append(lists.ids + np.int32(n_items))
        ratings.append(lists.ratings)
        n_ratings += trainset.n_ratings
        n_items += trainset.n_items
    return GroupedLists(np.concatenate(offsets), np.concatenate(items), np.concatenate(ratings))
