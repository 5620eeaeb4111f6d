"""Learning curves: one test set, by the proportion of the training ratings that models saw."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from harness import metrics, statistics
from harness._util import seeds
from harness._util.libraries import pd
from harness.candidates.base import CandidatesSection
from harness.config.experiment import Inference
from harness.errors import ResultsError, joined
from harness.notes.note import Note
from harness.results.headline import chosen_metric
from harness.results.record import RunInfo, SplitInfo
from harness.results.runs import Run
from harness.results.scores import is_mean_of_users
from harness.results.statistics import ROUNDING
from harness.results.table import TextTable, best_values, comparison_of, interval_decimals, rounded
from harness.schema.sections import written
from harness.statistics.pairs import SEED_TESTS, PairedTest

CODE = "training-share"
"""Code of the note on a split whose training set is a proportion of another's."""
UNTRAINED = frozenset({"Random"})
"""Rows that no rating can help."""
Answer = Literal["gain", "loss", "undecided"]
ANSWERS: dict[Answer, str] = {
    "gain": "more-ratings-help",
    "loss": "more-ratings-hurt",
    "undecided": "more-ratings-undecided",
}
"""The code of the note on rows with each answer."""


@dataclass(frozen=True)
class Curve:
    """The tables of one test set.

    Parameters
    ----------
    dataset, split, candidates : str
        Display names; the split has the largest proportion.
    by : str
        The sampled unit: ``rating``, ``user`` or ``time``.
    tables : dict of float to str
        The identity of a table by the proportion of its training ratings, rising.
    """

    dataset: str
    split: str
    candidates: str
    by: str
    tables: dict[float, str]

    @property
    def of(self) -> str:
        """What the shares are of: users, or ratings."""
        return "users" if self.by == "user" else "ratings"

    @property
    def title(self) -> str:
        """Data set, split and candidates."""
        return ", ".join((self.dataset, self.split, self.candidates))


def curves_of(
    splits: Iterable[SplitInfo], tables: Mapping[str, tuple[str, str, str]]
) -> list[Curve]:
    """Return the curves of a run; none where no split has a proportion of another's training set.

    Parameters
    ----------
    splits : iterable of SplitInfo
    tables : mapping
        Names of data set, split and candidates by the identity of each table.
    """
    first: dict[tuple[str, str], SplitInfo] = {}
    for split in splits:
        first.setdefault((split.dataset, split.split), split)
    whole: dict[tuple[str, str, str], str] = {}
    parts: dict[tuple[str, str, str, str], dict[float, str]] = {}
    for table, (dataset, name, candidates) in tables.items():
        if (made := first.get((dataset, name))) is None:
            continue
        note = next((note for note in made.notes if note.code == CODE), None)
        if note is None:
            whole[dataset, candidates, made.fingerprint] = table
        else:
            key = dataset, candidates, str(note.values["whole"]), str(note.values["by"])
            parts.setdefault(key, {})[float(note.values["share"])] = table
    curves = []
    for (dataset, candidates, of, by), by_share in parts.items():
        points = dict(by_share)
        if (dataset, candidates, of) in whole:
            points[1.0] = whole[dataset, candidates, of]
        if len(points) > 1:
            rising = dict(sorted(points.items()))
            largest = tables[[*rising.values()][-1]][1]
            curves.append(Curve(dataset, largest, candidates, by, rising))
    return curves


def curve_frame(info: RunInfo, label: str | None = None) -> pd.DataFrame:
    """Return a row for each algorithm and share: ``value``, and the ends of its interval.

    Columns are ``dataset``, ``split``, ``candidates``, ``by``, ``algorithm``, ``metric``,
    ``share``, ``value``, ``low``, ``high``; the ends are NaN without statistics.

    Raises
    ------
    ResultsError
        If the run has no curve or no such metric.
    """
    label = chosen_metric(label, info.metrics, f"{info.name}: no metric", info.headline)
    rows = []
    for curve in required_curves(info):
        for share, table in curve.tables.items():
            ends = {
                mean.algorithm: (mean.low, mean.high)
                for compared in info.statistics
                if (compared.table, compared.metric) == (table, label)
                for mean in compared.algorithms
            }
            for row in info.rows:
                if row.table == table:
                    low, high = ends.get(row.algorithm, (None, None))
                    value = row.scores.get(label)
                    where = curve.dataset, curve.split, curve.candidates, curve.by
                    rows.append((*where, row.algorithm, label, share, value, low, high))
    columns = ["dataset", "split", "candidates", "by", "algorithm", "metric", "share"]
    numbers = ["value", "low", "high"]
    frame = pd.DataFrame(rows, columns=[*columns, *numbers])
    return frame.astype(dict.fromkeys(numbers, float))


