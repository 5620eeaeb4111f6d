"""The reader of workbooks of Excel and LibreOffice: a sheet is read as the text that it shows."""

from __future__ import annotations

import csv
import datetime
import io
import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness._util.libraries import pd
from harness.datasets.limits import Limits
from harness.datasets.readers.base import NO_ROWS, Reader, ReadOptions, example_ratings
from harness.datasets.readers.packed import BROKEN, Member
from harness.datasets.readers.text import Delimited
from harness.errors import DataError, reason_of, suggestion

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How files of Office before 2007 begin."""
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"
_FIRST = (b"[Content_Types].xml", b"docProps/", b"xl/", b"_rels/", b"mimetype" + _OPEN_DOCUMENT)
_CELL = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
SHEET = ".csv"
"""The ending of the text that a sheet becomes."""
CELL = 24
"""Bytes of a cell while a sheet is read, empty or not."""
INSTALL = (
    "needs python-calamine; pip install 'surprise-harness[excel]', or save the sheet of ratings as "
    "CSV"
)


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by its bytes."""
    with suppress(*BROKEN), path.open("rb") as file:
        head = file.read(4096)
        if head.startswith(OLE):
            rest = head + file.read(1 << 24)
            return any(name.encode("utf-16-le") in rest for name in ("Workbook", "Book"))
        return head.startswith(b"PK\x03\x04") and Excel().recognises(head)
    return False


@contextmanager
def sheets_of(path: Path, where: str, limits: Limits | None = None) -> Iterator[list[Member]]:
    """Yield the sheets of a workbook that hold something, each as the bytes of a CSV file."""
    limits = limits or Limits()
    _check_size(path, where, limits)
    try:
        import python_calamine  # noqa: F401 - with which pandas reads workbooks
    except ImportError:
        raise DataError(f"{where}: a workbook {INSTALL}") from None
    try:
        with pd.ExcelFile(path, engine="calamine") as book:
            frames = pd.read_excel(
                book, sheet_name=None, header=None, dtype=object, na_filter=False
            )
    except (Exception, SystemExit) as error:  # of the library, of any type
        reason = reason_of(error)
        raise DataError(
            f"{where}: not a workbook that can be read ({reason}); open it, and save the sheet of "
            "ratings as CSV"
        ) from None
    texts = {str(name): _csv(frame) for name, frame in frames.items() if frame.size}
    if not texts:
        raise DataError(f"{where}: {NO_ROWS}")
    yield [
        Member(name, len(text), partial(io.BytesIO, text), SHEET) for name, text in texts.items()
    ]


def _check_size(path: Path, where: str, limits: Limits) -> None:
    """Refuse a workbook whose sheets unpack to too much, or reach too far."""
    n_bytes = path.stat().st_size
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            limits.check_unpacked(
                sum(info.file_size for info in archive.infolist()), n_bytes, where, least=False
            )
            for info in archive.infolist():
                if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", info.filename):
                    continue
                last_row = last_column = 0
                with archive.open(info) as stream:
                    rest = b""
                    while data := stream.read(1 << 20):
                        for column, row in _CELL.findall(rest + data):
                            last_row = max(last_row, int(row))
                            last_column = max(last_column, _number(column))
                        rest = data[-200:]
                size = last_row * last_column * CELL
                limits.check_unpacked(size, n_bytes, where, least=False)
    except BROKEN as error:
        reason = reason_of(error)
        raise DataError(f"{where}: a broken workbook ({reason}); save it again") from None


def _number(column: bytes) -> int:
    number = 0
    for letter in column:
        number = number * 26 + letter - 64
    return number


def _csv(frame: pd.DataFrame) -> bytes:
    """Return the cells of a sheet as text, a line for each row."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for row in frame.itertuples(index=False, name=None):
        writer.writerow([_text(cell) for cell in row])
    return lines.getvalue().encode("utf-8", "replace")


def _text(cell: Any) -> str:
    """Return a cell as a text file has it."""
    if isinstance(cell, str):
        return re.sub(r"[\r\n]+", " ", cell)
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2.0**53 else repr(cell)
    if isinstance(cell, datetime.datetime):
        is_day = cell.time() == datetime.time()
        return cell.date().isoformat() if is_day else cell.isoformat(" ")
    return "" if cell is None or cell is pd.NaT else str(cell)


class Excel(Reader):
    """Sheets of Excel and LibreOffice, read with python-calamine; of several, `table` names one."""

    endings = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    label = "workbook"
    has_mark = True
    keys = ("header", "skip", "comment", "table")

    def write_example(self, path: Path) -> None:
        """Write the example ratings as a workbook of one sheet, as small as it can be."""
        frame = example_ratings()
        rows = [[*frame.columns], *frame.astype(str).to_numpy().tolist()]
        cells = "".join(
            "<row>"
            + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row)
            + "</row>"
            for row in rows
        )
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        package = "http://schemas.openxmlformats.org/package/2006"
        files = {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
            '<Default Extension="xml" ContentType="application/xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="ratings" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
            "</Relationships>",
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}'
            "</sheetData></worksheet>",
        }
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as a workbook does."""
        if head.startswith(OLE):
            return True
        name = head[30:] if head.startswith(b"PK\x03\x04") else b""
        return name.startswith(_FIRST)

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the sheet that `table` names, by default the first one that holds something."""
        where = options.where
        with (
            sheets_of(path, where, options.limits) as sheets,
            tempfile.TemporaryDirectory(prefix="harness-") as folder,
        ):
            named = {sheet.name: sheet for sheet in sheets}
            name = options.table or sheets[0].name
            if name not in named:
                raise DataError(f"{where}: no sheet {name!r}; {suggestion(name, [*named])}")
            place = Path(folder, "sheet.csv")
            place.write_bytes(named[name].open().read())
            asked = ReadOptions(
                columns=options.columns,
                roles=options.roles,
                where=f"{where}!{name}",
                header=options.header,
                decimal=options.decimal,
                thousands=options.thousands,
                time_format=options.time_format,
                id_spellings=options.id_spellings,
            )
            return Delimited().read(place, asked)
