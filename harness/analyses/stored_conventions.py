"""The finished cells of a run, scored again by the definitions of other libraries."""

from __future__ import annotations

import math

from harness.analyses.conventions import USUAL_RANK, ByConvention
from harness.errors import ResultsError
from harness.lazy import pd
from harness.results.fields import AGAIN
from harness.results.names import TableName
from harness.results.runs import Run
from harness.results.store import CellStore


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = "ndcg",
    k: int = USUAL_RANK,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the finished cells of a run by the definition of each library; see `ByConvention`.

    The table has a row for each convention and table of the run, a column for each algorithm, and a
    ``note`` where there is no value. Where the store has no longer all cells, the values in the run
    are used, if they are of the same metric at the same rank; else a ResultsError says so.
    """
    info = run.info
    scores = ByConvention(role, k, threshold)
    finished = [cell for row in info.cells_of_rows.values() for cell in row if not cell.error]
    if not finished:
        raise ResultsError(f"{run.name}: no cell finished; {AGAIN}")
    try:
        for cell in finished:
            record = store.get(cell.key)
            if record is None:
                raise ResultsError(
                    f"{run.name}: its cell of {cell.algorithm} is not in the cache; "
                    "run the config again, which computes what is missing"
                )
            scores.add(cell, record)
        tables = scores.results()
    except ResultsError:
        tables = [table for table in info.conventions if (table.metric, table.k) == (role, k)]
        if not tables or threshold is not None:
            raise
    names = {row.row: row.algorithm for row in info.rows}
    return pd.DataFrame(
        table.only(TableName)
        | {"convention": row.convention, "label": row.label}
        | {names[key]: math.nan if value is None else value for key, value in row.scores.items()}
        | {"note": row.note}
        for table in tables
        for row in table.rows
    ).drop(columns="table")
