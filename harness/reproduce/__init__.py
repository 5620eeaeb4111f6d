"""Published numbers, computed again and compared."""

from __future__ import annotations

from harness.reproduce.findings import Band, Finding, NotRun, reproduce, trained_runs
from harness.reproduce.published import Quantity, published, sources

__all__ = [
    "Band",
    "Finding",
    "NotRun",
    "Quantity",
    "published",
    "reproduce",
    "sources",
    "trained_runs",
]
