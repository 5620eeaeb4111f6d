"""The results table of a run on a terminal: which columns fit, and how it is divided."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.datasets.columns import RATINGS
from harness.errors import HarnessError, MetricError, joined, suggestion
from harness.metrics import parse, parse_many
from harness.report import latex
from harness.results.runs import Run
from harness.results.table import (
    AGAINST_BEST,
    COLUMNS,
    GROUP,
    TIMES,
    TextTable,
    csv_of_columns,
    display_table,
    divided,
    escape_markdown,
    group_tables,
    is_apart,
    markdown_table,
    narrowed,
    to_csv,
)
from harness.results.verdict import MOST_NOTES, notes_beside, verdict_lines
from harness.results.views import to_markdown

if TYPE_CHECKING:
    from harness.config.experiment import Experiment
    from harness.results.record import RunInfo

from harness.console.screen import (
    _parts,
    _size,
    _total,
    documents,
    plain,
    say,
    screen_width,
    show_table,
)

ALL, METRICS = "all", "metrics"
"""Words for all columns, and for only names and metrics."""

WORDS = ("algorithm", "error", "dataset", "split", "candidates")
"""Columns of words in a results table."""


ERROR_WIDTH = 32
"""Width that errors need beside the numbers; with less they are below the table."""


def show_run(run: Run, columns: str | None = None) -> None:
    """Print the verdict on a run, its table and the notes that change most how it is read.

    Facts of the verdict are not repeated as notes, and notes that are left out are counted. Reasons
    of failures are beside the numbers where there is room, else below the table. On a terminal that
    is too narrow for the table, columns of less weight are left out, unless `columns` names some.
    """
    if documents:
        documents[0].add_run(run)
        return

    table = display_table(run.info) if columns is None else chosen(run.info, columns)
    say(f"\n{plain(run.name)} · {plain(table.title)}\n")
    for line in verdict_lines(run.info):
        say(f"{plain(line)}\n")
    failed: list[tuple[str, str]] = []
    if "error" in table.columns and (width := screen_width()):
        frame = table.frame
        numbers = frame.drop(columns="error")
        widths = [max(map(_size, [column, *cells])) for column, cells in numbers.items()]
        if _total([*widths, ERROR_WIDTH]) > width:
            failed = list(zip(frame["algorithm"], frame["error"], strict=True))
            rows = numbers.to_numpy().tolist()
            table = replace(table, columns=list(numbers.columns), rows=rows)
    left_out = ""
    if columns is None:
        table, left_out = with_room(run.info, table, _fits)
    _show_tables(table)
    if left_out:
        say(f"\n{left_out}")
    for group in group_tables(run.info, asked=True):
        show_groups(group)
    if any(error for _, error in failed) or run.info.notes:
        say()
    for name, error in failed:
        if error:
            say(f"✗ {plain(name)}: {plain(error)}", colour="red")
    notes = notes_beside(run.info)
    most = len(notes) if run.folder is None else MOST_NOTES
    for note in notes[:most]:
        say(f"note: {plain(note)}")
    if run.folder is not None and len(notes) > most:  # in no folder, there is nothing to name
        at_hand = run.folder == Path("runs") / run.name
        name = shlex.quote(run.name if at_hand else str(run.folder))
        say(f"{len(notes) - most:,} more: harness notes {name}")


def _show_tables(table: TextTable) -> None:
    """Print the tables of a run as one, or each one under its names.

    They are kept apart where they are of other data or splits, or where one would come in parts.
    """
    tables = divided(table) if is_apart(table) or not _is_one_part(table) else [table]
    for number, part in enumerate(tables):
        if len(tables) > 1:
            say("\n" * (number > 0) + plain(part.title) + "\n")
        show_table(part.columns, part.rows, WORDS, part.best, part.below)


def _is_one_part(table: TextTable) -> bool:
    return len([*_parts([table.columns, *table.rows], WORDS)]) <= 1


def _fits(table: TextTable) -> bool:
    """Return whether a terminal has room for each results table in one part."""
    return (not is_apart(table) and _is_one_part(table)) or all(map(_is_one_part, divided(table)))


def print_run(run: Run, form: str, columns: str | None = None) -> None:
    """Print a run's table in one of the forms of `options.TABLES`."""
    if form == "text":
        show_run(run, columns)
        return
    if columns is not None:
        text = with_columns(run, form, columns)
    elif form == "latex":
        text = latex(run)
    else:
        text = (to_csv if form == "csv" else to_markdown)(run.info)
    say(text.removesuffix("\n"), is_data=True)


def with_columns(run: Run, form: str, columns: str) -> str:
    """Return a run's table with the columns that a call names, as Markdown, CSV or LaTeX."""
    table = chosen(run.info, columns)
    if form == "latex":
        return latex(run, columns=table.columns)
    if form == "csv":
        return csv_of_columns(run.info, table.columns)
    lines: list[str] = []
    for part in divided(table) if is_apart(table) else [table]:
        if is_apart(table):
            lines += [*[""] * bool(lines), f"## {escape_markdown(part.title)}", ""]
        lines += markdown_table(part.columns, part.rows, WORDS)
    return "\n".join(lines)


def titles_of(runs: Iterable[Run], columns: str | None) -> list[str] | None:
    """Return the columns that a call names, of those that any of several runs has."""
    if columns is None:
        return None
    titles: dict[str, None] = {}
    for part in _divided(columns):
        found: list[Sequence[str]] = []
        reasons: list[HarnessError] = []
        for run in runs:
            try:
                found.append(chosen(run.info, part).columns)
            except HarnessError as error:
                reasons.append(error)
        if not found:
            raise reasons[0]
        titles |= dict.fromkeys(found[0])
    return [*titles]


