"""Search spaces: their form, and those that `search: recommended` stands for."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from harness.sections import Section

__all__ = ["RECOMMENDED", "Choices", "Range", "SearchSpace"]

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

_FACTORS: SearchSpace = {
    "n_factors": Range(low=5, high=150, log=True),
    "n_epochs": Range(low=5, high=60, log=True),
}
_DESCENT: SearchSpace = _FACTORS | {
    "lr_all": Range(low=0.001, high=0.03, log=True),
    "reg_all": Range(low=0.005, high=0.3, log=True),
}
_NEIGHBOURS: SearchSpace = {
    "k": Range(low=5, high=200, log=True),
    "min_k": Range(low=1, high=10),
    "sim_options.name": ["msd", "cosine", "pearson", "pearson_baseline"],
    "sim_options.user_based": [True, False],
    "sim_options.min_support": Range(low=1, high=10),
    "sim_options.shrinkage": Range(low=1.0, high=500.0, log=True),
}
_BASELINE: SearchSpace = {
    "bsl_options.reg_u": Range(low=0.1, high=50.0, log=True),
    "bsl_options.reg_i": Range(low=0.1, high=50.0, log=True),
    "bsl_options.n_epochs": Range(low=5, high=30),
}

_LEAST_SQUARES: SearchSpace = {
    "n_factors": Range(low=8, high=128, log=True),
    "n_epochs": Range(low=5, high=30),
    "reg": Range(low=0.001, high=10.0, log=True),
    "alpha": Range(low=0.001, high=10.0, log=True),
}

RECOMMENDED: dict[str, SearchSpace] = {
    "NormalPredictor": {},
    "BaselineOnly": _BASELINE,
    "KNNBasic": _NEIGHBOURS,
    "KNNWithMeans": _NEIGHBOURS,
    "KNNWithZScore": _NEIGHBOURS,
    "KNNBaseline": _NEIGHBOURS | _BASELINE,
    "SVD": _DESCENT,
    "SVDpp": _DESCENT,
    "NMF": _FACTORS
    | {
        "biased": [False],
        "reg_pu": Range(low=0.005, high=0.5, log=True),
        "reg_qi": Range(low=0.005, high=0.5, log=True),
    },
    "SlopeOne": {},
    "CoClustering": {
        "n_cltr_u": Range(low=1, high=20, log=True),
        "n_cltr_i": Range(low=1, high=20, log=True),
        "n_epochs": Range(low=5, high=60, log=True),
    },
    "spark-als": _LEAST_SQUARES,
    "implicit-als": _LEAST_SQUARES,
    "ItemMean": {"damping": Range(low=0.5, high=100.0, log=True)},
}
"""By algorithm; wide enough for MovieLens from 100K to 25M. An empty space has one trial."""
