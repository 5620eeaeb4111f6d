"""Why every order of some lists scores the same by a metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.metrics import Metric, Rankings, number
from harness.notes import Note

OF_CONFIG = "`candidates: catalogue` or `sampled`"
"""Where a run finds lists of more items."""


def reason(
    metric: Metric,
    rankings: Rankings,
    cannot_distinguish: Callable[[Metric, Rankings], Note | None],
    candidates: str = OF_CONFIG,
) -> Note:
    """Return the reason for lists that a metric cannot distinguish, which is asked for k of 1.

    `candidates` are what to use for lists of more items.
    """
    longest, more = int(rankings.n_ranked.max(initial=0)), {"candidates": candidates}
    if longest <= 1:
        return Note("lists-of-one", more)
    if metric.name in ("idcg", "user_coverage"):
        return Note("lists-alone")
    judged_only = len(rankings.relevance) == int(rankings.n_ranked.sum())
    gain = metric.params.get("gain")
    binary = "threshold" in metric.params if gain is None else gain.word == "binary"
    if binary and judged_only:
        grades = rankings.pool
        if grades.min() >= metric.neutral:
            # The least grade above the mean, or the greatest.
            least = number(float(grades[grades > grades.mean()].min(initial=grades.max())))
            name, value = ("threshold", least) if gain is None else ("gain", f"binary({least})")
            suggested = metric.having(**{name: value})
            return Note("all-relevant", {"metric": str(suggested)})
        if grades.max() < metric.neutral:
            return Note("none-relevant")
    shorter = metric.k is not None and longest <= metric.k
    if shorter and not cannot_distinguish(replace(metric, k=1), rankings):
        return Note("lists-within-k", {"k": metric.k} | more)
    if judged_only:
        return Note("equally-relevant", more)
    return Note("orders-equal")
