"""Input of metrics, ragged arrays with one segment for each user, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from harness._util.arguments import as_array, checked, warn
from harness.errors import MetricError, counted

if TYPE_CHECKING:
    from harness.metrics.weights import Worth


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ids = NDArray[np.generic]
"""Names of users or items: numbers or text."""
Ranks = NDArray[np.int32]
Bools = NDArray[np.bool_]


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
    items : ndarray of int32, shape (n_entries,), optional
        Item code of each entry; for scores of groups of items.
    users : ndarray, shape (n_users,), optional
        The user of each list, for tables.
    top_estimates : ndarray of float64, shape (n_users, depth), optional
        Estimates of the items at the top, NaN where the list is shorter.
    weights : ndarray of float64, shape (n_entries,), optional
        How many items each entry counts as, for metrics with ``weights``; by default 1.
    pool_weights : ndarray of float64, shape (n_pool,), optional
        Likewise of the pool.

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
    top_items: Ranks | None
    items: Ranks | None
    users: NDArray[np.generic] | None
    top_estimates: Floats | None
    weights: Floats | None
    pool_weights: Floats | None

    @checked(MetricError)
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
        users: NDArray[np.generic] | None = None,
        items: ArrayLike | None = None,
        top_estimates: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        pool_weights: ArrayLike | None = None,
    ) -> None:
        pool_offsets = offsets if pool_offsets is None else pool_offsets
        store_arrays(self, np.int64, offsets=offsets, n_ranked=n_ranked, pool_offsets=pool_offsets)
        store_arrays(self, np.int32, rank=rank, tie_low=tie_low, tie_high=tie_high)
        store_arrays(self, np.int32, top_items=top_items, items=items)
        store_arrays(self, np.float64, relevance=relevance, top_estimates=top_estimates)
        store_arrays(self, np.float64, weights=weights, pool_weights=pool_weights)
        object.__setattr__(self, "users", users)
        n_entries = len(self.relevance)
        for name in ("rank", "tie_low", "tie_high", "items", "weights"):
            array = getattr(self, name)
            if array is not None and len(array) != n_entries:
                raise MetricError(
                    f"rankings: {name} has length {len(array)}, not {n_entries}; "
                    "all arrays must describe the same entries"
                )
        self._check_division("offsets", n_entries)
        if pool is None:
            owners = np.repeat(np.arange(self.n_users), np.diff(self.offsets))
            pool = self.relevance[np.lexsort((-self.relevance, owners))]
        store_arrays(self, np.float64, pool=pool)
        self._check_division("pool_offsets", len(self.pool))

    def _check_division(self, name: str, n_entries: int) -> None:
        """Refuse offsets that do not split entries by user."""
        offsets = getattr(self, name)
        fits = len(offsets) == self.n_users + 1 and offsets[0] == 0 and offsets[-1] == n_entries
        if not fits or (np.diff(offsets) < 0).any():
            raise MetricError(
                f"rankings: {name} do not divide {n_entries} entries among "
                f"{counted(self.n_users, 'user')}; they must rise from 0 to the number of entries"
            )

    @property
    def n_users(self) -> int:
        """How many lists there are."""
        return len(self.n_ranked)

    @property
    def longest(self) -> int:
        """Length of the longest list or pool, at least 1: a cut beyond it changes nothing."""
        return int(max(self.n_ranked.max(initial=1), np.diff(self.pool_offsets).max(initial=1)))

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
        joined = {}
        for field in fields(Rankings):
            columns = [getattr(part, field.name) for part in parts]
            if all(column is not None for column in columns):
                if field.name.endswith("offsets"):
                    columns = [
                        [0],
                        np.cumsum(np.concatenate([np.diff(column) for column in columns])),
                    ]
                joined[field.name] = np.concatenate(columns)
        return Rankings(**joined)


@dataclass(frozen=True, eq=False, init=False)
class Pairs:
    """Estimate and true rating of every test pair, grouped by user.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_users + 1,)
        User ``u`` owns pairs ``offsets[u]:offsets[u + 1]``.
    estimates, ratings : ndarray of float64, shape (n_pairs,)
    items : ndarray of int32, shape (n_pairs,), optional
        Item code of each pair; for metrics with ``weights``.
    weights : ndarray of float64, shape (n_pairs,), optional
        How many pairs each counts as; by default 1.

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
    items: Ranks | None
    weights: Floats | None

    @checked(MetricError)
    def __init__(
        self,
        offsets: ArrayLike,
        estimates: ArrayLike,
        ratings: ArrayLike,
        items: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        store_arrays(self, np.int64, offsets=offsets)
        store_arrays(self, np.float64, estimates=estimates, ratings=ratings, weights=weights)
        store_arrays(self, np.int32, items=items)
        n = len(self.estimates)
        for name in ("items", "weights"):
            array = getattr(self, name)
            if array is not None and len(array) != n:
                raise MetricError(f"pairs: {counted(n, 'estimate')}, {len(array)} {name}; give one")
        ends = self.offsets[[0, -1]].tolist() if len(self.offsets) else []
        falls = bool((np.diff(self.offsets) < 0).any())
        if len(self.ratings) != n or ends != [0, n] or falls:
            text = f"offsets from {ends[0]} to {ends[1]}" if ends else "no offsets"
            raise MetricError(
                f"pairs: {counted(n, 'estimate')}, {counted(len(self.ratings), 'rating')} and "
                f"{text}{' that fall in between' * falls}; "
                f"give one rating for each estimate and offsets that rise from 0 to {n}"
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
    worth : Worth, optional
        What the weights of a weighted metric are worth.
    """

    per_user: Floats
    mean: float
    n_undefined: int
    worth: Worth | None = None


def store_arrays(owner: object, kind: DTypeLike, **arrays: ArrayLike | None) -> None:
    """Set fields of a frozen object to arrays of one type; None stays None."""
    for name, value in arrays.items():
        array = None if value is None else as_array(name, value, kind, MetricError)
        object.__setattr__(owner, name, array)


def filled_rating(ratings: ArrayLike) -> float | None:
    """Return the number that all ratings are if nobody gives it, else None.

    Surprise's ``build_anti_testset`` fills in the mean of the training ratings, so that the errors
    of estimates and the orders of lists say nothing. People give whole and half numbers.

    >>> filled_rating([3.53, 3.53, 3.53]), filled_rating([4, 4]), filled_rating([3.53, 4])
    (3.53, None, None)
    """
    values = np.asarray(ratings, dtype=np.float64)
    if len(values) < 2 or not np.isfinite(values[0]) or (2 * values[0]) % 1 == 0:
        return None
    return float(values[0]) if (values == values[0]).all() else None


def warn_of_filled(ratings: ArrayLike) -> None:
    """Warn of ratings that are one number that nobody gives."""
    number = filled_rating(ratings)
    if number is not None:
        warn(
            f"all ratings are {number:.6g}, which nobody gives: a mean that stands for unknown "
            "ratings, as in an anti-test set; score a test set"
        )