def narrow(runs: Sequence[Run], metrics: str | None, algorithms: str | None) -> list[Run]:
    """Return runs with only the metrics and rows that a call names.

    Raises
    ------
    HarnessError
        For a metric or a row that no run has.
    """
    labels: list[str] | None = None
    names: list[str] | None = None
    if metrics is not None:
        labels = [str(metric) for metric in parse_many(metrics)]
        known = dict.fromkeys(label for run in runs for label in run.info.metrics)
        for label in labels:
            if label not in known:
                raise HarnessError(f"--metrics: no metric {label!r}; {suggestion(label, known)}")
    if algorithms is not None:
        known = dict.fromkeys(name for run in runs for name in run.info.algorithms)
        by_name = {name.casefold(): name for name in known}
        names = []
        for part in _divided(algorithms):
            if part.casefold() not in by_name:
                raise HarnessError(f"--algorithms: no row {part!r}; {suggestion(part, known)}")
            names.append(by_name[part.casefold()])
    if labels is None and names is None:
        return [*runs]
    narrower = []
    for run in runs:
        info = narrowed(run.info, labels, names)
        if not (info.metrics and info.rows):
            raise HarnessError(f"{run.name}: has none of these metrics or rows; leave it out")
        # Users in a folder are read when they are asked for.
        users = run.users if run.folder is None else None
        narrower.append(Run(info, users, run.folder))
    return narrower


def show_groups(table: TextTable) -> None:
    """Print the algorithms of a table in groups of its users or items."""
    say(f"\n{plain(table.title)}\n")
    show_table(table.columns, table.rows, ["algorithm"], table.best, table.below)
    if table.caption:
        say(f"\n{table.caption}")


SECONDS = "seconds"
"""The sum of the three columns of seconds."""


SPREAD = re.compile(r" ±\s+[\d.]+")


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
    table, summed = display_table(info), display_table(info, sums_seconds=True)
    names = [column for column in table.columns if column in ("algorithm", *GROUP)]
    if columns.strip() == ALL:
        return table
    if columns.strip() == METRICS:
        return _only(table, [*names, *info.metrics])
    titles = names + [_title(part, [*table.columns, SECONDS, ERROR]) for part in _divided(columns)]
    source = summed if SECONDS in titles else table
    titles = [title for title in titles if title != ERROR or title in source.columns]
    _refuse_summed([title for title in titles if title not in source.columns])
    return _only(source, dict.fromkeys(titles))


def check_columns(columns: str | None, experiment: Experiment | None = None) -> None:
    """Refuse names of columns that the table of an experiment cannot have, before it is run.

    Parameters
    ----------
    columns : str or None
        As `chosen` takes it; None for no names.
    experiment : Experiment, optional
        Without one, only columns of the data file are refused.

    Raises
    ------
    HarnessError
        For a name that is none.

    Examples
    --------
    >>> check_columns("user=customer")
    Traceback (most recent call last):
    harness.errors.HarnessError: --columns: chooses columns of the table; for columns of the
    data file, use --data-columns user=customer
    """
    parts = _divided(columns or "")
    for part in parts:
        role, equals, _ = part.partition("=")
        if equals and role.strip() in RATINGS.kinds:
            raise HarnessError(
                "--columns: chooses columns of the table; for columns of the data file, use "
                f"--data-columns {columns}"
            )
    if experiment is None or parts in ([ALL], [METRICS]):
        return
    parts_of_name: list[Sequence[object]]
    parts_of_name = [experiment.dataset, experiment.split, experiment.candidates]
    titles = ["algorithm", ERROR, SECONDS, *map(str, parse_many(experiment.metrics))]
    titles += [name for name, values in zip(GROUP, parts_of_name, strict=True) if len(values) > 1]
    searched = any(row.search for row in experiment.algorithms)
    titles += [column.title for column in COLUMNS if searched or not column.of_search]
    if experiment.statistics is not None and experiment.statistics.margin is not None:
        titles.append(AGAINST_BEST)
    chosen_titles = [_title(part, titles) for part in parts]
    if SECONDS in chosen_titles:
        summed = [column.title for column in COLUMNS if column.name in TIMES]
        _refuse_summed([title for title in chosen_titles if title in summed])


ERROR = "error"
"""The column of what failed, which a table has where something did."""


def _title(part: str, titles: Iterable[str]) -> str:
    """Return the title of a column by its name in any case, or refuse it."""
    by_name = {title.casefold(): title for title in titles}
    title = by_name.get(part.casefold()) or _label(part)
    if title in by_name.values():
        return title
    choices = [*by_name.values(), ALL, METRICS]
    raise HarnessError(f"--columns: no column {part!r}; {suggestion(part, choices)}")


def _refuse_summed(titles: Sequence[str]) -> None:
    """Refuse columns beside the sum that has them in it."""
    if titles:
        message = f"--columns: {SECONDS} has {joined(titles)} in it"
        raise HarnessError(f"{message}; leave one of them out")


def _divided(columns: str) -> list[str]:
    """Return names that are separated by commas outside of parentheses."""
    parts = re.findall(r"(?:[^,(]|\([^)]*\))+", columns)
    return [part.strip() for part in parts if part.strip()]


def _label(part: str) -> str:
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
