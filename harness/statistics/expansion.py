r"""Intervals and tests of many users from moments, without resampling.

The bootstrap distribution of a mean and the distribution of a sum under random signs are known:
their cumulants are sums of powers over the users. With many users a few cumulants give quantiles
and tails closer than 10,000 resamples do, in one pass over the scores, and without chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from harness._util.kernels import each_block, kernel
from harness._util.libraries import scipy
from harness.statistics.resampling import LEAST_P

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

FEWEST_EFFECTIVE = 300
"""Effective users that tests of signs need from moments: of n equal differences there are n, of a
few large ones among many zeros only these count. Pairs with fewer are tested by random signs."""
FEWEST_FOR_INTERVAL = 100
"""Effective users that intervals need from moments; columns with fewer are resampled. Half a step
of sums of equal values is then 0.05 standard deviations, twice the standard error that an end of
10,000 resamples has."""
LEAST_WORK = 1_000_000  # users times columns that are too few for another thread
EPSILON = float(np.finfo(np.float64).eps)
COARSEST = 1e-5  # steps of values, as a share of the largest, that are too small to matter
EXACT = 1e-10  # rounding of values, as a share of the largest, that is no step
CLOSE = 0.05  # standard deviations from the centre within which a tail needs no saddlepoint
N_STEPS = 30  # of Newton's method; it converges in five

N_KNOWN, N_DIFFERING, MEAN, LEAST, MOST, CENTRAL, RAW, END = 0, 1, 2, 3, 4, 5, 8, 11


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of powers of columns, or of differences of two columns, over the users with a value.

    Parameters
    ----------
    columns : ndarray of float64, shape (m, n_users)
        NaN where a user has no value.
    first, second : ndarray of intp, shape (k,)
        Each difference is one column less another; -1 as second is none, just the column.
    sums : ndarray of float64, shape (11, k)
        How many users have a value and a value other than 0; the mean, the least and the greatest
        value; the sums of the powers 2, 3 and 4 of deviations, and 2, 4 and 6 of values.
    """

    columns: Floats
    first: Indices
    second: Indices
    sums: Floats

    @classmethod
    def of(cls, columns: Floats, first: Indices, second: Indices) -> Moments:
        """Return the moments of columns and differences, which threads divide among them."""
        sums = np.zeros((END, len(first)))
        smallest = 1 + LEAST_WORK // max(1, columns.shape[1])
        each_block(partial(_add_powers, columns, first, second, sums), len(first), smallest)
        return cls(columns, first, second, sums)

    @classmethod
    def of_columns(cls, columns: Floats) -> Moments:
        """Return the moments of each column by itself."""
        numbers = np.arange(len(columns))
        return cls.of(columns, numbers, np.full(len(columns), -1))

    def __getitem__(self, part: slice) -> Moments:
        """Return the moments of some of the columns and differences."""
        return Moments(self.columns, self.first[part], self.second[part], self.sums[:, part])

    @property
    def n_known(self) -> Floats:
        """How many users have a value."""
        return np.asarray(self.sums[N_KNOWN])

    @property
    def n_differing(self) -> Floats:
        """How many users have a value other than 0."""
        return np.asarray(self.sums[N_DIFFERING])

    @property
    def mean(self) -> Floats:
        """The mean; NaN without a value."""
        return np.asarray(self.sums[MEAN])

    @property
    def central(self) -> Floats:
        """Sums of the powers 2, 3 and 4 of deviations from the mean."""
        return np.asarray(self.sums[CENTRAL:RAW])

    @property
    def raw(self) -> Floats:
        """Sums of the powers 2, 4 and 6 of values."""
        return np.asarray(self.sums[RAW:])

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """Whether all values are the same."""
        return np.asarray(self.sums[LEAST] == self.sums[MOST])

    @property
    def _largest(self) -> Floats:
        """The largest value without its sign."""
        return np.asarray(np.maximum(np.abs(self.sums[LEAST]), np.abs(self.sums[MOST])))

    def standard_error(self) -> tuple[Floats, Floats]:
        """Return the standard errors of the means and their degrees of freedom."""
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(self.central[0] / (self.n_known - 1) / self.n_known)
        is_known = self.n_known > 1
        return np.where(is_known, error, np.nan), np.where(is_known, self.n_known - 1, np.nan)

    def effect_size(self) -> Floats:
        """Return the means in standard deviations; see `harness.statistics.effect_size`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = self.mean / np.sqrt(self.central[0] / (self.n_known - 1))
        largest = self._largest
        is_same = self.sums[MOST] - self.sums[LEAST] <= 50 * EPSILON * largest
        sizes = np.where(is_same, np.copysign(np.inf, self.mean), sizes)
        return np.asarray(np.where(self.n_known < 2, np.nan, np.where(largest == 0, 0.0, sizes)))

    def values(self, pair: int) -> Floats:
        """Return the values of a column or difference, NaN for users without one."""
        one, two = self.first[pair], self.second[pair]
        return np.asarray(self.columns[one] - self.columns[two] if two >= 0 else self.columns[one])

    @property
    def has_interval(self) -> NDArray[np.bool_]:
        """Whether `interval` is close for a column: it has effective users enough, or one value."""
        square, _, fourth = self.central
        return np.asarray(self.is_constant | (np.square(square) >= FEWEST_FOR_INTERVAL * fourth))

    @property
    def has_test(self) -> NDArray[np.bool_]:
        """Whether `sign_test` is close for a column: effective users enough, or only zeros."""
        square, fourth, _ = self.raw
        return np.asarray((square == 0) | (np.square(square) >= FEWEST_EFFECTIVE * fourth))

    def interval(self, confidence: float, *, corrected: bool) -> tuple[Floats, Floats]:
        r"""Return the bootstrap intervals of the means, as from infinitely many resamples.

        The quantile at a normal quantile z follows Cornish and Fisher's expansion [1]_ in the
        skewness :math:`\gamma` and the excess kurtosis :math:`\kappa` of the resampled mean,
        :math:`z + \gamma (z^2 - 1) / 6 + \kappa (z^3 - 3z) / 24 - \gamma^2 (2z^3 - 5z) / 36`
        standard deviations from the mean. BCa's correction for bias and its acceleration are both
        :math:`\gamma / 6`, as in the ABC interval of a mean [2]_.

        Parameters
        ----------
        confidence : float
            In (0, 1).
        corrected : bool
            Whether the ends are BCa's, else plain quantiles.

        References
        ----------
        .. [1] E. A. Cornish, R. A. Fisher, "Moments and cumulants in the specification of
           distributions", Revue de l'Institut International de Statistique 5(4), 1938,
           doi:10.2307/1400905.
        .. [2] T. J. DiCiccio, B. Efron, "Bootstrap confidence intervals", Statistical Science
           11(3), 1996, doi:10.1214/ss/1032280214.

        Examples
        --------
        >>> column = np.arange(20_000.0)[None]
        >>> low, high = Moments.of_columns(column).interval(0.95, corrected=True)
        >>> float(low[0].round()), float(high[0].round())
        (9919.0, 10080.0)
        """
        square, third, fourth = self.central
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.sqrt(square) / self.n_known
            skewness = np.where(square > 0, third / square**1.5, 0.0)
            kurtosis = np.where(square > 0, fourth / square**2, 0.0) - 3.0 / self.n_known
        bias = skewness / 6 if corrected else np.zeros(len(skewness))
        ends = []
        for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
            shifted = bias + scipy.special.ndtri(tail)
            z = bias + shifted / (1 - bias * shifted) if corrected else shifted
            quantile = z + skewness * (z**2 - 1) / 6 + kurtosis * (z**3 - 3 * z) / 24
            quantile -= skewness**2 * (2 * z**3 - 5 * z) / 36
            ends.append(
                np.where(self.is_constant, self.sums[LEAST], self.mean + deviation * quantile)
            )
        low, high = ends
        return low, high

    def sign_test(self) -> tuple[Floats, NDArray[np.bool_]]:
        r"""Return two-sided p-values of the mean under random signs, as over all sign vectors.

        With :math:`K(t) = \sum \log \cosh(t d_i)` and the saddlepoint :math:`K'(t) = s`, Lugannani
        and Rice's tail [1]_ at the sum s of the differences :math:`d_i` is
        :math:`1 - \Phi(w) + \phi(w) (1/u - 1/w)` with :math:`w^2 = 2 (t s - K(t))` and
        :math:`u = t \sqrt{K''(t)}`; Robinson applied it to sign flips [2]_. K is its series in
        the sums of the second, fourth and sixth powers. Differences that are multiples of a step
        h, such as hits, give sums in steps of 2h: the tail then begins at :math:`s - h`,
        and :math:`u = \sinh(t h) / h \cdot \sqrt{K''(t)}` (Daniels' second correction [3]_).

        Returns
        -------
        p_values : ndarray of float64, shape (k,)
            At least `LEAST_P`.
        is_bound : ndarray of bool, shape (k,)
            Whether the p-value is smaller than what is returned.

        References
        ----------
        .. [1] R. Lugannani, S. Rice, "Saddle point approximation for the distribution of the sum of
           independent random variables", Advances in Applied Probability 12(2), 1980,
           doi:10.2307/1426607.
        .. [2] J. Robinson, "Saddlepoint approximations for permutation tests and confidence
           intervals", Journal of the Royal Statistical Society B 44(1), 1982,
           doi:10.1111/j.2517-6161.1982.tb01191.x.
        .. [3] H. E. Daniels, "Tail probability approximations", International Statistical Review
           55(1), 1987, doi:10.2307/1403269.
        """
        p_values = np.ones(len(self.first))
        is_bound = np.zeros(len(self.first), np.bool_)
        tested = np.flatnonzero((self.raw[0] > 0) & self.has_test)
        if len(tested):
            steps = np.zeros(len(self.first))
            shared = self.columns, self.first, self.second, tested, self._largest, steps
            find = partial(_find_step, *shared)
            each_block(find, len(tested), 1 + LEAST_WORK // self.columns.shape[1])
            square, fourth, sixth = self.raw[:, tested]
            scale = np.sqrt(square)
            sums = np.abs(self.mean * self.n_known)[tested] / scale
            tails = 2 * _tail(sums, steps[tested] / scale, fourth / square**2, sixth / square**3)
            is_bound[tested] = tails < LEAST_P
            p_values[tested] = np.clip(tails, LEAST_P, 1.0)
        return p_values, is_bound


def _tail(sums: Floats, steps: Floats, fourth: Floats, sixth: Floats) -> Floats:
    """Return the proportion of sign vectors with a sum of at least `sums`, of unit variance."""
    at = np.maximum(sums - steps, 0.0)
    t = at.copy()
    for _ in range(N_STEPS):
        slope = t - fourth * t**3 / 3 + 2 * sixth * t**5 / 15
        t -= (slope - at) / (1 - fourth * t**2 + 2 * sixth * t**4 / 3)
    cumulant = t**2 / 2 - fourth * t**4 / 12 + sixth * t**6 / 45
    curvature = 1 - fourth * t**2 + 2 * sixth * t**4 / 3
    w = np.sqrt(np.maximum(2 * (t * at - cumulant), 0.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = np.where(steps > 0, np.sinh(t * steps) / steps, t) * np.sqrt(curvature)
        far = scipy.special.ndtr(-w) + _density(w) * (1 / u - 1 / w)
    near = scipy.special.ndtr(-at) - _density(at) * fourth * (at**3 - 3 * at) / 12
    tails = np.where(at < CLOSE, near, far)
    return np.asarray(np.where(sums <= steps, 0.5, tails))


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi))


@kernel
def _add_powers(
    columns: Floats, first: Indices, second: Indices, values: Floats, start: int, stop: int
) -> None:
    """Write sums of powers of some columns or differences: in two passes over their users."""
    for pair in range(start, stop):
        one, two = first[pair], second[pair]
        n_known, n_differing, total, least, most = 0, 0, 0.0, np.inf, -np.inf
        for user in range(columns.shape[1]):
            value = columns[one, user]
            if two >= 0:
                value -= columns[two, user]
            if not np.isnan(value):
                n_known += 1
                total += value
                n_differing += value != 0
                if value < least:
                    least = value
                if value > most:
                    most = value
        mean = total / n_known if n_known else np.nan
        c2, c3, c4, r2, r4, r6 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for user in range(columns.shape[1]):
            value = columns[one, user]
            if two >= 0:
                value -= columns[two, user]
            if not np.isnan(value):
                deviation = value - mean
                square = deviation * deviation
                c2 += square
                c3 += square * deviation
                c4 += square * square
                raw = value * value
                r2 += raw
                r4 += raw * raw
                r6 += raw * raw * raw
        values[0, pair], values[1, pair], values[2, pair] = n_known, n_differing, mean
        values[3, pair], values[4, pair] = least, most
        values[5, pair], values[6, pair], values[7, pair] = c2, c3, c4
        values[8, pair], values[9, pair], values[10, pair] = r2, r4, r6


@kernel
def _find_step(
    columns: Floats,
    first: Indices,
    second: Indices,
    tested: Indices,
    largest: Floats,
    steps: Floats,
    start: int,
    stop: int,
) -> None:
    """Write the greatest step of which all values are multiples; 0 where it is too small to matter.

    Euclid's algorithm over the users: a value that is not a multiple makes its rest the next step.
    """
    for place in range(start, stop):
        pair = tested[place]
        one, two, most = first[pair], second[pair], largest[pair]
        step, is_multiple = most, False
        while step > COARSEST * most and not is_multiple:
            is_multiple = True
            for user in range(columns.shape[1]):
                value = columns[one, user] - (columns[two, user] if two >= 0 else 0.0)
                if not np.isnan(value):
                    rest = abs(value / step - np.rint(value / step)) * step
                    if rest > EXACT * most:
                        step, is_multiple = rest, False
                        if step <= COARSEST * most:
                            break
        steps[pair] = step if is_multiple else 0.0
