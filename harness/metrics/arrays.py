"""Input of metrics: ragged arrays, one segment for each user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import MetricError

__all__ = ["Floats", "Ints", "Pairs", "Rankings", "Ranks", "Scores"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ranks = NDArray[np.int32]


@dataclass(frozen=True, eq=False, init=False)
class Rankings:
    """Ranks of each user's judged items in the user's ranked list.

    Items without judgments have relevance 0 and take up ranks, but no memory: a list of the whole
    catalogue is as small as a list of the test ratings.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_users + 1,)
        User ``u`` owns entries ``offsets[u]:offsets[u + 1]``, in rank order.
    relevance : ndarray of float64, shape (n_entries,)
        Grade of each judged item that was ranked.
    rank : ndarray of int32, shape (n_entries,)
        Its rank from 1, equal estimates in input order.
    tie_low, tie_high : ndarray of int32, shape (n_entries,)
        First and last rank of its group of equal estimates; equal for an item without ties.
    n_ranked : ndarray of int64, shape (n_users,)
        Length of each list, unjudged items included.
    pool_offsets : ndarray of int64, shape (n_users + 1,), optional
    pool : ndarray of float64, shape (n_pool,), optional
        Grades of all the user's judged items, ranked or not, descending: the ideal order. By
        default the entries' own.
    top_items : ndarray of int32, shape (n_users, depth), optional
        Item codes at the top of each list, -1 where the list is shorter; for metrics of which
        items are shown.
    users : ndarray, shape (n_users,), optional
        The user of each list, for tables.

    Raises
    ------
    MetricError
        If the lengths do not agree.

    Examples
    --------
    One user; the first and the fourth of five items were judged:

    >>> lists = Rankings([0, 2], [3.0, 5.0], [1, 4], [1, 4], [1, 4], [5])
    >>> lists.n_users, lists.pool.tolist()
    (1, [5.0, 3.0])
    """

    offsets: Ints
    relevance: Floats
    rank: Ranks
    tie_low: Ranks
    tie_high: Ranks
    n_ranked: Ints
    pool_offsets: Ints
    pool: Floats
    top_items: NDArray[np.int32] | None
    users: NDArray[Any] | None

    def __init__(
        self,
        offsets: ArrayLike,
        relevance: ArrayLike,
        rank: ArrayLike,
        tie_low: ArrayLike,
        tie_high: ArrayLike,
        n_ranked: ArrayLike,
        pool_offsets: ArrayLike | None = None,
        pool: ArrayLike | None = None,
        top_items: ArrayLike | None = None,
        users: NDArray[Any] | None = None,
    ) -> None:
        given = {
            "offsets": (offsets, np.int64),
            "relevance": (relevance, np.float64),
            "rank": (rank, np.int32),
            "tie_low": (tie_low, np.int32),
            "tie_high": (tie_high, np.int32),
            "n_ranked": (n_ranked, np.int64),
            "pool_offsets": (offsets if pool_offsets is None else pool_offsets, np.int64),
        }
        for name, (value, kind) in given.items():
            object.__setattr__(self, name, np.ascontiguousarray(value, dtype=kind))
        named = None if top_items is None else np.ascontiguousarray(top_items, dtype=np.int32)
        object.__setattr__(self, "top_items", named)
        object.__setattr__(self, "users", users)
        self._check_entries()
        pool = _falling(self.offsets, self.relevance) if pool is None else pool
        object.__setattr__(self, "pool", np.ascontiguousarray(pool, dtype=np.float64))
        _check_division("pool_offsets", self.pool_offsets, len(self.pool), self.n_users)

    def _check_entries(self) -> None:
        n_entries = len(self.relevance)
        for name in ("rank", "tie_low", "tie_high"):
            if len(getattr(self, name)) != n_entries:
                raise MetricError(
                    f"rankings: {name} has length {len(getattr(self, name))}, not {n_entries}; "
                    "all arrays must describe the same entries"
                )
        _check_division("offsets", self.offsets, n_entries, self.n_users)

    @property
    def n_users(self) -> int:
        """How many lists there are."""
        return len(self.n_ranked)

    @property
    def longest(self) -> int:
        """Length of the longest list or pool, at least 1: a cut beyond it changes nothing."""
        pools = np.diff(self.pool_offsets)
        return max(1, int(self.n_ranked.max(initial=1)), int(pools.max(initial=1)))

    @staticmethod
    def concatenate(parts: Sequence[Rankings]) -> Rankings:
        """Join rankings of different users into one, in the order given.

        Examples
        --------
        >>> one = Rankings([0, 1], [3.0], [1], [1], [1], [5])
        >>> Rankings.concatenate([one, one]).offsets.tolist()
        [0, 1, 2]
        """
        if not parts:
            raise MetricError("rankings: nothing to join; give at least one part")
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("relevance", "rank", "tie_low", "tie_high", "n_ranked", "pool")
        }
        for name in ("offsets", "pool_offsets"):
            lengths = np.concatenate([np.diff(getattr(part, name)) for part in parts])
            joined[name] = np.concatenate(([0], np.cumsum(lengths)))
        for name in ("top_items", "users"):
            kept = [getattr(part, name) for part in parts]
            if all(each is not None for each in kept):
                joined[name] = np.concatenate(kept)
        return Rankings(**joined)


@dataclass(frozen=True, eq=False, init=False)
class Pairs:
    """Estimate and true rating of every test pair, grouped by user.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_users + 1,)
        User ``u`` owns pairs ``offsets[u]:offsets[u + 1]``.
    estimates, ratings : ndarray of float64, shape (n_pairs,)

    Raises
    ------
    MetricError
        If the lengths do not agree.

    Examples
    --------
    >>> Pairs([0, 2], [3.5, 4.0], [3, 5]).n_users
    1
    """

    offsets: Ints
    estimates: Floats
    ratings: Floats

    def __init__(self, offsets: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> None:
        object.__setattr__(self, "offsets", np.ascontiguousarray(offsets, dtype=np.int64))
        object.__setattr__(self, "estimates", np.ascontiguousarray(estimates, dtype=np.float64))
        object.__setattr__(self, "ratings", np.ascontiguousarray(ratings, dtype=np.float64))
        n = len(self.estimates)
        if len(self.ratings) != n or self.offsets[0] != 0 or self.offsets[-1] != n:
            raise MetricError(
                f"pairs: {n} estimates, {len(self.ratings)} ratings and offsets that end at "
                f"{self.offsets[-1]}; give one rating for each estimate and offsets from 0 to {n}"
            )

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class Scores:
    """The values of one metric.

    Parameters
    ----------
    per_user : ndarray of float64, shape (n_users,)
        In the order of the lists; nan where the metric is undefined, and everywhere for a metric
        that has no scores per user.
    mean : float
        The table value: the mean of the defined scores, or for a pooled metric the value over all
        users at once; nan when nothing is defined.
    n_undefined : int
        Users left out of the mean.
    """

    per_user: Floats
    mean: float
    n_undefined: int


def _check_division(name: str, offsets: Ints, n_entries: int, n_users: int) -> None:
    """Refuse offsets that do not split entries by user."""
    fits = len(offsets) == n_users + 1 and offsets[0] == 0 and offsets[-1] == n_entries
    if not fits or (np.diff(offsets) < 0).any():
        raise MetricError(
            f"rankings: {name} do not divide {n_entries} entries among {n_users} users; "
            "they must rise from 0 to the number of entries"
        )


def _falling(offsets: Ints, grades: Floats) -> Floats:
    users = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    falling: Floats = grades[np.lexsort((-grades, users))]
    return falling
