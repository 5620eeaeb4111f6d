"""Item similarities from common training users, for the recommended items, in one pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Ranks
from harness.metrics.exposure import Exposure

__all__ = ["CosineSums", "cosine_sums"]


class CosineSums(NamedTuple):
    """Sums of ``cos(i, j) = n_ij / sqrt(n_i n_j)`` for the item i at each rank of each list.

    Parameters
    ----------
    within : ndarray of float64, shape (n_users, depth)
        Over the items j at the ranks above.
    to_history : ndarray of float64, shape (n_users, depth)
        Over the items j that the user rated in training.
    n_history : ndarray of int64, shape (n_users,)
        How many those are.
    """

    within: Floats
    to_history: Floats
    n_history: Ints


class _Ratings(NamedTuple):
    """The training ratings from both sides, and each item's 1 / sqrt(number of users)."""

    user_offsets: Ranks
    items: Ranks
    item_offsets: Ranks
    users: Ranks
    scale: Floats


def cosine_sums(top: Ranks, exposure: Exposure) -> CosineSums:
    """Sum the cosines of each recommended item to those above it and to the user's history.

    For each recommended item, the ratings of all its raters are counted once.

    Parameters
    ----------
    top : ndarray of int32, shape (n_users, depth)
        Items of each list, -1 past its end.
    exposure : Exposure

    Examples
    --------
    >>> sums = cosine_sums(np.array([[0, 1]], dtype=np.int32), Exposure([0, 1, 1], [0, 0, 1], [0]))
    >>> sums.within.round(4), sums.to_history.round(4), sums.n_history
    (array([[0.    , 0.7071]]), array([[1.    , 0.7071]]), array([1]))
    """
    from scipy.sparse import coo_array

    n_users = 1 + max(int(exposure.users.max()), int(exposure.list_users.max(initial=0)))
    given = np.ones(len(exposure.users), dtype=np.int32)
    by_user = coo_array(
        (given, (exposure.users, exposure.items)), shape=(n_users, len(exposure.popularity))
    ).tocsr()
    by_user.sum_duplicates()
    by_item = by_user.tocsc()
    raters = np.diff(by_item.indptr)
    ratings = _Ratings(
        by_user.indptr,
        by_user.indices,
        by_item.indptr,
        by_item.indices,
        1.0 / np.sqrt(np.maximum(raters, 1)),
    )
    # The places where each item is shown, item after item.
    flat = np.ascontiguousarray(top).ravel()
    places = np.argsort(flat, kind="stable")[(flat < 0).sum() :]
    shown, counts = np.unique(flat[places], return_counts=True)
    edges = np.concatenate(([0], np.cumsum(counts)))
    within, to_history = np.zeros(top.shape), np.zeros(top.shape)
    each_block(
        lambda a, b: _sum_cosines(
            ratings, shown, edges, places, top, exposure.list_users, a, b, within, to_history
        ),
        len(shown),
    )
    lengths = np.append(np.diff(by_user.indptr), 0).astype(np.int64)  # the last for -1
    return CosineSums(within, to_history, lengths[exposure.list_users])


@kernel
def _sum_cosines(
    ratings: _Ratings,
    shown: Ranks,
    edges: Ints,
    places: Ints,
    top: Ranks,
    list_users: Ranks,
    start: int,
    stop: int,
    within: Floats,
    to_history: Floats,
) -> None:
    user_offsets, items, item_offsets, users, scale = ratings
    together = np.zeros(len(scale), dtype=np.int32)
    for index in range(start, stop):
        item = shown[index]
        together[:] = 0
        for i in range(item_offsets[item], item_offsets[item + 1]):
            for j in range(user_offsets[users[i]], user_offsets[users[i] + 1]):
                together[items[j]] += 1
        for place in places[edges[index] : edges[index + 1]]:
            user, rank = place // top.shape[1], place % top.shape[1]
            total = 0.0
            for above in range(rank):
                other = top[user, above]
                total += together[other] * scale[other]
            within[user, rank] = total * scale[item]
            if list_users[user] >= 0:
                total = 0.0
                for j in range(user_offsets[list_users[user]], user_offsets[list_users[user] + 1]):
                    total += together[items[j]] * scale[items[j]]
                to_history[user, rank] = total * scale[item]
