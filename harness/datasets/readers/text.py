"""Read a delimited text (CSV, TSV, ``::``, blanks) into converted columns.

Blocks of whole lines go to Arrow. A block with quotation marks, or of which Arrow does not make one
row for each line, is read record by record with the `csv` module, which gives the same rows, those
that take several lines, and the line of every problem.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness._util.files import report_os_error
from harness._util.libraries import arrow_csv, pa, pc
from harness.datasets.columns import RATINGS, find_columns, is_number, refuse_without_ratings
from harness.datasets.conversion import SHOWN, Flaw, Table, convert
from harness.datasets.evidence import FEW, LINES, Placed, placed_columns, unread_columns
from harness.datasets.numerals import is_written
from harness.datasets.readers.base import (
    NO_ROWS,
    OF_TEXT,
    UNREADABLE,
    Reader,
    ReadOptions,
    Sample,
    example_lines,
)
from harness.datasets.readers.encodings import (
    encoding_of_bytes,
    is_mostly_utf_8,
    refusal,
    unmarked_encoding,
)
from harness.datasets.readers.packed import BUFFER, CountedStream
from harness.datasets.remedies import Remedy
from harness.errors import ColumnsError, DataError, counted, joined
from harness.notes.note import Note

LONGEST_LINE = 1 << 20
"""Characters of a row; a rating takes some thirty."""
_SEPARATORS = ("::", "\t", ",", ";", "|", "\x01")  # the last one is Hive's
csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))


class Layout(NamedTuple):
    """How a text is laid out: separator, header, fields in a line, position of each role."""

    separator: str
    header: bool
    n_fields: int
    columns: dict[str, int]
    quotes: bool = True
    quote: str = '"'

    @property
    def is_one_byte(self) -> bool:
        """Whether the separator is one byte, as the readers of CSV want it."""
        return len(self.separator) == 1 and self.separator.isascii()

    @property
    def quoted(self) -> bool:
        """Whether a field may be in quotation marks."""
        return self.quotes and self.is_one_byte

    def split(self, line: str) -> list[str]:
        """Return the fields of one line."""
        return split_line(line, self.separator, self.quotes)


def lay_out(begun: Beginning, options: ReadOptions, where: str) -> Layout:
    """Find separator, header and columns from the first line and the known format."""
    separator = options.separator or begun.separator or separator_of(begun.first, options)
    fields = _fields(begun.first, separator, options, where)
    header, columns = header_and_columns(fields, options, where)
    return Layout(separator, header, len(fields), columns)


def _fields(first: str, separator: str, options: ReadOptions, where: str) -> list[str]:
    """Return the fields of a first line, or refuse too few of them."""
    roles = options.roles
    quotes = options.quotes != "none"
    fields = [legible(name.strip()) for name in split_line(first, separator, quotes)]
    if len(fields) < roles.least:
        needs_ratings = "rating" in roles.required and not roles.strict
        if needs_ratings and not roles.positions(fields, "rating"):
            refuse_without_ratings(fields, where)
        needed = joined(roles.required) or "columns"
        raise DataError(
            f"{where}: {counted(len(fields), 'field')} separated by {separator!r}, "
            f"but {needed} make {roles.least}; {_other_separator(first, roles.least)}"
        )
    if options.form and len(fields) != len(options.form.split()):
        raise DataError(
            f"{where}: {counted(len(fields), 'field')}; a line must be {options.form}, "
            "with blanks between"
        )
    return fields


_THORN = "\N{LATIN SMALL LETTER THORN}"
"""A letter between the fields of the load files of lawyers' programs."""


def _other_separator(line: str, least: int) -> str:
    """Return how to name another separator, if a sign parts a line into enough fields."""
    if line[:1] == line[-1:] == '"' and len(next(csv.reader([line[1:-1]]), [])) >= least:
        return "each line is in quotation marks as a whole; write the file without these"
    signs = [sign for sign in dict.fromkeys(line) if not (sign.isalnum() or sign in " ._\"'\t")]
    signs += [_THORN] * (_THORN in line)
    sign = next((sign for sign in signs if line.count(sign) >= least - 1), "")
    if not sign:
        return "give lines with all of them, or name what parts them under separator"
    return f"name the separator, such as {Remedy({'separator': sign})}"


SAMPLE = 1 << 16
"""Characters that are looked at before a text is read."""
SIGNS = ("%", "//", "--")
"""What comments begin with, beside ``#``."""


class Seen(NamedTuple):
    """What the beginning of a text shows.

    Parameters
    ----------
    options : ReadOptions
        With all that was found: layout, encoding, lines to skip, marks in numbers, or the kind of
        the file where it is a matrix.
    first : list of str
        The fields of the first line, header or not.
    rows : list of list of str
        The lines after it.
    notes : tuple of Note
        What was found, with the keys that say it in a config.
    """

    options: ReadOptions
    first: list[str]
    rows: list[list[str]]
    notes: tuple[Note, ...]


