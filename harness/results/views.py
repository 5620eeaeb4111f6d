"""What a run can show of itself in a Python session, each by the module that makes it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast

from harness.errors import ResultsError, counted
from harness.plugins import registry as plugins
from harness.results.record import RunInfo
from harness.results.table import TextTable, display_table, divided, headline, printable
from harness.results.verdict import MOST_NOTES, notes_beside, shortened, verdict_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.comparison.best import Best
    from harness.results.runs import Run


class SessionViews:
    """What a run can show of itself; each method imports what it needs when it is called."""

    if TYPE_CHECKING:
        info: RunInfo
        folder: Path | None

    def __repr__(self) -> str:
        """Return the verdict and the table in lines of at most 80 columns."""
        return text_of(self.info)

    def _repr_html_(self) -> str:
        return html_of(self.info)

    def plot(self, kind: str = "tradeoff", *, metric: str | None = None, table: int = 1) -> Axes:
        """Draw a plot.

        Parameters
        ----------
        kind : str
            As ``harness plot --kind`` takes it.
        metric : str, optional
            A label of the run; its headline metric by default.
        table : int
            Which table of the run, from 1.

        Returns
        -------
        matplotlib.axes.Axes
            In a new figure, in the style of the page.

        Raises
        ------
        ResultsError
            For an unknown kind, metric or table, or if the run has nothing to show of this kind.
        """
        return cast("Axes", plugins.hook("plot")(self, kind, metric, table))

    def latex(self, *, table: int | None = None) -> str:
        """Return the results as LaTeX: one table, counted from 1, or all of them."""
        return str(plugins.hook("latex")(self, place=table))

    def report(self, path: str | Path | None = None, *, baseline: str | None = None) -> Path:
        """Write the page about the run.

        Parameters
        ----------
        path : str or Path, optional
            The file; by default ``report.html`` in the folder of the run.
        baseline : str, optional
            The row that the others are compared with.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        ResultsError
            Without a path if the run has no folder, or for an unknown baseline.
        """
        if path is None and self.folder is None:
            raise ResultsError(f"{self.info.name}: is in no folder; give the page a path")
        page = Path(path) if path is not None else cast("Path", self.folder) / "report.html"
        return cast("Path", plugins.hook("page")([self], page, baseline=baseline))

    def best(
        self,
        *,
        metric: str | None = None,
        algorithm: str | None = None,
        dataset: str | None = None,
        split: str | None = None,
        candidates: str | None = None,
    ) -> Best:
        """Return the best row, or the row of a name, as a config; see `harness.best`."""
        tables = {"dataset": dataset, "split": split, "candidates": candidates}
        return cast(
            "Best", plugins.hook("best")(self, metric=metric, algorithm=algorithm, **tables)
        )

    def compare(self, *runs: Run, anyway: bool = False) -> Run:
        """Return this run and others as one, whose rows are compared user by user.

        Parameters
        ----------
        *runs : Run
            At least one.
        anyway : bool
            Put runs together that cannot be compared, with a note that says why not.

        Returns
        -------
        Run
            Without a folder.

        Raises
        ------
        ComparisonError
            For a run that is passed twice, or runs that cannot be compared.
        """
        return cast("Run", plugins.hook("compare")([self, *runs], anyway=anyway))


WIDTH = 80
"""Columns of a line of text."""
MOST_ROWS = 40
"""Rows of a table that are shown as text."""
GAP = 2
"""Spaces between columns."""


def text_of(info: RunInfo) -> str:
    """Return the verdict and the table as text, in lines of at most 80 columns.

    The headline metric comes first, then the other metrics as far as they fit; the rest is counted.
    A best value is marked with an asterisk. The notes that matter most stand below.
    """
    lines = [f"<Run {printable(info.name)}>"]
    for line in [*verdict_lines(info), "", headline(info)]:
        lines += textwrap.wrap(line, WIDTH) or [""]
    tables = divided(display_table(info))
    for part in tables:
        lines += [
            "",
            *([printable(part.title)] if len(tables) > 1 else ()),
            *_table_lines(info, part),
        ]
    notes = notes_beside(info)
    lines += [""] * bool(notes)
    for note in notes[:MOST_NOTES]:
        lines += textwrap.wrap(f"note: {printable(note)}", WIDTH)
    if len(notes) > MOST_NOTES:
        lines.append(f"{counted(len(notes) - MOST_NOTES, 'note')} more: run.info.notes")
    return "\n".join(line[:WIDTH].rstrip() for line in lines)


def _table_lines(info: RunInfo, part: TextTable) -> Iterator[str]:
    """Yield the lines of a table: names, metrics that fit, and how much is left out."""
    labels = [info.primary, *(label for label in info.metrics if label != info.primary)]
    names = [part.columns[0], *(shortened(row[0], WIDTH // 3) for row in part.rows)]
    columns: list[list[str]] = [_padded(names)]
    for label in labels:
        place = list(part.columns).index(label)
        texts = [
            f"{row[place]}{'*' if (i, place) in part.best else ' '}"
            for i, row in enumerate(part.rows)
        ]
        column = _padded([f"{label} ", *texts], to_the_right=True)
        if len(columns) > 1 and sum(len(c[0]) + GAP for c in (*columns, column)) - GAP > WIDTH:
            continue
        columns.append(column)
    lines = [(" " * GAP).join(texts) for texts in zip(*columns, strict=True)]
    yield from lines[: MOST_ROWS + 1]
    n_rows, n_columns = len(lines) - MOST_ROWS - 1, len(part.columns) - len(columns)
    hidden = [counted(n, noun) for n, noun in ((n_rows, "row"), (n_columns, "column")) if n > 0]
    if hidden:
        yield f"{' and '.join(hidden)} more: run.table"


def _padded(texts: list[str], *, to_the_right: bool = False) -> list[str]:
    width = max(map(len, texts))
    return [text.rjust(width) if to_the_right else text.ljust(width) for text in texts]


def html_of(info: RunInfo) -> str:
    """Return the verdict, the tables with letters and best values, and the notes as HTML."""
    shown = [f"<p><strong>{_html(line)}</strong></p>" for line in verdict_lines(info)]
    shown.append(f"<p>{_html(headline(info))}</p>")
    tables = divided(display_table(info))
    for part in tables:
        shown += [f"<p>{_html(part.title)}</p>"] * (len(tables) > 1) + [_html_table(part)]
    if info.statistics:
        shown.append("<p>Rows that share a letter are not significantly different.</p>")
    items = [f"<li>{_html(note)}</li>" for note in notes_beside(info)]
    if items:
        shown.append(f"<ul>{''.join(items[:MOST_NOTES])}</ul>")
    if more := items[MOST_NOTES:]:
        title = f"{counted(len(more), 'note')} more"
        shown.append(f"<details><summary>{title}</summary><ul>{''.join(more)}</ul></details>")
    return "\n".join(shown)


def _html_table(part: TextTable) -> str:
    """Return a table of texts; the best values are bold."""
    head = "".join(f"<th>{_html(column)}</th>" for column in part.columns)
    rows = []
    for i, row in enumerate(part.rows):
        cells = (
            f"<strong>{_html(text)}</strong>" if (i, j) in part.best else _html(text)
            for j, text in enumerate(row)
        )
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    body = "\n".join(rows)
    head = f"<thead><tr>{head}</tr></thead>"
    return f'<table class="dataframe">{head}<tbody>\n{body}\n</tbody></table>'


def _html(text: object) -> str:
    return escape(printable(text))
