"""Files and folders of ratings as people have them, each with the ratings that it stands for.

One known set of 340 ratings is written in every way that public data sets, programs, databases,
spreadsheets and people write it. A `Shape` is one of them: its files, the truth, and what a message
has to name if the shape is refused. `shapes()` lists all of them; `dev/proofs/shapes.py` reads them.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sqlite3
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet

N_USERS, N_ITEMS, N_RATINGS = 40, 30, 340


class Row(NamedTuple):
    """A rating of the known set."""

    user: int
    item: int
    rating: int
    time: int


class Rated(NamedTuple):
    """A rating as it should be read: ids are text; `time` is None if the file has no times."""

    user: str
    item: str
    rating: float
    time: float | None


def _known() -> list[Row]:
    rng = random.Random(20)  # noqa: S311 - nothing is secret
    pairs = [(u, i) for u in range(1, N_USERS + 1) for i in range(1, N_ITEMS + 1)]
    weights = (2, 3, 5, 6, 4)
    return [
        Row(u, i, rng.choices((1, 2, 3, 4, 5), weights)[0], 1_100_000_000 + rng.randrange(10**8))
        for u, i in rng.sample(pairs, N_RATINGS)
    ]


ROWS = _known()
BY_USER = sorted(ROWS)
BY_ITEM = sorted(ROWS, key=lambda row: (row.item, row.user))
_rng = random.Random(21)  # noqa: S311 - nothing is secret
DENSE = [
    Row(user, item, _rng.choice((1, 2, 3, 4, 5, 4, 3, 5)), 0)
    for user in range(1, N_USERS + 1)
    for item in range(1, 21)
]
"""40 users who rated each of 20 items."""
THREE = [row for row in DENSE if row.item <= 3]

Column = Callable[[Row], Any]
Content = str | bytes


def _user(row: Row) -> str:
    return str(row.user)


def _item(row: Row) -> str:
    return str(row.item)


def _rating(row: Row) -> str:
    return str(row.rating)


def _time(row: Row) -> str:
    return str(row.time)


def decimal(row: Row) -> str:
    """Return the rating with a decimal."""
    return f"{row.rating}.0"


def number(row: Row) -> str:
    """Return the number of the row, from 0."""
    return str(ROWS.index(row))


def asin(row: Row) -> str:
    """Return an item as a product number of Amazon."""
    return f"B{row.item:09d}"


def reviewer(row: Row) -> str:
    """Return a user as a reviewer of Amazon."""
    return f"A2SUAM1J3G{row.user:04d}"


def moment(row: Row) -> datetime:
    """Return the time as a date, UTC."""
    return datetime.fromtimestamp(row.time, UTC)


def midnight(row: Row) -> int:
    """Return the seconds at which the day began."""
    return row.time // 86_400 * 86_400


U, I, R, T = _user, _item, _rating, _time  # noqa: E741 - roles
FOUR = (U, I, R, T)


def when(pattern: str) -> Column:
    """Return a column of times in a pattern of `strftime`, UTC."""
    return lambda row: moment(row).strftime(pattern)


def always(value: str) -> Column:
    """Return a column of one text."""
    return lambda row: value


def table(
    separator: str,
    header: str,
    *columns: Column,
    rows: Sequence[Row] = (),
    end: str = "\n",
) -> str:
    """Return text with one line for each rating, below the header if there is one."""
    lines = [separator.join(str(column(row)) for column in columns) for row in rows or ROWS]
    return end.join([header] * bool(header) + lines) + end


def truth(
    user: Column = U,
    item: Column = I,
    rating: Column = R,
    time: Column | None = T,
    rows: Iterable[Row] | None = None,
) -> tuple[Rated, ...]:
    """Return ratings as they should be read."""
    return tuple(
        Rated(
            str(user(row)),
            str(item(row)),
            float(rating(row)),
            None if time is None else float(time(row)),
        )
        for row in (ROWS if rows is None else rows)
    )


def untimed(rows: Iterable[Row] | None = None, **columns: Column) -> tuple[Rated, ...]:
    """Return ratings without times as they should be read."""
    return truth(time=None, rows=rows, **columns)


@dataclass(frozen=True)
class Shape:
    """A file or folder that people have, and what it stands for."""

    family: str
    name: str
    files: Mapping[str, Content]
    truth: tuple[Rated, ...] | None
    """The ratings; None for a file that has none and has to be refused."""
    says: str = ""
    """A pattern that a refusal has to match to count as one that says what the file is."""
    path: str = ""
    """What a person names; by default the only file, or the folder of all files."""
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Keys of ``dataset`` that a person gives with the path."""
    option: Mapping[str, Any] = field(default_factory=dict)
    """Values that a person knows for keys that a message may only name, such as `columns`."""
    frame: str = ""
    """How pandas reads it plainly: `csv`, `tsv`, `json`, `lines`, `parquet`, `feather`."""
    undecidable: str = ""
    """Why nothing in the file tells how it is meant; empty if something does."""
    ordered: bool = True
    """Whether the order of the ratings is part of the truth."""

    @property
    def asked(self) -> str:
        """The path that a person names, relative to the folder of the shape."""
        if self.path:
            return self.path
        names = list(self.files)
        return names[0] if len(names) == 1 else names[0].split("/")[0]

    @property
    def first(self) -> tuple[Rated, ...]:
        """The first three ratings."""
        return (self.truth or ())[:3]

    @property
    def total(self) -> float:
        """The sum of the ratings."""
        return float(sum(row.rating for row in self.truth or ()))

    def write(self, folder: Path) -> Path:
        """Write the files into a folder, and return the path that a person names."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                path.mkdir(exist_ok=True)
                continue
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / self.asked


def one(family: str, name: str, file: str, content: Content, *about: Any, **more: Any) -> Shape:
    """Return a shape of one file; without a truth, it holds the known ratings."""
    return Shape(family, name, {file: content}, *(about or (truth(),)), **more)


# What programs write -------------------------------------------------------------------------


def frame(*columns: str, times: str = "seconds") -> pd.DataFrame:
    """Return the known ratings as a frame of four columns."""
    names = columns or ("userId", "movieId", "rating", "timestamp")
    data = pd.DataFrame(ROWS, columns=["user", "item", "rating", "time"])
    if times == "dates":
        data["time"] = pd.to_datetime(data["time"], unit="s")
    data = data[["user", "item", "rating", "time"][: len(names)]]
    data.columns = pd.Index(names)
    return data


def written(write: Callable[[io.BytesIO], Any]) -> bytes:
    """Return the bytes that a function writes into a file object."""
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def parquet(data: pd.DataFrame | None = None, **options: Any) -> bytes:
    """Return a frame as Parquet."""
    return written(lambda out: (frame() if data is None else data).to_parquet(out, **options))


def arrow(stream: bool) -> bytes:
    """Return the known ratings as Arrow IPC, a stream or a file."""
    content = pa.Table.from_pandas(frame(), preserve_index=False)
    opened = pa.ipc.new_stream if stream else pa.ipc.new_file

    def write(out: io.BytesIO) -> None:
        with opened(out, content.schema) as sink:
            sink.write_table(content)

    return written(write)


def squeezed(text: Content, codec: str) -> bytes:
    """Return bytes packed by Arrow's codecs, such as `zstd`."""
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, codec) as sink:
        sink.write(as_bytes(text))
    return out.getvalue().to_pybytes()


