"""The power of a paired test, and how many users or seeds it needs for a difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import as_array, checked
from harness._util.libraries import scipy
from harness.errors import ComparisonError
from harness.statistics.resampling import Floats
from harness.statistics.variance import components

MOST_USERS, MOST_SEEDS = 10**9, 10_000
"""The ends of the search for a number that is enough."""
N_POINTS = 2_048
"""Points at which the mean squares of a test are evaluated."""


class Spread(NamedTuple):
    """Variances of the difference of two algorithms, in the squared unit of the metric.

    Parameters
    ----------
    users : float
        Between users.
    seeds : float
        Between seeds, for all users together; 0 for one seed.
    rest : float
        Of one user under other seeds; 0 for one seed.
    """

    users: float
    seeds: float = 0.0
    rest: float = 0.0


@checked(ComparisonError)
def spread(differences: ArrayLike) -> Spread:
    """Return the variance components of differences.

    Parameters
    ----------
    differences : array_like of float, shape (n_users,) or (n_users, n_seeds)
        One algorithm less another, for each user, or for each user and seed; a user with a NaN is
        left out.

    Raises
    ------
    ComparisonError
        If there are fewer than two users with every difference.

    Examples
    --------
    >>> spread([1.0, 2.0, 3.0, 4.0])
    Spread(users=1.6666666666666667, seeds=0.0, rest=0.0)
    """
    table = as_array("spread: differences", differences, error=ComparisonError)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim == 2:
        table = table[~np.isnan(table).any(axis=1)]
    if table.ndim != 2 or len(table) < 2 or not table.shape[1]:
        raise ComparisonError(
            f"spread: differences of shape {np.shape(differences)}; give two users or more, with "
            "a difference under every seed"
        )
    if table.shape[1] == 1:
        return Spread(float(table.var(ddof=1)))
    parts = components(table, ["seeds"])
    return Spread(parts["users"], parts["seeds"], parts["rest"])


def reached(
    difference: float, spread: Spread, n_users: int, n_seeds: int | None, level: float
) -> float:
    r"""Return the power of a two-sided test: the chance that it finds a difference.

    Over only users (`n_seeds` None) it is the power of the paired t-test, from the noncentral t
    distribution of :math:`n - 1` degrees of freedom and noncentrality
    :math:`\delta \sqrt n / \sigma`; the randomisation test has the same with many users. Over
    users and seeds it is the power of `variance.two_way`: the mean squares are independent
    chi-squares times their expected values, the standard error and its degrees of freedom follow
    from them, and the power is averaged over a fixed set of points.

    Parameters
    ----------
    difference : float
        True difference, in the unit of the metric.
    spread : Spread
    n_users : int
        At least 2.
    n_seeds : int or None
        At least 2; None for a claim about fitted models.
    level : float
        Of the test, in (0, 1).

    Examples
    --------
    >>> round(reached(0.5, Spread(1.0), 34, None, 0.05), 3)
    0.808
    """
    return _law(spread, n_users, n_seeds, level)(abs(difference))


def _law(
    spread: Spread, n_users: int, n_seeds: int | None, level: float
) -> Callable[[float], float]:
    """Return the power of a test as a function of the size of the true difference."""
    variance = spread.users / n_users
    if n_seeds is not None:
        variance += spread.seeds / n_seeds + spread.rest / (n_users * n_seeds)
    if variance <= 0:
        return lambda size: 1.0 if size > 0 else level
    true, tail = math.sqrt(variance), scipy.special.ndtr
    if n_seeds is None:
        critical = _over_users(n_users - 1.0, level)
    else:
        critical = _two_way(spread, n_users, n_seeds, level) / true

    def power(size: float) -> float:
        shift = size / true
        return float((tail(shift - critical) + tail(-shift - critical)).mean())

    return power


def _over_users(degrees: float, level: float) -> Floats:
    """Return critical values of the t-test in true standard errors, at quantiles of the estimated.

    SciPy's noncentral t gives NaN far from the centre; a test compares both where it does not.
    """
    special = scipy.special
    shares = (0.5 + np.arange(N_POINTS)) / N_POINTS
    ratio = np.sqrt(special.chdtri(degrees, 1 - shares) / degrees)
    return np.asarray(special.stdtrit(degrees, 1 - level / 2) * ratio)


def _points() -> Floats:
    """Return points that fill the unit cube evenly, shape (N_POINTS, 3): an additive recurrence."""
    root = 1.22074408460575947536  # of x**4 = x + 1
    return (0.5 + np.arange(1, N_POINTS + 1)[:, None] / root ** np.arange(1, 4)) % 1.0


def _two_way(spread: Spread, n_users: int, n_seeds: int, level: float) -> Floats:
    """Return critical values of the test with the standard error of `variance.two_way`."""
    special = scipy.special
    cells = n_users * n_seeds
    degrees = np.array([n_users - 1, n_seeds - 1, (n_users - 1) * (n_seeds - 1)], float)
    expected = np.array(
        [
            spread.rest + n_seeds * spread.users,
            spread.rest + n_users * spread.seeds,
            spread.rest,
        ]
    )
    squares = expected / cells * special.chdtri(degrees, 1 - _points()) / degrees
    of_users, of_seeds, of_both = squares.T
    estimated = np.maximum(np.maximum(of_users, of_seeds), of_users + of_seeds - of_both)
    free = estimated**2 / (squares**2 / degrees).sum(axis=1)
    return np.asarray(special.stdtrit(free, 1 - level / 2) * np.sqrt(estimated))


def detectable(
    spread: Spread, n_users: int, n_seeds: int | None, level: float, power: float
) -> float:
    """Return the smallest true difference that a test finds with a power; see `reached`.

    >>> round(detectable(Spread(1.0), 34, None, 0.05, 0.8), 3)
    0.495
    """
    if spread == (0.0, 0.0, 0.0):
        return 0.0

    law = _law(spread, n_users, n_seeds, level)

    def lacking(size: float) -> float:
        return law(size) - power

    high = math.sqrt(sum(spread))
    for _ in range(200):
        if lacking(high) > 0:
            break
        high *= 2
    return float(scipy.optimize.brentq(lacking, 0.0, high, xtol=1e-12 * high, rtol=1e-10))


def users_needed(
    difference: float, spread: Spread, n_seeds: int | None, level: float, power: float
) -> int | None:
    """Return the least number of users with which a test finds a difference; None for no number.

    Under too few seeds no number is enough, because what seeds vary does not become less with more
    users.

    >>> users_needed(0.5, Spread(1.0), None, 0.05, 0.8)
    34
    """
    by_users, rest = spread.users, 0.0
    if n_seeds is not None:
        by_users, rest = by_users + spread.rest / n_seeds, spread.seeds / n_seeds
    start = _by_normal(difference, by_users, rest, level, power)
    return _least(
        lambda n: reached(difference, spread, n, n_seeds, level) >= power, start, MOST_USERS
    )


def seeds_needed(
    difference: float, spread: Spread, n_users: int, level: float, power: float
) -> int | None:
    """Return the least number of seeds with which a test finds a difference; None for no number.

    With too few users no number is enough.

    >>> seeds_needed(0.5, Spread(1.0, 0.1, 0.1), 100, 0.05, 0.8)
    7
    """
    by_seeds = spread.seeds + spread.rest / n_users
    start = _by_normal(difference, by_seeds, spread.users / n_users, level, power)
    return _least(
        lambda n: reached(difference, spread, n_users, n, level) >= power, start, MOST_SEEDS
    )


def _by_normal(difference: float, divided: float, rest: float, level: float, power: float) -> float:
    """Return which n is enough if the test has a normal law of variance `divided` / n + `rest`."""
    quantile = scipy.special.ndtri
    most = (abs(difference) / (quantile(1 - level / 2) + quantile(power))) ** 2 - rest
    return float(divided / most) if most > 0 else math.inf


def _least(is_enough: Callable[[int], bool], start: float, most: int) -> int | None:
    """Return the least number from 2 to `most` that is enough, if one is; look near `start` first.

    More than enough is enough too.
    """
    if not is_enough(most):
        return None
    low, high, step = 1, most, 1
    number = int(min(max(start, 2), most - 1))
    while high - low > 1:
        if is_enough(number):
            high = number
        else:
            low = number
        if low == 1:
            number = max(high - step, 2)
        elif high == most:
            number = min(low + step, most - 1)
        else:
            number = (low + high) // 2
        step *= 2
    return high
