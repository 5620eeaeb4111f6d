"""All users in one list."""

from __future__ import annotations

from harness._util.libraries import pd
from harness.extras.audit.search import AuditSearch


def of_predictions(search: AuditSearch, rows: pd.DataFrame) -> None:
    """Compare the mean over users with a single list of all pairs."""
    sides = {"one list": rows.assign(user="all"), "mean over users": rows}
    both = {name: search.scores(side)[search.label] for name, side in sides.items()}
    search.depends("one-list.pairs", search.label, both, n=len(rows))
