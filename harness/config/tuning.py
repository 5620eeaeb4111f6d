"""The search for parameters: method, budget, metric and validation part."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from harness import metrics
from harness.errors import MetricError
from harness.sections import MOST_SECONDS, Section
from harness.splits import Holdout, SplitSection

__all__ = ["Tuning", "validation_of"]


class Tuning(Section):
    """A search for parameters on a validation part of the training data.

    Every algorithm that has a `search` gets the same budget. The setting of the config is tried too
    and does not count. The best setting is fitted to the whole training part and tested once.
    """

    method: Literal["random", "grid", "tpe"] = "random"
    """Independent draws, every combination, or tree-structured Parzen estimators (Optuna)."""
    trials: int | None = Field(default=None, ge=1, le=100_000)
    """Settings tried for each algorithm on each fold, no setting twice; 20 when neither budget is
    given. From a larger grid, that number is drawn at random."""
    seconds: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Seconds of fitting and scoring, of failed trials too, after which no further setting is
    tried."""
    metric: str = "ndcg@10"
    """The metric that selects the setting, on the validation part."""
    validation: SplitSection | None = None
    """How the training part is split again; a `validation` of the split itself takes precedence. By
    default by time if the split is by time (`global-time`, `choose: latest`), else a random 20% of
    the ratings."""

    @model_validator(mode="before")
    @classmethod
    def _default_budget(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("trials") is None and data.get("seconds") is None:
            return {**data, "trials": 20}
        return data

    @field_validator("metric")
    @classmethod
    def _can_decide(cls, label: str) -> str:
        try:
            metric = metrics.parse(label)
        except MetricError as error:
            raise ValueError(str(error)) from None
        if metric.needs_items:
            raise ValueError(f"{label} does not measure accuracy; choose one that does, as ndcg@10")
        return label


def validation_of(split: SplitSection, tuning: Tuning) -> SplitSection:
    """Return how the training part of a split is split again for tuning.

    Parameters
    ----------
    split : SplitSection
    tuning : Tuning

    Examples
    --------
    >>> from harness.splits import GlobalTime
    >>> validation_of(GlobalTime(), Tuning()).describe()
    'global time 0.8'
    >>> validation_of(Holdout(), Tuning()).describe()
    'holdout 20%'
    """
    return split.validation or tuning.validation or split.inner() or Holdout(test_size=0.2)
