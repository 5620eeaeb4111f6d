"""The lists of each row scored by other metrics than those of the config."""

from __future__ import annotations

from collections.abc import Iterable

from harness import metrics
from harness.errors import MetricError
from harness.metrics import Metric
from harness.results.names import RowName
from harness.results.scores import RowValue
from harness.results.store import CellRecord


class Rescored:
    """The values of some metrics for the rows of a run, whose cells come after each other."""

    def __init__(self, of: Iterable[Metric]) -> None:
        self.metrics = tuple(dict.fromkeys(of))
        self.row: RowName | None = None
        self.notes: dict[Metric, str] = {}
        """Of the present row: why a metric has no value."""

    def starts(self, cell: RowName) -> bool:
        """Return whether a cell is the first of another row than the present one."""
        return self.row is None or self.row.row != cell.row

    def start(self, cell: RowName) -> None:
        """Begin the row of a cell."""
        self.row, self.notes = cell, {}
        self._values = {metric: RowValue(metric) for metric in self.metrics}

    def add(self, record: CellRecord) -> None:
        """Score a cell of the present row."""
        for metric, value in self._values.items():
            try:
                scores = metrics.score([metric], record.rankings, record.pairs)[metric]
            except MetricError as error:
                self.notes.setdefault(metric, error.reason)
            else:
                value.add(record.users, scores)

    def values(self) -> dict[Metric, float | None]:
        """Return the values of the present row; None where a cell has no score."""
        return {
            metric: None if metric in self.notes else value.value
            for metric, value in self._values.items()
        }
