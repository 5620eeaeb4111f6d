"""Filters of the ratings before the split, with counts before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import seeds
from harness.config.filtering import (
    FilterSection,
    FirstUsers,
    KCore,
    MinRating,
    MinRatingsPerItem,
    MinRatingsPerUser,
    SampleUsers,
    TimeWindow,
    TopItems,
)
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.sections import seconds
from harness.splits.sizes import rounded_up
from harness.splits.users import in_order_of_appearance

__all__ = ["Counts", "FilterReport", "count", "filter", "k_core"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Counts:
    """How much there is.

    Parameters
    ----------
    n_ratings, n_users, n_items : int
        Ratings, and the users and items that have at least one.
    """

    n_ratings: int
    n_users: int
    n_items: int


@dataclass(frozen=True)
class FilterReport:
    """The effect of one filter.

    Parameters
    ----------
    name : str
        The filter as tables name it.
    before, after : Counts
        Counts before and after the filter.
    """

    name: str
    before: Counts
    after: Counts

    def describe(self) -> str:
        """Return the report as one line.

        Examples
        --------
        >>> FilterReport("5-core", Counts(1200, 30, 50), Counts(1100, 28, 40)).describe()
        '5-core: ratings 1,200 -> 1,100, users 30 -> 28, items 50 -> 40'
        """
        changes = [
            f"{word} {before:,} -> {after:,}"
            for word, before, after in (
                ("ratings", self.before.n_ratings, self.after.n_ratings),
                ("users", self.before.n_users, self.after.n_users),
                ("items", self.before.n_items, self.after.n_items),
            )
        ]
        return f"{self.name}: {', '.join(changes)}"


def count(ratings: Ratings) -> Counts:
    """Count the ratings, and the users and items that have one.

    Examples
    --------
    >>> count(Ratings.from_columns([1, 1], [8, 9], [3, 4], scale=(1, 5)))
    Counts(n_ratings=2, n_users=1, n_items=2)
    """
    n_users = np.count_nonzero(np.bincount(ratings.users, minlength=1))
    n_items = np.count_nonzero(np.bincount(ratings.items, minlength=1))
    return Counts(len(ratings), int(n_users), int(n_items))


def filter(
    sections: Sequence[FilterSection], ratings: Ratings, seed: int
) -> tuple[Ratings, list[FilterReport]]:
    """Apply filters one after the other.

    Parameters
    ----------
    sections : sequence of FilterSection
        In the order of application.
    ratings : Ratings
        Left as it is.
    seed : int
        The run's seed, for a sample without a `random_state` of its own.

    Returns
    -------
    Ratings
        The rows that stay, in their order.
    list of FilterReport
        One for each filter.

    Raises
    ------
    SplitError
        If a filter cannot be applied or leaves nothing.

    Examples
    --------
    >>> from harness.config.filtering import MinRatingsPerUser
    >>> r = Ratings.from_columns([1, 1, 2], [8, 9, 8], [3, 4, 5], scale=(1, 5))
    >>> left, reports = filter([MinRatingsPerUser(n=2)], r, seed=0)
    >>> len(left), reports[0].describe()
    (2, 'at least 2 per user: ratings 3 -> 2, users 2 -> 1, items 2 -> 2')
    """
    reports = []
    for position, section in enumerate(sections):
        before = count(ratings)
        keep = _FILTERS[section.kind](section, ratings, seeds.derive(seed, "filter", position))
        if not keep.any():
            raise SplitError(
                f"filters: {section.describe()} leaves none of {before.n_ratings:,} ratings; "
                "relax it"
            )
        ratings = ratings.take(np.flatnonzero(keep))
        reports.append(FilterReport(section.describe(), before, count(ratings)))
    return ratings, reports


def k_core(users: NDArray[np.int32], items: NDArray[np.int32], n: int) -> Mask:
    """Mark the rows that remain without users and items with fewer than `n` rows.

    Parameters
    ----------
    users, items : ndarray of int32, shape (n_rows,)
    n : int
        Fewest rows that every user and every item keeps.

    Examples
    --------
    >>> k_core(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1]), 2).tolist()
    [True, True, True, True, False]
    """
    keep = np.arange(len(users))
    while True:
        enough = _enough(users[keep], n) & _enough(items[keep], n)
        if enough.all():
            mask = np.zeros(len(users), bool)
            mask[keep] = True
            return mask
        keep = keep[enough]


def _enough(codes: NDArray[np.int32], n: int) -> Mask:
    """Mark the rows whose user, or item, has at least `n` rows."""
    enough: Mask = (np.bincount(codes) >= n)[codes]
    return enough


def _k_core(section: KCore, ratings: Ratings, state: int) -> Mask:
    return k_core(ratings.users, ratings.items, section.n)


def _min_per_user(section: MinRatingsPerUser, ratings: Ratings, state: int) -> Mask:
    return _enough(ratings.users, section.n)


def _min_per_item(section: MinRatingsPerItem, ratings: Ratings, state: int) -> Mask:
    return _enough(ratings.items, section.n)


def _time_window(section: TimeWindow, ratings: Ratings, state: int) -> Mask:
    if ratings.timestamps is None:
        raise SplitError(
            f"filters: {section.describe()} needs timestamps, which {ratings.name} does not have; "
            "remove the filter"
        )
    keep = np.ones(len(ratings), bool)
    if section.start is not None:
        keep &= ratings.timestamps >= seconds(section.start)
    if section.end is not None:
        keep &= ratings.timestamps < seconds(section.end)
    return keep


def _sample_users(section: SampleUsers, ratings: Ratings, state: int) -> Mask:
    users = in_order_of_appearance(ratings.users, ratings.n_users)
    n_kept = rounded_up(section.n, len(users))
    if n_kept > len(users):
        raise SplitError(
            f"filters: a sample of {n_kept:,} users cannot be drawn from {len(users):,}; lower n"
        )
    state = state if section.random_state is None else section.random_state
    drawn = np.random.Generator(np.random.PCG64(state)).permutation(len(users))[:n_kept]
    chosen = np.zeros(ratings.n_users, bool)
    chosen[users[drawn]] = True
    keep: Mask = chosen[ratings.users]
    return keep


def _first_users(section: FirstUsers, ratings: Ratings, state: int) -> Mask:
    # Codes are given by first appearance in the whole data set, whatever was filtered since.
    keep: Mask = ratings.users < section.n
    return keep


def _top_items(section: TopItems, ratings: Ratings, state: int) -> Mask:
    weights = ratings.ratings if section.by == "sum" else None
    totals = np.bincount(ratings.items, weights, minlength=ratings.n_items)
    chosen = np.zeros(ratings.n_items, bool)
    chosen[np.argsort(-totals, kind="stable")[: section.n]] = True
    keep: Mask = chosen[ratings.items]
    return keep


def _min_rating(section: MinRating, ratings: Ratings, state: int) -> Mask:
    keep: Mask = ratings.ratings >= section.at_least
    return keep


_FILTERS: dict[str, Callable[[Any, Ratings, int], Mask]] = {
    "k-core": _k_core,
    "min-ratings-per-user": _min_per_user,
    "min-ratings-per-item": _min_per_item,
    "time-window": _time_window,
    "sample-users": _sample_users,
    "first-users": _first_users,
    "top-items": _top_items,
    "min-rating": _min_rating,
}
