"""Readers of files, one format a module, and what chooses among them.

The readers of this package and of others are plug-ins of the group ``harness.readers``. Others'
readers are imported for a file that no ending of this package's own readers fits.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness._util.files import file_name, read_regular, report_os_error
from harness.datasets.conversion import Table
from harness.datasets.readers.base import (
    OF_TABLES,
    OF_TEXT,
    UNREADABLE,
    Reader,
    ReadOptions,
    Sample,
    column_of,
    names_of,
    sample_of_columns,
    to_table,
)
from harness.datasets.readers.packed import ENDINGS, is_packed, not_read, unpacked
from harness.datasets.readers.text import Delimited
from harness.errors import DataError, HarnessError, PluginError, reason_of
from harness.plugins import registry as plugins

if TYPE_CHECKING:
    from harness.datasets.readers.packed import Progress


HEAD = 4096
"""Bytes of a file by which readers recognise it."""


def reader_named(name: str) -> Any:
    """Return the reader of a name, or raise a DataError."""
    try:
        declared: Any = plugins.find("readers", name).load()
    except PluginError as error:
        raise DataError(str(error)) from error.__cause__
    try:
        reader = declared() if isinstance(declared, type) else declared
    except (Exception, SystemExit) as error:
        raise _failure(name, f"its class cannot be called ({_said(error)})") from error
    if not callable(getattr(reader, "read", None)):
        raise _failure(name, "it has no method `read`")
    return reader


@cache
def builtin_endings() -> dict[str, str]:
    """Return the name of this package's own reader by each ending of a file."""
    names = plugins.builtin_names("readers")
    return {ending: name for name in names for ending in reader_named(name).endings}


def kind_of(path: Path | str) -> str | None:
    """Return the name of the reader of a file by its ending, or None.

    Examples
    --------
    >>> kind_of("a/ratings.CSV"), kind_of("u.data")
    ('csv', None)
    """
    path = Path(file_name(str(path)))
    ending = path.suffix.casefold()
    if ending in ENDINGS and is_packed(path.name):
        ending = path.with_suffix("").suffix.casefold()
    name = ending.removeprefix(".")  # most readers are called after an ending of theirs
    if name in plugins.builtin_names("readers") and ending in reader_named(name).endings:
        return name
    if not ending:
        return None
    if ending in builtin_endings():
        return builtin_endings()[ending]
    return next((name for name, reader in _foreign() if ending in _endings(reader)), None)


def kind_of_content(path: Path) -> str | None:
    """Return the name of the reader that recognises a file, or a folder, by its content; or None.

    The readers of this package are asked first, then the readers of other packages.
    """
    return _recognising(path, plugins.builtin_names("readers")) or _recognising(
        path, [name for name, _ in _foreign()]
    )


def _recognising(path: Path, names: Iterable[str]) -> str | None:
    if path.is_dir():

        def is_one(reader: Any) -> Any:
            return folder_recognised_by(reader, path)

    else:
        head = _head(path)

        def is_one(reader: Any) -> Any:
            return recognised_by(reader, head, path.name)

    for name in names:
        try:
            if is_one(reader_named(name)):
                return name
        except (Exception, SystemExit) as error:
            raise _failure(name, f"`recognises` failed ({_said(error)})") from error
    return None


def recognised_by(reader: Any, head: bytes, name: str) -> Any:
    """Return whether a reader of any class recognises a file by its first bytes and its name."""
    if callable(asked := getattr(reader, "recognise", None)):
        return asked(head, name)
    asked = getattr(reader, "recognises", None)
    return asked is not None and asked(head)


def folder_recognised_by(reader: Any, folder: Path) -> Any:
    """Return whether a reader of any class reads a folder as one table."""
    asked = getattr(reader, "recognise_folder", None)
    return callable(asked) and asked(folder)


def kind_of_file(path: Path) -> str | None:
    """Return the name of the reader of a file, by its first bytes before its ending; None for text.

    What begins as any text may is of the kind that its ending says, and so is what has an ending of
    another package's reader. A folder is read by the reader that recognises it.
    """
    by_ending = None if path.is_dir() else kind_of(path)
    is_foreign = by_ending is not None and by_ending not in plugins.builtin_names("readers")
    if by_ending is None or is_foreign:
        return by_ending or kind_of_content(path)
    reader = reader_named(by_ending)
    head = _head(path)
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        head = head.decode("utf-16", "replace").encode()
    if not _TEXT.fullmatch(head):
        return kind_of_content(path) or by_ending
    first = head.strip().partition(b"\n")[0]
    has_fields = any(first.count(mark) >= 2 for mark in _MARKS)
    if has_fields and not reader.has_mark:
        return by_ending
    is_text = has_fields or (reader.has_mark and _has_rows(head))
    return kind_of_content(path) or (None if is_text else by_ending)


