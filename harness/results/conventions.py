"""One run under the conventions of several libraries: how much of a difference is definition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.errors import MetricError, ResultsError
from harness.metrics.conventions import Convention, conventions
from harness.results.cells import CellRecord, CellStore
from harness.results.run import Run
from harness.results.table import grouped

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["under_conventions"]


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = "ndcg",
    k: int = 10,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the finished cells of a run again, as each library would.

    Parameters
    ----------
    run : Run
    store : CellStore
        Holds the run's cells.
    role : str
        Which metric: ``ndcg``, ``ap``, ``recall``, ...
    k : int
        Cut-off rank.
    threshold : float, optional
        Least rating of a relevant item for binary metrics; each library's own when left out.

    Returns
    -------
    DataFrame
        For each convention and each table of the run: ``dataset``, ``split``, ``candidates``,
        ``convention``, ``label``, a column for each algorithm with its mean over cells, and
        ``note``, why there is none.

    Raises
    ------
    ResultsError
        If a cell of the run is no longer kept.
    """
    import pandas as pd

    named = {name: each for name, each in conventions().items() if role in each.roles}
    if not named:
        known = sorted({role for each in conventions().values() for role in each.roles})
        raise MetricError(f"{role}: no convention defines it; use one of {', '.join(known)}")
    tables: dict[tuple[str, ...], dict[str, list[CellRecord]]] = {}
    for (*where, algorithm), cells in grouped(run.info).items():
        records = [_record(store, cell, run.name) for cell in cells if not cell.get("error")]
        if records:
            tables.setdefault(tuple(where), {})[algorithm] = records
    rows = []
    for place, by_algorithm in tables.items():
        for name, convention in named.items():
            row: dict[str, Any] = dict(
                zip(("dataset", "split", "candidates"), place, strict=True), convention=name
            )
            row["label"] = str(convention.metrics(k, threshold)[role])
            row |= _scores(convention, role, k, threshold, by_algorithm)
            rows.append(row)
    return pd.DataFrame(rows)


def _record(store: CellStore, cell: dict[str, Any], name: str) -> CellRecord:
    record = store.get(cell["key"])
    if record is None:
        raise ResultsError(
            f"{name}: its cell of {cell['algorithm']} is not in the cache; "
            "run the config again, which computes what is missing"
        )
    return record


def _scores(
    convention: Convention,
    role: str,
    k: int,
    threshold: float | None,
    by_algorithm: dict[str, list[CellRecord]],
) -> dict[str, Any]:
    metric = convention.metrics(k, threshold)[role]
    row: dict[str, Any] = {}
    note = ""
    for algorithm, records in by_algorithm.items():
        try:
            means = [metrics.score([metric], each.rankings)[metric].mean for each in records]
            row[algorithm] = math.fsum(means) / len(means)
        except MetricError as error:
            row[algorithm] = math.nan
            note = str(error).partition(": ")[2]
    return row | {"note": note}
