"""What a run can show of itself in a Python session, each by the module that makes it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast, overload

from harness._util.arguments import quoted
from harness._util.files import refuse_other_form, refuse_other_page, write_output
from harness._util.libraries import pd
from harness._util.names import Named
from harness.errors import ResultsError, counted
from harness.notes.note import Note, by_weight
from harness.plugins import registry as plugins
from harness.results.pairs import RowComparison, compare_rows
from harness.results.record import RunInfo
from harness.results.table import (
    AGAINST_BEST,
    GROUP,
    TextTable,
    display_table,
    divided,
    escape_markdown,
    headline,
    is_apart,
    markdown_table,
    printable,
    to_csv,
)
from harness.results.verdict import MOST_NOTES, notes_beside, shortened, verdict_lines
from harness.results.workbook import write_workbook

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.comparison.best import Best
    from harness.results.runs import Run


class SessionViews(Named):
    """What a run can show of itself; each method imports what it needs when it is called."""

    _guessed = ("run", "run")

    if TYPE_CHECKING:
        info: RunInfo
        folder: Path | None

    def __getitem__(self, key: object) -> NoReturn:
        """Say where the rows are: a run has several tables, and rows have names in each."""
        raise TypeError(f"run[{key!r:.60}]: a run has no items; use the rows of `run.table`")

    def __len__(self) -> NoReturn:
        """Say what has a length: a run has rows, users and cells."""
        raise TypeError("a run has no length; use `len(run.table)` for its rows")

    def __bool__(self) -> bool:
        """Return True, which Python would ask of `__len__`."""
        return True

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

    @property
    def verdict(self) -> str:
        """What the run says, in sentences: which row leads each table, and how sure that is.

        Examples
        --------
        >>> import harness
        >>> run = harness.run({
        ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
        ...     "algorithms": ["ItemMean", "Random"], "metrics": ["ndcg@10"]},
        ...     results=None)
        >>> run.verdict.partition(" (")[0]
        'ItemMean leads by ndcg@10'
        """
        return "\n".join(verdict_lines(self.info))

    @property
    def notes(self) -> list[Note]:
        """What changes how the numbers are read, the weightiest first; each prints as a sentence.

        Examples
        --------
        >>> import harness
        >>> run = harness.run({
        ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
        ...     "algorithms": ["Random"], "metrics": ["ndcg@10"]}, results=None)
        >>> all(isinstance(note, harness.Note) for note in run.notes)
        True
        """
        return by_weight(self.info.notes)

    def latex(self, *, table: int | None = None) -> str:
        """Return the results as LaTeX: one table, counted from 1, or all of them."""
        return str(plugins.hook("latex")(self, place=table))

    def to_latex(self, path: str | Path | None = None, *, table: int | None = None) -> str | None:
        r"""Return the results as LaTeX, or write them to a file.

        Parameters
        ----------
        path : str or Path, optional
            The file; a file that exists is replaced.
        table : int, optional
            Which table of the run, from 1; all of them by default.

        Returns
        -------
        str or None
            The LaTeX, which needs the package ``booktabs``; None with a path.

        Raises
        ------
        ResultsError
            If there is no such table, or the file cannot be written.

        Examples
        --------
        >>> import harness
        >>> run = harness.run({
        ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
        ...     "algorithms": ["ItemMean"], "metrics": ["ndcg@10"]}, results=None)
        >>> run.to_latex().startswith(r"\begin{table}")
        True
        """
        return _written(self.latex(table=table), path, "LaTeX", ".tex")

    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """Return verdict, table and notes as Markdown, or write them to a file; as ``table.md``."""
        return _written(to_markdown(self.info), path, "Markdown", ".md")

    def to_html(self, path: str | Path | None = None) -> str | None:
        """Return verdict, table and notes as HTML, or write them to a file.

        It is what a notebook shows, a part of a page; `report` writes a whole page with plots.
        """
        return _written(html_of(self.info), path, "HTML", ".html", ".htm")

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Return `table` as CSV, or write it to a file; as ``table.csv`` of the folder of a run."""
        return _written(to_csv(self.info), path, "CSV", ".csv")

    def to_excel(self, path: str | Path) -> None:
        """Write the results as an Excel workbook.

        Parameters
        ----------
        path : str or Path
            The file; a file that exists is replaced. Its sheets are ``table`` with `table`,
            ``pairs`` with `pairs`, and ``notes``, the verdict and the notes.

        Raises
        ------
        ResultsError
            Without openpyxl or xlsxwriter (the extra ``excel``), or if the file cannot be written.
        """
        refuse_other_form(path, "a workbook of Excel", ".xlsx")
        said = [*verdict_lines(self.info), *(str(note) for note in self.notes)]
        run, notes = cast("Run", self), pd.DataFrame({"notes": said})
        write_workbook(path, {"table": run.table, "pairs": run.pairs, "notes": notes})

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
            Without a path if the run has no folder, for a path with the ending of another format,
            or for an unknown baseline.
        """
        if path is None and self.folder is None:
            raise ResultsError(f"{self.info.name}: is in no folder; give the page a path")
        page = cast("Path", self.folder) / "report.html" if path is None else Path(path)
        refuse_other_page(page)
        return cast("Path", plugins.hook("page")([self], page, baseline=baseline))

    def best(
        self,
        metric: str | None = None,
        *,
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

    @overload
    def compare(
        self, *others: str, metric: str | None = None, table: int | None = None
    ) -> RowComparison: ...

    @overload
    def compare(self, *others: Run, anyway: bool = False) -> Run: ...

    def compare(
        self,
        *others: Run | str,
        anyway: bool = False,
        metric: str | None = None,
        table: int | None = None,
    ) -> Run | RowComparison:
        """Compare two rows of this run, or put this run and others into one.

        Parameters
        ----------
        *others : str or Run
            The names of two rows; or at least one run, whose rows are then compared with this run's
            rows user by user.
        anyway : bool
            Put runs together that cannot be compared, with a note that says why not.
        metric : str, optional
            Of two rows: a label of the run; its headline metric by default.
        table : int, optional
            Of two rows: which table of the run, from 1; needed where there are several.

        Returns
        -------
        RowComparison or Run
            For two rows, the difference, its interval, p-values, and their meaning in words. For
            runs, one run without a folder.

        Raises
        ------
        ComparisonError
            For a run that is passed twice, or runs that cannot be compared.
        ResultsError
            For anything but two names or runs, an unknown row, metric or table, or rows that were
            not compared.

        Examples
        --------
        >>> import harness
        >>> run = harness.run({
        ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
        ...     "algorithms": ["ItemMean", "Random"], "metrics": ["ndcg@10"]},
        ...     results=None)
        >>> pair = run.compare("ItemMean", "Random")
        >>> pair.better, pair.difference == -run.compare("Random", "ItemMean").difference
        ('ItemMean', True)
        >>> pair.verdict.partition(";")[0]
        'ItemMean is significantly better than Random'
        """
        names = [other for other in others if isinstance(other, str)]
        if names:
            if len(names) != 2 or len(others) != 2:
                raise ResultsError(
                    f"compare: {len(others)} given; give two names of rows, such as "
                    "compare('SVD', 'BaselineOnly'), or runs (harness.read_run reads one)"
                )
            return compare_rows(self.info, names[0], names[1], metric, table)
        if metric is not None or table is not None:
            raise ResultsError("compare: metric and table are for two rows; leave them out")
        for other in others:
            if not isinstance(other, SessionViews):
                raise ResultsError(
                    f"compare: found {quoted(other)}; give runs, or the names of two rows"
                )
        return cast("Run", plugins.hook("compare")([self, *others], anyway=anyway))


def _written(text: str, path: str | Path | None, form: str, *endings: str) -> str | None:
    """Return a text, or None after it was written to a file, whose ending may not be another's."""
    if path is None:
        return text
    refuse_other_form(path, form, *endings)
    write_output(Path(path), text)
    return None


