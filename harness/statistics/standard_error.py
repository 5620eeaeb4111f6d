"""Standard errors of means over users, and what follows: p-values, intervals, power, equivalence.

A test divides a difference by a standard error that counts what its claim calls random, with the
degrees of freedom of that standard error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness._util.libraries import scipy
from harness.statistics.resampling import Floats

POWER = 0.8
FEWEST_SEEDS = 5
"""Below these sizes the two-way test can exceed its level: dev/benchmarks/statistics_study.py."""
FEWEST_USERS = 25


class StandardError(NamedTuple):
    """The error of each column's mean, with its degrees of freedom; NaN where it is unknown."""

    error: Floats
    degrees: Floats

    def p_values(self, means: Floats) -> Floats:
        """Return two-sided p-values of the t-test of means against 0; 1 for a mean of 0."""
        p_values = 2.0 * scipy.special.stdtr(self.degrees, -self._ratio(np.abs(means)))
        return np.asarray(np.where(means == 0, 1.0, np.nan_to_num(p_values, nan=1.0)))

    def interval(self, means: Floats, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the t intervals of means."""
        half = scipy.special.stdtrit(self.degrees, (1 + confidence) / 2) * self.error
        return means - half, means + half

    def detectable(self, level: float, power: float = POWER) -> Floats:
        r"""Return the difference that a two-sided test finds with this power.

        :math:`(t_{1-\alpha/2,\nu} + t_{1-\beta,\nu}) \cdot SE`, with the quantiles of Student's
        distribution (Bloom 1995, doi:10.1177/0193841X9501900504); it is about other data of this
        design, not about the difference that was found.
        """
        special = scipy.special
        quantiles = special.stdtrit(self.degrees, 1 - level / 2) + special.stdtrit(
            self.degrees, power
        )
        return np.asarray(quantiles * self.error)

    def equivalence(self, means: Floats, margin: float) -> Floats:
        """Return p-values of the hypothesis that a mean is at least `margin` away from 0.

        The larger of two one-sided t-tests (TOST), against each end of the margin (Schuirmann 1987,
        doi:10.1007/BF01068419).
        """
        p_values = scipy.special.stdtr(self.degrees, -self._ratio(margin - np.abs(means)))
        return np.asarray(np.nan_to_num(p_values, nan=1.0))

    def _ratio(self, values: Floats) -> Floats:
        """Return values in standard errors; one of 0 makes any value infinitely many."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(values / self.error)


def over_users(values: Floats) -> StandardError:
    """Return the standard error with users as random: sd / sqrt(n), n - 1 degrees of freedom."""
    n = np.count_nonzero(~np.isnan(values), axis=0).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = values - np.nansum(values, axis=0) / n
        error = np.sqrt(np.nansum(deviations**2, axis=0) / (n - 1) / n)
    error[n < 2] = np.nan
    return StandardError(error, np.where(n > 1, n - 1, np.nan))
