"""Everything that is printed: messages and tables, safe for a terminal of any width."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness._util.terminal import answers, as_shown
from harness.errors import HarnessError, masked_text, reason_of

if TYPE_CHECKING:
    from harness.console.json import JsonDocument


GAP = 2
"""Spaces between columns."""
READABLE = 24
"""Characters up to which a column of words stays on one line."""
LEAST = 8
"""Characters that a column keeps on the narrowest terminal."""
LONGEST_LINE = 3_000
"""Characters of a line of an error message: a file may hold fields of any length."""
TRACEBACK = "HARNESS_TRACEBACK"
"""The variable that asks for tracebacks; worker processes inherit it."""
listeners: list[Callable[[str], object]] = []
"""Listeners that receive every text that is printed, such as the file of ``--log-file``."""
documents: list[JsonDocument] = []
"""With ``--json``, what gathers texts and tables in place of the screen; else none."""


def printable(text: str) -> str:
    r"""Return text with control and invisible characters escaped.

    >>> print(printable("a.yaml:1: \x1b[2J\ufeffname: unknown key"))
    a.yaml:1: \x1b[2J\ufeffname: unknown key
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def plain(value: object) -> str:
    """Return text on one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in str(value))


def now() -> str:
    """Return the time of day with its date, to the second, as ISO 8601 writes it."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def say(
    text: object = "",
    *,
    colour: str = "",
    err: bool = False,
    is_data: bool = False,
    has_time: bool = False,
) -> None:
    """Print text with its escapes spelled out; every line of the commands comes through here.

    If there is a width (`screen_width`), long lines break between words, unless the text
    `is_data`: a file format, not sentences. On standard error very long lines are cut. A line that
    `has_time` begins with it.
    """
    if err and not is_data:  # not of tables, whose ids of items can be addresses
        text = masked_text(str(text))
    for hear in () if is_data else listeners:
        hear(click.unstyle(str(text)))
    if documents and not err:
        documents[0].add_text(click.unstyle(str(text)), is_data=is_data)
        return
    text = f"{now()} {text}" if has_time else text
    lines = as_shown(printable(str(text)), sys.stderr if err else answers()).split("\n")
    if err:
        lines = [s if len(s) <= LONGEST_LINE else f"{s[:LONGEST_LINE]} …" for s in lines]
    if not is_data and (width := screen_width(err=err)):
        lines = [part for line in lines for part in _wrapped(line, width, fold=False)]
    shown = "\n".join(lines)
    _write(click.style(shown, fg=colour) if colour else shown, err=err)


def say_written(path: object, more: str = "") -> None:
    """Say which file or folder was written."""
    say(f"written to {plain(path)}{more}")
    if documents:
        documents[0].files.append(str(path))


def give_result(value: object) -> None:
    """With ``--json``, take a value as the result of the command."""
    documents[0].result = value


def fail(kind: str, message: str, error: BaseException | None = None) -> None:
    """With ``--json``, give what stopped a command that has said so on the screen itself.

    The problems of an `error` of a config are listed.
    """
    for document in documents:
        document.fail(kind, message, error)


def shows_tracebacks() -> bool:
    """Return whether errors are shown with their tracebacks."""
    return os.environ.get(TRACEBACK, "0") not in ("", "0")


def number(value: object, form: str) -> str:
    """Return a cell of a table: a number by its format, nothing for none.

    >>> number(0.25, ".3f"), number(None, ".3f"), number(float("nan"), ".3f"), number("a", ".3f")
    ('0.250', '', '', 'a')
    """
    if value is None or value != value:  # NaN
        return ""
    return format(value, form) if isinstance(value, float) else str(value)


def show_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    words: Collection[str] = (),
    best: Collection[tuple[int, int]] = (),
    below: Collection[int] = (),
) -> None:
    """Print a table: at full width, or fitted to `screen_width`; nothing is left out or cut.

    Columns of `words` are aligned to the left, columns of numbers to the right. A table that is too
    wide breaks words over several lines. One that is still too wide is shown in parts, each of
    which repeats the first column. The cells (row, column) in `best` stand out, and a line is drawn
    above each row in `below`.
    """
    if documents:
        documents[0].add_table(columns, rows)
        return
    columns, *cells = (
        [as_shown(plain(value), answers()) for value in row] for row in (columns, *rows)
    )
    for number, part in enumerate(_parts([columns, *cells], words)):
        lines = [""] if number else []
        for i, row in enumerate([columns, *cells], -1):
            if number and not any(row[j] for j in [*part][1:]):
                continue
            if i in below:
                lines.append(as_shown("─", answers()) * _total(part.values()))
            broken = (_wrapped(row[j], width) for j, width in part.items())
            for texts in zip_longest(*broken, fillvalue=""):
                shown = []
                for (j, width), text in zip(part.items(), texts, strict=True):
                    pad = " " * (width - _size(text))
                    if text and (i < 0 or (i, j) in best):
                        text = click.style(text, bold=True, fg=None if i < 0 else "green")
                    shown.append(text + pad if columns[j] in words else pad + text)
                lines.append((" " * GAP).join(shown).rstrip())
        _write("\n".join(lines))


