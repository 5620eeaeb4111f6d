"""Is a candidate worse than what is in use? Two rows with the scores of the same users."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from harness import metrics, statistics
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.comparison.best import best
from harness.comparison.inference import notes_of_few
from harness.errors import ComparisonError, counted
from harness.results.folder import name_of
from harness.results.headline import chosen_metric
from harness.results.runs import Run
from harness.results.scores import is_mean_of_users
from harness.results.statistics import RowResult
from harness.results.table import GROUP
from harness.statistics.arrays import sign_flips
from harness.statistics.paired import EPSILON, is_constant
from harness.statistics.resampling import Floats

Verdict = Literal["not worse", "worse", "undecided"]
EQUAL = "suspicious: every user has the same score on both sides; are they two models?"
SLACK = 64
"""Times the rounding of the largest score, by which a mean of folds and seeds can be off."""
LEVEL_SLACK = 1e-12  # of a p-value that is the level but for rounding, as in `statistics.compare`


@dataclass(frozen=True)
class GatedRow:
    """One of the two sides of a gate.

    Parameters
    ----------
    run : str
        Name of the run.
    row : str
        Name of its row.
    mean : float
        Mean over the common users, in the unit of the metric.
    started : str
        When the run was started (UTC); empty for a file.
    """

    run: str
    row: str
    mean: float
    started: str = ""


@dataclass(frozen=True)
class Decision:
    """The decision from the scores of the same users, returned by `decide`.

    Parameters
    ----------
    verdict, difference, low, high, p, p_tolerance, detectable, n_differing, is_at_limit
        As in `Gate`.
    note : str
        Why no difference of so many users can be significant; else empty.
    """

    verdict: Verdict
    difference: float
    low: float
    high: float
    p: float
    p_tolerance: float
    detectable: float | None
    n_differing: int
    is_at_limit: bool
    note: str = ""


@dataclass(frozen=True)
class Gate:
    """The answer to whether a candidate is worse than what is in use.

    Parameters
    ----------
    verdict : {"not worse", "worse", "undecided"}
        Worse: the whole interval is below minus the tolerance, and the randomisation test rejects
        a drop of exactly the tolerance. Not worse: the whole interval is above minus the tolerance,
        and the test rejects. Undecided: everything else.
    metric : str
        Label of the metric.
    new, old : GatedRow
        The candidate, and what is in use.
    difference : float
        Mean over the common users of how much better the candidate is, in the unit of the metric:
        negative where it is worse, for errors too.
    low, high : float
        Interval of the difference.
    confidence : float
        In (0, 1), of the interval.
    tolerance : float
        At least 0, in the unit of the metric: how much worse counts as no worse.
    p : float
        Of a two-sided randomisation test of no difference, in [0, 1].
    detectable : float or None
        The difference that a test with this level and these users finds with a power of 80%; None
        if too few users differ, or all differ by the same amount, so that it is unknown.
    n_users : int
        Users with a score on both sides.
    notes : list of str
        What changes how the verdict is read.
    p_tolerance : float
        Of the same test of a drop of exactly the tolerance, in [0, 1]: *worse* and *not worse* need
        at most 1 - `confidence`. Without a tolerance it is `p`, except where all scores are equal.
    n_differing : int
        Users whose two scores differ.
    is_at_limit : bool
        Whether every user drops by exactly the tolerance, so that nothing is tested; then
        `p_tolerance` is the p-value of a coin that falls on one side for all.
    """

    verdict: Verdict
    metric: str
    new: GatedRow
    old: GatedRow
    difference: float
    low: float
    high: float
    confidence: float
    tolerance: float
    p: float
    detectable: float | None
    n_users: int
    notes: list[str] = field(default_factory=list)
    p_tolerance: float = 1.0
    n_differing: int = 0
    is_at_limit: bool = False

    def sentences(self) -> list[str]:
        """Return the verdict and what it rests on, the answer first."""
        new, old = _titles(self.new, self.old)
        verb = {"not worse": "is not worse", "worse": "is worse"}
        allowed = f" by more than {self.tolerance:.4g}" if self.tolerance else ""
        return [
            f"{self.verdict}: {new} {verb.get(self.verdict, 'may or may not be worse')} than {old}"
            f"{allowed} by {self.metric}",
            f"{self.new.mean:.4f} and {self.old.mean:.4f}, difference {self.difference:+.4f} "
            f"({100 * self.confidence:g}%: {self.low:+.4f} to {self.high:+.4f}), "
            f"{counted(self.n_users, 'user')}",
            self._test(),
            self._power(),
        ]

    def _test(self) -> str:
        """Return what was tested, or that each user has exactly what the test is about."""
        level = 1 - self.confidence
        if self.is_at_limit:
            why = f"every user drops by exactly {self.tolerance:.4g}"
            if not self.tolerance:
                why = "every user has the same score on both sides"
            enough = "too few" if self.verdict == "undecided" else "enough"
            return f"{why}: there is nothing to test, and {self.n_users:,} such users are {enough}"
        tested = f"a drop of exactly {self.tolerance:.4g}" if self.tolerance else "no difference"
        p = f"= {self.p_tolerance:.2g}" if self.p_tolerance >= 1e-4 else "< 0.0001"
        return (
            f"randomisation test of {tested}: p {p}; a decision needs at most {level:.2g}, and "
            "the whole interval on one side"
        )

    def _power(self) -> str:
        """Return the smallest drop that is found, or why it is unknown."""
        if self.detectable is not None:
            return (
                "the smallest drop that these users show with a power of 80%: "
                f"{self.tolerance + self.detectable:.4f}"
            )
        fewest = _fewest_differing(self.confidence)
        if self.n_users < fewest:
            return (
                f"no drop is found with {counted(self.n_users, 'user')}: the test needs {fewest} "
                "whose scores differ"
            )
        why = f"the scores differ for {counted(self.n_differing, 'user')}"
        if self.n_differing >= fewest:
            why = "every user has the same difference"
        return f"the smallest drop that these users show is unknown: {why}"

    def to_dict(self) -> dict[str, object]:
        """Return the answer as plain data that JSON holds."""
        return asdict(self)


@checked(ComparisonError)
def gate(
    new: Run,
    old: Run,
    *,
    metric: str | None = None,
    row: str | None = None,
    old_row: str | None = None,
    tolerance: float | str = 0.0,
    confidence: float = 0.95,
    dataset: str | None = None,
    split: str | None = None,
    candidates: str | None = None,
    seed: int = 0,
) -> Gate:
    r"""Say whether a candidate is worse than what is in use, by the scores of the same users.

    Parameters
    ----------
    new, old : Run
        The run with the candidate, and the one with what is in use; the same run for two rows of
        one.
    metric : str, optional
        A label of both that is a mean over users; the headline metric of `new` by default.
    row : str, optional
        The candidate; the best row of `new` by default.
    old_row : str, optional
        What is in use; the row of the name `row` by default, and without it the best of `old`.
    tolerance : float or str
        At least 0: how much worse counts as no worse, in the unit of the metric; a text such as
        ``"1%"`` is a proportion of the mean of `old`.
    confidence : float
        In (0, 1), of the two-sided interval of the difference.
    dataset, split, candidates : str, optional
        Display names that select one table of several.
    seed : int
        Of the resamples.

    Returns
    -------
    Gate

    Raises
    ------
    ComparisonError
        If the two cannot be compared: another data set, split, candidates or definition of the
        metric, fewer than two common users, a metric that is not a mean over users, or one model
        whose two scores differ.
    ResultsError
        If there is no such row, metric or table.

    Notes
    -----
    Each user's difference is the difference of the user's averages over folds and seeds; `decide`
    says how the differences decide. If signs of differences are equally likely, an equally good
    candidate is called worse in at most :math:`(1 - c) / 2` of all samples of users, where
    :math:`c` is the confidence. A drop of exactly the tolerance is allowed.

    Examples
    --------
    >>> import harness
    >>> run = harness.run({
    ...     "dataset": {"synthetic": {"n_users": 200, "n_items": 40, "n_ratings": 4000}},
    ...     "algorithms": ["BaselineOnly", "Random"], "metrics": ["ndcg@10"]}, results=None)
    >>> gate(run, run, row="Random", old_row="BaselineOnly").verdict
    'worse'
    """
    called = _called(new, old)
    label, chosen, in_use = compared_rows(
        new,
        old,
        metric=metric,
        row=row,
        old_row=old_row,
        tolerance=tolerance,
        confidence=confidence,
        dataset=dataset,
        split=split,
        candidates=candidates,
    )
    if new is old and chosen.row == in_use.row:
        raise ComparisonError(
            f"{new.name}: {chosen.algorithm} compared with itself; name the two rows (--row NAME "
            "--old-row NAME)"
        )
    for key in GROUP:
        if chosen[key] != in_use[key]:
            raise ComparisonError(
                f"cannot be compared: {key} {chosen[key]} in {called[0]} and {in_use[key]} in "
                f"{called[1]}; run both with the same, or choose another table with --{key}"
            )
    notes = _changes(new, old, chosen)
    if row is None and old_row is None and chosen.algorithm != in_use.algorithm:
        notes.append(
            f"two algorithms are compared: {chosen.algorithm}, the best row of {called[0]}, and "
            f"{in_use.algorithm}, the best row of {called[1]}; --row and --old-row choose others"
        )
    sides = (new, chosen), (old, in_use)
    one, other = ({cell.key for cell in run.info.cells_of_rows[row.row]} for run, row in sides)
    answer = gate_scores(
        *(_of_users(run, row.row, label) for run, row in sides),
        metric=label,
        names=(chosen.algorithm, in_use.algorithm),
        origins=(new.name, old.name),
        tolerance=tolerance,
        confidence=confidence,
        seed=seed,
    )
    answer = replace(
        answer,
        new=replace(answer.new, started=new.info.started),
        old=replace(answer.old, started=old.info.started),
    )
    if one == other and answer.n_differing:
        raise ComparisonError(
            f"cannot be compared: {chosen.algorithm} is the same model on the same data in both "
            "runs, but its scores differ, so they cannot be repeated; look for a random number "
            "without a seed, or run both on one machine"
        )
    if one == other:
        notes.append("both sides are the same model on the same data")
        # Known without a test, for any number of users.
        return replace(answer, verdict="not worse", notes=notes)
    return replace(answer, notes=[*notes, *answer.notes])


def compared_rows(
    new: Run,
    old: Run,
    *,
    metric: str | None,
    row: str | None,
    old_row: str | None,
    tolerance: float | str,
    confidence: float,
    **table: str | None,
) -> tuple[str, RowResult, RowResult]:
    """Return the label of the metric and the two rows that `gate` compares, or refuse the request.

    `gate` has the same parameters and errors; only what needs the scores is not checked.
    """
    _check_confidence(confidence)
    _tolerance(tolerance, 0.0)
    label = chosen_metric(metric, new.info.metrics, f"{new.name}: no metric", new.info.headline)
    _check_metric(label)
    if label not in old.info.metrics:
        raise ComparisonError(
            f"cannot be compared: {_called(new, old)[1]} was not scored by {label}; its metrics "
            f"are {', '.join(old.info.metrics)}"
        )
    chosen = best(new, metric=label, algorithm=row, **table).row
    if old_row is None and row is not None and new is not old:
        old_row = row
    return label, chosen, best(old, metric=label, algorithm=old_row, **table).row


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ComparisonError(f"gate: confidence {confidence}; use one such as 0.95")


def _check_metric(label: str) -> None:
    if not is_mean_of_users(metrics.parse(label)):
        raise ComparisonError(
            f"gate: {label} is not a mean over users, so its difference has no interval over "
            "users; choose a metric such as ndcg@10"
        )


@checked(ComparisonError)
def gate_scores(
    new: pd.Series,
    old: pd.Series,
    *,
    metric: str,
    names: tuple[str, str] = ("new", "old"),
    origins: tuple[str, str] = ("", ""),
    tolerance: float | str = 0.0,
    confidence: float = 0.95,
    seed: int = 0,
) -> Gate:
    """Say whether a candidate is worse than what is in use, by scores that are already there.

    Parameters
    ----------
    new, old : Series of float
        A score for each user, who are the index; NaN where a user has none.
    metric : str
        The label that the scores are of, which says whether higher is better.
    names, origins : tuple of str, length 2
        What to call the two, and the runs that they are of.
    tolerance, confidence, seed
        As in `gate`.

    Returns
    -------
    Gate

    Raises
    ------
    ComparisonError
        If the metric is not a mean over users, the two have fewer than two users in common, or a
        user
        is there twice.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.Series([0.5, 0.6, 0.7, 0.8] * 20)
    >>> gate_scores(old + 0.1, old, metric="ndcg@10").verdict
    'not worse'
    """
    _check_confidence(confidence)
    _check_metric(metric)
    for name, series in zip(names, (new, old), strict=True):
        if not series.index.is_unique:
            raise ComparisonError(f"gate: {name}: a user is there twice; average the scores first")
    scores = pd.concat({"new": new.dropna(), "old": old.dropna()}, axis=1)
    n_all = len(scores)
    scores = scores.dropna()
    if len(scores) < 2:
        raise ComparisonError(
            f"cannot be compared: {counted(len(scores), 'user')} with a score of {metric} in both; "
            "score both on the same data"
        )
    notes = []
    if n_left_out := n_all - len(scores):
        notes.append(
            f"{n_left_out:,} of {counted(n_all, 'user')} left out: no score of {metric} on one side"
        )
    sign = 1.0 if metrics.parse(metric).higher_is_better else -1.0
    means = scores.mean()
    allowed = _tolerance(tolerance, abs(float(means["old"])))
    found = decide(
        *(sign * scores[side].to_numpy(float) for side in ("new", "old")),
        tolerance=allowed,
        confidence=confidence,
        seed=seed,
    )
    if not found.n_differing:
        notes.append(EQUAL)
    if found.note and found.verdict == "undecided":
        notes.append(found.note)
    notes += map(str, notes_of_few(len(scores), found.n_differing))
    return Gate(
        verdict=found.verdict,
        metric=metric,
        new=GatedRow(origins[0], names[0], float(means["new"])),
        old=GatedRow(origins[1], names[1], float(means["old"])),
        difference=found.difference,
        low=found.low,
        high=found.high,
        confidence=confidence,
        tolerance=allowed,
        p=found.p,
        detectable=found.detectable,
        n_users=len(scores),
        notes=notes,
        p_tolerance=found.p_tolerance,
        n_differing=found.n_differing,
        is_at_limit=found.is_at_limit,
    )


def decide(
    new: Floats,
    old: Floats,
    *,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    seed: int = 0,
) -> Decision:
    r"""Decide between *worse*, *not worse* and *undecided* by the scores of the same users.

    The hypothesis is a mean difference of exactly minus the tolerance. *Worse* and *not worse* need
    both the whole interval on their side and a randomisation test that rejects the hypothesis: the
    two-sided p-value is at most :math:`1 - c`, so the one-sided one at most :math:`(1 - c) / 2`,
    where :math:`c` is the confidence. The interval does not decide by itself: a few users who all
    lose give resamples without a spread. The test is exact under its hypothesis for differences
    that are symmetric around minus the tolerance, and needs :math:`1 - \log_2 (1 - c)` users: six
    at 95%.

    Parameters
    ----------
    new, old : ndarray of float64, shape (n_users,)
        Scores of which higher is better, without NaN, in the unit of the metric.
    tolerance : float
        At least 0, in the same unit. Differences that are minus the tolerance but for the rounding
        of the scores count as exactly that.
    confidence : float
        In (0, 1).
    seed : int
        Of resamples.

    Returns
    -------
    Decision

    Notes
    -----
    If every user drops by exactly the tolerance, no sign can be flipped. The candidate is then *not
    worse* if the sign test rejects that half of the users drop by more: none of :math:`n` does, so
    its two-sided p-value is :math:`2^{1 - n}`.

    Examples
    --------
    >>> decide(np.zeros(3), np.ones(3)).verdict
    'undecided'
    >>> decide(np.zeros(6), np.ones(6)).verdict
    'worse'
    """
    rounding = SLACK * EPSILON * max(float(np.abs([new, old]).max()), tolerance)
    differences = _rounded(new - old, rounding)
    n_differing = int(np.count_nonzero(differences))
    compared = statistics.compare(
        np.column_stack([new, old]), ["new", "old"], confidence=confidence, seed=seed
    )
    pair = compared.pairs.iloc[0]
    low, high = float(pair["low"]), float(pair["high"])
    p = p_tolerance = sign_flips(differences, seed)
    beyond = _rounded(differences + tolerance, rounding)
    if not beyond.any():
        p_tolerance = min(1.0, 2.0 ** (1 - len(beyond)))
    elif tolerance:
        p_tolerance = sign_flips(beyond, seed)
    verdict: Verdict = "undecided"
    if p_tolerance <= 1 - confidence + LEVEL_SLACK:
        if beyond.sum() >= 0 and low >= -tolerance - rounding:
            verdict = "not worse"
        elif beyond.sum() < 0 and high < -tolerance - rounding:
            verdict = "worse"
    is_known = n_differing >= _fewest_differing(confidence) and not is_constant(differences)
    return Decision(
        verdict=verdict,
        difference=float(pair["difference"]),
        low=low,
        high=high,
        p=p,
        p_tolerance=p_tolerance,
        detectable=float(pair["detectable"]) if is_known else None,
        n_differing=n_differing,
        is_at_limit=not beyond.any(),
        note=compared.note,
    )


def _rounded(differences: Floats, rounding: float) -> Floats:
    """Return differences, those that come from rounding as 0."""
    return np.where(np.abs(differences) <= rounding, 0.0, differences)


def _fewest_differing(confidence: float) -> int:
    """Return how many users must differ before the randomisation test can reject.

    >>> _fewest_differing(0.95)
    6
    """
    return math.ceil(1 - math.log2(1 - confidence + LEVEL_SLACK))


def _called(new: Run, old: Run) -> tuple[str, str]:
    """Return what to call two runs: by the times of their starts where they are of one name."""
    name = name_of(Path(new.name))
    moments = [_moment(run.info.started) for run in (new, old)]
    is_told_by_time = new.name == old.name or moments[0] != moments[1]
    if name != name_of(Path(old.name)) or new is old or not is_told_by_time:
        return new.name, old.name
    return f"{name} of {moments[0]}", f"{name} of {moments[1]}"


def _moment(started: str) -> str:
    """Return the time of a start, to the second.

    >>> _moment("2026-11-26T18:16:05+00:00")
    '2026-11-26 18:16:05'
    """
    return started[:19].replace("T", " ")


def _titles(new: GatedRow, old: GatedRow) -> tuple[str, str]:
    """Return what to call the two sides, by their runs where both have such a row."""
    if new.row != old.row:
        return new.row, old.row
    if new.run and name_of(Path(new.run)) == name_of(Path(old.run)) and new.started != old.started:
        return f"{new.row} of {_moment(new.started)}", f"{old.row} of {_moment(old.started)}"
    if new.run != old.run:
        return f"{new.row} of {new.run}", f"{old.row} of {old.run}"
    return f"the new {new.row}", f"the old {old.row}"


def _tolerance(tolerance: float | str, mean: float) -> float:
    """Return a tolerance in the unit of the metric."""
    text = str(tolerance).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ComparisonError(
            f"gate: tolerance {tolerance!r}; give a number from 0 in the unit of the metric, such "
            "as 0.005, or a percentage of the old mean, such as 1%"
        )
    return number / 100 * mean if text.endswith("%") else number


def _of_users(run: Run, row: str, label: str) -> pd.Series:
    """Return the average of each user over folds and seeds in a row of a run."""
    users = run.users
    return users[users["row"] == row].groupby("user", sort=False)[label].mean()


def _changes(new: Run, old: Run, chosen: RowResult) -> list[str]:
    """Return sentences on what changed between two runs besides the model."""
    new_name, old_name = _called(new, old)
    data, splits = (
        [
            {entry.fingerprint for entry in getattr(run.info, part) if is_of(entry)}
            for run in (new, old)
        ]
        for part, is_of in (
            ("datasets", lambda entry: entry.name == chosen.dataset),
            ("splits", lambda entry: (entry.dataset, entry.split) == chosen.names[:2]),
        )
    )
    if data[0] != data[1]:
        return [
            f"the data changed between {old_name} and {new_name}: compared are the users of both, "
            "each with the test ratings of the run; --refit fits the old model again on the data "
            "of today"
        ]
    if splits[0] != splits[1]:
        raise ComparisonError(
            f"cannot be compared: {chosen.split} divides {chosen.dataset} in another way in "
            f"{new_name} than in {old_name}; run both with the same seed and split"
        )
    return []
