"""Results from the scores of a run's cells: values of rows, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness import metrics
from harness._util.libraries import pd
from harness.metrics import Metric, Scores
from harness.metrics.scoring import score_apart
from harness.notes.note import Note
from harness.results.cells import CellResult, RowName
from harness.results.statistics import RowResult
from harness.results.store import CellRecord

Codes: TypeAlias = NDArray[np.int32]
"""Codes of users, in their data set."""


def is_mean_of_users(metric: Metric) -> bool:
    """Return whether the value of a metric is a mean of users' scores, for example ``ndcg@10``.

    The others, such as ``rmse``, are computed from all pairs or all lists of a cell at once.
    """
    return metric.definition.per_user and not metric.pooled


@dataclass(eq=False)
class RowScores:
    """Collects metrics over the cells of a row, by label.

    The value of a metric that is a mean of users' scores is the mean over users of each user's
    average over the folds and seeds in which the user has a score: the quantity that intervals
    and tests are about. The value of any other metric is the mean over cells.
    """

    metrics: Sequence[Metric]
    failed: dict[str, str] = field(default_factory=dict)
    """By label why a metric failed in a cell: values of the others would be of some folds."""
    _cells: list[tuple[Codes, Mapping[str, Scores]]] = field(default_factory=list)

    def add(
        self, users: Codes, scores: Mapping[str, Scores], failed: Mapping[str, str] | None = None
    ) -> None:
        """Add the scores of a cell by label, and the codes of its users in their data set.

        `failed` says by label why metrics raised an error; their scores do not count.
        """
        self._cells.append((users, scores))
        self.failed = {**(failed or {}), **self.failed}

    def rescore(self, record: CellRecord) -> None:
        """Score a computed cell, and add its scores; a metric that fails leaves the others."""
        self.add(record.users, *score_apart(self.metrics, record.rankings, record.pairs))

    def means(self, label: str) -> list[float]:
        """Return the mean of a metric in each cell."""
        return [float(scores[label].mean) for _, scores in self._cells]

    def value(self, metric: Metric) -> float | None:
        """Return the value of a metric; None where it failed, or no cell or user has a score."""
        label = str(metric)
        if label in self.failed or not self._cells:
            return None
        if not is_mean_of_users(metric):
            return mean_or_none(self.means(label))
        scores = np.concatenate([scores[label].per_user for _, scores in self._cells])
        known = ~np.isnan(scores)
        users = np.concatenate([users for users, _ in self._cells])[known]
        counts = np.bincount(users)
        averages = np.bincount(users, scores[known])[counts > 0] / counts[counts > 0]
        return float(averages.mean()) if len(averages) else None

    @property
    def values(self) -> dict[str, float | None]:
        """The value of each metric by label; None for one that failed in a cell."""
        return {str(metric): self.value(metric) for metric in self.metrics}

    @property
    def counts(self) -> tuple[int, dict[str, int]]:
        """How many users are evaluated in some cell; by label, how many have no score in any.

        The labels are labels of metrics that are means of users' scores.
        """
        n_users, lacking = _n_distinct([users for users, _ in self._cells]), dict[str, int]()
        for label in [str(metric) for metric in self.metrics if is_mean_of_users(metric)]:
            if label not in self.failed:
                known = [users[~np.isnan(of[label].per_user)] for users, of in self._cells]
                lacking[label] = n_users - _n_distinct(known)
        return n_users, {label: number for label, number in lacking.items() if number}

    def result(self, name: RowName) -> RowResult:
        """Return the row as a record of a run has it."""
        n_users, n_undefined = self.counts
        return RowResult(
            **name.only(RowName), scores=self.values, n_users=n_users, n_undefined=n_undefined
        )


def _n_distinct(codes: Sequence[Codes]) -> int:
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
    if len(values) < 2 or (mean := mean_or_none(values)) is None:
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
        needs = metrics.parse(label).definition.value_needs
        if needs and all(or_none(row.get(label)) is None for row in rows):
            yield Note("without-value", {"metric": label, "reason": needs})


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
