"""Quantities that sections hold: sizes, moments, spans, and the spaces that a search draws from."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from harness.sections import Section

MOST_RATINGS = 2**40
"""More than any data set has."""
MOST_EXACT = 2**53
"""Whole numbers up to here are exact as floating-point numbers."""


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


def written(size: float | str) -> str:
    """Return a share as a percentage, a count or a span as it is."""
    return f"{100 * size:.10g}%" if isinstance(size, float) else str(size)


def span_seconds(span: str) -> int:
    """Return a span of time, as `90 days`, in seconds."""
    number, unit = span.rstrip("s").split()
    return int(number) * _UNITS[unit]


def _as_text(moment: object) -> object:
    return moment.isoformat() if isinstance(moment, date) else moment


def _check_moment(moment: int | str) -> int | str:
    seconds(moment)
    return moment


def _is_share(value: object) -> bool:
    return isinstance(value, float) and 0 < value < 1


def _check_point(point: object) -> object:
    point = _as_text(point)
    if isinstance(point, str) or type(point) is int:
        return _check_moment(point)
    if _is_share(point):
        return point
    expected = "a share of the ratings, as 0.8, or a date, as 1998-01-31"
    raise ValueError(f"found {point!r}; write {expected}")


def _check_size(size: object, smallest: int = 1) -> object:
    if _is_share(size) or (type(size) is int and smallest <= size < MOST_RATINGS):
        return size
    expected = f"a share between 0 and 1, as 0.2, or a count of at least {smallest}, as 10"
    raise ValueError(f"found {size!r}; write {expected}")


_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


_DURATION = rf"[1-9]\d{{0,9}} ({'|'.join(_UNITS)})s?"
_A_DURATION = f"a number of {'s, '.join(_UNITS)}s, as 90 days"


def _check_duration(duration: object) -> object:
    if isinstance(duration, str) and re.fullmatch(_DURATION, duration):
        return duration
    raise ValueError(f"found {duration!r}; write {_A_DURATION}")


def _check_span(span: object) -> object:
    if _is_share(span) or (isinstance(span, str) and re.fullmatch(_DURATION, span)):
        return span
    raise ValueError(f"found {span!r}; write a share of the ratings, as 0.2, or {_A_DURATION}")


Count = Annotated[int, Field(ge=1)]
"""One or more."""
Folds = Annotated[int, Field(ge=1, le=10_000)]
"""A number of folds or repetitions; each is a fit."""
Share = Annotated[float, Field(gt=0, lt=1)]
"""Strictly between 0 and 1."""
Size = Annotated[int | float, BeforeValidator(_check_size, json_schema_input_type=Count | Share)]
"""A share, or a count; the decimal point makes it a share."""
SizeOrZero = Annotated[
    int | float,
    BeforeValidator(
        lambda size: _check_size(size, 0),
        json_schema_input_type=Annotated[int, Field(ge=0)] | Share,
    ),
]
"""A size that may be 0."""
State = Annotated[int, Field(ge=0, lt=2**32)]
"""A seed that every generator of NumPy takes."""
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
"""A span of time, as `90 days`."""
Span = Annotated[float | str, BeforeValidator(_check_span, json_schema_input_type=Share | str)]
"""A share of the ratings, or a span of time, as `90 days`."""


class Range(Section):
    """Numbers from `low` to `high`, whole ones when both ends are whole."""

    low: int | float
    """The least value."""
    high: int | float
    """The greatest value."""
    log: bool = False
    """Whether the logarithms of values are uniform."""
    points: int = Field(default=4, ge=2, le=100)
    """How many evenly spread values a grid takes from the range."""

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        for end in (self.low, self.high):
            if not -MOST_EXACT <= end <= MOST_EXACT:  # NaN is not either
                raise ValueError(f"{end} is too large or not a number; give a finite range")
        if not self.low < self.high:
            raise ValueError(f"[{self.low}, {self.high}] is empty; give low below high")
        if self.log and self.low <= 0:
            raise ValueError(f"low is {self.low}; a logarithmic range starts above 0")
        return self

    def end(self, value: float) -> str:
        """Return ``low`` or ``high`` where a value is in the outer tenth there or beyond, else ''.

        Examples
        --------
        >>> Range(low=1.0, high=100.0, log=True).end(70.0), Range(low=1, high=100).end(70)
        ('high', '')
        """
        scale = math.log if self.log else float
        low, high = scale(self.low), scale(self.high)
        share = (scale(max(value, self.low)) - low) / (high - low)
        return "low" if share <= 0.1 else "high" if share >= 0.9 else ""

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are drawn."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def log_range(low: float, high: float) -> Range:
    """Return a range whose logarithms are uniform."""
    return Range(low=low, high=high, log=True)


def _form(values: object) -> str:
    return "range" if isinstance(values, dict | Range) else "choices"


Choices = Annotated[list[bool | int | float | str | None], Field(min_length=1), Tag("choices")]
SearchSpace = dict[str, Annotated[Choices | Annotated[Range, Tag("range")], Discriminator(_form)]]
"""By parameter, options of options with a dot, as `sim_options.name`."""
