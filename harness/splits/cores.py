"""Users and items with enough ratings, in columns of only codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import checked
from harness.errors import SplitError

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]


@checked(SplitError)
def k_core(users: Codes, items: Codes, n: int) -> Mask:
    """Mark the rows that remain without users and items with fewer than `n` rows."""
    if users.ndim != 1 or users.shape != items.shape:
        raise SplitError(
            f"k_core: users and items of shapes {users.shape} and {items.shape}; give two columns "
            "of one length"
        )
    keep = np.arange(len(users))
    while True:
        kept = enough(users[keep], n) & enough(items[keep], n)
        if kept.all():
            return np.bincount(keep, minlength=len(users)).astype(bool)
        keep = keep[kept]


def enough(codes: Codes, n: int) -> Mask:
    """Mark the rows whose user, or item, has at least `n` rows."""
    return (np.bincount(codes) >= n)[codes]
