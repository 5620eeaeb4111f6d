"""Tables of predictions, lists, truth and training pairs, as any program wrote them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness._util.libraries import pd
from harness.datasets.cleaning import refuse_faults
from harness.datasets.exchanged import form_of, read_table
from harness.datasets.places import find_file
from harness.datasets.readers.trec import RUN
from harness.errors import MetricError
from harness.extras.audit.search import PAIR, AuditSearch, Tables
from harness.extras.audit.searches import bad_estimates, duplicates

Roles = tuple[str, ...]


def read(path: Path, required: Roles, optional: Roles, form: str = RUN) -> pd.DataFrame:
    """Read a table; rows that lack more than an estimate are refused.

    ``key`` orders lists, ``at`` is the place of the row.
    """
    table = read_table(path, required, optional, form=form, refuse=False)
    sound = [np.isfinite(values) for role, values in table.numbers.items() if role != "estimate"]
    sound += [column.codes >= 0 for column in table.ids.values()]
    sound += [np.array([flaw.policy != "" or not len(flaw.rows)]) for flaw in table.flaws]
    if not all(mask.all() for mask in sound):
        refuse_faults(table)
    ids = {role: column.ids[column.codes] for role, column in table.ids.items()}
    rows = pd.DataFrame(ids | table.numbers | table.times)
    if {"rank", "estimate"} & {*rows}:
        rows["key"] = -rows["rank"] if "rank" in rows else rows["estimate"]
    broken = rows.duplicated(PAIR) if "item" in rows else np.zeros(len(rows), bool)
    broken = broken | ~np.isfinite(rows.get("key", 0))
    rows["at"] = [table.at(row) if wrong else "" for row, wrong in enumerate(broken)]
    trec = form_of(find_file(path, None), form).is_trec
    return rows.sort_values("item", ascending=False, kind="stable") if trec else rows


def usable(search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame | None) -> Tables:
    """Return the tables without estimates that are not numbers, and the first row of each pair."""
    finite = np.isfinite(rows["key"].to_numpy())
    wrong, rows = rows[~finite], rows[finite]
    if not len(rows):
        raise MetricError(f"{wrong['at'].iloc[0]}: no estimate is a finite number; give some")
    if "item" in rows:
        rows, truth = duplicates.of_file(search, rows, truth)
    else:
        of_items = "duplicates inner-ids test-in-training training-items"
        search.skip("the file has no items", of_items)
    bad_estimates.infinite(search, rows, truth, wrong, ~finite)
    return rows, truth
