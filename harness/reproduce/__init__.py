"""Published numbers, computed again and compared, with a verdict on each."""

from __future__ import annotations

import json
import math
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache, partial
from importlib.resources import files
from itertools import chain, takewhile
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

import harness
from harness import metrics, rankings
from harness.config.files import bundled
from harness.datasets.catalogue import CATALOGUE
from harness.errors import DataError, MetricError, ResultsError, reason_of, suggestion
from harness.lazy import scipy

if TYPE_CHECKING:
    from harness.execution.events import Watch
    from harness.results.cells import AnyCell

EXACT = 1e-12
TIMES = ("runtime_s",)
EQUAL = ("equal", "equal as printed", "truncated")


class Quantity(BaseModel):
    """A published quantity; the head of ``published.toml`` says what the keys mean."""

    model_config = ConfigDict(extra="forbid")

    source: str
    what: str
    expected: Any
    """The value or values as printed; None stands for NaN."""
    truncated: bool = False
    """Whether the source cuts digits off in place of rounding."""
    note: str = ""
    errata: dict[str, tuple[float, str]] = {}
    # Computed from numbers: items of one user, recommendations, or lists of items of each user.
    estimates: list[int | float] = []
    ratings: list[int | float] = []
    order: Literal["estimates", "ratings"] | None = None
    recommendations: dict[str, list[int]] = {}
    truth: dict[str, list[int]] = {}
    predictions: list[list[int]] = []
    labels: list[list[int]] = []
    metrics: list[str] = []
    user: int | None = None
    # Computed by a run of a config that ships.
    config: str = ""
    algorithm: str = ""
    values: dict[str, str] = {}
    """The metric, or ``seconds``, of each expected value; of a single one under ``""``."""
    needs: str = ""
    """A data set that is not fetched for this, and `why`."""
    why: str = ""
    neighbours_of: str = ""
    estimates_of: str = ""


@dataclass(frozen=True)
class NotRun:
    """Why a value was not computed."""

    why: str


@dataclass(frozen=True)
class Band:
    """The 99% prediction interval of one more run, for a source that set no seed."""

    low: float
    high: float
    about: str = ""
    """The results of the runs here, in words."""

    @classmethod
    def of_one_more(cls, values: Sequence[float]) -> Band:
        """Return the band that holds one more draw with a probability of 99%.

        ``mean ± t * s * sqrt(1 + 1/n)`` with the quantile t of Student's distribution of n - 1
        degrees of freedom: the prediction interval of a normal sample. The range of n values alone
        would miss one more draw with a probability of 2 / (n + 1).

        Examples
        --------
        >>> str(Band.of_one_more([0.010, 0.012, 0.009, 0.011]))
        '0.002069 to 0.01893'
        """
        mean, spread = fmean(values), stdev(values)
        half = (
            float(scipy.stats.t.ppf(0.995, len(values) - 1))
            * spread
            * math.sqrt(1 + 1 / len(values))
        )
        about = f"{len(values)} seeds gave {min(values):.4g} to {max(values):.4g}"
        return cls(mean - half, mean + half, about)

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class Finding:
    """One published value and ours, None when it was not run; a published nan is the source's.

    The verdict is ``equal`` (to 1e-12), ``equal as printed``, ``truncated`` (by the source),
    ``within the band`` or ``outside the band`` (see `Band`), ``erratum``, ``another machine``,
    ``refused here``, ``named here``, ``differs`` or ``not run``. A difference is here less
    published, None where that means nothing.
    """

    source: str
    quantity: str
    published: object
    here: object
    difference: float | None
    verdict: str
    note: str = ""


Run = Callable[[Quantity], object]


