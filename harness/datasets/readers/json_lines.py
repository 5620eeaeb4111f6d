"""The reader of JSON: an object a line, or one list of objects."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness._util.files import report_os_error
from harness._util.libraries import pa
from harness.datasets.columns import find_columns
from harness.datasets.conversion import Flaw, convert
from harness.datasets.readers.base import NO_ROWS, Reader, ReadOptions, example_ratings
from harness.errors import DataError, reason_of

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


CHUNK = 1 << 16
"""Rows that are held as Python objects at once."""
SAMPLE = 200
"""Records whose keys are the columns of the file."""
LONGEST_LINE = 1 << 24
HALF_PAIR = "holds half of a surrogate pair, which is not a character; correct it"
_LONE = re.compile("[\ud800-\udfff]")
_KINDS = {dict: "an object", list: "a list", bool: "true or false"}
_BY_PATH = "name a field of one value by its path"


class JSONLines(Reader):
    """One object a line, as Amazon's and Yelp's reviews, or one list of objects.

    A field inside another is named by its path, as ``review.stars``.
    """

    endings = (".jsonl", ".ndjson", ".json")
    label = "JSON"

    def write_example(self, path: Path) -> None:
        """Write the example ratings, an object a line."""
        example_ratings().to_json(path, orient="records", lines=True)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins with an object, or with a list of objects."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        return start[:1] == b"{" or (start[:1] == b"[" and start[1:].lstrip()[:1] == b"{")

    def names(self, path: Path, where: str) -> list[str]:
        """Return the paths of the fields of the first records."""
        names: dict[str, None] = {}
        for count, (_, record, fault) in enumerate(_records(path, where)):
            if count == SAMPLE:
                break
            if not fault:
                names |= dict.fromkeys(_paths(record))
        return list(names)

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the fields that are needed; every fault has its line."""
        where, roles = options.where, options.roles
        names = self.names(path, where)
        if not names:
            for line, _, fault in _records(path, where):
                raise DataError(f"{where}:{line}: {fault or 'no fields'}; give an object a line")
            raise DataError(f"{where}: {NO_ROWS}")
        positions = find_columns(names, options.columns, where, roles)
        fields = {role: names[position] for role, position in positions.items()}
        chunks: dict[str, list[pa.Array]] = {role: [] for role in fields}
        values: dict[str, list[str | None]] = {role: [] for role in fields}
        lines, faults = array("q"), dict[int, str]()

        def flush() -> None:
            for role, texts in values.items():
                for row in _odd_rows(texts):
                    faults[len(lines) - len(texts) + row] = f"the {role} {HALF_PAIR}"
                    texts[row] = None
                chunks[role].append(pa.array(texts, pa.string()))
                texts.clear()

        kept = [(role, name, values[role]) for role, name in fields.items()]
        for row, (line, record, fault) in enumerate(_records(path, where)):
            if fault:
                faults[row] = fault
            for role, name, texts in kept:
                value = None
                if not fault:
                    value = record[name] if name in record else _value(record, name)
                kind = type(value)
                if kind is int:
                    value = str(value)
                elif kind in _KINDS:
                    faults[row] = f"the {role} is {_KINDS[kind]}; {_BY_PATH}"
                    value = None
                elif kind is not str:
                    value = _text(value)
                texts.append(value)
            lines.append(line)
            if len(lines) % CHUNK == 0:
                flush()
        flush()
        columns = {role: pa.chunked_array(parts, pa.string()) for role, parts in chunks.items()}
        flaw = Flaw("unreadable", np.array(sorted(faults), np.int64), faults.__getitem__)
        return convert(
            columns,
            roles.kinds,
            where,
            lambda row: where if row < 0 else f"{where}:{lines[row]}",
            values=options,
            flaws=[flaw] if faults else [],
        )


def holds_records(path: Path) -> bool:
    """Return whether a JSON file holds records rather than a config.

    Its first line is the whole of an object without algorithms, or it is a list.
    """
    with path.open("rb") as file:
        start = file.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    if start.lstrip()[:1] == b"[":
        return True
    try:
        record = json.loads(start)
    except (ValueError, RecursionError):
        return start.lstrip()[:1] == b"{"
    return isinstance(record, dict) and "algorithms" not in record and "cells" not in record


def _records(path: Path, where: str) -> Iterator[tuple[int, Any, str]]:
    """Yield the line, the object and the fault of each record; of a list, its number from 1."""
    with (
        report_os_error(where, "cannot be read", "check the path", DataError),
        path.open("rb") as file,
    ):
        offset = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
        file.seek(offset)
        first = next((line for line in iter(lambda: file.readline(64), b"") if line.strip()), b"")
        file.seek(offset)
        if first.lstrip()[:1] == b"[":
            try:
                records = json.load(file)
            except ValueError as error:
                raise DataError(f"{where}: not JSON ({reason_of(error)}); mend the file") from None
            except RecursionError:
                raise DataError(
                    f"{where}: JSON that is nested too deeply; give one list of objects, or an "
                    "object a line"
                ) from None
            for number, record in enumerate(records, 1):
                yield number, record, _not_object(record)
            return
        decode = json.JSONDecoder().decode
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if line.isspace():
                continue
            try:
                record = decode(str(line, "utf-8", "surrogatepass"))
            except ValueError as error:
                yield number, None, f"not JSON ({reason_of(error)})"
                continue
            except RecursionError:
                yield number, None, "JSON that is nested too deeply"
                continue
            yield number, record, _not_object(record)


def _odd_rows(texts: list[str | None]) -> list[int]:
    """Return the rows of texts that UTF-8 cannot hold, as JSON can write them."""
    try:
        "".join(filter(None, texts)).encode()
    except UnicodeEncodeError:
        return [row for row, text in enumerate(texts) if text and _LONE.search(text)]
    return []


def _not_object(record: Any) -> str:
    return "" if isinstance(record, dict) else "not an object of fields and values"


def _paths(record: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in record.items():
        if isinstance(value, dict) and value:
            yield from _paths(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def _value(record: Any, path: str) -> Any:
    """Return the value at a path; None where it is absent. A key may contain points itself."""
    if not isinstance(record, dict):
        return None
    if path in record:
        return record[path]
    for end in (place for place, sign in enumerate(path) if sign == "."):
        if path[:end] in record:
            return _value(record[path[:end]], path[end + 1 :])
    return None


def _text(value: str | int | float | None) -> str | None:
    """Return a value as a text file has it; whole floats, as pandas makes them, without a point."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2.0**53 else repr(value)
    if value is None or isinstance(value, str):
        return value
    return str(value)