def look(path: Path, options: ReadOptions, where: str, given: Set[str] = frozenset()) -> Seen:
    """Return how a text of ratings is laid out, by its first lines.

    Parameters
    ----------
    path : Path
    options : ReadOptions
    where : str
        For messages.
    given : set of str
        Keys of a config that are not to be found out.
    """
    notes: list[Note] = []
    begun, options = begin(path, options, where, notes)
    separator = options.separator or begun.separator or separator_of(begun.first, options)
    first, lines = split_line(begun.first, separator), begun.body.split("\n")
    roles, at = options.roles, f"{where}:{begun.line}"
    if roles.names_columns([name.strip() for name in first]) and options.header is not False:
        rows = [split_line(line, separator) for line in lines[1:LINES] if line]
        first = _fields(begun.first, separator, options, at)
        if rows and all(len(row) != len(first) for row in rows):
            n_names = len(first)
            first, separator, rows = _as_rows(first, separator, lines[1:LINES], rows)
            if len(first) < n_names:
                lost = _fields(begun.first, separator, options, at)[len(first) :]
                notes.append(Note("names-without-fields", {"names": lost, "n": len(first)}))
        try:
            placed = Placed(True, find_columns(first, options.columns, at, roles))
        except ColumnsError:  # said with the columns that may be meant
            placed = placed_columns(first, rows, options.columns, options.header, at)
        if len(first) > len(placed.columns):
            notes += unread_columns(first, rows, options.columns, placed.columns)
    else:
        if options.header is not False and "skip" not in given:
            named = options.separator or begun.separator
            if n_titles := _titles(lines[: LINES + _MOST_TITLES], named, options):
                values = {"n": n_titles, "title": lines[0].strip()[:40]}
                options = replace(options, skip=begun.line - 1 + n_titles)
                notes.append(Note("titles-skipped", {**values, "keys": {"skip": options.skip}}))
                lines, at = lines[n_titles:], f"{where}:{options.skip + 1}"
                separator = named or separator_of(lines[0], options)
        rows = [split_line(line, separator) for line in lines[1:LINES] if line]
        first = _fields(lines[0], separator, options, at)
        placed = placed_columns(first, rows, options.columns, options.header, at)
        notes += placed.notes
        if placed.wide is not None:
            options = replace(options, kind="matrix", header=placed.header, separator=separator)
            return Seen(options, first, rows, tuple(notes))
    layout = Layout(separator, placed.header, len(first), placed.columns)
    return Seen(replace(options, layout=layout), first, rows, tuple(notes))


def _as_rows(
    names: list[str], separator: str, lines: list[str], rows: list[list[str]]
) -> tuple[list[str], str, list[list[str]]]:
    """Return names, separator and rows where no row is as long as the header.

    R writes row names without one over them, other programs a separator at the end of each row; the
    last names may have no fields, and a header may have another separator than its rows.
    """
    lengths = {len(row) for row in rows}
    if lengths == {len(names) + 1}:
        if not any(row[-1] for row in rows):
            return [*names, ""], separator, rows
        if len({row[0] for row in rows}) == len(rows):
            return ["", *names], separator, rows
    for mark in _SEPARATORS:
        parted = [split_line(line, mark) for line in lines if line]
        if {len(row) for row in parted} == {len(names)}:
            return names, mark, parted
    n_fields = max(lengths)
    if len(lengths) == 1 and n_fields < len(names) and RATINGS.names_columns(names[:n_fields]):
        return names[:n_fields], separator, rows
    return names, separator, rows


def layout_found(**found: str) -> Note:
    """Return the note on keys that were found out and used."""
    return Note("layout-found", {"found": str(Remedy(found)), "keys": found})


def begin(
    path: Path, options: ReadOptions, where: str, notes: list[Note]
) -> tuple[Beginning, ReadOptions]:
    """Return the beginning of a text, and options with the encoding and the comments found in it.

    Notes on what it found are added to `notes`.
    """
    with report_os_error(where, *UNREADABLE), path.open("rb") as file:
        blocks = _blocks(file, options, where, notes, SAMPLE)
        if options.skip or options.comment:
            blocks = without_comments(blocks, options)
        begun = find_beginning(blocks, options, where)
        body = begun.body
        while body.count("\n") <= FEW and len(body) < BLOCK and (more := next(blocks, "")):
            body += more  # of long lines, as of a matrix of many items
    if notes and options.encoding is None:  # the whole text has the encoding of its beginning
        options = replace(options, encoding=str(notes[-1].values["encoding"]))
    if options.comment is None and begun.first.startswith(SIGNS):
        comment = next(sign for sign in SIGNS if begun.first.startswith(sign))
        begun, options = begin(path, replace(options, comment=comment), where, notes)
        notes.append(layout_found(comment=comment))
        return begun, options
    return replace(begun, body=body), options


_MOST_TITLES = 20
"""Lines before a header that may be titles."""


