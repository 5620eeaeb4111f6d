"""Filters of the ratings before the split: one class for each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness._util import seeds
from harness._util.arguments import checked
from harness.datasets import Ratings
from harness.errors import HarnessError, SplitError, counted, raised_where
from harness.metrics.own import locked
from harness.schema.dates import Moment, seconds
from harness.schema.sections import Count, Size, State, written
from harness.splits.base import FilterSection, Mask, draw_users
from harness.splits.cores import enough, k_core

Codes = NDArray[np.int32]
Counts = NDArray[np.int64] | NDArray[np.float64]


class KCore(FilterSection):
    """Users and items that have enough ratings of each other."""

    example: ClassVar[Mapping[str, object]] = {"n": 2}

    name = "{0.n}-core"
    kind: Literal["k-core"] = "k-core"
    """Remove users and items with too few ratings, repeatedly until none is left."""
    n: Count
    """Fewest ratings that every user and every item keeps."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        return k_core(ratings.users, ratings.items, self.n)


class MinRatingsPerUser(FilterSection):
    """Users with enough ratings."""

    example: ClassVar[Mapping[str, object]] = {"n": 2}

    name = "at least {0.n} per user"
    kind: Literal["min-ratings-per-user"] = "min-ratings-per-user"
    """Remove users with too few ratings, once."""
    n: Count
    """Fewest ratings that a user needs to stay."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        return enough(ratings.users, self.n)


class MinRatingsPerItem(FilterSection):
    """Items with enough ratings."""

    example: ClassVar[Mapping[str, object]] = {"n": 2}

    name = "at least {0.n} per item"
    kind: Literal["min-ratings-per-item"] = "min-ratings-per-item"
    """Remove items with too few ratings, once."""
    n: Count
    """Fewest ratings that an item needs to stay."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        return enough(ratings.items, self.n)


class MaxRatingsPerUser(FilterSection):
    """At most so many ratings of each user."""

    example: ClassVar[Mapping[str, object]] = {"n": 20}

    kind: Literal["max-ratings-per-user"] = "max-ratings-per-user"
    """Keep at most so many ratings of each user."""
    n: Count
    """Most ratings that a user keeps."""
    choose: Literal["random", "latest"] = "random"
    """Which are kept: sampled at random, or the latest; of two with one timestamp, the later one
    is further down in the data."""
    random_state: State | None = None
    """Seed of the draw; null: from the run's seed."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        if self.choose == "latest":
            if ratings.timestamps is None:
                raise SplitError(
                    f"filters: {self.describe()} needs timestamps, which {ratings.name} does not "
                    "have; use choose: random"
                )
            keys: Counts = ratings.timestamps
        else:
            state = state if self.random_state is None else self.random_state
            keys = np.random.Generator(np.random.PCG64(state)).random(len(ratings))
        order = np.lexsort((keys, ratings.users))
        counts = np.bincount(ratings.users)
        from_end = np.repeat(np.cumsum(counts), counts) - 1 - np.arange(len(ratings))
        keep = np.zeros(len(ratings), bool)
        keep[order[from_end < self.n]] = True
        return keep

    def describe(self) -> str:
        return f"at most {self.n} per user, {self.choose}"


class TimeWindow(FilterSection):
    """Ratings of a span of time."""

    example: ClassVar[Mapping[str, object]] = {"start": "2001-10-01"}

    kind: Literal["time-window"] = "time-window"
    """Keep the ratings with `start` <= timestamp < `end`."""
    start: Moment | None = None
    """First moment that is kept: a date or time (UTC), or seconds since 1970; null: no bound."""
    end: Moment | None = None
    """First moment that is removed; null: no bound."""

    @model_validator(mode="after")
    def _a_span(self) -> Self:
        if self.start is None and self.end is None:
            raise ValueError("neither `start` nor `end`; give one, such as start: 1998-01-01")
        if self.start is None or self.end is None or seconds(self.start) < seconds(self.end):
            return self
        raise ValueError(f"`start` {self.start} is not before `end` {self.end}; swap or widen them")

    def keep(self, ratings: Ratings, state: int) -> Mask:
        if ratings.timestamps is None:
            raise SplitError(
                f"filters: {self.describe()} needs timestamps, which {ratings.name} does not have; "
                "remove the filter"
            )
        keep = np.ones(len(ratings), bool)
        if self.start is not None:
            keep &= ratings.timestamps >= seconds(self.start)
        if self.end is not None:
            keep &= ratings.timestamps < seconds(self.end)
        return keep

    def describe(self) -> str:
        bounds = [("from", self.start), ("before", self.end)]
        return ", ".join(f"{word} {moment}" for word, moment in bounds if moment is not None)


class SampleUsers(FilterSection):
    """A random sample of users with all their ratings."""

    example: ClassVar[Mapping[str, object]] = {"n": 0.8}

    kind: Literal["sample-users"] = "sample-users"
    """Keep a random sample of the users."""
    n: Size
    """Proportion (rounded up) or count of users that are kept."""
    random_state: State | None = None
    """Seed of the draw; null: from the run's seed."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        state = state if self.random_state is None else self.random_state
        rng = np.random.Generator(np.random.PCG64(state))
        refusal = "filters: a sample of {} users cannot be drawn from {}; lower n"
        return np.isin(ratings.users, draw_users(ratings, self.n, rng, refusal))

    def describe(self) -> str:
        return f"sample of {written(self.n)}{' of the' if isinstance(self.n, float) else ''} users"


