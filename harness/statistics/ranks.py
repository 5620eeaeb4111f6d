"""Compare algorithms on several data sets: by their ranks, and by the size of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness._util import seeds
from harness._util.arguments import MOST_SCORE, as_array, checked, unit_fault
from harness._util.libraries import pd, scipy
from harness.errors import ComparisonError, counted
from harness.statistics.comparison import table_fault
from harness.statistics.corrections import adjust, ranked_letters
from harness.statistics.paired import check_words
from harness.statistics.resampling import Floats

PostHoc = Literal["nemenyi", "holm"]
N_DRAWS = 50_000  # from the posterior of the Bayesian test
PRIOR = 0.5  # weight of the prior, a data set on which both algorithms are equal


class Friedman(NamedTuple):
    """Friedman's test that all algorithms have the same mean rank, and Iman and Davenport's."""

    chi_square: float
    """Corrected for ties; `n_algorithms` - 1 degrees of freedom."""
    p_chi_square: float
    f: float
    """Iman and Davenport's; as many degrees of freedom, and (`n_datasets` - 1) times as many."""
    p: float
    """The p-value of `f`; at least the chance that all data sets rank the algorithms alike."""


@dataclass(frozen=True, eq=False)
class RankComparison:
    """The comparison of algorithms on several data sets.

    Parameters
    ----------
    ranks : ndarray of float, shape (n_datasets, n_algorithms)
        From 1, the best; equal scores share the mean of their ranks.
    algorithms : DataFrame
        A row for each algorithm, in the order given: ``algorithm``, ``mean_rank``, ``letters`` (two
        share one if they are not significantly different, and only then) and ``wins``, on how many
        data sets it is best; equal ones share a win.
    pairs : DataFrame
        A row for each pair, the one with the better mean rank ``first``: ``second``, the
        ``rank_difference``, its ``p``, ``p_adjusted`` for all pairs, ``significant``; and
        ``p_first_better``, ``p_equivalent`` and ``p_second_better``, the posterior probabilities
        that this is the most probable of the three.
    friedman : Friedman
    critical_difference : float
        Of mean ranks, by Nemenyi's test.
    post_hoc, rope, level, seed
        The settings.
    note : str
        Why no two algorithms could differ significantly; empty where they could.
    """

    ranks: Floats
    algorithms: pd.DataFrame
    pairs: pd.DataFrame
    friedman: Friedman
    critical_difference: float
    post_hoc: PostHoc
    rope: float
    level: float
    seed: int
    note: str = ""


@checked(ComparisonError)
def compare_ranks(
    scores: ArrayLike,
    names: Sequence[str],
    *,
    higher_is_better: bool = True,
    post_hoc: PostHoc = "nemenyi",
    rope: float = 0.01,
    level: float = 0.05,
    seed: int = 0,
) -> RankComparison:
    r"""Compare algorithms by one score of each on each data set.

    Friedman's test with Iman and Davenport's correction asks whether there is any difference;
    Nemenyi's test, or Holm's correction of all pairs, which pairs differ [1]_ [2]_. Both look only
    at ranks. The Bayesian signed-rank test looks at the size of differences, and can find two
    algorithms equivalent [3]_.

    With :math:`N` data sets and :math:`k` algorithms, mean ranks are compared by
    :math:`z = (R_i - R_j) / \sqrt{k(k + 1) / 6N}`. Its distribution is valid for many data sets;
    with few, p is at least the exact one of the largest difference there can be,
    :math:`2 (k(k - 1))^{-N}`.

    Parameters
    ----------
    scores : array_like of float, shape (n_datasets, n_algorithms)
    names : sequence of str, length n_algorithms
    higher_is_better : bool
    post_hoc : {"nemenyi", "holm"}
    rope : float
        Region of practical equivalence, in the units of the scores: algorithms that differ by no
        more are equivalent.
    level : float
        A difference is significant if its adjusted p-value is at most this.
    seed : int
        Seed of the draws from the posterior.

    Raises
    ------
    ComparisonError
        If there are fewer than two data sets or algorithms, a score is missing, or a setting is
        unknown or out of its range.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       2006, https://jmlr.org/papers/v7/demsar06a.html.
    .. [2] S. Garcia, F. Herrera, "An extension on 'Statistical comparisons of classifiers over
       multiple data sets' for all pairwise comparisons", JMLR 9, 2008,
       https://jmlr.org/papers/v9/garcia08a.html.
    .. [3] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis", JMLR 18(77), 2017,
       https://jmlr.org/papers/v18/16-305.html.

    Examples
    --------
    >>> scores = [[0.8, 0.7], [0.6, 0.5], [0.9, 0.7], [0.4, 0.3], [0.5, 0.4], [0.7, 0.6]]
    >>> found = compare_ranks(scores, ["A", "B"])
    >>> found.algorithms[["mean_rank", "letters", "wins"]].to_numpy().tolist()
    [[1.0, 'a', 6.0], [2.0, 'b', 0.0]]
    >>> round(float(found.friedman.p), 5)  # that six data sets agree by chance: 1 / 32
    0.03125
    """
    table = as_array("comparison: scores", scores, error=ComparisonError)
    if fault := next(filter(None, _faults(table, names, rope, level)), ""):
        raise ComparisonError(f"comparison of ranks: {fault}")
    check_words("comparison of ranks", post_hoc=(post_hoc, PostHoc))
    n, k = table.shape
    signed = table if higher_is_better else -table
    ranks = scipy.stats.rankdata(-signed, axis=1)
    means = ranks.mean(axis=0)
    firsts, seconds = np.triu_indices(k, 1)
    turned = means[firsts] > means[seconds]
    firsts, seconds = np.where(turned, seconds, firsts), np.where(turned, firsts, seconds)
    differences = means[seconds] - means[firsts]
    p, adjusted = p_of_ranks(differences, n, k, post_hoc)
    weights = seeds.generator(seed, "signed rank").dirichlet([PRIOR, *[1.0] * n], N_DRAWS)
    posteriors = [
        signed_rank_posterior(signed[:, first] - signed[:, second], rope, weights)
        for first, second in zip(firsts, seconds, strict=True)
    ]
    pairs = pd.DataFrame(
        {
            "first": [names[i] for i in firsts.tolist()],
            "second": [names[i] for i in seconds.tolist()],
            "rank_difference": differences,
            "p": p,
            "p_adjusted": adjusted,
            "significant": adjusted <= level,
        }
    )
    pairs[["p_first_better", "p_equivalent", "p_second_better"]] = posteriors
    is_best = signed == signed.max(axis=1, keepdims=True)
    algorithms = pd.DataFrame(
        {
            "algorithm": list(names),
            "mean_rank": means,
            "letters": ranked_letters(means, adjusted <= level),
            "wins": (is_best / is_best.sum(axis=1, keepdims=True)).sum(axis=0),
        }
    )
    quantile = scipy.stats.studentized_range.ppf(1 - level, k, np.inf)
    critical = float(quantile * np.sqrt(k * (k + 1) / (12 * n)))
    settings = (critical, post_hoc, rope, level, seed, _undecidable(n, k, post_hoc, level))
    return RankComparison(ranks, algorithms, pairs, friedman(ranks), *settings)


