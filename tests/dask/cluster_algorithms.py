"""Algorithms for the tests of the cluster: slow, mortal, or telling what they run with."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from surprise import AlgoBase

from harness.parallel import n_threads


def pace() -> Path:
    return Path(os.environ["PACE"])


class Paced(AlgoBase):
    """Leaves a mark when its fit begins, and fits until it is let go, or for some seconds."""

    def __init__(self, mark: str = "", seconds: float = 60.0) -> None:
        super().__init__()
        self.mark = mark
        self.seconds = seconds

    def fit(self, trainset: Any) -> Paced:
        super().fit(trainset)
        if self.mark:
            with (pace() / f"{self.mark}-{os.getpid()}").open("a") as file:
                file.write("began\n")
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not (pace() / "go").exists():
            time.sleep(0.02)
        return self

    def estimate(self, u: Any, i: Any) -> float:
        return 1.0 + (hash((int(u), int(i))) % 7) / 2 if not isinstance(u, str) else 2.5


class Mortal(AlgoBase):
    """Ends its process in the middle of a fit."""

    def fit(self, trainset: Any) -> Mortal:
        os._exit(7)


class Threads(AlgoBase):
    """Estimates how many threads it may use, and prints while it does."""

    def fit(self, trainset: Any) -> Threads:
        super().fit(trainset)
        print("what an algorithm prints must not disturb its answer")
        return self

    def estimate(self, u: Any, i: Any) -> float:
        return float(n_threads())
