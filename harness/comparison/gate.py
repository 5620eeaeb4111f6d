"""Is a candidate worse than what is in use? Two rows with the scores of the same users."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

import numpy as np

from harness import metrics, statistics
from harness.arguments import checked
from harness.comparison.best import best
from harness.errors import ComparisonError, counted
from harness.lazy import pd
from harness.results.chosen_metric import chosen_metric
from harness.results.display import GROUP
from harness.results.runs import Run
from harness.results.scores import is_mean_of_users
from harness.results.statistics import RowResult

Verdict = Literal["not worse", "worse", "undecided"]
EQUAL = "suspicious: two different models, but every user has the same score with both"


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
    """

    run: str
    row: str
    mean: float


@dataclass(frozen=True)
class Gate:
    """The answer to whether a candidate is worse than what is in use.

    Parameters
    ----------
    verdict : {"not worse", "worse", "undecided"}
        Worse: the whole interval is below minus the tolerance. Not worse: the whole interval is
        above it. Undecided: the interval holds it.
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
        Of a two-sided test of no difference, in [0, 1].
    detectable : float
        The difference that a test with this level and these users finds with a power of 80%.
    n_users : int
        Users with a score on both sides.
    notes : list of str
        What changes how the verdict is read.
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
    detectable: float
    n_users: int
    notes: list[str] = field(default_factory=list)

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
            f"with these users a drop of {self.tolerance + self.detectable:.4f} is found with a "
            "power of 80%",
        ]

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
        ``"1%"`` is a share of the mean of `old`.
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
        metric, fewer than two common users, a metric that is no mean over users, or one model
        whose two scores differ.
    ResultsError
        If there is no such row, metric or table.

    Notes
    -----
    Each user's difference is that of the user's averages over folds and seeds. The interval is
    that of `statistics.compare`, over users; a candidate that is equally good is called worse in
    about :math:`(1 - c) / 2` of all samples of users, where :math:`c` is the confidence; with 100
    users of skewed scores it was 4% at :math:`c = 0.95`.

    Examples
    --------
    >>> import harness
    >>> run = harness.run({
    ...     "dataset": {"synthetic": {"n_users": 200, "n_items": 40, "n_ratings": 4000}},
    ...     "algorithms": ["BaselineOnly", "Random"], "metrics": ["ndcg@10"]}, results=None)
    >>> gate(run, run, row="Random", old_row="BaselineOnly").verdict
    'worse'
    """
    label = chosen_metric(metric, new.info.metrics, f"{new.name}: no metric", new.info.headline)
    if label not in old.info.metrics:
        raise ComparisonError(
            f"cannot be compared: {old.name} was not scored by {label}; its metrics are "
            f"{', '.join(old.info.metrics)}"
        )
    tables = {"dataset": dataset, "split": split, "candidates": candidates}
    chosen = best(new, metric=label, algorithm=row, **tables).row
    if old_row is None and row is not None and new is not old:
        old_row = row
    in_use = best(old, metric=label, algorithm=old_row, **tables).row
    if new is old and chosen.row == in_use.row:
        raise ComparisonError(
            f"{new.name}: {chosen.algorithm} compared with itself; name the two rows (--row NAME "
            "--old-row NAME)"
        )
    for key in GROUP:
        if chosen[key] != in_use[key]:
            raise ComparisonError(
                f"cannot be compared: {key} {chosen[key]} in {new.name} and {in_use[key]} in "
                f"{old.name}; run both with the same, or choose another table with --{key}"
            )
    notes = _changes(new, old, chosen)
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
    is_equal = answer.low == answer.high == 0
    if one == other and not is_equal:
        raise ComparisonError(
            f"cannot be compared: {chosen.algorithm} is the same model on the same data in both "
            "runs, but its scores differ, so they cannot be repeated; look for a random number "
            "without a seed, or run both on one machine"
        )
    if one == other:
        notes.append("both sides are the same model on the same data")
        return replace(answer, notes=[*notes, *(n for n in answer.notes if n != EQUAL)])
    return replace(answer, notes=[*notes, *answer.notes])


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
        If the metric is no mean over users, the two have fewer than two users in common, or a user
        is there twice.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.Series([0.5, 0.6, 0.7, 0.8] * 20)
    >>> gate_scores(old + 0.1, old, metric="ndcg@10").verdict
    'not worse'
    """
    if not 0 < confidence < 1:
        raise ComparisonError(f"gate: confidence {confidence}; use one such as 0.95")
    parsed = metrics.parse(metric)
    if not is_mean_of_users(parsed):
        raise ComparisonError(
            f"gate: {metric} is no mean over users, so its difference has no interval over users; "
            "choose a metric such as ndcg@10"
        )
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
    if bool((scores["new"] == scores["old"]).all()):
        notes.append(EQUAL)
    sign = 1.0 if parsed.higher_is_better else -1.0
    means = scores.mean()
    allowed = _tolerance(tolerance, abs(float(means["old"])))
    compared = statistics.compare(
        sign * scores.to_numpy(float), ["new", "old"], confidence=confidence, seed=seed
    )
    pair = compared.pairs.iloc[0]
    low, high = float(pair["low"]), float(pair["high"])
    if compared.note and EQUAL not in notes:
        notes.append(compared.note)
    verdict: Verdict = "undecided"
    if low >= -allowed:
        verdict = "not worse"
    elif high < -allowed:
        verdict = "worse"
    return Gate(
        verdict=verdict,
        metric=metric,
        new=GatedRow(origins[0], names[0], float(means["new"])),
        old=GatedRow(origins[1], names[1], float(means["old"])),
        difference=float(pair["difference"]),
        low=low,
        high=high,
        confidence=confidence,
        tolerance=allowed,
        p=float(pair["p"]),
        detectable=float(np.nan_to_num(pair["detectable"])),
        n_users=len(scores),
        notes=notes,
    )


def _titles(new: GatedRow, old: GatedRow) -> tuple[str, str]:
    """Return what to call the two sides, by their runs where both have such a row."""
    if new.row != old.row:
        return new.row, old.row
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
            "as 0.005, or a share of the old mean, such as 1%"
        )
    return number / 100 * mean if text.endswith("%") else number


def _of_users(run: Run, row: str, label: str) -> pd.Series:
    """Return the average of each user over folds and seeds in a row of a run."""
    users = run.users
    return users[users["row"] == row].groupby("user", sort=False)[label].mean()


def _changes(new: Run, old: Run, chosen: RowResult) -> list[str]:
    """Return sentences on what changed between two runs besides the model."""
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
            f"the data changed between {old.name} and {new.name}: compared are the users of both, "
            "each with the test ratings of the run; --refit fits the old model again on the data "
            "of today"
        ]
    if splits[0] != splits[1]:
        raise ComparisonError(
            f"cannot be compared: {chosen.split} divides {chosen.dataset} in another way in "
            f"{new.name} than in {old.name}; run both with the same seed and split"
        )
    return []
