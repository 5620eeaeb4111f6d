"""The reader of SQL dumps: the rows that INSERT and COPY write into one table."""

from __future__ import annotations

import re
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness._util.files import report_os_error
from harness._util.libraries import pa, psutil
from harness.datasets.columns import find_columns
from harness.datasets.conversion import convert
from harness.datasets.evidence import LINES
from harness.datasets.readers.base import (
    NO_ROWS,
    UNREADABLE,
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    unread,
)
from harness.errors import DataError, counted, listed, suggestion

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

_NAME = r"(?:`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\"|\[[^\]]+\]|\w+)"
_FULL = rf"(?P<table>{_NAME}(?:\s*\.\s*{_NAME})*)"
_COLUMNS = rf"(?:\(\s*(?P<columns>{_NAME}(?:\s*,\s*{_NAME})*)\s*\))?"
_INSERT = re.compile(
    rf"\s*(?:INSERT|REPLACE)\s+(?:IGNORE\s+|OR\s+\w+\s+)?(?:INTO\s+|(?=\[))"
    rf"{_FULL}\s*{_COLUMNS}\s*VALUES\s*",
    re.IGNORECASE,
)
_COPY = re.compile(rf"\s*COPY\s+{_FULL}\s*{_COLUMNS}\s+FROM\s+stdin\b[^;]*;[^\n]*\n", re.IGNORECASE)
_CREATE = re.compile(
    rf"\s*CREATE\s+(?:TEMP(?:ORARY)?\s+|UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_FULL}\s*\(",
    re.IGNORECASE,
)
_CHANGES = re.compile(r"\s*(UPDATE|DELETE\s+FROM|TRUNCATE|MERGE)\b", re.IGNORECASE)
_NO_COLUMN = re.compile(
    r"\s*(PRIMARY|UNIQUE|KEY|INDEX|CONSTRAINT|FOREIGN|CHECK|FULLTEXT|SPATIAL|EXCLUDE)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\s*(?:CAST\s*\(\s*)?(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<null>NULL)|"
    r"(?P<bool>TRUE|FALSE)|(?P<quote>(?:[EN]|_\w+\s*)?'))",
    re.IGNORECASE,
)
_TYPE = r"[\w ]+(?:\(\d+(?:,\s*\d+)?\))?"
_CAST = re.compile(rf"::{_TYPE}|\s+AS\s+{_TYPE}\s*\)", re.IGNORECASE)
_PLAIN = re.compile(r"[^']*'")
_ESCAPED = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a", "f": "\f", "v": "\v"}
_BEGINNING = re.compile(
    rb"\s*(?:--[^\n]*\n\s*){0,9}"
    rb"(--[^\n]*(MySQL|MariaDB|PostgreSQL)[^\n]*dump|PRAGMA foreign_keys|BEGIN TRANSACTION;|"
    rb"SET [\w@. ]+=|DROP TABLE |CREATE TABLE |REM INSERTING |SET DEFINE |"
    rb"(INSERT|REPLACE) INTO |COPY \S+ \()",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s+|--[^\n]*\n|#[^\n]*\n|/\*.*?\*/;?)*(?:--|#|/\*|\\|"
    rb"(?:ALTER|BEGIN|COMMIT|COPY|CREATE|DELETE|DELIMITER|DROP|GO|INSERT|LOCK|MERGE|PRAGMA|"
    rb"REM|REPLACE|SELECT|SET|START|TRUNCATE|UPDATE|USE|WITH)\b)",
    re.IGNORECASE | re.DOTALL,
)
WAY_ON = "load the dump into its database, and give that, or export the table of ratings as CSV"
BYTES = 6
"""Memory for each byte of a dump while it is read."""


class Dump(NamedTuple):
    """A table of a dump: its columns, its rows as text, and the line of each."""

    columns: list[str]
    rows: list[list[str | None]]
    lines: array[int]

    def sample(self) -> list[tuple[str, ...]]:
        """Return the first rows, with an empty text where there is no value."""
        return [tuple(text or "" for text in row) for row in self.rows[:LINES]]


