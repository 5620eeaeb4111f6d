"""The data as training and test at once."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness.datasets import Ratings
from harness.notes import Note
from harness.splits.base import DrawnSplit, Notes, Parts


class OwnTraining(DrawnSplit):
    """No split: a model is tested on its training data."""

    kind: Literal["own-training"] = "own-training"
    """All ratings are training and test at once. The scores show what a model remembers, not what
    it predicts; use it only to reproduce published numbers."""

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        rows = np.arange(len(ratings))
        return [(rows, rows)], (Note("own-training"),)

    def describe(self) -> str:
        return "own training data"

    def sentence(self, part: str = "test part") -> str:
        return (
            f"All ratings are training and {part} at once: the scores say how well models fit, "
            "not how well they predict."
        )
