"""Scores that depend on the order of equal estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness import metrics
from harness.errors import MetricError
from harness.extras.audit.search import SHOWN, AuditSearch, share
from harness.metrics import Rankings
from harness.rankings import evaluation
from harness.results.statistics import TieScores


def of_lists(search: AuditSearch, lists: Rankings) -> None:
    """Compare the rules for ties."""
    rules: dict[str, float | None] = {}
    for rule in ("first", "average", "worst", "best"):
        try:
            metric = search.metric.having(ties=rule)
        except MetricError as error:
            search.skip(str(error), "ties")
        else:
            rules[rule] = metrics.score([metric], lists)[metric].mean
    tied = round(evaluation.tied_shares([search.metric], lists)[search.label] * lists.n_users)
    search.depends("ties.lists", search.label, rules, tied=share(tied, lists.n_users))


def of_table(
    search: AuditSearch, entry: TieScores, where: Mapping[str, Any], *, several: bool
) -> None:
    """Report the rows that the order of ties moves; `several` if a row has several cells."""
    gaps = [(row.scores.get("best") or 0) - (row.scores.get("worst") or 0) for row in entry.rows]
    moved = [row for row, gap in zip(entry.rows, gaps, strict=True) if gap >= SHOWN]
    if not moved:
        return
    worst = entry.rows[int(np.argmax(gaps))]
    values = {
        "moved": share(len(moved), len(gaps)),
        "worst": worst.algorithm,
        "rows": [f"{row.algorithm} ({row.tied or 0:.0%})" for row in moved],
        "mean": ", the mean of the folds and seeds" if several else "",
    }
    search.found("ties.run", {entry.metric: dict(worst.scores)}, **values, **where)
