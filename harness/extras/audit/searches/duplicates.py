"""Pairs of user and item that occur several times, in a file or in the training pairs."""

from __future__ import annotations

from harness._util.libraries import pd
from harness.extras.audit.search import PAIR, AuditSearch, Tables, share


def of_file(search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame | None) -> Tables:
    """Search both tables; return them with the first row of each pair."""
    tables = [table for table in (rows, truth) if table is not None]
    rows = rows.drop_duplicates(PAIR)
    truth = None if truth is None else truth.drop_duplicates(PAIR)
    for table in tables:
        if table.duplicated(PAIR).any():
            effect = search.effect((table, None) if truth is None else None, (rows, truth))
            _found(search, "duplicates.pairs", table, effect)
    return rows, truth


def of_training(search: AuditSearch, train: pd.DataFrame | None) -> None:
    """Search the training pairs; what they do to a model that was fitted elsewhere is unknown."""
    if train is not None and train.duplicated(PAIR).any():
        _found(search, "duplicates.training", train, {})


def _found(search: AuditSearch, code: str, table: pd.DataFrame, effect: object) -> None:
    again = table[table.duplicated(PAIR)]
    columns = [name for name in ("key", "rating") if name in table]
    differing = 0
    if columns:
        groups = table[table.duplicated(PAIR, keep=False)].groupby(PAIR)[columns]
        differing = int((groups.nunique() > 1).any(axis=1).sum())
    first = again[[*PAIR, "at"]].iloc[0].to_dict()
    search.found(code, effect, again=share(len(again), len(table)), differing=differing, **first)  # type: ignore[arg-type]
