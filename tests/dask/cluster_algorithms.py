"""Algorithms for the tests of the cluster: slow, mortal, or telling what they run with."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from surprise import AlgoBase

from harness.kernels import n_threads


class Paced(AlgoBase):
    """Fits for some seconds, or until a file called ``go`` is in its folder.

    Parameters
    ----------
    mark : str
        Of the file that it leaves in the folder when its fit begins; empty to leave none. Behind it
        stand a number that depends on the ratings and the one of the process.
    folder : str
        Empty for none, and for no letting go.
    seconds : float
    """

    def __init__(self, mark: str = "", folder: str = "", seconds: float = 60.0) -> None:
        super().__init__()
        self.mark = mark
        self.folder = folder
        self.seconds = seconds

    def fit(self, trainset: Any) -> Paced:
        super().fit(trainset)
        folder = Path(self.folder)
        if self.mark:
            ratings = sum(31 * int(u) + int(i) for u, i, _ in trainset.all_ratings())
            (folder / f"{self.mark}-{ratings}-{os.getpid()}").touch()
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not (self.folder and (folder / "go").exists()):
            time.sleep(0.02)
        return self

    def estimate(self, u: Any, i: Any) -> float:
        if isinstance(u, str) or isinstance(i, str):  # unknown
            return 2.5
        return 1.0 + (5 * int(u) + 3 * int(i)) % 7 / 2


class Mortal(AlgoBase):
    """Ends its process in the middle of a fit."""

    def fit(self, trainset: Any) -> Mortal:
        os._exit(7)

    def estimate(self, u: Any, i: Any) -> float:
        return 3.0


class Threads(AlgoBase):
    """Estimates how many threads it may use, and prints while it does."""

    def fit(self, trainset: Any) -> Threads:
        super().fit(trainset)
        print("what an algorithm prints must not disturb its answer")
        return self

    def estimate(self, u: Any, i: Any) -> float:
        return float(n_threads())