def required_curves(info: RunInfo) -> list[Curve]:
    """Return the curves of a run, or raise a ResultsError."""
    if curves := curves_of(info.splits, info.tables):
        return curves
    raise ResultsError(
        f"{info.name}: no learning curve; add `training_shares: [0.1, 0.2, 0.5, 1.0]` to its "
        "config and run it again"
    )


def crossings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return where the lines of two algorithms of one curve cross.

    Parameters
    ----------
    frame : DataFrame
        Of `curve_frame`.

    Returns
    -------
    DataFrame
        ``first`` is better up to the share ``few``, and ``second`` from the share ``many`` on;
        ``at`` is between them, on straight lines over the logarithm of the share.
    """
    names = ["dataset", "split", "candidates", "by", "metric"]
    rows: list[tuple[object, ...]] = []
    for _, of_curve in frame.groupby(names, sort=False):
        where = of_curve[names].iloc[0].tolist()
        higher = metrics.parse(where[-1]).higher_is_better
        values = of_curve.pivot_table(index="share", columns="algorithm", values="value")
        for one, two in combinations(values.columns, 2):
            gaps = (values[one] - values[two]).dropna()
            points = zip(gaps.index.to_numpy(float), gaps.to_numpy(float), strict=True)
            for (few, before), (many, after) in pairwise(points):
                if before * after < 0:
                    at = few * (many / few) ** (before / (before - after))
                    ordered = (one, two) if (before > 0) == higher else (two, one)
                    rows.append((*where, *ordered, few, many, at))
    return pd.DataFrame(rows, columns=[*names, "first", "second", "few", "many", "at"])


def decided_at(info: RunInfo, curve: Curve, crossing: Mapping[Hashable, Any]) -> list[bool | None]:
    """Return whether the tests found both sides of a crossing.

    Parameters
    ----------
    info : RunInfo
    curve : Curve
    crossing : mapping
        A row of `crossings` of this curve.

    Returns
    -------
    list of bool or None, length 2
        Whether ``first`` is significantly better at the share ``few``, and ``second`` at ``many``;
        None where the two were not compared.
    """
    found: list[bool | None] = []
    for share, better in (("few", "first"), ("many", "second")):
        comparison = comparison_of(info, curve.tables[crossing[share]], crossing["metric"])
        other = crossing["second" if better == "first" else "first"]
        pair = comparison.pairs_of(crossing[better]).get(other) if comparison else None
        is_found = comparison and pair and comparison.favoured(pair) == crossing[better]
        found.append(None if pair is None else bool(is_found))
    return found


def gains(
    curve: Curve,
    users: pd.DataFrame,
    label: str,
    settings: Inference,
    seed: int,
    algorithms: Iterable[str],
) -> pd.DataFrame:
    """Compare the two largest proportions of a curve, user by user.

    Parameters
    ----------
    curve : Curve
    users : DataFrame
        As a run has it: ``table``, ``algorithm``, ``user`` and a column for each metric. The
        scores of a user in several folds and seeds are averaged first.
    label : str
        A metric that is a mean of users' scores.
    settings : Inference
        Test over users, interval, resamples, confidence, and the correction for the number of
        algorithms. A test over seeds is replaced by the randomisation test: both shares have the
        same seeds.
    seed : int
        Of the run.
    algorithms : iterable of str

    Returns
    -------
    DataFrame
        ``algorithm``, ``few`` and ``many`` (the proportions), ``difference`` of the value of many
        less the value of few, ``low``, ``high``, ``p``, ``p_adjusted``, ``n_users``, and
        ``answer``: gain, loss or undecided.
    """
    few, many = [*curve.tables][-2:]
    of_table = {
        share: users[users["table"] == curve.tables[share]].groupby(["algorithm", "user"])
        for share in (few, many)
    }
    means = {share: of_users[label].mean() for share, of_users in of_table.items()}
    test: PairedTest = settings.test or "randomisation"
    test = "randomisation" if test in SEED_TESTS else test
    rows = []
    for algorithm in algorithms:
        if any(algorithm not in means[share].index for share in (few, many)):
            continue
        columns = [means[share][algorithm] for share in (many, few)]
        paired = pd.concat(columns, axis=1, join="inner").dropna()
        if len(paired) < 2:
            continue
        compared = statistics.compare(
            paired.to_numpy(),
            ["many", "few"],
            test=test,
            correction="none",
            interval=settings.interval,
            n_resamples=settings.resamples,
            confidence=settings.confidence,
            seed=seeds.derive(seed, "learning", curve.tables[many], algorithm, label),
        )
        pair = compared.pairs.iloc[0]
        ends = (float(pair[key]) for key in ("difference", "low", "high", "p"))
        rows.append((algorithm, few, many, *ends, len(paired), bool(pair["opposite"])))
    names = ["algorithm", "few", "many", "difference", "low", "high", "p", "n_users", "opposite"]
    frame = pd.DataFrame(rows, columns=names)
    p_values = frame["p"].to_numpy(float)
    adjusted = statistics.adjust(p_values, settings.correction) if rows else p_values
    is_better = frame["difference"] > 0
    if not metrics.parse(label).higher_is_better:
        is_better = frame["difference"] < 0
    is_decided = adjusted <= 1 - settings.confidence + ROUNDING
    is_decided &= ~frame["opposite"].to_numpy(bool)
    answers = np.where(is_decided, np.where(is_better, "gain", "loss"), "undecided")
    return frame.drop(columns="opposite").assign(p_adjusted=adjusted, answer=answers)


def gains_of(info: RunInfo, users: pd.DataFrame, label: str | None = None) -> pd.DataFrame:
    """Return `gains` of every curve of a run, with the curve's names; empty without statistics."""
    label = chosen_metric(label, info.metrics, f"{info.name}: no metric", info.headline)
    settings = info.experiment.statistics
    if settings is None or not is_mean_of_users(metrics.parse(label)):
        return pd.DataFrame()
    frames = []
    for curve in required_curves(info):
        frame = gains(curve, users, label, settings, info.seeds[0], trained(info.algorithms))
        names = {"dataset": curve.dataset, "split": curve.split, "candidates": curve.candidates}
        frames.append(frame.assign(**names, by=curve.by, metric=label))
    return pd.concat(frames, ignore_index=True)


