"""Tables as an Excel workbook."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Literal

from harness._util.files import write_output
from harness._util.libraries import pd
from harness.errors import ResultsError
from harness.results.table import as_text, printable

ENGINES: tuple[Literal["openpyxl"], Literal["xlsxwriter"]] = ("openpyxl", "xlsxwriter")
"""Libraries that write workbooks, either of which will do."""
LONGEST_TITLE = 31
"""Characters of the title of a sheet."""


def write_workbook(path: str | Path, sheets: Mapping[str, pd.DataFrame]) -> Path:
    """Write tables as the sheets of a workbook; numbers stay numbers, and no text is a formula.

    Raises
    ------
    ResultsError
        If neither `openpyxl` nor `xlsxwriter` is installed, or the file cannot be written.
    """
    engine = next((name for name in ENGINES if _is_installed(name)), None)
    if engine is None:
        raise ResultsError(
            f"{path}: a workbook needs openpyxl; pip install 'surprise-harness[excel]'"
        )
    file = BytesIO()
    with pd.ExcelWriter(file, engine=engine) as book:
        for title, frame in sheets.items():
            shown = frame.rename(columns=_cell).map(_cell)
            shown.to_excel(book, sheet_name=title[:LONGEST_TITLE], index=False)
    return write_output(Path(path), file.getvalue())


def _is_installed(library: str) -> bool:
    try:
        __import__(library)
    except ImportError:
        return False
    return True


def _cell(value: object) -> object:
    """Return text without characters that a workbook cannot hold, and not as a formula."""
    return as_text(printable(value)) if isinstance(value, str) else value
