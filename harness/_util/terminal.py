"""Standard output and error: they take any text, outlast their reader, and are kept apart.

A narrow encoding, as cp1252 in a pipe on Windows, replaces what it cannot show instead of ending
the program; a reader that leaves, such as ``head``, ends no computation. While a command of this
package runs, standard output is for its answer only: what plug-ins and libraries print goes to
standard error.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


SUBSTITUTE = "harness-substitute"
"""The error handler of codecs that replaces what an encoding does not have."""

OUTPUT, ERROR = 1, 2
"""Descriptors of the standard streams."""
SIGNS = {
    **{"✓": "+", "✗": "x", "·": "-", "…": "...", "─": "-", "–": "-", "—": "-", "−": "-"},
    **{"±": "+/-", "×": "x", "≤": "<=", "≥": ">=", "≈": "~", "²": "^2", "√": "sqrt"},
    **{"→": "->", "←": "<-", "↑": "^", "↓": "v", "‘": "'", "’": "'", "“": '"', "”": '"'},
}
"""What stands for signs that the package itself prints; other letters are shown as escapes."""


def substitute(error: UnicodeError) -> tuple[str, int]:
    r"""Return what stands for letters that an encoding does not have, and where to go on.

    >>> "✓ Amélie: ≥ 3…".encode("ascii", SUBSTITUTE)
    b'+ Am\\xe9lie: >= 3...'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    shown = (SIGNS.get(letter) or ascii(letter)[1:-1] for letter in letters)
    return "".join(shown), error.end


codecs.register_error(SUBSTITUTE, substitute)


def as_shown(text: str, stream: TextIO) -> str:
    """Return text as a stream shows it, whose length decides how columns are aligned."""
    if text.isascii():
        return text
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, SUBSTITUTE).decode(encoding)


class LastingWriter(io.FileIO):
    """Writes to a descriptor; once nobody reads there any more, what comes is discarded."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes, and return how many were taken."""
        try:
            return super().write(data)
        except OSError as error:
            # Windows reports a pipe without a reader as an invalid argument.
            is_left = isinstance(error, ConnectionError) or (
                sys.platform == "win32" and error.errno == errno.EINVAL
            )
            if not is_left:
                raise
        discard(self.fileno())
        return memoryview(data).nbytes


def discard(descriptor: int) -> None:
    """Send what is written to a descriptor from now on to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def is_open(descriptor: int) -> bool:
    """Return whether the caller left a descriptor open."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def prepare() -> None:
    """Make this process's standard output and error take any text and outlast their readers.

    Standard error that the caller closed is discarded; standard output that was closed stays None.
    What an earlier command diverted and did not restore is forgotten: one called without `main`.
    """
    _answers.clear()
    _diverted.clear()
    for descriptor in range(3):
        if not is_open(descriptor):  # another file would take its number, and what is printed
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        with suppress(OSError, ValueError):  # of a stream without a descriptor
            if type(stream) is io.TextIOWrapper and stream.fileno() == descriptor:
                setattr(sys, name, _lasting(stream))
        if isinstance(getattr(sys, name), io.TextIOWrapper):
            getattr(sys, name).reconfigure(errors=SUBSTITUTE)


def _lasting(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream to the same place that outlasts its reader; a terminal is unchanged."""
    if stream.isatty() or isinstance(getattr(stream.buffer, "raw", stream.buffer), LastingWriter):
        return stream
    stream.flush()
    raw = LastingWriter(stream.fileno(), "w", closefd=False)
    unbuffered = isinstance(stream.buffer, io.RawIOBase)
    return io.TextIOWrapper(
        raw if unbuffered else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=SUBSTITUTE,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


_answers: list[TextIO] = []
"""The stream of the command's answer while standard output is diverted; else none."""


def answers() -> TextIO:
    """Return what a command's answer is written to: standard output as the caller has it."""
    return _answers[0] if _answers else sys.stdout


def divert() -> None:
    """Send what is printed from now on to standard error, and only answers to standard output.

    This includes what child processes and compiled code print. A terminal, which shows both
    streams, is unchanged. A second call changes nothing.
    """
    if _answers or sys.stdout is None or sys.stdout.isatty():
        return
    stream = sys.stdout
    stream.flush()
    with suppress(OSError, ValueError):  # a stream without a descriptor, as in a notebook
        if stream.fileno() == OUTPUT:
            stream = io.TextIOWrapper(
                io.BufferedWriter(LastingWriter(os.dup(OUTPUT), "w")),
                encoding=stream.encoding,
                errors=SUBSTITUTE,
            )
            os.dup2(ERROR, OUTPUT)
    _answers.append(stream)
    _diverted.append(sys.stdout)
    sys.stdout = sys.stderr


def restore() -> None:
    """Let standard output be the caller's again, after `divert`."""
    if not _answers:
        return
    answer, sys.stdout = _answers.pop(), _diverted.pop()
    answer.flush()
    if answer is not sys.stdout:
        if "ctypes" in sys.modules:  # what compiled code printed is in a buffer of the C library
            with suppress(Exception):
                sys.modules["ctypes"].CDLL(None).fflush(None)
        os.dup2(answer.fileno(), OUTPUT)
        answer.close()


_diverted: list[TextIO] = []
"""What ``sys.stdout`` was before it was diverted."""