def trained(algorithms: Iterable[str]) -> list[str]:
    """Return the rows that ratings can help.

    >>> trained(["SVD", "Random"])
    ['SVD']
    """
    return [name for name in algorithms if name not in UNTRAINED]


def notes_on_curves(
    splits: Iterable[SplitInfo],
    tables: Mapping[str, tuple[str, str, str]],
    users: pd.DataFrame,
    label: str,
    settings: Inference | None,
    seed: int,
) -> Iterator[Note]:
    """Yield whether more ratings would help, for the rows of each curve, and unequal candidates."""
    curves = curves_of(splits, tables)
    for curve in curves:
        where = curve.title if len(curves) > 1 else ""
        if not CandidatesSection.of_name(curve.candidates).only_rated:
            yield Note("curve-candidates", {"candidates": curve.candidates}, where)
    if settings is None or not len(users) or not is_mean_of_users(metrics.parse(label)):
        return
    algorithms = trained(users["algorithm"].unique())
    for curve in curves:
        where = curve.title if len(curves) > 1 else ""
        frame = gains(curve, users, label, settings, seed, algorithms)
        for answer, code in ANSWERS.items():
            rows = frame[frame["answer"] == answer]
            if len(rows):
                values = {
                    "metric": label,
                    "algorithms": rows["algorithm"].tolist(),
                    "few": written(float(rows["few"].iloc[0])),
                    "many": written(float(rows["many"].iloc[0])),
                    "of": curve.of,
                }
                yield Note(code, values, where)