def _titles(lines: Sequence[str], separator: str | None, options: ReadOptions) -> int:
    """Return how many lines stand before the header, or before rows that all are alike.

    A title has no number where a row has its rating.
    """
    marks = [separator] if separator else [*options.separators, *_SEPARATORS]
    marks = [mark for mark in marks if any(mark in line for line in lines)]
    texts = {column.strip() for column in options.columns.values() if isinstance(column, str)}

    def names_columns(fields: Sequence[str]) -> bool:
        names = [name.strip() for name in fields]
        return texts <= {*names} if texts else options.roles.names_columns(names)

    if any(names_columns(split_line(lines[0], mark)) for mark in marks):
        return 0
    for number, line in enumerate(lines[:_MOST_TITLES]):
        for mark in marks:
            names = split_line(line, mark)
            if number and names_columns(names):
                after = next((text for text in lines[number + 1 :] if text), "")
                before = [split_line(text, mark) for text in lines[:number]]
                are_titles = not any(len(row) > 2 and is_number(row[2]) for row in before)
                if len(split_line(after, mark)) == len(names) and are_titles:
                    return number
    for mark in marks:
        counts = [len(split_line(line, mark)) if line else 0 for line in lines[:LINES]]
        n_titles = next((n for n, count in enumerate(counts) if count > 2), 0)
        rows = [count for count in counts[n_titles:] if count]
        if 0 < n_titles <= FEW <= len(rows) and len({*rows}) == 1 and max(counts[:n_titles]) < 2:
            return n_titles
    return 0


def header_and_columns(
    fields: Sequence[str], options: ReadOptions, where: str
) -> tuple[bool, dict[str, int]]:
    """Return whether a first line is a header, and the position of each column that is there."""
    roles = options.roles
    by_name = any(isinstance(column, str) for column in options.columns.values())
    header = options.header
    if header is None:
        header = by_name or roles.names_columns(fields)
        if not header:
            marks = _numbers(fields, options)
            text = next((mark for mark in marks if not _is_rating(mark, options)), None)
            if text is not None:
                header = True
                where += f": a header, it seems, because {text!r} is not a number" * bool(text)
    if header:
        return True, find_columns(fields, options.columns, where, roles)
    if by_name:
        raise DataError(f"{where}: columns have names but the file no header; give positions")
    named = dict(options.columns)
    for position, role in enumerate(roles.order or roles.kinds, 1):
        if role not in named and position <= len(fields) and position not in named.values():
            named[role] = position
    names = [f"column {n + 1}" for n in range(len(fields))]
    return False, find_columns(names, named, where, roles)


def _is_rating(text: str, options: ReadOptions) -> bool:
    """Return whether a field may be a rating rather than the name of a column."""
    return is_number(text.replace(",", ".")) or is_written(text, options.values)


def _numbers(fields: Sequence[str], options: ReadOptions) -> list[str]:
    """Return the fields of a first line that are numbers in a row: those by position, or the third.

    For pairs without numbers, any field that is a number shows a row.
    """
    kinds = options.roles.kinds
    placed = [
        column - 1
        for role, column in options.columns.items()
        if isinstance(column, int) and kinds.get(role) == "number"
    ]
    marks = [fields[place] for place in placed or [2] if place < len(fields)]
    if marks or not options.roles.strict:
        return marks or [""]
    return [field for field in fields if is_number(field)] or [""]


_FRAMED = re.compile(r"([|^~@#*;])(?!\1)[|^~@#*:,]\1")
"""A sign on both sides of another, such as ``|~|``, which together separate fields."""


def separator_of(line: str, options: ReadOptions) -> str:
    """Return what makes enough fields of a line; what is usual for its kind first."""
    if (between := line.split("\t")[1::2]) and not any(between):  # as Jester's own files have it
        return "\t\t"
    candidates = (*options.separators, *_SEPARATORS, "whitespace")
    if options.decimal == ",":  # the mark of a number before that of a field
        candidates = tuple(sorted(candidates, key=lambda mark: (mark == "whitespace", mark == ",")))
    if re.fullmatch(r'"[^"]*"( "[^"]*")+', line):  # a blank may be in a field, as R writes texts
        return " "
    least = options.roles.least
    for separator in candidates:
        if len(split_line(line, separator)) >= least:
            found = _FRAMED.search(line)
            is_part = found and separator in found[0] and line.count(found[0]) + 1 >= least
            return found[0] if found and is_part else separator
    return next((separator for separator in candidates if separator in line), "whitespace")


def split_line(line: str, separator: str, quotes: bool = True) -> list[str]:
    r"""Return the fields of one line.

    Examples
    --------
    >>> split_line('1,"a, b",3', ","), split_line("1::2::3", "::")
    (['1', 'a, b', '3'], ['1', '2', '3'])
    """
    if separator == "whitespace":
        return re.split(r"[ \t]+", line.strip(" \t"))
    is_plain = line and '"' not in line and "'" not in line
    if is_plain or len(separator) > 1 or not separator.isascii() or not quotes:
        return line.split(separator)
    fields = next(csv.reader([line], delimiter=separator), [])
    if '\\"' in line:
        fields = _with_backslashes(line, separator) or fields
    if len(fields) > 1 and all(map(in_single_quotes, fields)):
        return next(csv.reader([line], delimiter=separator, quotechar="'"), [])
    return fields


