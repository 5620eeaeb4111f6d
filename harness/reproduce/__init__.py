"""Numbers that others published, computed again and set beside theirs."""

from __future__ import annotations

from harness.reproduce.findings import Band, Finding, NotRun, reproduce
from harness.reproduce.published import Quantity, published, sources

__all__ = ["Band", "Finding", "NotRun", "Quantity", "published", "reproduce", "sources"]
