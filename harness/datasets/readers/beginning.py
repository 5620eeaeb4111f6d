"""What comes before the rows of a text: empty lines, comments, ``sep=;``, lines to skip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.datasets.readers.base import NO_ROWS, ReadOptions
from harness.datasets.readers.layout import LONGEST_LINE, split_line
from harness.errors import DataError
from harness.notes import Note

TOO_LONG = (
    f"a line of more than {LONGEST_LINE:,} bytes; give a file with one rating a line "
    "(line ends lost, or not text?)"
)
_SEPARATOR = re.compile(r'^"?sep=(\\t|[^"])"?[,;\t|]*$', re.IGNORECASE)
"""Excel's first line that names the separator."""


@dataclass(frozen=True)
class Beginning:
    """The first line with data.

    Parameters
    ----------
    line : int
        Its number.
    first, body : str
        Its text, and the block from there on.
    separator : str or None
        As the file itself names it.
    notes : tuple of Note
        What was not read.
    """

    line: int
    first: str
    body: str
    separator: str | None = None
    notes: tuple[Note, ...] = ()


def without_comments(blocks: Iterator[str], options: ReadOptions) -> Iterator[str]:
    """Yield blocks of whole lines in which those that are not to be read are empty."""
    pattern = options.comment and re.compile(rf"(?m)^[ \t]*{re.escape(options.comment)}[^\n]*")
    n_left = options.skip
    for block in blocks:
        if n_left:
            lines = block.split("\n")
            n_skipped = min(n_left, len(lines) - (not lines[-1]))
            n_left -= n_skipped
            block = "\n".join([""] * n_skipped + lines[n_skipped:])
        yield pattern.sub("", block) if pattern else block


def find_beginning(blocks: Iterator[str], options: ReadOptions, where: str) -> Beginning:
    """Return the first line with data: after empty lines, comments and ``sep=;``.

    A last comment that names the columns is the header.
    """
    line, separator, comments, block = 1, None, 0, ""
    commented = ""
    while True:
        body = block.lstrip("\n")
        line += len(block) - len(body)
        if not body:
            block = next(blocks, "")
            if not block:
                raise DataError(f"{where}: {NO_ROWS}")
            continue
        first = body[: LONGEST_LINE + 1].partition("\n")[0]
        if len(first) > LONGEST_LINE:
            raise DataError(f"{where}:{line}: {TOO_LONG}")
        if "\0" in first:
            raise DataError(f"{where}:{line}: null bytes; this is not text")
        named = _SEPARATOR.match(first) if separator is None and not options.form else None
        is_comment = first.startswith("#") and options.comment is None and not options.form
        if named is None and not (is_comment and options.header is not False):
            break
        if named is not None:
            separator = "\t" if named[1] == "\\t" else named[1]
        else:
            comments, commented = comments + 1, first
        block = body[len(first) :]
    notes = []
    if comments:
        header = commented.lstrip("# \t")
        if _is_header(header, first, separator, options):
            line, body, first, comments = line - 1, f"{header}\n{body}", header, comments - 1
    if comments:
        notes.append(Note("comments-skipped", {"n": comments, "line": line}))
    return Beginning(line, first, body, separator, tuple(notes))


def _is_header(header: str, first: str, separator: str | None, options: ReadOptions) -> bool:
    """Return whether a comment names the columns of the line after it."""
    if options.roles.names_columns(split_line(first, separator or options.separator or ",")):
        return False
    for mark in (separator, options.separator, ",", "\t", ";", "|", "::", "whitespace"):
        if mark is not None:
            names = split_line(header, mark)
            if options.roles.names_columns(names):
                return len(names) == len(split_line(first, mark))
    return False
