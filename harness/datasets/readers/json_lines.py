"""The reader of JSON: an object a line, or a document in one of the usual shapes of a table."""

from __future__ import annotations

import ast
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness._util.files import report_os_error
from harness._util.libraries import pa
from harness.datasets.columns import RATINGS, Roles, find_columns
from harness.datasets.conversion import Flaw, convert
from harness.datasets.evidence import columns_of, with_proposal
from harness.datasets.readers.base import (
    NO_ROWS,
    UNREADABLE,
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    unread,
)
from harness.errors import ColumnsError, DataError, counted, reason_of
from harness.notes.note import Note

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
    """One object a line, as Amazon's and Yelp's reviews, or a document that holds a table.

    A field inside another is named by its path, such as ``review.stars``. Documents are read in the
    shapes that pandas writes, as lists of objects or of lists, as numbers by user and item, and
    where one list of records lies inside them, such as ``{"data": […]}``.
    """

    endings = (".jsonl", ".ndjson", ".json")
    label = "JSON"
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings, an object a line."""
        example_ratings().to_json(path, orient="records", lines=True)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins with an object, or with a list of objects or lists."""
        start = head.removeprefix(BOM).lstrip(b" \t\r\n\x1e")
        if start[:1] == b"[":
            first = start.partition(b"\n")[0].strip()
            is_row = first.endswith(b"]") and _is_list(first)
            return is_row or start[1:].lstrip()[:1] in (b"{", b"[")
        return start[:1] == b"{"

    def names(self, path: Path, where: str) -> list[str]:
        """Return the paths of the fields of the first records."""
        return _names(_content(path, where, RATINGS).records)[0]

    def names_known(self, path: Path, where: str) -> list[str]:
        """Return the paths of the fields of the first records, none of which holds ratings."""
        return _names(_content(path, where, Roles({}, {})).records)[0]

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the paths of the fields, and the values of the first records."""
        content = _content(path, options.where, options.roles, options.columns.values())
        names, records = _names(content.records)
        rows = _texts(islice(records, SAMPLE), names)
        return Sample(names, [tuple(row) for row in rows])

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the fields that are needed; every problem has its line."""
        where, roles = options.where, options.roles
        content = _content(path, where, roles, options.columns.values())
        names, records = _names(content.records)
        if not names:
            for line, _, fault in records:
                raise DataError(f"{where}:{line}: {fault or 'no fields'}; give an object a line")
            raise DataError(f"{where}: {NO_ROWS}")
        columns, notes = options.columns, list(content.notes)
        if content.is_nameless:
            columns = _by_position(len(names), options, notes)
        positions = _positions(names, columns, records, options)
        sample = list(islice(records, SAMPLE))
        records = chain(sample, records)
        notes += unread(names, lambda: _texts(sample, names), options, positions)
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

        kept = [
            (role, name, values[role], _known if roles.kinds[role] == "text" else _value)
            for role, name in fields.items()
        ]
        for row, (line, record, fault) in enumerate(records):
            if fault:
                faults[row] = fault
            for role, name, texts, value_at in kept:
                value = None if fault else value_at(record, name)
                kind = type(value)
                if kind is int:
                    value = str(value)
                elif kind is bool and roles.kinds[role] == "number":
                    value = str(value).lower()
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
        columns_read = {
            role: pa.chunked_array(parts, pa.string()) for role, parts in chunks.items()
        }
        flaw = Flaw("unreadable", np.array(sorted(faults), np.int64), faults.__getitem__)
        return convert(
            columns_read,
            roles.kinds,
            where,
            lambda row: where if row < 0 else f"{where}:{lines[row]}",
            values=options,
            notes=notes,
            flaws=[flaw] if faults else [],
        )


def _positions(
    names: list[str],
    columns: Mapping[str, str | int | None],
    records: Iterator[Record],
    options: ReadOptions,
) -> dict[str, int]:
    """Return the position of each field by role; an error names those that it may be."""
    try:
        return find_columns(names, columns, options.where, options.roles)
    except ColumnsError as error:
        if options.roles is not RATINGS:
            raise
        rows = _texts(islice(records, SAMPLE), names)
        raise with_proposal(error, columns_of(names, rows, header=True), columns) from None


