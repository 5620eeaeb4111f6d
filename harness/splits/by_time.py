"""Splits in time: one moment, or several, for all users."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from harness.datasets import Ratings
from harness.errors import SplitError, counted
from harness.notes.note import Note
from harness.schema.dates import Duration, Moment, Points, Span, seconds, span_seconds
from harness.schema.sections import Share, written
from harness.splits.base import DrawnSplit, Notes, Parts, Rows, SplitSection, rounded


class GlobalTime(DrawnSplit):
    """One moment for all users: training before, test from then on."""

    kind: Literal["global-time"] = "global-time"
    """Ratings before a moment are the training set; those at or after it are the test set."""
    added = frozenset({"last"})
    quantile: Share | None = None
    """The moment is the timestamp that this proportion of the ratings comes before; ratings of that
    very second are all test. 0.8 when no key is given."""
    date: Moment | None = None
    """The moment itself: a date or time (UTC), or seconds since 1970."""
    last: Duration | None = None
    """The test set is the end of the data, such as `3 weeks`: what is that much older than the
    latest rating, or more, is training."""

    @model_validator(mode="before")
    @classmethod
    def _default_quantile(cls, data: object) -> object:
        keys = ("quantile", "date", "last")
        if isinstance(data, dict) and all(data.get(key) is None for key in keys):
            return {**data, "quantile": 0.8}
        return data

    @model_validator(mode="after")
    def _one_moment(self) -> Self:
        keys = [key for key in ("quantile", "date", "last") if getattr(self, key) is not None]
        if len(keys) > 1:
            raise ValueError(f"both `{keys[0]}` and `{keys[1]}`; keep one")
        return self

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        name, times = self.describe(), _times(self, ratings)
        if self.last is not None:
            moment = int(times.max()) - span_seconds(self.last) + 1
        else:
            moment = _moment(times, self.quantile or 0.0 if self.date is None else self.date)
        before = times < moment
        if before.all() or not before.any():
            missing = "at or after" if before.all() else "before"
            first, last = _as_date(int(times.min())), _as_date(int(times.max()))
            advice = f"choose a moment within {first} to {last}, where ratings are"
            if first == last:
                advice = f"all are of {first}, so use a split without time"
            raise SplitError(f"{name}: no rating is {missing} {_as_date(moment)}; {advice}")
        note = Note("moment", {"date": _as_date(moment)})
        return [(np.flatnonzero(before), np.flatnonzero(~before))], (note,)

    def describe(self) -> str:
        if self.last is not None:
            return f"last {self.last}"
        return f"global time {self.quantile if self.date is None else self.date}"

    def sentence(self, part: str = "test set") -> str:
        if self.last is not None:
            return (
                f"The ratings of the last {self.last} of the data are the {part}, those before "
                "are training."
            )
        if self.date is not None:
            return f"Ratings from {self.date} on are the {part}, those before are training."
        return (
            f"Ratings from the moment on that {written(self.quantile or 0.8)} of the ratings come "
            f"before are the {part}, those before are training."
        )

    def inner(self) -> SplitSection:
        return GlobalTime(quantile=0.8)


class Rolling(DrawnSplit):
    """Several moments for all users, one after another (Tashman 2000)."""

    kind: Literal["rolling"] = "rolling"
    """Folds in time: each is trained on ratings before a moment, its origin, and tested on ratings
    from it on. Each bound is a moment, and the ratings of that very second come after it."""
    origins: Points = 5
    """A number of moments, which cut the ratings into parts of equal size, the first of them only
    for training; or a rising list of moments, each a quantile or a date as in `global-time`."""
    window: Span | None = None
    """Training of a fold: null, all ratings before the origin; or the latest before it: a
    proportion of all ratings, such as 0.2, or a span of time, such as `90 days`."""
    horizon: Span | None = None
    """Test of a fold: null, the ratings up to the next origin, for the last origin up to the end;
    or the ratings from the origin on: a proportion of all ratings, or a span of time."""

    @property
    def n_folds(self) -> int:
        return self.origins if isinstance(self.origins, int) else len(self.origins)

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        times, bounds = _times(self, ratings), self.origins
        if isinstance(bounds, int):
            bounds = [part / (bounds + 1) for part in range(1, bounds + 1)]
        ordered = np.sort(times)
        end = int(ordered[-1]) + 1
        origins = [_moment(ordered, at) for at in bounds]
        move, sort = "move or remove it", "sort them, or remove one"
        if isinstance(self.origins, int):
            move = sort = "use fewer origins, or a split without time"
        folds = []
        for number, (moment, following) in enumerate(pairwise([*origins, end]), 1):
            where = f"{self.describe()}: origin {number}, {_as_date(moment)},"
            if number < len(origins) and moment >= following:
                after = f"origin {number + 1}, {_as_date(following)}"
                raise SplitError(f"{where} is not before {after}; {sort}")
            place = int(np.searchsorted(ordered, moment))
            start, stop = int(ordered[0]), following
            if isinstance(self.window, str):
                start = moment - span_seconds(self.window)
            elif self.window is not None:
                start = int(ordered[max(place - rounded(self.window, len(times), up=False), 0)])
            if isinstance(self.horizon, str):
                stop = moment + span_seconds(self.horizon)
            elif self.horizon is not None:
                last = place + rounded(self.horizon, len(times), up=False)
                stop = int(ordered[last]) if last < len(times) else end
            train = np.flatnonzero((start <= times) & (times < moment))
            test = np.flatnonzero((moment <= times) & (times < stop))
            for part, role, key in ((train, "training", "window"), (test, "test", "horizon")):
                if len(part) == 0:
                    wider = f", or widen `{key}`" if getattr(self, key) else ""
                    raise SplitError(f"{where} has no {role} rating; {move}{wider}")
            folds.append((train, test))
        named = [_as_date(moment) for moment in origins]
        named = named if len(named) < 6 else [named[0], "…", named[-1]]
        return folds, (Note("origins", {"dates": named}),)

    def describe(self) -> str:
        parts = [f"rolling {counted(self.n_folds, 'origin')}"]
        parts += [f"window {written(self.window)}"] if self.window else []
        parts += [f"horizon {written(self.horizon)}"] if self.horizon else []
        return ", ".join(parts)

    def sentence(self, part: str = "test set") -> str:
        if isinstance(self.origins, int):
            origins = (
                f"{counted(self.origins, 'moment')} between {self.origins + 1} parts of the "
                "ratings of equal size"
            )
        else:
            named = [
                f"{written(at)} of the ratings" if isinstance(at, float) else str(at)
                for at in self.origins
            ]
            origins = f"{counted(len(named), 'moment')} (after {', '.join(named)})"
        train = "all ratings"
        if self.window is not None:
            train = f"the latest {_of_all(self.window)}"
        test = "the ratings up to the next, or to the end,"
        if self.horizon is not None:
            test = f"the next {_of_all(self.horizon)}"
        return (
            f"At each of {origins}, {train} before it are training and {test} are the {part} "
            "(rolling origins, Tashman 2000)."
        )

    def inner(self) -> SplitSection:
        return GlobalTime(quantile=0.8)


def _of_all(span: float | str) -> str:
    return f"{span} of ratings" if isinstance(span, str) else f"{written(span)} of all ratings"


def _times(section: SplitSection, ratings: Ratings) -> Rows:
    """Return the timestamps of ratings to be divided in time, or raise SplitError."""
    name, times = section.describe(), ratings.timestamps
    if times is None:
        raise SplitError(f"{name}: {ratings.name} has no timestamps; use a split without time")
    if len(times) == 0:
        raise SplitError(f"{name}: {ratings.name} has no ratings; use more data")
    return times


def _moment(times: Rows, at: float | str) -> int:
    """Return a date in seconds, or the timestamp that a proportion of the ratings comes before."""
    if not isinstance(at, float):
        return seconds(at)
    # Of n timestamps in order, counted from 0, number floor(q·n). Ratings with that very
    # timestamp are all test: none for training is as late as one for test.
    place = rounded(at, len(times), up=False)
    return int(np.partition(times, place)[place])


def _as_date(moment: int) -> str:
    """Return a timestamp as a date, or unchanged if it is not one."""
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return str(moment)
