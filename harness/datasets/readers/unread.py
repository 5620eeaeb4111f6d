"""Files of kinds that are not read, recognised by their first bytes to say what to do."""

from __future__ import annotations

from pathlib import Path

READ = (
    "text (CSV, TSV, ::), JSON lines, Parquet, Feather, ORC, SQLite and DuckDB, also packed with "
    "gzip, bzip2, xz, Zstandard or zip"
)
"""What is read."""
_TABLE = "save the sheet as CSV, or give harness.load the DataFrame of pandas.{}"
_KINDS = (
    ((b"PK\x03\x04",), ".xlsx .xlsm .xlsb", "an Excel workbook", _TABLE.format("read_excel")),
    ((b"PK\x03\x04",), ".ods", "an OpenDocument sheet", _TABLE.format("read_excel")),
    ((b"\xd0\xcf\x11\xe0",), "", "an old Excel or Office file", _TABLE.format("read_excel")),
    ((b"\x89HDF",), "", "HDF5", "give harness.load the DataFrame of pandas.read_hdf"),
    ((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "", "a pickle, which can run code",
     "load it where you trust it, and give harness.load the DataFrame"),
    ((b"\x93NUMPY",), "", "a NumPy array", "give its columns to harness.Ratings.from_columns"),
    ((b"PK\x03\x04",), ".npz", "NumPy arrays",
     "give a matrix of scipy.sparse.load_npz to harness.load"),
    ((b"%PDF",), "", "a PDF", "give a table as text"),
    ((b"RDX", b"RDA"), "", "an R file", "write it in R as CSV or Parquet"),
    ((b"HEADER RECORD*******LIBRARY",), "", "a SAS file", "give harness.load the DataFrame of "
     "pandas.read_sas"),
    ((b"<stata_dta>",), "", "a Stata file", "give harness.load the DataFrame of pandas.read_stata"),
    ((b"MATLAB 5.0",), "", "a MATLAB file", "give harness.load the matrix of scipy.io.loadmat"),
    ((b"Obj\x01",), "", "Avro", "write it as Parquet"),
    ((b"<?xml", b"<html", b"<!DOCTYPE html"), "", "XML or HTML", "give the table alone, as CSV"),
)  # fmt: skip


def not_read(path: Path) -> str:
    """Return what a file is and what to do, if it is of a kind that is not read; else empty."""
    with path.open("rb") as file:
        head = file.read(64)
    ending = path.suffix.casefold()
    for marks, endings, kind, advice in _KINDS:
        if head.startswith(marks) and (not endings or ending in endings.split()):
            return f"{kind}, which is not read; {advice}. Read are {READ}"
    return ""