_MARKS = (b",", b";", b"\t", b"|", b"::")
"""What parts the fields of most texts."""


def _has_rows(head: bytes) -> bool:
    """Return whether the last lines of a beginning have as many fields each."""
    lines = [line for line in head.split(b"\n")[:-1] if line.strip()][-2:]
    counts = [{line.count(mark) for line in lines} for mark in _MARKS]
    counts.append({max(0, len(line.split()) - 2) for line in lines})
    return len(lines) == 2 and any(len(each) == 1 and each != {0} for each in counts)


_PLAIN = re.compile(rb"[A-Za-z]\w*([,;\t|])\w+(\1\w+)+\r?\n[\t\r\n -~]*")
"""Three names or more between one separator, and nothing after them but ASCII."""


def kind_of_plain(path: Path) -> str | None:
    """Return `csv` or `tsv` if a file begins as no packed file, and no other format; else None."""
    kind = path.suffix.casefold().removeprefix(".")
    if kind not in ("csv", "tsv"):
        return None
    with suppress(OSError):
        return kind if _PLAIN.fullmatch(read_regular(path, HEAD)) else None
    return None


_TEXT = re.compile(rb"(?:\xef\xbb\xbf)?+[^\0-\x08\x0e-\x1f<{\[][^\0-\x08\x0e-\x1b]*")
"""How any text may begin: with no bytes that control, no brackets."""


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


def takes_folders(kind: str | None) -> bool:
    """Return whether the reader of a name takes folders."""
    if kind is None:
        return False
    asked = getattr(reader_named(kind), "recognise_folder", None)
    return asked is not None and getattr(asked, "__func__", None) is not Reader.recognise_folder


def keys_of(kind: str | None) -> tuple[str, ...]:
    """Return which of `OF_TEXT` and `OF_TABLES` a config may have for a format; None is text.

    Formats of other packages have no text, and may do with tables and queries what they like, so
    that their code is not imported.
    """
    if kind is None:
        return Delimited.keys
    is_builtin = kind in plugins.builtin_names("readers")
    return tuple(reader_named(kind).keys) if is_builtin else OF_TABLES


def is_text(kind: str) -> bool:
    """Return whether files of a format are texts of which a config may name the separator."""
    return "separator" in keys_of(kind) and not takes_folders(kind)


def unused(key: str, kind: str | None) -> str:
    """Return why a key means nothing for a format, and what to do; empty where it does.

    Examples
    --------
    >>> unused("separator", "orc"), unused("separator", "csv")
    ('an ORC file has none; leave this out', '')
    """
    keys = keys_of(kind)
    if key not in (*OF_TEXT, *OF_TABLES) or key in keys:
        return ""
    if key in OF_TEXT:
        return f"{label_of(kind)} has none; leave this out"
    if keys and "table" in keys:
        return f"{label_of(kind)} takes no query; name what is read under `table`"
    return f"{label_of(kind)} has no tables; leave this out"


def check_keys(kind: str | None, options: ReadOptions, where: str) -> None:
    """Raise a DataError where a key of a config means nothing for a file of a format."""
    for key in (*OF_TEXT, *OF_TABLES):
        is_given = getattr(options, key) is not None and (key != "skip" or options.skip)
        if is_given and (why := unused(key, kind)):
            raise DataError(f"{where}: {key}: {why}")


def columns_vary(kind: str | None) -> bool:
    """Return whether files of a format have no fixed columns that a config could name."""
    if kind not in plugins.builtin_names("readers"):
        return False
    reader = reader_named(kind)
    return bool(reader.is_wide or "table" in reader.keys)


def label_of(kind: str | None) -> str:
    """Return what messages call a file of a format, with its article.

    Examples
    --------
    >>> label_of("parquet"), label_of("arff"), label_of("csv"), label_of("hive")
    ('a Parquet file', 'an ARFF file', "a 'csv' file", 'a partitioned folder')
    """
    if kind is None:
        return "a text"
    is_builtin = kind in plugins.builtin_names("readers")
    label = (is_builtin and reader_named(kind).label) or repr(kind)
    if label.startswith("a "):
        return label
    return f"an {label} file" if re.match("[AO]|S[A-Z]", label) else f"a {label} file"


