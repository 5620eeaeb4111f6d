"""Published and computed values, with a verdict on each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import harness
from harness.config.load import bundled
from harness.datasets.section import CATALOGUE
from harness.errors import DataError
from harness.reproduce.published import Quantity, compute, is_nan, leaves, published

if TYPE_CHECKING:
    from harness.experiment.events import Event
    from harness.results.record import AnyCell

__all__ = ["Band", "Finding", "NotRun", "compare", "reproduce", "trained_runs"]

Run = Callable[[Quantity], Any]

EXACT = 1e-12
TIMES = ("runtime_s",)


@dataclass(frozen=True)
class Band:
    """The 99% prediction interval of one more run, for a source that set no seed.

    Parameters
    ----------
    low, high : float
    about : str
        The results of the runs here, in words.
    """

    low: float
    high: float
    about: str = ""

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
        from scipy.stats import t

        mean, spread = fmean(values), stdev(values)
        half = float(t.ppf(0.995, len(values) - 1)) * spread * math.sqrt(1 + 1 / len(values))
        about = f"{len(values)} seeds gave {min(values):.4g} to {max(values):.4g}"
        return cls(mean - half, mean + half, about)

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class NotRun:
    """Why a value was not computed."""

    why: str


@dataclass(frozen=True)
class Finding:
    """One published value and ours.

    Parameters
    ----------
    source : str
        Key of the source.
    quantity : str
    published : object
        As printed; nan where the source has none.
    here : object
        The value here, a `Band`, or None when it was not run.
    difference : float or None
        Here less published; None where that means nothing.
    verdict : str
        ``equal`` (to 1e-12), ``equal as printed``, ``truncated`` (by the source), ``within the
        band`` or ``outside the band`` (see `Band`; where the source set no seed), ``erratum``,
        ``another machine``, ``refused here``, ``named here``, ``differs`` or ``not run``.
    note : str
    """

    source: str
    quantity: str
    published: Any
    here: Any
    difference: float | None
    verdict: str
    note: str = ""


def reproduce(
    source: str | None = None, runs: Mapping[tuple[str, str], Run] | None = None
) -> list[Finding]:
    """Compute published values and compare them.

    Parameters
    ----------
    source : str, optional
        Key of a source; all without it.
    runs : mapping of (source, what) to callable, optional
        For quantities that need training: each takes the quantity and returns its value or values
        in the form of ``expected``, with a `Band` or a `NotRun` in place of any.

    Returns
    -------
    list of Finding
        One for each single value, in the order of the sources.

    Raises
    ------
    ResultsError
        If there is no such source.

    Examples
    --------
    >>> for finding in reproduce("nicolas-2022"):
    ...     print(finding.quantity, finding.published, finding.verdict, sep=" | ")
    IDCG | 45.64 | equal as printed
    NDCG score | 0.801 | truncated
    a sample of another length than the reference list | 0.0 | refused here
    """
    found = []
    for quantity in published(source):
        run = (runs or {}).get((quantity.source, quantity.what), compute)
        found += compare(quantity, run(quantity))
    return found


def trained_runs(
    watch: Callable[[Event], object] | None = None, **options: Any
) -> dict[tuple[str, str], Run]:
    """Return how each published value that needs training is computed: its config is run, once.

    `watch` is called with every event of a run; other options are those of `harness.run`. A run
    without its data gives a `NotRun` with the reason.
    """

    @cache
    def cells(config: str) -> Sequence[AnyCell] | NotRun:
        chosen = {"overrides": ["statistics=null", "baselines=false"], **options}
        if watch is not None:
            chosen["watch"] = watch
        try:
            return harness.run(bundled()[config], results=None, **chosen).info.cells
        except DataError as error:
            return NotRun(str(error).splitlines()[0])

    def run(quantity: Quantity) -> Any:
        if quantity.needs and not CATALOGUE[quantity.needs].is_here():
            return NotRun(
                f"{quantity.why}; download it first, for example with "
                f"`harness run configs/{quantity.config}.yaml`"
            )
        found = cells(quantity.config)
        return found if isinstance(found, NotRun) else _values(quantity, found)

    return {(each.source, each.what): run for each in published() if each.config}


def _values(quantity: Quantity, cells: Sequence[AnyCell]) -> Any:
    """Return the values of an algorithm's row in the form of what is expected."""
    own = [cell for cell in cells if cell.algorithm == quantity.algorithm]
    if not own:
        return NotRun(f"{quantity.config}: no row of {quantity.algorithm}")
    for cell in own:
        if cell.error:
            return NotRun(cell.error)
    values = {name: _value(own, column) for name, column in quantity.values.items()}
    return values.get("", values)


