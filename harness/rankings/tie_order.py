"""The order of items with equal estimates in shown lists, independent of the input's order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["MULTIPLIER", "TieKeys", "order_keys", "tie_keys"]

TieKeys = NDArray[np.uint64]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def tie_keys(ids: ArrayLike) -> TieKeys:
    """Return a number for each id that depends on its text alone.

    Examples
    --------
    >>> bool(tie_keys(["1"])[0] == tie_keys([1, 2])[0])
    True
    """
    from pandas.util import hash_array

    texts = np.array([str(each) for each in np.asarray(ids).tolist()], dtype=object)
    keys: TieKeys = hash_array(texts, categorize=False)
    return keys


def order_keys(users: TieKeys, items: TieKeys) -> TieKeys:
    """Return sort keys for items with equal estimates: the smallest comes first.

    Like a random number, it differs from user to user, so that no item comes first for all of them.

    Parameters
    ----------
    users, items : ndarray of uint64, shape (n,)
        Keys of the user and of the item of each row.

    Examples
    --------
    >>> items = tie_keys(["a", "b", "c"])
    >>> [np.argsort(order_keys(tie_keys([user] * 3), items)).tolist() for user in ("ann", "bob")]
    [[0, 1, 2], [0, 2, 1]]
    """
    return (users ^ items) * MULTIPLIER
