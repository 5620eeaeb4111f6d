"""How far estimates are from ratings: by the rating, and by the estimate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from harness._util.libraries import pd
from harness.experiment.analyses.base import Analysis, ScoredCell
from harness.metrics import Scores
from harness.metrics.arrays import Floats

BINS = 10
"""Parts of the rating scale, for estimates."""
NAMES = ["dataset", "split", "candidates", "algorithm"]


def starts_of_parts(low: float, high: float) -> Floats:
    """Return where the parts of a scale start: the floats that are nearest to the exact numbers.

    >>> starts_of_parts(1, 5).tolist()
    [1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.4, 3.8, 4.2, 4.6]
    """
    first, last = Fraction(str(low)), Fraction(str(high))
    return np.array([float(first + (last - first) * part / BINS) for part in range(BINS)])


class _Pairs(Analysis):
    """Sums over test pairs, by a value of each pair."""

    def __init__(self) -> None:
        self._parts: list[pd.DataFrame] = []

    @abstractmethod
    def values(self, cell: ScoredCell) -> Floats:
        """Return the value of each pair of a cell."""

    @abstractmethod
    def columns(self, sums: pd.DataFrame) -> dict[str, pd.Series]:
        """Return what is shown of the sums of a row of the results table, a row for each value."""

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Sum up one cell."""
        pairs = cell.record.pairs
        frame = pd.DataFrame(
            {
                "value": self.values(cell),
                "n": 1,
                "estimate": pairs.estimates,
                "rating": pairs.ratings,
                "square": np.square(pairs.estimates - pairs.ratings),
            }
        )
        names = {key: cell.name[key] for key in NAMES}
        self._parts.append(frame.groupby("value", as_index=False).sum().assign(**names))

    def result(self) -> pd.DataFrame | None:
        """Return the columns for each row of the results table, with values rising."""
        if not self._parts:
            return None
        columns = [*NAMES, "value"]
        summed = pd.concat(self._parts).groupby(columns, sort=False, as_index=False).sum()
        frames = []
        for _, of_row in summed.groupby(NAMES, sort=False):
            names = {name: of_row[name].iloc[0] for name in NAMES}
            sums = of_row.sort_values("value").reset_index(drop=True)
            frames.append(pd.DataFrame(names | self.columns(sums)))
        return pd.concat(frames, ignore_index=True)


class ErrorsByRating(_Pairs):
    """The errors of the estimates at each rating: a row for each algorithm and rating.

    ``bias`` is the mean of estimate less rating: above 0 at low and below 0 at high ratings where
    estimates are drawn to the middle.
    """

    def values(self, cell: ScoredCell) -> Floats:
        """Return the ratings."""
        return np.asarray(cell.record.pairs.ratings)

    def columns(self, sums: pd.DataFrame) -> dict[str, pd.Series]:
        """Return number, mean estimate, bias and RMSE at each rating."""
        return {
            "rating": sums["value"],
            "n": sums["n"],
            "mean estimate": sums["estimate"] / sums["n"],
            "bias": (sums["estimate"] - sums["rating"]) / sums["n"],
            "rmse": (sums["square"] / sums["n"]) ** 0.5,
        }


class Calibration(_Pairs):
    """The mean rating where estimates are alike: a row for each algorithm and part of the scale.

    The scale is split into ten parts of equal length. An estimate where two parts meet is in the
    upper one; estimates outside the scale are in the first and the last. Estimates are calibrated
    where ``mean rating`` is ``mean estimate``.
    """

    def values(self, cell: ScoredCell) -> Floats:
        """Return the lower end of the part of the scale that each estimate is in."""
        starts = starts_of_parts(*cell.split.ratings.scale)
        part = np.searchsorted(starts, cell.record.pairs.estimates, side="right") - 1
        return starts[np.maximum(part, 0)]

    def columns(self, sums: pd.DataFrame) -> dict[str, pd.Series]:
        """Return number, mean estimate and mean rating in each part of the scale."""
        return {
            "estimate from": sums["value"],
            "n": sums["n"],
            "mean estimate": sums["estimate"] / sums["n"],
            "mean rating": sums["rating"] / sums["n"],
        }
