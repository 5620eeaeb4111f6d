"""Moments and spans of time in sections, and points in time as proportions of the ratings."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from harness.schema.sections import Folds, Share, is_share


def seconds(moment: int | str) -> int:
    """Return a moment as seconds since 1970, or raise ValueError; UTC unless it names an offset."""
    if isinstance(moment, int):
        if abs(moment) >= 2**62:
            raise ValueError(f"found {moment}; it is not a number of seconds since 1970")
        return moment
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        raise ValueError(f"{moment!r} is not a date; write it as 1998-01-31") from None
    return int((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp())


def span_seconds(span: str) -> int:
    """Return a span of time, such as `90 days`, in seconds."""
    number, unit = span.rstrip("s").split()
    return int(number) * _UNITS[unit]


def _as_text(moment: object) -> object:
    return moment.isoformat() if isinstance(moment, date) else moment


def _check_moment(moment: int | str) -> int | str:
    seconds(moment)
    return moment


def _check_point(point: object) -> object:
    point = _as_text(point)
    if isinstance(point, str) or type(point) is int:
        return _check_moment(point)
    if is_share(point):
        return point
    expected = "a proportion of the ratings, such as 0.8, or a date, such as 1998-01-31"
    raise ValueError(f"found {point!r}; write {expected}")


_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


_DURATION = rf"[1-9]\d{{0,9}} ({'|'.join(_UNITS)})s?"


_A_DURATION = f"a number of {'s, '.join(_UNITS)}s, such as 90 days"


def _check_duration(duration: object) -> object:
    if isinstance(duration, str) and re.fullmatch(_DURATION, duration):
        return duration
    raise ValueError(f"found {duration!r}; write {_A_DURATION}")


def _check_span(span: object) -> object:
    if is_share(span) or (isinstance(span, str) and re.fullmatch(_DURATION, span)):
        return span
    raise ValueError(
        f"found {span!r}; write a proportion of the ratings, such as 0.2, or {_A_DURATION}"
    )


Moment = Annotated[
    int | str,
    BeforeValidator(_as_text, json_schema_input_type=int | str),
    AfterValidator(_check_moment),
]
"""A date or time (UTC by default), or seconds since 1970."""


_Point = Annotated[
    float | int | str, BeforeValidator(_check_point, json_schema_input_type=Share | int | str)
]


Points = Annotated[
    Annotated[Folds, Tag("number")] | Annotated[list[_Point], Field(min_length=1), Tag("points")],
    Discriminator(lambda points: "points" if isinstance(points, list) else "number"),
]
"""How many points in time, or a list of quantiles and moments."""


Duration = Annotated[str, BeforeValidator(_check_duration, json_schema_input_type=str)]
"""A span of time, such as `90 days`."""


Span = Annotated[float | str, BeforeValidator(_check_span, json_schema_input_type=Share | str)]
"""A proportion of the ratings, or a span of time, such as `90 days`."""
