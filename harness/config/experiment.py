"""The whole of a config: every key of an experiment, declared once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from harness import metrics
from harness._util import names, seeds
from harness.candidates.base import CandidatesSection, Rated
from harness.config.trackers import TrackersSection
from harness.datasets.section import DatasetSection
from harness.errors import MetricError, PluginError, suggestion
from harness.plugins import registry as plugins
from harness.plugins.registry import folded
from harness.schema.sections import (
    MOST_SECONDS,
    OneOrMore,
    SearchSpace,
    Section,
    State,
    nested_options,
)
from harness.splits import FilterSection, SplitSection
from harness.splits.random import Holdout
from harness.splits.training_share import TrainingShare
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
        raise ValueError(
            f"{label} does not measure accuracy; choose one that does, such as ndcg@10"
        )
    if metric.needs_features and not metric.needs_genres:
        lacking = "column of items" if metric.needs_column else "ratings at random"
        raise ValueError(f"{label}: a search has no {lacking}; use weights=popularity")
    return label


class Draw(NamedTuple):
    """The seeds from which a cell's random numbers derive; the model's seed names the cell."""

    split: int
    """Seed of the split, and of a sample of candidates."""
    search: int
    """Seed of the validation set, and of the settings that a search tries."""
    model: int


class Seeds(Section):
    """How many seeds of each kind a run crosses, derived by name from its one `seed`.

    Each split is searched under every search seed, and every fit of a search, trials too, is made
    under every model seed. The first seed of each kind is the run's.
    """

    split: int = Field(default=1, ge=1, le=1000)
    """Seeds of the split, and of a sample of candidates."""
    search: int = Field(default=1, ge=1, le=1000)
    """Seeds of the search for parameters: its validation set and settings, for each split."""
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
    """What tests are about: `algorithms`, over users and seeds, or these fitted `models`, only over
    users. The default follows from `test`, else it is `algorithms` if the run has at least two
    seeds."""

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
    """Number for the randomisation test and the bootstrap; null: 10,000, and as many as the number
    of comparisons needs where none of these is as extreme as the scores. With 2,000 users or more
    null computes both from moments, as of all resamples; a number draws that many."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1.0)
    """Confidence of the intervals; a difference is significant at one minus this."""

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
    """A search for parameters on a validation set of the training data.

    Every algorithm that has a `search` gets the same budget. The setting of the config is tried too
    and does not count. The best setting is fitted to the whole training set and tested once.
    """

    added = frozenset({"try_default"})

    method: Literal["random", "grid", "tpe"] = "random"
    """Independent draws, every combination, or tree-structured Parzen estimators (Optuna)."""
    trials: int | None = Field(default=None, ge=1, le=100_000)
    """Settings tried for each algorithm on each fold, none twice except by `tpe`; 20 if neither
    budget is given. From a larger grid, that number is sampled at random."""
    seconds: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Seconds of fitting and scoring, of failed trials too, after which no further setting is
    tried."""
    metric: Annotated[str, AfterValidator(_check_accuracy)] = Field(
        default=USUAL_METRIC, json_schema_extra=_without_default
    )
    """The metric that selects the setting, on the validation set. By default the headline metric,
    or `ndcg@10` if the headline metric does not measure accuracy."""
    validation: SplitSection | None = None
    """How the training set is split again; a `validation` of the split itself takes precedence. By
    default by time if the split is by time (`global-time`, `rolling`, `choose: latest`), else a
    random 20% of the ratings. If it has several folds, such as `kfold`, a setting is fitted on
    each, and the mean over them decides, as in `GridSearchCV`."""
    try_default: bool = True
    """Whether the setting of the config is tried too, before the settings of the search;
    `GridSearchCV` tries only the settings of the grid."""

    @model_validator(mode="before")
    @classmethod
    def _default_budget(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("trials") is None and data.get("seconds") is None:
            return {**data, "trials": 20}
        return data

    def validation_of(self, split: SplitSection) -> SplitSection:
        """Return how the training set of a split is split again."""
        return split.validation or self.validation or split.inner() or Holdout()


class TrainingShares(Section):
    """Proportions of each training set, for learning curves: a table for each, of one test set."""

    shares: list[Annotated[float, Field(gt=0, le=1)]]
    """Proportions of the training ratings, each once; 1.0 is the whole training set."""
    by: Literal["rating", "user", "time"] = "rating"
    """The sampled unit: ratings, users with all their training ratings, or the latest ratings."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len(self.shares) < 2:
            raise ValueError("fewer than two `shares`; write two or more, such as [0.5, 1.0]")
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
    """Whether metrics on the training set are computed too, as by Surprise's
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
            raise ValueError("give either `users` or `items`, such as {users: training_ratings}")
        if self.quantiles and self.title in ("users: known", "items: popularity"):
            raise ValueError(f"quantiles: {self.by} has its own groups; leave it out")
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
"""The groups that are added if a split has users with and without a training rating."""


class Results(Section):
    """What stays of a run when a later one takes its place."""

    keep: int | None = Field(default=None, ge=0, le=10_000)
    """How many earlier runs of this name are kept as `NAME@TIME`, the latest; by default all."""


LOCAL = "local"
"""The only executor that is not a plug-in: processes of this machine."""


class Execution(Section):
    """How a run is executed; nothing here changes a number."""

    workers: int = Field(default=1, ge=1, le=256)
    """Processes that fit at the same time. One, the default, gives the most reliable timings."""
    time_limit: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Seconds of fitting and scoring after which a cell is stopped; its row reports this. At most a
    year."""
    executor: str = Field(
        default=LOCAL, json_schema_extra={"enum": [LOCAL, *plugins.builtin_names("executors")]}
    )
    """The place where cells are fitted: processes of this machine, or workers of a Dask cluster.
    There, `workers` is how many to wait for before the first cell, for `join_timeout` at most."""
    scheduler: str | None = Field(default=None, min_length=1)
    """The address of the Dask cluster, such as `tcp://host:8786`, or the path of the file that
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
                "`executor: dask` without `scheduler`; give its address, such as tcp://host:8786"
            )
        if self.executor == LOCAL and self.scheduler is not None:
            raise ValueError("`scheduler` without `executor: dask`; add it, or leave this out")
        if self.executor == LOCAL and self.join_timeout is not None:
            raise ValueError("`join_timeout` without `executor: dask`; add it, or leave this out")
        return self


def _named_in_either_way(schema: dict[str, Any]) -> None:
    schema["required"] = [key for key in schema["required"] if key != "name"]
    schema["anyOf"] = [{"required": ["name"]}, {"required": ["library", "model"]}]


class AlgorithmConfig(Section):
    """An algorithm of Surprise, a baseline, your own class, or another library's model."""

    DECISIVE: ClassVar[frozenset[str]] = frozenset(
        {"name", "library", "model", "python", "params", "as_surprise", "search"}
    )
    """The keys that decide numbers, and with them the identity of a row; others describe it."""

    model_config = ConfigDict(json_schema_extra=_named_in_either_way)

    short = "name"
    guessed: ClassVar[names.Kind | None] = "row"

    name: str = Field(min_length=1)
    """A name from `harness list algorithms`, or `package.module:Class` for your own subclass of
    AlgoBase, which is imported and run."""
    library: str | None = None
    """With `model`, in place of a name: another library, such as `cornac`; see `harness list
    libraries`. It is installed into its own environment at the first use."""
    model: str | None = None
    """The library's model, such as `MF`."""
    python: str | None = None
    """An interpreter that has the library, used in place of the library's own environment."""
    label: str | None = Field(default=None, min_length=1, max_length=80)
    """Name of the row in the table; by default the algorithm's name. Labels must differ."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the constructor, `sim_options` and `bsl_options` included."""
    depends: list[Annotated[str, Field(min_length=1)]] = Field(default=[])
    """Files that your own class opens in compiled code, for example HDF5: paths, folders or
    patterns such as `data/*.h5`, relative to the config's folder. If one changes, the cells of the
    row are computed again. Other files that it reads are recorded."""
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

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, data: object) -> object:
        """Give the model of a library its name, and lists below parameters their kind of search."""
        if not isinstance(data, dict):
            return data
        if isinstance(data.get("search"), dict):
            data = {**data, "search": nested_options(data["search"])}
        keys = ("library", "model", "python")
        if all(data.get(key) is None for key in keys):
            return data
        if not (isinstance(data.get("library"), str) and isinstance(data.get("model"), str)):
            raise ValueError(
                "`library`, `model` and `python` belong together; give library and model"
            )
        if "name" in data:
            raise ValueError("both `name` and `library`; keep one")
        rest = {key: data[key] for key in data if key not in keys}
        if data.get("python") is not None:
            rest["params"] = {**rest.get("params", {}), "python": data["python"]}
        return {**rest, "name": f"{data['library']}/{data['model']}"}

    def decisive(self) -> dict[str, Any]:
        """Return what decides numbers, as JSON holds it."""
        return self.model_dump(mode="json", include=set(self.DECISIVE))

    @property
    def title(self) -> str:
        """The label, or the name where there is none."""
        return self.label or self.name


