"""Delimited text as blocks of whole lines, and the line in which something is wrong."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from harness.errors import DataError

__all__ = [
    "LONGEST_LINE",
    "Layout",
    "Readable",
    "physical_lines",
    "read_blocks",
    "refuse_block",
    "split_line",
    "transcoded",
]

BLOCK = 1 << 24
LONGEST_LINE = 1 << 20
"""Bytes; a rating takes some thirty."""

# Separators of several characters become one that no rating holds: ASCII's unit separator.
UNIT = "\x1f"
_NUMBER = re.compile(
    r"[ \t]*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)[ \t]*", re.ASCII | re.I
)
_NONE = frozenset({"", "na", "n/a", "null", "none", "nan", "\\n"})


class Readable(Protocol):
    """What blocks are read from: a file, or a member of an archive."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out.

    Attributes
    ----------
    separator : str
        Between two fields; ``whitespace`` for runs of blanks.
    header : bool
        Whether the first line names the columns.
    n_fields : int
        Fields in every line.
    columns : dict of str to int
        Position, from 0, of user, item, rating and perhaps timestamp.
    dates : bool
        Whether timestamps are dates instead of numbers.
    """

    separator: str
    header: bool
    n_fields: int
    columns: dict[str, int]
    dates: bool = False

    @property
    def single(self) -> str:
        """The one character that separates fields once `unify` has been applied."""
        return self.separator if len(self.separator) == 1 else UNIT

    @property
    def quoted(self) -> bool:
        """Whether a field may stand in double quotes."""
        return len(self.separator) == 1

    def unify(self, block: bytes) -> bytes:
        """Return a block with every separator made into the single character."""
        if self.separator == "whitespace":
            block = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", block)
            return re.sub(rb"[ \t]+", UNIT.encode(), block)
        if len(self.separator) > 1:
            return block.replace(self.separator.encode(), UNIT.encode())
        return block


def transcoded(stream: BinaryIO | Readable, encoding: str | None, where: str) -> Readable:
    """Return the stream as UTF-8 without byte order mark.

    Parameters
    ----------
    stream : readable
        Positioned at its start.
    encoding : str or None
        UTF-8, or UTF-16 where a byte order mark says so, when None.
    where : str
        What is read, for messages.
    """
    start = stream.read(4)
    if encoding is None and start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    if encoding in (None, "utf-8"):
        return _Prefixed(start.removeprefix(codecs.BOM_UTF8), stream)
    return _Recoded(_Prefixed(start, stream), str(encoding), where)


class _Prefixed:
    """A stream with some of its bytes put back."""

    def __init__(self, start: bytes, rest: BinaryIO | Readable) -> None:
        self._start, self._rest = start, rest

    def read(self, size: int, /) -> bytes:
        if self._start:
            start, self._start = self._start, b""
            return start + self._rest.read(size)
        return self._rest.read(size)


class _Recoded:
    """A stream turned into UTF-8 as it is read."""

    def __init__(self, stream: Readable, encoding: str, where: str) -> None:
        self._stream, self._encoding, self._where = stream, encoding, where
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, size: int, /) -> bytes:
        while True:
            data = self._stream.read(size)
            try:
                text = self._decoder.decode(data, final=not data)
            except UnicodeError as error:
                raise DataError(
                    f"{self._where}: not {self._encoding} ({error}); name its encoding"
                ) from None
            if text or not data:
                return text.encode("utf-8", "surrogatepass")


def read_blocks(stream: Readable, where: str) -> Iterator[bytes]:
    """Yield the stream in blocks that end with a line, some 16 MB each.

    Raises
    ------
    DataError
        If a line is longer than any rating can be.
    """
    rest = b""
    n_lines = 0
    while chunk := stream.read(BLOCK):
        mark = b"\n" if b"\n" in chunk else b"\r"
        cut = chunk.rfind(mark) + 1
        if cut:
            block, rest = rest + chunk[:cut], chunk[cut:]
            n_lines += block.count(mark)
            yield block
        else:
            rest += chunk
        if len(rest) > LONGEST_LINE + BLOCK:
            raise DataError(f"{where}:{n_lines + 1}: {too_long()}")
    if rest:
        yield rest


def too_long() -> str:
    """Return what to say of a line that is too long."""
    return (
        f"a line of more than {LONGEST_LINE:,} bytes; give a file with one rating a line "
        "(line ends lost, or not text?)"
    )


def physical_lines(block: bytes) -> Iterator[str]:
    r"""Yield the lines of a block, whether they end with ``\n``, ``\r\n`` or ``\r``."""
    text = io.StringIO(block.decode("utf-8", "surrogateescape"), newline=None)
    for line in text:
        yield line.rstrip("\n")


def split_line(line: str, separator: str) -> list[str]:
    """Return the fields of one line.

    Examples
    --------
    >>> split_line('1,"a, b",3', ",")
    ['1', 'a, b', '3']
    >>> split_line("1::2::3", "::")
    ['1', '2', '3']
    """
    if separator == "whitespace":
        return re.split(r"[ \t]+", line.strip(" \t"))
    if len(separator) > 1:
        return line.split(separator)
    csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))
    return next(csv.reader([line], delimiter=separator), [])


def refuse_block(block: bytes, first_line: int, layout: Layout, where: str, reason: str) -> None:
    """Raise for the first line of a block that cannot be read.

    Parameters
    ----------
    block : bytes
        Whole lines, as they stand in the file.
    first_line : int
        Number of the first of them.
    layout : Layout
    where : str
        What is read.
    reason : str
        What to say when every line by itself looks right.

    Raises
    ------
    DataError
        Always.
    """
    for number, line in enumerate(physical_lines(block), first_line):
        fault = _fault(line, layout)
        if fault:
            raise DataError(f"{where}:{number}: {fault}")
    raise DataError(f"{where}: not read from line {first_line} on ({reason}); mend the file")


def _fault(line: str, layout: Layout) -> str | None:
    """Return what is wrong with a line, or None."""
    if not line:
        return None
    if len(line) > LONGEST_LINE:
        return too_long()
    if layout.quoted and line.count('"') % 2:
        return "a quotation mark that is not closed on its line; mend or remove it"
    if UNIT in line and not layout.quoted:
        return "a control character (0x1f); remove it"
    fields = split_line(line, layout.separator)
    if len(fields) != layout.n_fields:
        return (
            f"{len(fields)} field{'s' * (len(fields) != 1)} where the first line has "
            f"{layout.n_fields}, separated by {layout.separator!r}; mend the line"
        )
    for role, position in layout.columns.items():
        field = fields[position]
        if any("\udc80" <= mark <= "\udcff" for mark in field):
            return (
                f"the {role} is not UTF-8; save the file as UTF-8, "
                "or name its encoding, as encoding: latin-1"
            )
        if role == "rating" and not (
            _NUMBER.fullmatch(field) or field.strip(" \t").lower() in _NONE
        ):
            return f"the rating {_shown(field)} is not a number; mend the line"
        if role == "timestamp" and not layout.dates and not _NUMBER.fullmatch(field):
            return (
                f"the timestamp {_shown(field)} is not a number as in the first line; mend it, "
                "or do not read it: columns: {timestamp: null}"
            )
    return None


def _shown(field: str) -> str:
    return repr(field if len(field) <= 40 else field[:40] + "…")
