"""Readers of files, one format a module, and what chooses among them.

The readers of this package and of others are plug-ins of the group ``harness.readers``. Those of
others are imported for a file that no ending of this package's own readers fits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness._util.files import file_name, report_os_error
from harness.datasets.conversion import Table
from harness.datasets.readers.base import Reader, ReadOptions, names_of, to_table
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
        plugin = plugins.find("readers", name)
        declared: Any = plugin.load()
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
    if not ending:
        return None
    name = ending.removeprefix(".")  # most readers are called after an ending of theirs
    if name in plugins.builtin_names("readers") and ending in reader_named(name).endings:
        return name
    if ending in builtin_endings():
        return builtin_endings()[ending]
    return next((name for name, reader in _foreign() if ending in _endings(reader)), None)


def kind_of_content(path: Path) -> str | None:
    """Return the name of the reader that recognises a file, or a folder, by its content; or None.

    Those of this package are asked first, then those of other packages.
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
    another package's reader. Of a folder it is the reader that recognises it.
    """
    by_ending = None if path.is_dir() else kind_of(path)
    is_foreign = by_ending is not None and by_ending not in plugins.builtin_names("readers")
    if by_ending is None or is_foreign:
        return by_ending or kind_of_content(path)
    reader = reader_named(by_ending)
    head = _head(path)
    if not _TEXT.fullmatch(head):
        return kind_of_content(path) or by_ending
    first = head.strip().partition(b"\n")[0]
    has_fields = any(first.count(mark) >= 2 for mark in (b",", b";", b"\t", b"|", b"::"))
    if has_fields and not reader.has_mark:
        return by_ending
    return kind_of_content(path) or (None if has_fields else by_ending)


_PLAIN = re.compile(rb"[A-Za-z]\w*([,;\t|])\w+(\1\w+)+\r?\n[\t\r\n -~]*")
"""Three names or more between one separator, and nothing after them but ASCII."""


def kind_of_plain(path: Path) -> str | None:
    """Return `csv` or `tsv` if a file begins as no packed file, and no other format; else None."""
    kind = path.suffix.casefold().removeprefix(".")
    if kind not in ("csv", "tsv"):
        return None
    with suppress(OSError):
        return kind if path.is_file() and _PLAIN.fullmatch(_head(path)) else None
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


def is_text(kind: str) -> bool:
    """Return whether a config may say separator, header, encoding and decimal mark of a format.

    Those of other packages are not text, so that their code is not imported.
    """
    return kind in plugins.builtin_names("readers") and bool(reader_named(kind).is_text)


def has_tables(kind: str) -> bool:
    """Return whether a config may name a table or a query of a format.

    Those of other packages may do with both what they like.
    """
    return kind not in plugins.builtin_names("readers") or bool(reader_named(kind).has_tables)


def columns_vary(kind: str | None) -> bool:
    """Return whether a file of a format has no columns of its own that a config could name."""
    if kind not in plugins.builtin_names("readers"):
        return False
    reader = reader_named(kind)
    return bool(reader.is_wide or reader.has_tables)


def label_of(kind: str) -> str:
    """Return what messages call a file of a format."""
    is_builtin = kind in plugins.builtin_names("readers")
    return (is_builtin and reader_named(kind).label) or repr(kind)


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
    with report_os_error(where, "cannot be read", "check the path", DataError):
        kind = kind_of_file(path)
        may_be_odd = (
            kind is None or is_text(kind) or (not path.is_dir() and _TEXT.fullmatch(_head(path)))
        )
        if may_be_odd and (fault := not_read(path, where)):
            raise DataError(f"{where}: {fault}")
        return kind


def read_as(kind: str | None, path: Path, options: ReadOptions) -> Table:
    """Read a file that is not packed with the reader of a name; None is that of texts."""
    reader = Delimited() if kind is None else reader_named(kind)
    with reading(options.where, kind):
        columns: Any = reader.read(path, options)
    return columns if isinstance(columns, Table) else _as_table(columns, options, kind or "")


def _as_table(columns: Any, options: ReadOptions, kind: str) -> Table:
    """Return what a reader gave, a frame, a table of Arrow or a mapping, as a table."""
    names = names_of(columns, f"{options.where}: {_origin(kind)}")

    if isinstance(columns, Mapping):
        columns_by_position = [*columns.values()].__getitem__
    elif hasattr(columns, "column_names"):
        columns_by_position = columns.column
    else:
        columns_by_position = lambda position: columns.iloc[:, position]  # noqa: E731
    return to_table(
        names,
        lambda positions: [columns_by_position(position) for position in positions],
        options,
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


def column_names(path: Path, kind: str, where: str) -> list[str]:
    """Return the names of the columns of a file."""
    reader = reader_named(kind)
    if isinstance(reader, Reader):
        with reading(where, kind):
            return reader.names(path, where)
    with reading(where, kind):
        columns = reader.read(path, ReadOptions(where=where))
    return names_of(columns, f"{where}: {_origin(kind)}")


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
