"""The order of items with equal estimates in lists that are shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness._util.libraries import pd

TieKeys = NDArray[np.uint64]
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def tie_keys(ids: ArrayLike) -> TieKeys:
    """Return a number for each id that depends only on its text."""
    texts = np.array([str(label) for label in np.asarray(ids).tolist()], dtype=object)
    keys: TieKeys = pd.util.hash_array(texts, categorize=False)
    return keys


def order_keys(users: TieKeys, items: TieKeys) -> TieKeys:
    """Return sort keys for items with equal estimates in shown lists: the smallest comes first.

    Like random numbers they differ from user to user, but depend only on their `tie_keys`.
    """
    return (users ^ items) * MULTIPLIER
