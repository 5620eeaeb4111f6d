"""What a reader of a format is, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from harness._util.libraries import pd
from harness.datasets.columns import RATINGS, Roles, find_columns
from harness.datasets.conversion import Table, convert
from harness.datasets.evidence import LINES, unread_columns
from harness.datasets.limits import Limits
from harness.datasets.policies import ValueFormat
from harness.datasets.tables import table_of_columns, texts_of
from harness.errors import ColumnsError, DataError
from harness.notes.note import Note

if TYPE_CHECKING:
    from harness.datasets.readers.packed import Progress
    from harness.datasets.readers.text import Layout


UNREADABLE = ("cannot be read", "check the path", DataError)
"""What `report_os_error` says about a file that the system does not let a reader read."""
NO_ROWS = "no rows of data; give a file that has some"
OF_TEXT = ("separator", "header", "skip", "comment", "encoding", "quotes")
"""Keys of a config that say how a text is written."""
OF_TABLES = ("table", "query")
"""Keys of a config that say which table of a file is read."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions(ValueFormat):
    """Facts about a file before it is opened, and the part to read; None is found out.

    How values are written is as in `harness.datasets.policies.ValueFormat`.

    Parameters
    ----------
    kind : str or None
        The name of a reader.
    separator, header, skip, comment, encoding, quotes, form, layout
        Of texts. `form` names the fields that a line must have, where they are fixed; a `layout`
        takes the place of all but `encoding`, `decimal` and `roles`.
    table, query : str or None
        Of databases and workbooks.
    member : str or None
        Of archives and folders: the file that is read, or a pattern of several.
    columns : dict
        As in `harness.datasets.columns.find_columns`.
    roles : Roles
        The columns that are read, by default the columns of ratings.
    limits : Limits
        How much may be read.
    where : str
        The file, as messages call it.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes.
    separators : tuple of str
        Of texts without a `separator`: those that are tried first.
    not_items : sequence of str or int, optional
        Of a matrix: columns that are not items, by name or by position from 1; None is found out.
    not_rated : sequence of float, optional
        Of a matrix: numbers that stand for "not rated"; None is found out.
    is_wide : bool
        Of a file of columns: whether it is read as a matrix, with a column for each item.
    """

    kind: str | None = None
    separator: str | None = None
    header: bool | None = None
    encoding: str | None = None
    quotes: str | None = None
    columns: Mapping[str, str | int | None] = field(default_factory=dict)
    skip: int = 0
    comment: str | None = None
    roles: Roles = RATINGS
    form: str = ""
    layout: Layout | None = None
    table: str | None = None
    query: str | None = None
    member: str | None = None
    limits: Limits = field(default_factory=Limits)
    where: str = ""
    progress: Progress | None = None
    separators: tuple[str, ...] = ()
    not_items: Sequence[str | int] | None = None
    not_rated: Sequence[float] | None = None
    is_wide: bool = False

    @property
    def finds_encoding(self) -> bool:
        """Whether the encoding of a text that is not UTF-8 is found: of ratings and features."""
        return self.roles is RATINGS or not self.roles.usual

    def advice(self, encoding: str = "latin-1") -> str:
        """Return what to do about another encoding; of ratings and features a config names it."""
        name = f", or name its encoding with `encoding: {encoding}`"
        return "save the file as UTF-8" + name * self.finds_encoding


class Sample(NamedTuple):
    """The names of the columns of a table, and its first rows as text."""

    names: list[str]
    rows: list[tuple[str, ...]]


