"""The form of a file of a finished cell: a checksum, and plain arrays with a header.

It is NumPy's own archive, in which the header is one more array, in JSON; of a trial it is the
header alone. It contains no code.
"""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"harness-cell-3\n"
START = len(MAGIC) + hashlib.sha256().digest_size
SCORES_MAGIC = b"harness-scores-1\n"

ARRAYS = {
    "users": ("<i4", 1),
    "rankings.offsets": ("<i8", 1),
    "rankings.relevance": ("<f8", 1),
    "rankings.rank": ("<i4", 1),
    "rankings.tie_low": ("<i4", 1),
    "rankings.tie_high": ("<i4", 1),
    "rankings.n_ranked": ("<i8", 1),
    "rankings.pool_offsets": ("<i8", 1),
    "rankings.pool": ("<f8", 1),
    "rankings.top_items": ("<i4", 2),
    "rankings.top_estimates": ("<f8", 2),
    "rankings.items": ("<i4", 1),
    "pairs.offsets": ("<i8", 1),
    "pairs.estimates": ("<f8", 1),
    "pairs.ratings": ("<f8", 1),
}
"""Type and number of axes of every array of a cell; a trial has none."""
OPTIONAL = {"rankings.top_items", "rankings.top_estimates", "rankings.items"}
"""Missing where nothing asks which items were shown, how they were estimated, or which were judged.
"""

Arrays = dict[str, NDArray[Any]]


def packed(magic: bytes, header: bytes, arrays: Arrays) -> bytes:
    """Return a file's bytes: what it is, its checksum, and a header in JSON with plain arrays."""
    content = header
    if arrays:
        file = io.BytesIO()
        # NumPy 2.0 has no `allow_pickle` here; the types are plain, so nothing is pickled.
        np.savez(file, header=np.frombuffer(header, np.uint8), **arrays)  # type: ignore[arg-type]
        content = file.getvalue()
    return magic + hashlib.sha256(content).digest() + content