def _texts(records: Iterable[Record], names: Sequence[str]) -> list[list[str]]:
    """Return the values of records, by the paths of their fields, as a text file has them."""
    sound = (record for _, record, fault in records if not fault)
    return [[_text(_value(record, name)) or "" for name in names] for record in sound]


def _by_position(
    n_values: int, options: ReadOptions, notes: list[Note]
) -> dict[str, str | int | None]:
    """Return the columns of lists, whose values have no names, and note what was assumed."""
    named, roles = dict(options.columns), options.roles
    for position, role in enumerate(roles.order or roles.kinds, 1):
        if role not in named and position <= n_values and position not in named.values():
            named[role] = position
    if roles is RATINGS and not {"user", "item"} <= options.columns.keys():
        places = {role: place for role, place in named.items() if isinstance(place, int)}
        notes.append(Note("columns-assumed", {"order": sorted(places, key=places.__getitem__)}))
    return named


def holds_records(path: Path) -> bool:
    """Return whether a file called JSON holds records, or other text, rather than a config.

    A config is an object with algorithms, cells or a data set.
    """
    with path.open("rb") as file:
        start = file.readline(LONGEST_LINE)
        begun = start.removeprefix(BOM).lstrip()[:1]
        if begun and begun != b"{":
            return True
        try:
            record = json.loads(start)
        except (ValueError, RecursionError):
            try:
                record = json.loads(start + file.read(LONGEST_CONFIG))
            except (ValueError, RecursionError):
                return start.lstrip()[:1] == b"{"
    return isinstance(record, dict) and not {"algorithms", "cells", "dataset"} & record.keys()


LONGEST_CONFIG = 1 << 24
BOM = b"\xef\xbb\xbf"
Record = tuple[int, Any, str]
"""The line of a record, or its number from 1, the record, and what is wrong with it."""


class _Content(NamedTuple):
    """The records of a file, whether they have no names of fields, and notes about them."""

    records: Iterator[Record]
    is_nameless: bool = False
    notes: tuple[Note, ...] = ()


def _names(records: Iterator[Record]) -> tuple[list[str], Iterator[Record]]:
    """Return the paths of the fields of the first records, and all records."""
    first = list(islice(records, SAMPLE))
    names: dict[str, None] = {}
    for _, record, fault in first:
        if not fault:
            names |= dict.fromkeys(_paths(record))
    return list(names), chain(first, records)


def _content(
    path: Path, where: str, roles: Roles, named: Iterable[str | int | None] = ()
) -> _Content:
    """Return the records of a file: of its lines, or of the document that it is."""
    with report_os_error(where, *UNREADABLE):
        with path.open("rb") as file:
            file.seek(len(BOM) if file.read(len(BOM)) == BOM else 0)
            first = next((line for line in iter(lambda: file.readline(LONGEST_LINE), b"")
                          if line.strip()), b"")  # fmt: skip
            rest = next((line for line in iter(lambda: file.readline(LONGEST_LINE), b"")
                         if line.strip()), b"")  # fmt: skip
        begins = first.strip()[:1]
        is_alone = begins == b"{" and (not rest or not _is_whole(first))
        if begins == b"[" and _is_whole(first) and rest.strip()[:1] == b"[":
            is_alone = False  # a list a line
        elif begins == b"[":
            is_alone = True
        if is_alone and (document := _document(path, where, begins == b"[")) is not _NONE:
            if isinstance(document, _Several):
                return _exploded(enumerate(document, 1), roles)
            return _shaped(document, where, roles)
        return _exploded_lines(_lines(path), roles, {*named})


def _is_whole(line: bytes) -> bool:
    """Return whether a line is JSON by itself, or has a problem that no next line mends."""
    try:
        json.loads(line)
    except ValueError as error:
        # Where more was to come on the next line, the fault is at the end.
        return getattr(error, "pos", len(line)) < len(line.rstrip()) - 1
    except RecursionError:
        return True
    return True


