"""The whole of a config: every key of an experiment, declared once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

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
from harness.candidates.base import CandidatesSection, Rated
from harness.config.settings import (
    USUAL_METRIC,
    Curve,
    Draw,
    Execution,
    GroupSection,
    Inference,
    Outputs,
    Results,
    Seeds,
    TrainingShares,
    Tuning,
)
from harness.config.trackers import TrackersSection
from harness.datasets.section import DatasetSection
from harness.errors import MetricError, PluginError, suggestion
from harness.plugins import registry as plugins
from harness.plugins.registry import folded
from harness.schema.quantities import SearchSpace, State, nested_options
from harness.schema.sections import OneOrMore, Section
from harness.splits import FilterSection, SplitSection
from harness.splits.random import Holdout
from harness.splits.training_share import TrainingShare


def _named_in_either_way(schema: dict[str, Any]) -> None:
    schema["required"] = [key for key in schema["required"] if key != "name"]
    schema["anyOf"] = [{"required": ["name"]}, {"required": ["library", "model"]}]


class AlgorithmConfig(Section):
    """An algorithm of Surprise, a baseline, a class of your own, or another library's model."""

    DECISIVE: ClassVar[frozenset[str]] = frozenset(
        {"name", "library", "model", "python", "params", "as_surprise", "search"}
    )
    """The keys that decide numbers, and with them the identity of a row; others describe it."""

    model_config = ConfigDict(json_schema_extra=_named_in_either_way)

    short = "name"

    name: str = Field(min_length=1)
    """A name from `harness list algorithms`, or `package.module:Class` for your own subclass of
    AlgoBase, which is imported and run."""
    library: str | None = None
    """With `model`, in place of a name: another library, as `cornac`; see `harness list
    libraries`. It is installed into an environment of its own at the first use."""
    model: str | None = None
    """The library's model, as `MF`."""
    python: str | None = None
    """An interpreter that has the library, in place of an environment of its own; it is started."""
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

    A ranking metric measures how the items are ordered. Where there is none, it is the first label.

    >>> headline_of(["rmse", "novelty@5", "ndcg@5", "ndcg@10"])
    'ndcg@5'
    >>> headline_of(["rmse", "ndcg@5", "ndcg@10"], "ndcg@10"), headline_of(["rmse", "mae"])
    ('ndcg@10', 'rmse')
    """
    parsed = {str(metric): metric for metric in metrics.parse_many(labels)}
    if chosen in parsed:
        return chosen
    ranking = (label for label, metric in parsed.items() if metric.is_ranking)
    return next(ranking, next(iter(parsed)))


Titled = AlgorithmConfig | GroupSection


def settings_of_one(experiment: Experiment) -> dict[str, list[str]]:
    """Return, by name, the titles of the rows that are settings of one algorithm, not searched.

    The best of such rows is chosen by what it is measured on.
    """
    rows = [row for row in experiment.algorithms if row.search is None]
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

    name: str = Field(pattern=NAME)
    """Name of the run and of its folder in `runs/`; the file's name when left out."""
    description: str = ""
    """A sentence for the report: the question of the experiment."""
    extends: OneOrMore[str] | None = Field(default=None, exclude=True)
    """Other configs, relative to this one or names of those that come with the package: this one is
    merged into them by key, lists replace theirs, and `+algorithms` adds to theirs."""
    dataset: OneOrMore[DatasetSection]
    """Where the ratings come from: a name from `harness list datasets`, or a file of your own."""
    filters: list[FilterSection] = Field(default=[])
    """Filters before the split, in this order; each reports its counts."""
    training_shares: Curve | None = Field(default=None, exclude=True)
    """Learning curves: shares of each training part, as `[0.1, 0.2, 0.5, 1.0]`, with one test part.
    Each split is replaced by one for each share, of the kind `training-share`."""
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
    """What looks at the finished cells: `bounds`, `conventions`, `ties`; `overlap`, `errors`,
    `calibration`; and analyses of your own as `mine:Lengths`. A list takes the place of the first
    three; `default` in it stands for them."""
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
    mean of all ratings, or those of `ItemMean` or `Popularity`."""
    outputs: Outputs = Outputs()
    """What the run keeps beside the scores; by default neither lists nor estimates."""
    results: Results = Results()
    """What stays of a run when a later one of its name takes its place."""
    trackers: TrackersSection = Field(default={})
    """Where the run is logged beside its folder: names, as `[csv, mlflow]`, or parameters by name,
    as `csv: {path: all.csv}`. One that fails is a note. Passwords do not belong here."""
    clip: bool = True
    """Whether estimates are clipped to the rating scale, as Surprise's `predict` does."""
    accelerate: bool = True
    """Whether compiled fitting and scoring replace Surprise's where the results are the same."""
    execution: Execution = Execution()
    """How the run is executed: workers and time limits."""

    @cached_property
    def draws(self) -> dict[int, Draw]:
        """The seeds of the run's cells, by the seed that names the cell, that of the run first."""
        if not self.crosses_seeds:
            return {seed: Draw(seed, seed, seed) for seed in self.seed}
        return {draw.model: draw for draw in self.seeds.draws(self.seed[0])}

    @cached_property
    def n_shown(self) -> int:
        """How many items at the top of each list outputs and analyses have to know by name."""
        kinds = [plugins.find("analyses", name).load() for name in self.analyses]
        needed = (getattr(kind, "needs_items", 0) for kind in kinds)
        return max(self.outputs.lists or 0, *needed, 0)

    @property
    def split_seeds(self) -> list[int]:
        """The seeds of the run's splits."""
        return list(dict.fromkeys(draw.split for draw in self.draws.values()))

    @property
    def crosses_seeds(self) -> bool:
        """Whether seeds of the split, the search and the model are crossed."""
        return self.seeds != Seeds()

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
                    f"{title!r}; give one a `label` of its own"
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
            advice = "cross several, as `seeds: {split: 5}`, or use `claim: models`"
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