class SQLDump(Reader):
    """Dumps of MySQL, PostgreSQL, SQLite, SQL Server and Oracle, of tables that only gain rows."""

    endings = (".sql",)
    label = "SQL dump"
    has_mark = True
    keys = ("table",)

    def write_example(self, path: Path) -> None:
        """Write the example ratings as one statement."""
        rows = example_ratings().itertuples(index=False, name=None)
        values = ",".join(f"('{u}','{i}',{r})" for u, i, r in rows)
        path.write_text(
            "-- MySQL dump\nCREATE TABLE `ratings` (`user` text, `item` text, `rating` double);\n"
            f"INSERT INTO `ratings` VALUES {values};\n",
            encoding="utf-8",
        )

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins with the statements or the comment of a dump."""
        return _BEGINNING.match(head.removeprefix(b"\xef\xbb\xbf")) is not None

    def recognise(self, head: bytes, name: str) -> bool:
        """Return whether a file is a dump; one that is called so may begin with any statement."""
        is_called = name.casefold().endswith(self.endings)
        return self.recognises(head) or (is_called and _STATEMENT.match(head) is not None)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns of the table of ratings."""
        dump = _chosen(_tables(path, where), ReadOptions(where=where))
        return dump.columns

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the columns and the first rows of the table of ratings."""
        dump = _chosen(_tables(path, options.where), options)
        return Sample(dump.columns, dump.sample())

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed of a table; every problem has its line."""
        where, roles = options.where, options.roles
        if options.query is not None:
            raise DataError(
                f"{where}: a dump has no queries; name the table, such as table: ratings"
            )
        dump = _chosen(_tables(path, where), options)
        positions = find_columns(dump.columns, options.columns, where, roles)
        if not dump.rows:
            raise DataError(f"{where}: {NO_ROWS}")
        columns = {
            role: pa.array([row[place] for row in dump.rows], pa.string())
            for role, place in positions.items()
        }
        return convert(
            columns,
            roles.kinds,
            where,
            lambda row: where if row < 0 else f"{where}:{dump.lines[row]}",
            values=options,
            notes=unread(dump.columns, dump.sample, options, positions),
        )


def _chosen(tables: dict[str, Dump], options: ReadOptions) -> Dump:
    """Return the table that is named, or the only one that can hold ratings."""
    where = options.where
    if options.table is not None:
        if options.table not in tables:
            advice = suggestion(options.table, [*tables])
            raise DataError(f"{where}: no table {options.table!r}; {advice}")
        return tables[options.table]
    fitting = []
    for name, dump in tables.items():
        try:
            find_columns(dump.columns, options.columns, where, options.roles)
        except DataError:
            continue
        fitting.append(name)
    if len(tables) == 1 or len(fitting) == 1:
        return tables[(fitting or [*tables])[0]]
    if not tables:
        raise DataError(f"{where}: an SQL dump without rows, such as INSERT or COPY; {WAY_ON}")
    raise DataError(
        f"{where}: tables: {listed([*tables], 20)}; name the table of ratings, for example table: "
        f"{(fitting or [*tables])[0]}"
    )


def _tables(path: Path, where: str) -> dict[str, Dump]:
    """Return the tables of a dump that have rows, or are created, by name."""
    with report_os_error(where, *UNREADABLE):
        n_bytes = path.stat().st_size
        free = psutil.virtual_memory().available
        if n_bytes * BYTES > free:
            raise DataError(
                f"{where}: an SQL dump of {n_bytes / 2**30:,.1f} GB, and {free / 2**30:,.1f} GB "
                f"are free; {WAY_ON}"
            )
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{where}:{line}: not UTF-8; save the dump as UTF-8") from None
    return _Parser(text, where).tables()


