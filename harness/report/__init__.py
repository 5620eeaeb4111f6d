"""Reports for people: page, tables and plots, made only from results.

>>> from harness import report
>>> report.latex
<function latex at ...>
"""

from __future__ import annotations

from harness.comparison.runs import join
from harness.report import plots
from harness.report.page import build_page, write_index, write_page
from harness.report.papers import evidence, latex, style
from harness.report.rank_tables import critical_difference

__all__ = [
    "build_page",
    "critical_difference",
    "evidence",
    "join",
    "latex",
    "plots",
    "style",
    "write_index",
    "write_page",
]
