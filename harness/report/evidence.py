"""Statistics of one metric in one table: intervals, letters, differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness import statistics
from harness.results.record import RunInfo

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Difference", "Evidence", "Standing", "gather", "user_scores"]


@dataclass(frozen=True)
class Standing:
    """One algorithm's mean over users.

    Parameters
    ----------
    algorithm : str
    mean, low, high : float
        With the bounds of its interval.
    letters : str
        Two algorithms share one if they are not significantly different, and only then.
    n_users : int
    """

    algorithm: str
    mean: float
    low: float
    high: float
    letters: str
    n_users: int


@dataclass(frozen=True)
class Difference:
    """One algorithm less another.

    Parameters
    ----------
    algorithm : str
        The one.
    difference, low, high : float
        Mean over users, with the bounds of its interval.
    p_adjusted : float
        Corrected for all differences to the same baseline.
    p_is_bound : bool
        Whether the p-value is an upper bound: no resample was as extreme.
    significant : bool
    """

    algorithm: str
    difference: float
    low: float
    high: float
    p_adjusted: float
    p_is_bound: bool
    significant: bool


@dataclass(frozen=True)
class Evidence:
    """The statistics of one metric in one table.

    Parameters
    ----------
    metric : str
    method : str
        How, as a sentence.
    standings : tuple of Standing
        In the order of the table.
    pairs : tuple of dict
        Every two algorithms, as `statistics.Comparison.pairs` has them.
    correction : str
    level : float
        The level that an adjusted p-value is compared with.
    """

    metric: str
    method: str
    standings: tuple[Standing, ...]
    pairs: tuple[dict[str, Any], ...]
    correction: statistics.Correction
    level: float

    def standing(self, algorithm: str) -> Standing | None:
        """Return the values of one algorithm."""
        return next((each for each in self.standings if each.algorithm == algorithm), None)

    def against(self, baseline: str) -> list[Difference]:
        """Return every other algorithm less the baseline, p-values corrected among these."""
        rows = [row for pair in self.pairs if (row := _turned(pair, baseline))]
        adjusted = statistics.adjust([row["p"] for row in rows], self.correction)
        return [
            Difference(
                row["first"],
                row["difference"],
                row["low"],
                row["high"],
                float(p),
                row.get("p_is_bound", False),
                bool(p <= self.level + 1e-12),
            )
            for row, p in zip(rows, adjusted, strict=True)
        ]

    def between(self, one: str, other: str) -> dict[str, Any] | None:
        """Return `one` less `other`, corrected among all pairs; None where not compared."""
        turned = (_turned(pair, other) for pair in self.pairs)
        return next((row for row in turned if row and row["first"] == one), None)


def gather(info: RunInfo) -> dict[tuple[str, str], Evidence]:
    """Return the statistics of a run, by table and metric.

    Parameters
    ----------
    info : RunInfo
    """
    settings = info.config["statistics"] or {}
    return {
        (entry.table, entry.metric): Evidence(
            entry.metric,
            entry.method,
            tuple(
                Standing(
                    row.algorithm,
                    _number(row.mean),
                    _number(row.low),
                    _number(row.high),
                    row.letters,
                    row.n_users,
                )
                for row in entry.algorithms
            ),
            tuple(
                pair.model_dump() | {key: _number(pair[key]) for key in ("low", "high")}
                for pair in entry.pairs
            ),
            settings.get("correction", "holm"),
            1 - settings.get("confidence", 0.95),
        )
        for entry in info.statistics
    }


def user_scores(users: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return a row for each user and a column for each algorithm, a user's folds averaged.

    Parameters
    ----------
    users : DataFrame
        The rows of one place of `Run.users`.
    label : str
    """
    scores = users.pivot_table(
        index="user", columns="algorithm", values=label, aggfunc="mean", sort=False, observed=True
    )
    return scores.dropna(axis="columns", how="all")


def _turned(pair: dict[str, Any], second: str) -> dict[str, Any] | None:
    """Return a pair with `second` as the subtrahend; None if it is not in the pair."""
    if pair["second"] == second:
        return pair
    if pair["first"] != second:
        return None
    return pair | {
        "first": pair["second"],
        "second": second,
        "difference": -pair["difference"],
        "low": -pair["high"],
        "high": -pair["low"],
    }


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