def _with_backslashes(line: str, separator: str) -> list[str]:
    """Return the fields of a line in which a backslash is before marks; none if it reads without.

    It does if the marks enclose whole fields.
    """
    try:
        list(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error:
        with suppress(csv.Error):
            return next(csv.reader([line], delimiter=separator, escapechar="\\", strict=True))
    return []


def in_single_quotes(field: str) -> bool:
    """Return whether a field begins and ends with a single quotation mark."""
    return len(field) > 1 and field[0] == field[-1] == "'"


def legible(name: str) -> str:
    """Return a name without what is not UTF-8 or would not show."""
    decoded = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in decoded)


TOO_LONG = (
    f"a line of more than {LONGEST_LINE:,} bytes; give a file with one rating a line "
    "(line ends lost, or not text?)"
)
_SEPARATOR = re.compile(r'^"?sep=(\\t|[^"])"?[,;\t|]*$', re.IGNORECASE)
"""Excel's first line that names the separator."""
_PLAIN = re.compile(r'[^\n\0#"sS][^\n\0]{0,9999}(?=\n)')
"""A first line that has data beyond doubt: no comment, and none that names the separator."""


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
    block = next(blocks, "")
    if plain := _PLAIN.match(block):
        return Beginning(1, plain[0], block)
    line, separator, comments, commented = 1, None, 0, ""
    held: Beginning | None = None
    are_rows = options.header is None
    while True:
        while not (body := block.lstrip("\n")):
            line += len(block)
            block = next(blocks, "")
            if not block and held is None:
                raise DataError(f"{where}: {NO_ROWS}")
            if held is not None and (not block or comments >= FEW):
                return held
        line += len(block) - len(body)
        first = body[: LONGEST_LINE + 1].partition("\n")[0]
        if len(first) > LONGEST_LINE:
            raise DataError(f"{where}:{line}: {TOO_LONG}")
        if "\0" in first:
            raise DataError(f"{where}:{line}: null bytes; this is not text")
        named = _SEPARATOR.match(first) if separator is None and not options.form else None
        is_comment = first.startswith("#") and options.comment is None and not options.form
        is_comment = is_comment and not _names_numbers(body)
        if named is None and not (is_comment and options.header is not False):
            break
        if named is not None:
            separator = "\t" if named[1] == "\\t" else named[1]
        else:
            comments, commented = comments + 1, first
            are_rows = are_rows and _may_be_row(first, options)
            if are_rows and held is None:
                note = Note("signs-of-ids", {"line": line, "keys": {"header": False}})
                held = Beginning(line, first, body, separator, (note,))
            elif not are_rows:
                held = None
        block = body[len(first) :]
    if held is not None and _n_fields(held.first, options) == _n_fields(first, options):
        return held
    if comments:
        header = commented.lstrip("# \t")
        if _is_header(header, first, separator, options):
            line, body, first, comments = line - 1, f"{header}\n{body}", header, comments - 1
    notes = (Note("comments-skipped", {"n": comments, "line": line}),) if comments else ()
    return Beginning(line, first, body, separator, notes)


def _names_numbers(body: str) -> bool:
    """Return whether a text begins with a header whose first column is called ``#``."""
    first, after, *_ = [*body.split("\n", 2), ""]
    mark = first[1:2]
    return mark in (",", ";", "\t", "|") and 2 <= first.count(mark) == after.count(mark)


def _may_be_row(line: str, options: ReadOptions) -> bool:
    """Return whether a line that begins with a sign has an id, another one and a number."""
    fields = split_line(line, options.separator or separator_of(line, options))
    return len(fields) > 2 and line[1:2] not in ("#", " ", "\t", "") and is_number(fields[2])


def _n_fields(line: str, options: ReadOptions) -> int:
    return len(split_line(line, options.separator or separator_of(line, options)))


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


BLOCK = 1 << 22
MOST_FAULTS = 10_000
"""Unmatched quotation marks after which a file is refused."""


# Separators of several characters become one that no rating holds: ASCII's unit separator.
UNIT = "\x1f"
_NO_UTF_8 = re.compile("[\udc80-\udcff]")
_NOT_CLOSED = (
    "a quotation mark is opened here and not closed before a separator or a line end; double it "
    "if it belongs to the text, or remove it"
)
_MARKS_AS_TEXT = "`quotes: none` reads quotation marks as parts of the text"


