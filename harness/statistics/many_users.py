"""Intervals and tests of many users: from moments, and by resampling where few users count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness._util import seeds
from harness.statistics.expansion import Moments
from harness.statistics.intervals import IntervalMethod, interval_of
from harness.statistics.paired import DEFAULT_RESAMPLES, randomise
from harness.statistics.resampling import Draws, Floats, PairColumns

MOST_DRAWN = 1 << 20  # users that are drawn at once from a few


def intervals_of_many(
    moments: Moments, confidence: float, method: IntervalMethod, seed: int
) -> tuple[Floats, Floats]:
    """Return intervals of many users from moments; resample columns of too few effective users."""
    low, high = moments.interval(confidence, corrected=method == "bca")
    for pair in np.flatnonzero(~moments.has_interval & (moments.n_known > 0)).tolist():
        values, rng = moments.values(pair), seeds.generator(seed, "bootstrap of few", pair)
        drawn = means_of_few(values, DEFAULT_RESAMPLES, rng)
        low[pair], high[pair] = interval_of(drawn, values, confidence, method)
    return low, high


def randomise_many(
    moments: Moments, draws: Draws, smallest: float | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Test pairs of many users by their moments; those with too few effective users by signs."""
    p_values, is_bound = moments.sign_test()
    for pair in np.flatnonzero(~moments.has_test).tolist():
        differences = np.nan_to_num(moments.values(pair))
        columns = np.column_stack([differences, np.zeros(len(differences))])
        few = PairColumns(columns[differences != 0], np.array([0]), np.array([1]))
        (p_values[pair],), (is_bound[pair],) = randomise(few, DEFAULT_RESAMPLES, draws, smallest)
    return p_values, is_bound


def means_of_few(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return means of users drawn with replacement, in the time of those who are not alike.

    NaN is ignored. Users with the median are not drawn one by one: how many of the others are is
    binomial, and a mean is the median and their deviations from it. So a million users of whom a
    hundred differ are resampled as fast as a hundred.
    """
    defined = values[~np.isnan(values)]
    centre = float(np.median(defined))
    deviations = defined[defined != centre] - centre
    n_known = rng.binomial(len(values), len(defined) / len(values), n_resamples)
    n_drawn = rng.binomial(n_known, len(deviations) / len(defined))
    sums = np.zeros(n_resamples)
    step = max(1, MOST_DRAWN // max(1, len(deviations)))
    for start in range(0, n_resamples if len(deviations) else 0, step):
        sizes = n_drawn[start : start + step]
        drawn = deviations[rng.integers(0, len(deviations), sizes.sum(), dtype=np.uint32)]
        resample = np.repeat(np.arange(len(sizes)), sizes)
        sums[start : start + step] = np.bincount(resample, drawn, minlength=len(sizes))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(n_known > 0, centre + sums / n_known, np.nan))
