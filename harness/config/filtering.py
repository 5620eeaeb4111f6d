"""Filters of the ratings before the split."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from harness.sections import Count, Moment, Section, Size, State, seconds, written

__all__ = [
    "FilterSection",
    "FirstUsers",
    "KCore",
    "MinRating",
    "MinRatingsPerItem",
    "MinRatingsPerUser",
    "SampleUsers",
    "TimeWindow",
    "TopItems",
]


class KCore(Section):
    """Users and items that have enough ratings of each other."""

    kind: Literal["k-core"] = "k-core"
    """Remove users and items with too few ratings, repeatedly until none is left."""
    n: Count
    """Fewest ratings that every user and every item keeps."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"{self.n}-core"


class MinRatingsPerUser(Section):
    """Users with enough ratings."""

    kind: Literal["min-ratings-per-user"] = "min-ratings-per-user"
    """Remove users with too few ratings, once."""
    n: Count
    """Fewest ratings that a user needs to stay."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"at least {self.n} per user"


class MinRatingsPerItem(Section):
    """Items with enough ratings."""

    kind: Literal["min-ratings-per-item"] = "min-ratings-per-item"
    """Remove items with too few ratings, once."""
    n: Count
    """Fewest ratings that an item needs to stay."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"at least {self.n} per item"


class TimeWindow(Section):
    """Ratings of a span of time."""

    kind: Literal["time-window"] = "time-window"
    """Keep the ratings with `start` <= timestamp < `end`."""
    start: Moment | None = None
    """First moment that is kept: a date or time (UTC), or seconds since 1970; null: no bound."""
    end: Moment | None = None
    """First moment that is removed; null: no bound."""

    @model_validator(mode="after")
    def _a_span(self) -> Self:
        if self.start is None and self.end is None:
            raise ValueError("neither `start` nor `end`; give one, as start: 1998-01-01")
        if self.start is None or self.end is None or seconds(self.start) < seconds(self.end):
            return self
        raise ValueError(f"`start` {self.start} is not before `end` {self.end}; swap or widen them")

    def describe(self) -> str:
        """Return the short name that tables use.

        Examples
        --------
        >>> TimeWindow(start="1998-01-01").describe()
        'from 1998-01-01'
        """
        bounds = [("from", self.start), ("before", self.end)]
        return ", ".join(f"{word} {moment}" for word, moment in bounds if moment is not None)


class SampleUsers(Section):
    """A random sample of users with all their ratings."""

    kind: Literal["sample-users"] = "sample-users"
    """Keep a sample of the users, drawn at random."""
    n: Size
    """Share (rounded up) or count of users that are kept."""
    random_state: State | None = None
    """Seed of the draw; null: from the run's seed."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"sample of {written(self.n)}{' of the' if isinstance(self.n, float) else ''} users"


class FirstUsers(Section):
    """The users that come first, with all their ratings."""

    kind: Literal["first-users"] = "first-users"
    """Keep the users that come first in the data set, counted before any filter."""
    n: Count
    """How many users are kept; all of them if there are fewer."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"first {self.n} users"


class TopItems(Section):
    """The items with the most ratings, or the most of them in sum."""

    kind: Literal["top-items"] = "top-items"
    """Keep the most rated items, or the most played ones."""
    n: Count
    """How many items are kept; of equal ones, those that come first in the data."""
    by: Literal["count", "sum"] = "count"
    """Order of items: by the number of their ratings, or by their sum, for example of plays."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"top {self.n} items by {self.by}"


class MinRating(Section):
    """Ratings that are high enough."""

    kind: Literal["min-rating"] = "min-rating"
    """Remove low ratings, for example few plays of an artist."""
    at_least: float = Field(allow_inf_nan=False)
    """The lowest rating that is kept."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return f"ratings of at least {self.at_least:g}"


FilterSection = Annotated[
    KCore
    | MinRatingsPerUser
    | MinRatingsPerItem
    | TimeWindow
    | SampleUsers
    | FirstUsers
    | TopItems
    | MinRating,
    Field(discriminator="kind"),
]
"""A kind of filter with its options."""