def read_text(stream: io.BufferedReader, options: ReadOptions, where: str) -> Table:
    """Read the columns of a delimited text; every row is counted, every problem has its line.

    Problems of single rows are in the table. Raised with file and line are: no rows, a missing
    column, an encoding that does not fit, a line that never ends.
    """
    found: list[Note] = []
    blocks = _blocks(stream, options, where, found)
    if options.skip or options.comment:
        blocks = without_comments(blocks, options)
    begun = find_beginning(blocks, options, where)
    line, body, notes = begun.line, begun.body, [*begun.notes]
    try:
        layout = options.layout or lay_out(begun, options, f"{where}:{line}")
    except DataError as error:
        if not _NO_UTF_8.search(begun.first):
            raise
        raise DataError(f"{error}; the line is not UTF-8: {options.advice()}") from None
    if layout.header:
        line, body = line + 1, body.partition("\n")[2]
    elif options.layout is None and (code := _assumption(options, layout)):
        order = sorted(layout.columns, key=layout.columns.__getitem__)
        notes.append(Note(code, {"order": order}))
    if options.quotes is not None or "'" in body[:LONGEST_LINE]:
        layout = _with_quotes(layout, options, body, notes)
    rows = _Rows(layout, options, line, notes)
    for block in chain([body], blocks):
        if not rows.add_block(block) and not rows.add_as_text(block):
            rows.add_records(block, blocks)
            if len(rows.faults[""]) > MOST_FAULTS:
                break
        rows.is_open = not block.endswith("\n") if block else rows.is_open
    notes[:0] = found
    return rows.table(where)


_OPENING, _CLOSING = "“”„«»", "“”«»"
QUOTES = {"double": '"', "single": "'", "none": ""}
"""Quotation marks by the key `quotes` of a config."""


def _with_quotes(layout: Layout, options: ReadOptions, body: str, notes: list[Note]) -> Layout:
    """Return a layout with the quotation marks that a config names, or the first lines show."""
    if options.quotes is not None:
        return layout._replace(quotes=options.quotes != "none", quote=QUOTES[options.quotes] or '"')
    if not layout.quoted:
        return layout
    lines = body[: LONGEST_LINE >> 4].split("\n")[:SHOWN]
    rows = [line.split(layout.separator) for line in lines if line]
    rows = [row for row in rows if len(row) == layout.n_fields]
    places = layout.columns.values()
    if rows and any(all(in_single_quotes(row[place]) for row in rows) for place in places):
        keys = {"quotes": "single"}
        notes.append(Note("quotes-found", {"mark": "'", "key": "single", "keys": keys}))
        return layout._replace(quote="'")
    return layout


def _fit_as_text(block: str, layout: Layout) -> bool:
    """Return whether all lines have their fields if quotation marks are read as text."""
    return all(
        line.count(layout.separator) == layout.n_fields - 1 for line in block.split("\n") if line
    )


def _pair_up(block: str, layout: Layout) -> bool:
    """Return whether the quotation marks of a block enclose fields, each in one line."""
    try:
        plain = block.replace(f"\\{layout.quote}", "")  # as some programs double a mark
        lines = csv.reader(
            plain.split("\n"), delimiter=layout.separator, quotechar=layout.quote, strict=True
        )
        return all(not fields or len(fields) == layout.n_fields for fields in lines)
    except csv.Error:
        return False


def _assumption(options: ReadOptions, layout: Layout) -> str:
    """Return the code of the note on columns whose order was assumed."""
    if layout.columns.keys() <= options.columns.keys():
        return ""
    if options.roles is RATINGS:
        return "" if {"user", "item"} <= options.columns.keys() else "columns-assumed"
    return "list-columns-assumed" if options.roles.order else ""


def read_sample(
    stream: io.BufferedReader, options: ReadOptions, where: str, n_rows: int = 1
) -> tuple[str, list[list[str]]]:
    """Return the separator of a text and the fields of its first lines, the header among them."""
    blocks = without_comments(_blocks(stream, options, where), options)
    begun = find_beginning(blocks, options, where)
    separator = options.separator or begun.separator or separator_of(begun.first, options)
    lines = begun.body[: 4 * LONGEST_LINE].split("\n")
    rows = (split_line(line, separator) for line in lines if line)
    return separator, [[legible(name.strip()) for name in row] for row in islice(rows, n_rows)]


def _blocks(
    stream: io.BufferedReader,
    options: ReadOptions,
    where: str,
    notes: list[Note] | None = None,
    size: int = 0,
) -> Iterator[str]:
    r"""Yield a text in blocks of whole lines, which end with ``\n``; stray bytes as surrogates.

    The first block that is not UTF-8 shows its encoding, unless the options name one; a note says
    it.
    """
    start, known = stream.peek(4)[:4], options.encoding
    if b"\0" in start or not start.isascii():
        known = _encoding_of_start(start, options, where, notes)
    encoding = known or "utf-8"
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    text = io.TextIOWrapper(stream, encoding, errors)
    mark, n_lines = "\ufeff", 0
    own: str | None = None
    try:
        while block := text.read(size or BLOCK):
            if not block.endswith("\n"):
                rest = text.readline(LONGEST_LINE)
                block += rest
                if len(rest) == LONGEST_LINE and not rest.endswith("\n"):
                    line = n_lines + block.count("\n") + 1
                    raise DataError(f"{where}:{line}: {TOO_LONG}")
            if known is None and not block.isascii():
                if own is None:
                    finds = options.finds_encoding
                    own = _own_encoding(block, where, n_lines, notes) if finds else ""
                if own:
                    data = block.encode("utf-8", "surrogateescape")
                    block = data.decode(own)
            n_lines += block.count("\n")
            yield block.removeprefix(mark)
            mark = ""
    except UnicodeError as error:
        name = own or encoding
        raise DataError(f"{where}: not {name} ({error}); {options.advice()}") from None
    finally:
        if not stream.closed:
            text.detach()  # the stream is closed by its owner


