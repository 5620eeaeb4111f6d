"""Splits saved in a file, and read only for the data that they were made from."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits.split import Drawn, Split, assemble

__all__ = ["read", "save"]

VERSION = 1
_KEY = b"harness.split"


def save(splits: Split | Sequence[Split], path: Path | str) -> None:
    """Write one split, or the folds of one, into a Parquet file.

    The file has a row for each rating of each part: `fold` (int32, from 0), `part` (``train`` or
    ``test``) and `row` (int64, from 0, in the data as loaded and filtered), in the order of the
    split. Its metadata holds name, notes and fingerprints. It is written completely or not at all.

    Parameters
    ----------
    splits : Split or sequence of Split
        Folds of the same data; they are numbered again.
    path : Path or str
        Replaced if it exists. Its folder must exist.

    Raises
    ------
    SplitError
        If there is nothing to write, the folds are of different data, or the file cannot be
        written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folds = [splits] if isinstance(splits, Split) else list(splits)
    path = Path(path)
    if not folds:
        raise SplitError(f"{path}: no split to save; make one first")
    if len({fold.ratings.fingerprint for fold in folds}) > 1:
        raise SplitError(f"{path}: splits of different data; save them in files of their own")
    about = {
        "version": VERSION,
        "name": folds[0].name,
        "data": folds[0].ratings.fingerprint,
        "fingerprints": [fold.fingerprint for fold in folds],
        "notes": [list(fold.notes) for fold in folds],
    }
    about["seal"] = _seal(about)
    kind = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema(
        [("fold", pa.int32()), ("part", kind), ("row", pa.int64())],
        metadata={_KEY: json.dumps(about).encode()},
    )
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        try:
            with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
                for number, fold in enumerate(folds):
                    for code, rows in enumerate((fold.train, fold.test)):
                        part = pa.DictionaryArray.from_arrays(
                            pa.array(np.full(len(rows), code, np.int8)), ["train", "test"]
                        )
                        columns = [np.full(len(rows), number, np.int32), part, rows]
                        writer.write_table(pa.table(columns, schema=schema))
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise SplitError(f"{path}: cannot be written ({reason}); choose another place") from None


def read(path: Path | str, ratings: Ratings) -> list[Split]:
    """Read the folds that `save` wrote.

    Parameters
    ----------
    path : Path or str
        The file.
    ratings : Ratings
        The data that were divided, with the same filters applied.

    Returns
    -------
    list of Split
        With the names, notes and fingerprints that were saved.

    Raises
    ------
    SplitError
        If the file is missing or broken, or was drawn from other data.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    try:
        with pq.ParquetFile(path) as file:
            about = json.loads((file.schema_arrow.metadata or {})[_KEY])
            if about["version"] != VERSION:
                raise SplitError(
                    f"{path}: written in version {about['version']}, this one reads {VERSION}; "
                    "make the split again"
                )
            if about.pop("seal") != _seal(about):
                raise SplitError(f"{path}: changed since it was saved; make it again")
            if about["data"] != ratings.fingerprint:
                raise SplitError(
                    f"{path}: drawn from other data than {ratings.name} (fingerprint "
                    f"{about['data'][:12]} there, {ratings.fingerprint[:12]} here); use the same "
                    "data and filters, or make the split again"
                )
            table = file.read()
        if not pa.types.is_dictionary(table.schema.field("part").type):
            raise ValueError("its column `part` is of another type")
        folds = _folds(table, len(about["fingerprints"]), len(ratings), path)
        try:
            splits = assemble(ratings, Drawn(folds), about["name"])
        except SplitError as error:
            raise SplitError(f"{path}: {error}") from None
        if [split.fingerprint for split in splits] != about["fingerprints"]:
            raise SplitError(f"{path}: its rows are not those that were saved; make it again")
        return [
            replace(split, notes=tuple(notes))
            for split, notes in zip(splits, about["notes"], strict=True)
        ]
    except FileNotFoundError:
        raise SplitError(f"{path}: no such file; save a split there or fix the path") from None
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise SplitError(f"{path}: not a saved split ({reason}); make it again") from None


def _seal(about: dict[str, Any]) -> str:
    """Return the hash of the folds' description; their rows have fingerprints."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _folds(table: Any, n_folds: int, n_ratings: int, path: Path) -> list[Any]:
    """Cut the table into parts; the fingerprint shows whether the rows are right."""
    rows = table.column("row").to_numpy()
    if len(rows) and not (rows.min() >= 0 and rows.max() < n_ratings):
        raise SplitError(f"{path}: rows outside of the data; make it again")
    part = table.column("part").unify_dictionaries().combine_chunks()
    words = part.dictionary.to_pylist()
    codes = part.indices.to_numpy()
    fold = table.column("fold").to_numpy()
    return [
        tuple(
            rows[(fold == number) & (codes == words.index(word))] if word in words else rows[:0]
            for word in ("train", "test")
        )
        for number in range(n_folds)
    ]