AlgorithmSection = Annotated[
    AlgorithmConfig,
    BeforeValidator(AlgorithmConfig.spelled_out, json_schema_input_type=str | AlgorithmConfig),
]
"""An algorithm's name, or a mapping with parameters."""


NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
DEFAULT_ANALYSES = ("bounds", "conventions", "ties")


def _check_labels(text: str) -> str:
    try:
        metrics.parse_many(text)
    except MetricError as error:
        raise ValueError(str(error)) from None
    return text


def headline_of(labels: Iterable[str], chosen: str | None = None) -> str:
    """Return the headline metric among some labels: the chosen one, else the first ranking metric.

    A ranking metric measures how the items are ordered. Without one, it is the first label.

    >>> headline_of(["rmse", "novelty@5", "ndcg@5", "ndcg@10"])
    'ndcg@5'
    >>> headline_of(["rmse", "ndcg@5", "ndcg@10"], "ndcg@10"), headline_of(["rmse", "mae"])
    ('ndcg@10', 'rmse')
    """
    parsed = {str(metric): metric for metric in metrics.parse_many(labels)}
    if chosen in parsed:
        return chosen
    ranking = (label for label, metric in parsed.items() if metric.definition.is_ranking)
    return next(ranking, next(iter(parsed)))


Titled = AlgorithmConfig | GroupSection


