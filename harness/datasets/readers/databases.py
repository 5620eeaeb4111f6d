"""The readers of SQLite and DuckDB: one table, or what a query selects; nothing is written."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness._util.libraries import pa
from harness.datasets.columns import find_columns
from harness.datasets.conversion import convert
from harness.datasets.evidence import LINES
from harness.datasets.limits import MEGABYTE, too_slow
from harness.datasets.readers.base import (
    NO_ROWS,
    OF_TABLES,
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    sample_of_columns,
    to_table,
    unread,
)
from harness.datasets.readers.batches import BYTES_A_ROW, gathered, refused
from harness.errors import DataError, listed, reason_of, suggestion
from harness.notes.note import Note

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


CHUNK = 1 << 16
"""Rows that are held as Python objects at once."""
FEW = 64
"""Rows that are asked for at once, each of which may have long texts."""
LONG = 16 * MEGABYTE
"""Bytes of texts that are held as Python objects at once."""
MEMORY = 256 * MEGABYTE
"""Bytes that DuckDB may hold beside what it returns."""
STEPS = 100_000
"""Steps of SQLite between two looks at the time."""
_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
"""What a query may do."""


class Database(Reader):
    """A file of tables."""

    keys = OF_TABLES

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
                f"{options.where}: tables: {names}; name the table of ratings, for example table: "
                "ratings, or write a query, for example query: SELECT …"
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
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings into a table."""
        with closing(sqlite3.connect(path)) as base:
            example_ratings().to_sql("ratings", base, index=False)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as an SQLite file does."""
        return head.startswith(b"SQLite format 3\0")

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed of a table or a query; every problem has its record."""
        where, roles, limits = options.where, options.roles, options.limits
        n_bytes = path.stat().st_size
        with (
            _refused(where, sqlite3.Error),
            closing(_opened(path)) as base,
            _stopped(base, limits.query_seconds(n_bytes), where),
        ):
            cursor, names = _selected(base, options)
            positions = find_columns(names, options.columns, where, roles)
            chunks: dict[str, list[pa.Array]] = {role: [] for role in positions}
            first, most = 1, 0
            notes: tuple[Note, ...] = ()
            for rows in _chunks(cursor):
                if first == 1:
                    notes = unread(names, partial(_texts, rows[:LINES]), options, positions)
                for role, place in positions.items():
                    texts = [_text(row[place]) for row in rows]
                    if None in texts:
                        _refuse_blobs([row[place] for row in rows], first, role, where)
                    column = pa.array(texts, pa.string())
                    most += max(column.nbytes, len(column) * BYTES_A_ROW // len(positions))
                    chunks[role].append(column)
                first += len(rows)
                limits.check_unpacked(most, n_bytes, where, least=True)
        if not all(chunks.values()):
            raise DataError(f"{where}: {NO_ROWS}")
        columns = {role: pa.chunked_array(parts) for role, parts in chunks.items()}
        at = lambda row: where if row < 0 else f"{where}: record {row + 1}"  # noqa: E731
        return convert(columns, roles.kinds, where, at, values=options, notes=notes)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows of a table or a query."""
        where, n_bytes = options.where, path.stat().st_size
        with (
            _refused(where, sqlite3.Error),
            closing(_opened(path)) as base,
            _stopped(base, options.limits.query_seconds(n_bytes), where),
        ):
            cursor, names = _selected(base, options)
            return Sample(names, _texts(cursor.fetchmany(LINES)))


def _selected(base: sqlite3.Connection, options: ReadOptions) -> tuple[sqlite3.Cursor, list[str]]:
    """Return the rows of a table or a query, and the names of its columns."""
    cursor = base.execute(selection(_tables(base), options))
    if cursor.description is None:
        raise DataError(f"{options.where}: the query selects nothing; begin it with SELECT")
    return cursor, [column[0] for column in cursor.description]


def _texts(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    """Return rows as a text file has them, empty where there is no value."""
    return [tuple(_text(value) or "" for value in row) for row in rows]


def _duckdb(where: str) -> Any:
    """Return the package ``duckdb``, or raise a DataError that says how to install it."""
    try:
        import duckdb
    except ImportError:
        raise DataError(
            f"{where}: a DuckDB file needs duckdb; pip install 'surprise-harness[duckdb]'"
        ) from None
    return duckdb


class DuckDB(Database):
    """Tables of DuckDB, opened to read only; needs the package ``duckdb``."""

    endings = (".duckdb", ".ddb")
    label = "DuckDB"
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings into a table."""
        duckdb = _duckdb(path.name)
        with duckdb.connect(str(path)) as base:
            base.register("example", example_ratings())
            base.execute("CREATE TABLE ratings AS SELECT * FROM example")

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as a DuckDB file does."""
        return head[8:12] == b"DUCK"

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed of a table or a query."""
        with self._selected(path, options) as result:
            names = result.schema.names
            first: list[pa.RecordBatch] = []

            def columns_at(positions: list[int]) -> list[object]:
                order = sorted({*positions})

                def batches() -> Iterator[pa.RecordBatch]:
                    for batch in result:
                        first.extend([batch[:LINES]] * (not first))
                        yield batch.select(order)

                columns = gathered(batches(), path, options)
                return [columns[order.index(at)] if columns else () for at in positions]

            def rows() -> list[tuple[str, ...]]:
                table = pa.Table.from_batches(first, result.schema)
                return sample_of_columns(table, options.where).rows

            return to_table(names, columns_at, options, rows)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows of a table or a query."""
        with self._selected(path, options, LINES) as result:
            first = [*islice(result, 1)]
            return sample_of_columns(pa.Table.from_batches(first, result.schema), options.where)

    @contextmanager
    def _selected(self, path: Path, options: ReadOptions, size: int = CHUNK) -> Iterator[Any]:
        """Yield what reads a table or a query in batches."""
        where = options.where
        duckdb = _duckdb(where)
        settings = {"enable_external_access": "false", "autoinstall_known_extensions": "false"}
        n_bytes = path.stat().st_size
        # What a query holds beside its rows, as for sorting, is limited as what it returns.
        settings["memory_limit"] = f"{MEMORY + options.limits.most_unpacked(n_bytes)} B"
        with (
            refused(where, "a DuckDB file"),
            _refused(where, duckdb.Error),
            closing(duckdb.connect(str(path), read_only=True, config=settings)) as base,
            _interrupted(base, options.limits.query_seconds(n_bytes), where),
        ):
            columns = base.execute(
                "SELECT table_name, column_name FROM information_schema.columns ORDER BY 1"
            ).fetchall()
            tables: dict[str, list[str]] = {}
            for table, column in columns:
                tables.setdefault(table, []).append(column)
            found = base.sql(selection(tables, options))
            batches_of = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
            yield batches_of(size)


def _chunks(cursor: sqlite3.Cursor) -> Iterator[list[Any]]:
    """Yield the rows of a query in lists that are neither long nor large."""
    rows: list[Any] = []
    size = 0
    while few := cursor.fetchmany(FEW):
        rows += few
        size += sum(len(value) for row in few for value in row if isinstance(value, str | bytes))
        if len(rows) >= CHUNK or size >= LONG:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


@contextmanager
def _stopped(base: sqlite3.Connection, seconds: float, where: str) -> Iterator[None]:
    """Stop what a view or a query computes after some seconds of processor time."""
    end = time.thread_time() + seconds
    base.set_progress_handler(lambda: time.thread_time() > end, STEPS)
    try:
        yield
    except sqlite3.OperationalError:
        if time.thread_time() > end:
            raise too_slow(where, "the table, view or query did not end", seconds) from None
        raise


@contextmanager
def _interrupted(base: Any, seconds: float, where: str) -> Iterator[None]:
    """Interrupt what a view or a query computes after some seconds."""
    is_over = threading.Event()

    def interrupt() -> None:
        is_over.set()
        base.interrupt()

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except DataError:
        raise
    except Exception:  # of DuckDB, or of Arrow, to which it hands batches
        if is_over.is_set():
            raise too_slow(where, "the table, view or query did not end", seconds) from None
        raise
    finally:
        timer.cancel()
        timer.join()


def _opened(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    # No text of the file is longer than the file; what a view makes up may not be much longer.
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(MEGABYTE, min(path.stat().st_size, 10**9)))
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
                f"{where}: record {number}: the {role} is binary data; select it as text, for "
                "example query: SELECT hex(…)"
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
