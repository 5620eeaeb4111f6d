"""How a run is computed and compared: seeds, inference, tuning, outputs, groups, execution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harness import metrics
from harness._util import seeds
from harness.errors import MetricError, suggestion
from harness.plugins import registry as plugins
from harness.schema.sections import MOST_SECONDS, Section
from harness.splits import SplitSection
from harness.splits.random import Holdout
from harness.statistics.corrections import Correction
from harness.statistics.pairs import SEED_TESTS, PairedTest

USUAL_METRIC = "ndcg@10"
Claim = Literal["algorithms", "models"]
MOST_SEEDS = 10_000
"""Combinations of seeds."""


def _check_accuracy(label: str) -> str:
    try:
        metric = metrics.parse(label)
    except MetricError as error:
        raise ValueError(str(error)) from None
    is_own = not plugins.find("metrics", metric.name).is_builtin
    if metric.needs_items and not is_own:  # what your own metric measures, only you know
        raise ValueError(f"{label} does not measure accuracy; choose one that does, as ndcg@10")
    if metric.needs_features and not metric.needs_genres:
        lacking = "column of items" if metric.needs_column else "ratings at random"
        raise ValueError(f"{label}: a search has no {lacking}; use weights=popularity")
    return label


class Draw(NamedTuple):
    """The seeds that the random numbers of a cell derive from; that of the model names the cell."""

    split: int
    """Of the split, and of a sample of candidates."""
    search: int
    """Of the validation part, and of the settings that a search tries."""
    model: int


class Seeds(Section):
    """How many seeds of each kind a run crosses, derived by name from its one `seed`.

    Each split is searched under every search seed, and every fit of a search, trials too, is made
    under every model seed. The first seed of each kind is the run's.
    """

    split: int = Field(default=1, ge=1, le=1000)
    """Seeds of the split, and of a sample of candidates."""
    search: int = Field(default=1, ge=1, le=1000)
    """Seeds of the search for parameters: its validation part and settings, for each split."""
    model: int = Field(default=1, ge=1, le=1000)
    """Seeds of the fit, for each split and search."""

    @model_validator(mode="after")
    def _are_few(self) -> Self:
        n = self.split * self.search * self.model
        if n > MOST_SEEDS:
            raise ValueError(f"{n:,} combinations; ask for {MOST_SEEDS:,} or fewer")
        return self

    def draws(self, seed: int) -> Iterator[Draw]:
        """Yield the seeds of each combination; the model's is different in each."""

        def spread(start: int, kind: str, n: int) -> Iterator[int]:
            yield start
            yield from (seeds.derive(start, "seeds", kind, i) for i in range(1, n))

        for split in spread(seed, "split", self.split):
            for search in spread(split, "search", self.search):
                for model in spread(search, "model", self.model):
                    yield Draw(split, search, model)


