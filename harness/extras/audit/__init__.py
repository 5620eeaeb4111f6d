"""Errors that published tables contain, searched in a run or in what any program wrote.

Page: docs/how-to/audit.md
"""

from __future__ import annotations

from harness.extras.audit.findings import Audit, Finding, checks
from harness.extras.audit.flow import audit

__all__ = ["Audit", "Finding", "audit", "checks"]