def _parts(table: Sequence[Sequence[str]], words: Collection[str]) -> Iterator[dict[int, int]]:
    """Yield the parts in which a table is shown: positions of columns, with their widths."""
    by_column = list(zip(*table, strict=True))
    full = least = [max(map(_size, cells)) for cells in by_column]
    width = screen_width() or _total(full)
    if _total(full) > width:
        longest = [
            max(_size(w) for cell in cells for w in (*cell.split(), "")) for cells in by_column
        ]
        least = [
            min(size, max(READABLE, min(word, width // 2))) if name in words else size
            for name, size, word in zip(table[0], full, longest, strict=True)
        ]
    groups = [[0]]
    for j in range(1, len(full)):
        if len(groups[-1]) > 1 and _total([least[i] for i in (*groups[-1], j)]) > width:
            groups.append([0])
        groups[-1].append(j)
    # Where not even two columns fit, words shrink further, and then numbers.
    short = [min(size, LEAST) for size in least]
    pairs = zip(table[0], least, short, strict=True)
    floors = (least, [few if name in words else size for name, size, few in pairs], short)
    for group in groups:
        fitting = (
            sizes
            for floor in floors
            for most in range(width, 0, -1)
            if _total((sizes := {j: min(full[j], max(floor[j], most)) for j in group}).values())
            <= width
        )
        yield next(fitting)


def _wrapped(text: str, width: int, *, fold: bool = True) -> list[str]:
    """Break text between words into lines of a width, all indented alike.

    With `fold` a word that is longer is broken too; without it the terminal does so.
    """
    if _size(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))]
    if 0 < len(indent) < width // 2:
        rest = _wrapped(text[len(indent) :], width - len(indent), fold=fold)
        return [indent + line for line in rest]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if _size(longer) <= width:
            lines[-1] = longer
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = word
        while fold and _size(lines[-1]) > width:
            line = lines.pop()
            end = next(n for n in range(len(line), 0, -1) if n == 1 or _size(line[:n]) <= width)
            lines += [line[:end], line[end:]]
    return lines


def _total(widths: Collection[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _size(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def screen_width(*, err: bool = False) -> int:
    """Return the columns of a terminal, or in a pipe ``COLUMNS``; 0 where it is not set."""
    columns = os.environ.get("COLUMNS", "")
    if (sys.stderr if err else answers()).isatty() or (columns.isdecimal() and int(columns)):
        return max(20, shutil.get_terminal_size().columns)
    return 0


def _write(text: str, *, err: bool = False) -> None:
    """Print text as it is; click takes colours out where there is no terminal."""
    with suppress(OSError) if err else nullcontext():
        # Without `file`, Click writes UTF-8 where the encoding is ASCII.
        file, color = (
            sys.stderr if err else answers(),
            False if os.environ.get("NO_COLOR") else None,
        )
        click.echo(text, file=file, color=color)


option = click.option(
    "--columns",
    metavar="NAME,...",
    help="Columns of the table: `all`, `metrics`, or names such as ndcg@10,seconds. By default "
    "those that a terminal has room for.",
)


def log_to(path: Path) -> None:
    """Append each line that the command says from here on to a file, with an ISO time stamp.

    Raises
    ------
    HarnessError
        If the file cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise HarnessError(
            f"--log-file {path}: cannot be written ({reason_of(error)}); name another file"
        ) from None

    def write(text: str) -> None:
        time = now()
        lines = [f"{time} {line}\n" for line in printable(text).split("\n") if line.strip()]
        try:
            # Opened for each text, so that what is said before a crash is there.
            with path.open("a", encoding="utf-8") as file:
                file.writelines(lines)
        except OSError as error:
            listeners.clear()
            say(f"note: {path}: the log ends here ({reason_of(error)})", err=True)

    listeners[:] = [write]
