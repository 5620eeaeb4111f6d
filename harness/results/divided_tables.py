"""A table of texts with several results tables, divided into these."""

from __future__ import annotations

from itertools import groupby

from harness.results.display import GROUP, TextTable


def divided(table: TextTable) -> list[TextTable]:
    """Return the results tables in a table of texts each by itself, named by what differs."""
    names = [column for column in table.columns if column in GROUP]  # after the first column
    n = 1 + len(names)
    if n == 1:
        return [table]
    tables: list[TextTable] = []
    start = 0
    for values, group in groupby(table.rows, lambda row: tuple(row[1:n])):
        rows = [[row[0], *row[n:]] for row in group]
        texts = [list(column) for column in zip(*rows, strict=True)]
        for column in texts[1:]:  # what aligned them with numbers of other decimals
            padding = min((len(text) - len(text.rstrip()) for text in column if text), default=0)
            column[:] = [text[: len(text) - padding] for text in column]
        part = TextTable(
            "; ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True)),
            "",
            len(tables) + 1,
            [table.columns[0], *table.columns[n:]],
            list(zip(*texts, strict=True)),
            [(i - start, j - n + 1) for i, j in table.best if start <= i < start + len(rows)],
            below=[i - start for i in table.below if start < i < start + len(rows)],
        )
        tables.append(part)
        start += len(rows)
    return tables
