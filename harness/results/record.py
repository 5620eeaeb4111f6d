"""One finished cell as the bytes of one file: a checksum, a header in JSON, and plain arrays.

It contains no code, and everything is checked: a file from another source either holds what a
cell holds, in the sizes that it announces, or is refused before anything is computed from it.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import MetricError, ResultsError
from harness.metrics import Pairs, Rankings

__all__ = ["Amount", "CellRecord", "Count", "Facts", "key_of"]

MAGIC = b"harness-cell-1\n"
DIGEST_BYTES = 32
START = len(MAGIC) + DIGEST_BYTES
LENGTH = struct.Struct("<Q")
MOST_HEADER = 1_000_000

ARRAYS = {
    "users": "<i4",
    "kept": "|b1",
    "rankings.offsets": "<i8",
    "rankings.relevance": "<f8",
    "rankings.rank": "<i4",
    "rankings.tie_low": "<i4",
    "rankings.tie_high": "<i4",
    "rankings.n_ranked": "<i8",
    "rankings.pool_offsets": "<i8",
    "rankings.pool": "<f8",
    "rankings.top_items": "<i4",
    "pairs.offsets": "<i8",
    "pairs.estimates": "<f8",
    "pairs.ratings": "<f8",
}
"""Every array of a file and its type."""
MATRIX = "rankings.top_items"
"""The one array of two axes; missing where no metric asks which items were shown."""


def key_of(inputs: dict[str, Any]) -> str:
    """Return the key of a cell: the SHA-256 of everything that decides its numbers.

    Examples
    --------
    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(inputs).encode()).hexdigest()


def as_json(inputs: dict[str, Any]) -> Any:
    """Return inputs as they are read back from JSON."""
    return json.loads(_canonical(inputs))


def _canonical(inputs: dict[str, Any]) -> str:
    return json.dumps(inputs, sort_keys=True, separators=(",", ":"), default=str)


Amount = Annotated[float, Field(ge=0, le=1e100)]
"""Far from what overflows in a sum or a square."""
Count = Annotated[int, Field(ge=0, lt=2**53)]


class _Conditions(BaseModel):
    """What the seconds of a cell depend on, and when they were measured."""

    model_config = ConfigDict(extra="forbid", strict=True)

    processor: str
    cores: Count
    workers: Count
    threads: Count
    version: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


class Facts(BaseModel):
    """What a run says of a cell beside its scores."""

    model_config = ConfigDict(extra="forbid", strict=True)

    fit_seconds: Amount
    score_seconds: Amount
    peak_mb: Amount
    """What the cell added to the memory of its process, at the most."""
    measured: _Conditions
    fit_path: str
    scoring_path: str
    n_impossible: Count
    n_test: Count
    notes: list[str]
    judged: dict[str, Annotated[float, Field(allow_inf_nan=False)] | None] = {}
    """By label, what a trial scored; None where no user has a score."""


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    key: str
    meta: Facts
    shapes: dict[str, list[Annotated[int, Field(ge=0, lt=2**40)]]]
    inputs: dict[str, Any] = {}


