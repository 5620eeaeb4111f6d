"""Quantities that sections hold: sizes, and the spaces that a search draws from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from harness.schema.sections import Section, plain_data

MOST_RATINGS = 2**40
"""More than any data set has."""
MOST_EXACT = 2**53
"""Whole numbers up to here are exact as floating-point numbers."""


def written(size: float | str) -> str:
    """Return a share as a percentage, a count or a span as it is."""
    return f"{100 * size:.10g}%" if isinstance(size, float) else str(size)


def is_share(value: object) -> bool:
    """Return whether a value is a number between 0 and 1."""
    return isinstance(value, float) and 0 < value < 1


def _check_size(size: object, smallest: int = 1) -> object:
    if is_share(size) or (type(size) is int and smallest <= size < MOST_RATINGS):
        return size
    expected = f"a share between 0 and 1, as 0.2, or a count of at least {smallest}, as 10"
    raise ValueError(f"found {size!r}; write {expected}")


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
_SPACE: TypeAdapter[SearchSpace] = TypeAdapter(SearchSpace)


def nested_options(search: Mapping[object, object]) -> dict[object, object]:
    """Let `sim_options: {name: [msd, cosine]}` stand for `sim_options.name: [msd, cosine]`."""
    flat: dict[object, object] = {}
    for name, values in search.items():
        if isinstance(values, dict) and str(name).endswith("_options"):
            flat |= {f"{name}.{key}": inner for key, inner in values.items()}
        else:
            flat[name] = values
    return flat


def search_space(declared: object) -> SearchSpace:
    """Return a space that Python code declares as a config would hold it.

    Tuples and NumPy's arrays and numbers are taken too.

    Raises
    ------
    ValueError
        With what is wrong with the first parameter that cannot be searched.

    Examples
    --------
    >>> search_space({"damping": {"low": 0.5, "high": 50.0}, "k": (10, 20)})["k"]
    [10, 20]
    >>> search_space({"damping": 5})
    Traceback (most recent call last):
    ValueError: damping: found 5
    """
    if not isinstance(declared, Mapping):
        raise ValueError(f"found {declared!r}")
    plain = {
        name: [*values] if isinstance(values, tuple) else values
        for name, values in nested_options(declared).items()
    }
    for name, values in plain.items():
        if not isinstance(values, Range):
            plain[name] = plain_data(values)
    try:
        return _SPACE.validate_python(plain)
    except ValidationError as error:
        fault = error.errors()[0]
        name, *inner = (part for part in fault["loc"] if part not in ("range", "choices"))
        said = fault["msg"].removeprefix("Value error, ")
        if not inner and not isinstance(plain.get(name), dict):
            said = f"found {plain.get(name)!r}"
        raise ValueError(": ".join([*map(str, (name, *inner)), said])) from None
