"""Readers of delimited text: one rating a line, fields between separators."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from harness.datasets.readers.base import Reader, ReadOptions
from harness.errors import DataError
from harness.files import report_os_error

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


class Delimited(Reader):
    """Text whose separator is found in its first line."""

    kind: ClassVar[str | None] = None
    is_text = True

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns of a text; every fault has its line."""
        from harness.datasets.archives import Watched
        from harness.datasets.readers.text import read_text

        with (
            report_os_error(options.where, "cannot be read", "check the path", DataError),
            path.open("rb") as file,
        ):
            stream = Watched(file, options.progress, path.stat().st_size).buffered()
            return read_text(stream, replace(options, kind=self.kind), options.where)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the fields of the first line."""
        from harness.datasets.readers.text import read_sample

        with path.open("rb") as file:
            _, (names,) = read_sample(file, ReadOptions(self.kind), where)
        return names


class CSV(Delimited):
    """Fields between commas, semicolons, tabs or bars, perhaps in double quotes."""

    kind = "csv"
    endings = (".csv",)


class TSV(Delimited):
    """Fields between tabs; RecBole's atomic files are such."""

    kind = "tsv"
    endings = (".tsv", ".tab", ".inter")


class DAT(Delimited):
    """Fields between ``::`` and the like, as MovieLens wrote them."""

    kind = "dat"
    endings = (".dat",)