def as_bytes(content: Content) -> bytes:
    """Return text as UTF-8."""
    return content.encode() if isinstance(content, str) else content


def gz(content: Content) -> bytes:
    """Return gzip of fixed bytes."""
    return gzip.compress(as_bytes(content), mtime=0)


def zipped(members: Mapping[str, Content]) -> bytes:
    """Return a zip archive."""

    def write(out: io.BytesIO) -> None:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name), as_bytes(content), zipfile.ZIP_DEFLATED)

    return written(write)


def tarred(members: Mapping[str, Content], mode: str = "w") -> bytes:
    """Return a tar archive."""

    def write(out: io.BytesIO) -> None:
        with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(as_bytes(content))
                archive.addfile(member, io.BytesIO(as_bytes(content)))

    return written(write)


def database(*statements: str, rows: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """Return a database of SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        with sqlite3.connect(path) as base:
            for statement in statements:
                base.execute(statement)
            for name, values in rows.items():
                marks = ",".join("?" * len(values[0]))
                base.executemany(f"insert into {name} values ({marks})", values)  # noqa: S608
        base.close()
        return path.read_bytes()


def duck_database() -> bytes:
    """Return a database of DuckDB; without that package, the beginning of one."""
    try:
        import duckdb
    except ImportError:
        return bytes(8) + b"DUCK" + bytes(4084)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.duckdb")
        base = duckdb.connect(str(path))
        base.execute("create table ratings (user bigint, item bigint, rating bigint, time bigint)")
        base.executemany("insert into ratings values (?, ?, ?, ?)", list(map(list, ROWS)))
        base.close()
        return path.read_bytes()


def sheet(rows: Iterable[Sequence[Any]]) -> str:
    """Return a sheet of an Excel workbook, with texts in its cells."""
    lines = []
    for n, row in enumerate(rows, 1):
        cells = "".join(
            f'<c r="{chr(65 + m)}{n}"><v>{value}</v></c>'
            if isinstance(value, int | float)
            else f'<c r="{chr(65 + m)}{n}" t="inlineStr"><is><t>{value}</t></is></c>'
            for m, value in enumerate(row)
        )
        lines.append(f'<row r="{n}">{cells}</row>')
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{''.join(lines)}</sheetData></worksheet>"
    )


def workbook(**sheets: Iterable[Sequence[Any]]) -> bytes:
    """Return an Excel workbook (.xlsx) of several sheets."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    pack = "http://schemas.openxmlformats.org/package/2006"
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{main}.worksheet+xml"/>'
        for n in numbers
    )
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{kind}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{pack}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{main}.sheet.main+xml"/>'
        f"{parts}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{pack}/relationships"><Relationship Id="rId1" '
        f'Type="{kind}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
        f'main" xmlns:r="{kind}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{pack}/relationships">{links}'
        "</Relationships>",
    }
    for n, rows in enumerate(sheets.values(), 1):
        members[f"xl/worksheets/sheet{n}.xml"] = sheet(rows)
    return zipped(members)