class Reader:
    r"""A format of files: how its files are recognised and read.

    The readers of this package are of this class. One of another package is declared as an entry
    point of the group ``harness.readers``, and may be of any class with these members: `endings`,
    `read` and, for files without a known ending, `recognises`. Its name is the name of the entry
    point: `format` of a config.

    Attributes
    ----------
    endings : tuple of str
        Endings of file names in small letters, such as ``(".jsonl",)``.
    keys : tuple of str
        Of `OF_TEXT` and `OF_TABLES`, the keys that a config may have for a format of this package;
        any other is refused. Formats of other packages have `OF_TABLES`.

    Examples
    --------
    A format with a pair and its rating a line, such as ``ann>book=4``:

    >>> class Arrows(Reader):
    ...     endings = (".arrows",)
    ...
    ...     def read(self, path, options):
    ...         lines = path.read_text(encoding="utf-8").replace("=", ">").split()
    ...         users, items, ratings = zip(*(line.split(">") for line in lines))
    ...         return {"user": users, "item": items, "rating": ratings}
    >>> path = getfixture("tmp_path") / "mine.arrows"
    >>> _ = path.write_text("ann>book=4\nbob>book=2\n")
    >>> Arrows().read(path, ReadOptions())["rating"]
    ('4', '2')
    """

    endings: ClassVar[tuple[str, ...]] = ()
    keys: ClassVar[tuple[str, ...]] = ()
    label: ClassVar[str] = ""
    """What messages call a file of the format, such as ``Parquet``."""
    separators: ClassVar[tuple[str, ...]] = ()
    """For a text: the separators of fields that are tried first."""
    is_wide: ClassVar[bool] = False
    """Whether a file has a column for each item, and not one of ratings."""
    spaces_in_ids: ClassVar[bool] = True
    """Whether an id may hold a space; a format whose fields are parted by spaces has none."""
    has_mark: ClassVar[bool] = False
    """Whether `recognises` knows every file of the format: a text of its ending is then a text."""
    example: ClassVar[bytes] = b""
    """A small file of the format, with which the reader is tried; see `write_example`."""

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with these bytes, at most 4,096, is of the format."""
        return False

    def recognise(self, head: bytes, name: str) -> bool:
        """Return whether a file is of the format, if no reader has the ending of its name.

        Parameters
        ----------
        head : bytes
            Its first bytes, at most 4,096.
        name : str
            Its name without folders, such as ``ratings.dump``.
        """
        return self.recognises(head)

    def recognise_folder(self, folder: Path) -> bool:
        """Return whether a folder is one table of the format, so that `read` takes its path.

        A folder that no reader recognises is one of files, of which those with ratings are read.
        """
        return False

    def write_example(self, path: Path) -> None:
        """Write a small file of the format: `example`, or `example_ratings` in another way."""
        path.write_bytes(self.example)

    def read(self, path: Path, options: ReadOptions) -> Table | object:
        """Read a file.

        Parameters
        ----------
        path : Path
        options : ReadOptions
            May be ignored where the result has all columns.

        Returns
        -------
        DataFrame, pyarrow.Table, or dict of str to array_like of shape (n,)
            Columns by name. Readers that know the line of a problem return a
            `harness.datasets.conversion.Table`.

        Raises
        ------
        DataError
            If the file cannot be read; an exception of any other class becomes one that names the
            reader and its package.
        """
        raise NotImplementedError

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns of a file, by default by reading all of it."""
        return names_of(self.read(path, ReadOptions(where=where)), where)

    def names_known(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns of a file of what is known of users or items."""
        return self.names(path, where)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names of all columns and the first rows, by default by reading all of it.

        A reader whose `read` returns a `harness.datasets.conversion.Table` has no rows unless it
        says how to get them.
        """
        columns = self.read(path, options)
        if isinstance(columns, Table):
            return Sample(self.names(path, options.where), [])
        return sample_of_columns(columns, options.where)


def example_ratings(*, spaces: bool = True) -> pd.DataFrame:
    """Return the 24 ratings, of 6 users and 6 items, that the example of each format holds.

    Some ids are not ASCII, and some hold a space, as names do. A format that cannot hold spaces in
    ids, because they part its fields, declares ``spaces_in_ids = False`` in its class, and
    writes the ratings without them.
    """
    between = " " * spaces
    users = ("u0", f"u{between}1", "ü2", "u3", "u4", "u5")
    items = ("i0", f"i{between}1", "語2", "i3", "i4", "i5")
    rows = [
        (users[user], items[(user * 5 + place * 2) % 6], 1 + (user * 3 + place * 2) % 5)
        for user in range(6)
        for place in (0, 1, 2)
    ] + [(users[user], items[(user * 5 + 1) % 6], 1 + user % 5) for user in range(6)]
    return pd.DataFrame(rows, columns=["user", "item", "rating"])


def example_lines(separator: str, *, header: bool = True) -> bytes:
    """Return the ratings of the examples as text, a rating a line."""
    rows = [["user", "item", "rating"]] * header + example_ratings().astype(str).values.tolist()
    return "".join(f"{separator.join(row)}\n" for row in rows).encode()


def by_position(
    names: Sequence[str], columns: Mapping[str, str | int | None]
) -> dict[str, str | int | None]:
    """Return columns by role with positions for the names that a reader gives to its fields.

    Examples
    --------
    >>> by_position(["user", "0", "item", "rating"], {"user": "item", "item": 1})
    {'user': 3, 'item': 1}
    """
    return {
        role: names.index(at) + 1 if isinstance(at, str) and at in names else at
        for role, at in columns.items()
    }


def names_of(columns: object, where: str) -> list[str]:
    """Return the names of columns in any of the shapes that a reader may return."""
    names = getattr(columns, "column_names", None)  # of an Arrow table
    if names is None:
        names = getattr(columns, "columns", columns if isinstance(columns, Mapping) else None)
    if names is None:
        raise DataError(
            f"{where}: the reader returned a {type(columns).__name__}; its author has to return a "
            "DataFrame, an Arrow table or a dict of columns"
        )
    return [str(name) for name in names]


def column_of(columns: Any, position: int) -> Any:
    """Return a column, by its position, in any of the shapes that a reader may return."""
    if isinstance(columns, Mapping):
        return [*columns.values()][position]
    if hasattr(columns, "column_names"):
        return columns.column(position)
    return columns.iloc[:, position]


def sample_of_columns(columns: Any, where: str) -> Sample:
    """Return the names and the first rows of columns in any of the shapes of a reader."""
    names = names_of(columns, where)
    texts = [texts_of(column_of(columns, position), LINES) for position in range(len(names))]
    return Sample(names, [*zip(*texts, strict=True)])


def unread(
    names: Sequence[str],
    rows: Callable[[], Sequence[Sequence[str]]],
    options: ReadOptions,
    positions: Mapping[str, int],
) -> tuple[Note, ...]:
    """Return notes on columns of a table of ratings that are not read.

    Parameters
    ----------
    names : sequence of str
    rows : callable
        Gives the first rows as text; a column that cannot be read hinders nothing, as it is not.
    options : ReadOptions
    positions : dict
        Of the columns that are read, by role.
    """
    if options.roles is not RATINGS or len(names) == len(positions):
        return ()
    try:
        return unread_columns(names, rows(), options.columns, positions)
    except Exception:  # of any library
        return ()


def to_table(
    names: Sequence[str],
    columns_at: Callable[[list[int]], list[object]],
    options: ReadOptions,
    rows: Callable[[], Sequence[Sequence[str]]] = list,
) -> Table:
    """Return the columns that `options` ask for as a table.

    For columns without lines. A reader of lines calls `harness.datasets.conversion.convert` with
    `at`, so that a problem in a value names its line; see `Netflix`.

    Parameters
    ----------
    names : sequence of str
        Of all columns.
    columns_at : callable
        Called once, with the positions of the columns to read.
    options : ReadOptions
    rows : callable
        As of `unread`.
    """
    where, roles = options.where, options.roles
    if options.is_wide:
        every = columns_at([*range(len(names))])
        return table_of_columns(
            *(names, every.__getitem__, options.columns, where, options),
            is_wide=True,
            not_items=options.not_items,
        )
    try:
        positions = find_columns(names, options.columns, where, roles)
    except ColumnsError:
        if roles is not RATINGS:
            raise
        every = columns_at([*range(len(names))])  # what they hold may tell, or be told
        return table_of_columns(names, every.__getitem__, options.columns, where, options)
    for position in positions.values():
        if (n_alike := names.count(names[position])) > 1:
            raise DataError(
                f"{where}: {n_alike} columns are called {names[position]!r}; rename one"
            )
    columns = dict(zip(positions, columns_at([*positions.values()]), strict=True))
    if not all(len(column) for column in columns.values()):  # type: ignore[arg-type]
        raise DataError(f"{where}: {NO_ROWS}")
    notes = unread(names, rows, options, positions)
    return convert(columns, roles.kinds, where, values=options, notes=notes)
