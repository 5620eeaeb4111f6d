"""What was published: quantities with their protocol, read from ``published.toml``."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from harness import metrics
from harness._util.arguments import checked
from harness._util.libraries import scipy
from harness.errors import ResultsError, suggestion


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
    estimates_of: str = ""
    # Of the model itself, fitted to the training set of the config's first fold.
    pair: list[str] = []
    neighbours_of: str = ""
    inner_ids: bool = False
    """Whether the source gives the training set's own numbers, from 0, where it means ids."""
    best_of: str = ""
    similarities: int = 0
    anti_test: bool = False
    predictor: str = ""
    """Predictor of the study of `harness.extras.reproduce.semi_synthetic` on the scores of the
    model."""

    @property
    def is_of_model(self) -> bool:
        """Whether it is a property of a fitted model, not a score."""
        of_ids = self.pair or self.neighbours_of or self.best_of
        return bool(of_ids or self.similarities or self.anti_test or self.predictor)


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
    def of_one_more(cls, values: Sequence[float], digits: int | None = None) -> Band:
        """Return the band that holds one further value with a probability of 99%.

        With `digits` both ends are rounded to so many decimals, as one more draw would be.

        ``mean ± t * s * sqrt(1 + 1/n)`` with the quantile t of Student's distribution of n - 1
        degrees of freedom: the prediction interval of a normal sample. The range of the n values
        would miss one further value with a probability of 2 / (n + 1).

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
        ends = mean - half, mean + half
        low, high = ends if digits is None else (round(end, digits) for end in ends)
        return cls(low, high, about)

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class ReproducedValue:
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


@cache
def _entries() -> dict[str, dict[str, Any]]:
    text = Path(__file__).with_name("published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sources() -> dict[str, str]:
    """Return the sources: key and title.

    A source that defines its own metrics has its title in `metrics.conventions`.
    """
    by_name = metrics.conventions()
    return {key: entry.get("title") or by_name[key].source for key, entry in _entries().items()}


@checked(ResultsError)
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
