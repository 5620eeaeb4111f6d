"""Split at one moment for all users: training before it, test from then on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, Self

import numpy as np
from pydantic import model_validator

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.sections import Moment, Share, seconds, written
from harness.splits.split import Drawn, DrawnSplit, SplitSection, rounded

__all__ = ["GlobalTime"]


class GlobalTime(DrawnSplit):
    """One moment for all users: training before, test from then on."""

    kind: Literal["global-time"] = "global-time"
    """Ratings before a moment are the training part; those at or after it are the test part."""
    quantile: Share | None = None
    """The moment is the timestamp that this share of the ratings comes before; ratings of that
    very second are all test. 0.8 when neither key is given."""
    date: Moment | None = None
    """The moment itself: a date or time (UTC), or seconds since 1970."""

    @model_validator(mode="before")
    @classmethod
    def _default_quantile(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("quantile") is None and data.get("date") is None:
            return {**data, "quantile": 0.8}
        return data

    @model_validator(mode="after")
    def _one_moment(self) -> Self:
        if self.quantile is not None and self.date is not None:
            raise ValueError("both `quantile` and `date`; keep one")
        return self

    def draw(self, ratings: Ratings, state: int) -> Drawn:
        name, times = self.describe(), ratings.timestamps
        if times is None:
            raise SplitError(f"{name}: {ratings.name} has no timestamps; use a split without time")
        if len(times) == 0:
            raise SplitError(f"{name}: {ratings.name} has no ratings; use more data")
        if self.date is not None:
            moment = seconds(self.date)
        else:
            # Of n timestamps in order, counted from 0, number floor(q·n). Ratings with that very
            # timestamp are all test: none for training is as late as one for test.
            place = rounded(self.quantile or 0.0, len(times), up=False)
            moment = int(np.partition(times, place)[place])
        before = times < moment
        if before.all() or not before.any():
            missing = "at or after" if before.all() else "before"
            first, last = _shown(int(times.min())), _shown(int(times.max()))
            raise SplitError(
                f"{name}: no rating is {missing} {_shown(moment)}; choose a moment within {first} "
                f"to {last}, where ratings are"
            )
        note = f"training is before {_shown(moment)}, test from then on"
        return Drawn([(np.flatnonzero(before), np.flatnonzero(~before))], (note,))

    def describe(self) -> str:
        return f"global time {self.quantile if self.date is None else self.date}"

    def sentence(self, part: str = "test part") -> str:
        if self.date is not None:
            return f"Ratings from {self.date} on are the {part}, those before are training."
        return (
            f"Ratings from the moment on that {written(self.quantile or 0.8)} of the ratings come "
            f"before are the {part}, those before are training."
        )

    def inner(self) -> SplitSection:
        return GlobalTime(quantile=0.8)


def _shown(moment: int) -> str:
    """Return a timestamp as a date, or unchanged if it is not one."""
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return str(moment)
