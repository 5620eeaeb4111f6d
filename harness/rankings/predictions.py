"""Rankings from what a model returns: lists of predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness.errors import MetricError
from harness.metrics import Pairs, Rankings, parse, score
from harness.rankings.pairs import from_grouped, group_pairs

__all__ = ["from_predictions", "ndcg", "pairs_of"]


def pairs_of(predictions: Iterable[Any]) -> tuple[Pairs, Any]:
    """Group predictions by user.

    Parameters
    ----------
    predictions : iterable
        ``surprise.Prediction`` (or anything with ``uid``, ``r_ui`` and ``est``), triples of user,
        estimate and rating, or pairs of estimate and rating that all belong to one user.

    Returns
    -------
    pairs : Pairs
    users : ndarray, shape (n_users,)

    Raises
    ------
    MetricError
        If a prediction is none of these, has no true rating, or there is none.

    Examples
    --------
    >>> pairs, users = pairs_of([("u", 3.0, 4), ("v", 2.0, 5), ("u", 1.0, 2)])
    >>> users.tolist(), pairs.offsets.tolist()
    (['u', 'v'], [0, 2, 3])
    """
    users: list[Any] = []
    estimates: list[float] = []
    ratings: list[float] = []
    for position, prediction in enumerate(predictions):
        user, estimate, rating = _row(position, prediction)
        if rating is None:
            raise MetricError(
                f"predictions[{position}]: there is no true rating; score a test set, "
                "not an anti-test set"
            )
        users.append(user)
        estimates.append(estimate)
        ratings.append(rating)
    if not users:
        raise MetricError("predictions: empty; give at least one")
    column = np.empty(len(users), dtype=object)
    column[:] = users
    return group_pairs(column, estimates, ratings)


def from_predictions(predictions: Iterable[Any]) -> Rankings:
    """Rank each user's predictions by estimate; every item is judged.

    Parameters
    ----------
    predictions : iterable
        As `pairs_of` takes them.

    Examples
    --------
    >>> from_predictions([(2.5, 3), (4.5, 4), (4.0, 5)]).relevance.tolist()
    [4.0, 5.0, 3.0]
    """
    return from_grouped(*pairs_of(predictions))


def ndcg(predictions: Iterable[Any], k: int | None = 10, **params: object) -> float:
    """Return the mean NDCG@k of predictions over their users.

    Parameters
    ----------
    predictions : iterable
        As `pairs_of` takes them: ``algo.test(testset)`` of Surprise, or tuples.
    k : int or None
        Cut-off rank; None for whole lists.
    **params
        As in a label: ``ties="first"``, ``gain="linear"``, ``gain="binary(4)"``, ...

    Returns
    -------
    float
        In [0, 1]; nan if no user has an item of positive gain.

    Raises
    ------
    MetricError
        If a parameter or a prediction cannot be used.

    Examples
    --------
    The worked example with ten ratings and their estimates, ties in input order:

    >>> estimates = [2.5, 4.5, 4.5, 1.5, 1.5, 3.5, 3.5, 5.5, 4.5, 4.5]
    >>> ratings = [3, 4, 5, 1, 2, 3, 4, 5, 5, 4]
    >>> round(ndcg(zip(estimates, ratings), k=10, ties="first"), 12)
    0.961845355481
    >>> round(ndcg(zip(estimates, ratings), k=5, ties="first"), 12)
    0.959091177065
    """
    inside = ", ".join(f"{name}={value}" for name, value in params.items())
    label = "ndcg" + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")
    metric = parse(label)
    return score([metric], from_predictions(predictions))[metric].mean


def _row(position: int, prediction: Any) -> tuple[Any, float, float | None]:
    if hasattr(prediction, "est") and hasattr(prediction, "r_ui"):
        return prediction.uid, prediction.est, prediction.r_ui
    if isinstance(prediction, (Sequence, np.ndarray)) and not isinstance(prediction, str):
        if len(prediction) == 2:
            return 0, prediction[0], prediction[1]
        if len(prediction) == 3:
            return prediction[0], prediction[1], prediction[2]
    raise MetricError(
        f"predictions[{position}]: {prediction!r} is no prediction; give surprise.Prediction, "
        "(estimate, rating) or (user, estimate, rating)"
    )