NAMES = ["dataset", "split", "candidates", "by"]


def curve_tables(run: Run, label: str | None = None) -> list[TextTable]:
    """Return a table of one metric for each curve: algorithms by share, and what the last adds."""
    info = run.info
    label = chosen_metric(label, info.metrics, f"{info.name}: no metric", info.headline)
    frame, gained = curve_frame(info, label), gains_of(info, run.users, label)
    crossed = crossings(frame)
    return [
        _curve_table(
            run, label, curve, _part(frame, curve), _part(gained, curve), _part(crossed, curve)
        )
        for curve in required_curves(info)
    ]


def _part(frame: pd.DataFrame, curve: Curve) -> pd.DataFrame:
    """Return the rows of a curve."""
    if not len(frame):
        return frame
    values = (curve.dataset, curve.split, curve.candidates, curve.by)
    return frame[(frame[NAMES] == pd.Series(values, index=NAMES)).all(axis=1)]


def _curve_table(
    run: Run,
    label: str,
    curve: Curve,
    frame: pd.DataFrame,
    gained: pd.DataFrame,
    crossed: pd.DataFrame,
) -> TextTable:
    """Return the table of one curve."""
    info = run.info
    largest = [*curve.tables.values()][-1]
    order = [row.algorithm for row in info.rows if row.table == largest]
    means = [
        mean
        for compared in info.statistics
        if compared.metric == label and compared.table in curve.tables.values()
        for mean in compared.algorithms
    ]
    places = interval_decimals(means)
    values: dict[tuple[str, float], float] = {
        (row["algorithm"], row["share"]): row["value"]
        for row in frame.dropna(subset="value").to_dict("records")
    }
    columns = ["algorithm", *(written(share) for share in curve.tables)]
    rows = [
        [name, *(rounded(values.get((name, share)), places) for share in curve.tables)]
        for name in order
    ]
    best = []
    for number, (share, table) in enumerate(curve.tables.items(), 1):
        of_share = {name: values[name, share] for name in order if (name, share) in values}
        marked = best_values(of_share, label, comparison_of(info, table, label))
        best += [(place, number) for place, name in enumerate(order) if name in marked]
    if len(gained):
        few, many = (written(float(gained[key].iloc[0])) for key in ("few", "many"))
        columns += [f"{few} to {many}", "more ratings"]
        by_name = {pair["algorithm"]: pair for pair in gained.to_dict("records")}
        for row in rows:
            if (pair := by_name.get(row[0])) is None:
                row += ["", ""]
                continue
            ends = (rounded(pair[key], places) for key in ("difference", "low", "high"))
            row += ["{} ({} to {})".format(*ends), str(pair["answer"])]
    return TextTable(
        f"{label} by proportion of the training {curve.of}"
        + (f", {curve.title}" if len({*info.tables.values()}) > len(curve.tables) else ""),
        " ".join([*_on_gains(gained), *_on_crossings(info, curve, crossed)]),
        [*info.tables].index(largest) + 1,
        columns,
        rows,
        best,
    )


def _on_gains(gained: pd.DataFrame) -> Iterator[str]:
    """Yield what the column of the last step says, where there is one."""
    if len(gained):
        yield (
            "more ratings: gain or loss where the last step changes the value significantly, "
            "paired by user and corrected for the number of algorithms; else undecided."
        )


def _on_crossings(info: RunInfo, curve: Curve, crossed: pd.DataFrame) -> Iterator[str]:
    """Yield where lines cross, and whether the rows differ significantly on both sides."""
    for row in crossed.to_dict("records"):
        shares = written(row["few"]), written(row["many"])
        where = f"between {shares[0]} and {shares[1]}, at about {100 * row['at']:.0f}%"
        found = decided_at(info, curve, row)
        if all(found):
            yield f"{row['second']} passes {row['first']} {where}."
            continue
        undecided = [share for share, side in zip(shares, found, strict=True) if not side]
        why = "not tested" if None in found else f"undecided at {joined(undecided)}"
        yield f"The values of {row['first']} and {row['second']} cross {where}; {why}."