class Inference(Section):
    """Intervals and tests, for every metric that is a mean of users' scores.

    A user's scores in several folds or seeds are averaged first: they are not independent.
    """

    claim: Claim | None = None
    """What tests are about: `algorithms`, over users and seeds, or these fitted `models`, over
    users alone. By default as `test` says, else algorithms where the run has at least two seeds."""

    baseline: str | None = None
    """Label of the algorithm that the others are compared with, in addition to all pairs."""
    test: PairedTest | None = None
    """About models: sign-flip `randomisation` (the default), Student's `t` or Wilcoxon's signed
    ranks. About algorithms: `two-way`, random effects of users and seeds (the default), or the
    corrected t-test of Nadeau and Bengio over folds and seeds."""
    margin: float | None = Field(default=None, gt=0, lt=1e100, allow_inf_nan=False)
    """Test too whether two algorithms are equivalent: differ by less than this, in the unit of the
    metric; it applies to every metric."""
    correction: Correction = "holm"
    """For the number of comparisons."""
    interval: Literal["bca", "percentile"] = "bca"
    """How bootstrap intervals are drawn from the resamples."""
    resamples: int | None = Field(default=None, ge=100, le=1_000_000)
    """Of the randomisation test and of the bootstrap; null: 10,000, and as many as the number of
    comparisons needs where none of these is as extreme as the scores. With 2,000 users or more
    null computes both from moments, as of all resamples; a number draws that many."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1.0)
    """Of the intervals; a difference is significant at one minus this."""

    @model_validator(mode="after")
    def _test_fits_claim(self) -> Self:
        if self.claim and self.test and self.claim != self.about(1)[0]:
            tests = "two-way or nadeau-bengio" if self.claim == "algorithms" else "randomisation"
            raise ValueError(
                f"`test: {self.test}` is not about {self.claim}; use {tests}, or leave `test` out"
            )
        return self

    def about(self, n_seeds: int) -> tuple[Claim, PairedTest]:
        """Return the claim and the test of a run with so many seeds."""
        if self.test is not None:
            return "algorithms" if self.test in SEED_TESTS else "models", self.test
        claim = self.claim or ("algorithms" if n_seeds > 1 else "models")
        return claim, "two-way" if claim == "algorithms" else "randomisation"


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]  # it depends on other keys


class Tuning(Section):
    """A search for parameters on a validation part of the training data.

    Every algorithm that has a `search` gets the same budget. The setting of the config is tried too
    and does not count. The best setting is fitted to the whole training part and tested once.
    """

    added = frozenset({"try_default"})

    method: Literal["random", "grid", "tpe"] = "random"
    """Independent draws, every combination, or tree-structured Parzen estimators (Optuna)."""
    trials: int | None = Field(default=None, ge=1, le=100_000)
    """Settings tried for each algorithm on each fold, none twice except by `tpe`; 20 when neither
    budget is given. From a larger grid, that number is drawn at random."""
    seconds: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Seconds of fitting and scoring, of failed trials too, after which no further setting is
    tried."""
    metric: Annotated[str, AfterValidator(_check_accuracy)] = Field(
        default=USUAL_METRIC, json_schema_extra=_without_default
    )
    """The metric that selects the setting, on the validation part. By default the headline metric;
    `ndcg@10` where that does not measure accuracy."""
    validation: SplitSection | None = None
    """How the training part is split again; a `validation` of the split itself takes precedence. By
    default by time if the split is by time (`global-time`, `rolling`, `choose: latest`), else a
    random 20% of the ratings. Where it has several folds, as `kfold`, a setting is fitted on each,
    and the mean over them decides, as in `GridSearchCV`."""
    try_default: bool = True
    """Whether the setting of the config is tried too, before those of the search; `GridSearchCV`
    tries those of the grid alone."""

    @model_validator(mode="before")
    @classmethod
    def _default_budget(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("trials") is None and data.get("seconds") is None:
            return {**data, "trials": 20}
        return data

    def validation_of(self, split: SplitSection) -> SplitSection:
        """Return how the training part of a split is split again."""
        return split.validation or self.validation or split.inner() or Holdout()


class TrainingShares(Section):
    """Shares of each training part, for learning curves: a table for each, of one test part."""

    shares: list[Annotated[float, Field(gt=0, le=1)]]
    """Shares of the training ratings, each once; 1.0 is the whole training part."""
    by: Literal["rating", "user", "time"] = "rating"
    """What is drawn: ratings, users with all their training ratings, or the latest ratings."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len(self.shares) < 2:
            raise ValueError("fewer than two `shares`; write two or more, as [0.5, 1.0]")
        if twice := next((n for n in self.shares if self.shares.count(n) > 1), None):
            raise ValueError(f"{twice} is in `shares` twice; write each once")
        return self


def _as_shares(value: object) -> object:
    return {"shares": value} if isinstance(value, list) else value


Curve = Annotated[
    TrainingShares,
    BeforeValidator(_as_shares, json_schema_input_type=list[float] | TrainingShares),
]
"""A list of shares, or a mapping with them."""


class Outputs(Section):
    """What a run keeps in its folder beside the scores: lists and estimates of every cell."""

    lists: int | None = Field(default=None, ge=1, le=10_000)
    """How many items at the top of each test user's list are kept in `lists.parquet`."""
    estimates: bool = False
    """Whether every test rating is kept with its estimate and its rank in `estimates.parquet`."""
    training: bool = False
    """Whether metrics of the training part stand beside those of the test part, as with Surprise's
    `return_train_measures`; `harness table RUN --training` shows both."""

    @property
    def wanted(self) -> bool:
        """Whether anything is kept."""
        return self.lists is not None or self.estimates


class GroupSection(Section):
    """A way to divide users or items into groups, each of which gets the metrics of the run."""

    users: str | None = Field(default=None, min_length=1)
    """`training_ratings`: quantiles of their number; `known`: with and without a training rating;
    or a column of the data set's file of users."""
    items: str | None = Field(default=None, min_length=1)
    """`popularity`: head, middle and tail, the fewest items with a third of the training ratings
    each; or a column of the data set's file of items. A field as `Action|Comedy` puts an item into
    both groups."""
    quantiles: int | None = Field(default=None, ge=2, le=20)
    """How many groups `training_ratings` or a column of numbers gives, of about equal numbers of
    users or items; by default 4, and for a column of up to ten values a group for each value."""

    @model_validator(mode="after")
    def _has_one_side(self) -> Self:
        if (self.users is None) == (self.items is None):
            raise ValueError("give either `users` or `items`, as {users: training_ratings}")
        if self.quantiles and self.title in ("users: known", "items: popularity"):
            raise ValueError(f"quantiles: {self.by} has groups of its own; leave it out")
        return self

    @property
    def side(self) -> str:
        """Whether `users` or `items` are divided."""
        return "items" if self.users is None else "users"

    @property
    def by(self) -> str:
        """What they are divided by."""
        return self.users or self.items or ""

    @property
    def title(self) -> str:
        """Name in tables."""
        return f"{self.side}: {self.by}"


KNOWN = GroupSection(users="known")
"""What is added where a split has users with and without a training rating."""


class Results(Section):
    """What stays of a run when a later one takes its place."""

    keep: int | None = Field(default=None, ge=0, le=10_000)
    """How many earlier runs of this name are kept as `NAME@TIME`, the latest; by default all."""


LOCAL = "local"
"""The executor that is no plug-in: processes of this machine."""


class Execution(Section):
    """How a run is executed; nothing here changes a number."""

    workers: int = Field(default=1, ge=1, le=256)
    """Processes that fit at the same time. One, the default, gives the most reliable timings."""
    time_limit: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Seconds of fitting and scoring after which a cell is stopped and becomes a row that says so;
    at most a year."""
    executor: str = Field(
        default=LOCAL, json_schema_extra={"enum": [LOCAL, *plugins.builtin_names("executors")]}
    )
    """Where cells are fitted: in processes of this machine, or on the workers of a Dask cluster.
    There, `workers` is how many to wait for before the first cell, for `join_timeout` at most."""
    scheduler: str | None = Field(default=None, min_length=1)
    """Of the Dask cluster: its address, as `tcp://host:8786`, or the path of the file that
    `dask scheduler --scheduler-file` wrote."""
    join_timeout: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Seconds to wait for `workers` of the cluster before the run begins with those that have
    joined, and for a worker to join when all were lost; 60 when left out."""

    @model_validator(mode="after")
    def _cluster_has_an_address(self) -> Self:
        is_recorded = plugins.recorded("executors", self.executor) is not None  # of a read run
        choices = [LOCAL] if self.executor == LOCAL else [LOCAL, *plugins.names("executors")]
        if self.executor not in choices and not is_recorded:
            raise ValueError(f"no executor {self.executor!r}; {suggestion(self.executor, choices)}")
        if self.executor == "dask" and self.scheduler is None:
            raise ValueError(
                "`executor: dask` without `scheduler`; give its address, as tcp://host:8786"
            )
        if self.executor == LOCAL and self.scheduler is not None:
            raise ValueError("`scheduler` without `executor: dask`; add it, or leave this out")
        if self.executor == LOCAL and self.join_timeout is not None:
            raise ValueError("`join_timeout` without `executor: dask`; add it, or leave this out")
        return self
