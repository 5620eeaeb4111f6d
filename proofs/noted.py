"""Algorithms that note when they are fitted, for the proofs that nothing is computed twice."""

from __future__ import annotations

import os
import time
import zlib
from typing import Any

import surprise


class Noted(surprise.AlgoBase):  # type: ignore[misc]
    """The training mean, after a line in ``FIT_NOTES`` and a moment's work.

    Parameters
    ----------
    tag : str
        Tells two settings apart in the notes.
    seconds : float
        How long a fit takes.
    """

    def __init__(self, tag: str, seconds: float = 0.1) -> None:
        surprise.AlgoBase.__init__(self)
        self.tag = tag
        self.seconds = seconds

    def fit(self, trainset: Any) -> Noted:
        """Note the training set, then take the mean."""
        surprise.AlgoBase.fit(self, trainset)
        ratings = sorted(trainset.all_ratings())
        line = f"{self.tag} {zlib.crc32(repr(ratings).encode())}\n"
        handle = os.open(os.environ["FIT_NOTES"], os.O_WRONLY | os.O_APPEND)
        os.write(handle, line.encode())
        os.close(handle)
        time.sleep(self.seconds)
        self.mean = trainset.global_mean
        return self

    def estimate(self, u: int, i: int) -> float:
        """Return the training mean."""
        return float(self.mean)
