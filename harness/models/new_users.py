"""New users of a fitted model: their side is learned from their ratings, and items stay."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import as_array, checked
from harness._util.libraries import pd
from harness.algorithms import registry, surprise
from harness.algorithms.trainset import ColumnTrainset, Floats, group_lists
from harness.datasets.columns import RATINGS
from harness.errors import AlgorithmError, DataError, listed
from harness.rankings.columns import as_ids

NEW_USER = "new user"
_IN_COLUMNS: WeakKeyDictionary[surprise.Trainset, ColumnTrainset] = WeakKeyDictionary()
"""Copies of the training sets of models that Surprise fitted."""


@checked(AlgorithmError)
def fold_in(
    model: surprise.AlgoBase, ratings: Mapping[object, float] | pd.DataFrame
) -> surprise.AlgoBase:
    """Return a model for new users: their ratings set the users' parameters, the items' stay.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted; it is not changed. SVD, SVDpp, NMF, BaselineOnly, SlopeOne, CoClustering, the
        neighbour methods, Popularity, ItemMean, EASE, PureSVD and BinaryItemKNN can take new
        users.
    ratings : mapping of item to rating, or DataFrame
        Of one new user, or of several: columns ``user``, ``item`` and ``rating``. Items that the
        training set does not have say nothing of a user and are an error. To the ratings of a user
        of the training set, named in a DataFrame, their training ratings are added.

    Returns
    -------
    surprise.AlgoBase
        A model that knows only the new users, with ``predict`` and all else.

    Raises
    ------
    AlgorithmError
        If the algorithm cannot take new users.
    DataError
        For unknown items, items rated twice, and ratings that are not numbers or outside the scale.

    Notes
    -----
    Items stay as they are. BaselineOnly solves for the bias of the user as the last half step of
    its alternating least squares, or takes the epochs of its gradient descent. SVD and SVDpp begin
    with a bias of 0 and factors of ``init_mean``, NMF with factors halfway between ``init_low`` and
    ``init_high``, and all take the model's epochs over the user's ratings in their order.
    CoClustering puts a user into the cluster that estimates the ratings with the least squared
    error, as in an epoch of its fit, with the averages of the fitted clusters. The
    neighbour methods and SlopeOne learn nothing of a user, whose estimates follow from the ratings;
    where neighbours are users, neighbours of a new user are users of the training set, whom the
    ratings are compared with. Folding in the ratings of a user of the training set under the user's
    id gives that user's estimates, with baselines (if the algorithm has some) by ``als``; under
    another id, the training user is a neighbour like others. So it does in BaselineOnly with
    ``als``. Elsewhere estimates are near the estimates of a new fit, in which the items
    would move too.

    Examples
    --------
    >>> import harness, surprise
    >>> model = harness.fit(surprise.SVD(random_state=0), harness.load("bundled").to_surprise())
    >>> float(harness.fold_in(model, {"31": 5.0}).predict("new user", "1029").est)
    3.8...
    """
    fitted = in_columns(model)
    entry = registry.entry_of(type(model))
    if entry is None or not entry.may_score(fitted):
        raise AlgorithmError(f"{type(model).__name__}: your own class cannot take new users")
    trainset = _of_new_users(fitted.trainset, _checked_ratings(fitted.trainset, ratings))
    folded = copy.copy(fitted)
    folded.trainset = trainset
    vars(folded).update(entry.fold_in(fitted, trainset))
    return folded


def in_columns(model: surprise.AlgoBase) -> surprise.AlgoBase:
    """Return the model, or a shallow copy, with its training set in columns."""
    trainset = getattr(model, "trainset", None)
    if trainset is None:
        raise AlgorithmError(f"{type(model).__name__}: the model is not fitted; call harness.fit")
    if isinstance(trainset, ColumnTrainset):
        return model
    if trainset not in _IN_COLUMNS:
        _IN_COLUMNS[trainset] = ColumnTrainset.from_surprise(trainset)
    copied = copy.copy(model)
    copied.trainset = _IN_COLUMNS[trainset]
    return copied


def inner_ids(where: str, raw_ids: Sequence[Any], trained: Mapping[Any, int]) -> NDArray[np.int64]:
    """Return the inner id of each raw id, -1 for one that the training set does not have."""
    try:
        return np.array([trained.get(raw, -1) for raw in raw_ids], dtype=np.int64)
    except TypeError as error:  # as of a list
        raise AlgorithmError(f"{where}: {error}; give ids as the training set has them") from None


def rating_columns(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the columns user, item and rating by the names that files have, or raise a DataError.

    >>> [*rating_columns(pd.DataFrame({"customer_id": ["a"], "sku": ["x"], "stars": [4]}))]
    ['user', 'item', 'rating']
    """
    names = ["user", "item", "rating"]
    found = {}
    for role in names:
        exact = [place for place, name in enumerate(ratings.columns) if name == role]
        places = exact or RATINGS.positions([str(name) for name in ratings.columns], role)
        if len(places) == 1:
            found[role] = ratings.iloc[:, places[0]]
    if missing := [role for role in names if role not in found]:
        present = ", ".join(map(repr, ratings.columns)) or "none"
        raise DataError(
            f"ratings: no column {', '.join(missing)} among {present:.200}; rename them to user, "
            "item and rating"
        )
    return pd.DataFrame(found).reset_index(drop=True)


