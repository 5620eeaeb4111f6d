"""The columns of the results table that no metric has: declared once, for every form of the table.

`Run.table`, ``table.csv``, the terminal, Markdown, the page, LaTeX and a notebook read them here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Column(NamedTuple):
    """A column of numbers."""

    name: str
    """In `Run.table` and ``table.csv``."""
    title: str
    """Where people read the table."""
    places: int
    """Decimals where people read the table."""
    csv_places: int | None = None
    """Decimals in ``table.csv``; None for whole numbers."""
    of_search: bool = False
    """Whether only a run with a search has it."""
    in_papers: bool = False
    """Whether LaTeX and notebooks show it."""
    first: str = "ascending"
    """The order that a first click on the page gives."""


COLUMNS = (
    Column("n_trials", "trials", 0, of_search=True, first="descending"),
    Column("search_seconds", "search s", 1, 3, of_search=True),
    Column("fit_seconds", "fit s", 2, 3, in_papers=True),
    Column("score_seconds", "score s", 2, 3, in_papers=True),
    Column("metric_seconds", "metric s", 2, 3),
    Column("peak_mb", "peak MB", 0, 0),
    Column("n_users", "users", 0, first="descending"),
)
TIMES = ("fit_seconds", "score_seconds", "metric_seconds")
"""Seconds of a cell, of which a row has the mean."""
IN_PAPERS = {column.name: column for column in COLUMNS if column.in_papers}


SECONDS = Column("seconds", "seconds", 2)
"""The sum of the `TIMES`, which a narrow terminal shows in their place."""


def columns_of(names: Iterable[object], *, sums_seconds: bool = False) -> list[Column]:
    """Return the columns of a table that has these names, in order; one for all seconds if asked.

    >>> [column.title for column in columns_of(["n_users", "fit_seconds", "rmse"])]
    ['fit s', 'users']
    """
    present = set(names)
    columns = [column for column in COLUMNS if column.name in present]
    if not sums_seconds:
        return columns
    first = next((place for place, column in enumerate(columns) if column.name in TIMES), 0)
    others = [column for column in columns if column.name not in TIMES]
    return [*others[:first], SECONDS, *others[first:]]
