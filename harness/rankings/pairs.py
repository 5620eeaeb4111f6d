"""Rankings from columns of users, estimates and ratings, or from predictions."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from harness.arguments import as_array, checked
from harness.errors import MetricError
from harness.kernels import group_rows
from harness.metrics import Pairs, Rankings, dcg
from harness.metrics.arrays import Ids
from harness.rankings.grouped import from_grouped, make_room

TABLES = ("columns", "__arrow_c_stream__", "__dataframe__", "to_pandas")
"""Attributes of which a table of any library has one."""
ONLY_USER = 0
"""Whom pairs of estimate and rating belong to."""


@checked(MetricError)
def from_pairs(users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> Rankings:
    """Rank each user's rated items by estimate; every item is judged.

    Parameters
    ----------
    users : array_like, shape (n_rows,)
        The user of each row: numbers or text, in any order.
    estimates : array_like of float, shape (n_rows,)
        The model's estimates; equal ones keep the order of the rows under ``ties=first``.
    ratings : array_like of float, shape (n_rows,)
        The true ratings: the relevances.

    Returns
    -------
    Rankings
        Users in the order of their ids, which are in ``users``.

    Raises
    ------
    MetricError
        If the lengths differ, there is no row, or a value is missing or not finite.

    Examples
    --------
    >>> lists = from_pairs(["b", "a", "b"], [3.0, 4.5, 3.5], [5, 4, 2])
    >>> lists.users.tolist(), lists.relevance.tolist(), lists.rank.tolist()
    (['a', 'b'], [4.0, 2.0, 5.0], [1, 1, 2])
    """
    return from_grouped(*group_pairs(users, estimates, ratings))


@checked(MetricError)
def group_pairs(users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> tuple[Pairs, Ids]:
    """Group columns by user, each user's rows in their order; return pairs and ascending ids."""
    from harness.rankings.columns import as_floats, encode, id_column

    columns = [id_column("users", users)]
    columns += [as_floats("estimates", estimates), as_floats("ratings", ratings)]
    lengths = [column.shape for column in columns]
    if len(set(lengths)) > 1 or columns[0].ndim != 1:
        raise MetricError(
            "pairs: users, estimates and ratings have shapes "
            f"{', '.join(map(str, lengths))}; give three columns of one length"
        )
    if not len(columns[0]):
        raise MetricError("pairs: there is no row; give at least one pair of estimate and rating")
    codes, ids = encode(columns[0])
    offsets, rows = group_rows(codes, len(ids))
    grouped, _ = make_room(len(rows))
    for column, out in zip(columns[1:], grouped, strict=True):
        np.take(column, rows, out=out, mode="clip")  # without checks of bounds, twice as fast
    return Pairs(offsets, *grouped), ids


@checked(MetricError)
def from_predictions(predictions: Any) -> Rankings:
    """Rank each user's predictions by estimate; every item is judged.

    Parameters
    ----------
    predictions : iterable, DataFrame or mapping
        ``surprise.Prediction`` (or anything with ``uid``, ``r_ui`` and ``est``), triples of user,
        estimate and rating, or pairs of estimate and rating that all belong to one user. Or a table
        with columns ``user``, ``estimate`` and ``rating`` of pandas, Polars, Arrow and others. Or
        lists of pairs of estimate and rating by user, ids of any hashable kind.

    Raises
    ------
    MetricError
        If a prediction is none of these, has no true rating, or there is none.

    Examples
    --------
    >>> from_predictions([(2.5, 3), (4.5, 4), (4.0, 5)]).relevance.tolist()
    [4.0, 5.0, 3.0]
    >>> from_predictions({"ann": [(2.5, 3), (4.5, 4)], "bob": [(4.0, 5)]}).n_users
    2
    """
    if isinstance(predictions, Mapping) or any(hasattr(predictions, name) for name in TABLES):
        tables = import_module("harness.rankings.tables")  # that most calls can do without
        if tables.is_table(predictions):
            return from_pairs(*tables.columns_of(predictions))
        predictions = tables.rows_by_user(predictions, _row)
    if not isinstance(predictions, Iterable):
        raise MetricError(
            f"predictions: of type {type(predictions).__name__}; give a list of them, or a "
            "DataFrame with columns user, estimate and rating"
        )
    rows = [_row(f"predictions[{i}]", prediction) for i, prediction in enumerate(predictions)]
    if not rows:
        raise MetricError("predictions: empty; give at least one")
    users, estimates, ratings = zip(*rows, strict=True)
    if all(user is ONLY_USER for user in users):  # nobody to tell apart
        offsets, ids = np.array([0, len(rows)]), np.array([ONLY_USER])
        columns = (("estimates", estimates), ("ratings", ratings))
        grouped = [as_array(name, column, np.float64, MetricError) for name, column in columns]
        if grouped[0].ndim == grouped[1].ndim == 1:
            return from_grouped(Pairs(offsets, *grouped), ids)
    from harness.rankings.columns import as_ids

    return from_pairs(as_ids(users), estimates, ratings)


@checked(MetricError)
def ndcg(predictions: Any, k: int | None = 10, **params: Any) -> float:
    """Return the mean NDCG@k of predictions over their users.

    Parameters
    ----------
    predictions : iterable, DataFrame or mapping
        As `from_predictions` takes them: ``algo.test(testset)`` of Surprise, tuples, a table with
        columns ``user``, ``estimate`` and ``rating``, or lists by user.
    k : int or None
        Cut-off rank; None for whole lists.
    **params
        As in a label: ``ties="first"``, ``gain="linear"``, ``gain="binary(4)"``, ...

    Returns
    -------
    float
        In [0, 1], unless ``negative="keep"`` keeps negative gains; nan if no user has an item of
        positive gain.

    Raises
    ------
    MetricError
        If a parameter or a prediction cannot be used.

    Warns
    -----
    UserWarning
        If all ratings are equal, as in an anti-test set of Surprise, where each is the mean of the
        training set: any order scores the same.

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
    rankings = from_predictions(predictions)
    _warn_of_equal_ratings(rankings)
    return dcg.ndcg(rankings, k, **params).mean


def _warn_of_equal_ratings(rankings: Rankings) -> None:
    ratings = rankings.relevance
    if rankings.longest > 1 and ratings.min() == ratings.max():
        warnings.warn(
            f"predictions: all ratings are {ratings[0]:.6g}, as in an anti-test set, so that any "
            "order scores the same; score a test set, or rank all items by harness.run with "
            "`candidates: catalogue`",
            stacklevel=3,
        )


def _row(where: str, prediction: object) -> tuple[Hashable, float, float]:
    row: tuple[Hashable, float, float]
    if hasattr(prediction, "uid") and hasattr(prediction, "est") and hasattr(prediction, "r_ui"):
        row = prediction.uid, prediction.est, prediction.r_ui
    elif "Index" in getattr(prediction, "_fields", ()):
        raise MetricError(
            f"{where}: a row of a DataFrame with its index; give "
            "frame.itertuples(index=False), after frame.reset_index() if the index is the user"
        )
    elif (
        isinstance(prediction, (Sequence, np.ndarray))
        and not isinstance(prediction, str)
        and len(prediction) in (2, 3)
    ):
        row = (ONLY_USER, *prediction) if len(prediction) == 2 else tuple(prediction)
    else:
        raise MetricError(
            f"{where}: {prediction!r:.60} is no prediction; give "
            "surprise.Prediction, (estimate, rating) or (user, estimate, rating)"
        )
    if row[2] is None:
        raise MetricError(
            f"{where}: there is no true rating; score a test set, not an anti-test set"
        )
    return row
