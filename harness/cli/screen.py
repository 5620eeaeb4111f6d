"""Everything that is printed: messages, tables and summaries, safe for a terminal of any width."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

    from harness.experiment.dry_run import DryRun
    from harness.results.runs import Run

__all__ = [
    "Part",
    "layout",
    "printable",
    "say",
    "show_dry_run",
    "show_run",
    "show_table",
    "shows_tracebacks",
    "wrapped",
]

GAP = 2
"""Spaces between columns."""
READABLE = 24
"""Characters up to which a column of words stays on one line."""
LEAST = 8
"""Characters that a column keeps on the narrowest terminal."""
TRACEBACK = "HARNESS_TRACEBACK"
"""The variable that asks for tracebacks; worker processes inherit it."""
HEADER: dict[str, Any] = {"bold": True}
BEST: dict[str, Any] = {"bold": True, "fg": "green"}
ERROR_WIDTH = 32
"""Width that errors need beside the numbers; with less they are below the table."""
LONGEST_LINE = 3_000
"""Characters of a line of an error message: a file may hold fields of any length."""


def printable(text: str) -> str:
    r"""Return text with control and invisible characters escaped.

    Examples
    --------
    >>> print(printable("a.yaml:1: \x1b[2J\ufeffname: unknown key"))
    a.yaml:1: \x1b[2J\ufeffname: unknown key
    """
    return "\n".join(
        "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
        for line in text.split("\n")
    )


def say(text: object = "", *, colour: str = "", err: bool = False, whole: bool = False) -> None:
    """Print text; every line that the commands print comes through here.

    Parameters
    ----------
    text : object
        Escapes in it are spelled out. On a terminal long lines break between words.
    colour : str
        On a terminal.
    err : bool
        On standard error; very long lines are cut there.
    whole : bool
        Leave the lines as they are: a file format, not sentences.
    """
    lines = printable(str(text)).split("\n")
    if err:
        lines = [s if len(s) <= LONGEST_LINE else f"{s[:LONGEST_LINE]} …" for s in lines]
    if not whole and (sys.stderr if err else sys.stdout).isatty():
        lines = [part for line in lines for part in wrapped(line, _width(), fold=False)]
    shown = "\n".join(lines)
    _write(click.style(shown, fg=colour) if colour else shown, err=err)


def shows_tracebacks() -> bool:
    """Return whether errors are shown with their tracebacks."""
    return os.environ.get(TRACEBACK, "0") not in ("", "0")


def _write(text: str, *, err: bool = False) -> None:
    """Print text as it is; click takes colours out where there is no terminal."""
    with suppress(OSError) if err else nullcontext():
        click.echo(text, err=err, color=False if os.environ.get("NO_COLOR") else None)


@dataclass(frozen=True)
class Part:
    """Columns of a table that stand beside each other.

    Parameters
    ----------
    columns : tuple of int
        Their positions in the table.
    widths : tuple of int
        Characters that each takes.
    """

    columns: tuple[int, ...]
    widths: tuple[int, ...]


def layout(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    words: Collection[str] = (),
) -> list[Part]:
    """Divide a table into parts that a terminal of some width can show.

    A table that is too wide breaks long words columns between words. One that is still too wide is
    shown in parts, each of which repeats the first column. Nothing is left out or cut.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences of str
    width : int
        Characters of a line.
    words : collection of str
        Columns of words, which may break over several lines; numbers stay on one.

    Returns
    -------
    list of Part

    Examples
    --------
    >>> layout(["name", "a", "b"], [["SVD", "0.12345", "0.12345"]], 22)
    [Part(columns=(0, 1, 2), widths=(4, 7, 7))]
    >>> layout(["name", "a", "b"], [["SVD", "0.12345", "0.12345"]], 21)
    [Part(columns=(0, 1), widths=(4, 7)), Part(columns=(0, 2), widths=(4, 7))]
    """
    by_column = list(zip(columns, *rows, strict=True))
    full = [max(map(_cells, cells)) for cells in by_column]
    if _total(full) <= width:
        return [Part(tuple(range(len(full))), tuple(full))]
    least = []
    for name, cells, size in zip(columns, by_column, full, strict=True):
        if name in words:
            word = max(_cells(word) for cell in cells for word in (*cell.split(), ""))
            size = min(size, max(READABLE, min(word, width // 2)))
        least.append(size)
    groups: list[list[int]] = [[0]]
    for position in range(1, len(full)):
        if len(groups[-1]) > 1 and _total([least[j] for j in (*groups[-1], position)]) > width:
            groups.append([0])
        groups[-1].append(position)
    narrow = [position for position, name in enumerate(columns) if name in words]
    return [Part(tuple(group), _widths(group, full, least, width, narrow)) for group in groups]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widths(
    group: list[int], full: list[int], least: list[int], width: int, words: list[int]
) -> tuple[int, ...]:
    """Return the widths of one part: at least the least, then what is left in equal shares."""
    found = {position: least[position] for position in group}
    over = _total(list(found.values())) - width
    for position in sorted(group, key=lambda position: (position not in words, -position)):
        if over > 0:  # two columns are wider than the terminal: words shrink before numbers
            given = min(over, max(0, found[position] - LEAST))
            found[position] -= given
            over -= given
    room = -over
    wanting = sorted(group, key=lambda position: full[position] - found[position])
    for n_before, position in enumerate(wanting):
        more = min(full[position] - found[position], room // (len(wanting) - n_before))
        if more > 0:
            found[position] += more
            room -= more
    return tuple(found.values())


def wrapped(text: str, width: int, *, fold: bool = True) -> list[str]:
    """Break text between words into lines of at most so many characters, all indented alike.

    Parameters
    ----------
    text : str
    width : int
    fold : bool
        Whether a longer word is broken too; a terminal does so by itself.

    Examples
    --------
    >>> wrapped("ratings of films", 9), wrapped("unbreakable", 6)
    (['ratings', 'of films'], ['unbrea', 'kable'])
    >>> wrapped("  drop or keep", 9)
    ['  drop or', '  keep']
    """
    if _cells(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))]
    if 0 < len(indent) < width // 2:
        rest = wrapped(text[len(indent) :], width - len(indent), fold=fold)
        return [indent + line for line in rest]
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if _cells(longer) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while fold and _cells(line) > width:
            end = next(n for n in range(len(line), 0, -1) if n == 1 or _cells(line[:n]) <= width)
            lines.append(line[:end])
            line = line[end:]
    return [*lines, line]


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _width() -> int:
    return max(20, shutil.get_terminal_size().columns)


def show_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    words: Collection[str] = (),
    best: Collection[tuple[int, int]] = (),
    below: Collection[int] = (),
) -> None:
    """Print a table: at full width, or fitted to the terminal.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences
    words : collection of str
        Columns of words; the others hold numbers and are aligned to the right.
    best : collection of (row, column)
        Cells to stand out.
    below : collection of int
        Rows that a line is drawn above.
    """
    columns = [_plain(column) for column in columns]
    cells = [[_plain(value) for value in row] for row in rows]
    parts = layout(columns, cells, _width() if sys.stdout.isatty() else sys.maxsize, words)
    for number, part in enumerate(parts):
        shown = [columns[j] for j in part.columns]
        left = [name in words for name in shown]
        lines = [""] if number else []
        lines += _lines(shown, part.widths, left, [HEADER] * len(shown))
        for i, row in enumerate(cells):
            if number and not any(row[j] for j in part.columns[1:]):
                continue
            if i in below:
                lines.append("─" * _total(part.widths))
            styles = [BEST if (i, j) in best else {} for j in part.columns]
            lines += _lines([row[j] for j in part.columns], part.widths, left, styles)
        _write("\n".join(lines))


def _lines(
    cells: Sequence[str],
    widths: Sequence[int],
    left: Sequence[bool],
    styles: Sequence[dict[str, Any]],
) -> Iterator[str]:
    """Yield the lines of one row."""
    broken = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for n in range(max(map(len, broken))):
        shown = []
        for lines, width, to_left, style in zip(broken, widths, left, styles, strict=True):
            text = lines[n] if n < len(lines) else ""
            pad = " " * (width - _cells(text))
            text = click.style(text, **style) if style and text else text
            shown.append(text + pad if to_left else pad + text)
        yield (" " * GAP).join(shown).rstrip()


def show_run(run: Run) -> None:
    """Print a run's table, its notes and where it was written."""
    from harness.results.runs import GROUP, display_table, headline

    table = display_table(run.info)
    frame = table.frame
    say(f"\n{_plain(run.name)} · {_plain(headline(run.info))}\n")
    failed = [] if _has_room(frame) else _taken_out(frame)
    rows = list(frame.itertuples(index=False))
    lines = [i for i in range(1, len(rows)) if (i in table.bounds) != (i - 1 in table.bounds)]
    columns = list(frame.columns)
    best = [(row, columns.index(label)) for label, own in table.best.items() for row in own]
    show_table(columns, rows, ("algorithm", "error", *GROUP), best, lines)
    if failed or run.info.notes:
        say()
    for name, error in failed:
        say(f"✗ {_plain(name)}: {_plain(error)}", colour="red")
    for note in run.info.notes:
        say(f"note: {_plain(note)}")
    if run.folder is not None:
        say(f"\nwritten to {_plain(run.folder)}")


def _has_room(frame: pd.DataFrame) -> bool:
    """Return whether errors fit beside the numbers."""
    if "error" not in frame or not sys.stdout.isatty():
        return True
    others = [column for column in frame.columns if column != "error"]
    widths = [max(map(_cells, [column, *frame[column]])) for column in others]
    return _total([*widths, ERROR_WIDTH]) <= _width()


def _taken_out(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Remove the column of errors from a table, and return the errors by algorithm."""
    errors = frame.pop("error")
    named = zip(frame["algorithm"], errors, strict=True)
    return [(name, error) for name, error in named if error]


def show_dry_run(plan: DryRun) -> None:
    """Print what a config would do."""
    say(f"{_plain(plan.name)}\n")
    for what, fact in plan.facts:
        say(f"{what:<12}{_plain(fact)}")
    columns = ["algorithm", "cells", "trials", "memory of one", "parameters"]
    kept = [j for j in range(5) if j != 2 or any(row[2] != "0" for row in plan.rows)]
    say()
    rows = [[row[j] for j in kept] for row in plan.rows]
    show_table([columns[j] for j in kept], rows, ("algorithm", "parameters"))
    if plan.notes:
        say()
    for note in plan.notes:
        say(f"note: {_plain(note)}")


def _plain(value: object) -> str:
    """Return text on one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in str(value))
