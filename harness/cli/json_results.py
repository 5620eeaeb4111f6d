"""What the commands of runs answer with ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.results.runs import Run


def run_result(run: Run) -> dict[str, Any]:
    """Return a run: its table with unrounded values, verdicts, notes and failed cells."""
    from harness.results.verdict import verdicts

    return {
        "name": run.name,
        "folder": None if run.folder is None else str(run.folder),
        "headline": run.info.primary,
        "metrics": list(run.info.metrics),
        "verdicts": [verdict.to_dict() for verdict in verdicts(run.info)],
        "rows": run.table,
        "notes": [note.to_dict() for note in run.info.notes],
        "failed": [{"algorithm": cell.algorithm, "error": cell.error} for cell in run.info.failed],
    }
