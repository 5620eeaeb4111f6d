"""One table of LaTeX for several data sets: rows of algorithms, columns of metrics by data set."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from harness.errors import ResultsError, joined
from harness.report.summary import Summary, summarise
from harness.report.tables import latex_numbers
from harness.results.display import GROUP, row_name
from harness.results.latex import escape_latex, identifier
from harness.results.runs import Run

ABSENT = "--"


def latex_of_sets(runs: Sequence[Run]) -> str:
    r"""Return the results tables of runs, one or several, side by side in one table of LaTeX.

    It needs the packages ``booktabs`` and, for letters beyond ASCII, ``fontenc`` with ``T1``. Best
    values of each column are bold; within a column, algorithms that share a raised letter are not
    significantly different. Nothing is compared across data sets.

    Parameters
    ----------
    runs : sequence of Run
        Each results table becomes a group of columns, named by what differs: its data set, split
        or candidates, and by its run where that is not enough.

    Raises
    ------
    ResultsError
        If there are fewer than two tables, or two of them have the same names.
    """
    tables = [(summary, table) for summary in map(summarise, runs) for table in summary.tables]
    names = [dict(zip(GROUP, table.names, strict=True)) for _, table in tables]
    if len(tables) < 2:
        raise ResultsError("--together: there is one results table; leave the option out")
    differing = [key for key in GROUP if len({name[key] for name in names}) > 1]
    titles = [", ".join(name[key] for key in differing) for name in names]
    if len({*titles}) < len(titles):  # as of two data sets of one name
        titles = [
            ", ".join(filter(None, [summary.run.name, title]))
            for (summary, _), title in zip(tables, titles, strict=True)
        ]
    if repeated := sorted({title for title in titles if titles.count(title) > 1}):
        raise ResultsError(
            f"--together: two results tables are called {joined(repeated)}; give each run once"
        )
    columns: dict[tuple[str, str], dict[str, str]] = {}
    rows: dict[str, None] = {}
    for (summary, table), title in zip(tables, titles, strict=True):
        keys = [row_name(row) for row in table.records.values()]
        rows |= dict.fromkeys(keys)
        for label in _shown(summary, table.rows):
            values = dict(zip(keys, latex_numbers(table, label), strict=True))
            columns[escape_latex(title), escape_latex(label)] = values
    frame = pd.DataFrame(
        {
            ("", "algorithm"): [escape_latex(name) for name in rows],
            **{key: [values.get(name, ABSENT) for name in rows] for key, values in columns.items()},
        }
    )
    common = [f"{key}: {names[0][key]}" for key in GROUP if key not in differing]
    about = "bold: the best of a column"
    if any(table.comparisons for _, table in tables):
        about += "; within a column, algorithms that share a letter are not significantly different"
    caption = "; ".join([*common, about]) + "."
    text: str = frame.style.hide(axis="index").to_latex(
        caption=escape_latex(caption[0].upper() + caption[1:]),
        label=f"tab:{identifier('-'.join(run.name for run in runs))}",
        column_format="l" + "r" * len(columns),
        position_float="centering",
        multicol_align="c",
        hrules=True,
    )
    return text


def _shown(summary: Summary, rows: pd.DataFrame) -> list[str]:
    """Return the metrics of a table that have a value."""
    return [label for label in summary.info.metrics if rows[label].notna().any()]
