"""Readers of files, one format a module, and what chooses among them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.datasets.archives import Progress
    from harness.datasets.conversion import Table
    from harness.datasets.readers.layout import TextFormat

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".inter": "tsv",
    ".dat": "dat",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Kind of file by its ending."""


def kind_of(path: Path | str) -> str | None:
    """Return the kind of a file by its ending, or None."""
    return ENDINGS.get(Path(path).suffix.casefold())


def read_file(
    path: Path, text_format: TextFormat, where: str, progress: Progress | None = None
) -> Table:
    """Read a file; its ending gives the kind unless `text_format` does; `where` is for messages."""
    kind = text_format.kind or kind_of(path)
    if kind == "parquet":
        from harness.datasets.readers.parquet import read_parquet

        return read_parquet(path, text_format, where)
    from harness.datasets.archives import Watched
    from harness.datasets.readers.text import read_text
    from harness.errors import DataError
    from harness.files import report_os_error

    with (
        report_os_error(where, "cannot be read", "check the path", DataError),
        path.open("rb") as file,
    ):
        stream = Watched(file, progress, path.stat().st_size).buffered()
        return read_text(stream, replace(text_format, kind=kind), where)
