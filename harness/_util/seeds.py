"""One seed for a run, and from it one stream for each use, derived by name.

A stream depends only on the seed and the names, never on the order in which streams are asked
for, so the same cell draws the same numbers with one worker or with eight, first or last.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


def derive(seed: int, *names: object) -> int:
    """Return the seed of one use: the first four bytes of the SHA-256 of seed and names.

    Names say what the stream is for, from the general to the particular; they are compared as text.
    """
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")


def generator(seed: int, *names: object) -> np.random.Generator:
    """Return a NumPy Generator for one use; see `derive`."""
    return np.random.Generator(np.random.PCG64(derive(seed, *names)))


@contextmanager
def global_generators(seed: int | None) -> Iterator[None]:
    """Seed Python's and NumPy's global generators, and restore their state afterwards.

    For code that cannot take a generator, such as an algorithm of another project. None does not
    change them.
    """
    if seed is None:
        yield
        return
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
