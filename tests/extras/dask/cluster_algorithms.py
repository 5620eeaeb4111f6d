"""Algorithms for the tests of the cluster: slow, mortal, or telling what they run with."""

import os
import time
from pathlib import Path

from surprise import AlgoBase

from harness._util.kernels import n_threads


class Paced(AlgoBase):
    """Fit for some seconds, or until a file called ``go`` is in a folder.

    A file in the folder shows that the fit has begun: its name is the mark, a number that depends
    on the ratings and that of the process. An empty mark leaves no file.
    """

    def __init__(self, mark="", folder="", seconds=60.0):
        super().__init__()
        self.mark, self.folder, self.seconds = mark, folder, seconds

    def fit(self, trainset):
        super().fit(trainset)
        folder = Path(self.folder)
        if self.mark:
            ratings = sum(31 * int(u) + int(i) for u, i, _ in trainset.all_ratings())
            (folder / f"{self.mark}-{ratings}-{os.getpid()}").touch()
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not (self.folder and (folder / "go").exists()):
            time.sleep(0.02)
        return self

    def estimate(self, u, i):
        if isinstance(u, str) or isinstance(i, str):  # unknown
            return 2.5
        return 1.0 + (5 * int(u) + 3 * int(i)) % 7 / 2


class Mortal(Paced):
    """End the process in the middle of a fit."""

    def fit(self, trainset):
        os._exit(7)


class Threads(Paced):
    """Estimate how many threads may be used, and print while fitting."""

    def fit(self, trainset):
        print("what an algorithm prints must not disturb its answer")
        return AlgoBase.fit(self, trainset)

    def estimate(self, u, i):
        return float(n_threads())


class FromFile(AlgoBase):
    """Estimate the number in a file."""

    def __init__(self, file):
        super().__init__()
        self.file = file

    def estimate(self, u, i):
        return float(Path(self.file).read_text())
