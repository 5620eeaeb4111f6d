"""The whole of a config: every key of an experiment, declared once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from harness.candidates import CandidatesSection, Rated
from harness.config.algorithm import AlgorithmSection
from harness.config.data import DatasetSection
from harness.config.inference import Inference
from harness.config.tuning import Tuning
from harness.errors import suggestion
from harness.sections import MOST_SECONDS, Section
from harness.splits import FilterSection, Holdout, SplitSection

__all__ = ["Execution", "Experiment"]

T = TypeVar("T")


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
Seed = Annotated[int, Field(ge=0, lt=2**32)]


class Execution(Section):
    """How a run is executed; nothing here changes a number."""

    workers: int = Field(default=1, ge=1, le=256)
    """Processes that fit at the same time. One, the default, gives the most reliable timings."""
    time_limit: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Seconds of fitting and scoring after which a cell is stopped and becomes a row that says so;
    at most a year."""
    executor: Literal["local", "dask"] = "local"
    """Where cells are fitted: in processes of this machine, or on the workers of a Dask cluster.
    There, `workers` is how many to wait for before the first cell."""
    scheduler: str | None = Field(default=None, min_length=1)
    """Of the Dask cluster: its address, as `tcp://host:8786`, or the path of the file that
    `dask scheduler --scheduler-file` wrote."""

    @model_validator(mode="after")
    def _cluster_has_an_address(self) -> Self:
        if self.executor == "dask" and self.scheduler is None:
            raise ValueError(
                "`executor: dask` without `scheduler`; give its address, as tcp://host:8786"
            )
        if self.executor == "local" and self.scheduler is not None:
            raise ValueError("`scheduler` without `executor: dask`; add it, or leave this out")
        return self


class Experiment(Section):
    """An experiment: data, split, candidates, algorithms, metrics and a seed.

    `dataset`, `split`, `candidates` and `seed` take one value or a list; the run computes all
    combinations.
    """

    name: str = Field(pattern=NAME)
    """Name of the run and of its folder in `runs/`; the file's name when left out."""
    description: str = ""
    """A sentence for the report: the question of the experiment."""
    dataset: Annotated[
        list[DatasetSection],
        Field(min_length=1),
        BeforeValidator(_as_list, json_schema_input_type=DatasetSection | list[DatasetSection]),
    ]
    """Where the ratings come from: a name from `harness list datasets`, or a file of your own."""
    filters: list[FilterSection] = Field(default_factory=list)
    """Filters before the split, in this order; each reports its counts."""
    split: Annotated[
        list[SplitSection],
        Field(min_length=1),
        BeforeValidator(_as_list, json_schema_input_type=SplitSection | list[SplitSection]),
    ] = Field(default=[Holdout()])
    """How ratings are split into training and test."""
    candidates: Annotated[
        list[CandidatesSection],
        Field(min_length=1),
        BeforeValidator(
            _as_list, json_schema_input_type=CandidatesSection | list[CandidatesSection]
        ),
    ] = Field(default=[Rated()])
    """Which items are ranked for each test user."""
    algorithms: list[AlgorithmSection] = Field(min_length=1)
    """The rows of the table."""
    metrics: list[str] = Field(min_length=1)
    """Labels as `ndcg@10`, `ndcg(gain=linear)@5,10` or `rmse`; see `harness list metrics`."""
    seed: Annotated[
        list[Seed],
        Field(min_length=1),
        BeforeValidator(_as_list, json_schema_input_type=Seed | list[Seed]),
    ] = Field(default_factory=lambda: [0])
    """The run's seed, or several; all random numbers are derived from it by name."""
    tuning: Tuning = Field(default_factory=lambda: Tuning(trials=20))
    """How algorithms with a `search` are tuned: the same budget for each."""
    baselines: bool = True
    """Whether `Random` and `Popularity` are added if they are not among the algorithms."""
    statistics: Inference | None = Field(default=Inference())
    """Intervals and tests over users; null for none."""
    clip: bool = True
    """Whether estimates are clipped to the rating scale, as Surprise's `predict` does."""
    accelerate: bool = True
    """Whether compiled fitting and scoring replace Surprise's where the results are the same."""
    execution: Execution = Field(default_factory=Execution)
    """How the run is executed: workers and time limits."""

    @model_validator(mode="before")
    @classmethod
    def _add_baselines(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("baselines", True) is not True:
            return data
        rows = data.get("algorithms")
        if not isinstance(rows, list) or not rows:
            return data
        named = [row.get("name") if isinstance(row, dict) else row for row in rows]
        return {
            **data,
            "algorithms": [
                *rows,
                *(each for each in ("Random", "Popularity") if each not in named),
            ],
        }

    @model_validator(mode="after")
    def _baseline_is_there(self) -> Self:
        baseline = self.statistics.baseline if self.statistics else None
        titles = [algorithm.title for algorithm in self.algorithms]
        if baseline is not None and baseline not in titles:
            raise ValueError(f"statistics.baseline is {baseline!r}; {suggestion(baseline, titles)}")
        if baseline is not None and len(titles) < 2:
            raise ValueError("statistics.baseline needs a second algorithm; add one to compare")
        return self

    @model_validator(mode="after")
    def _labels_differ(self) -> Self:
        seen: set[str] = set()
        for algorithm in self.algorithms:
            if algorithm.title in seen:
                raise ValueError(
                    f"two algorithms are labelled {algorithm.title!r}; "
                    "give one a `label` of its own"
                )
            seen.add(algorithm.title)
        return self
