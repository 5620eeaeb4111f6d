"""The readers of SQLite and DuckDB: one table, or what a query selects; nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness.datasets.columns import find_columns
from harness.datasets.readers.base import NO_ROWS, Reader, ReadOptions, to_table
from harness.errors import DataError, listed, reason_of, suggestion

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

CHUNK = 1 << 16
"""Rows that are held as Python objects at once."""
_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
"""What a query may do."""


class Database(Reader):
    """A file of tables."""

    in_tables: ClassVar[bool] = True

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns of the table of ratings."""
        raise DataError(f"{where}: a database; give a config with `table` or `query`")


def selection(tables: dict[str, list[str]], options: ReadOptions) -> str:
    """Return the query for a table that is named, or is the only one that can hold ratings."""
    if options.query:
        return options.query
    table = options.table
    if not table:
        fitting = [name for name, columns in tables.items() if _has_ratings(columns, options)]
        if len(fitting) != 1 and len(tables) != 1:
            names = listed(list(tables), 20) or "none"
            raise DataError(
                f"{options.where}: tables: {names}; name the one of ratings, as table: ratings, or "
                "say what to read, as query: SELECT …"
            )
        table = (fitting or list(tables))[0]
    if table not in tables:
        advice = suggestion(table, list(tables))
        raise DataError(f"{options.where}: no table {table!r}; {advice}")
    quoted = table.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'  # noqa: S608 - one of the file's own tables


def _has_ratings(columns: Sequence[str], options: ReadOptions) -> bool:
    try:
        find_columns(columns, options.columns, "", options.roles)
    except DataError:
        return False
    return True


class SQLite(Database):
    """Tables of SQLite, opened to read only."""

    endings = (".sqlite", ".sqlite3", ".db")
    label = "SQLite"

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as an SQLite file does."""
        return head.startswith(b"SQLite format 3\0")

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed of a table or a query; every fault has its record."""
        import pyarrow as pa

        from harness.datasets.conversion import convert

        where, roles = options.where, options.roles
        with _refused(where, sqlite3.Error), closing(_opened(path)) as base:
            query = selection(_tables(base), options)
            cursor = base.execute(query)
            if cursor.description is None:
                raise DataError(f"{where}: the query selects nothing; begin it with SELECT")
            names = [column[0] for column in cursor.description]
            positions = find_columns(names, options.columns, where, roles)
            chunks: dict[str, list[pa.Array]] = {role: [] for role in positions}
            for first in count(1, CHUNK):
                rows = cursor.fetchmany(CHUNK)
                if not rows:
                    break
                for role, place in positions.items():
                    texts = [_text(row[place]) for row in rows]
                    if None in texts:
                        _refuse_blobs([row[place] for row in rows], first, role, where)
                    chunks[role].append(pa.array(texts, pa.string()))
        if not all(chunks.values()):
            raise DataError(f"{where}: {NO_ROWS}")
        columns = {role: pa.chunked_array(parts) for role, parts in chunks.items()}
        at = lambda row: where if row < 0 else f"{where}: record {row + 1}"  # noqa: E731
        return convert(columns, roles.kinds, where, at, values=options.values)


class DuckDB(Database):
    """Tables of DuckDB, opened to read only; needs the package ``duckdb``."""

    endings = (".duckdb", ".ddb")
    label = "DuckDB"

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as a DuckDB file does."""
        return head[8:12] == b"DUCK"

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed of a table or a query."""
        where = options.where
        try:
            import duckdb
        except ImportError:
            raise DataError(
                f"{where}: a DuckDB file needs duckdb; pip install 'surprise-harness[duckdb]'"
            ) from None
        settings = {"enable_external_access": "false", "autoinstall_known_extensions": "false"}
        with (
            _refused(where, duckdb.Error),
            closing(duckdb.connect(str(path), read_only=True, config=settings)) as base,
        ):
            columns = base.execute(
                "SELECT table_name, column_name FROM information_schema.columns ORDER BY 1"
            ).fetchall()
            tables: dict[str, list[str]] = {}
            for table, column in columns:
                tables.setdefault(table, []).append(column)
            result = base.sql(selection(tables, options)).to_arrow_table()
        return to_table(
            result.column_names,
            lambda positions: [result.column(position) for position in positions],
            options,
        )


def _opened(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    base.execute("PRAGMA query_only = 1")
    base.text_factory = lambda data: data.decode("utf-8", "replace")
    return base


def _tables(base: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the columns of each table and view, and let the connection do no more than read."""
    names = base.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()
    query = "SELECT name FROM pragma_table_info(?)"
    tables = {name: [row[0] for row in base.execute(query, (name,))] for (name,) in names}
    base.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY
    )
    return tables


def _text(value: Any) -> str | None:
    """Return a value as a text file has it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2.0**53 else repr(value)
    return str(value) if isinstance(value, int) else None


def _refuse_blobs(values: Sequence[Any], first: int, role: str, where: str) -> None:
    for number, value in enumerate(values, first):
        if isinstance(value, bytes):
            raise DataError(
                f"{where}: record {number}: the {role} is binary data; select it as text, as "
                "query: SELECT hex(…)"
            )


@contextmanager
def _refused(where: str, errors: type[Exception]) -> Iterator[None]:
    try:
        yield
    except errors as error:
        reason = reason_of(error)
        writes = "not authorized" in reason or "read-only" in reason or "readonly" in reason
        advice = "a query may only read" if writes else "check the file and the query"
        raise DataError(f"{where}: {reason}; {advice}") from None
