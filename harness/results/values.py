"""Values of metrics in a table: means over cells and users, and how many decimals they get."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

import numpy as np
from numpy.typing import NDArray

from harness.metrics import Metric, Scores
from harness.results.record import RunInfo

__all__ = [
    "DEFAULT_DECIMALS",
    "RowValue",
    "column_decimals",
    "decimals",
    "deviation",
    "is_mean_of_users",
    "mean_or_none",
    "or_nan",
    "rounded",
]

DEFAULT_DECIMALS = 4
"""If the uncertainty of a number is unknown."""
MOST_DECIMALS = 7
ERRORS_IN_INTERVAL = 2 * 1.96
"""Standard errors between the ends of a 95% interval."""


def is_mean_of_users(metric: Metric) -> bool:
    """Return whether the value of a metric is a mean of users' scores, as that of ``ndcg@10``.

    The others, as ``rmse``, are computed from all pairs or all lists of a cell at once.
    """
    return metric.per_user and not metric.pooled


class RowValue:
    """Collects one metric over the cells of a row.

    The value of a metric that is a mean of users' scores is the mean over users of each user's
    average over the folds and seeds in which the user has a score: the quantity that intervals
    and tests are about. That of any other metric is the mean over cells.

    Examples
    --------
    >>> from harness import metrics
    >>> value = RowValue(metrics.parse("ndcg@10"))
    >>> value.add(np.array([0, 1]), Scores(np.array([1.0, 0.0]), 0.5, 0))
    >>> value.add(np.array([1]), Scores(np.array([0.5]), 0.5, 0))
    >>> value.value, value.deviation
    (0.625, 0.0)
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._means: list[float] = []
        self._users: list[NDArray[np.int32]] = []
        self._scores: list[NDArray[np.float64]] = []

    def add(self, users: NDArray[np.int32], scores: Scores) -> None:
        """Add the scores of a cell, and the codes of its users in their data set."""
        self._means.append(float(scores.mean))
        if is_mean_of_users(self.metric):
            self._users.append(users)
            self._scores.append(scores.per_user)

    @property
    def value(self) -> float | None:
        """The value; None where no cell, or no user, has a score."""
        if not is_mean_of_users(self.metric):
            return mean_or_none(self._means)
        scores = np.concatenate(self._scores) if self._scores else np.empty(0)
        known = ~np.isnan(scores)
        if not known.any():
            return None
        users = np.concatenate(self._users)[known]
        counts = np.bincount(users)
        averages = np.bincount(users, scores[known])[counts > 0] / counts[counts > 0]
        return float(averages.mean())

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the cells' means; None for a single cell."""
        return deviation(self._means)


def mean_or_none(values: list[float]) -> float | None:
    """Return the mean; None where there is none, or a value is NaN."""
    mean = math.fsum(values) / len(values) if values else math.nan
    return None if math.isnan(mean) else mean


def deviation(values: list[float]) -> float | None:
    """Return the standard deviation; None for fewer than two values, or where one is NaN.

    Examples
    --------
    >>> deviation([1.0, 3.0]), deviation([1.0])
    (1.4142135623730951, None)
    """
    mean = mean_or_none(values)
    if mean is None or len(values) < 2:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def or_nan(value: float | None) -> float:
    """Return a number, NaN where there is none."""
    return math.nan if value is None else value


def decimals(errors: Iterable[float]) -> int:
    """Return the decimals that show the median standard error with two digits, from 0 to 7.

    Errors of 0 and NaN are ignored. Without any, the default is 4 decimals.

    Examples
    --------
    >>> decimals([0.0043, 0.02]), decimals([0.3]), decimals([12.0]), decimals([])
    (3, 2, 0, 4)
    """
    known = [each for each in errors if math.isfinite(each) and each > 0]
    if not known:
        return DEFAULT_DECIMALS
    # The error as it is written with two digits decides: 0.0996 becomes 0.10, not 0.100.
    exponent = int(f"{median(known):.1e}".partition("e")[2])
    return min(max(1 - exponent, 0), MOST_DECIMALS)


def column_decimals(info: RunInfo) -> dict[tuple[str, str], int]:
    """Return the decimals of metrics by table and label, from the intervals over users.

    A metric without intervals is missing; it gets `DEFAULT_DECIMALS`.
    """
    return {
        (entry.table, entry.metric): decimals(
            (row.high - row.low) / ERRORS_IN_INTERVAL
            for row in entry.algorithms
            if row.low is not None and row.high is not None
        )
        for entry in info.statistics
    }


def rounded(value: float | None, places: int) -> str:
    """Return a number as text, nothing where there is none.

    Examples
    --------
    >>> rounded(0.91249, 3), rounded(-0.0001, 2), rounded(None, 2)
    ('0.912', '0.00', '')
    """
    if value is None or math.isnan(value):
        return ""
    text = f"{value:.{places}f}"
    return text if text.strip("-0.") else text.removeprefix("-")
