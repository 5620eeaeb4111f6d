"""Test sets made of a training set: the ratings that are in it, and the pairs that are not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms import surprise
from harness.algorithms.trainset import Codes, Offsets
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import UNUSUAL, columns_of, lists_of, names_of, ratings_of
from harness.extras.accelerate.predictions import LazyList, listed

PAIRS_AT_ONCE = 1 << 20


def build_testset(trainset: surprise.Trainset) -> list[Any]:
    """Return all ratings of a training set by raw ids."""
    columns = lists_of(trainset)
    users, items = raw_ids(trainset)
    offsets, inner_items, _ = columns.by_user
    owners = np.repeat(np.arange(columns.n_users), np.diff(offsets))
    of_users = map(users.__getitem__, owners.tolist())
    of_items = map(items.__getitem__, inner_items.tolist())
    return listed(zip(of_users, of_items, ratings_of(trainset, columns), strict=True))


def raw_ids(trainset: surprise.Trainset) -> tuple[list[Any], list[Any]]:
    """Return the raw ids of users and items by inner id, which Surprise keeps from then on."""
    trainset.to_raw_uid(0)
    trainset.to_raw_iid(0)
    kept = trainset._inner2raw_id_users, trainset._inner2raw_id_items
    sizes = trainset.n_users, trainset.n_items
    for names, size in zip(kept, sizes, strict=True):
        if list(names) != list(range(size)):
            raise NotAccelerated(UNUSUAL)
    return list(kept[0].values()), list(kept[1].values())


class AntiTestset(LazyList):
    """The pairs of known users and items that are not in a training set."""

    def __init__(self, trainset: surprise.Trainset, fill: float) -> None:
        self.trainset, self.columns, self.fill = trainset, lists_of(trainset), fill
        self.users, self.items = map(_objects, raw_ids(trainset))
        counts = self.columns.n_items - self._n_rated()
        self.offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        super().__init__(int(self.offsets[-1]), self.rows)

    def is_of(self, trainset: surprise.Trainset) -> bool:
        """Return whether the raw ids of all pairs still belong to their inner ids."""
        if not self.unread or self.trainset is not trainset:
            return False
        for inner_ids, raw_ids in zip(names_of(trainset), (self.users, self.items), strict=True):
            found = [inner_ids.get(raw) for raw in raw_ids]
            if not {*map(type, found)} <= {int} or found != list(range(len(found))):
                return False
        return True

    def _n_rated(self) -> Offsets:
        """Return how many items each user has rated; one that was rated twice counts once."""
        offsets, items, _ = self.columns.user_order  # items of a user ascending
        is_new = np.ones(len(items), np.int64)
        is_new[1:] = items[1:] != items[:-1]
        is_new[offsets[:-1]] = 1
        counts: Offsets = np.add.reduceat(is_new, offsets[:-1])
        return counts

    def codes(self, start: int, stop: int) -> tuple[Codes, Codes]:
        """Return inner users and items of some pairs."""
        users, items = [], []
        offsets, rated, _ = self.columns.by_user
        first = int(np.searchsorted(self.offsets, start, "right")) - 1
        every = np.arange(self.columns.n_items, dtype=np.int32)
        for user in range(first, self.columns.n_users):
            begin = int(self.offsets[user])
            if begin >= stop:
                break
            is_free = np.ones(len(every), np.bool_)
            is_free[rated[offsets[user] : offsets[user + 1]]] = False
            free = every[is_free][max(start - begin, 0) : stop - begin]
            items.append(free)
            users.append(np.full(len(free), user, np.int32))
        if not users:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        return np.concatenate(users), np.concatenate(items)

    def blocks(self) -> Iterator[tuple[int, Codes, Codes]]:
        """Yield where each block begins, and its pairs."""
        for start in range(0, len(self), PAIRS_AT_ONCE):
            yield start, *self.codes(start, min(start + PAIRS_AT_ONCE, len(self)))

    def names(self, start: int, stop: int) -> tuple[list[Any], list[Any]]:
        """Return the raw users and items of some pairs."""
        users, items = self.codes(start, stop)
        return self.users[users].tolist(), self.items[items].tolist()

    def rows(self, start: int, stop: int) -> Iterator[Any]:
        """Yield some pairs with the fill as Surprise lists them."""
        return zip(*self.names(start, stop), repeat(self.fill, stop - start), strict=True)


def _objects(ids: list[Any]) -> npt.NDArray[np.object_]:
    """Return raw ids as an array of the very objects, also where they are tuples."""
    return np.fromiter(ids, np.object_, len(ids))


def build_anti_testset(trainset: surprise.Trainset, fill: float | None = None) -> AntiTestset:
    """Return what ``build_anti_testset`` does, each member made when it is read."""
    if fill is None:
        columns_of(trainset)  # computes the mean
    value = trainset.global_mean if fill is None else float(fill)
    return AntiTestset(trainset, value)
