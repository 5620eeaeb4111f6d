"""New users of a model of neighbours; where these are users, those of the training set."""

from __future__ import annotations

import copy

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.compiled.baseline_only import fold_in_biases
from harness.algorithms.compiled.knn.similarities import similarities_of
from harness.algorithms.compiled.matrix import rows_of
from harness.algorithms.trainset import (
    Codes,
    ColumnTrainset,
    Floats,
    Lists,
    Order,
    RatingLists,
    both_ways,
)


def attributes_of(model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
    """Return the attributes of a model of the users of `trainset`, with the same items."""
    if not model.sim_options["user_based"]:
        return {"n_y": trainset.n_users, "yr": trainset.ur}
    bu = model.bu
    if bu is not None:
        of_new = fold_in_biases(model.bsl_options, model.bi, trainset)
        bu = np.concatenate([of_new, bu])
    return with_neighbours(model, trainset, bu)


def with_neighbours(
    model: surprise.AlgoBase, trainset: ColumnTrainset, bu: Floats | None
) -> dict[str, object]:
    """Return the attributes of a model of new users, whose neighbours are training users.

    New users have the first inner ids, and training users those behind them; only these are
    neighbours, so that each new user has the estimates that they would have alone. A new user of
    the name of a training user is that user: their similarity is the 1 of Surprise's diagonal.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted, with users as neighbours.
    trainset : ColumnTrainset
        Of the new users.
    bu : ndarray of float64, shape (n_new + n_training,), optional
        Biases of all, where the model has some.
    """
    fitted: ColumnTrainset = model.trainset
    n_new, n_all = trainset.n_users, trainset.n_users + fitted.n_users
    of_new, of_training = _columns(trainset, 0), _columns(fitted, n_new)
    users, items = (np.concatenate([of_new[side], of_training[side]]) for side in (0, 1))
    ratings = np.concatenate([of_new[2], of_training[2]])
    lists = both_ways(users, items, ratings, n_all, fitted.n_items)
    codes = np.arange(n_all, dtype=np.int32), fitted.item_codes
    names = range(n_all), fitted.item_ids
    together = ColumnTrainset(*lists, codes, names, fitted.rating_scale)
    together.__dict__["global_mean"] = fitted.global_mean
    joined = copy.copy(model)
    joined.trainset, joined.bu = together, bu
    similarities = similarities_of(joined, together)
    rows = rows_of(similarities, np.arange(n_new, dtype=np.int32))
    known = fitted._raw2inner_id_users
    for user, name in enumerate(trainset.raw_users(trainset.user_codes)):
        if (place := known.get(name)) is not None:
            rows[user, n_new + place] = 1.0
    raters = fitted.by_item._replace(ids=fitted.by_item.ids + np.int32(n_new))
    return {
        "n_x": n_all,
        "xr": trainset.ur,
        "yr": RatingLists(raters),
        "raters": (raters, Order.of(raters.offsets, raters.ids, n_all)),
        "sim": rows,
        "bu": bu,
    }


def _columns(trainset: ColumnTrainset, first: int) -> tuple[Codes, Codes, Floats]:
    """Return users, from `first` on, items and ratings in the order of `by_user`."""
    lists: Lists = trainset.by_user
    owners = np.arange(first, first + trainset.n_users, dtype=np.int32)
    return np.repeat(owners, np.diff(lists.offsets)), lists.ids, lists.ratings
