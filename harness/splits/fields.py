"""Fields that several kinds of split have, and what a sentence says of a seed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.quantities import State

LegacySeed = Annotated[
    State | None,
    Field(
        description="Seed of NumPy's legacy generator, as in a published script; null: from the "
        "run's seed."
    ),
]
Seed = Annotated[State | None, Field(description="Seed of the draws; null: from the run's seed.")]


def seeded(state: int | None) -> str:
    """Return the part of a sentence that names a seed of a config."""
    return "" if state is None else f" (random_state {state})"
