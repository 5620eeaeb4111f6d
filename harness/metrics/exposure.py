"""Training ratings as input of metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import MetricError

__all__ = ["Exposure"]


@dataclass(frozen=True, eq=False, init=False)
class Exposure:
    """The training ratings in the form that metrics beyond accuracy need.

    Parameters
    ----------
    users, items : array_like of int, shape (n_ratings,)
        Codes of the training ratings.
    list_users : array_like of int, shape (n_lists,)
        Code of the user of each ranked list; -1 for a user without training ratings.
    n_items : int, optional
        Number of item codes; by default one more than the greatest.
    judged : (list positions, items, relevances), optional
        Columns of the known relevances of items that can be in the lists. Left out, the ranks of
        the judged items say which of the items shown they are.

    Raises
    ------
    MetricError
        If the lengths differ, a code is out of range, or there is no rating.

    Examples
    --------
    >>> exposure = Exposure([0, 0, 1], [0, 2, 2], [0, 1])
    >>> exposure.popularity.tolist(), exposure.n_users, exposure.n_catalogue
    ([1, 0, 2], 2, 2)
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    list_users: NDArray[np.int32]
    popularity: NDArray[np.int64]
    judged: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None

    def __init__(
        self,
        users: ArrayLike,
        items: ArrayLike,
        list_users: ArrayLike,
        n_items: int | None = None,
        judged: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    ) -> None:
        for name, value in (("users", users), ("items", items), ("list_users", list_users)):
            object.__setattr__(self, name, np.ascontiguousarray(value, dtype=np.int32))
        if len(self.users) != len(self.items) or not len(self.items):
            raise MetricError(
                f"exposure: {len(self.users)} users and {len(self.items)} items; "
                "give one of each for every training rating"
            )
        n_items = int(self.items.max()) + 1 if n_items is None else n_items
        if min(self.users.min(), self.items.min()) < 0 or self.items.max() >= n_items:
            raise MetricError(
                f"exposure: item codes from {self.items.min()} to {self.items.max()}; "
                f"use codes from 0 to {n_items - 1}"
            )
        counts = np.bincount(self.items, minlength=n_items)
        object.__setattr__(self, "popularity", counts.astype(np.int64))
        known = None
        if judged is not None:
            known = (
                np.asarray(judged[0], np.int64),
                np.asarray(judged[1], np.int64),
                np.asarray(judged[2], np.float64),
            )
        object.__setattr__(self, "judged", known)

    @property
    def n_users(self) -> int:
        """How many users gave a training rating."""
        return len(np.unique(self.users))

    @property
    def n_catalogue(self) -> int:
        """How many items have a training rating and can be recommended."""
        return int((self.popularity > 0).sum())
