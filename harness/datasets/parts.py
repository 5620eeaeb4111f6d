"""The rows of several files as one table; each keeps its file and line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from harness._util.libraries import pd
from harness.datasets.conversion import Coded, Flaw, Table
from harness.errors import DataError


def joined(tables: Sequence[Table], where: str) -> Table:
    """Return the rows of several tables one after the other; each keeps its file and line.

    Raises
    ------
    DataError
        If some have timestamps and others none.
    """
    starts = np.cumsum([0, *map(len, tables)]).tolist()
    with_times = [table for table in tables if table.times]
    if 0 < len(with_times) < len(tables):
        without = next(table for table in tables if not table.times)
        raise DataError(
            f"{without.at(-1)}: no timestamps, which {with_times[0].at(-1)} has; add them, or read "
            "none, as `columns: {timestamp: null}`"
        )

    def at(row: int) -> str:
        if row < 0:
            return where
        number = bisect_right(starts, row) - 1
        return tables[number].at(row - starts[number])

    first = tables[0]
    flaws = [
        _moved(flaw, start)
        for table, start in zip(tables, starts[:-1], strict=True)
        for flaw in table.flaws
        if len(flaw.rows)
    ]
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return Table(
        {role: _united([table.ids[role] for table in tables]) for role in first.ids},
        {role: np.concatenate([table.numbers[role] for table in tables]) for role in first.numbers},
        {role: np.concatenate([table.times[role] for table in tables]) for role in first.times},
        at,
        tuple(notes),
        _by_policy(flaws),
    )


def _united(columns: Sequence[Coded]) -> Coded:
    codes, ids = pd.factorize(np.concatenate([column.ids for column in columns]))
    parts = np.split(codes.astype(np.int32), np.cumsum([len(c.ids) for c in columns])[:-1])
    rows = [
        np.append(part, -1).astype(np.int32)[column.codes]  # -1 stays the code of none
        for part, column in zip(parts, columns, strict=True)
    ]
    return Coded(np.concatenate(rows), np.asarray(ids, object))


def _moved(flaw: Flaw, start: int) -> Flaw:
    return flaw._replace(rows=flaw.rows + start, describe=lambda row: flaw.describe(row - start))


def _by_policy(flaws: Sequence[Flaw]) -> tuple[Flaw, ...]:
    """Return one flaw for each policy; the rows of each table are described by its own."""

    def united(policy: str) -> Flaw:
        parts = [flaw for flaw in flaws if flaw.policy == policy]
        ends = [int(part.rows[-1]) for part in parts]

        def describe(row: int) -> str:
            return next(p for p, end in zip(parts, ends, strict=True) if row <= end).describe(row)

        rows = np.concatenate([part.rows for part in parts])
        return Flaw(policy, rows, describe, role=parts[0].role)

    return tuple(united(policy) for policy in dict.fromkeys(flaw.policy for flaw in flaws))
