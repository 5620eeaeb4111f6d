"""The training set that every algorithm is fitted on: Surprise's own kind, kept in columns.

Surprise keeps two dictionaries of lists of tuples, about 250 bytes a rating. `ColumnTrainset` is a
`surprise.Trainset` that keeps the same ratings in the same order in arrays, 24 bytes a rating, and
builds the lists of a user or an item only when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.algorithms.quiet_surprise import surprise
from harness.kernels import kernel

__all__ = [
    "ColumnTrainset",
    "Lists",
    "Order",
    "RatingLists",
    "mean_of_each",
    "transpose",
    "truncated",
]

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Lists(NamedTuple):
    """The ratings of every user, or of every item, one list after the other.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where the list of each user or item begins and ends.
    ids : ndarray of int32, shape (n_ratings,)
        Inner ids of the other side.
    ratings : ndarray of float64, shape (n_ratings,)
        The ratings, aligned with `ids`.
    """

    offsets: Offsets
    ids: Codes
    ratings: Floats


class Order(NamedTuple):
    """`Lists` put into the order of inner ids.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where each list begins and ends.
    ids : ndarray of int32, shape (n_ratings,)
        Inner ids of the other side, ascending within a list.
    places : ndarray of int64, shape (n_ratings,)
        Where the other side's `Lists` hold the same rating.
    """

    offsets: Offsets
    ids: Codes
    places: Offsets


class RatingLists(dict[int, list[tuple[int, float]]]):
    """The lists of (id, rating) of every user or item, each built when it is first asked for.

    Stands where Surprise has a ``defaultdict(list)``: an unknown key gives an empty list, but is
    not remembered.

    Parameters
    ----------
    lists : Lists
        The ratings in columns.

    Examples
    --------
    >>> lists = RatingLists(
    ...     Lists(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([4.0, 3.0, 5.0])))
    >>> lists[0]
    [(0, 4.0), (1, 3.0)]
    >>> 1 in lists, 2 in lists, len(lists)
    (True, False, 2)
    """

    def __init__(self, lists: Lists) -> None:
        super().__init__()
        self._lists = lists

    def __missing__(self, key: Any) -> list[tuple[int, float]]:
        if key not in self:
            return []
        offsets, ids, ratings = self._lists
        rows = slice(offsets[int(key)], offsets[int(key) + 1])
        found = list(zip(ids[rows].tolist(), ratings[rows].tolist(), strict=True))
        self[int(key)] = found
        return found

    def __contains__(self, key: object) -> bool:
        try:
            return 0 <= key < len(self) and key == int(key)  # type: ignore[operator, call-overload]
        except TypeError:  # Surprise asks for names such as "UKN__42"
            return False

    def __len__(self) -> int:
        return len(self._lists.offsets) - 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the list of a key, or the default where there is none."""
        return self[key] if key in self else default  # noqa: SIM401 - that would call this again

    def keys(self) -> Any:
        """Return the inner ids, from 0."""
        return range(len(self))

    def values(self) -> Any:
        """Yield every list in the order of inner ids."""
        return (self[key] for key in self)

    def items(self) -> Any:
        """Yield every inner id with its list."""
        return ((key, self[key]) for key in self)

    def __reduce__(self) -> tuple[Any, ...]:
        return RatingLists, (self._lists,)


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
        # Kernels are compiled once for writable contiguous arrays, so that is what they get.
        user_rows = np.require(users, np.int32, ["C", "W"])
        item_rows = np.require(items, np.int32, ["C", "W"])
        rating_rows = np.require(ratings, np.float64, ["C", "W"])
        user_codes = number(user_rows, len(user_ids))
        item_codes = number(item_rows, len(item_ids))
        inner_users = _inverse(user_codes, len(user_ids))
        inner_items = _inverse(item_codes, len(item_ids))
        user_columns, item_columns = (user_rows, inner_users), (item_rows, inner_items)
        return cls(
            Lists(*gather(*user_columns, len(user_codes), *item_columns, rating_rows)),
            Lists(*gather(*item_columns, len(item_codes), *user_columns, rating_rows)),
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
        return Order(*transpose(self.user_offsets, self.user_items, self.n_items))

    @cached_property
    def user_order(self) -> Order:
        """Each user's items in the order of inner items, with their places in `by_item`."""
        return Order(*transpose(self.item_offsets, self.item_users, self.n_users))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for derived in ("item_order", "user_order"):
            state.pop(derived, None)
        return state


def mean_of_each(lists: Lists) -> Floats:
    """Return the mean rating of each user or item, shape (n,).

    Examples
    --------
    >>> mean_of_each(Lists(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([4.0, 3.0, 5.0])))
    array([3.5, 5. ])
    """
    sums = np.add.reduceat(lists.ratings, lists.offsets[:-1])
    means: Floats = sums / np.diff(lists.offsets)
    return means


def truncated(lists: Lists) -> Lists:
    """Return lists with ratings cast to integers and back, as a C ``int`` would hold them.

    Examples
    --------
    >>> truncated(Lists(np.array([0, 2]), np.array([0, 1]), np.array([4.5, 3.0]))).ratings
    array([4., 3.])
    """
    return lists._replace(ratings=np.trunc(lists.ratings))


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


@kernel
def number(codes: Codes, n_codes: int) -> Codes:
    """Return the distinct codes in the order in which they first appear."""
    seen = np.zeros(n_codes, np.bool_)
    order = np.empty(n_codes, np.int32)
    n_seen = 0
    for code in codes:
        if not seen[code]:
            seen[code] = True
            order[n_seen] = code
            n_seen += 1
    return order[:n_seen].copy()


@kernel
def gather(
    keys: Codes, inner_keys: Codes, n_keys: int, others: Codes, inner_others: Codes, ratings: Floats
) -> tuple[Offsets, Codes, Floats]:
    """Group rows by key, in their own order within each key; codes become inner ids."""
    offsets = np.zeros(n_keys + 1, np.int64)
    for key in keys:
        offsets[inner_keys[key] + 1] += 1
    for inner in range(n_keys):
        offsets[inner + 1] += offsets[inner]
    heads = offsets[:-1].copy()
    ids = np.empty(len(keys), np.int32)
    values = np.empty(len(keys), np.float64)
    for row in range(len(keys)):
        inner = inner_keys[keys[row]]
        place = heads[inner]
        heads[inner] = place + 1
        ids[place] = inner_others[others[row]]
        values[place] = ratings[row]
    return offsets, ids, values


@kernel
def transpose(offsets: Offsets, ids: Codes, n_ids: int) -> tuple[Offsets, Codes, Offsets]:
    """Turn lists of ids by owner into lists of owners by id, owners ascending.

    The third array holds the place of each entry in `ids`.
    """
    starts = np.zeros(n_ids + 1, np.int64)
    for other in ids:
        starts[other + 1] += 1
    for other in range(n_ids):
        starts[other + 1] += starts[other]
    heads = starts[:-1].copy()
    owners = np.empty(len(ids), np.int32)
    places = np.empty(len(ids), np.int64)
    for owner in range(len(offsets) - 1):
        for row in range(offsets[owner], offsets[owner + 1]):
            place = heads[ids[row]]
            heads[ids[row]] = place + 1
            owners[place] = owner
            places[place] = row
    return starts, owners, places