def friedman(ranks: Floats) -> Friedman:
    """Return Friedman's test of ranks, shape (n_datasets, n_algorithms)."""
    n, k = ranks.shape
    spread = float((ranks**2).sum()) - n * k * (k + 1) ** 2 / 4
    if spread < 1e-9:  # every data set calls all algorithms equal
        return Friedman(0.0, 1.0, 0.0, 1.0)
    sums = ranks.sum(axis=0) - n * (k + 1) / 2
    chi_square = (k - 1) * float((sums**2).sum()) / spread
    rest = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / rest if rest > 1e-9 else np.inf
    p = scipy.stats.f.sf(f, k - 1, (k - 1) * (n - 1)) if np.isfinite(f) else 0.0
    p_chi_square = float(scipy.stats.chi2.sf(chi_square, k - 1))
    least = np.exp((1 - n) * scipy.special.gammaln(k + 1))
    return Friedman(chi_square, p_chi_square, f, max(float(p), least))


def p_of_ranks(differences: Floats, n: int, k: int, post_hoc: PostHoc) -> tuple[Floats, Floats]:
    """Return the p-values of differences of mean ranks of all pairs, and the adjusted ones."""
    z = np.abs(differences) / np.sqrt(k * (k + 1) / (6 * n))
    n_pairs = k * (k - 1) // 2
    least = 2.0 * float(k * (k - 1)) ** -n
    p = np.maximum(2 * scipy.stats.norm.sf(z), least)
    if post_hoc == "holm":
        return p, adjust(p, "holm")
    nemenyi = scipy.stats.studentized_range.sf(z * np.sqrt(2), k, np.inf)
    return p, np.clip(nemenyi, min(n_pairs * least, 1.0), 1.0)


def signed_rank_posterior(
    differences: Floats, rope: float, weights: Floats
) -> tuple[float, float, float]:
    """Return the probabilities that first is better, that both are equivalent, that second is.

    The distribution of the differences is a Dirichlet process: `weights`, of shape (n_draws,
    1 + n_datasets), are draws of the weights of a difference of zero, the prior, and of each data
    set. In a draw the weight of all pairs of data sets whose mean difference is above the region of
    practical equivalence, within it or below it says which of the three holds.
    """
    padded = np.array([0.0, *differences])
    sums = padded[:, None] + padded

    def mass(sign: int) -> Floats:
        beyond = np.heaviside(sign * sums - 2 * rope, 0.5)
        return np.asarray(np.einsum("ij,ij->i", weights @ beyond, weights))

    above, below = mass(1), mass(-1)
    most = np.argmax([above, 1 - above - below, below], axis=0)
    first, equal, second = (np.bincount(most, minlength=3) / len(most)).tolist()
    return first, equal, second


def _undecidable(n: int, k: int, post_hoc: PostHoc, level: float) -> str:
    """Return why no difference can be significant, if none can, and how many data sets can."""

    def least(n_datasets: int) -> float:
        differences = np.array([k - 1.0, *[0.0] * (k * (k - 1) // 2 - 1)])
        return float(p_of_ranks(differences, n_datasets, k, post_hoc)[1][0])

    if least(n) <= level:
        return ""
    enough = next(size for size in count(n) if least(size) <= level)
    return (
        f"cannot decide: with {counted(n, 'data set')} and {counted(k, 'algorithm')} no difference "
        f"of mean ranks can be significant, the smallest p-value is {least(n):.2g}; "
        f"{counted(enough, 'data set')} or more can"
    )


def _faults(table: Floats, names: Sequence[str], rope: float, level: float) -> Iterator[str]:
    yield table_fault(table, names, "data set")
    if len(table) < 2:
        yield f"{counted(len(table), 'data set')}; give two or more"
    if not np.isfinite(table).all():
        yield "a score is missing or infinite; leave its algorithm or its data set out"
    elif fault := unit_fault(MOST_SCORE, table):
        yield f"the scores have {fault}"
    if not 0 <= rope < np.inf:
        yield f"a region of practical equivalence of {rope}; use 0 or more, such as 0.01"
    if not 0 < level < 1:
        yield f"level {level}; use one such as 0.05"
