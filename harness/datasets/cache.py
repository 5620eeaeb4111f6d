"""The cache between runs: archives as published, and their ratings in columns."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import files
from harness.datasets.columns import Coded, in_order_of_appearance
from harness.datasets.ratings import Ratings
from harness.errors import DataError
from harness.files import read_regular, write_whole

__all__ = ["cache_folder", "file_hash", "hold", "read_parsed", "write_parsed"]

LOCK_PATIENCE = 3600.0
VERSION = 1
"""Raised whenever the same archive would give other columns."""


def cache_folder() -> Path:
    """Return the folder of downloads: ``HARNESS_CACHE``, or the system's cache folder.

    Examples
    --------
    >>> getfixture("monkeypatch").setenv("HARNESS_CACHE", "/somewhere")
    >>> cache_folder().as_posix()
    '/somewhere'
    """
    from platformdirs import user_cache_dir

    return Path(os.environ.get("HARNESS_CACHE") or user_cache_dir("surprise-harness"))


def file_hash(path: Path, algorithm: str = "sha256") -> str:
    """Return the hash of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm)).hexdigest()


@contextmanager
def hold(folder: Path, patience: float = LOCK_PATIENCE) -> Iterator[None]:
    """Let one process at a time fill a folder; others wait.

    A folder that cannot be written needs no lock, since no process writes to it.

    Raises
    ------
    DataError
        If another process has held the folder for longer than `patience` seconds.
    """
    with ExitStack() as held:
        try:
            held.enter_context(files.hold(folder / ".lock", patience))
        except TimeoutError:
            raise DataError(
                f"{folder}: another process has held it for {patience:.0f} s; wait for it or end it"
            ) from None
        except OSError:  # a folder to read only, or a disk without locks
            pass
        yield


def write_parsed(path: Path, ratings: Ratings) -> None:
    """Store ratings as Parquet, with their fingerprint.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full; no partial file is left.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "user": _dictionary(ratings.users, ratings.user_ids),
        "item": _dictionary(ratings.items, ratings.item_ids),
        "rating": pa.array(ratings.ratings),
    }
    if ratings.timestamps is not None:
        columns["timestamp"] = pa.array(ratings.timestamps)
    about = {
        "version": VERSION,
        "file": path.name,
        "fingerprint": ratings.fingerprint,
        "scale": ratings.scale,
        "notes": ratings.notes,
    }
    table = pa.table(columns).replace_schema_metadata({"harness": json.dumps(about)})
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        use_dictionary=["user", "item", "rating"],
        column_encoding={"timestamp": "DELTA_BINARY_PACKED"} if "timestamp" in columns else None,
    )
    write_whole(path, buffer.getvalue())


def read_parsed(path: Path, name: str, licence: str, citation: str) -> Ratings:
    """Return stored ratings, checked against their fingerprint.

    Raises
    ------
    DataError
        If the file is not what was written.
    OSError
        If it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(read_regular(path)), read_dictionary=["user", "item"])
        about = json.loads(table.schema.metadata[b"harness"])
        users, items = (_coded(table.column(role)) for role in ("user", "item"))
        times = table.column("timestamp").to_numpy() if "timestamp" in table.column_names else None
        ratings = Ratings(
            users.codes,
            items.codes,
            table.column("rating").to_numpy(),
            times,
            users.ids,
            items.ids,
            (float(about["scale"][0]), float(about["scale"][1])),
            name,
            licence,
            citation,
            tuple(map(str, about["notes"])),
        )
        intact = about["version"] == VERSION and about["file"] == path.name
        intact = intact and about["fingerprint"] == ratings.fingerprint
    except (pa.ArrowException, LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: broken ({_first_line(error)}); remove it") from None
    if not intact:
        raise DataError(f"{path}: not what was written; remove it")
    return ratings


def _dictionary(codes: NDArray[np.int32], ids: NDArray[Any]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(ids.tolist(), pa.string()))


def _coded(column: Any) -> Coded:
    whole = column.unify_dictionaries().combine_chunks()
    return in_order_of_appearance(
        Coded(whole.indices.to_numpy(), whole.dictionary.to_numpy(zero_copy_only=False))
    )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