def _encoding_of_start(
    start: bytes, options: ReadOptions, where: str, notes: list[Note] | None
) -> str | None:
    """Return the encoding of a text: the one that is named, else what its first bytes show."""
    encoding = options.encoding
    if encoding is None and start[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return "utf-32"
    if encoding is None and start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    if encoding in (None, "utf-8", "utf-16") and b"\0" in start:
        unmarked = unmarked_encoding(start)
        if unmarked is not None and encoding is not None:
            advice = options.advice(unmarked)
            raise DataError(f"{where}: UTF-16 without a byte order mark, it seems; {advice}")
        if unmarked is not None:
            _note_encoding(unmarked, "", notes)
            return unmarked
    return encoding


def _own_encoding(block: str, where: str, n_before: int, notes: list[Note] | None) -> str:
    """Return the encoding of a block that is not UTF-8, or refuse it with those it may be.

    Empty for UTF-8, and for text of which but a few bytes are not.
    """
    if not _NO_UTF_8.search(block):
        return ""
    data = block.encode("utf-8", "surrogateescape")
    if is_mostly_utf_8(data):
        return ""
    encoding = encoding_of_bytes(data)
    if encoding is None:
        lines = enumerate(block.split("\n"), n_before + 1)
        line = next(number for number, text in lines if not text.isascii())
        raise DataError(f"{where}:{line}: {refusal(data)}")
    text = data.decode(encoding, "replace")
    _note_encoding(encoding, next(line for line in text.split("\n") if not line.isascii()), notes)
    return encoding


def _note_encoding(encoding: str, line: str, notes: list[Note] | None) -> None:
    if notes is not None:
        example = f" ({line.strip()[:40]})" if line else ""
        found = {"encoding": encoding, "example": example, "keys": {"encoding": encoding}}
        notes.append(Note("encoding-found", found))


@dataclass
class _Rows:
    """The rows of a text as they are read: columns of text, lines, and what is wrong with some."""

    layout: Layout
    options: ReadOptions
    line: int
    notes: list[Note]
    n_rows: int = 0
    chunks: dict[str, list[pa.Array]] = field(default_factory=partial(defaultdict, list))
    lines: list[tuple[int, Sequence[int]]] = field(default_factory=list)
    """From the row on, the line of each."""
    faults: dict[str, list[int]] = field(default_factory=partial(defaultdict, list))
    """Rows by policy."""
    described: dict[int, str] = field(default_factory=dict)
    """Problems of the first of them."""
    tall: list[int] = field(default_factory=list)
    """The lines of rows that take several."""
    fits_as_text: bool = True
    """Whether all lines have their fields if quotation marks are read as text."""
    has_quotes: bool = False
    """Whether a field was in quotation marks."""
    is_open: bool = False
    """Whether the last line has no line end."""

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """The type of each column: ids and texts, which come again, are coded."""
        kinds, coded = self.options.roles.kinds, pa.dictionary(pa.int32(), pa.string())
        types = {"id": coded, "text": coded}
        return {role: types.get(kinds[role], pa.string()) for role in self.layout.columns}

    def add_block(self, block: str) -> bool:
        """Add a block if each of its lines is one row without problem; return whether it is."""
        layout = self.layout
        separator = layout.separator
        if layout.is_one_byte:
            if layout.quotes and layout.quote in block:
                return False
        else:
            if UNIT in block:
                return False
            if separator == "whitespace":
                block = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", block)
                block = re.sub(r"[ \t]+", UNIT, block)
            else:
                block = block.replace(separator, UNIT)
            separator = UNIT
        if block.strip("\n"):
            roles = {position: role for role, position in layout.columns.items()}
            # A copy in Arrow's memory: one of its threads may release the block last. To release
            # bytes of Python it needs the interpreter, and ends the process if that shuts down.
            memory = pa.BufferOutputStream()
            memory.write(block.encode("utf-8", "surrogateescape"))
            try:
                table = arrow_csv.read_csv(
                    pa.BufferReader(memory.getvalue()),
                    arrow_csv.ReadOptions(
                        column_names=[roles.get(n, str(n)) for n in range(layout.n_fields)],
                        block_size=LONGEST_LINE,
                    ),
                    arrow_csv.ParseOptions(delimiter=separator, quote_char=False),
                    arrow_csv.ConvertOptions(
                        include_columns=list(self.types), column_types=self.types, null_values=[]
                    ),
                )
            except (pa.ArrowInvalid, pa.ArrowCapacityError):
                return False
            n_lines = block.count("\n") + (not block.endswith("\n"))
            lines: Sequence[int] = range(self.line, self.line + n_lines)
            if len(table) != n_lines:  # Arrow skips empty lines
                lines = [self.line + n for n, line in enumerate(block.split("\n")) if line]
                if len(table) != len(lines):
                    return False
            for role in self.types:
                self.chunks[role] += table.column(role).chunks
            self.lines.append((self.n_rows, lines))
            self.n_rows += len(lines)
        self.line += block.count("\n")
        return True

    def add_as_text(self, block: str) -> bool:
        """Add a block whose quotation marks are text, if the first block with marks shows it.

        Between tabs, marks that do not pair up are text where every line has its fields.
        """
        layout = self.layout
        if not layout.quoted or layout.quote != '"' or self.options.quotes is not None:
            return False
        if self.has_quotes or layout.separator != "\t" or not _fit_as_text(block, layout):
            return False
        whole = block
        if 2 * len(block) >= BLOCK:  # its last row may go on; each line end was two characters
            whole = block[: block.rstrip("\n").rfind("\n") + 1]
        if _pair_up(whole, layout):
            self.has_quotes = re.search(rf"(?m)(^|\t){layout.quote}", whole) is not None
            return False
        self.notes.append(Note("marks-are-text", {"key": "none"}))
        self.layout = layout._replace(quotes=False)
        return self.add_block(block)

    def add_records(self, block: str, blocks: Iterator[str]) -> None:
        """Add a block record by record; one with a problem becomes a row without values."""
        layout = self.layout
        pick, nothing = itemgetter(*layout.columns.values()), (None,) * len(layout.columns)
        rows: list[tuple[str | None, ...]] = []
        lines: list[int] = []
        self.fits_as_text &= layout.quoted and _fit_as_text(block, layout)
        for n_taken, fields, fault in _records(block, blocks, layout):
            if fault or fields not in ([], [""]):
                policy = ""
                if not fault and len(fields) != layout.n_fields:
                    policy = "unreadable"
                    fault = (
                        f"{counted(len(fields), 'field')} where the first line has "
                        f"{layout.n_fields}, separated by {layout.separator!r}"
                    )
                    if layout.separator == "whitespace" and len(fields) > layout.n_fields:
                        fault += (
                            "; harness.load(pandas.read_fwf(PATH)) reads columns of fixed width"
                        )
                elif not fault and not "".join(fields).isascii():
                    fault = self._not_utf_8(fields)
                if fault:
                    if len(self.faults[policy]) < SHOWN:
                        self.described[self.n_rows + len(rows)] = fault
                    self.faults[policy].append(self.n_rows + len(rows))
                rows.append(nothing if fault else pick(fields))
                lines.append(self.line)
                if n_taken > 1:
                    self.tall.append(self.line)
            self.line += n_taken
            if len(self.faults[""]) > MOST_FAULTS:
                break
        for role, column in zip(layout.columns, zip(*rows, strict=True), strict=False):
            self.chunks[role].append(pa.array(column, self.types[role]))
        self.lines.append((self.n_rows, lines))
        self.n_rows += len(lines)

    def _not_utf_8(self, fields: list[str]) -> str:
        """Return what is wrong with the first field that is read and holds bytes outside UTF-8."""
        for role, place in self.layout.columns.items():
            if _NO_UTF_8.search(fields[place]):
                return f"the {role} is not UTF-8; {self.options.advice()}"
        return ""

    def _bare(self, role: str, column: pa.ChunkedArray, first: str) -> pa.ChunkedArray:
        """Return a column of ids without typographic quotation marks, if all of them have some."""
        coded = column.unify_dictionaries().combine_chunks()
        texts = pc.utf8_trim_whitespace(coded.dictionary)
        marks = f"^[{_OPENING}][^{_OPENING}{_CLOSING}]*[{_CLOSING}]$"
        if not pc.all(pc.match_substring_regex(texts, marks)).as_py():
            return column
        self.notes.append(Note("quotes-left-out", {"role": role, "example": first}))
        bare = pc.utf8_trim(texts, _OPENING + _CLOSING)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(coded.indices, bare)])

    def _are_marks(self, rows: list[int]) -> bool:
        """Return whether a quotation mark is what is wrong, and no line needs one."""
        return self.fits_as_text and self.described.get(rows[0]) == _NOT_CLOSED

    def table(self, where: str) -> Table:
        """Return the converted columns of all rows."""
        if not self.n_rows:
            raise DataError(f"{where}: {NO_ROWS}")

        def at(row: int) -> str:
            if row < 0:
                return where
            first, lines = self.lines[bisect_right(self.lines, row, key=lambda part: part[0]) - 1]
            return f"{where}:{lines[row - first]}"

        flaws = [
            Flaw(
                policy,
                np.array(rows, np.int64),
                self.described.__getitem__,
                _MARKS_AS_TEXT * (not policy and self._are_marks(rows)),
            )
            for policy, rows in self.faults.items()
            if rows
        ]
        if self.tall:
            self.notes.append(Note("several-lines", {"n": len(self.tall), "line": self.tall[0]}))
        columns = {role: pa.chunked_array(chunks) for role, chunks in self.chunks.items()}
        if self.options.quotes is None and self.options.roles is RATINGS:
            for role in ("user", "item"):
                if (first := str(columns[role][0].as_py() or "").strip())[:1] in _OPENING:
                    columns[role] = self._bare(role, columns[role], first)
        if self.is_open and self.options.roles is RATINGS:
            self.notes += _cut_off(columns["rating"])
        known, kinds = self.options, self.options.roles.kinds
        return convert(columns, kinds, where, at, values=known, notes=self.notes, flaws=flaws)


