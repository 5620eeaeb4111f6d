"""The values of the rows of a run and of its earlier runs, and what changed between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.errors import ResultsError, counted, suggestion
from harness.results.folder import earlier_runs, name_of
from harness.results.headline import chosen_metric
from harness.results.reading import read_run
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.statistics import RowResult

CODE = "code"
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
    """

    run: str
    started: str
    value: float | None
    low: float | None
    high: float | None
    n_users: int | None
    breaks: list[str]
    changes: list[str]


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
        parts: list[list[Point]] = []
        for point in self.points:
            if point.breaks or not parts:
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
        return f"{start}; {counted(len(broken), 'run')} not comparable with the run before"


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
    run: Run, *, metric: str | None = None, row: str | None = None, last: int | None = None
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
    runs = runs[-last:] if last is not None else runs
    places: dict[tuple[str, str, str, str], list[tuple[RunInfo, RowResult]]] = {}
    for other in runs:
        for result in other.info.rows:
            if label in result.scores and row in (None, result.algorithm):
                place = (result.algorithm, *result.names)
                places.setdefault(place, []).append((other.info, result))
    lines = [HistoryLine(*place, [*_points(results, label)]) for place, results in places.items()]
    name = name_of(run.folder or Path(run.name))
    return History(name, label, len(runs), lines, notes)


def _points(results: Sequence[tuple[RunInfo, RowResult]], label: str) -> Iterator[Point]:
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
        )
        before = info, result


def _breaks(before: tuple[RunInfo, RowResult], now: tuple[RunInfo, RowResult]) -> Iterator[str]:
    """Yield why the values of two runs cannot be compared."""
    for text, part in (("data", _data), ("split", _folds), ("definition", _definition)):
        if part(*before) != part(*now):
            yield text
    if _cells(*before) != _cells(*now):
        yield "finished cells"


def _data(info: RunInfo, row: RowResult) -> object:
    return [(data.fingerprint, data.filters) for data in info.datasets if data.name == row.dataset]


def _folds(info: RunInfo, row: RowResult) -> object:
    place = row.dataset, row.split
    folds = (fold for fold in info.splits if (fold.dataset, fold.split) == place)
    return sorted((fold.seed, fold.fold, fold.fingerprint) for fold in folds)


def _definition(info: RunInfo, row: RowResult) -> object:
    candidates = info.section("candidates", row.candidates)
    return candidates, [info.config.get(key) for key in DEFINITION_KEYS]


def _cells(info: RunInfo, row: RowResult) -> object:
    cells = info.cells_of_rows[row.row]
    return sorted((cell.seed, cell.fold) for cell in cells if cell.error is None)


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
