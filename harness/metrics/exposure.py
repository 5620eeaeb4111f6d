"""What metrics of shown items, and of weights, know beside the lists: the training ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import check_argument, checked
from harness.errors import MetricError, counted
from harness.metrics.arrays import Bools, Floats, Ints, Ranks, store_arrays


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
    ratings : array_like of float, shape (n_ratings,), optional
        The training ratings themselves, for similarities of what was given.
    genres : array_like of bool, shape (n_items, n_genres), optional
        Which genres each item has; an item may have none.
    propensities : array_like of float, shape (n_items,), optional
        The chance of each item to be observed, for metrics with ``weights=column``.
    at_random : array_like of float, shape (m,), optional
        Ratings of pairs sampled at random, for metrics with ``weights=naive-bayes``.

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

    users: Ranks
    items: Ranks
    list_users: Ranks
    popularity: Ints
    judged: tuple[Ints, Ints, Floats] | None
    ratings: Floats | None
    genres: Bools | None
    propensities: Floats | None
    at_random: Floats | None

    @checked(MetricError)
    def __init__(
        self,
        users: ArrayLike,
        items: ArrayLike,
        list_users: ArrayLike,
        n_items: int | None = None,
        judged: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        ratings: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        propensities: ArrayLike | None = None,
        at_random: ArrayLike | None = None,
    ) -> None:
        store_arrays(self, np.int32, users=users, items=items, list_users=list_users)
        store_arrays(
            self, np.float64, ratings=ratings, propensities=propensities, at_random=at_random
        )
        store_arrays(self, np.bool_, genres=genres)
        if len(self.users) != len(self.items) or not len(self.items):
            raise MetricError(
                f"exposure: {counted(len(self.users), 'user')} and "
                f"{counted(len(self.items), 'item')}; give one of each for every training rating"
            )
        n_items = int(self.items.max()) + 1 if n_items is None else int(n_items)
        if n_items > 2**31:
            raise MetricError(f"exposure: n_items is {n_items:,}; give 2,147,483,648 at most")
        if self.users.min() < 0:
            raise MetricError(f"exposure: a user code of {self.users.min()}; use codes from 0 on")
        if self.items.min() < 0 or self.items.max() >= n_items:
            raise MetricError(
                f"exposure: item codes from {self.items.min()} to {self.items.max()}; "
                f"use codes from 0 to {n_items - 1}"
            )
        for name, n in zip(
            ("ratings", "genres", "propensities"), (len(self.users), n_items, n_items), strict=True
        ):
            array = getattr(self, name)
            if array is not None and len(array) != n:
                raise MetricError(f"exposure: {name} have {counted(len(array), 'row')}; give {n}")
        store_arrays(self, np.int64, popularity=np.bincount(self.items, minlength=n_items))
        kinds = (np.int64, np.int64, np.float64)
        relevances = None if judged is None else tuple(map(np.asarray, judged, kinds))
        object.__setattr__(self, "judged", relevances)

    @property
    def n_users(self) -> int:
        """How many users gave a training rating."""
        return len(np.unique(self.users))

    @property
    def n_catalogue(self) -> int:
        """How many items have a training rating and can be recommended."""
        return int((self.popularity > 0).sum())


def check_exposure(function: str, exposure: Exposure | None) -> None:
    """Refuse an argument that is not an `Exposure`; the function has this name."""
    check_argument(check_exposure, function, "exposure", exposure, MetricError)