WORDS = {"algorithm", "error", AGAINST_BEST, *GROUP}
"""The columns of the results table that are not numbers."""
WIDTH = 80
"""Columns of a line of text."""
MOST_ROWS = 40
"""Rows of a table that are shown as text."""
GAP = 2
"""Spaces between columns."""


def text_of(info: RunInfo) -> str:
    """Return the verdict and the table as text, in lines of at most 80 columns.

    The headline metric comes first, then the other metrics as far as they fit; the rest is counted.
    A best value is marked with an asterisk. The notes that matter most are below.
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
        lines.append(f"{counted(len(notes) - MOST_NOTES, 'note')} more: run.notes")
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


def html_of_tables(tables: Iterable[TextTable]) -> str:
    """Return tables of texts as HTML, each below its title."""
    shown = []
    for part in tables:
        shown += [f"<p>{_html(part.title)}</p>", _html_table(part)]
        shown += [f"<p>{_html(part.caption)}</p>"] if part.caption else []
    return "\n".join(shown) + "\n"


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


def to_markdown(info: RunInfo) -> str:
    """Return ``table.md``: what was run, the verdict, the table, and the notes under it."""
    table = display_table(info)
    parts = divided(table) if is_apart(table) else [table]
    said = filter(None, [info.description, headline(info), *verdict_lines(info)])
    blocks = [f"# {escape_markdown(info.name)}", *map(escape_markdown, said)]
    for part in parts:
        blocks += [f"## {escape_markdown(part.title)}"] if len(parts) > 1 else []
        blocks.append("\n".join(markdown_table(part.columns, part.rows, WORDS)))
    notes = "\n".join(f"- {escape_markdown(note)}" for note in info.notes)
    return "\n\n".join([*blocks, notes] if notes else blocks) + "\n"
