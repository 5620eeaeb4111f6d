"""The readers of Stata and SPSS."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness._util.libraries import pd
from harness.datasets.evidence import LINES
from harness.datasets.readers.base import (
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    sample_of_columns,
    to_table,
)
from harness.errors import DataError, reason_of

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

CHUNK = 1 << 16
"""Rows that are read at once."""


class Stata(Reader):
    """Data of Stata, such as files of ``DataFrame.to_stata``; labels of values are not read."""

    endings = (".dta",)
    label = "Stata"
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings."""
        example_ratings().to_stata(path, write_index=False, version=118)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as one of Stata, of any version since 8."""
        is_old = len(head) > 4 and 0x69 <= head[0] <= 0x73 and head[1] in (1, 2) and head[2] == 1
        return head.startswith(b"<stata_dta>") or (is_old and head[3] == 0)

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        with _refused(where, self.label), _stata(path) as reader:
            return [str(name) for name in reader.variable_labels()]

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        names = self.names(path, options.where)

        def columns_at(positions: list[int]) -> list[object]:
            chosen = [names[position] for position in positions]
            with _refused(options.where, self.label), _stata(path, sorted({*chosen})) as reader:
                frame = pd.concat(list(reader))
            return [frame[name] for name in chosen]

        return to_table(names, columns_at, options, lambda: self.sample(path, options).rows)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows."""
        with _refused(options.where, self.label), _stata(path) as reader:
            return sample_of_columns(reader.read(LINES), options.where)


def _stata(path: Path, columns: list[str] | None = None) -> Any:
    return pd.read_stata(path, convert_categoricals=False, columns=columns, chunksize=CHUNK)


class SPSS(Reader):
    """Data of SPSS, read with pyreadstat; labels of values are not read."""

    endings = (".sav", ".zsav")
    label = "SPSS"
    has_mark = True

    def write_example(self, path: Path) -> None:
        """Write the example ratings."""
        _pyreadstat(path.name).write_sav(example_ratings(), path)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins as one of SPSS."""
        return head.startswith((b"$FL2@(#)", b"$FL3@(#)"))

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns."""
        library = _pyreadstat(where)
        with _refused(where, self.label):
            _, described = library.read_sav(str(path), metadataonly=True)
        return list(described.column_names)

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed."""
        names = self.names(path, options.where)

        def columns_at(positions: list[int]) -> list[object]:
            chosen = [names[position] for position in positions]
            with _refused(options.where, self.label):
                frame, _ = _pyreadstat(options.where).read_sav(str(path), usecols=chosen)
            return [frame[name] for name in chosen]

        return to_table(names, columns_at, options, lambda: self.sample(path, options).rows)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows."""
        library = _pyreadstat(options.where)
        with _refused(options.where, self.label):
            frame, _ = library.read_sav(str(path), row_limit=LINES)
        for name, column in frame.items():  # SPSS has no whole numbers
            if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
                frame[name] = column.astype("Int64")
        return sample_of_columns(frame, options.where)


def _pyreadstat(where: str) -> Any:
    """Return the package ``pyreadstat``, or raise a DataError that says how to install it."""
    try:
        import pyreadstat
    except ImportError:
        raise DataError(
            f"{where}: an SPSS file needs pyreadstat; pip install 'surprise-harness[spss]', or "
            "save it as CSV"
        ) from None
    return pyreadstat


@contextmanager
def _refused(where: str, kind: str) -> Iterator[None]:
    """Turn what a library says of a file into a `DataError`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DataError:
        raise
    except Exception as error:  # of a library, of any type
        reason = f"{type(error).__name__}: {reason_of(error)}"
        raise DataError(
            f"{where}: not a {kind} file that can be read ({reason}); write it again, or as CSV"
        ) from None
