"""One seed for a run, and from it one stream for each use, derived by name.

A stream depends on the seed and the names alone, never on the order in which streams are asked
for, so the same cell draws the same numbers with one worker or with eight, first or last.
"""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["derive", "generator"]


def derive(seed: int, *names: object) -> int:
    """Return the seed of one use.

    Parameters
    ----------
    seed : int
        The run's seed, 0 or more.
    *names : object
        What the stream is for, from the general to the particular; compared as text.

    Returns
    -------
    int
        In [0, 2**32), the range that ``numpy.random.RandomState`` takes: the first four bytes of
        the SHA-256 of seed and names.

    Examples
    --------
    >>> derive(0, "fit", "SVD") == derive(0, "fit", "SVD")
    True
    >>> derive(0, "fit", "SVD") == derive(0, "fit", "NMF")
    False
    """
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")


def generator(seed: int, *names: object) -> np.random.Generator:
    """Return a NumPy Generator for one use; see `derive`.

    Examples
    --------
    >>> int(generator(0, "sample").integers(100)) == int(generator(0, "sample").integers(100))
    True
    """
    return np.random.Generator(np.random.PCG64(derive(seed, *names)))
