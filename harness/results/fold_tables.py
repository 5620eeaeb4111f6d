"""The values of each fold and seed, of which the results table shows the mean."""

from __future__ import annotations

from harness.lazy import pd
from harness.results.cells import CellResult
from harness.results.display import GROUP, TextTable, rounded
from harness.results.record import RunInfo

PLACES = 4
"""Decimals where people read the values."""


def fold_frame(info: RunInfo) -> pd.DataFrame:
    """Return a row for each cell: names, ``seed``, ``fold`` from 1, metrics, ``error``.

    Values are those of the cell alone; NaN where a metric is undefined or the cell failed.
    """
    rows = []
    for cell in info.cells:
        row: dict[str, object] = {key: cell[key] for key in ("algorithm", *GROUP)}
        row |= {"seed": cell.seed, "fold": cell.fold + 1}
        scores = cell.scores if isinstance(cell, CellResult) else {}
        for label in info.metrics:
            mean = scores[label].mean if label in scores else None
            row[label] = float("nan") if mean is None else mean
        row["error"] = cell.error or ""
        rows.append(row)
    return pd.DataFrame(rows)


def fold_tables(info: RunInfo) -> list[TextTable]:
    """Return a table of the cells for each results table of a run, rows in its order."""
    tables = []
    for number, (table, names) in enumerate(info.tables.items(), 1):
        rows = []
        for entry in (row for row in info.rows if row.table == table):
            for cell in info.cells_of_rows[entry.row]:
                scores = cell.scores if isinstance(cell, CellResult) else {}
                values = [
                    rounded(scores[label].mean if label in scores else None, PLACES)
                    for label in info.metrics
                ]
                rows.append([entry.algorithm, str(cell.seed), str(cell.fold + 1), *values])
        where = f", {', '.join(names)}" if len(info.tables) > 1 else ""
        title = f"values of each fold and seed{where}"
        columns = ["algorithm", "seed", "fold", *info.metrics]
        tables.append(TextTable(title, "", number, columns, rows))
    return tables
