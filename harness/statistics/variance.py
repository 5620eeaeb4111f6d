"""Standard errors over users and seeds, and variance components.

A difference of two algorithms varies over users and over seeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness._util.arguments import MOST_SCORE, checked, unit_fault
from harness.errors import ComparisonError, counted
from harness.statistics.pairs import PairedTest, ScoredPairs
from harness.statistics.resampling import Floats
from harness.statistics.standard_error import FEWEST_SEEDS, FEWEST_USERS, StandardError, over_users


def over_seeds(
    pairs: ScoredPairs, by_seed: Floats, test: PairedTest, ratio: float
) -> StandardError:
    """Return the standard errors of the columns and then of their pairs, over users and seeds."""
    n = pairs.table.shape[1]
    first, second = np.append(np.arange(n), pairs.firsts), np.append([-1] * n, pairs.seconds)
    at_once = len(first) if pairs.moments is None else 1  # in memory

    def differences(scores: Floats, part: slice) -> Floats:
        is_alone = second[part] < 0
        partners = np.where(is_alone, 0.0, scores[..., second[part]])
        return np.ascontiguousarray(scores[..., first[part]] - partners)

    errors = []
    for start in range(0, len(first), at_once):
        part = slice(start, start + at_once)
        scores = differences(by_seed, part)
        if test == "two-way":
            errors.append(two_way(differences(pairs.table, part), scores))
        else:
            errors.append(corrected(scores, ratio))
    return StandardError(*(np.concatenate(parts) for parts in zip(*errors, strict=True)))


def note_of_few(n_seeds: int, n_users: int) -> str:
    """Return why the two-way test may not keep its level; empty for enough seeds and users."""
    counts = (("seed", n_seeds, FEWEST_SEEDS), ("user", n_users, FEWEST_USERS))
    few = [counted(n, noun) for noun, n, fewest in counts if n < fewest]
    return bool(few) * (
        f"with {' and '.join(few)} the test may find differences that are not there, and "
        f"misses many that are; it keeps its level from {FEWEST_SEEDS} seeds and "
        f"{FEWEST_USERS} users on"
    )


def two_way(values: Floats, by_seed: Floats) -> StandardError:
    r"""Return the standard error of means over users and seeds, both random.

    With mean squares of users, seeds and their interaction of a two-way analysis of variance, the
    variance of the mean of n users and S seeds is
    :math:`(MS_u + MS_s - MS_{us}) / (n S)`, and no less than from only users or only seeds. The
    degrees of freedom are Satterthwaite's (1946, doi:10.2307/3002019).

    Parameters
    ----------
    values : ndarray of float64, shape (n_users, m)
        The score of each user, averaged over seeds; NaN where there is none.
    by_seed : ndarray of float64, shape (n_seeds, n_users, m)
        The score under each seed. If fewer than half of the users have one under every seed, as
        where each seed tests other users, the means of the seeds are the observations.

    Examples
    --------
    >>> ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8.0]])
    >>> found = two_way(ratings.mean(axis=1)[:, None], ratings.T[:, :, None])
    >>> found.error.round(2).tolist(), found.degrees.round(1).tolist()
    ([1.53], [4.3])
    """
    n_seeds = len(by_seed)
    users = over_users(values)
    error, degrees = np.empty((2, values.shape[1]))
    for column in range(values.shape[1]):
        table = by_seed[:, :, column]
        complete = table[:, ~np.isnan(table).any(axis=0)]
        n = complete.shape[1]
        of_users, df_users = users.error[column] ** 2, users.degrees[column]
        if n < 2 or n < np.count_nonzero(~np.isnan(values[:, column])) / 2:
            (error[column],), (degrees[column],) = over_users(_means(table.T)[:, None])
            continue
        by_user, means = complete.mean(axis=0), complete.mean(axis=1)
        of_seeds = means.var(ddof=1) / n_seeds
        rest = complete - by_user - means[:, None] + means.mean()
        df_rest = (n - 1) * (n_seeds - 1)
        of_both = (rest**2).sum() / df_rest / (n * n_seeds)
        variance = max(of_users, of_seeds, of_users + of_seeds - of_both)
        squares = of_users**2 / df_users + of_seeds**2 / (n_seeds - 1) + of_both**2 / df_rest
        error[column] = variance**0.5
        degrees[column] = variance**2 / squares if squares > 0 else df_users
    return StandardError(error, degrees)


def corrected(by_part: Floats, ratio: float) -> StandardError:
    r"""Return Nadeau and Bengio's standard error of means over parts that share training ratings.

    :math:`\sqrt{(1/J + n_{test} / n_{train}) s^2}` with the variance :math:`s^2` of the means of J
    folds and seeds, J - 1 degrees of freedom (2003, doi:10.1023/A:1024068626366).

    Parameters
    ----------
    by_part : ndarray of float64, shape (n_parts, n_users, m)
        The score of each user in each part; NaN where there is none.
    ratio : float
        Test ratings for each training rating.
    """
    means = np.stack([_means(part) for part in by_part])
    n = len(means)
    error = np.sqrt((1 / n + ratio) * means.var(axis=0, ddof=1))
    return StandardError(error, np.full(len(error), n - 1.0))


def _means(values: Floats) -> Floats:
    """Return the mean of what is known in each column; NaN for none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=0) / np.count_nonzero(~np.isnan(values), axis=0))


