"""What is computed from the scores of a run's cells: values of rows, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness import metrics, seeds, statistics
from harness.config.experiment import Claim, Draw, Inference, headline_of
from harness.errors import MetricError, ResultsError, joined, suggestion
from harness.lazy import pd
from harness.metrics import Metric, Scores
from harness.notes import Note
from harness.results.record import (
    AnyCell,
    MetricComparison,
    RowName,
    RowResult,
    SplitInfo,
    TableName,
    grouped,
)
from harness.statistics import SEED_TESTS, PairedTest
from harness.statistics.variance import FEWEST_USERS

LEVELS = ("split", "search", "model")


def is_mean_of_users(metric: Metric) -> bool:
    """Return whether the value of a metric is a mean of users' scores, as that of ``ndcg@10``.

    The others, as ``rmse``, are computed from all pairs or all lists of a cell at once.
    """
    return metric.per_user and not metric.pooled


class RowValue:
    """Collects one metric over the cells of a row.

    The value of a metric that is a mean of users' scores is the mean over users of each user's
    average over the folds and seeds in which the user has a score: the quantity that intervals
    and tests are about. That of any other metric is the mean over cells.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._means: list[float] = []
        self._users: list[NDArray[np.int32]] = []
        self._scores = [np.empty(0)]

    def add(self, users: NDArray[np.int32], scores: Scores) -> None:
        """Add the scores of a cell, and the codes of its users in their data set."""
        self._means.append(float(scores.mean))
        if is_mean_of_users(self.metric):
            self._users.append(users)
            self._scores.append(scores.per_user)

    @property
    def value(self) -> float | None:
        """The value; None where no cell, or no user, has a score."""
        if not is_mean_of_users(self.metric):
            return mean_or_none(self._means)
        scores = np.concatenate(self._scores)
        known = ~np.isnan(scores)
        if not known.any():
            return None
        users = np.concatenate(self._users)[known]
        counts = np.bincount(users)
        averages = np.bincount(users, scores[known])[counts > 0] / counts[counts > 0]
        return float(averages.mean())

    @property
    def n_users(self) -> int:
        """How many users the mean is over; 0 for a metric that is no mean of users' scores."""
        cells = zip(self._users, self._scores[1:], strict=True)
        return n_distinct([users[~np.isnan(scores)] for users, scores in cells])

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the cells' means; None for a single cell."""
        return deviation(self._means)


class RowScores:
    """Collects all metrics over the cells of a row, and the users who are evaluated in them."""

    def __init__(self, wanted: Iterable[Metric]) -> None:
        self._collected = {str(metric): RowValue(metric) for metric in wanted}
        self._users: list[NDArray[np.int32]] = []

    def add(self, users: NDArray[np.int32], scores: Mapping[str, Scores]) -> None:
        """Add the scores of a cell by label, and the codes of its users in their data set."""
        self._users.append(users)
        for label, value in self._collected.items():
            value.add(users, scores[label])

    @property
    def values(self) -> dict[str, float | None]:
        """The value of each metric by label."""
        return {label: value.value for label, value in self._collected.items()}

    @property
    def n_users(self) -> int:
        """How many users are evaluated in some cell."""
        return n_distinct(self._users)

    @property
    def n_undefined(self) -> dict[str, int]:
        """By metric that is a mean of users' scores, how many users have no score in any cell."""
        n_users = self.n_users
        lacking = {
            label: n_users - value.n_users
            for label, value in self._collected.items()
            if is_mean_of_users(value.metric)
        }
        return {label: number for label, number in lacking.items() if number}

    def result(self, name: RowName) -> RowResult:
        """Return the row as a record of a run has it."""
        return RowResult(
            **name.only(RowName),
            scores=self.values,
            n_users=self.n_users,
            n_undefined=self.n_undefined,
        )


def notes_on_undefined(rows: Iterable[tuple[int | None, Mapping[str, int]]]) -> Iterator[Note]:
    """Yield of how many users the means of each metric are, where some have no score.

    `rows` are the numbers of users who are evaluated, and by label of those without a score.
    """
    counts: dict[str, set[tuple[int, int]]] = {}
    for n_users, n_undefined in rows:
        for label, number in n_undefined.items():
            counts.setdefault(label, set()).add(((n_users or 0) - number, n_users or 0))
    for label, of_rows in counts.items():
        n_defined, n_all = min(of_rows)
        code = "users-undefined-in-rows" if len(of_rows) > 1 else "users-undefined"
        yield Note(code, {"metric": label, "n": n_defined, "n_all": n_all})


def n_distinct(codes: Sequence[NDArray[np.int32]]) -> int:
    """Return how many different users some arrays of codes name."""
    return len(np.unique(np.concatenate(codes))) if codes else 0


def mean_or_none(values: Sequence[float]) -> float | None:
    """Return the mean; None where there is none, or a value is NaN."""
    return or_none(math.fsum(values) / len(values)) if values else None