@cache
def _entries() -> dict[str, dict[str, Any]]:
    text = files("harness.reproduce").joinpath("published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sources() -> dict[str, str]:
    """Return the sources: key and title.

    A source that defines metrics of its own has its title in `metrics.conventions`.
    """
    by_name = metrics.conventions()
    return {key: entry.get("title") or by_name[key].source for key, entry in _entries().items()}


def published(source: str | None = None) -> list[Quantity]:
    """Return what was published, of one source or of all."""
    entries = _entries()
    if source is not None and source not in entries:
        raise ResultsError(f"{source}: unknown source; {suggestion(source, entries)}")
    quantities = []
    for key in entries if source is None else [source]:
        alone = {"quantities": entries[key].get("quantities", [])}
        for group in [*entries[key].get("groups", []), alone]:
            shared = {name: value for name, value in group.items() if name != "quantities"}
            quantities += [
                Quantity(source=key, **shared, **written) for written in group["quantities"]
            ]
    return quantities


def reproduce(
    source: str | None = None, runs: Mapping[tuple[str, str], Run] | None = None
) -> list[Finding]:
    """Compute published values, of one source or of all, and compare each single value.

    `runs` has, by source and quantity, what computes a quantity that needs training: it takes the
    quantity and returns values in the form of ``expected``, with a `Band` or a `NotRun` in place of
    any.

    Examples
    --------
    >>> for finding in reproduce("nicolas-2022"):
    ...     print(finding.quantity, finding.published, finding.verdict, sep=" | ")
    IDCG | 45.64 | equal as printed
    NDCG score | 0.801 | truncated
    a sample of another length than the reference list | 0.0 | refused here
    """
    findings = []
    for quantity in published(source):
        run = (runs or {}).get((quantity.source, quantity.what), _compute)
        findings += compare(quantity, run(quantity))
    return findings


@dataclass(frozen=True)
class Reproduction:
    """The findings and the seconds of each source, by its key."""

    findings: dict[str, list[Finding]]
    seconds: dict[str, float]

    @classmethod
    def of(cls, *sources: str, runs: Mapping[tuple[str, str], Run] | None = None) -> Reproduction:
        """Compute some sources, or all, one after the other; see `reproduce`."""
        findings, seconds = {}, {}
        chosen = [quantity for source in sources or (None,) for quantity in published(source)]
        for key in dict.fromkeys(quantity.source for quantity in chosen):
            begun = time.perf_counter()
            findings[key] = reproduce(key, runs)
            seconds[key] = round(time.perf_counter() - begun, 1)
        return cls(findings, seconds)

    @property
    def counts(self) -> Counter[str]:
        """How many findings have each verdict."""
        return Counter(finding.verdict for finding in chain(*self.findings.values()))

    @property
    def digits(self) -> tuple[int, int]:
        """How many digits agree, and how many were printed, of the numbers that were computed.

        A seedless number within its band, a time and an erratum do not count: what was printed is
        then no single number to agree with. Of a number that differs, the digits before the first
        that is another one agree.

        Examples
        --------
        >>> found = [Finding("s", "x", 0.934, 0.9344, None, "equal as printed")]
        >>> Reproduction({"s": [*found, Finding("s", "y", 1.25, 1.31, None, "differs")]}, {}).digits
        (4, 6)
        """
        agree = printed = 0
        for finding in chain(*self.findings.values()):
            value, here = finding.published, finding.here
            if not isinstance(value, (int, float)) or not isinstance(here, (int, float)):
                continue
            if finding.verdict not in (*EQUAL, "differs") or math.isnan(value) or math.isnan(here):
                continue
            n = len(Decimal(repr(value)).normalize().as_tuple().digits)
            printed += n
            if finding.verdict in EQUAL:
                agree += n
            else:
                unit = _unit(value)
                both = [str(round(abs(number) / unit)) for number in (value, here)]
                width = max(n, *map(len, both))
                pairs = zip(*(number.zfill(width) for number in both), strict=True)
                same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
                agree += max(0, same - width + n) if value * here > 0 else 0
        return agree, printed

    def to_json(self) -> str:
        """Return all of it, with the versions that computed it, as JSON."""
        from harness.results.environment import versions

        findings = [
            {"source": key, "title": sources()[key], "seconds": self.seconds[key]}
            | {"findings": [_plain(asdict(finding)) for finding in of_source]}
            for key, of_source in self.findings.items()
        ]
        shown = {"versions": versions(), "digits": self.digits, "counts": self.counts}
        return json.dumps(shown | {"sources": findings}, indent=1, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return what JSON holds: text for what is not finite, and for a band."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _compute(quantity: Quantity) -> object:
    """Return the value of a quantity in the form of its ``expected``; it may need a run."""
    if quantity.config:
        return NotRun("it needs a run")
    if quantity.order:
        keys = quantity.estimates if quantity.order == "estimates" else quantity.ratings
        order = rankings.from_matrix([np.arange(len(keys))], [keys]).relevance.astype(int)
        return [[quantity.estimates[i], quantity.ratings[i]] for i in order]
    try:
        if quantity.recommendations:
            names = {"user": "user_id", "item": "item_id", "rank": "rank"}
            tables = quantity.recommendations, quantity.truth
            lists = rankings.from_recommendations(
                *({names[key]: column for key, column in table.items()} for table in tables)
            )
        elif quantity.predictions:
            lists = rankings.from_lists(quantity.predictions, quantity.labels)
        else:
            lists = rankings.from_matrix([quantity.ratings], [quantity.estimates])
    except MetricError:
        return "an error"
    parsed = [metrics.parse(label) for label in quantity.metrics]
    scores = [metrics.score([metric], lists)[metric] for metric in parsed]
    per_user = np.column_stack([score.per_user for score in scores])
    if quantity.user is not None:
        values = per_user[quantity.user]
        return [f"{metric}: {value:.4f}" for metric, value in zip(parsed, values, strict=True)]
    if isinstance(quantity.expected, dict):
        return {"per_user": per_user.tolist(), "mean": [score.mean for score in scores]}
    return per_user[:, 0].tolist() if isinstance(quantity.expected, list) else scores[0].mean


def trained_runs(watch: Watch = lambda event: None, **options: Any) -> dict[tuple[str, str], Run]:
    """Return how each published value that needs training is computed: its config is run, once."""

    @cache
    def finished(config: str) -> harness.Run | NotRun:
        chosen = {"overrides": ["statistics=null", "baselines=false"], "watch": watch, **options}
        try:
            return harness.run(bundled()[config], results=None, **chosen)
        except DataError as error:
            return NotRun(reason_of(error))

    def run(quantity: Quantity) -> object:
        if quantity.needs and not CATALOGUE[quantity.needs].is_here():
            return NotRun(
                f"{quantity.why}; download it first, for example with "
                f"`harness run configs/{quantity.config}.yaml`"
            )
        if quantity.neighbours_of:
            return _neighbours(quantity, options.get("ratings"))
        result = finished(quantity.config)
        if isinstance(result, NotRun):
            return result
        cells = [cell for cell in result.info.cells if cell.algorithm == quantity.algorithm]
        if not cells:
            return NotRun(f"{quantity.config}: no row of {quantity.algorithm}")
        if error := next((cell.error for cell in cells if cell.error), None):
            return NotRun(error)
        if quantity.estimates_of:
            rows = result.estimates
            rows = rows[rows["algorithm"].eq(quantity.algorithm)]
            estimates = rows.loc[rows["user"].eq(quantity.estimates_of), "estimate"]
            return estimates.head(len(quantity.expected)).tolist()
        values = {name: _value(cells, column) for name, column in quantity.values.items()}
        return values.get("", values)

    return {(quantity.source, quantity.what): run for quantity in published() if quantity.config}


def _neighbours(quantity: Quantity, ratings: Any) -> list[int] | NotRun:
    """Return the nearest neighbours of an item, as many as are expected."""
    try:
        model = harness.fit_row(bundled()[quantity.config], quantity.algorithm, ratings=ratings)
    except DataError as error:
        return NotRun(reason_of(error))
    item = model.trainset.to_inner_iid(quantity.neighbours_of)
    neighbors = model.get_neighbors(item, k=len(quantity.expected))
    return [int(model.trainset.to_raw_iid(inner)) for inner in neighbors]


def _value(cells: Sequence[AnyCell], column: str) -> float | Band:
    """Return a mean over folds; under several seeds, unless they agree, the band of one more."""
    if column == "seconds":
        return fmean(cell["fit_seconds"] + cell["score_seconds"] for cell in cells)
    by_seed: dict[int, list[float]] = {}
    for cell in cells:
        mean = cell["scores"][column].mean
        by_seed.setdefault(cell.seed, []).append(math.nan if mean is None else mean)
    means = [sum(values) / len(values) for values in by_seed.values()]
    return means[0] if min(means) == max(means) else Band.of_one_more(means)


def compare(quantity: Quantity, here: object) -> list[Finding]:
    """Compare each single value of a quantity with ours, in the form of what is expected.

    Examples
    --------
    >>> [finding] = compare(Quantity(source="s", what="x", expected=0.25), 0.2512)
    >>> finding.verdict, round(finding.difference, 4)
    ('equal as printed', 0.0012)
    """
    missing = here if isinstance(here, NotRun) else NotRun("it needs a run")
    ours = {} if here is missing else dict(_leaves(quantity, here))
    return [
        _judge(quantity, name, printed, ours.get(name, missing))
        for name, printed in _leaves(quantity, quantity.expected)
    ]


def _leaves(quantity: Quantity, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each single value of a quantity with its name; a list of pairs is one value."""
    if isinstance(value, dict) and "per_user" in value:
        ks = [metrics.parse(label).k for label in quantity.metrics]
        for user, row in enumerate(value["per_user"], start=1):
            yield from ((f"@{k}, user {user}", entry) for k, entry in zip(ks, row, strict=True))
        yield from ((f"@{k}, mean", entry) for k, entry in zip(ks, value["mean"], strict=True))
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list) and not isinstance(value[0], list):
        for position, entry in enumerate(value, start=1):
            yield f"{position} of {len(value)}", entry
    else:
        yield "", value


def _judge(quantity: Quantity, name: str, printed: Any, here: Any) -> Finding:
    named = f"{quantity.what} {name}".strip().replace("@k @", "@")
    note = quantity.note
    printed = math.nan if printed is None else printed
    wrong, why = quantity.errata.get(name, (printed, ""))
    finding = partial(Finding, quantity.source, named, wrong)
    if isinstance(here, NotRun):
        return finding(None, None, "not run", here.why)
    verdict = _verdict(printed, here)
    if why:
        agrees = verdict.startswith("equal") or (
            math.isnan(printed) and _verdict(wrong, here) == "differs"
        )
        return finding(here, here - wrong, "erratum" if agrees else "differs", why)
    if name in TIMES:
        return finding(here, None, "another machine", note)
    if isinstance(here, Band):
        note = "; ".join(part for part in (note, here.about) if part)
    numeric = isinstance(printed, (int, float)) and isinstance(here, (int, float))
    difference = float(here - printed) if numeric and not math.isnan(here) else None
    if difference is not None and verdict == "differs" and quantity.truncated:
        verdict = "truncated" if 0 < difference < _unit(printed) else verdict
    return finding(here, difference, verdict, note)


def _verdict(printed: Any, here: Any) -> str:
    if isinstance(here, Band):
        return "within the band" if here.low <= printed <= here.high else "outside the band"
    if isinstance(printed, str):
        return "named here"
    if isinstance(here, str):
        return "refused here"
    if not isinstance(printed, (int, float)):
        return "equal" if printed == here else "differs"
    if math.isnan(printed) or math.isnan(here):
        return "equal" if math.isnan(printed) and math.isnan(here) else "differs"
    if abs(here - printed) <= EXACT * max(1.0, abs(printed)):
        return "equal"
    return "equal as printed" if abs(here - printed) <= _unit(printed) / 2 else "differs"


def _unit(printed: float) -> float:
    """Return one unit of the last digit that was printed."""
    return float(10.0 ** int(Decimal(repr(printed)).as_tuple().exponent))
