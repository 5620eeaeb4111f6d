"""Tables on disk as Parquet, read only if they are unchanged."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.errors import ResultsError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Kind", "as_text", "check_file", "read_frame", "to_csv", "to_parquet"]

Kind = Literal["word", "count", "number"]
"""What a column holds."""

SHARE_OF_MEMORY = 0.5
BYTES_PER_VALUE = 16
"""Most bytes of a value while a table is read: itself and its copy for pandas."""


def to_parquet(frame: pd.DataFrame) -> bytes:
    """Return a table as the bytes of a Parquet file.

    Examples
    --------
    >>> import pandas as pd
    >>> to_parquet(pd.DataFrame({"user": ["u"], "rmse": [0.5]}))[:4]
    b'PAR1'
    """
    data = io.BytesIO()
    frame.to_parquet(data, index=False, compression="zstd")
    return data.getvalue()


def as_text(value: Any) -> Any:
    """Return a cell of a CSV file so that a spreadsheet takes text for text, not for a formula.

    Text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe
    in front, unless it is a number. Everything else stays as it is.

    Examples
    --------
    >>> as_text("=1+1"), as_text("-1.5"), as_text(-1.5), as_text("SVD")
    ("'=1+1", '-1.5', -1.5, 'SVD')
    """
    if not isinstance(value, str) or value[:1] not in tuple("=+-@\t\r"):
        return value
    return value if re.fullmatch(r"[+-]\d*\.?\d+(e[+-]?\d+)?", value) else f"'{value}"


def to_csv(frame: pd.DataFrame, **options: Any) -> str:
    r"""Return a table as CSV, text as `as_text` has it.

    Examples
    --------
    >>> import pandas as pd
    >>> to_csv(pd.DataFrame({"user": ["@u"], "rmse": [-0.5]}))
    "user,rmse\n'@u,-0.5\n"
    """
    words = {
        str(name): column.map(as_text) for name, column in frame.items() if column.dtype.kind == "O"
    }
    text: str = frame.assign(**words).to_csv(index=False, lineterminator="\n", **options)
    return text


def check_file(path: Path, digest: str) -> None:
    """Compare a file with the SHA-256 that was noted when it was written.

    Raises
    ------
    ResultsError
        If it is another, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}; check its permissions") from None
    if found != digest:
        raise ResultsError(f"{path}: changed since it was written; run the config again")


def read_frame(path: Path, digest: str, columns: Mapping[str, Kind]) -> pd.DataFrame:
    """Read a table back.

    Parameters
    ----------
    path : Path
    digest : str
        SHA-256 of the file.
    columns : mapping of str to Kind
        What has to be there; other columns are left out.

    Raises
    ------
    ResultsError
        If the file was changed, lacks a column, or would take more memory than there is.
    """
    import psutil
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_file(path, digest)
    try:
        with pq.ParquetFile(path) as file:
            needed = BYTES_PER_VALUE * file.metadata.num_rows * len(columns)
            if needed > SHARE_OF_MEMORY * psutil.virtual_memory().available:
                raise ResultsError(f"{path}: would take {needed / 1e9:.0f} GB; free memory first")
            schema = file.schema_arrow
            for name, kind in columns.items():
                if schema.names.count(name) != 1 or not _holds(schema.field(name).type, kind):
                    raise ResultsError(f"{path}: no column {name!r}; run the config again")
            table = file.read(columns=list(columns))
            # What the file says of pandas is not needed, and may be anything.
            frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise ResultsError(f"{path}: not a table ({reason}); run the config again") from None
    for name, kind in columns.items():
        if kind == "number" and frame[name].abs().max() == float("inf"):
            raise ResultsError(f"{path}: an infinite number in {name!r}; run the config again")
    return frame[list(columns)]


def _holds(found: Any, kind: Kind) -> bool:
    import pyarrow as pa

    types = pa.types
    if types.is_null(found):  # nothing in it
        return True
    if types.is_dictionary(found):
        found = found.value_type
    if kind == "word":
        return bool(types.is_string(found) or types.is_large_string(found))
    if kind == "count":
        return bool(types.is_integer(found))
    return bool(types.is_floating(found))
