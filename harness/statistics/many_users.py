"""Intervals and tests of many users: from moments, and by resampling where few users count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness._util import seeds
from harness.statistics.expansion import FEWEST_FOR_INTERVAL, Moments
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
    r"""Return means of users sampled with replacement, in the time of those who count most.

    NaN is ignored. Only the users far from the median are drawn one by one: how many of them are in
    a resample is binomial. The sum of the m others in it is taken from its moments, by
    Cornish and Fisher's expansion at a random normal number z: with their mean :math:`\mu`,
    standard deviation :math:`\sigma` and skewness :math:`\gamma` it is
    :math:`m \mu + \sqrt{m} \sigma (z + \gamma (z^2 - 1) / (6 \sqrt{m}))`. So a million users of
    whom a hundred decide are resampled as fast as a hundred.
    """
    defined = values[~np.isnan(values)]
    centre = float(np.median(defined))
    far, others = _apart(defined - centre)
    n_known = rng.binomial(len(values), len(defined) / len(values), n_resamples)
    n_drawn = rng.binomial(n_known, len(far) / len(defined))
    sums = _sums_by_moments(others, n_known - n_drawn, rng)
    step = max(1, MOST_DRAWN // max(1, len(far)))
    for start in range(0, n_resamples if len(far) else 0, step):
        sizes = n_drawn[start : start + step]
        drawn = far[rng.integers(0, len(far), sizes.sum() + 1, dtype=np.uint32)]
        drawn[-1] = 0.0  # where a last resample without one of the far begins
        of_resamples = np.add.reduceat(drawn, np.cumsum(sizes) - sizes)
        sums[start : start + step] += np.where(sizes > 0, of_resamples, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(n_known > 0, centre + sums / n_known, np.nan))


def _apart(deviations: Floats) -> tuple[Floats, Floats]:
    """Return the fewest of the largest deviations without which the others are many, and these.

    Others are many if they have as many effective users as the expansions need, or are all zero.
    """
    ordered = deviations[np.argsort(np.abs(deviations))]
    counts = np.arange(1, len(ordered) + 1)
    first, second, third, fourth = (np.cumsum(ordered**power) / counts for power in (1, 2, 3, 4))
    # Of the deviations from their mean, of the first n by size.
    squares = second - first**2
    fourths = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    is_many = squares**2 * counts >= FEWEST_FOR_INTERVAL * fourths
    is_many &= counts >= FEWEST_FOR_INTERVAL
    n_others = int(np.flatnonzero(is_many | (second == 0)).max(initial=-1)) + 1
    return ordered[n_others:], ordered[:n_others]


def _sums_by_moments(values: Floats, sizes: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Return sums of so many values sampled with replacement, from the moments of the values."""
    if not values.any():
        return np.zeros(len(sizes))
    deviation, z = values.std(), rng.standard_normal(len(sizes))
    skewness = ((values - values.mean()) ** 3).mean() / deviation**3 if deviation else 0.0
    spread = np.sqrt(sizes) * z + skewness * (z**2 - 1) / 6
    return np.asarray(sizes * values.mean() + deviation * spread)