def on_scale(trainset: ColumnTrainset, frame: pd.DataFrame) -> Floats:
    """Return ratings as numbers, or raise a DataError on the first outside the scale."""
    values = as_array("ratings", frame["rating"].to_numpy(), error=DataError)
    low, high = trainset.rating_scale
    for rating in values[~((values >= low) & (values <= high))][:1]:
        raise DataError(
            f"ratings: {rating:.16g}; the scale of the training set is {low:.16g} to {high:.16g}: "
            "correct the rating"
        )
    return values


def _checked_ratings(
    trainset: ColumnTrainset, ratings: Mapping[object, float] | pd.DataFrame
) -> pd.DataFrame:
    """Return the ratings of new users with inner items."""
    if isinstance(ratings, pd.DataFrame):
        frame = rating_columns(ratings)
    else:
        columns = {"item": as_ids([*ratings]), "rating": [*ratings.values()]}
        frame = pd.DataFrame({"user": NEW_USER, **columns})
    if frame.empty:
        raise DataError("ratings: none; give a new user's ratings of at least one item")
    inner = inner_ids("ratings: items", frame["item"].tolist(), trainset._raw2inner_id_items)
    if (inner < 0).any():
        some = listed([*map(repr, frame["item"][inner < 0].tolist())], 5)
        raise DataError(
            f"ratings: items that the training set does not have ({some}); drop them, and give "
            "ratings as {item: rating} or a DataFrame"
        )
    values = on_scale(trainset, frame)
    frame = frame.assign(item=inner.astype(np.int32), rating=values)
    frame = _with_training_ratings(trainset, frame)
    if frame.duplicated(["user", "item"]).any() or frame["user"].isna().any():
        raise DataError(
            "ratings: a user has two ratings of an item, or no id; keep one, and none of an item "
            "that the user rated otherwise in training"
        )
    return frame


def _with_training_ratings(trainset: ColumnTrainset, frame: pd.DataFrame) -> pd.DataFrame:
    """Put the training ratings of users of the training set before their new ones."""
    users = pd.unique(frame["user"]).tolist()
    inner = inner_ids("ratings: users", users, trainset._raw2inner_id_users)
    offsets, items, ratings = trainset.by_user
    parts = []
    for user, place in zip(users, inner.tolist(), strict=True):
        if place >= 0:
            rows = slice(offsets[place], offsets[place + 1])
            columns = {"item": items[rows], "rating": ratings[rows]}
            parts.append(pd.DataFrame({"user": user, **columns}))
    if not parts:
        return frame
    together = pd.concat([*parts, frame], ignore_index=True)
    return together.drop_duplicates(["user", "item", "rating"], ignore_index=True)


def _of_new_users(trainset: ColumnTrainset, frame: pd.DataFrame) -> ColumnTrainset:
    """Return a training set of new users whose items have the inner ids of another."""
    users, ids = pd.factorize(frame["user"])
    inner, items, ratings = users.astype(np.int32), frame["item"].to_numpy(), frame["rating"]
    by_user = group_lists(inner, items, ratings.to_numpy(), len(ids))
    by_item = group_lists(items, inner, ratings.to_numpy(), trainset.n_items)
    codes = np.arange(len(ids), dtype=np.int32), trainset.item_codes
    names = ids.tolist(), trainset.item_ids
    new = ColumnTrainset(by_user, by_item, codes, names, trainset.rating_scale)
    new.__dict__["global_mean"] = trainset.global_mean
    return new