@checked(ComparisonError)
def components(scores: Floats, levels: Sequence[str]) -> dict[str, float]:
    """Return the variance components of the scores of one algorithm.

    Users are crossed with seeds; the seeds of each level are nested in the level before.
    Mean squares are set equal to their expected values (method of moments); an estimate below 0 is
    given as 0.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_users, n_first, n_second, ...)
        For each user, the score under each seed of each level; users with a NaN are left out.
    levels : sequence of str
        The name of each level; levels of one seed are left out.

    Returns
    -------
    dict of str to float
        Variances, in the squared unit of the scores: ``users``, each level, and ``rest``, for
        users under other seeds. Empty for fewer than two users, or where no level has two seeds.

    Examples
    --------
    >>> first, second = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8]], [[7, 1, 2, 6], [10, 5, 6, 9]]
    >>> targets = np.array([*first, *second, [6, 2, 4, 7]], float)  # Shrout and Fleiss 1979
    >>> found = components(targets, ["judges"])
    >>> {name: round(value, 2) for name, value in found.items()}
    {'users': 2.56, 'judges': 5.24, 'rest': 1.02}
    """
    if scores.ndim != len(levels) + 1:
        raise ComparisonError(f"scores of shape {scores.shape}; give a level for each axis but one")
    if fault := unit_fault(MOST_SCORE, scores):
        raise ComparisonError(f"components: the scores have {fault}")
    return {name: max(0.0, value) for name, value in _moments(scores, levels).items()}


def _moments(scores: Floats, levels: Sequence[str]) -> dict[str, float]:
    """Return the components as the method of moments gives them, also below 0."""
    sizes = scores.shape[1:]
    varying = [(name, n) for name, n in zip(levels, sizes, strict=True) if n > 1]
    table = scores.reshape(len(scores), *(n for _, n in varying))
    table = table[~np.isnan(table).any(axis=tuple(range(1, table.ndim)))]
    n_users = len(table)
    if n_users < 2 or not varying:
        return {}
    # By level, how many leaves a node has, the seeds' main effect and the rest, both per leaf.
    main, rest, leaves = [], [], []
    above = table.mean(axis=tuple(range(1, table.ndim)), keepdims=True)
    total = above.var(ddof=1)
    n_parents = 1
    for depth in range(1, table.ndim):
        node = table.mean(axis=tuple(range(depth + 1, table.ndim)), keepdims=True)
        per_node = int(np.prod(table.shape[depth + 1 :], dtype=int))
        free = n_parents * (table.shape[depth] - 1)
        deviations = node - above
        of_all = deviations.mean(axis=0, keepdims=True)
        mean_square = n_users * per_node * (of_all**2).sum() / free
        of_users = per_node * ((deviations - of_all) ** 2).sum() / free / (n_users - 1)
        main.append((mean_square - of_users) / n_users)
        rest.append(of_users)
        leaves.append(per_node)
        above, n_parents = node, n_parents * table.shape[depth]
    n_leaves = n_parents
    below = [*main[1:], 0.0]
    components = {"users": total - rest[0] / n_leaves}
    for (name, _), mean_square, lower, n in zip(varying, main, below, leaves, strict=True):
        components[name] = (mean_square - lower) / n
    lower_rest = [*rest[1:], 0.0]
    components["rest"] = sum((a - b) / n for a, b, n in zip(rest, lower_rest, leaves, strict=True))
    return {name: float(value) for name, value in components.items()}
