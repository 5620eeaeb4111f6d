"""Notes on scores without a value, and on metrics that failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness import metrics
from harness.notes import Note
from harness.results.cells import CellResult


def notes_on_undefined(rows: Iterable[tuple[int | None, Mapping[str, int]]]) -> Iterator[Note]:
    """Yield of how many users the means of each metric are, where some have no score.

    `rows` are the numbers of users who are evaluated, and by label of those without a score.
    """
    counts: dict[str, set[tuple[int, int]]] = {}
    for n_users, n_undefined in rows:
        for label, number in n_undefined.items():
            counts.setdefault(label, set()).add(((n_users or 0) - number, n_users or 0))
    for label, of_rows in counts.items():
        n_defined, n_all = min(of_rows)
        code = "users-undefined-in-rows" if len(of_rows) > 1 else "users-undefined"
        yield Note(code, {"metric": label, "n": n_defined, "n_all": n_all})


def notes_without_value(rows: Sequence[Mapping[str, float | None]]) -> Iterator[Note]:
    """Yield why a pooled metric has no value in any row; `rows` are values by label."""
    for label in rows[0] if rows else ():
        definition = metrics.parse(label).definition
        values = [row.get(label) for row in rows]
        if definition.value_needs and all(value is None or value != value for value in values):
            yield Note("without-value", {"metric": label, "reason": definition.value_needs})


def notes_on_failed_metrics(cells: Sequence[CellResult]) -> Iterator[Note]:
    """Yield which metrics failed, for which rows of a table, and the first reason."""
    tables = {cell.table for cell in cells}
    failed: dict[tuple[str, str], tuple[str, str, dict[str, None]]] = {}
    for cell in cells:
        for label, reason in cell.metric_errors.items():
            where = cell.place(tables)
            failed.setdefault((cell.table, label), (where, reason, {}))[2][cell.algorithm] = None
    for (table, label), (where, reason, algorithms) in failed.items():
        values = {"metric": label, "algorithms": [*algorithms], "reason": reason}
        yield Note("metric-failed", values, where, table)