def _is_list(line: bytes) -> bool:
    """Return whether a line is a list of values as JSON has it."""
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), list)
    return False


_NONE: Any = object()


class _Several(list[Any]):
    """Objects that follow one another without being a list."""


def _document(path: Path, where: str, is_list: bool) -> Any:
    """Return what a file holds as a whole; `_NONE` if it is lines of which some are not JSON."""
    data = path.read_bytes().removeprefix(BOM)
    try:
        text = str(data, "utf-8", "surrogatepass")
        return json.loads(text)
    except RecursionError:
        raise DataError(
            f"{where}: JSON that is nested too deeply; give one list of objects, or an object a "
            "line"
        ) from None
    except ValueError as error:
        if not is_list and "Extra data" in str(error):
            with suppress(ValueError, RecursionError):
                return _Several(_follow(text))
        if not is_list and data.lstrip()[1:2] not in b"\r\n":
            return _NONE
        raise DataError(f"{where}: not JSON ({reason_of(error)}); mend the file") from None


def _follow(text: str) -> Iterator[Any]:
    """Yield the values that follow one another in a text, perhaps with commas between."""
    decode, place = json.JSONDecoder().raw_decode, 0
    while place < len(text):
        if text[place] in " \t\r\n,":
            place += 1
            continue
        value, place = decode(text, place)
        yield value


def _lines(path: Path) -> Iterator[Record]:
    """Yield the records of a file with one, or some, a line."""
    decode = json.JSONDecoder().decode
    with path.open("rb") as file:
        file.seek(len(BOM) if file.read(len(BOM)) == BOM else 0)
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if line.isspace():
                continue
            try:
                record = decode(str(line, "utf-8", "surrogatepass"))
            except ValueError as error:
                records, fault = _unusual(line)
                if records is None:
                    yield number, None, fault or f"not JSON ({reason_of(error)})"
                for record in records or ():
                    yield number, record, _not_object(record)
                continue
            except RecursionError:
                yield number, None, "JSON that is nested too deeply"
                continue
            yield number, record, _not_object(record)


def _unusual(line: bytes) -> tuple[list[Any] | None, str]:
    """Return the records of a line that is not one value of JSON, or what is wrong with it.

    There may be several, a comma may follow, a mark of text sequences (0x1e) may be before it, or
    the line is a dictionary as Python writes it.
    """
    with suppress(ValueError, RecursionError):
        text = str(line, "utf-8").removeprefix("\x1e")
        if _PYTHON.match(text):
            with suppress(SyntaxError, MemoryError):
                return [ast.literal_eval(text.strip())], ""
        return list(_follow(text)), ""
    return None, ""


_PYTHON = re.compile(r"\s*\{\s*u?'")
"""How a dictionary of Python begins."""


def _shaped(document: Any, where: str, roles: Roles, depth: int = 3) -> _Content:
    """Return the records of a document in one of the shapes in which tables are written."""
    if isinstance(document, list):
        if document and isinstance(document[0], list):
            return _of_lists(document, roles)
        return _exploded(enumerate(document, 1), roles)
    if not isinstance(document, dict):
        return _Content(iter([(1, document, _not_object(document))]))
    columns, data = document.get("columns"), document.get("data")
    if isinstance(columns, list) and isinstance(data, list):  # pandas' split
        names = [str(name) for name in columns]
        if all(isinstance(row, list) and len(row) == len(names) for row in data):
            return _Content(_numbered(dict(zip(names, row, strict=True)) for row in data))
    if (found := _of_columns(document, roles)) or (found := _of_users(document, roles)):
        return found
    inner = [key for key, value in document.items() if _may_hold_records(value, depth)]
    if len(inner) == 1 and not roles.names_columns([*_paths(document)]):
        return _shaped(document[inner[0]], where, roles, depth - 1)
    return _exploded([(1, document)], roles)