def _value(cells: Sequence[AnyCell], column: str) -> float | Band:
    """Return a mean over folds; under several seeds, unless they agree, the band of one more."""
    if column == "seconds":
        return fmean(cell["fit_seconds"] + cell["score_seconds"] for cell in cells)
    by_seed: dict[int, list[float]] = {}
    for cell in cells:
        mean = cell["scores"][column].mean
        by_seed.setdefault(cell.seed, []).append(math.nan if mean is None else mean)
    means = [sum(own) / len(own) for own in by_seed.values()]
    return means[0] if min(means) == max(means) else Band.of_one_more(means)


def compare(quantity: Quantity, here: Any) -> list[Finding]:
    """Compare each single value of a quantity with ours, in the form of what is expected.

    Ours is None or a `NotRun` when it was not run.

    Examples
    --------
    >>> [finding] = compare(Quantity(source="s", what="x", expected=0.25), 0.2512)
    >>> finding.verdict, round(finding.difference, 4)
    ('equal as printed', 0.0012)
    """
    ours = {} if here is None or isinstance(here, NotRun) else dict(leaves(quantity, here))
    missing = here if isinstance(here, NotRun) else NotRun("it needs a run")
    return [
        _judge(quantity, name, printed, ours.get(name, missing))
        for name, printed in leaves(quantity, quantity.expected)
    ]


def _judge(quantity: Quantity, name: str, printed: Any, here: Any) -> Finding:
    what = f"{quantity.what} {name}".strip().replace("@k @", "@")
    note = quantity.note
    printed = math.nan if printed is None else printed
    if isinstance(here, NotRun):
        return Finding(quantity.source, what, printed, None, None, "not run", here.why)
    if name in quantity.errata:
        wrong, why = quantity.errata[name]
        sound = _verdict(printed, here) in ("equal", "equal as printed")
        verdict = "erratum" if sound else "differs"
        return Finding(quantity.source, what, wrong, here, here - wrong, verdict, why)
    if name in TIMES:
        return Finding(quantity.source, what, printed, here, None, "another machine", note)
    numeric = isinstance(printed, (int, float)) and isinstance(here, (int, float))
    difference = float(here - printed) if numeric and not is_nan(here) else None
    verdict = _verdict(printed, here)
    if isinstance(here, Band):
        note = "; ".join(part for part in (note, here.about) if part)
    if difference is not None and verdict == "differs" and note.startswith("the source truncates"):
        verdict = "truncated" if 0 < difference < _unit(printed) else verdict
    return Finding(quantity.source, what, printed, here, difference, verdict, note)


def _verdict(printed: Any, here: Any) -> str:
    if isinstance(here, Band):
        return "within the band" if here.low <= printed <= here.high else "outside the band"
    if isinstance(printed, str):
        return "named here"
    if isinstance(here, str):
        return "refused here"
    if not isinstance(printed, (int, float)):
        return "equal" if printed == here else "differs"
    if is_nan(printed) or is_nan(here):
        return "equal" if is_nan(printed) and is_nan(here) else "differs"
    if abs(here - printed) <= EXACT * max(1.0, abs(printed)):
        return "equal"
    return "equal as printed" if abs(here - printed) <= _unit(printed) / 2 else "differs"


def _unit(printed: float) -> float:
    """Return one unit of the last digit that was printed."""
    return float(10.0 ** int(Decimal(repr(printed)).as_tuple().exponent))
