"""Splits saved in a file, and read only for the data that they were made from."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.files import write_whole
from harness.splits.split import Drawn, Rows, Split, SplitSection, assemble

__all__ = ["SavedSplit", "read", "save"]

VERSION = 1
_KEY = b"harness.split"


class SavedSplit(SplitSection):
    """A saved split, checked against the data."""

    from_files = True
    kind: Literal["file"] = "file"
    """Rows are read from a file that `harness split` wrote."""
    path: Annotated[str, Field(min_length=1)]
    """Where the split was saved."""

    def divide(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Split]:
        splits = read((base or Path()) / Path(self.path).expanduser(), ratings)
        if rows is None:
            return splits
        name = f"{self.describe()} of the training part"
        for split in splits:
            n_outside = len(np.setdiff1d(np.concatenate([split.train, split.test]), rows))
            if n_outside:
                raise SplitError(
                    f"{name}: {n_outside:,} of its ratings are not in the training part; "
                    "save a split of that part"
                )
        return [replace(split, name=name) for split in splits]

    @property
    def _file(self) -> str:
        return PureWindowsPath(self.path).name  # of a path of any system

    def describe(self) -> str:
        return f"file {self._file}"

    def sentence(self, part: str = "test part") -> str:
        return f"Training and {part} were split in advance and are read from {self._file}."


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
    parts = [rows for fold in folds for rows in (fold.train, fold.test)]
    part = np.repeat(np.arange(len(parts)), [len(rows) for rows in parts])
    columns = {
        "fold": (part // 2).astype(np.int32),
        "part": pa.DictionaryArray.from_arrays((part % 2).astype(np.int8), ["train", "test"]),
        "row": np.concatenate(parts).astype(np.int64),
    }
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    try:
        path.parent.stat()  # a folder is not made: its name may be a mistake
        write_whole(path, buffer.getvalue())
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
            table = file.read().to_pandas()
        rows = table["row"].to_numpy()
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(ratings)):
            raise SplitError(f"{path}: rows outside of the data; make it again")
        folds = []
        for fold in range(len(about["fingerprints"])):
            parts = (
                rows[(table["fold"] == fold) & (table["part"] == word)]
                for word in ("train", "test")
            )
            folds.append((next(parts), next(parts)))
        try:
            splits = assemble(about["name"], ratings, Drawn(folds))
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