def read_file(
    path: Path, options: ReadOptions, where: str, progress: Progress | None = None
) -> Table:
    """Read a file or a folder with the reader that `options` name, or its bytes, or its ending.

    A file that none of these fits is read as text, and a packed one as what it holds. `where` is
    for messages.
    """
    with unpacked(path, where, options.limits) as (path, where):
        kind = options.kind or recognised(path, where)
        return read_as(kind, path, replace(options, where=where, progress=progress))


def recognised(path: Path, where: str) -> str | None:
    """Return the name of the reader of a file that is not packed; None for text.

    Raises
    ------
    DataError
        If it is of a kind that is not read.
    """
    with report_os_error(where, *UNREADABLE):
        kind = kind_of_file(path)
        may_be_odd = kind is None or is_text(kind)
        if kind is not None and not may_be_odd and not path.is_dir():
            head = _head(path)  # of a page or XML under another name
            is_page = head.lstrip()[:1] == b"<" and kind in plugins.builtin_names("readers")
            is_page = is_page and not recognised_by(reader_named(kind), head, path.name)
            may_be_odd = is_page or _TEXT.fullmatch(head) is not None
        if may_be_odd and (fault := not_read(path, where)):
            raise DataError(f"{where}: {fault}")
        return kind


def read_as(kind: str | None, path: Path, options: ReadOptions) -> Table:
    """Read a file that is not packed with the reader of a name; None is the reader of texts."""
    reader = Delimited() if kind is None else reader_named(kind)
    with reading(options.where, kind):
        columns: Any = reader.read(path, options)
    return columns if isinstance(columns, Table) else _as_table(columns, options, kind or "")


def _as_table(columns: Any, options: ReadOptions, kind: str) -> Table:
    """Return what a reader gave, a frame, a table of Arrow or a mapping, as a table."""
    where = f"{options.where}: {_origin(kind)}"
    return to_table(
        names_of(columns, where),
        lambda positions: [column_of(columns, position) for position in positions],
        options,
        lambda: sample_of_columns(columns, where).rows,
    )


@contextmanager
def reading(where: str, kind: str | None = None) -> Iterator[None]:
    """Turn whatever a reader raises into a `DataError`, which names a reader of another package."""
    try:
        yield
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        if kind is None or plugins.find("readers", kind).is_builtin:
            raise unreadable(where, error) from error
        raise DataError(f"{where}: {_failure(kind, _said(error))}") from error


def unreadable(where: str, error: BaseException) -> DataError:
    """Return the error about a file that a reader of this package did not expect."""
    return DataError(
        f"{where}: cannot be read ({_said(error)}); check that the file is whole, or write it again"
    )


def column_names(path: Path, kind: str, where: str, *, of_ratings: bool = True) -> list[str]:
    """Return the names of the columns of a file, of ratings or of users or items."""
    reader = reader_named(kind)
    if isinstance(reader, Reader):
        with reading(where, kind):
            return (reader.names if of_ratings else reader.names_known)(path, where)
    with reading(where, kind):
        columns = reader.read(path, ReadOptions(where=where))
    return names_of(columns, f"{where}: {_origin(kind)}")


def sample_of(path: Path, kind: str, options: ReadOptions) -> Sample:
    """Return the names of the columns of a file, and its first rows as text."""
    reader = reader_named(kind)
    with reading(options.where, kind):
        if isinstance(reader, Reader):
            return reader.sample(path, options)
        columns = reader.read(path, options)
    return sample_of_columns(columns, f"{options.where}: {_origin(kind)}")


def _foreign() -> list[tuple[str, Any]]:
    """Return the readers of other packages that can be used, with their names."""
    usable = (plugin for plugin, reason in plugins.declared("readers") if not reason)
    readers = []
    for name in (p.name for p in usable if not p.is_builtin and not plugins.problem(p)):
        with suppress(DataError):  # one that is broken hinders no other; `format` names it
            readers.append((name, reader_named(name)))
    return readers


def _endings(reader: Any) -> tuple[str, ...]:
    endings = getattr(reader, "endings", ())
    if isinstance(endings, str):
        return (endings,)
    return tuple(endings) if isinstance(endings, Collection) else ()


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {reason_of(error)}"


def _origin(name: str) -> str:
    plugin = plugins.find("readers", name)
    return f"readers: {name!r}" + (f" of {plugin.origin}" if plugin.version else "")


def _failure(name: str, fault: str) -> DataError:
    return DataError(f"{_origin(name)}: {fault}; its author has to mend it, or name another format")
