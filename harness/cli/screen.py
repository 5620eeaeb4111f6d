"""Tables and summaries on the screen: aligned everywhere, coloured on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

    from harness.experiment.outline import Outline
    from harness.results.run import Run

__all__ = ["printable", "show_outline", "show_run", "show_table"]

READABLE = 32
"""Columns that errors need beside the numbers; with fewer they stand under the table."""


LONGEST_LINE = 3_000
"""Characters of a line of a message: a file may hold fields of any length."""


def printable(message: str) -> str:
    r"""Return a message in which what could steer a terminal, or not be seen, is spelled out.

    Examples
    --------
    >>> print(printable("a.yaml:1: \x1b[2J\ufeffname: unknown key"))
    a.yaml:1: \x1b[2J\ufeffname: unknown key
    """
    return "\n".join(
        "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
        for line in map(_cut, message.split("\n"))
    )


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"


def show_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Sequence[str] = (),
    best: Sequence[tuple[int, int]] = (),
) -> None:
    """Print a table: through rich on a terminal, as aligned text elsewhere.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences of str
    left : sequence of str
        Columns of words; the others hold numbers and are aligned to the right.
    best : sequence of (row, column)
        Cells to stand out.
    """
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for place, column in enumerate(columns):
            aligned = any(row[place].endswith(" ") for row in rows)
            table.add_column(
                Text(column),
                justify="left" if column in left or aligned else "right",
                no_wrap=column != "error",
                overflow="fold",
            )
        for i, row in enumerate(rows):
            table.add_row(
                *(Text(v, style="bold green" if (i, j) in best else "") for j, v in enumerate(row))
            )
        Console(highlight=False).print(table)
        return
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for line in (columns, *rows):
        padded = (
            text.ljust(width) if column in left else text.rjust(width)
            for text, width, column in zip(line, widths, columns, strict=True)
        )
        click.echo("  ".join(padded).rstrip())


def show_run(run: Run) -> None:
    """Print a run's table, its notes and where it was written."""
    from harness.results.table import GROUP, headline, to_frame_for_people

    frame = to_frame_for_people(run.info)
    click.echo(f"\n{_plain(run.name)} · {_plain(headline(run.info))}\n")
    failed = [] if _has_room(frame) else _taken_out(frame)
    rows = [[_plain(value) for value in row] for row in frame.itertuples(index=False)]
    left = ("algorithm", "error", *GROUP)
    show_table(list(frame.columns), rows, left, _best(run))
    if failed or run.info["notes"]:
        click.echo()
    for name, error in failed:
        _say(f"✗ {_plain(name)}: {_plain(error)}", "red")
    for note in run.info["notes"]:
        _say(f"note: {_plain(note)}")
    if run.folder is not None:
        click.echo(f"\nwritten to {_plain(run.folder)}")


def _has_room(frame: pd.DataFrame) -> bool:
    """Return whether errors, where there are any, can be read beside the numbers."""
    if "error" not in frame or not sys.stdout.isatty():
        return True
    from rich.console import Console

    widths = [
        2 + max([len(column), *map(len, frame[column])])
        for column in frame.columns
        if column != "error"
    ]
    return Console().width - sum(widths) >= READABLE


def _taken_out(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Take the column of errors out of a table, and return what it said, by algorithm."""
    errors = frame.pop("error")
    told = zip(frame["algorithm"], errors, strict=True)
    return [(name, error) for name, error in told if error]


def _say(text: str, style: str = "") -> None:
    """Print a line; on a terminal it breaks between words."""
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False).print(Text(text, style))


def show_outline(outline: Outline) -> None:
    """Print what a config would do."""
    click.echo(f"{_plain(outline.name)}\n")
    for what, fact in outline.facts:
        _say(f"{what:<12}{_plain(fact)}")
    columns = ["algorithm", "cells", "trials", "memory of one", "parameters"]
    rows = [[_plain(value) for value in row] for row in outline.rows]
    if all(row[2] == "0" for row in rows):
        columns, rows = (
            [each for each in columns if each != "trials"],
            [r[:2] + r[3:] for r in rows],
        )
    click.echo()
    show_table(columns, rows, ("algorithm", "parameters"))
    if outline.notes:
        click.echo()
    for note in outline.notes:
        _say(f"note: {_plain(note)}")


def _best(run: Run) -> list[tuple[int, int]]:
    """Return the places of the best algorithms by each metric, in each table."""
    from harness.results.table import best_rows, to_frame_for_people

    shown = list(to_frame_for_people(run.info).columns)
    return [
        (row, shown.index(label))
        for label in run.info["metrics"]
        for row in best_rows(run.info, label)
    ]


def _plain(value: Any) -> str:
    """Return text on one line, without characters that steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in str(value))
