"""Intervals, tests and letters for the rows of a table, from the scores of the users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import metrics, seeds, statistics
from harness.config.experiment import Inference
from harness.results.record import CellResult, FailedCell, MetricComparison, TableName
from harness.results.values import is_mean_of_users

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["infer"]


def infer(
    users: pd.DataFrame,
    labels: Sequence[str],
    cells: Sequence[CellResult | FailedCell],
    settings: Inference,
    seed: int,
) -> tuple[list[MetricComparison], list[str]]:
    """Compare the algorithms of each table by every metric that is a mean over users.

    Parameters
    ----------
    users : DataFrame
        As a run has it: a row for each cell and user, a column for each label.
    labels : sequence of str
        Metrics; one whose table value is not a mean of users' scores (``rmse``) is skipped.
    cells : sequence of CellResult or FailedCell
        The cells of the run: they give tables and rows their order and names. A row with a
        failed cell is not compared: its users are not those of the others.
    settings : Inference
    seed : int
        The run's seed.

    Returns
    -------
    statistics : list of MetricComparison
        For each table and metric; nothing where fewer than two algorithms can be compared.
    notes : list of str
        What could not be compared, and why.
    """
    tables: dict[str, TableName] = {}
    rows: dict[str, dict[str, str]] = {}
    failures: dict[str, list[bool]] = {}
    for cell in cells:
        tables.setdefault(cell.table, cell)
        rows.setdefault(cell.table, {})[cell.row] = cell.algorithm
        failures.setdefault(cell.row, []).append(bool(cell.error))
    of_table = dict(iter(users.groupby("table", sort=False)))
    found, notes = [], []
    for table, names in rows.items():
        where = f"{', '.join(tables[table].names)}: " if len(rows) > 1 else ""
        whole = {row: name for row, name in names.items() if not any(failures[row])}
        notes += [
            f"{where}{names[row]}: {failures[row].count(False)} of {len(failures[row])} cells "
            "finished; its values are of those alone, and it is not compared with the others"
            for row in names
            if row not in whole and not all(failures[row])
        ]
        for label in labels:
            metric = metrics.parse(label)
            if not is_mean_of_users(metric) or table not in of_table or len(whole) < 2:
                continue
            # A user in several folds and seeds is one observation.
            scores = of_table[table].pivot_table(
                index="user", columns="row", values=label, aggfunc="mean", sort=False
            )
            scores = scores.reindex(columns=list(whole)).sort_index()
            chosen = _comparable(scores.notna().to_numpy())
            left_out = [name for i, name in enumerate(whole.values()) if i not in chosen]
            if len(chosen) < 2:
                notes.append(
                    f"{where}{label}: no two algorithms have scores of the same users; "
                    "none are compared"
                )
                continue
            if left_out:
                notes.append(
                    f"{where}{label}: {', '.join(left_out)} not compared: without users in common "
                    "with every other algorithm"
                )
            kept = [list(whole)[i] for i in chosen]
            titles = [whole[row] for row in kept]
            compared = statistics.compare(
                scores[kept].to_numpy(),
                titles,
                baseline=settings.baseline if settings.baseline in titles else None,
                test=settings.test,
                correction=settings.correction,
                interval=settings.interval,
                n_resamples=settings.resamples,
                confidence=settings.confidence,
                seed=seeds.derive(seed, "statistics", table, label),
                higher_is_better=metric.higher_is_better,
            )
            means = zip(kept, _records(compared.algorithms), strict=True)
            against = None if compared.baseline is None else _records(compared.baseline)
            found.append(
                MetricComparison.model_validate(
                    tables[table].of_table
                    | {
                        "metric": label,
                        "method": compared.describe(),
                        "note": compared.note,
                        "algorithms": [{"row": row} | each for row, each in means],
                        "pairs": _records(compared.pairs),
                        "baseline": against,
                    }
                )
            )
    return found, list(dict.fromkeys(notes))


def _comparable(scored: np.ndarray[Any, np.dtype[np.bool_]]) -> list[int]:
    """Return columns of which every two have a user in common, those with most users first.

    Examples
    --------
    >>> _comparable(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]], bool))
    [0, 1]
    """
    together = scored.T.astype(np.int64) @ scored.astype(np.int64) > 0
    chosen: list[int] = []
    for column in np.argsort(-scored.sum(axis=0), kind="stable").tolist():
        if together[column, column] and all(together[column, other] for other in chosen):
            chosen.append(column)
    return sorted(chosen)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as plain data that JSON holds; what is not a number becomes None."""
    return [
        {
            str(key): (None if isinstance(value, float) and not np.isfinite(value) else value)
            for key, value in row.items()
        }
        for row in frame.to_dict(orient="records")
    ]