def settings_of_one(experiment: Experiment) -> dict[str, list[str]]:
    """Return, by name, the titles of the rows that are settings of one algorithm, not searched.

    The best of such rows is chosen by what it is measured on.
    """
    if len(rows := [row for row in experiment.algorithms if row.search is None]) < 2:
        return {}
    titles: dict[str, list[str]] = {}
    for row in rows:
        titles.setdefault(folded(row.name), []).append(row.title)
    return {
        next(row.name for row in rows if folded(row.name) == name): labels
        for name, labels in titles.items()
        if len(labels) > 1
    }


class Experiment(Section):
    """An experiment: data, split, candidates, algorithms, metrics and a seed.

    `dataset`, `split`, `candidates` and `seed` take one value or a list; the run computes all
    combinations.
    """

    guessed: ClassVar[names.Kind | None] = "keys"

    name: str = Field(pattern=NAME)
    """Name of the run and of its folder in `runs/`; the file's name when left out."""
    description: str = ""
    """A sentence for the report: the question of the experiment."""
    extends: OneOrMore[str] | None = Field(default=None, exclude=True)
    """Other configs, relative to this one or names of those that come with the package: this one is
    merged into them by key, lists replace theirs, and `+algorithms` adds to theirs."""
    dataset: OneOrMore[DatasetSection]
    """The source of the ratings: a name from `harness list datasets`, or your own file."""
    filters: list[FilterSection] = Field(default=[])
    """Filters before the split, in this order; each reports its counts."""
    training_shares: Curve | None = Field(default=None, exclude=True)
    """Learning curves: proportions of each training set, such as `[0.1, 0.2, 0.5, 1.0]`, with one
    test set. Each split is replaced by one for each proportion, of the kind `training-share`."""
    split: OneOrMore[SplitSection] = Field(default=[Holdout()], validate_default=True)
    """How ratings are split into training and test."""
    candidates: OneOrMore[CandidatesSection] = Field(default=[Rated()])
    """Which items are ranked for each test user."""
    algorithms: list[AlgorithmSection] = Field(min_length=1)
    """The rows of the table."""
    metrics: list[Annotated[str, AfterValidator(_check_labels)]] = Field(min_length=1)
    """Labels as `ndcg@10`, `ndcg(gain=linear)@5,10` or `rmse`; see `harness list metrics`."""
    headline: str | None = None
    """The metric of `metrics` that decides which row is the best, in `harness best`, on the page
    and in plots; by default the first that measures how items are ordered, else the first."""
    groups: list[GroupSection] = Field(default=[])
    """For whom each algorithm works: groups of users or items, each with the metrics that are means
    of users' scores. `{users: known}` is added where a split tests users without training."""
    analyses: OneOrMore[str] = Field(default=[*DEFAULT_ANALYSES])
    """Analyses of the computed cells: `bounds`, `conventions`, `ties`; `overlap`, `errors`,
    `calibration`; and your own analyses, such as `mine:Lengths`. A list replaces the first three;
    `default` in it stands for them."""
    plugins: OneOrMore[str] | None = None
    """Python files beside the config, which are imported and run: `mine.py` makes `mine:MyALS` an
    algorithm and `mine:fairness@10` a metric. Installed plug-ins need no entry here."""
    seed: OneOrMore[State] = Field(default=[0])
    """The run's seed, or several; all random numbers are derived from it by name. Several change
    split, search and model together."""
    seeds: Seeds = Seeds()
    """How many seeds of each kind to cross, beside one `seed`."""
    tuning: Tuning = Field(default=Tuning(trials=20), validate_default=True)
    """How algorithms with a `search` are tuned: the same budget for each."""
    baselines: bool = True
    """Whether `Random` and `Popularity` are added if they are not among the algorithms."""
    statistics: Inference | None = Inference()
    """Intervals and tests over users; null for none."""
    fallback: Literal["default", "mean", "item-mean", "popularity"] = "default"
    """Estimates for users without training ratings: each algorithm's own, or for all algorithms the
    mean of all ratings, or the estimates of `ItemMean` or `Popularity`."""
    outputs: Outputs = Outputs()
    """What the run keeps beside the scores; by default neither lists nor estimates."""
    results: Results = Results()
    """The files that stay of a run when a later one of its name takes its place."""
    trackers: TrackersSection = Field(default={})
    """Places where the run is logged beside its folder: names, such as `[csv, mlflow]`, or
    parameters by name, such as `csv: {path: all.csv}`. If one fails, a note reports it; one that is
    not installed is refused. Do not write passwords here."""
    clip: bool = True
    """Whether estimates are clipped to the rating scale, as Surprise's `predict` does."""
    accelerate: bool = True
    """Whether compiled fitting and scoring replace Surprise's where the results are the same."""
    execution: Execution = Execution()
    """How the run is executed: workers and time limits."""

    @cached_property
    def draws(self) -> dict[int, Draw]:
        """The seeds of the run's cells, by the seed that names the cell, the run's seed first."""
        if not self.crosses_seeds:
            return {seed: Draw(seed, seed, seed) for seed in self.seed}
        return {draw.model: draw for draw in self.seeds.draws(self.seed[0])}

    @property
    def split_seeds(self) -> list[int]:
        """The seeds of the run's splits."""
        return list(dict.fromkeys(draw.split for draw in self.draws.values()))

    @property
    def crosses_seeds(self) -> bool:
        """Whether seeds of the split, the search and the model are crossed."""
        return any(n > 1 for _, n in self.seeds)

    @model_validator(mode="before")
    @classmethod
    def _add_baselines(cls, data: object) -> object:
        if not isinstance(data, dict) or data.get("baselines", True) is not True:
            return data
        rows = data.get("algorithms")
        if not isinstance(rows, list) or not rows:
            return data
        named = [row.get("name") if isinstance(row, dict) else row for row in rows]
        added = [name for name in ("Random", "Popularity") if name not in named]
        return {**data, "algorithms": [*rows, *added]}

    @field_validator("split")
    @classmethod
    def _with_training_shares(
        cls, sections: list[SplitSection], info: ValidationInfo
    ) -> list[SplitSection]:
        if (curve := info.data.get("training_shares")) is None:
            return sections

        return with_shares(sections, curve)

    @field_validator("analyses")
    @classmethod
    def _analyses_are_known(cls, names: list[str]) -> list[str]:
        expanded: list[str] = []
        for name in names:
            expanded += DEFAULT_ANALYSES if name == "default" else [name]
        for name in expanded:
            if plugins.recorded("analyses", name) is None:
                try:
                    plugin = plugins.find("analyses", name)
                    if not plugin.is_spine:  # which is there, and nobody looks at cells here
                        plugin.load()
                except PluginError as error:
                    raise ValueError(str(error)) from None
        return list(dict.fromkeys(expanded))

    @field_validator("algorithms", "groups")
    @classmethod
    def _titles_differ(cls, entries: list[Titled], info: ValidationInfo) -> list[Titled]:
        titles = [entry.title for entry in entries]
        for title in titles:
            if titles.count(title) > 1:
                if info.field_name == "groups":
                    raise ValueError(f"{title!r} is there twice; remove one of them")
                first = titles.index(title)
                raise ValueError(
                    f"[{first}] and [{titles.index(title, first + 1)}] are both labelled "
                    f"{title!r}; give one its own `label`"
                )
        return entries

    @field_validator("headline")
    @classmethod
    def _headline_is_a_metric(cls, headline: str | None, info: ValidationInfo) -> str | None:
        if headline is None or "metrics" not in info.data:
            return headline
        labels = [str(metric) for metric in metrics.parse_many(info.data["metrics"])]
        with suppress(MetricError):
            headline = str(metrics.parse(headline))
        if headline not in labels:
            raise ValueError(f"{headline!r} is not in `metrics`; {suggestion(headline, labels)}")
        return headline

    @field_validator("tuning")
    @classmethod
    def _tuned_by_the_headline(cls, tuning: Tuning, info: ValidationInfo) -> Tuning:
        is_tuned = any(row.search is not None for row in info.data.get("algorithms", []))
        if "metric" in tuning.model_fields_set or not is_tuned or "headline" not in info.data:
            return tuning
        labels = info.data.get("metrics", [USUAL_METRIC])
        headline = headline_of(labels, info.data["headline"])
        decisive = metrics.parse(headline)
        usable = not (decisive.needs_items or decisive.needs_column or decisive.needs_sample)
        return tuning.model_copy(update={"metric": headline if usable else USUAL_METRIC})

    @field_validator("seeds")
    @classmethod
    def _seeds_are_of_use(cls, seeds: Seeds, info: ValidationInfo) -> Seeds:
        values, rows = info.data.get("seed", []), info.data.get("algorithms")
        if seeds != Seeds() and len(values) > 1:
            raise ValueError(
                f"{len(values)} values of `seed` beside it; all are derived from one: give one "
                "`seed`, or leave `seeds` out"
            )
        if seeds.search > 1 and rows and all(row.search is None for row in rows):
            raise ValueError(
                f"search is {seeds.search}, and no algorithm has a `search`; give one "
                "algorithm a `search`, or leave `seeds.search` out"
            )
        return seeds

    @field_validator("statistics")
    @classmethod
    def _statistics_can_be_made(
        cls, inference: Inference | None, info: ValidationInfo
    ) -> Inference | None:
        if inference is None:
            return None
        one = len(info.data.get("seed", [])) == 1 and info.data.get("seeds") == Seeds()
        if one and inference.about(1)[1] == "two-way":
            advice = "cross several with `seeds: {split: 5}`, or use `claim: models`"
            raise ValueError(f"one seed can carry no claim about algorithms; {advice}")
        baseline = inference.baseline
        titles = [algorithm.title for algorithm in info.data.get("algorithms", [])]
        if titles and baseline is not None and baseline not in titles:
            raise ValueError(f"baseline is {baseline!r}; {suggestion(baseline, titles)}")
        if baseline is not None and len(titles) == 1:
            raise ValueError("baseline needs a second algorithm; add one to compare")
        return inference


def with_shares(sections: Sequence[SplitSection], curve: TrainingShares) -> list[SplitSection]:
    """Return a split for each share in place of each split, which stands for the whole."""
    return [
        section
        if share == 1
        else TrainingShare(
            of=section.model_copy(update={"validation": None}),
            share=share,
            by=curve.by,
            validation=section.validation,
        )
        for section in sections
        for share in curve.shares
    ]
