"""A run's numbers as the report shows them: its tables with their rankings and comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness import metrics, statistics
from harness.config.experiment import Inference
from harness.errors import ResultsError, suggestion
from harness.report.styles import AlgorithmStyle, algorithm_styles
from harness.results.record import CellResult, MetricComparison, PairDifference, RunInfo
from harness.results.run import Run
from harness.results.table import best_of, primary_metric
from harness.results.values import DEFAULT_DECIMALS, column_decimals, rounded

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ResultTable", "Summary", "summarise"]

BASELINES = ("BaselineOnly", "ItemMean", "Popularity", "Random")
"""Default baselines, used if neither config nor reader names one."""


@dataclass(frozen=True, eq=False)
class ResultTable:
    """One table of a run: a data set, a split and a kind of candidates."""

    run: Run
    number: int
    """From 1, in the order of the config."""
    key: str
    """Its identity."""
    names: tuple[str, str, str]
    """Data set, split, candidates."""
    title: str
    """What distinguishes it from the other tables of the run."""
    decimals: dict[str, int]
    """By metric, how many decimals its numbers get."""

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Its algorithms, as `Run.table` has them."""
        return self._part(self.run.table).reset_index(drop=True)

    @cached_property
    def records(self) -> dict[str, dict[Any, Any]]:
        """Its rows as dictionaries, by algorithm."""
        return {str(row["algorithm"]): row for row in self.rows.to_dict(orient="records")}

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """The scores of the best and of a random order, in the same columns; may be empty."""
        return self._part(self.run.bounds)

    @cached_property
    def users(self) -> pd.DataFrame:
        """Its rows of `Run.users`."""
        return self._part(self.run.users)

    @cached_property
    def cells(self) -> list[CellResult]:
        """Its finished cells."""
        return [cell for cell in self.run.info.finished if cell.table == self.key]

    @cached_property
    def comparisons(self) -> dict[str, MetricComparison]:
        """By metric, the comparison of its algorithms user by user, where there is one."""
        return {each.metric: each for each in self.run.info.statistics if each.table == self.key}

    @property
    def level(self) -> float:
        """The level that an adjusted p-value is compared with."""
        return 1 - self._settings.confidence

    def text(self, label: str, value: float | None) -> str:
        """Return a value of a metric with the decimals of this table."""
        return rounded(value, self.decimals[label])

    def interval(self, label: str, algorithm: str) -> tuple[float, float]:
        """Return the ends of the interval of an algorithm's mean over users, NaN for none."""
        row, none = self.records[algorithm], float("nan")
        return row.get(f"{label}_low", none), row.get(f"{label}_high", none)

    def interval_text(self, label: str, algorithm: str) -> tuple[str, str]:
        """Return both ends with the decimals of this table, empty for none."""
        low, high = self.interval(label, algorithm)
        return self.text(label, low), self.text(label, high)

    def letters(self, label: str, algorithm: str) -> str:
        """Return the letters of an algorithm; algorithms that share one do not differ."""
        return str(self.records[algorithm].get(f"{label}_letters", ""))

    def best(self, label: str) -> list[str]:
        """Return the algorithms with the best value of a metric: one, or several that are equal."""
        names = list(self.records)
        return [names[i] for i in best_of(list(self.records.values()), label)]

    def ranked(self, label: str) -> list[str]:
        """Return the algorithms that have a value of a metric, best first.

        Algorithms with a failed cell are excluded: their values are of other folds.
        """
        ascending = not metrics.parse(label).higher_is_better
        rows = self.rows[self.rows["n_failed"] == 0].dropna(subset=[label])
        rows = rows.sort_values(label, ascending=ascending, kind="stable")
        return [str(name) for name in rows["algorithm"]]

    def differences(
        self, label: str, baseline: str, *, corrected_alone: bool = False
    ) -> list[PairDifference]:
        """Return every other algorithm less the baseline.

        P-values are corrected among all pairs of the table, or among these pairs alone.
        """
        compared = self.comparisons.get(label)
        pairs = [
            pair.model_copy() if pair.second == baseline else _turned(pair)
            for pair in (compared.pairs if compared else [])
            if baseline in (pair.first, pair.second)
        ]
        if corrected_alone:
            correction = self._settings.correction
            adjusted = statistics.adjust([pair.p for pair in pairs], correction)
            for pair, p in zip(pairs, adjusted, strict=True):
                pair.p_adjusted, pair.significant = float(p), bool(p <= self.level + 1e-12)
        return pairs

    @property
    def _settings(self) -> Inference:
        return self.run.info.experiment.statistics or Inference()

    def _part(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["table"] == self.key]


@dataclass(frozen=True, eq=False)
class Summary:
    """A run, prepared for display."""

    run: Run
    tables: list[ResultTable]
    baseline: str
    """What the other algorithms are compared with."""

    @property
    def info(self) -> RunInfo:
        """What ``run.json`` holds."""
        return self.run.info

    @cached_property
    def primary(self) -> str:
        """The primary metric of headline and plots: nDCG at 10, or the nearest one."""
        return primary_metric(self.info.metrics)

    @cached_property
    def several(self) -> bool:
        """Whether a row is a mean over several cells."""
        return len({(cell.seed, cell.fold) for cell in self.info.cells}) > 1

    @cached_property
    def styles(self) -> dict[str, AlgorithmStyle]:
        """How each algorithm is drawn."""
        return algorithm_styles(self.info.algorithms)

    def metric(self, label: str | None) -> str:
        """Return a label of this run, the primary one for None."""
        if label is not None and label not in self.info.metrics:
            raise ResultsError(
                f"{self.run.name}: no metric {label!r}; {suggestion(label, self.info.metrics)}"
            )
        return label or self.primary

    def table(self, number: int) -> ResultTable:
        """Return a table by its number, from 1."""
        if not 1 <= number <= len(self.tables):
            known = "; ".join(f"{i}: {each.title}" for i, each in enumerate(self.tables, 1))
            raise ResultsError(f"{self.run.name}: no table {number}; use one of {known}")
        return self.tables[number - 1]


def summarise(run: Run | Summary, *, baseline: str | None = None) -> Summary:
    """Prepare a run for display; a summary is given back as it is.

    Without a baseline the others are compared with that of the config, else with the first of
    `BASELINES` that the run has, else with its first algorithm.
    """
    if isinstance(run, Summary):
        return run
    info = run.info
    if not info.cells or not info.metrics:
        raise ResultsError(f"{run.name}: holds no cells; run the config again")
    known = info.algorithms
    if baseline is not None and baseline not in known:
        raise ResultsError(f"{run.name}: no baseline {baseline!r}; {suggestion(baseline, known)}")
    settings = info.experiment.statistics
    wanted = (settings.baseline if settings else None, *BASELINES)
    default = next((str(each) for each in wanted if each in known), known[0])
    digits = column_decimals(info)
    all_names = info.tables.values()
    varying = [part for part in range(3) if len({names[part] for names in all_names}) > 1]
    tables = []
    for number, (key, names) in enumerate(info.tables.items(), 1):
        title = " · ".join(names[part] for part in varying or range(3))
        own = {label: digits.get((key, label), DEFAULT_DECIMALS) for label in info.metrics}
        tables.append(ResultTable(run, number, key, names, title, own))
    return Summary(run, tables, baseline or default)


def _turned(pair: PairDifference) -> PairDifference:
    """Return a pair with the other algorithm as the subtrahend."""
    low, high = (None if end is None else -end for end in (pair.high, pair.low))
    names = {"first": pair.second, "second": pair.first}
    return pair.model_copy(
        update=names | {"difference": -pair.difference, "low": low, "high": high}
    )
