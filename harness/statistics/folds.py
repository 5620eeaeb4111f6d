"""Scores of one user in several folds, made into one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["average_folds"]


def average_folds(
    users: ArrayLike, values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Average what the same user scored in several folds.

    A user who is tested in five folds is one observation, not five: the folds share most of their
    training ratings and the user's taste, so their scores are not independent.

    Parameters
    ----------
    users : array_like of int, shape (n,)
        The user of each row.
    values : ndarray of float64, shape (n,) or (n, m)
        Scores, one row for each user and fold; NaN where a user is undefined in a fold, which is
        then left out of the mean.

    Returns
    -------
    users : ndarray of int64, shape (n_users,)
        Each user once, ascending.
    averages : ndarray of float64, shape (n_users,) or (n_users, m)
        NaN where a user is undefined in every fold.

    Examples
    --------
    >>> users, averages = average_folds([7, 3, 7], np.array([1.0, 0.5, 0.0]))
    >>> users.tolist(), averages.tolist()
    ([3, 7], [0.5, 0.5])
    """
    codes, places = np.unique(np.asarray(users, np.int64), return_inverse=True)
    table = values.reshape(len(values), -1)
    known = ~np.isnan(table)
    averages = np.empty((len(codes), table.shape[1]))
    for column in range(table.shape[1]):
        weights = np.where(known[:, column], table[:, column], 0.0)
        sums = np.bincount(places, weights, minlength=len(codes))
        counts = np.bincount(places, known[:, column], minlength=len(codes))
        averages[:, column] = np.divide(
            sums, counts, out=np.full(len(codes), np.nan), where=counts > 0
        )
    return codes, averages.reshape((len(codes), *values.shape[1:]))
