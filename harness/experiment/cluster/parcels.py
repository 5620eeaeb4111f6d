"""Ratings and splits as bytes with a check that they arrived complete."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import splits
from harness.datasets import Ratings
from harness.errors import DataError
from harness.splits import Split

__all__ = ["name_of_ratings", "name_of_splits", "pack_ratings", "pack_splits", "unpack_ratings"]

VERSION = 1
"""Raised whenever the same name would stand for other bytes."""


def name_of_ratings(ratings: Ratings) -> str:
    """Return the name of a file of ratings, made from its content."""
    return f"ratings-{VERSION}-{ratings.fingerprint}"


def pack_ratings(ratings: Ratings) -> bytes:
    """Return ratings as three Arrow streams: rows, users' ids, items' ids.

    Examples
    --------
    >>> ratings = Ratings.from_columns(["ann", "bob"], [7, 8], [5, 3], scale=(1, 5))
    >>> unpack_ratings(pack_ratings(ratings)).fingerprint == ratings.fingerprint
    True
    """
    import pyarrow as pa

    about = {"name": ratings.name, "scale": ratings.scale, "fingerprint": ratings.fingerprint}
    columns: dict[str, Any] = {
        "user": ratings.users,
        "item": ratings.items,
        "rating": ratings.ratings,
    }
    if ratings.timestamps is not None:
        columns["timestamp"] = ratings.timestamps
    rows = pa.table(columns).replace_schema_metadata({"harness": json.dumps(about)})
    ids = (pa.table({"id": pa.array(each)}) for each in (ratings.user_ids, ratings.item_ids))
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    for table in (rows, *ids):
        with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
            stream.write_table(table)
    return bytes(sink.getvalue())


def unpack_ratings(data: bytes) -> Ratings:
    """Read a file of ratings.

    Raises
    ------
    DataError
        If the bytes are not those that were packed.
    """
    import pyarrow as pa

    try:
        source = pa.BufferReader(data)
        rows, users, items = (pa.ipc.open_stream(source).read_all() for _ in range(3))
        about = json.loads(rows.schema.metadata[b"harness"])
        columns = {name: rows.column(name).to_numpy() for name in rows.column_names}
        ratings = Ratings(
            columns["user"],
            columns["item"],
            columns["rating"],
            columns.get("timestamp"),
            _ids(users),
            _ids(items),
            (float(about["scale"][0]), float(about["scale"][1])),
            about["name"],
        )
        intact = ratings.fingerprint == about["fingerprint"]
    except (pa.ArrowException, LookupError, TypeError, ValueError, OSError) as error:
        raise DataError(f"the ratings sent to a worker are broken ({error}); run again") from None
    if not intact:
        raise DataError("the ratings sent to a worker do not match their hash; run again")
    return ratings


def name_of_splits(folds: Sequence[Split]) -> str:
    """Return the name of a file of folds."""
    together = "".join(fold.fingerprint for fold in folds)
    return f"splits-{VERSION}-{hashlib.sha256(together.encode()).hexdigest()}"


def pack_splits(folds: Sequence[Split]) -> bytes:
    """Return folds as the file that `harness.splits.save` writes."""
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        path = Path(folder) / "splits"
        splits.save(folds, path)
        return path.read_bytes()


def _ids(table: Any) -> NDArray[Any]:
    """Return ids as `Ratings` holds them: numbers, or an object array of str."""
    import pyarrow as pa

    column = table.column("id").combine_chunks()
    if pa.types.is_null(column.type):
        return np.empty(0, dtype=object)
    ids: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return ids
