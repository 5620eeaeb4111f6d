"""Reports for people: page, tables and plots, made from results alone.

>>> from harness import report
>>> report.latex
<function latex at ...>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["build_page", "join", "latex", "plots", "style", "write_index", "write_page"]

if TYPE_CHECKING:
    from harness.report import plots
    from harness.report.index import write_index
    from harness.report.page import build_page, write_page
    from harness.report.tables import latex, style
    from harness.results.compare import join

_HOMES = {
    "build_page": "harness.report.page",
    "join": "harness.results.compare",
    "latex": "harness.report.tables",
    "style": "harness.report.tables",
    "write_index": "harness.report.index",
    "write_page": "harness.report.page",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "plots":
        return import_module("harness.report.plots")
    raise AttributeError(f"module 'harness.report' has no attribute {name!r}")