def _cut_off(ratings: pa.ChunkedArray) -> Iterator[Note]:
    """Yield the note on a last rating that is shorter than all others, as of a file cut off."""
    if len(ratings) <= FEW:
        return
    last, others = ratings[-1].as_py() or "", ratings[:-1]
    lengths = pc.min_max(pc.utf8_length(others))
    if lengths["min"].as_py() == lengths["max"].as_py() > len(last) > 0:
        yield Note("maybe-cut", {"last": last, "other": others[0].as_py()})


def _records(
    block: str, blocks: Iterator[str], layout: Layout
) -> Iterator[tuple[int, list[str], str]]:
    """Yield for each record of a block its lines, its fields, and what is wrong with it.

    If the block ends within a record, the next one is read too. A line with a quotation mark that
    is not closed makes a separate record.
    """
    lines = deque(io.StringIO(block, newline="\n"))
    replaced = not layout.is_one_byte
    record_lines: list[str] = []

    def source() -> Iterator[str]:
        size = 0
        while size <= LONGEST_LINE:
            if not lines and record_lines:
                lines.extend(io.StringIO(next(blocks, ""), newline="\n"))
            if not lines:
                return
            record_lines.append(lines.popleft())
            yield record_lines[-1]
            size = size + len(record_lines[-1]) if record_lines else 0

    while lines:
        records: Iterator[list[str]] = (layout.split(line.rstrip("\n")) for line in source())
        if layout.quoted:
            records = csv.reader(
                source(), delimiter=layout.separator, quotechar=layout.quote, strict=True
            )
        try:
            for fields in records:
                fault = TOO_LONG if len(record_lines[0]) > LONGEST_LINE else ""
                if len(fields) != layout.n_fields and len(record_lines) == 1:
                    fields = _escaped(record_lines[0], layout) or fields
                if replaced and UNIT in record_lines[0]:
                    fault = "a control character (0x1f); remove it"
                yield len(record_lines), fields, fault
                record_lines.clear()
        except csv.Error:
            lines.extendleft(reversed(record_lines[1:]))
            if (escaped := _escaped(record_lines[0], layout)) is not None:
                yield 1, escaped, ""
            else:
                yield 1, [], TOO_LONG if len(record_lines[0]) > LONGEST_LINE else _NOT_CLOSED
        record_lines.clear()