def _of_columns(document: dict[str, Any], roles: Roles) -> _Content | None:
    """Return the records of values by column and row, or by row and column; None of another."""
    values = list(document.values())
    has_names = roles.names_columns([*document])
    if values and all(isinstance(value, dict) for value in values):
        if has_names:
            rows = dict.fromkeys(key for value in values for key in value)
            records: Iterable[Any] = (
                {name: column.get(key) for name, column in document.items()} for key in rows
            )
            return _Content(_numbered(records))
        if roles.names_columns([*values[0]]):
            return _Content(_numbered(values))
    are_lists = has_names and all(isinstance(value, list) for value in values)
    if are_lists and len({len(value) for value in values}) == 1:
        records = (dict(zip(document, row, strict=True)) for row in zip(*values, strict=True))
        return _Content(_numbered(records))
    return None


def _of_users(document: dict[str, Any], roles: Roles) -> _Content | None:
    """Return the records of items and ratings by user; None of another document."""
    pairs: list[tuple[Any, Any, Any]] = []
    for user, ratings in document.items():
        if isinstance(ratings, dict):
            if not all(map(_is_leaf, ratings.values())):
                return None
            pairs += [(user, item, value) for item, value in ratings.items() if value is not None]
        elif isinstance(ratings, list):
            for each in ratings:
                if isinstance(each, list) and len(each) in (2, 3) and not isinstance(each[0], list):
                    fields = dict(zip(("rating", "timestamp"), each[1:], strict=False))
                    pairs.append((user, each[0], fields))
                elif isinstance(each, dict) and roles.positions([*each], "item"):
                    pairs.append((user, _NONE, each))
                else:
                    return None
        else:
            return None
    return _by_user(pairs) if pairs else None


def _numbered(records: Iterable[Any]) -> Iterator[Record]:
    return ((number, record, _not_object(record)) for number, record in enumerate(records, 1))