class _Parser:
    """Reads a dump statement by statement."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where = text, where
        self.place = self.line = self.counted = 0
        has_marks = re.search(r"\b(MySQL|MariaDB)\b|`", text[:4096]) is not None
        self.escaped = has_marks
        self.found: dict[str, Dump] = {}

    def tables(self) -> dict[str, Dump]:
        """Return all tables."""
        while self._skip_blanks():
            if found := _CREATE.match(self.text, self.place):
                self._create(found)
            elif found := _INSERT.match(self.text, self.place):
                self._insert(found)
            elif found := _COPY.match(self.text, self.place):
                self._copy(found)
            elif found := _CHANGES.match(self.text, self.place):
                raise DataError(
                    f"{self._at()}: {found[1].upper()} in an SQL dump, which is not carried out; "
                    f"{WAY_ON}"
                )
            else:
                self._skip_statement()
        return self.found

    def _at(self) -> str:
        return f"{self.where}:{self._line()}"

    def _line(self) -> int:
        self.line += self.text.count("\n", self.counted, self.place)
        self.counted = self.place
        return self.line + 1

    def _skip_blanks(self) -> bool:
        """Go on to the next statement; return whether there is one."""
        while found := _BLANK.match(self.text, self.place):
            if found.end() == self.place:
                break
            self.place = found.end()
        return self.place < len(self.text)

    def _skip_statement(self) -> None:
        """Go on behind the end of a statement."""
        while self.place < len(self.text):
            found = _ENDING.search(self.text, self.place)
            if found is None:
                self.place = len(self.text)
                return
            self.place = found.end()
            if found[0] == ";" or found[0][0] == "\n":
                return
            if found[0] == "'":
                self._string(self.escaped)
            elif found[0] == "--":
                self.place = self.text.find("\n", self.place) % (len(self.text) + 1)
            elif found[0] == "/*":
                end = self.text.find("*/", self.place)
                self.place = len(self.text) if end < 0 else end + 2
            elif found[0] == "$$":
                end = self.text.find("$$", self.place)
                self.place = len(self.text) if end < 0 else end + 2

    def _string(self, escaped: bool) -> str:
        """Return the text up to the quotation mark that closes it; what is doubled is one."""
        parts = []
        form = _ESCAPED if escaped else _PLAIN
        while True:
            found = form.match(self.text, self.place)
            if found is None:
                raise DataError(f"{self._at()}: a text that is not closed; the dump is not whole")
            self.place = found.end()
            parts.append(found[0][:-1])
            if not self.text.startswith("'", self.place):
                break
            self.place += 1
        text = "'".join(parts)
        if escaped and "\\" in text:
            text = re.sub(r"\\(.)", lambda m: _SIGNS.get(m[1], m[1]), text, flags=re.DOTALL)
        return text

    def _create(self, found: re.Match[str]) -> None:
        self.place = begun = found.end()
        depth, parts = 1, [""]
        for sign in re.finditer(
            r"[(),]|'(?:[^'\\]|\\.|'')*'", self.text[begun : begun + (1 << 20)]
        ):
            if sign[0] == "(":
                depth += 1
            elif sign[0] == ")":
                depth -= 1
            if (sign[0] == "," and depth == 1) or depth == 0:
                parts.append(self.text[self.place : begun + sign.start()])
                self.place = begun + sign.end()
            if depth == 0:
                break
        columns = []
        for part in parts[1:]:
            part = re.sub(r"--[^\n]*\n|/\*.*?\*/", " ", part, flags=re.DOTALL)
            named = re.match(rf"\s*({_NAME})", part)
            if named and not _NO_COLUMN.match(part):
                columns.append(_plain(named[1]))
        self.found.setdefault(_plain(found["table"]), Dump(columns, [], array("q")))
        self._skip_statement()

    def _dump(self, found: re.Match[str]) -> tuple[Dump, list[int] | None]:
        """Return the table of a statement, and where its values are among the columns."""
        name = _plain(found["table"])
        listed_columns = found["columns"]
        columns = [_plain(each) for each in re.findall(_NAME, listed_columns or "")]
        dump = self.found.get(name)
        if dump is None:
            if not columns:
                raise DataError(
                    f"{self._at()}: rows of a table {name!r} whose columns are not named; {WAY_ON}"
                )
            dump = self.found[name] = Dump(columns, [], array("q"))
        if not columns or columns == dump.columns:
            return dump, None
        if not {*columns} <= {*dump.columns}:
            raise DataError(f"{self._at()}: columns that {name!r} does not have; {WAY_ON}")
        return dump, [dump.columns.index(column) for column in columns]

    def _add(self, dump: Dump, places: list[int] | None, row: list[str | None], line: int) -> None:
        n_expected = len(dump.columns) if places is None else len(places)
        if len(row) != n_expected:
            raise DataError(
                f"{self.where}:{line}: {counted(len(row), 'value')} for "
                f"{counted(n_expected, 'column')}; {WAY_ON}"
            )
        if places is not None:
            full: list[str | None] = [None] * len(dump.columns)
            for place, value in zip(places, row, strict=True):
                full[place] = value
            row = full
        dump.rows.append(row)
        dump.lines.append(line)

    def _insert(self, found: re.Match[str]) -> None:
        dump, places = self._dump(found)
        self.place = found.end()
        while True:
            if not self.text.startswith("(", self.place):
                raise DataError(f"{self._at()}: rows that are computed, not listed; {WAY_ON}")
            self.place += 1
            line, row = self._line(), self._row()
            self._add(dump, places, row, line)
            follows = _COMMA.match(self.text, self.place)
            if follows is None:
                break
            self.place = follows.end()
        self._skip_statement()

    def _row(self) -> list[str | None]:
        """Return the values up to the parenthesis that closes a row."""
        row: list[str | None] = []
        while True:
            found = _VALUE.match(self.text, self.place)
            if found is None:
                raise DataError(
                    f"{self._at()}: a value that is neither a number nor a text "
                    f"({self.text[self.place : self.place + 20]!r}); {WAY_ON}"
                )
            self.place = found.end()
            if found["quote"]:
                row.append(self._string(self.escaped or found["quote"][0] in "Ee"))
            else:
                is_true = found["bool"] and found["bool"].upper()
                row.append(found["number"] or (is_true and str(int(is_true == "TRUE"))) or None)
            if cast := _CAST.match(self.text, self.place):
                self.place = cast.end()
            ended = _NEXT.match(self.text, self.place)
            if ended is None:
                raise DataError(
                    f"{self._at()}: a value that is computed, not listed "
                    f"({self.text[self.place : self.place + 20]!r}); {WAY_ON}"
                )
            self.place = ended.end()
            if ended[1] == ")":
                return row

    def _copy(self, found: re.Match[str]) -> None:
        dump, places = self._dump(found)
        self.place = found.end()
        line = self._line()
        while True:
            end = self.text.find("\n", self.place)
            if end < 0:
                raise DataError(f"{self.where}:{line}: rows without an end; the dump is not whole")
            text = self.text[self.place : end].removesuffix("\r")
            self.place = end + 1
            if text == "\\.":
                return
            self._add(dump, places, [_copied(field) for field in text.split("\t")], line)
            line += 1


_BLANK = re.compile(
    r"(?:\s+|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|/\*(?:.*?)\*/;?|;|\\[^\n]*)*", re.DOTALL
)
_ENDING = re.compile(
    r";|'|--|/\*|\$\$"
    r"|\n[ \t]*GO[ \t]*\r?(?=\n|\Z)|\n(?=[ \t]*INSERT\s+\[)"  # SQL Server needs no semicolon
)
_COMMA = re.compile(r"\s*,\s*(?=\()")
_NEXT = re.compile(r"\s*([,)])")


def _plain(name: str) -> str:
    """Return the last part of a name without quotation marks."""
    last = re.findall(_NAME, name)[-1]
    if last[0] in '`"[':
        last = last[1:-1].replace(last[0] * 2, last[0])
    return str(last)


def _copied(field: str) -> str | None:
    r"""Return a field of COPY: ``\N`` is none, and a backslash escapes what follows."""
    if field == "\\N":
        return None
    if "\\" in field:
        return re.sub(r"\\(.)", lambda m: _SIGNS.get(m[1], m[1]), field)
    return field