def or_none(value: float | None) -> float | None:
    """Return a number; None for NaN too."""
    return None if value is None or math.isnan(value) else float(value)


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation; None for fewer than two values, or where one is NaN."""
    mean = mean_or_none(values)
    if mean is None or len(values) < 2:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


@dataclass(frozen=True)
class Design:
    """The seeds that every compared row of a table has.

    The seeds of the outermost level of which there are two are independent: they are the
    observations of a test over seeds, and what varies within them is averaged first.
    """

    draws: dict[int, Draw]
    level: str  # the outermost level with two seeds
    varied: list[str]  # what differs between seeds
    fingerprints: list[str]  # of the splits

    @classmethod
    def of(cls, cells: Sequence[AnyCell], draws: Mapping[int, Draw]) -> Design:
        """Return the design of the cells of a table; a seed without a draw is one for all."""
        by_row = grouped((cell.row, (cell.seed, cell.fold)) for cell in cells)
        common = set.intersection(*map(set, by_row.values()))
        folds = [pair for cell in cells if (pair := (cell.seed, cell.fold)) in common]
        kept = {seed: draws.get(seed, Draw(seed, seed, seed)) for seed, _ in folds}
        several = [name for name in LEVELS if len({getattr(d, name) for d in kept.values()}) > 1]
        prints = list(dict.fromkeys(cell.split_fingerprint for cell in cells))
        same_split = len(prints) <= len({fold for _, fold in folds})
        tuned = any(cell.n_trials is not None for cell in cells)
        varied = {"split": not same_split, "search": tuned, "model": True}
        return cls(
            kept, next(iter(several), "model"), [name for name in several if varied[name]], prints
        )

    @property
    def units(self) -> list[int]:
        """The independent seeds."""
        return list(dict.fromkeys(getattr(draw, self.level) for draw in self.draws.values()))

    def by_part(
        self, users: pd.DataFrame, label: str, scores: pd.DataFrame, test: PairedTest
    ) -> NDArray[np.float64]:
        """Return the scores of each observation of a test, of the users and rows of `scores`."""
        known = users[users["seed"].isin(self.draws)].dropna(subset=[label])
        seeds = [getattr(self.draws[seed], self.level) for seed in known["seed"]]
        keys = [known["seed"], known["fold"]] if test == "nadeau-bengio" else np.array(seeds)
        tables = [_means(part, "row", label) for _, part in known.groupby(keys, sort=False)]
        return np.stack([each.reindex_like(scores).to_numpy() for each in tables])

    def components(self, users: pd.DataFrame, label: str, row: str) -> dict[str, float]:
        """Return the variance components of a row: of users, seeds of each level, and the rest."""
        nodes = [len({getattr(draw, name) for draw in self.draws.values()}) for name in LEVELS]
        if nodes[2] < 2:
            return {}
        shape = [nodes[0], nodes[1] // nodes[0], nodes[2] // nodes[1]]
        if np.prod(shape) != nodes[2]:  # runs with other seeds, put into one
            return {}
        own = users[users["row"] == row].pivot_table(
            index="user", columns="seed", values=label, aggfunc="mean"
        )
        together = all(draw.split == draw.model for draw in self.draws.values())
        names = ["seed" if together else "split", "search", "model"]
        table = own.reindex(columns=list(self.draws)).to_numpy()
        return statistics.components(table.reshape(len(table), *shape), names)

    def about(self, claim: Claim, test: PairedTest) -> str:
        """Return what letters and tests are about."""
        if claim == "models":
            return "Tests are of these fitted models, for users like these; other seeds give others"
        if test == "nadeau-bengio":
            return "Tests are of the algorithms, for other random divisions of ratings like these"
        fixed = "" if "split" in self.varied else ", on these splits"
        what = joined(self.varied) or "no random number"
        return f"Tests are of the algorithms, for users like these and other seeds ({what}){fixed}"


def _means(users: pd.DataFrame, columns: str, label: str) -> pd.DataFrame:
    """Return the mean score of each user in each row or seed."""
    return users.pivot_table(index="user", columns=columns, values=label, sort=False)


def infer(
    users: pd.DataFrame,
    labels: Sequence[str],
    cells: Sequence[AnyCell],
    settings: Inference,
    seed: int,
    draws: Mapping[int, Draw] | None = None,
    splits: Iterable[SplitInfo] = (),
) -> tuple[list[MetricComparison], list[Note]]:
    """Compare the algorithms of each table by every metric that is a mean over users.

    `users` is as a run has it; `cells` give tables and rows their order; `draws` say which seeds
    are nested in which. A row with a failed cell is not compared: its users are not those of the
    others. Notes say what is not compared, and why.
    """
    ratios = {each.fingerprint: each.n_test / max(1, each.n_train) for each in splits}
    tables: dict[str, dict[str, list[AnyCell]]] = {}
    for cell in cells:
        tables.setdefault(cell.table, {}).setdefault(cell.row, []).append(cell)
    wanted = [each for each in map(metrics.parse, labels) if is_mean_of_users(each)]
    users_of = dict(iter(users.groupby("table", sort=False)))
    found, notes = [], []
    for table, rows in tables.items():
        named = next(iter(rows.values()))[0]
        where = named.place(tables)
        names = {row: own[0].algorithm for row, own in rows.items()}
        whole = [row for row, own in rows.items() if not any(cell.error for cell in own)]
        for row, own in rows.items():
            n_finished = sum(not cell.error for cell in own)
            if 0 < n_finished < len(own):
                values = {"algorithm": names[row], "n": n_finished, "n_all": len(own)}
                notes.append(Note("cells-failed", values, where, table))
        for metric in wanted if table in users_of and len(whole) > 1 else ():
            label = str(metric)
            # A user in several folds and seeds is one observation.
            scores = _means(users_of[table], "row", label).reindex(columns=whole).sort_index()
            kept = [whole[i] for i in _comparable(scores.notna().to_numpy())]
            if len(kept) < 2:
                notes.append(Note("none-compared", {"metric": label}, where, table))
                continue
            if left_out := [names[row] for row in whole if row not in kept]:
                values = {"metric": label, "algorithms": left_out}
                notes.append(Note("not-compared", values, where, table))
            titles = [names[row] for row in kept]
            design = Design.of([cell for row in kept for cell in rows[row]], draws or {})
            claim, test = settings.about(len(design.units))
            by_seed = None
            if test in SEED_TESTS:
                by_seed = design.by_part(users_of[table], label, scores[kept], test)
                if len(by_seed) < 2:
                    claim, test, by_seed = "models", "randomisation", None
                    notes.append(Note("no-common-seeds", {"metric": label}, where, table))
            ratio = [ratios[each] for each in design.fingerprints if each in ratios]
            compared = statistics.compare(
                scores[kept].to_numpy(),
                titles,
                baseline=settings.baseline if settings.baseline in titles else None,
                test=test,
                correction=settings.correction,
                interval=settings.interval,
                n_resamples=settings.resamples,
                confidence=settings.confidence,
                seed=seeds.derive(seed, "statistics", table, label),
                higher_is_better=metric.higher_is_better,
                by_seed=by_seed,
                ratio=float(np.mean(ratio)) if ratio else None,
                margin=settings.margin,
            )
            fewest = int(compared.pairs["n_users"].min())
            if claim == "models" and fewest < FEWEST_USERS:
                values = {"n": fewest, "fewest": FEWEST_USERS}
                notes.append(Note("few-users", values, where, table))
            about = design.about(claim, test)
            of_rows = plain_rows(compared.algorithms.assign(row=kept))
            for own_row, row in zip(of_rows, kept, strict=True):
                own_row["components"] = design.components(users_of[table], label, row)
            baseline = compared.baseline
            described = {
                "metric": label,
                "method": f"{compared.describe()} {about}.",
                "note": compared.note,
                "claim": claim,
                "about": about,
                "margin": settings.margin,
                "from_moments": compared.from_moments,
                "algorithms": of_rows,
                "pairs": plain_rows(compared.pairs),
                "baseline": None if baseline is None else plain_rows(baseline),
            }
            found.append(MetricComparison.model_validate(named.only(TableName) | described))
    return found, list(dict.fromkeys(notes))


OF_TESTS = ("claim", "test-limited")
"""Codes of `notes_on_tests`."""


def notes_on_tests(compared: Sequence[MetricComparison], tables: Sized) -> Iterator[Note]:
    """Yield what tests are about, and why some cannot decide; `tables` are those of the run."""
    for claim in dict.fromkeys(each.about for each in compared):
        yield Note("claim", {"claim": claim})
    limited = grouped(
        ((each.place(tables), each.table, each.note), each.metric) for each in compared
    )
    for (where, table, reason), labels in limited.items():
        if reason:
            yield Note("test-limited", {"metrics": labels, "reason": reason}, where, table)


def _comparable(scored: NDArray[np.bool_]) -> list[int]:
    """Return columns of which every two have a user in common, those with most users first."""
    together = scored.T.astype(np.int64) @ scored.astype(np.int64) > 0
    chosen: list[int] = []
    for column in np.argsort(-scored.sum(axis=0), kind="stable").tolist():
        if together[column, column] and together[column, chosen].all():
            chosen.append(column)
    return sorted(chosen)


def plain_rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows as plain data that JSON holds; what is not finite becomes None."""

    def plain(value: object) -> object:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    rows = frame.to_dict(orient="records")
    return [{str(key): plain(value) for key, value in row.items()} for row in rows]


def chosen_metric(
    label: str | None, known: Collection[str], lacks: str, headline: str | None = None
) -> str:
    """Return a label as a run writes it, the headline for None, or raise a ResultsError.

    `lacks` begins the message: what has no such metric. A headline that is not known gives way to
    the first ranking metric that is.
    """
    if label is None:
        return headline_of(known, headline)
    with suppress(MetricError):  # as NDCG@10 for ndcg@10; what is no label is not known either
        label = str(metrics.parse(label))
    if label not in known:
        raise ResultsError(f"{lacks} {label!r}; {suggestion(label, known)}")
    return label