@dataclass(frozen=True, eq=False)
class CellRecord:
    """The result of one fitted and scored cell.

    Parameters
    ----------
    meta : dict
        Plain data: timings, memory, paths taken, notes, counts.
    users : ndarray of int32, shape (n_users,)
        Codes of the test users.
    kept : ndarray of bool, shape (n_users,)
        Users whose ranking is evaluated; `rankings` has one list for each of them.
    rankings : Rankings
    pairs : Pairs
        Estimate and true rating of every test pair, by user.
    inputs : dict
        Everything that decided its numbers, whose hash is its key.
    """

    meta: dict[str, Any]
    users: NDArray[np.int32]
    kept: NDArray[np.bool_]
    rankings: Rankings
    pairs: Pairs
    inputs: dict[str, Any] = field(default_factory=dict)

    def judged(self, means: dict[str, float | None]) -> CellRecord:
        """Return the record of a trial: a few numbers in place of every user's lists.

        Parameters
        ----------
        means : dict of str to float or None
            By label, what it scored.
        """
        return CellRecord(
            meta=self.meta | {"judged": means},
            users=self.users[:0],
            kept=self.kept[:0],
            rankings=Rankings([0], [], [], [], [], []),
            pairs=Pairs([0], [], []),
            inputs=self.inputs,
        )

    def to_bytes(self, key: str) -> bytes:
        """Return the record as one file's bytes, checksum and key included."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, kind in ARRAYS.items():
            part, _, field = name.rpartition(".")
            value = getattr(getattr(self, part) if part else self, field)
            if value is not None:
                arrays[name] = np.ascontiguousarray(value, dtype=kind)
        shapes = {name: list(array.shape) for name, array in arrays.items()}
        header = _Header.model_validate(
            {"key": key, "meta": self.meta, "shapes": shapes, "inputs": as_json(self.inputs)}
        )
        described = header.model_dump_json(exclude_defaults=True).encode()
        body = [
            LENGTH.pack(len(described)),
            described,
            *(array.tobytes() for array in arrays.values()),
        ]
        digest = hashlib.sha256()
        for piece in body:
            digest.update(piece)
        return b"".join([MAGIC, digest.digest(), *body])

    @classmethod
    def from_bytes(cls, data: bytes, key: str) -> CellRecord:
        """Read a record back.

        Parameters
        ----------
        data : bytes
        key : str
            Of the cell that it should be.

        Raises
        ------
        ResultsError
            If the bytes are not that cell, whole.
        """
        if not data.startswith(MAGIC) or len(data) < START + LENGTH.size:
            raise ResultsError("not a finished cell, or written by another version")
        content = memoryview(data)[START:]
        if hashlib.sha256(content).digest() != data[len(MAGIC) : START]:
            raise ResultsError("the bytes do not match their checksum")
        header, arrays = _divide(content)
        if header.key != key:
            raise ResultsError("the cell of another key")
        parts: dict[str, dict[str, Any]] = {"": {}, "rankings": {}, "pairs": {}}
        for name, array in arrays.items():
            part, _, field = name.rpartition(".")
            parts[part][field] = array
        try:
            record = cls(
                meta=header.meta.model_dump(exclude_defaults=True),
                **parts[""],
                rankings=Rankings(**parts["rankings"]),
                pairs=Pairs(**parts["pairs"]),
                inputs=header.inputs,
            )
        except (MetricError, IndexError, TypeError) as error:
            raise ResultsError(f"not a finished cell ({error})") from None
        if not record._is_possible():
            raise ResultsError("not a finished cell: its arrays contradict each other")
        return record

    def fits(self, n_users: int, n_items: int) -> bool:
        """Return whether all its users and items are among so many."""
        top = self.rankings.top_items
        return int(self.users.max(initial=-1)) < n_users and (
            top is None or int(top.max(initial=-1)) < n_items
        )

    def _is_possible(self) -> bool:
        """Return whether the arrays are safe for loops without bounds checks."""
        lists, pairs = self.rankings, self.pairs
        if len(self.users) != len(self.kept) or pairs.n_users != len(self.users):
            return False
        if lists.n_users != np.count_nonzero(self.kept) or (np.diff(pairs.offsets) < 0).any():
            return False
        longest = np.repeat(lists.n_ranked, np.diff(lists.offsets))
        top = lists.top_items
        return bool(
            (self.users >= 0).all()
            and (self.kept.view(np.uint8) <= 1).all()
            and (lists.n_ranked >= 0).all()
            and (lists.n_ranked < 2**31).all()
            and (lists.tie_low >= 1).all()
            and (lists.tie_low <= lists.rank).all()
            and (lists.rank <= lists.tie_high).all()
            and (lists.tie_high <= longest).all()
            and (top is None or (len(top) == lists.n_users and (top >= -1).all()))
            and all(
                np.isfinite(values).all()
                for values in (lists.relevance, lists.pool, pairs.estimates, pairs.ratings)
            )
        )


def _divide(content: memoryview) -> tuple[_Header, dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file, if they fill it exactly."""
    (n_header,) = LENGTH.unpack_from(content)
    place = LENGTH.size + n_header
    if n_header > MOST_HEADER or place > len(content):
        raise ResultsError("not a finished cell: its header does not fit")
    try:
        header = _Header.model_validate_json(bytes(content[LENGTH.size : place]))
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise ResultsError(f"not a finished cell ({where or 'its header'} is not right)") from None
    shapes = header.shapes
    if not set(ARRAYS) - {MATRIX} <= set(shapes) <= set(ARRAYS):
        raise ResultsError("not a finished cell: arrays are missing or too many")
    if any(len(shape) != (2 if name == MATRIX else 1) for name, shape in shapes.items()):
        raise ResultsError("not a finished cell: an array has too few or too many axes")
    counts = {name: math.prod(shapes[name]) for name in ARRAYS if name in shapes}
    sizes = {name: count * np.dtype(ARRAYS[name]).itemsize for name, count in counts.items()}
    if place + sum(sizes.values()) != len(content):
        raise ResultsError("not a finished cell: its arrays do not fill the file")
    arrays: dict[str, NDArray[Any]] = {}
    for name, count in counts.items():
        flat = np.frombuffer(content, ARRAYS[name], count, place)
        arrays[name] = flat.reshape(shapes[name]).copy()
        place += sizes[name]
    return header, arrays
