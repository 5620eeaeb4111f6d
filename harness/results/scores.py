"""What is computed from the scores of a run's cells: values of rows, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from harness import metrics
from harness._util.libraries import pd
from harness.metrics import Metric, Scores
from harness.notes.note import Note
from harness.results.cells import CellResult, RowName
from harness.results.statistics import RowResult

LEVELS = ("split", "search", "model")


def is_mean_of_users(metric: Metric) -> bool:
    """Return whether the value of a metric is a mean of users' scores, as that of ``ndcg@10``.

    The others, as ``rmse``, are computed from all pairs or all lists of a cell at once.
    """
    return metric.definition.per_user and not metric.pooled


class RowValue:
    """Collects one metric over the cells of a row.

    The value of a metric that is a mean of users' scores is the mean over users of each user's
    average over the folds and seeds in which the user has a score: the quantity that intervals
    and tests are about. That of any other metric is the mean over cells.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.means: list[float] = []
        """Of each cell."""
        self._users: list[NDArray[np.int32]] = []
        self._scores = [np.empty(0)]

    def add(self, users: NDArray[np.int32], scores: Scores) -> None:
        """Add the scores of a cell, and the codes of its users in their data set."""
        self.means.append(float(scores.mean))
        if is_mean_of_users(self.metric):
            self._users.append(users)
            self._scores.append(scores.per_user)

    @property
    def value(self) -> float | None:
        """The value; None where no cell, or no user, has a score."""
        if not is_mean_of_users(self.metric):
            return mean_or_none(self.means)
        scores = np.concatenate(self._scores)
        known = ~np.isnan(scores)
        if not known.any():
            return None
        users = np.concatenate(self._users)[known]
        counts = np.bincount(users)
        averages = np.bincount(users, scores[known])[counts > 0] / counts[counts > 0]
        return float(averages.mean())

    @property
    def n_users(self) -> int:
        """How many users the mean is over; 0 for a metric that is no mean of users' scores."""
        cells = zip(self._users, self._scores[1:], strict=True)
        return n_distinct([users[~np.isnan(scores)] for users, scores in cells])


class RowScores:
    """Collects all metrics over the cells of a row, and the users who are evaluated in them."""

    def __init__(self, wanted: Iterable[Metric]) -> None:
        self._collected = {str(metric): RowValue(metric) for metric in wanted}
        self._users: list[NDArray[np.int32]] = []
        self.failed: set[str] = set()
        """Labels of metrics that failed in a cell: values of the others would be of some folds."""

    def add(
        self,
        users: NDArray[np.int32],
        scores: Mapping[str, Scores],
        failed: Iterable[str] = (),
    ) -> None:
        """Add the scores of a cell by label, and the codes of its users in their data set.

        `failed` are the labels of metrics that have none, as they raised an error.
        """
        self._users.append(users)
        self.failed.update(failed)
        for label, value in self._collected.items():
            value.add(users, scores[label])

    @property
    def values(self) -> dict[str, float | None]:
        """The value of each metric by label; None for one that failed in a cell."""
        return {
            label: None if label in self.failed else value.value
            for label, value in self._collected.items()
        }

    @property
    def counts(self) -> tuple[int, dict[str, int]]:
        """How many users are evaluated in some cell; by label, how many have no score in any.

        The labels are those of metrics that are means of users' scores.
        """
        n_users = n_distinct(self._users)
        lacking = {
            label: n_users - value.n_users
            for label, value in self._collected.items()
            if is_mean_of_users(value.metric) and label not in self.failed
        }
        return n_users, {label: number for label, number in lacking.items() if number}

    def result(self, name: RowName) -> RowResult:
        """Return the row as a record of a run has it."""
        n_users, n_undefined = self.counts
        scores = self.values
        return RowResult(
            **name.only(RowName), scores=scores, n_users=n_users, n_undefined=n_undefined
        )


def n_distinct(codes: Sequence[NDArray[np.int32]]) -> int:
    """Return how many different users some arrays of codes name."""
    return int(np.count_nonzero(np.bincount(np.concatenate(codes)))) if codes else 0


def mean_or_none(values: Sequence[float]) -> float | None:
    """Return the mean; None where there is none, or a value is NaN."""
    return or_none(math.fsum(values) / len(values)) if values else None


def or_none(value: float | None) -> float | None:
    """Return a number; None for NaN too."""
    return None if value is None or math.isnan(value) else float(value)


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation; None for fewer than two values, or where one is NaN."""
    mean = mean_or_none(values) if len(values) > 1 else None
    if mean is None:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def plain_rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows as plain data that JSON holds; what is not finite becomes None."""

    def plain(value: object) -> object:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    rows = frame.to_dict(orient="records")
    return [{str(key): plain(value) for key, value in row.items()} for row in rows]


def notes_on_undefined(rows: Iterable[tuple[int | None, Mapping[str, int]]]) -> Iterator[Note]:
    """Yield of how many users the means of each metric are, where some have no score.

    `rows` are the numbers of users who are evaluated, and by label of those without a score.
    """
    counts: dict[str, set[tuple[int, int]]] = {}
    for n_users, n_undefined in rows:
        for label, number in n_undefined.items():
            counts.setdefault(label, set()).add(((n_users or 0) - number, n_users or 0))
    for label, of_rows in counts.items():
        n_defined, n_all = min(of_rows)
        code = "users-undefined-in-rows" if len(of_rows) > 1 else "users-undefined"
        yield Note(code, {"metric": label, "n": n_defined, "n_all": n_all})


def notes_without_value(rows: Sequence[Mapping[str, float | None]]) -> Iterator[Note]:
    """Yield why a pooled metric has no value in any row; `rows` are values by label."""
    for label in rows[0] if rows else ():
        definition = metrics.parse(label).definition
        values = [row.get(label) for row in rows]
        if definition.value_needs and all(value is None or value != value for value in values):
            yield Note("without-value", {"metric": label, "reason": definition.value_needs})


def notes_on_failed_metrics(cells: Sequence[CellResult]) -> Iterator[Note]:
    """Yield which metrics failed, for which rows of a table, and the first reason."""
    tables = {cell.table for cell in cells}
    failed: dict[tuple[str, str], tuple[str, str, dict[str, None]]] = {}
    for cell in cells:
        for label, reason in cell.metric_errors.items():
            where = cell.place(tables)
            failed.setdefault((cell.table, label), (where, reason, {}))[2][cell.algorithm] = None
    for (table, label), (where, reason, algorithms) in failed.items():
        values = {"metric": label, "algorithms": [*algorithms], "reason": reason}
        yield Note("metric-failed", values, where, table)
