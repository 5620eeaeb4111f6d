"""The columns of a test set: made once for all models that are tested on it."""

from __future__ import annotations

from itertools import repeat
from operator import itemgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.trainset import Codes, Floats
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import NUMBERS, Names, names_of, same_names, same_objects


class Scored(NamedTuple):
    """A test set beside the inner ids that a training set has for it."""

    rows: list[Any]  # the test set itself
    members: list[Any]  # what it held, by which a change is noticed
    users: Codes  # inner ids, -1 for what the training set does not know
    items: Codes
    truth: Floats | None  # the ratings, if all are floats
    names: Names  # the inner ids that the training set had

    def column(self, place: int) -> list[Any]:
        """Return raw users (0), raw items (1) or ratings (2)."""
        return list(map(itemgetter(place), self.members))


MANY = 100
"""Pairs of a test set whose columns are kept; columns of fewer are made again as fast."""
_LAST: WeakKeyDictionary[surprise.Trainset, Scored] = WeakKeyDictionary()
"""The last test set of each training set, as long as that lives."""


def remember(
    trainset: surprise.Trainset, rows: list[Any], users: Codes, items: Codes, truth: Floats
) -> None:
    """Keep the columns of a test set that was made together with a training set."""
    _LAST[trainset] = Scored(rows, list(rows), users, items, truth, _copies(trainset))


def came_together(trainset: surprise.Trainset, rows: Any) -> bool:
    """Return whether a test set is the last one of a training set."""
    last = _LAST.get(trainset)
    return last is not None and last.rows is rows


def scored_rows(trainset: surprise.Trainset, rows: Any) -> Scored:
    """Return the columns of a test set, from the last time if it holds the same tuples."""
    last = _LAST.get(trainset)
    if (
        last is not None
        and last.rows is rows
        and same_objects(last.members, rows)
        and same_names(last.names, names_of(trainset))
    ):
        return last
    if not set(map(type, rows)) <= {tuple, list} or not set(map(len, rows)) <= {3}:
        raise NotAccelerated("a test set whose members are not triples")
    users, items, ratings = (list(map(itemgetter(place), rows)) for place in range(3))
    truth = np.array(ratings, np.float64) if set(map(type, ratings)) <= NUMBERS else None
    codes = [
        _codes(inner_ids, ids, size)
        for inner_ids, ids, size in zip(
            names_of(trainset), (users, items), (trainset.n_users, trainset.n_items), strict=True
        )
    ]
    found = Scored(rows, list(rows), codes[0], codes[1], truth, ({}, {}))
    if len(rows) >= MANY and type(rows) is list and set(map(type, rows)) <= {tuple}:
        found = _LAST[trainset] = found._replace(names=_copies(trainset))
    return found


def _copies(trainset: surprise.Trainset) -> Names:
    users, items = names_of(trainset)
    return users.copy(), items.copy()


def _codes(inner_ids: dict[Any, int], ids: list[Any], size: int) -> Codes:
    """Return inner ids, -1 for what is unknown: also for an inner id that no user or item has."""
    codes = list(map(inner_ids.get, ids, repeat(-1)))
    if not set(map(type, codes)) <= {int}:
        raise NotAccelerated("inner ids that are not whole numbers")
    found = np.array(codes, np.int32)
    found[(found < 0) | (found >= size)] = -1
    return found
