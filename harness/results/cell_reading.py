"""A finished cell read back from its file; imported where one is read.

The checksum finds damage, and cheap checks of types, shapes and ranges find what the loops over it
could not bear.
"""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from harness.errors import MetricError, ResultsError
from harness.metrics import Pairs, Rankings
from harness.results.cell_file import ARRAYS, MAGIC, OPTIONAL, Arrays
from harness.results.cells import CellFacts
from harness.results.fields import Record
from harness.results.trials import no_lists


class _Header(Record):
    key: str
    facts: CellFacts
    inputs: dict[str, object] = Field(default_factory=dict)


def parts_of_cell(data: bytes, key: str) -> dict[str, Any]:
    """Return the parts of a record; a ResultsError if the bytes are not the cell of the key."""
    try:
        content, arrays = unpacked(MAGIC, data)
        header = _Header.model_validate_json(content)
        if header.key != key:
            raise ResultsError("the cell of another key")
        described = {"facts": header.facts, "inputs": header.inputs}
        if header.facts.judged and not arrays:
            return described | no_lists()
        if not arrays.keys() - OPTIONAL <= ARRAYS.keys() <= arrays.keys() | OPTIONAL:
            raise ValueError("arrays are missing or too many")
        parts: dict[str, Arrays] = {"": {}, "rankings": {}, "pairs": {}}
        for name, array in arrays.items():
            if (array.dtype.str, array.ndim) != ARRAYS[name]:
                raise ValueError(f"{name} is of another type")
            part, _, own = name.rpartition(".")
            parts[part][own] = array
        users = parts[""]["users"]
        rankings, pairs = Rankings(**parts["rankings"]), Pairs(**parts["pairs"])
        is_possible = len(users) == rankings.n_users and bool((users >= 0).all())
        if not is_possible or not are_possible(rankings, pairs):
            raise ValueError("its arrays contradict each other")
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "its header"
        raise ResultsError(f"not a finished cell ({where} is not right)") from None
    except (MetricError, IndexError, TypeError, ValueError) as error:
        raise ResultsError(f"not a finished cell ({error})") from None
    return {**described, "users": users, "rankings": rankings, "pairs": pairs}


def are_possible(lists: Rankings, pairs: Pairs) -> bool:
    """Return whether lists and pairs of the users of a cell are safe for loops without checks."""
    if pairs.n_users != lists.n_users or (np.diff(pairs.offsets) < 0).any():
        return False
    longest = np.repeat(lists.n_ranked, np.diff(lists.offsets))
    top, shown = lists.top_items, lists.top_estimates
    return bool(
        ((lists.n_ranked >= 0) & (lists.n_ranked < 2**31)).all()
        and (lists.tie_low >= 1).all()
        and (lists.tie_low <= lists.rank).all()
        and (lists.rank <= lists.tie_high).all()
        and (lists.tie_high <= longest).all()
        and (top is None or (len(top) == lists.n_users and (top >= -1).all()))
        and (shown is None or (top is not None and shown.shape == top.shape))
        and (lists.items is None or (lists.items >= 0).all())
        and all(
            np.isfinite(values).all()
            for values in (lists.relevance, lists.pool, pairs.estimates, pairs.ratings)
        )
    )


def unpacked(magic: bytes, data: bytes) -> tuple[bytes, Arrays]:
    """Return the header and the arrays of a file; a ResultsError if it is another, or damaged."""
    if not data.startswith(magic):
        raise ResultsError("not a finished cell, or written by another version")
    start = len(magic) + hashlib.sha256().digest_size
    content = data[start:]
    if hashlib.sha256(content).digest() != data[len(magic) : start]:
        raise ResultsError("the bytes do not match their checksum")
    if content.startswith(b"{"):
        return content, {}
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: np.ascontiguousarray(file[name]) for name in file.files}
        return arrays.pop("header").tobytes(), arrays
    except Exception as error:  # of bytes that are no archive, NumPy and zipfile raise anything
        raise ResultsError(f"not a finished cell ({error})") from None
