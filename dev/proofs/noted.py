"""An algorithm that notes when it is fitted, for the proofs that nothing is computed twice."""

from __future__ import annotations

import os
import time
import zlib
from pathlib import Path
from typing import Any

import surprise


class Noted(surprise.AlgoBase):  # type: ignore[misc]
    """The training mean, after a line with its `tag` in ``FIT_NOTES`` and a moment's work."""

    def __init__(self, tag: str, seconds: float = 0.1) -> None:
        surprise.AlgoBase.__init__(self)
        self.tag, self.seconds = tag, seconds

    def fit(self, trainset: Any) -> Noted:
        """Note the training set, then take the mean."""
        surprise.AlgoBase.fit(self, trainset)
        ratings = sorted(trainset.all_ratings())
        with Path(os.environ["FIT_NOTES"]).open("a") as notes:  # one write: lines stay whole
            notes.write(f"{self.tag} {zlib.crc32(repr(ratings).encode())}\n")
        time.sleep(self.seconds)
        self.mean = trainset.global_mean
        return self

    def estimate(self, u: int, i: int) -> float:
        """Return the training mean."""
        return float(self.mean)
