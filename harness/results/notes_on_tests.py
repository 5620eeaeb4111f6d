"""Notes on what tests are about, and why some cannot decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized

from harness.notes import Note
from harness.results.names import grouped
from harness.results.statistics import MetricComparison

OF_TESTS = ("claim", "test-limited", "different-users")
"""Codes of `notes_on_tests`."""


def notes_on_tests(compared: Sequence[MetricComparison], tables: Sized) -> Iterator[Note]:
    """Yield what tests are about, and why some cannot decide; `tables` are those of the run."""
    for claim in dict.fromkeys(comparison.about for comparison in compared):
        yield Note("claim", {"claim": claim})
    for comparison in compared:
        counts = [pair.n_users for pair in comparison.pairs if comparison.has_other_users(pair)]
        if counts:
            low, high = min(counts), max(counts)
            shared = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            values = {"metric": comparison.metric, "low": low, "high": high, "shared": shared}
            yield Note("different-users", values, comparison.place(tables), comparison.table)
    limited = grouped(
        ((comparison.place(tables), comparison.table, comparison.note), comparison.metric)
        for comparison in compared
    )
    for (where, table, reason), labels in limited.items():
        if reason:
            yield Note("test-limited", {"metrics": labels, "reason": reason}, where, table)
