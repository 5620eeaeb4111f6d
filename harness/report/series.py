"""The numbers behind each plot, as data frames: what is drawn is what can be downloaded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.report.evidence import user_scores
from harness.results.table import TIMES

if TYPE_CHECKING:
    import pandas as pd

    from harness.report.digest import Digest, Place

__all__ = ["over_cells", "over_k", "over_time", "over_users", "rows_of", "to_baseline"]

SHORTEST = 1e-3
"""Seconds; what is faster stands here on a logarithmic axis."""


def rows_of(data: pd.DataFrame) -> Iterable[Any]:
    """Return the rows as named tuples, ``Index`` first."""
    return data.itertuples()


def over_time(place: Place, label: str) -> pd.DataFrame:
    """Return ``algorithm``, ``seconds``, ``value``, ``low``, ``high`` and ``front``.

    ``seconds`` are those of fitting and scoring; ``front`` marks the algorithms that no other is
    both faster and better than.
    """
    import pandas as pd

    rows = place.rows[place.rows["algorithm"].isin(place.ranked(label))]
    sign = 1 if metrics.parse(label).higher_is_better else -1
    seconds = (rows[TIMES[0]] + rows[TIMES[1]]).clip(lower=SHORTEST)
    found = pd.DataFrame({"algorithm": rows["algorithm"], "seconds": seconds, "value": rows[label]})
    bounds = [_bounds(place, label, name) for name in found["algorithm"]]
    found["low"], found["high"] = [low for low, _ in bounds], [high for _, high in bounds]
    order = found.assign(quality=sign * found["value"])
    order = order.sort_values(["seconds", "quality"], ascending=[True, False], kind="stable")
    best_before = order["quality"].cummax().shift(fill_value=-math.inf)
    found["front"] = order["quality"] > best_before
    return found.reset_index(drop=True)


def over_k(told: Digest, place: Place, label: str) -> pd.DataFrame:
    """Return ``algorithm``, ``k``, ``value``, ``low``, ``high`` for every rank of a metric."""
    import pandas as pd

    family = family_of(told.labels, label)
    rows = []
    for name in place.ranked(label):
        values = place.rows[place.rows["algorithm"] == name].iloc[0]
        for k, each in family:
            low, high = _bounds(place, each, name)
            rows.append((name, k, float(values[each]), low, high))
    return pd.DataFrame(rows, columns=["algorithm", "k", "value", "low", "high"])


def over_users(told: Digest, place: Place, label: str) -> pd.DataFrame:
    """Return ``algorithm``, ``n_users``, ``mean`` and quantiles of the users' scores, best first.

    A user's scores in several folds and seeds are averaged first.
    """
    import pandas as pd

    columns = ["algorithm", "n_users", "mean", "q05", "q25", "median", "q75", "q95"]
    if label not in place.users or not place.users[label].notna().any():
        return pd.DataFrame(columns=columns)
    scores = user_scores(place.users, label)
    names = [name for name in place.ranked(label) if name in scores]
    shares = scores[names].quantile([0.05, 0.25, 0.5, 0.75, 0.95]).T.to_numpy()
    found = pd.DataFrame(shares, columns=columns[3:])
    found.insert(0, "mean", scores[names].mean().to_numpy())
    found.insert(0, "n_users", scores[names].count().to_numpy())
    found.insert(0, "algorithm", names)
    return found


def to_baseline(told: Digest, place: Place, label: str) -> pd.DataFrame:
    """Return each algorithm less the baseline, best first; empty where users were not compared.

    With ``algorithm``, ``difference``, ``low``, ``high``, ``p_adjusted``, ``p_is_bound`` and
    ``significant``.
    """
    import pandas as pd

    evidence = place.evidence.get(label)
    rows = [] if evidence is None else evidence.against(told.baseline)
    sign = 1 if metrics.parse(label).higher_is_better else -1
    rows.sort(key=lambda row: -sign * row.difference)
    columns = ["algorithm", "difference", "low", "high", "p_adjusted", "p_is_bound", "significant"]
    return pd.DataFrame(
        [[getattr(row, column) for column in columns] for row in rows], columns=columns
    )


def over_cells(place: Place, label: str) -> pd.DataFrame:
    """Return ``algorithm``, ``seed``, ``fold`` and ``value`` of every finished cell."""
    import pandas as pd

    names = place.ranked(label)
    rows = [
        (cell["algorithm"], cell["seed"], cell["fold"], cell["scores"][label]["mean"])
        for cell in place.cells
        if cell["algorithm"] in names
    ]
    found = pd.DataFrame(rows, columns=["algorithm", "seed", "fold", "value"])
    return found.dropna(subset=["value"]).reset_index(drop=True)


def family_of(labels: list[str], label: str) -> list[tuple[int, str]]:
    """Return the ranks at which a metric is there, each with its label, ascending.

    Examples
    --------
    >>> family_of(["ndcg@10", "rmse", "ndcg@5"], "ndcg@10")
    [(5, 'ndcg@5'), (10, 'ndcg@10')]
    """
    wanted = metrics.parse(label)
    parsed: list[Any] = [metrics.parse(each) for each in labels]
    return sorted(
        (metric.k, each)
        for metric, each in zip(parsed, labels, strict=True)
        if metric.k is not None and (metric.name, metric.chosen) == (wanted.name, wanted.chosen)
    )


def _bounds(place: Place, label: str, algorithm: str) -> tuple[float, float]:
    evidence = place.evidence.get(label)
    standing = evidence.standing(algorithm) if evidence else None
    return (math.nan, math.nan) if standing is None else (standing.low, standing.high)
