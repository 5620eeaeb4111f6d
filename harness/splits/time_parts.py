"""Split at one moment for all users: training before it, test from then on."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from harness.config.splitting import GlobalTime
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.sections import seconds
from harness.splits.sizes import rounded_down
from harness.splits.split import Drawn

__all__ = ["global_time"]


def global_time(section: GlobalTime, ratings: Ratings, state: int) -> Drawn:
    """Divide the ratings at a moment.

    Parameters
    ----------
    section : GlobalTime
        The moment, or the share of ratings before it. With the n timestamps in order, counted from
        0, the moment of share q is timestamp number floor(q·n); ratings with that very timestamp
        are all test, so training may hold less than its share but never a rating as late as a
        test rating.
    ratings : Ratings
        What to divide. Both parts keep the order of the data.
    state : int
        Not used: there is no random choice.

    Raises
    ------
    SplitError
        If there are no timestamps, or all of them lie on one side.
    """
    name = section.describe()
    times = ratings.timestamps
    if times is None:
        raise SplitError(f"{name}: {ratings.name} has no timestamps; use a split without time")
    if len(times) == 0:
        raise SplitError(f"{name}: {ratings.name} has no ratings; use more data")
    if section.date is not None:
        moment = seconds(section.date)
    else:
        place = rounded_down(section.quantile or 0.0, len(times))
        moment = int(np.partition(times, place)[place])
    before = times < moment
    if before.all() or not before.any():
        missing = "at or after" if before.all() else "before"
        first, last = shown(int(times.min())), shown(int(times.max()))
        raise SplitError(
            f"{name}: no rating is {missing} {shown(moment)}; choose a moment within {first} to "
            f"{last}, where ratings are"
        )
    note = f"training is before {shown(moment)}, test from then on"
    return Drawn([(np.flatnonzero(before), np.flatnonzero(~before))], (note,))


def shown(moment: int) -> str:
    """Return a timestamp as a date, or unchanged if it is not one.

    Examples
    --------
    >>> shown(883612800)
    '1998-01-01 00:00:00 UTC'
    """
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return str(moment)
