"""The parameters of synthetic ratings in a config, and what a scale of ratings is."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from harness.arguments import MOST_RATING, unit_fault
from harness.errors import counted
from harness.sections import Section


def checked_scale(scale: tuple[float, float]) -> tuple[float, float]:
    """Return a scale of some width, or raise `ValueError`."""
    if not (all(map(math.isfinite, scale)) and scale[0] < scale[1]):
        raise ValueError(
            f"[{scale[0]:.16g}, {scale[1]:.16g}] is not a scale; "
            "give the lowest and the highest rating, as [0.5, 5]"
        )
    if fault := unit_fault(MOST_RATING, np.array(scale)):
        raise ValueError(f"[{scale[0]:.16g}, {scale[1]:.16g}] has {fault}")
    return scale


Scale = Annotated[tuple[float, float], Field(strict=False), AfterValidator(checked_scale)]


class SyntheticSection(Section):
    """Ratings drawn from biases, factors and noise, with a long tail of items."""

    n_users: int = Field(default=1_000, ge=1, le=2**31 - 1)
    """How many users; each has at least one rating."""

    n_items: int = Field(default=2_000, ge=1, le=2**31 - 1)
    """How many items; each is rated at least once."""

    n_ratings: int = Field(default=100_000, ge=1, le=2**31 - 1)
    """How many ratings, no pair of user and item twice."""

    exponent: float = Field(default=1.0, ge=0.0, le=4.0, allow_inf_nan=False)
    """How steep popularity is: the item of rank r is drawn in proportion to r to the minus this; 0
    makes all items equally popular."""

    scale: Scale = (0.5, 5.0)
    """The lowest and the highest rating."""

    step: float | None = Field(default=0.5, gt=0.0, allow_inf_nan=False)
    """Distance between neighbouring ratings, as 0.5 for half stars; `null` for no rounding."""

    seed: int = Field(default=0, ge=0, lt=2**63)
    """The seed of the ratings."""

    @field_validator("n_ratings")
    @classmethod
    def _check_room(cls, n_ratings: int, info: ValidationInfo) -> int:
        users, items = info.data.get("n_users"), info.data.get("n_items")
        if users is None or items is None:
            return n_ratings
        if n_ratings < max(users, items):
            raise ValueError(
                f"{counted(n_ratings, 'rating')} cannot reach each of {users} users and "
                f"{items} items; use {max(users, items)} or more"
            )
        most = max(users * items // 2, users, items)
        if n_ratings > most:
            raise ValueError(
                f"{n_ratings} ratings fill more than half of {users} users times {items} items; "
                f"use {most} or fewer"
            )
        return n_ratings

    @field_validator("step")
    @classmethod
    def _check_step(cls, step: float | None, info: ValidationInfo) -> float | None:
        scale = info.data.get("scale")
        if step is None or scale is None:
            return step
        n_steps = (scale[1] - scale[0]) / step
        if n_steps < 1 or abs(n_steps - round(n_steps)) > 1e-9 * n_steps:
            raise ValueError(
                f"steps of {step:.16g} do not lead from {scale[0]:.16g} to {scale[1]:.16g}; "
                "use a step that divides the scale evenly"
            )
        return step
