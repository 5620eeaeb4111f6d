"""Which columns of a results table a terminal shows: those asked for, or those that fit.

What is left out on a narrow terminal is said below the table. In a pipe nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from harness.errors import HarnessError, joined, suggestion

if TYPE_CHECKING:
    from harness.results.display import TextTable
    from harness.results.record import RunInfo

ALL, METRICS = "all", "metrics"
"""Words for all columns, and for names and metrics alone."""
SECONDS = "seconds"
"""The sum of the three columns of seconds."""
SPREAD = re.compile(r" ±\s+[\d.]+")

option = click.option(
    "--columns",
    metavar="NAME,...",
    help="Columns of the table on the screen: `all`, `metrics`, or names as ndcg@10,seconds. By "
    "default those that a terminal has room for.",
)


def chosen(info: RunInfo, columns: str) -> TextTable:
    """Return a results table with the columns that a call names.

    Parameters
    ----------
    info : RunInfo
    columns : str
        `ALL`, `METRICS`, or titles of columns with commas; a metric in any spelling of its label,
        `SECONDS` for the sum of the seconds.

    Raises
    ------
    HarnessError
        For a name that is none.
    """
    from harness.results.display import GROUP, display_table

    table, summed = display_table(info), display_table(info, sums_seconds=True)
    names = [column for column in table.columns if column in ("algorithm", *GROUP)]
    if columns.strip() == ALL:
        return table
    if columns.strip() == METRICS:
        return _only(table, [*names, *info.metrics])
    by_name = {column.casefold(): column for column in (*table.columns, SECONDS)}
    titles = list(names)
    for part in _divided(columns):
        title = by_name.get(part.casefold()) or _label(part)
        if title not in by_name.values():
            choices = [*by_name.values(), ALL, METRICS]
            raise HarnessError(f"--columns: no column {part!r}; {suggestion(part, choices)}")
        titles.append(title)
    source = summed if SECONDS in titles else table
    if missing := [title for title in titles if title not in source.columns]:
        message = f"--columns: {SECONDS} has {joined(missing)} in it"
        raise HarnessError(f"{message}; leave one of them out")
    return _only(source, dict.fromkeys(titles))


def _divided(columns: str) -> list[str]:
    """Return names that are separated by commas outside of parentheses."""
    parts = re.findall(r"(?:[^,(]|\([^)]*\))+", columns)
    return [part.strip() for part in parts if part.strip()]


def _label(part: str) -> str:
    from harness.errors import MetricError
    from harness.metrics import parse

    try:
        return str(parse(part))
    except MetricError:
        return part


def with_room(
    info: RunInfo, table: TextTable, fits: Callable[[TextTable], bool]
) -> tuple[TextTable, str]:
    """Return a results table that fits, and a sentence about what it leaves out.

    Seconds are summed first; then memory, a number of users that is the same in each row, the
    seconds and the spreads are left out. Metrics never are: if they do not fit, all columns are
    returned.

    Parameters
    ----------
    info : RunInfo
    table : TextTable
        The table of the run with all columns.
    fits : callable
        Whether a table can be shown in one part.
    """
    from harness.results.display import display_table

    if fits(table):
        return table, ""
    smaller = display_table(info, sums_seconds=True)
    if "error" in smaller.columns and "error" not in table.columns:
        smaller = _without(smaller, "error")
    if fits(smaller):
        return smaller, ""
    gone: list[str] = []
    for column in ("peak MB", "users", SECONDS, "search s", "trials"):
        if column not in smaller.columns:
            continue
        words = column
        if column == "users":
            counts = {row[list(smaller.columns).index(column)] for row in smaller.rows} - {""}
            if len(counts) != 1:
                continue
            words = f"users ({counts.pop()} in every row)"
        smaller = _without(smaller, column)
        gone.append(words)
        if fits(smaller):
            return smaller, _said(gone)
    rows = [[SPREAD.sub("", text) for text in row] for row in smaller.rows]
    if fits(bare := _tight(replace(smaller, rows=rows))):
        return bare, _said([*gone, "spreads (±)"])
    return table, ""


def _said(gone: Iterable[str]) -> str:
    return f"left out: {joined(gone)}; `--columns all` shows everything"


def _tight(table: TextTable) -> TextTable:
    """Return a table without blanks that all cells of a column have in common at their start."""
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    for texts in columns:
        blanks = min((len(t) - len(t.lstrip()) for t in texts if t.strip()), default=0)
        texts[:] = [text[blanks:] for text in texts]
    return replace(table, rows=list(zip(*columns, strict=True)))


def _without(table: TextTable, column: str) -> TextTable:
    return _only(table, [title for title in table.columns if title != column])


def _only(table: TextTable, titles: Iterable[str]) -> TextTable:
    """Return a table with some of its columns, in this order."""
    from harness.results.display import TextTable

    places = [list(table.columns).index(title) for title in titles]

    def picked(row: Sequence[str]) -> list[str]:
        return [row[place] for place in places]

    return TextTable(
        table.title,
        table.caption,
        table.number,
        picked(table.columns),
        [picked(row) for row in table.rows],
        [(i, places.index(j)) for i, j in table.best if j in places],
        below=table.below,
    )
