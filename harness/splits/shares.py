"""Shares of ratings and of users as counts, and users that are drawn."""

from __future__ import annotations

import math

import numpy as np

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.lazy import pd
from harness.splits.base import Rows


def rounded(size: float, n: int, *, up: bool) -> int:
    """Return a share of `n` as a count, and a count as it is."""
    if isinstance(size, int):
        return size
    # 0.07 * 100 is 7.000000000000001: a share is taken as it is written.
    return math.ceil(size * n - 1e-6) if up else math.floor(size * n + 1e-6)


def draw_users(ratings: Ratings, size: float, state: np.random.Generator, refusal: str) -> Rows:
    """Draw a share or a count of the users; `refusal` is the message where there are too few."""
    users = pd.unique(ratings.users)  # as they appear
    n = rounded(size, len(users), up=True)
    if n > len(users):
        raise SplitError(refusal.format(f"{n:,}", f"{len(users):,}"))
    return users[state.permutation(len(users))[:n]].astype(np.int64)
