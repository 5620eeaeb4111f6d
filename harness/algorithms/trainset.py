"""The training set that every algorithm is fitted on: Surprise's own kind, kept in columns.

Surprise keeps two dictionaries of lists of tuples, about 250 bytes a rating. `ColumnTrainset` is a
`surprise.Trainset` that keeps the same ratings in the same order in arrays, 24 bytes a rating, and
builds the lists of a user or an item on first use.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms.columns import (
    Codes,
    Floats,
    Lists,
    Offsets,
    Order,
    RatingLists,
    number,
    transpose,
)
from harness.algorithms.surprise_import import surprise
from harness.kernels import group_rows

__all__ = ["ColumnTrainset"]


class ColumnTrainset(surprise.Trainset):  # type: ignore[misc]
    """A `surprise.Trainset` in columns.

    Build one with `from_columns` or `from_surprise`.

    Parameters
    ----------
    by_user, by_item : Lists
        The ratings twice, each list in training order.
    user_codes, item_codes : ndarray of int32
        Data set code of each inner id.
    user_ids, item_ids : array-like
        Raw id of each data set code.
    scale : tuple of float
        Lowest and highest rating.

    Attributes
    ----------
    inner_users, inner_items : ndarray of int32
        Inner id of each data set code, -1 where the training set does not know it.
    """

    def __init__(
        self,
        by_user: Lists,
        by_item: Lists,
        *,
        user_codes: Codes,
        item_codes: Codes,
        user_ids: Any,
        item_ids: Any,
        scale: tuple[float, float],
    ) -> None:
        # Surprise's own constructor would store dictionaries where this class has properties.
        self.by_user, self.by_item = by_user, by_item
        self.user_codes, self.item_codes = user_codes, item_codes
        self.user_ids, self.item_ids = user_ids, item_ids
        self.inner_users = _inverse(user_codes, len(user_ids))
        self.inner_items = _inverse(item_codes, len(item_ids))
        self.n_users, self.n_items = len(user_codes), len(item_codes)
        self.n_ratings = len(by_user.ratings)
        self.rating_scale = scale
        self._global_mean: Any = None
        self._inner2raw_id_users = None
        self._inner2raw_id_items = None

    @classmethod
    def from_columns(
        cls,
        users: npt.ArrayLike,
        items: npt.ArrayLike,
        ratings: npt.ArrayLike,
        *,
        user_ids: Any,
        item_ids: Any,
        scale: tuple[float, float],
    ) -> ColumnTrainset:
        """Group columns by user and by item.

        Inner ids are given in the order in which users and items first appear, as Surprise's
        ``construct_trainset`` gives them.

        Parameters
        ----------
        users, items : array-like of int, shape (n_ratings,)
            Codes into `user_ids` and `item_ids`.
        ratings : array-like of float, shape (n_ratings,)
            The ratings, in the units of `scale`.
        user_ids, item_ids : array-like
            Raw ids: what ``model.predict`` is called with.
        scale : tuple of float
            Lowest and highest rating; estimates are clipped to it.

        Examples
        --------
        >>> trainset = ColumnTrainset.from_columns(
        ...     [1, 0, 1], [2, 2, 0], [4, 3, 5],
        ...     user_ids=["ann", "bob"], item_ids=["x", "y", "z"], scale=(1, 5))
        >>> trainset.to_inner_uid("bob"), trainset.ur[0], trainset.global_mean
        (0, [(0, 4.0), (1, 5.0)], np.float64(4.0))
        """
        user_rows, item_rows = np.asarray(users), np.asarray(items)
        rating_rows = np.asarray(ratings, np.float64)
        user_codes = number(user_rows, len(user_ids))
        item_codes = number(item_rows, len(item_ids))
        inner_users = _inverse(user_codes, len(user_ids))[user_rows]
        inner_items = _inverse(item_codes, len(item_ids))[item_rows]
        user_offsets, by_user = group_rows(inner_users, len(user_codes))
        item_offsets, by_item = group_rows(inner_items, len(item_codes))
        return cls(
            Lists(user_offsets, inner_items[by_user], rating_rows[by_user]),
            Lists(item_offsets, inner_users[by_item], rating_rows[by_item]),
            user_codes=user_codes,
            item_codes=item_codes,
            user_ids=user_ids,
            item_ids=item_ids,
            scale=scale,
        )

    @classmethod
    def from_surprise(cls, trainset: Any) -> ColumnTrainset:
        """Copy a training set that Surprise made; its codes are its inner ids.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"user": ["ann", "bob"], "item": ["x", "x"], "rating": [4, 2]})
        >>> reader = surprise.Reader(rating_scale=(1, 5))
        >>> plain = surprise.Dataset.load_from_df(frame, reader).build_full_trainset()
        >>> ColumnTrainset.from_surprise(plain).ir[0]
        [(0, 4.0), (1, 2.0)]
        """
        if isinstance(trainset, cls):
            return trainset
        users, items = range(trainset.n_users), range(trainset.n_items)
        return cls(
            _flatten([trainset.ur[u] for u in users]),
            _flatten([trainset.ir[i] for i in items]),
            user_codes=np.arange(trainset.n_users, dtype=np.int32),
            item_codes=np.arange(trainset.n_items, dtype=np.int32),
            user_ids=[trainset.to_raw_uid(u) for u in users],
            item_ids=[trainset.to_raw_iid(i) for i in items],
            scale=trainset.rating_scale,
        )

    @cached_property
    def ur(self) -> RatingLists:
        """The ratings of each inner user, as lists of (inner item, rating)."""
        return RatingLists(self.by_user)

    @cached_property
    def ir(self) -> RatingLists:
        """The ratings of each inner item, as lists of (inner user, rating)."""
        return RatingLists(self.by_item)

    @cached_property
    def _raw2inner_id_users(self) -> dict[Any, int]:
        return _index(self.user_ids, self.user_codes)

    @cached_property
    def _raw2inner_id_items(self) -> dict[Any, int]:
        return _index(self.item_ids, self.item_codes)

    def raw_users(self, codes: npt.NDArray[Any]) -> list[Any]:
        """Return the raw ids of data set codes, as Python objects."""
        return _names(self.user_ids, codes)

    def raw_items(self, codes: npt.NDArray[Any]) -> list[Any]:
        """Return the raw ids of data set codes, as Python objects."""
        return _names(self.item_ids, codes)

    @property
    def global_mean(self) -> float:
        """The mean of all ratings."""
        if self._global_mean is None:
            self._global_mean = np.mean(self.by_user.ratings)
        return self._global_mean  # type: ignore[no-any-return]

    @property
    def user_offsets(self) -> Offsets:
        """Where the ratings of each inner user begin and end, shape (n_users + 1,)."""
        return self.by_user.offsets

    @property
    def user_items(self) -> Codes:
        """Inner items grouped by user, shape (n_ratings,)."""
        return self.by_user.ids

    @property
    def user_ratings(self) -> Floats:
        """Ratings grouped by user, shape (n_ratings,)."""
        return self.by_user.ratings

    @property
    def item_offsets(self) -> Offsets:
        """Where the ratings of each inner item begin and end, shape (n_items + 1,)."""
        return self.by_item.offsets

    @property
    def item_users(self) -> Codes:
        """Inner users grouped by item, shape (n_ratings,)."""
        return self.by_item.ids

    @property
    def item_ratings(self) -> Floats:
        """Ratings grouped by item, shape (n_ratings,)."""
        return self.by_item.ratings

    @cached_property
    def item_order(self) -> Order:
        """Each item's raters in the order of inner users, with their places in `by_user`."""
        return transpose(self.user_offsets, self.user_items, self.n_items)

    @cached_property
    def user_order(self) -> Order:
        """Each user's items in the order of inner items, with their places in `by_item`."""
        return transpose(self.item_offsets, self.item_users, self.n_users)

    def drop_derived(self) -> None:
        """Delete cached values, so that each cell computes and measures its own."""
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property):
                self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for derived in ("item_order", "user_order"):
            state.pop(derived, None)
        return state


def _inverse(codes: Codes, n_codes: int) -> Codes:
    inner = np.full(n_codes, -1, np.int32)
    inner[codes] = np.arange(len(codes), dtype=np.int32)
    return inner


def _names(ids: Any, codes: npt.NDArray[Any]) -> list[Any]:
    if isinstance(ids, np.ndarray):
        return ids[codes].tolist()  # type: ignore[no-any-return]
    return [ids[code] for code in codes]


def _index(ids: Any, codes: Codes) -> dict[Any, int]:
    return {raw: inner for inner, raw in enumerate(_names(ids, codes))}


def _flatten(lists: list[list[tuple[int, float]]]) -> Lists:
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    ids = np.fromiter((other for row in lists for other, _ in row), np.int32, offsets[-1])
    ratings = np.fromiter((rating for row in lists for _, rating in row), np.float64, offsets[-1])
    return Lists(offsets, ids, ratings)
