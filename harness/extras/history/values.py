"""The values of the rows of a run and of its earlier runs, and what changed between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.errors import ResultsError, counted, suggestion
from harness.report.summary import summarise
from harness.results.folder import earlier_runs, name_of
from harness.results.headline import chosen_metric
from harness.results.reading import read_run
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.statistics import RowResult

CODE, DEFINITION = "code", "definition"
Difference = tuple[float, float | None, float | None]
"""A difference and both ends of its interval."""
DEFINITION_KEYS = ("fallback", "clip")
"""Keys of a config that define what a metric is computed from, beside its parts."""


@dataclass(frozen=True)
class Point:
    """The value of a row in one run.

    Parameters
    ----------
    run, started : str
        Its name, with the time of an earlier one, and when it was started (UTC).
    value, low, high : float or None
        The mean and the ends of its interval, in the unit of the metric; None for none.
    n_users : int or None
        Users who are evaluated.
    breaks : list of str
        Why the value cannot be compared with the one before it; empty where it can be.
    changes : list of str
        Changes since the one before it with which both can be compared: settings, code, versions.
    difference, difference_low, difference_high : float or None
        The value less the baseline's value in the same run, so on the same data, and its interval,
        in the unit of the metric; None for the baseline itself, and where one has no value.
    """

    run: str
    started: str
    value: float | None
    low: float | None
    high: float | None
    n_users: int | None
    breaks: list[str]
    changes: list[str]
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None


@dataclass(frozen=True)
class HistoryLine:
    """A row over time, the oldest point first."""

    algorithm: str
    dataset: str
    split: str
    candidates: str
    points: list[Point]

    @property
    def parts(self) -> list[list[Point]]:
        """The points in parts within which they can be compared.

        >>> point = Point("tiny", "2026-11-26T02:41:07", 0.5, None, None, 9, [], [])
        >>> other = Point("tiny", "2026-11-27T02:41:07", 0.6, None, None, 9, ["data"], [])
        >>> [len(part) for part in HistoryLine("SVD", "a", "b", "c", [point, point, other]).parts]
        [2, 1]
        """
        return self._divided({*BREAKS})

    @property
    def difference_parts(self) -> list[list[Point]]:
        """The points in parts within which differences can be compared.

        Both rows of a difference have the data and the split of its run, whatever another run has.
        """
        return self._divided({DEFINITION})

    @property
    def has_differences(self) -> bool:
        """Whether a point has a difference to the baseline."""
        return any(point.difference is not None for point in self.points)

    def _divided(self, reasons: set[str]) -> list[list[Point]]:
        parts: list[list[Point]] = []
        for point in self.points:
            if not parts or not reasons.isdisjoint(point.breaks):
                parts.append([])
            parts[-1].append(point)
        return parts


@dataclass(frozen=True)
class History:
    """The values of a metric in the rows of a run and of its earlier runs."""

    name: str
    metric: str
    n_runs: int
    lines: list[HistoryLine]
    notes: list[str]
    baseline: str = ""
    """The row that the differences are to; empty where there is none."""

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    def sentence(self) -> str:
        """Return how many runs there are, and in how many the lines break."""
        broken = {point.run for line in self.lines for point in line.points if point.breaks}
        start = f"{self.name}: {self.metric} of {counted(self.n_runs, 'run')}"
        if self.n_runs == 1:
            return f"{start}; there is no earlier one"
        if not broken:
            return f"{start}, all comparable with the run before"
        said = f"{start}; {counted(len(broken), 'run')} not comparable with the run before"
        if any(line.has_differences for line in self.lines):
            said += f". Differences to {self.baseline} are of one run, so on the same data"
        return said


def runs_of_name(run: Run) -> tuple[list[Run], list[str]]:
    """Return a run with its earlier ones, the oldest first, and notes on those not readable."""
    if run.folder is None:
        return [run], []
    latest = run.folder.with_name(name_of(run.folder))
    runs, notes = [], []
    for folder in [*earlier_runs(latest), latest]:
        try:
            runs.append(run if folder == run.folder else read_run(folder))
        except ResultsError as error:
            notes.append(f"left out: {error}")
    return runs, notes


def history(
    run: Run,
    *,
    metric: str | None = None,
    row: str | None = None,
    last: int | None = None,
    baseline: str | None = None,
) -> History:
    """Return the values of the rows of a run and of its earlier runs over time.

    Parameters
    ----------
    run : Run
        Any run of the name; its folder is beside the others.
    metric : str, optional
        A label; by default the headline metric of the run.
    row : str, optional
        The label of an algorithm; by default every row.
    last : int, optional
        How many of the latest runs; by default all.
    baseline : str, optional
        The row that others are compared with in each run; by default the baseline of a report on
        the latest run.

    Raises
    ------
    ResultsError
        If no run has the metric or the row.
    """
    runs, notes = runs_of_name(run)
    known = dict.fromkeys(label for other in runs for label in other.info.metrics)
    label = chosen_metric(metric, known, f"{run.name}: no metric", run.info.primary)
    names = dict.fromkeys(name for other in runs for name in other.info.algorithms)
    if row is not None and row not in names:
        raise ResultsError(f"{run.name}: no row {row!r}; {suggestion(row, names)}")
    if baseline is not None and baseline not in names:
        raise ResultsError(f"{run.name}: no row {baseline!r}; {suggestion(baseline, names)}")
    runs = runs[-last:] if last is not None else runs
    baseline = baseline or summarise(runs[-1]).baseline
    differences = {other.name: _differences(other, label, baseline) for other in runs}
    places: dict[tuple[str, str, str, str], list[tuple[RunInfo, RowResult]]] = {}
    for other in runs:
        for result in other.info.rows:
            if label in result.scores and row in (None, result.algorithm):
                place = (result.algorithm, *result.names)
                places.setdefault(place, []).append((other.info, result))
    lines = [
        HistoryLine(*place, [*_points(results, label, differences)])
        for place, results in places.items()
    ]
    name = name_of(run.folder or Path(run.name))
    has_differences = any(line.has_differences for line in lines)
    return History(name, label, len(runs), lines, notes, baseline if has_differences else "")


def _differences(run: Run, label: str, baseline: str) -> dict[str, Difference]:
    """Return the difference of each row of a run to the baseline of its table, with its interval.

    A metric that is not compared by user, as rmse, has differences without intervals.
    """
    found: dict[str, Difference] = {}
    if label not in run.info.metrics:
        return found
    for table in summarise(run).tables:
        if baseline not in table.records:
            continue
        pairs = {pair.first: pair for pair in table.differences(label, baseline)}
        of_baseline = table.records[baseline][label]
        for name, record in table.records.items():
            if pair := pairs.get(name):
                found[record["row"]] = pair.difference, pair.low, pair.high
            elif name != baseline and math.isfinite(record[label] - of_baseline):
                found[record["row"]] = record[label] - of_baseline, None, None
    return found


def _points(
    results: Sequence[tuple[RunInfo, RowResult]],
    label: str,
    differences: Mapping[str, Mapping[str, Difference]],
) -> Iterator[Point]:
    before: tuple[RunInfo, RowResult] | None = None
    for info, result in results:
        means = [
            mean
            for compared in info.statistics
            if compared.metric == label
            for mean in compared.algorithms
            if mean.row == result.row
        ]
        yield Point(
            info.name,
            info.started,
            result.scores[label],
            means[0].low if means else None,
            means[0].high if means else None,
            result.n_users,
            [*_breaks(before, (info, result))] if before else [],
            [*_changes(before, (info, result))] if before else [],
            *differences.get(info.name, {}).get(result.row, (None, None, None)),
        )
        before = info, result


def _breaks(before: tuple[RunInfo, RowResult], now: tuple[RunInfo, RowResult]) -> Iterator[str]:
    """Yield why the values of two runs cannot be compared."""
    for text, part in BREAKS.items():
        if part(*before) != part(*now):
            yield text


def _data(info: RunInfo, row: RowResult) -> object:
    return [(data.fingerprint, data.filters) for data in info.datasets if data.name == row.dataset]


def _folds(info: RunInfo, row: RowResult) -> object:
    place = row.dataset, row.split
    folds = (fold for fold in info.splits if (fold.dataset, fold.split) == place)
    return sorted((fold.seed, fold.fold, fold.fingerprint) for fold in folds)


def _definition(info: RunInfo, row: RowResult) -> object:
    candidates = info.section("candidates", row.candidates)
    return candidates, [info.config.get(key) for key in DEFINITION_KEYS]


def _seeds(info: RunInfo, row: RowResult) -> object:
    return sorted({cell.seed for cell in info.cells_of_rows[row.row]})


def _finished(info: RunInfo, row: RowResult) -> object:
    return sorted(cell.fold for cell in info.cells_of_rows[row.row] if cell.error is None)


BREAKS: dict[str, Callable[[RunInfo, RowResult], object]] = {
    "data": _data,
    "split": _folds,
    DEFINITION: _definition,
    "seed": _seeds,
    "failed cells": _finished,
}
"""What the values of two runs must have in common, by what its difference is called."""


def _changes(before: tuple[RunInfo, RowResult], now: tuple[RunInfo, RowResult]) -> Iterator[str]:
    """Yield what else changed between two runs."""
    then, info = before[0], now[0]
    if _settings(*before) != _settings(*now):
        yield "settings"
    is_other = then.packages.get("harness") != info.packages.get("harness")
    if is_other or then.commit != info.commit or then.plugins != info.plugins:
        yield CODE
    for package in dict.fromkeys([*then.versions, *info.versions]):
        versions = [record.versions.get(package, "none") for record in (then, info)]
        if versions[0] != versions[1]:
            yield f"{package} {versions[0]} → {versions[1]}"


def _settings(info: RunInfo, row: RowResult) -> object:
    algorithms = info.experiment.algorithms
    settings = [config for config in algorithms if config.title == row.algorithm]
    return settings, info.config.get("tuning")


def start_times(started: Sequence[str]) -> list[str]:
    """Return starts of runs as people read them, with seconds if two are of one minute.

    >>> start_times(["2026-11-26T02:41:07", "2026-11-27T02:41:07"])
    ['2026-11-26 02:41', '2026-11-27 02:41']
    >>> start_times(["2026-11-26T02:41:07", "2026-11-26T02:41:59"])
    ['2026-11-26 02:41:07', '2026-11-26 02:41:59']
    """
    length = 16 if len({text[:16] for text in started}) == len(started) else 19
    return [text[:length].replace("T", " ") for text in started]
