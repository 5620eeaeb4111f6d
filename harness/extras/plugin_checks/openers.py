"""Whether an opener keeps what is expected of one, tried on the address of a small file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.datasets.limits import Limits
from harness.datasets.openers import opener_of, scheme_of
from harness.datasets.places import fetch

MOST = Limits(megabytes=10.0, seconds=60.0)
"""What the file of an example may take."""


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with an opener in this process, and the digest of its example."""
    address = opener_of(f"{name}://example").example
    if not address:
        return
    if scheme_of(address) != name:
        yield f"its example has another scheme ({address!r}); write {name}://…"
        return
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        first, second = (fetch(address, Path(scratch, str(n)), MOST) for n in range(2))
    if first != second:
        yield "it opens different bytes when it opens an address again; depend only on the address"
    yield first.encode()
