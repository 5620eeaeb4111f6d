"""Rows grouped by user: order of users, latest ratings of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["in_order_of_appearance", "places_from_end"]


def in_order_of_appearance(users: NDArray[np.int32], n_users: int) -> NDArray[np.int64]:
    """Return the users that have a row, in the order of their first row.

    Parameters
    ----------
    users : ndarray of int32, shape (n,)
        The user of each row.
    n_users : int
        How many codes there are.

    Examples
    --------
    >>> in_order_of_appearance(np.array([3, 0, 3], np.int32), 5).tolist()
    [3, 0]
    """
    first = np.full(n_users, len(users))
    first[users[::-1]] = np.arange(len(users))[::-1]  # the last to be written is the first row
    order = np.argsort(first, kind="stable")
    return order[: np.count_nonzero(first < len(users))]


def places_from_end(
    users: NDArray[np.int32], keys: NDArray[np.int64] | NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return each row's place among its user's rows, counted back from the largest key.

    Parameters
    ----------
    users : ndarray of int32, shape (n,)
        The user of each row.
    keys : ndarray, shape (n,)
        What a user's rows are ordered by. Of two rows with the same key the one further down in
        the data is the later one.

    Returns
    -------
    ndarray of int64, shape (n,)
        0 for a user's last row, 1 for the one before it.

    Examples
    --------
    >>> places_from_end(np.array([0, 1, 0, 0], np.int32), np.array([5, 1, 9, 5])).tolist()
    [2, 0, 0, 1]
    """
    order = np.argsort(keys, kind="stable")
    order = order[np.argsort(users[order], kind="stable")]
    counts = np.bincount(users, minlength=1)
    ends = np.cumsum(counts)
    places = np.empty(len(users), np.int64)
    places[order] = np.repeat(ends, counts) - 1 - np.arange(len(users))
    return places
