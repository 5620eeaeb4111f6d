"""Search spaces: the values of a parameter to try."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from harness.sections import Section

__all__ = ["Choices", "Range", "SearchSpace"]

MOST = 2**53
"""Whole numbers up to here are exact as floating-point numbers."""

Choices = Annotated[list[bool | int | float | str | None], Field(min_length=1)]
"""Values to try."""


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
            if not -MOST <= end <= MOST:  # NaN is not either
                raise ValueError(f"{end} is too large or not a number; give a finite range")
        if not self.low < self.high:
            raise ValueError(f"[{self.low}, {self.high}] is empty; give low below high")
        if self.log and self.low <= 0:
            raise ValueError(f"low is {self.low}; a logarithmic range starts above 0")
        return self

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are drawn."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def _form(values: Any) -> str:
    return "range" if isinstance(values, dict | Range) else "choices"


SearchSpace = dict[
    str,
    Annotated[
        Annotated[Choices, Tag("choices")] | Annotated[Range, Tag("range")], Discriminator(_form)
    ],
]
"""By parameter, options of options with a dot, as `sim_options.name`."""
