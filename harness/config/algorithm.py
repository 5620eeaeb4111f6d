"""One row of the table: an algorithm, its parameters and its label."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from harness.config.spaces import SearchSpace
from harness.sections import Section

__all__ = ["AlgorithmConfig", "AlgorithmSection", "folded"]


class AlgorithmConfig(Section):
    """An algorithm of Surprise, a baseline, or a class of your own."""

    name: str = Field(min_length=1)
    """A name from `harness list algorithms`, or `package.module:Class` for your own subclass of
    AlgoBase. An import path is the only way in which a config names code to run."""
    label: str | None = Field(default=None, min_length=1, max_length=80)
    """Name of the row in the table; by default the algorithm's name. Labels must differ."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the constructor, `sim_options` and `bsl_options` included."""
    as_surprise: bool = False
    """Reproduce Surprise where it truncates fractional ratings (SlopeOne, CoClustering)."""

    search: (
        Annotated[
            Annotated[Literal["recommended"], Tag("word")] | Annotated[SearchSpace, Tag("space")],
            Discriminator(lambda value: "space" if isinstance(value, dict) else "word"),
        ]
        | None
    ) = None
    """Parameters to tune: `recommended`, or a space for each; see `tuning` for the budget."""

    @property
    def title(self) -> str:
        """The label, or the name where there is none."""
        return self.label or self.name


def folded(name: str) -> str:
    """Return a name as names are compared, without capitals and punctuation: ``SVD++``, ``svdpp``.

    Examples
    --------
    >>> folded("SVD++"), folded("Slope One")
    ('svdpp', 'slopeone')
    """
    return "".join(c for c in name.casefold().replace("+", "p") if c.isalnum())


def _from_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


AlgorithmSection = Annotated[
    AlgorithmConfig, BeforeValidator(_from_name, json_schema_input_type=str | AlgorithmConfig)
]
"""An algorithm's name, or a mapping with parameters."""
