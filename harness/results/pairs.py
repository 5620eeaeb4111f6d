"""Two rows of a run: their difference, its interval and p-values, and what they say in words."""

from __future__ import annotations

from dataclasses import dataclass

from harness._util.names import Named
from harness.config.experiment import Claim
from harness.errors import ResultsError, counted, suggestion
from harness.results.headline import chosen_metric
from harness.results.record import RunInfo
from harness.results.statistics import Answer, MetricComparison, PairDifference
from harness.results.table import (
    DEFAULT_DECIMALS,
    column_decimals,
    comparison_of,
    printable,
    rounded,
)
from harness.results.verdict import CLAIMS


@dataclass(frozen=True, repr=False)
class RowComparison(Named):
    """What the tests of a run say of two of its rows; ``print`` shows it in words.

    Attributes
    ----------
    first, second : str
        The rows.
    metric, dataset, split, candidates : str
        What they were compared by, and the table that they are in.
    difference : float
        The mean over users of the first row's score less the second's, for users with both.
    low, high : float or None
        The interval of the difference, of only this pair.
    p, p_adjusted : float
        Of the paired test, and corrected for all pairs of the table.
    better : str or None
        The row that is significantly better; None where the tests found neither.
    answer : {"different", "equivalent", "undecided"}
        ``equivalent`` only with a margin in ``statistics``.
    n_users : int
        Users with a score from both.
    claim : {"models", "algorithms"}
        What the tests are about.
    verdict : str
        All this in words.
    pair : PairDifference
        Everything that the record of the run holds of the two.
    """

    first: str
    second: str
    metric: str
    dataset: str
    split: str
    candidates: str
    difference: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float
    better: str | None
    answer: Answer
    n_users: int
    claim: Claim
    verdict: str
    pair: PairDifference

    _guessed = ("pair", "comparison")

    def __repr__(self) -> str:
        return self.verdict


def p_text(value: float, is_bound: bool) -> str:
    """Write a p-value; an upper bound as one, in no more digits than resamples can give.

    >>> p_text(0.012, False), p_text(0.0091, True), p_text(1e-9, True), p_text(2e-9, False)
    ('p = 0.012', 'p ≤ 0.0091', 'p ≤ 0.0001', 'p = 2e-9')
    """
    if is_bound:
        return f"p ≤ {max(value, 1e-4):.2g}"
    return "p = " + (f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}".replace("e-0", "e-"))


def compare_rows(
    info: RunInfo, first: str, second: str, metric: str | None, place: int | None
) -> RowComparison:
    """Return what the tests of a run say of two of its rows; see `Run.compare`."""
    label = chosen_metric(metric, info.metrics, f"{info.name}: no metric", info.headline)
    table = _table(info, place)
    names = [row.algorithm for row in info.rows if row.table == table]
    for name in (first, second):
        if name not in names:
            raise ResultsError(
                f"compare: no row {name!r} in {info.name}; {suggestion(name, names)}"
            )
    if first == second:
        raise ResultsError(f"compare: {first!r} is given twice; name two rows")
    comparison = comparison_of(info, table, label)
    found = comparison.pairs_of(first).get(second) if comparison else None
    if comparison is None or found is None:
        compared = dict.fromkeys(each.metric for each in info.statistics if each.table == table)
        advice = "add `statistics` to its config"
        if compared:
            advice = f"give metric={next(iter(compared))!r}"
        if label in compared:
            advice = "look at run.table, run.failed and run.notes for the reason"
        raise ResultsError(
            f"compare: {first!r} and {second!r} were not compared by {label}; {advice}"
        )
    pair = found if found.first == first else _turned(found)
    return RowComparison(
        first,
        second,
        label,
        *info.tables[table],
        pair.difference,
        pair.low,
        pair.high,
        pair.p,
        pair.p_adjusted,
        comparison.favoured(pair),
        pair.answer,
        pair.n_users,
        comparison.claim,
        _in_words(info, comparison, pair),
        pair,
    )


def _table(info: RunInfo, place: int | None) -> str:
    """Return the identity of the table at a place from 1, or of the only one."""
    tables = list(info.tables.items())
    known = "; ".join(f"{n}: {', '.join(names)}" for n, (_, names) in enumerate(tables, 1))
    if place is None and len(tables) == 1:
        return tables[0][0]
    if place is None:
        raise ResultsError(f"compare: {info.name} has {len(tables)} tables; give table= ({known})")
    if not 1 <= place <= len(tables):
        raise ResultsError(f"compare: {info.name} has no table {place}; use one of {known}")
    return tables[place - 1][0]


def _turned(pair: PairDifference) -> PairDifference:
    """Return a pair with its two rows in the other order."""

    def less(value: float | None) -> float | None:
        return None if value is None else -value

    return pair.model_copy(
        update={
            "first": pair.second,
            "second": pair.first,
            "difference": -pair.difference,
            "low": less(pair.high),
            "high": less(pair.low),
            "effect_size": less(pair.effect_size),
        }
    )


def _in_words(info: RunInfo, comparison: MetricComparison, pair: PairDifference) -> str:
    """Return what a pair says, in sentences."""
    digits = column_decimals(info).get((comparison.table, comparison.metric), DEFAULT_DECIMALS) + 1
    numbers = f"{comparison.metric} differs by {rounded(pair.difference, digits)}"
    settings = info.experiment.statistics
    if pair.low is not None and pair.high is not None:
        share = f"{100 * settings.confidence:.4g}% " if settings else ""
        ends = f"{rounded(pair.low, digits)} to {rounded(pair.high, digits)}"
        numbers += f" ({share}interval {ends})"
    numbers += f", adjusted {p_text(pair.p_adjusted, pair.p_is_bound)}"
    numbers += f", over {counted(pair.n_users, 'user')}"
    about = comparison.about or CLAIMS[comparison.claim]
    return f"{_answer(info, comparison, pair)}; {numbers}. {about}."


def _answer(info: RunInfo, comparison: MetricComparison, pair: PairDifference) -> str:
    """Return which of a pair is better, or why that is open."""
    settings = info.experiment.statistics
    level = 1 - settings.confidence if settings else 0.0
    first, second = printable(pair.first), printable(pair.second)
    within = ""
    if pair.equivalent and comparison.margin is not None:
        within = f", and equivalent within {comparison.margin:g}"
    if (better := comparison.favoured(pair)) is not None:
        side = "better" if better == pair.first else "worse"
        return f"{first} is significantly {side} than {second}{within}"
    if within:
        return f"{first} and {second} are not significantly different{within}"
    if pair.is_contradicted(level):
        reason = "test and mean point in opposite directions"
    elif not pair.can_decide:
        reason = "too few users differ for a significant difference"
    else:
        return f"{first} and {second} are not significantly different"
    return f"Undecided between {first} and {second}: {reason}"
