"""How parameters are searched: the method, the budget, what decides, and the spaces."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from harness.config.section import Section
from harness.config.splitting import Holdout, SplitSection

__all__ = ["Choices", "Range", "SearchSpace", "Tuning"]

Choices = Annotated[list[bool | int | float | str | None], Field(min_length=1)]
"""Values to choose from."""


class Range(Section):
    """Numbers from `low` to `high`, whole ones when both ends are whole."""

    low: int | float
    """The least value."""
    high: int | float
    """The greatest value."""
    log: bool = False
    """Whether values are spread evenly over their logarithms."""
    points: int = Field(default=4, ge=2, le=100)
    """How many evenly spread values a grid takes from the range."""

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"[{self.low}, {self.high}] is empty; give low below high")
        if self.log and self.low <= 0:
            raise ValueError(f"low is {self.low}; a logarithmic range starts above 0")
        return self

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are drawn."""
        return isinstance(self.low, int) and isinstance(self.high, int)


SearchSpace = dict[str, Choices | Range]
"""By parameter, options of options with a dot, as `sim_options.name`."""


class Tuning(Section):
    """A search for parameters on a validation part of the training data.

    Every algorithm that has a `search` gets the same budget. The setting as written in the config
    is always the first trial. The best setting is fitted to the whole training part and tested
    once.
    """

    method: Literal["random", "grid", "tpe"] = "random"
    """Independent draws, every combination, or tree-structured Parzen estimators (Optuna)."""
    trials: int | None = Field(default=None, ge=1, le=100_000)
    """Settings tried for each algorithm on each fold; 20 when neither budget is given."""
    seconds: float | None = Field(default=None, gt=0)
    """Seconds of fitting and scoring after which no further setting is tried."""
    metric: str = "ndcg@10"
    """The label that decides, from the validation part."""
    validation: SplitSection = Field(default_factory=lambda: Holdout(test_size=0.2))
    """How the training part is divided once more; a `validation` of the split itself goes first."""

    @model_validator(mode="before")
    @classmethod
    def _default_budget(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("trials") is None and data.get("seconds") is None:
            return {**data, "trials": 20}
        return data

    @model_validator(mode="after")
    def _has_a_budget(self) -> Self:
        if self.method == "grid" and self.trials is None:
            raise ValueError("a grid needs its budget in `trials`, at least its size")
        return self