def _escaped(line: str, layout: Layout) -> list[str] | None:
    r"""Return the fields of a line in which ``\"`` stands for a quotation mark; None if not all."""
    if not layout.quoted or f"\\{layout.quote}" not in line:
        return None
    try:
        (fields,) = csv.reader(
            [line], delimiter=layout.separator, quotechar=layout.quote, escapechar="\\", strict=True
        )
    except (csv.Error, ValueError):
        return None
    return fields if len(fields) == layout.n_fields else None


class Delimited(Reader):
    """Text whose separator is found in its first line."""

    keys = OF_TEXT

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns of a text; every problem has its line."""
        with report_os_error(options.where, *UNREADABLE), path.open("rb", buffering=0) as file:
            if options.progress is None:
                stream: io.BufferedReader = io.BufferedReader(file, BUFFER)
            else:
                counted_file = CountedStream(file, options.progress, path.stat().st_size)
                stream = io.BufferedReader(counted_file, BUFFER)
            return read_text(stream, replace(options, separators=self.separators), options.where)

    def write_example(self, path: Path) -> None:
        """Write the example ratings below a header."""
        path.write_bytes(example_lines(self.separators[0] if self.separators else ","))

    def names(self, path: Path, where: str) -> list[str]:
        """Return the fields of the first line."""
        with path.open("rb") as file:
            _, (names,) = read_sample(file, ReadOptions(separators=self.separators), where)
        return names

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the fields of the first line, and the rows after it."""
        asked = replace(options, separators=self.separators)
        with path.open("rb") as file:
            _, (names, *rows) = read_sample(file, asked, options.where, 1 + LINES)
        return Sample(names, [tuple(row) for row in rows])


class CSV(Delimited):
    """Fields between commas, semicolons, tabs or bars, perhaps in double quotes."""

    separators = (",", ";", "\t", "|")
    endings = (".csv",)


class TSV(Delimited):
    """Fields between tabs; RecBole's atomic files are such."""

    separators = ("\t",)
    endings = (".tsv", ".tab", ".inter")


class DAT(Delimited):
    """Fields between ``::`` and the like, as MovieLens wrote them."""

    endings = (".dat",)

    def write_example(self, path: Path) -> None:
        """Write the example ratings as MovieLens wrote them, without a header."""
        path.write_bytes(example_lines("::", header=False))
