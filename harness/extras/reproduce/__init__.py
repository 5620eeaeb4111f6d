"""Published numbers, computed again and compared, with a verdict on each.

Page: docs/how-to/match-a-published-number.md
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from itertools import chain, takewhile
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

import harness
from harness import metrics, rankings
from harness._util.arguments import checked
from harness.config.yaml import bundled
from harness.datasets.catalogue import CATALOGUE
from harness.errors import DataError, MetricError, ResultsError, reason_of
from harness.extras.reproduce.models import of_models
from harness.extras.reproduce.values import (
    Band,
    NotRun,
    Quantity,
    ReproducedValue,
    published,
    sources,
)
from harness.extras.reproduce.verdicts import EQUAL, compare, unit_of
from harness.rankings.pairs import group_pairs
from harness.results.environment import versions

if TYPE_CHECKING:
    from harness.experiment.execute.progress import Watch
    from harness.results.cells import AnyCell


__all__ = [
    "Band",
    "NotRun",
    "Quantity",
    "ReproducedValue",
    "Reproduction",
    "compare",
    "published",
    "reproduce",
    "sources",
    "trained_runs",
]

Run = Callable[[Quantity], object]


@checked(ResultsError)
def reproduce(
    source: str | None = None, runs: Mapping[tuple[str, str], Run] | None = None
) -> list[ReproducedValue]:
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

    findings: dict[str, list[ReproducedValue]]
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
        then no single number to agree with. In a number that differs, the digits before the first
        different digit agree.

        Examples
        --------
        >>> found = [ReproducedValue("s", "x", 0.934, 0.9344, None, "equal as printed")]
        >>> found.append(ReproducedValue("s", "y", 1.25, 1.31, None, "differs"))
        >>> Reproduction({"s": found}, {}).digits
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
                unit = unit_of(value)
                both = [str(round(abs(number) / unit)) for number in (value, here)]
                width = max(n, *map(len, both))
                pairs = zip(*(number.zfill(width) for number in both), strict=True)
                same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
                agree += max(0, same - width + n) if value * here > 0 else 0
        return agree, printed

    def to_json(self) -> str:
        """Return all of it, with the versions that computed it, as JSON."""
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
    pairs = None
    if quantity.estimates:
        users = np.zeros(len(quantity.ratings))
        pairs, _ = group_pairs(users, quantity.estimates, quantity.ratings)
    scores = [metrics.score([metric], lists, pairs)[metric] for metric in parsed]
    if not isinstance(quantity.expected, (list, dict)):
        return scores[0].mean
    per_user = np.column_stack([score.per_user for score in scores])
    if quantity.user is not None:
        values = per_user[quantity.user]
        return [f"{metric}: {value:.4f}" for metric, value in zip(parsed, values, strict=True)]
    if isinstance(quantity.expected, dict):
        return {"per_user": per_user.tolist(), "mean": [score.mean for score in scores]}
    return per_user[:, 0].tolist()


def trained_runs(watch: Watch = lambda event: None, **options: Any) -> dict[tuple[str, str], Run]:
    """Return how each published value that needs training is computed: its config is run, once."""
    of_model = of_models(options.get("ratings"))

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
        if quantity.is_of_model:
            return of_model(quantity)
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