def open_document(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return an OpenDocument spreadsheet (.ods)."""
    lines = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{value}'
            "</text:p></table:table-cell>"
            if isinstance(value, int | float)
            else '<table:table-cell office:value-type="string"><text:p>'
            f"{value}</text:p></table:table-cell>"
            for value in row
        )
        + "</table:table-row>"
        for row in rows
    )
    names = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{names}:office:1.0" '
        f'xmlns:table="{names}:table:1.0" xmlns:text="{names}:text:1.0" office:version="1.2">'
        f'<office:body><office:spreadsheet><table:table table:name="Ratings">{lines}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        f'<manifest:manifest xmlns:manifest="{names}:manifest:1.0"><manifest:file-entry '
        'manifest:full-path="/" '
        'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        "</manifest:manifest>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return zipped({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def spss() -> bytes:
    """Return a data file of SPSS (.sav), without compression, of four numbers a row."""
    names = (b"USERID", b"ITEMID", b"RATING", b"TIME")
    head = b"$FL2" + b"@(#) SPSS DATA FILE - written for a test".ljust(60)
    head += struct.pack("<iiiiid", 2, len(names), 0, 0, len(ROWS), 100.0)
    head += b"01 Jan 2012:00:00" + b" " * 64 + b"\0\0\0"
    numeric = 5 << 16 | 8 << 8
    for name in names:
        head += struct.pack("<iiiiii", 2, 0, 0, 0, numeric, numeric) + name.ljust(8)
    head += struct.pack("<ii", 999, 0)
    return head + b"".join(struct.pack("<dddd", *row) for row in ROWS)


def entries(*names: str, rows: Sequence[Row] = ()) -> list[dict[str, Any]]:
    """Return ratings as objects of JSON."""
    keys = names or ("user", "item", "rating", "timestamp")
    return [dict(zip(keys, row, strict=False)) for row in rows or ROWS]


def json_lines(values: Iterable[Any]) -> str:
    """Return a JSON value on each line."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def wide(
    rows: Sequence[Row],
    *,
    corner: str | None = "userId",
    blank: str = "",
    separator: str = ",",
    user: Callable[[int], str] = str,
    item: Callable[[int], str] = str,
    rating: Callable[[int], str] = str,
    flipped: bool = False,
    ids: bool = True,
    more: Callable[[int], Sequence[str]] = lambda user: (),
    names: str = "",
) -> str:
    """Return a table with a row for each user and a column for each item, or `flipped`.

    `corner` is the first field of the header, None for no header; `more` gives columns between
    the ids and the ratings, which the header calls `names`.
    """
    known = {(row.user, row.item): row.rating for row in rows}
    users, items = sorted({row.user for row in rows}), sorted({row.item for row in rows})
    down, across = (items, users) if flipped else (users, items)
    label, above = (item, user) if flipped else (user, item)
    lines = []
    if corner is not None:
        between = names.split(separator) if names else []
        lines.append(separator.join([corner] * ids + between + [above(n) for n in across]))
    for one_id in down:
        cells = []
        for n in across:
            pair = (n, one_id) if flipped else (one_id, n)
            cells.append(rating(known[pair]) if pair in known else blank)
        lines.append(separator.join([label(one_id)] * ids + list(more(one_id)) + cells))
    return "\n".join(lines) + "\n"


def pivot() -> pd.DataFrame:
    """Return the known ratings as `DataFrame.pivot` makes them."""
    return frame().pivot(index="userId", columns="movieId", values="rating")  # noqa: PD010
