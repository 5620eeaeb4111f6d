"""An ideal DCG of k relevant items for every user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness import metrics
from harness.extras.audit.search import AuditSearch, per_list, share
from harness.metrics import Metric, Rankings
from harness.results.statistics import ConventionScores


def of_lists(search: AuditSearch, lists: Rankings) -> None:
    """Compare binary nDCG by the ideal of k items and by the ideal of the user's own items."""
    metric, k = search.metric, search.k

    def value(other: Metric) -> float:
        return metrics.score([other], lists)[other].mean

    is_binary = metric.name == "ndcg" and metric.params["gain"].word == "binary"
    binary = (metric if is_binary else metrics.parse(f"ndcg(gain=binary)@{k}")).having(ideal=None)
    ideals = {f"ideal of {k}": value(binary.having(ideal="full")), "own ideal": value(binary)}
    few = share(per_list(lists.pool_offsets, lists.pool > 0) < k)
    search.depends("ideal.lists", str(binary), ideals, few=few)


def of_table(
    search: AuditSearch, shown: ConventionScores, row: object, where: Mapping[str, Any]
) -> None:
    """Compare both by the definitions of libraries that a run keeps, for one row."""
    scores = {convention.label: convention.scores.get(str(row)) for convention in shown.rows}
    for full in (metrics.parse(label) for label in scores):
        if (ideal := full.params.get("ideal")) is None or ideal.word != "full":
            continue
        judged = str(full.having(ideal=None))
        ideals = {f"ideal of {shown.k}": scores[str(full)], "own ideal": scores.get(judged)}
        search.depends("ideal.run", judged, ideals, **where)