class FirstUsers(FilterSection):
    """The users that come first, with all their ratings."""

    example: ClassVar[Mapping[str, object]] = {"n": 30}

    name = "first {0.n} users"
    kind: Literal["first-users"] = "first-users"
    """Keep the users that come first in the data set, counted before any filter."""
    n: Count
    """How many users are kept; all of them if there are fewer."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        # Codes are given by first appearance in the whole data set, whatever was filtered since.
        return ratings.users < self.n


class TopItems(FilterSection):
    """The items with the most ratings, or the most of them in sum."""

    example: ClassVar[Mapping[str, object]] = {"n": 20}

    name = "top {0.n} items by {0.by}"
    kind: Literal["top-items"] = "top-items"
    """Keep the most rated items, or the most played ones."""
    n: Count
    """How many items are kept; of equal ones, those that come first in the data."""
    by: Literal["count", "sum"] = "count"
    """Order of items: by the number of their ratings, or by their sum, for example of plays."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        weights = ratings.ratings if self.by == "sum" else None
        totals = np.bincount(ratings.items, weights)
        return np.isin(ratings.items, np.argsort(-totals, kind="stable")[: self.n])


class MinRating(FilterSection):
    """Ratings that are high enough."""

    example: ClassVar[Mapping[str, object]] = {"at_least": 2.0}

    name = "ratings of at least {0.at_least:.16g}"
    kind: Literal["min-rating"] = "min-rating"
    """Remove low ratings, for example few plays of an artist."""
    at_least: float = Field(allow_inf_nan=False)
    """The lowest rating that is kept."""

    def keep(self, ratings: Ratings, state: int) -> Mask:
        return ratings.ratings >= self.at_least


def _kept(section: FilterSection, ratings: Ratings, state: int) -> Mask:
    """Return the mask of a filter; one of somebody else's sees ratings that it cannot change."""
    if type(section).__module__.partition(".")[0] == __name__.partition(".")[0]:
        return section.keep(ratings, state)
    try:
        returned = section.keep(locked(ratings), state)
        keep = np.asarray(returned)
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        said = raised_where(error)
        raise SplitError(f"filters: {section.describe()}: it failed ({said}); mend it") from error
    if np.ma.is_masked(returned):
        raise SplitError(
            f"filters: {section.describe()}: a masked array; return a plain one, as by "
            "`filled(False)`"
        )
    if keep.dtype != np.bool_ or keep.shape != (len(ratings),):
        found = f"{keep.dtype} {keep.shape}"
        raise SplitError(
            f"filters: {section.describe()}: found {found}; return a mask of ({len(ratings)},)"
        )
    return keep


@checked(SplitError)
def filter(
    sections: Sequence[FilterSection], ratings: Ratings, seed: int
) -> tuple[Ratings, list[str]]:
    """Return the rows that stay after filters, and for each its name with the counts around it.

    Raises SplitError if a filter cannot be applied or leaves nothing.
    """
    reports = []
    for position, section in enumerate(sections):
        before = _counts(ratings)
        keep = _kept(section, ratings, seeds.derive(seed, "filter", position))
        if not keep.any():
            raise SplitError(
                f"filters: {section.describe()} leaves none of "
                f"{counted(len(ratings), 'rating')}; relax it"
            )
        ratings = ratings.take(np.flatnonzero(keep))
        after = _counts(ratings)
        changes = (f"{noun} {n:,} -> {after[noun]:,}" for noun, n in before.items())
        reports.append(f"{section.describe()}: {', '.join(changes)}")
    return ratings, reports


def _counts(ratings: Ratings) -> dict[str, int]:
    """Count the ratings, and the users and items that have one."""
    sides = {"users": ratings.users, "items": ratings.items}
    counts = {noun: int(np.count_nonzero(np.bincount(codes))) for noun, codes in sides.items()}
    return {"ratings": len(ratings)} | counts
