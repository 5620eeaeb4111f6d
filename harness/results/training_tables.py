"""The values of the training part beside those of the test part."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from harness.errors import ResultsError
from harness.lazy import pd
from harness.results.cells import CellResult
from harness.results.display import GROUP, TextTable, rounded
from harness.results.record import RunInfo

PLACES = 4
"""Decimals where people read the values."""
SUFFIX = " (training)"


def training_frame(info: RunInfo) -> pd.DataFrame:
    """Return a row for each row of the results table: names, and each metric on both parts.

    Values are means over folds and seeds, as `surprise.model_selection.cross_validate` has them for
    each; the column of the training part is the label with `` (training)``. NaN where a value is
    missing in a cell.

    Raises
    ------
    ResultsError
        If the run has no values of the training part.
    """
    if not any(cell.training for cell in info.finished):
        raise ResultsError(
            f"{info.name}: no values of the training part; add `outputs: {{training: true}}` to "
            "its config and run it again"
        )
    rows = []
    for entry in info.rows:
        cells = [cell for cell in info.cells_of_rows[entry.row] if isinstance(cell, CellResult)]
        row: dict[str, object] = {"algorithm": entry.algorithm}
        row |= {key: entry[key] for key in GROUP} | {"table": entry.table}
        for label in info.metrics:
            row[label] = _mean(cell.scores[label].mean for cell in cells if label in cell.scores)
            row[label + SUFFIX] = _mean(cell.training.get(label) for cell in cells)
        rows.append(row)
    return pd.DataFrame(rows)


def _mean(values: Iterable[float | None]) -> float:
    """Return the mean of the values of cells; NaN without any, or where one is missing."""
    numbers = [np.nan if value is None else value for value in values]
    return float(np.mean(numbers)) if numbers else np.nan


def training_tables(info: RunInfo) -> list[TextTable]:
    """Return a table of both parts for each results table of a run, rows in its order."""
    frame, tables = training_frame(info), []
    columns = [label + end for label in info.metrics for end in ("", SUFFIX)]
    for number, (table, names) in enumerate(info.tables.items(), 1):
        of_table = frame[frame["table"] == table].to_dict("records")
        rows = [
            [str(row["algorithm"]), *(rounded(row[column], PLACES) for column in columns)]
            for row in of_table
        ]
        where = f", {', '.join(names)}" if len(info.tables) > 1 else ""
        caption = (
            "Means over folds and seeds. On the training part each user's training ratings are "
            "ranked. A model that is much better there than on the test part has learnt its noise."
        )
        title = f"test and training part{where}"
        tables.append(TextTable(title, caption, number, ["algorithm", *columns], rows))
    return tables