def _may_hold_records(value: Any, depth: int) -> bool:
    """Return whether a value is a list of objects or lists, or an object that has one inside."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict | list)
    if not isinstance(value, dict) or depth < 1:
        return False
    return any(_may_hold_records(each, depth - 1) for each in value.values())


def _is_leaf(value: Any) -> bool:
    """Return whether a value is a rating: a number, or an object that has one."""
    if isinstance(value, dict):
        return bool(RATINGS.positions([*value], "rating"))
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _by_user(pairs: list[tuple[Any, Any, Any]]) -> _Content:
    """Return the records of values by user and item."""

    def records() -> Iterator[Record]:
        for number, (user, item, value) in enumerate(pairs, 1):
            record = {"user": user} | ({} if item is _NONE else {"item": item})
            record |= value if isinstance(value, dict) else {"rating": value}
            yield number, record, ""

    return _Content(records(), notes=(Note("json-by-user", {}),))


def _of_lists(rows: list[Any], roles: Roles) -> _Content:
    """Return the records of a list of lists, the first of which may name the fields."""
    first = rows[0]
    has_names = all(isinstance(name, str) for name in first) and roles.names_columns(first)
    names = first if has_names else [f"value {number + 1}" for number in range(len(first))]

    def records() -> Iterator[Record]:
        for number, row in enumerate(rows[has_names:], 1 + has_names):
            if isinstance(row, list) and len(row) == len(names):
                yield number, dict(zip(names, row, strict=True)), ""
            else:
                found = counted(len(row), "value") if isinstance(row, list) else "no list"
                yield number, None, f"{found}, where the first list has {len(names)}"

    return _Content(records(), is_nameless=not has_names)


def _exploded(rows: Iterable[tuple[int, Any]], roles: Roles) -> _Content:
    return _exploded_lines(((line, row, _not_object(row)) for line, row in rows), roles)


def _exploded_lines(
    records: Iterator[Record], roles: Roles, named: Set[str | int | None] = frozenset()
) -> _Content:
    """Return records, of those that hold a list of ratings of one user one for each rating."""
    first = list(islice(records, SAMPLE))
    rows = chain(first, records)
    sample = [record for _, record, fault in first if not fault]
    lists = [record for _, record, _ in first if isinstance(record, list)]
    if lists and len(lists) == len(first):  # a list a line
        width = len(lists[0])
        names = [f"value {number + 1}" for number in range(width)]
        return _Content(
            (
                (line, dict(zip(names, row, strict=True)), "")
                if isinstance(row, list) and len(row) == width
                else (line, None, f"not a list of {counted(width, 'value')}")
                for line, row, _ in rows
            ),
            is_nameless=True,
        )
    paths = {name: None for record in sample[:20] for name in _paths(record)}
    texts = {name for name in named if isinstance(name, str)}
    is_flat = not roles.usual or (texts and texts <= paths.keys())  # as of users and items
    if not sample or is_flat or roles.names_columns([*paths]):
        return _Content(rows)
    inner = [
        key
        for key, value in sample[0].items()
        if isinstance(value, dict) and roles.names_columns([*value])
    ]
    if len(inner) == 1:  # as Elasticsearch and Django write them
        return _Content(
            (line, {**record, **_mapping(record.get(inner[0]))} if not fault else record, fault)
            for line, record, fault in rows
        )
    holders = [record for record in sample if any(map(_is_table, record.values()))]
    if len(holders) == 1 and len(first) < SAMPLE:  # as phpMyAdmin writes a database
        (table,) = [value for value in holders[0].values() if _is_table(value)][:1]
        if roles.names_columns([*table[0]]):
            return _Content(_numbered(table))
    fields = [
        key
        for key in sample[0]
        if all(_is_ratings(record.get(key, []), roles) for record in sample[:20])
        and (len(sample) == 1 or any(record.get(key) for record in sample))
    ]
    if len(fields) != 1:
        return _Content(rows)

    def exploded() -> Iterator[Record]:
        for line, record, fault in rows:
            if fault or not _is_ratings(record.get(fields[0], []), roles):
                yield line, record, fault or f"no list of ratings in {fields[0]!r}"
                continue
            outer = {key: value for key, value in record.items() if key != fields[0]}
            inner = record.get(fields[0], [])
            pairs = inner.items() if isinstance(inner, dict) else inner
            for each in pairs:
                if not isinstance(each, dict):
                    each = dict(zip(("item", "rating", "timestamp"), each, strict=False))
                yield line, outer | each, ""

    return _Content(exploded())


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _is_ratings(value: Any, roles: Roles) -> bool:
    """Return whether a value is the ratings of one user: objects, lists, or numbers by item."""
    if isinstance(value, dict):
        numbers = [each for each in value.values() if isinstance(each, int | float)]
        has_names = any(roles.positions([*value], role) for role in roles.kinds)
        return 0 < len(numbers) == len(value) and not has_names
    if not isinstance(value, list) or not value:
        return isinstance(value, list) and not value
    if all(isinstance(each, dict) for each in value):
        return bool(roles.positions([*value[0]], "item"))
    return all(isinstance(each, list) and len(each) in (2, 3) for each in value)


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
        if isinstance(value, dict) and value and not isinstance(_plain(value), str | int | float):
            yield from _paths(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def _plain(value: Any) -> Any:
    """Return what MongoDB writes as ``{"$numberLong": "5"}`` and the like as a plain value."""
    while isinstance(value, dict) and len(value) == 1 and (key := next(iter(value)))[:1] == "$":
        value = value[key]
    return value


def _value(record: Any, path: str) -> Any:
    """Return the value at a path; None where it is absent. A key may contain points itself."""
    if not isinstance(record, dict):
        return None
    if path in record:
        value = record[path]
        return _plain(value) if type(value) is dict else value
    for end in (place for place, sign in enumerate(path) if sign == "."):
        if path[:end] in record:
            return _value(record[path[:end]], path[end + 1 :])
    return None


def _known(record: Any, path: str) -> str | None:
    """Return what is known of a user or an item as text: of a list its values between bars."""
    value = _value(record, path)
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return "|".join(_text(each) or "" for each in value)
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False)
    return _text(value)


def _text(value: str | int | float | None) -> str | None:
    """Return a value as a text file has it; whole floats, as pandas makes them, without a point."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2.0**53 else repr(value)
    if value is None or isinstance(value, str):
        return value
    return str(value)
