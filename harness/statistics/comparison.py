"""Compare algorithms by the scores of the same users: with a baseline, and all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness._util.arguments import MOST_SCORE, as_array, checked, unit_fault
from harness._util.libraries import pd, scipy
from harness.errors import ComparisonError, counted, suggestion
from harness.statistics.corrections import CORRECTIONS, Correction, adjust, ranked_letters
from harness.statistics.intervals import IntervalMethod
from harness.statistics.paired import DEFAULT_RESAMPLES, check_words
from harness.statistics.pairs import MARGIN, SEED_TESTS, PairedTest, ScoredPairs, with_power
from harness.statistics.resampling import MANY_USERS, MOST_RESAMPLES, Draws, Floats
from harness.statistics.standard_error import StandardError
from harness.statistics.variance import note_of_few, over_seeds


@dataclass(frozen=True, eq=False)
class Comparison:
    """The statistics of algorithms with scores for the same users.

    Parameters
    ----------
    algorithms : DataFrame
        A row for each algorithm, in the order given: ``algorithm``, ``mean``, the bounds ``low``
        and ``high`` of its interval, ``n_users`` with a score, and ``letters``: two algorithms
        share a letter if they are not significantly different, and only then. The best mean has the
        first letter, unless another algorithm is better for the users that both have.
    pairs : DataFrame
        A row for each pair of algorithms: ``first``, ``second``, the mean ``difference`` of first
        less second, ``low`` and ``high`` of its interval (of only this pair, not corrected),
        ``effect_size`` (Cohen's d_z), ``p``, ``p_is_bound``, whether p is an upper bound because no
        resample was as extreme, ``p_adjusted`` among all pairs, ``significant``, ``n_users`` with a
        score from both and ``n_left_out`` without; ``n_differing``, how many of them have two
        different scores, and ``can_decide``, whether so many can give a significant difference;
        ``opposite``, whether the test sees the two the other way round than the mean difference, as
        Wilcoxon's can: such a pair has no better side, so it is not ``significant`` whatever p is;
        ``standard_error`` and ``degrees`` of freedom of
        the difference, and ``detectable``, the difference that is found with a power of 80%, at the
        level that the smallest p-value is compared with. With a margin also ``p_equivalent``, not
        corrected, and ``equivalent``: whether the difference is significantly within the margin.
    baseline : DataFrame or None
        The same for each algorithm less the baseline, ``p_adjusted`` only among these.
    test, correction, interval, n_resamples, confidence, seed
        The settings.
    note : str
        Why no difference could have been significant, or the level may not hold; else empty.
    margin : float or None
        Of the test of equivalence.
    from_moments : bool
        Whether intervals, and p-values of the randomisation test, are computed from moments and
        not from resamples, because there are many users and no number of resamples is set.
    """

    algorithms: pd.DataFrame
    pairs: pd.DataFrame
    baseline: pd.DataFrame | None
    test: PairedTest
    correction: Correction
    interval: IntervalMethod
    n_resamples: int | None
    confidence: float
    seed: int
    note: str = ""
    margin: float | None = None
    from_moments: bool = False

    def describe(self) -> str:
        """Return how the comparison was made, as a sentence for a caption."""
        n_resamples = self.n_resamples or DEFAULT_RESAMPLES
        closer = "" if self.n_resamples else "; where none is as extreme, p is an upper bound"
        flips = f"{n_resamples:,} sign flips{closer}"
        resamples = f"{n_resamples:,} resamples"
        if self.from_moments:
            flips, resamples = "all sign flips, by saddlepoint approximation", "from moments"
        test = {
            "randomisation": f"randomisation test ({flips}) over users",
            "t": "paired t-test over users",
            "wilcoxon": "Wilcoxon's signed-rank test over users",
            "two-way": "t-test with random effects of users and seeds",
            "nadeau-bengio": "t-test of Nadeau and Bengio over folds and seeds",
        }[self.test]
        correction = CORRECTIONS[self.correction].title
        interval = {"bca": "BCa", "percentile": "percentile"}[self.interval]
        interval += f" bootstrap over users ({resamples})"
        if self.test in SEED_TESTS:
            interval = "the same standard errors"
        ranks = ""
        if self.test == "wilcoxon":
            ranks = " A pair whose ranks and mean difference disagree is not significant."
        margin = ""
        if self.margin is not None:
            margin = f" Equivalent: significantly within ±{self.margin:g} (TOST, same correction)."
        return (
            f"Two-sided {test} with {correction}, level {1 - self.confidence:.3g}; "
            f"{100 * self.confidence:.4g}% intervals by {interval}. Algorithms that share a letter "
            f"are not significantly different.{ranks}{margin}"
            f"{f' {self.note[0].upper()}{self.note[1:]}.' if self.note else ''}"
        )


@checked(ComparisonError)
def compare(
    scores: ArrayLike,
    names: Sequence[str],
    *,
    baseline: str | None = None,
    test: PairedTest = "randomisation",
    correction: Correction = "holm",
    interval: IntervalMethod = "bca",
    n_resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    higher_is_better: bool = True,
    by_seed: ArrayLike | None = None,
    ratio: float | None = None,
    margin: float | None = None,
    draws: Draws | None = None,
) -> Comparison:
    """Compare algorithms by the scores of the same users.

    Parameters
    ----------
    scores : array_like of float, shape (n_users, n_algorithms)
        One row for each user, who must not occur twice: average the folds of a user first, which
        are not independent. A user whose score is NaN for an algorithm is left out of its mean and
        of its pairs.
    names : sequence of str, length n_algorithms
        Labels, all different.
    baseline : str, optional
        The algorithm to compare the others with.
    test : {"randomisation", "t", "wilcoxon", "two-way", "nadeau-bengio"}
        Randomisation and t-test keep their level with few and with many users; Wilcoxon's test
        does not with thousands of them [2]_. These three are over users, about fitted models. The
        others are about algorithms: random effects of users and seeds (`variance.two_way`), and
        Nadeau and Bengio's test over folds and seeds (`variance.corrected`), both with t intervals.
    correction : {"holm", "benjamini-hochberg", "none"}
        For the number of comparisons.
    interval : {"bca", "percentile"}
        See `bootstrap_interval`.
    n_resamples : int, optional
        Of the randomisation test and of the bootstrap. Left out, there are 10,000, and the
        randomisation test uses more for pairs where none of them is as extreme as the scores, so
        that it can decide any number of comparisons; see `randomise`. From 2,000 users on, both
        are then computed from moments, as of all resamples; see `harness.statistics.expansion`.
    confidence : float
        In (0, 1), of the intervals; a difference is significant if its adjusted p-value is at most
        1 - confidence.
    seed : int
        Seed of the resamples.
    higher_is_better : bool
        Whether the highest mean gets the first letter.
    by_seed : array_like of float, shape (n_seeds, n_users, n_algorithms), optional
        For the tests about algorithms: the scores under each seed, or in each fold and seed; those
        of a user may be NaN where `scores` has their mean.
    ratio : float, optional
        Of test to training ratings in a fold, for Nadeau and Bengio's test.
    margin : float, optional
        Above 0, in the unit of the scores: test too whether two algorithms differ by less.
    draws : Draws, optional
        In the place of `seed`, for several comparisons of the same users, such as by several
        metrics: users are then drawn once, and the intervals follow from its seed.

    Raises
    ------
    ComparisonError
        If there are fewer than two algorithms, names or scores do not fit, a score is infinite,
        two algorithms have no user in common, or a setting is unknown or out of its range.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance tests
       for information retrieval evaluation", CIKM 2007, doi:10.1145/1321440.1321528.
    .. [2] N. Ihemelandu, M. D. Ekstrand, "Inference at scale: significance testing for large search
       and recommendation experiments", SIGIR 2023, doi:10.48550/arXiv.2305.02461.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> easy = rng.random(200)
    >>> scores = np.column_stack([easy + 0.1, easy + rng.normal(0, 0.2, 200), easy])
    >>> found = compare(scores, ["A", "B", "C"], baseline="C")
    >>> found.algorithms["letters"].tolist()
    ['a', 'b', 'b']
    >>> found.baseline[["first", "significant"]].to_numpy().tolist()
    [['A', True], ['B', False]]
    """
    table, draws = _table(scores, n_resamples), draws or Draws(seed)
    seeds = None
    if by_seed is not None:
        seeds = as_array("comparison: by_seed", by_seed, error=ComparisonError)
    faults = _faults(table, names, baseline, n_resamples, confidence, test, seeds, ratio, margin)
    if fault := next(filter(None, faults), ""):
        raise ComparisonError(f"comparison: {fault}")
    check_words(
        "comparison",
        test=(test, PairedTest), correction=(correction, Correction),
        interval=(interval, IntervalMethod),
    )  # fmt: skip
    n, level = len(names), 1 - confidence + 1e-12
    firsts, seconds = np.triu_indices(n, 1)
    scored = ScoredPairs.of(table, firsts, seconds, n_resamples)
    n_users, n_common = scored.counts()
    for position in np.flatnonzero(n_common == 0)[:1]:
        one, other = names[firsts[position]], names[seconds[position]]
        raise ComparisonError(
            f"comparison: no user has a score from both {one!r} and {other!r}; leave one out"
        )
    is_bound = np.zeros(len(firsts), bool)
    differing, of_pairs, sizes, *error, p_values, sides = scored.describe(test)
    if test == "randomisation":
        n_counted = CORRECTIONS[correction].n_counted(len(firsts))
        p_values, is_bound = scored.randomise(draws, level, n_counted)
    least = _least_p(differing, n_common, n_resamples, test)
    note = _undecidable(differing, least, n_resamples, correction, level, test)
    can_decide = (least <= level) & (not note)
    means = scored.means()
    if seeds is None or test not in SEED_TESTS:
        errors = StandardError(*error)
        low, high = scored.intervals(confidence, interval, draws)
    else:
        compared = over_seeds(scored, seeds, test, ratio or 0.0)
        low, high = compared.interval(np.concatenate([means, of_pairs]), confidence)
        errors = StandardError(compared.error[n:], compared.degrees[n:])
        p_values = errors.p_values(of_pairs)
        if test == "two-way":
            note = note or note_of_few(len(seeds), int(n_common.min()))
    adjusted = adjust(p_values, correction)
    opposite = sides != np.sign(of_pairs)
    significant = (adjusted <= level) & ~opposite
    pairs = pd.DataFrame(
        {
            "first": [names[i] for i in firsts.tolist()],
            "second": [names[i] for i in seconds.tolist()],
            "difference": of_pairs,
            "low": low[n:],
            "high": high[n:],
            "effect_size": sizes,
            "p": p_values,
            "p_is_bound": is_bound,
            "p_adjusted": adjusted,
            "significant": significant,
            "n_users": n_common,
            "n_left_out": len(table) - n_common,
            "n_differing": differing.astype(int),
            "can_decide": can_decide,
            "opposite": opposite,
            "standard_error": errors.error,
            "degrees": errors.degrees,
        }
    )
    pairs = with_power(pairs, correction, level, margin)
    worse = -1.0 if higher_is_better else 1.0
    algorithms = pd.DataFrame(
        {
            "algorithm": list(names),
            "mean": means,
            "low": low[:n],
            "high": high[:n],
            "n_users": n_users,
            "letters": ranked_letters(worse * means, significant, worse * of_pairs),
        }
    )
    differences = None
    if baseline is not None:
        differences = against(pairs, baseline, correction, level, margin)
    settings = (test, correction, interval, n_resamples, confidence, draws.seed, note, margin)
    from_moments = n_resamples is None and scored.from_moments and test not in SEED_TESTS
    return Comparison(algorithms, pairs, differences, *settings, from_moments)


def _table(scores: ArrayLike, n_resamples: int | None) -> Floats:
    """Return scores as numbers, each algorithm's contiguous where moments read one at a time.

    Sums of resamples take a user's side by side: their last digits depend on the order in memory.
    """
    if isinstance(scores, np.ndarray) and scores.flags.f_contiguous:
        table = as_array("comparison: scores", scores.T, error=ComparisonError).T
    else:
        table = as_array("comparison: scores", scores, error=ComparisonError)
    is_many = n_resamples is None and len(table) >= MANY_USERS
    return np.asarray(table, order="F" if is_many else "C")


def _least_p(
    n_differing: Floats, n_users: NDArray[np.intp], n_resamples: int | None, test: PairedTest
) -> Floats:
    """Return the least p-value that each pair could have, given how many of its users differ."""
    exact = 2.0 ** np.minimum(1.0 - n_differing, 0.0)
    least = np.zeros(len(n_differing))
    if test == "randomisation":
        by_resamples = 1 / (n_resamples + 1) if n_resamples else 0.0
        is_exact = n_differing <= np.log2(n_resamples or DEFAULT_RESAMPLES)
        least = np.where(is_exact, exact, by_resamples)
    elif test == "wilcoxon":  # exact, or of a z that is at most sqrt(n)
        least = np.minimum(exact, 2 * scipy.special.ndtr(-np.sqrt(n_differing)))
    elif test == "t":
        least[n_users < 2] = 1.0
    return np.where(n_differing > 0, least, 1.0)


def _undecidable(
    n_differing: Floats,
    least: Floats,
    n_resamples: int | None,
    correction: Correction,
    level: float,
    test: PairedTest,
) -> str:
    """Return why no p-value can be small enough, if none can; `least` are the least p-values."""
    n_pairs, most = len(n_differing), int(n_differing.max())
    n_counted = CORRECTIONS[correction].n_counted_of_equal(n_pairs)
    compared = counted(n_pairs, "comparison")
    if not most or n_counted * least.min() <= level:
        return ""
    if n_resamples and test == "randomisation" and most > np.log2(n_resamples):
        return (
            f"cannot decide: with {n_resamples:,} resamples no difference can be significant in "
            f"{compared}; set resamples to at least {int(np.ceil(MARGIN * n_pairs / level)):,}, "
            "or leave it out"
        )
    return (
        f"cannot decide: no two algorithms differ for more than {counted(most, 'user')}, "
        f"too few for a significant difference in {compared}"
    )


def table_fault(table: Floats, names: Sequence[str], of_rows: str) -> str:
    """Return what is wrong with scores by row and algorithm; empty for nothing."""
    if table.ndim != 2 or table.shape[1] != len(names):
        return (
            f"scores of shape {table.shape} for {counted(len(names), 'name')}; "
            f"give a row for each {of_rows} and a column for each name"
        )
    if len(names) < 2:
        return f"{counted(len(names), 'algorithm')} to compare; give two or more"
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    return "" if twice is None else f"{twice!r} is given twice; rename one"


def _faults(
    table: Floats,
    names: Sequence[str],
    baseline: str | None,
    n_resamples: int | None,
    confidence: float,
    test: PairedTest,
    by_seed: Floats | None,
    ratio: float | None,
    margin: float | None,
) -> Iterator[str]:
    yield table_fault(table, names, "user")
    if np.isinf(table).any():
        yield "a score is infinite; leave it out as NaN"
    for name, column in zip(names, table.T, strict=True):
        if fault := unit_fault(MOST_SCORE, column):
            yield f"the scores of {name!r} have {fault}"
    if baseline is not None and baseline not in names:
        yield f"unknown baseline {baseline!r}; {suggestion(baseline, names)}"
    if not 0 < confidence < 1:
        yield f"confidence {confidence}; use one such as 0.95"
    if n_resamples is not None and not 1 <= n_resamples <= MOST_RESAMPLES:
        yield f"{n_resamples} resamples; use 10,000"
    if test in SEED_TESTS and (by_seed is None or len(by_seed) < 2):
        noun = "folds or seeds" if test == "nadeau-bengio" else "seeds"
        yield f"{test} with scores of fewer than two {noun}; give the scores of each as by_seed"
    if by_seed is not None and by_seed.shape[1:] != table.shape:
        shapes = f"by_seed of shape {by_seed.shape} for scores of shape {table.shape}"
        yield f"{shapes}; give a table of the same users and algorithms for each seed"
    if test == "nadeau-bengio" and not (ratio and 0 < ratio < np.inf):
        yield f"ratio {ratio}; give test ratings for each training rating, such as 0.25"
    if margin is not None and not 0 < margin < np.inf:
        yield f"margin {margin}; use a difference above 0, such as 0.01"


@checked(ComparisonError)
def against(
    pairs: pd.DataFrame,
    baseline: str,
    correction: Correction | None,
    level: float,
    margin: float | None,
) -> pd.DataFrame:
    """Return the pairs with the baseline, turned so that it is second, and corrected again.

    Without a correction, p-values stay those among all pairs.
    """
    if missing := {"first", "second", "p", "low", "high"} - {*pairs}:
        raise ComparisonError(
            f"against: pairs has no column {sorted(missing)[0]!r}; give the pairs of a Comparison"
        )
    rows = pairs[(pairs["first"] == baseline) | (pairs["second"] == baseline)].copy()
    turned = rows["first"] == baseline
    rows.loc[turned, ["first", "second"]] = rows.loc[turned, ["second", "first"]].to_numpy()
    rows.loc[turned, ["low", "high"]] = -rows.loc[turned, ["high", "low"]].to_numpy()
    for column in ("difference", "effect_size"):
        rows.loc[turned, column] *= -1
    rows = rows.reset_index(drop=True)
    if correction is None:
        return rows
    rows["p_adjusted"] = adjust(rows["p"], correction)
    rows["significant"] = rows["p_adjusted"] <= level
    if "opposite" in rows:
        rows["significant"] &= ~rows["opposite"]
    if "can_decide" in rows:
        rows["can_decide"] |= rows["significant"]
    return with_power(rows, correction, level, margin)
