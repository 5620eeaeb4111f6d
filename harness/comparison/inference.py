"""The comparison of the rows of each table by each metric, from the scores of users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from harness import metrics, statistics
from harness._util import seeds
from harness._util.kernels import n_threads
from harness._util.libraries import pd
from harness.config.experiment import Claim, Draw, Inference
from harness.errors import joined
from harness.metrics import Metric
from harness.metrics.arrays import Floats
from harness.notes.note import Note
from harness.results.cells import AnyCell, TableName, failed_metrics, grouped
from harness.results.record import SplitInfo
from harness.results.scores import is_mean_of_users, plain_rows
from harness.results.statistics import MetricComparison
from harness.statistics import MANY_USERS, SEED_TESTS, Draws, PairedTest
from harness.statistics.standard_error import FEWEST_USERS

LEVELS = ("split", "search", "model")
_Compared = tuple[MetricComparison | None, list[Note]]


class UserScores:
    """The scores of the users of a table, of which the users and rows are numbered once.

    Parameters
    ----------
    frame : DataFrame
        A row for each cell and user: ``row``, ``user``, ``seed``, ``fold`` and the metrics.

    Attributes
    ----------
    users : ndarray of intp, shape (n_scores,)
        The number of the user of each score.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self.users, ids = pd.factorize(frame["user"])
        # The order of few users decides which of them a resample draws.
        if len(ids) < MANY_USERS:
            self.users, ids = pd.factorize(frame["user"], sort=True)
        rows, self.rows = pd.factorize(frame["row"])
        self.n_users = len(ids)
        self._keys = rows * len(ids) + self.users
        self._is_mean = bool((np.bincount(self._keys) > 1).any())

    def means(
        self, label: str, rows: Sequence[str], part: NDArray[np.intp] | slice = slice(None)
    ) -> Floats:
        """Return the mean score of each user in each row, shape (n_rows, n_users); NaN for none.

        `part` chooses scores by their place.
        """
        return self.means_of(self.frame[label].to_numpy(np.float64)[part], rows, part)

    def means_of(
        self, scores: Floats, rows: Sequence[str], part: NDArray[np.intp] | slice = slice(None)
    ) -> Floats:
        """Return the `means` of other scores of the same users and rows."""
        keys = self._keys[part]
        if self._is_mean:  # a user in several folds and seeds is one observation
            means: pd.Series[float] = pd.Series(scores).groupby(keys, sort=False).mean()
            keys, scores = means.index.to_numpy(), np.asarray(means)
        table = np.full((len(self.rows), self.n_users), np.nan)
        table.ravel()[keys] = scores
        return table[self.rows.get_indexer(pd.Index(rows))]


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
        of_seeds = {seed: draws.get(seed, Draw(seed, seed, seed)) for seed, _ in folds}
        several = [
            name for name in LEVELS if len({getattr(draw, name) for draw in of_seeds.values()}) > 1
        ]
        prints = list(dict.fromkeys(cell.split_fingerprint for cell in cells))
        same_split = len(prints) <= len({fold for _, fold in folds})
        tuned = any(cell.n_trials is not None for cell in cells)
        varied = {"split": not same_split, "search": tuned, "model": True}
        differing = [name for name in several if varied[name]]
        return cls(of_seeds, next(iter(several), "model"), differing, prints)

    @property
    def units(self) -> list[int]:
        """The independent seeds."""
        return list(dict.fromkeys(getattr(draw, self.level) for draw in self.draws.values()))

    def by_part(
        self,
        scores: UserScores,
        label: str,
        rows: Sequence[str],
        is_scored: NDArray[np.bool_],
        test: PairedTest,
    ) -> Floats:
        """Return the scores of each observation of a test: of some users, in some rows."""
        units = {seed: getattr(draw, self.level) for seed, draw in self.draws.items()}
        by_fold = test == "nadeau-bengio"
        return by_part(units, scores, label, rows, is_scored, by_fold=by_fold)

    def components(self, users: pd.DataFrame, label: str, row: str) -> dict[str, float]:
        """Return the variance components of a row: of users, seeds of each level, and the rest."""
        nodes = [len({getattr(draw, name) for draw in self.draws.values()}) for name in LEVELS]
        if nodes[2] < 2:
            return {}

        return components(self.draws, nodes, users[users["row"] == row], label)

    def about(self, claim: Claim, test: PairedTest) -> str:
        """Return what letters and tests are about."""
        if claim == "models":
            return (
                "The tests compare these fitted models, for users like these; other seeds can give "
                "other results"
            )
        if test == "nadeau-bengio":
            return "The tests compare the algorithms, for other random splits of ratings like these"
        fixed = "" if "split" in self.varied else ", on these splits"
        factors = joined(self.varied) or "no random number"
        return (
            "The tests compare the algorithms, for users like these and other seeds "
            f"({factors}){fixed}"
        )


def infer(
    users: pd.DataFrame,
    labels: Sequence[str],
    cells: Sequence[AnyCell],
    settings: Inference,
    seed: int,
    draws: Mapping[int, Draw] | None = None,
    splits: Iterable[SplitInfo] = (),
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> tuple[list[MetricComparison], list[Note]]:
    """Compare the algorithms of each table by every metric that is a mean over users.

    `users` is as a run has it; `cells` give tables and rows their order; `draws` say which seeds
    are nested in which. A row with a failed cell is not compared: its users differ from the
    others. Notes say what is not compared, and why. `progress` gets how many of the metrics of
    all tables are done.
    """
    ratios = {split.fingerprint: split.n_test / max(1, split.n_train) for split in splits}
    tables = grouped((cell.table, cell) for cell in cells)
    averaged = [metric for metric in map(metrics.parse, labels) if is_mean_of_users(metric)]
    present = users["table"].unique() if len(users) else ()
    compared: list[MetricComparison] = []
    notes: list[Note] = []
    for number, (table, of_table) in enumerate(tables.items()):
        frame = None
        if table in present:
            frame = users if len(present) == 1 else users[users["table"] == table]
        comparison = _TableComparison(of_table, of_table[0].place(tables), settings, draws or {})
        notes += comparison.incomplete()
        if frame is None or len(comparison.complete) < 2:
            continue
        scores = UserScores(frame)
        shared = statistics.Draws(seeds.derive(seed, "statistics", table))
        compare = partial(comparison.by_metric, scores=scores, draws=shared, ratios=ratios)
        selections: Iterable[_Selection] = map(partial(comparison.select, scores), averaged)
        if scores.n_users < MANY_USERS:  # of more users the scores of one metric are in memory
            selections = [*selections]
            for selection in selections:
                if selection.by_seed is None and selection.rows:
                    shared.expect(selection.columns)
        for done, (result, reasons) in enumerate(_in_threads(compare, selections, scores), 1):
            compared += [] if result is None else [result]
            notes += reasons
            progress(number * len(averaged) + done, len(tables) * len(averaged))
    return compared, list(dict.fromkeys(notes))


def _in_threads(
    compare: Callable[[_Selection], _Compared],
    selections: Iterable[_Selection],
    scores: UserScores,
) -> Iterator[_Compared]:
    """Yield the comparisons by each metric in order, several of few users at the same time.

    With many users the threads share one metric, so that the scores of one are in memory.
    """
    threads = n_threads() if scores.n_users < MANY_USERS else 1
    if threads < 2:
        yield from map(compare, selections)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(compare, selections)
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass
class _Selection:
    """The rows that are compared by a metric, none if no two can be, with what a test needs."""

    metric: Metric
    notes: list[Note]
    rows: list[str] = field(default_factory=list)
    columns: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    claim: Claim = "models"
    test: PairedTest = "randomisation"
    by_seed: Floats | None = None


class _TableComparison:
    """Compares the rows of one table, and notes what it does not compare."""

    def __init__(
        self,
        cells: Sequence[AnyCell],
        where: str,
        settings: Inference,
        draws: Mapping[int, Draw],
    ) -> None:
        self.settings, self.draws, self.where = settings, draws, where
        self.name, self.rows = cells[0], grouped((cell.row, cell) for cell in cells)
        self.titles = {row: of_row[0].algorithm for row, of_row in self.rows.items()}
        failed = {cell.row for cell in cells if cell.error}
        self.complete = [row for row in self.rows if row not in failed]
        self.failed_metrics = failed_metrics(cells)
        self._designs: dict[tuple[str, ...], Design] = {}

    def _note(self, code: str, values: Mapping[str, object]) -> Note:
        return Note(code, values, self.where, self.name.table)

    def incomplete(self) -> Iterator[Note]:
        """Yield notes on the rows of which some cells failed."""
        for row, cells in self.rows.items():
            n_finished = sum(not cell.error for cell in cells)
            if 0 < n_finished < len(cells):
                values = {"algorithm": self.titles[row], "n": n_finished, "n_all": len(cells)}
                yield self._note("cells-failed", values)

    def _design(self, rows: Sequence[str]) -> Design:
        """Return the design of the cells of some rows."""
        if (key := tuple(rows)) not in self._designs:
            cells = [cell for row in rows for cell in self.rows[row]]
            self._designs[key] = Design.of(cells, self.draws)
        return self._designs[key]

    def select(self, scores: UserScores, metric: Metric) -> _Selection:
        """Select the rows that are compared by a metric, and the scores of their users."""
        label, notes = str(metric), list[Note]()
        means = scores.means(label, list(scores.rows))
        complete = [row for row in self.complete if (row, label) not in self.failed_metrics]
        if len(complete) < 2 <= len(self.complete):  # a note says that the metric failed
            return _Selection(metric, notes)
        is_scored: NDArray[np.bool_] = np.any(~np.isnan(means), axis=0)
        means = means[scores.rows.get_indexer(pd.Index(complete))]
        means = means if is_scored.all() else means[:, is_scored]
        chosen = _comparable(~np.isnan(means.T))
        rows = [complete[place] for place in chosen]
        if len(rows) < 2:
            return _Selection(metric, [self._note("none-compared", {"metric": label})])
        if left_out := [self.titles[row] for row in complete if row not in rows]:
            notes.append(self._note("not-compared", {"metric": label, "algorithms": left_out}))
        design, by_seed = self._design(rows), None
        claim, test = self.settings.about(len(design.units))
        if test in SEED_TESTS:
            by_seed = design.by_part(scores, label, rows, is_scored, test)
            if len(by_seed) < 2:
                claim, test, by_seed = "models", "randomisation", None
                notes.append(self._note("no-common-seeds", {"metric": label}))
        columns = (means if len(chosen) == len(means) else means[chosen]).T
        # The last digits of means depend on the order in memory; of many users none is a copy.
        if len(columns) < MANY_USERS:
            columns = np.ascontiguousarray(columns)
        return _Selection(metric, notes, rows, columns, claim, test, by_seed)

    def by_metric(
        self, selection: _Selection, scores: UserScores, draws: Draws, ratios: Mapping[str, float]
    ) -> _Compared:
        """Compare rows by one metric; None where no two have users in common."""
        settings, rows, notes = self.settings, selection.rows, selection.notes
        if not rows:
            return None, notes
        label, claim, test = str(selection.metric), selection.claim, selection.test
        titles, design = [self.titles[row] for row in rows], self._design(rows)
        of_splits = [ratios[split] for split in design.fingerprints if split in ratios]
        compared = statistics.compare(
            selection.columns,
            titles,
            baseline=settings.baseline if settings.baseline in titles else None,
            test=test,
            correction=settings.correction,
            interval=settings.interval,
            n_resamples=settings.resamples,
            confidence=settings.confidence,
            draws=draws,
            higher_is_better=selection.metric.higher_is_better,
            by_seed=selection.by_seed,
            ratio=float(np.mean(of_splits)) if of_splits else None,
            margin=settings.margin,
        )
        fewest = int(compared.pairs["n_users"].min())
        if claim == "models":
            notes += [self._note(note.code, note.values) for note in notes_of_few(fewest)]
        about = design.about(claim, test)
        of_rows = plain_rows(compared.algorithms.assign(row=rows))
        for described, row in zip(of_rows, rows, strict=True):
            described["components"] = design.components(scores.frame, label, row)
        baseline = compared.baseline
        record = {
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
        return MetricComparison.model_validate(self.name.only(TableName) | record), notes


def notes_of_few(n_users: int, n_differing: int | None = None) -> list[Note]:
    """Return notes on a comparison of too few users, and of few whose scores differ, if known.

    >>> [note.code for note in notes_of_few(600, n_differing=3)]
    ['few-differing']
    """
    if n_users < FEWEST_USERS:
        return [Note("few-users", {"n": n_users, "fewest": FEWEST_USERS})]
    if n_differing is not None and 0 < n_differing < FEWEST_USERS:
        values = {"n": n_differing, "n_all": n_users, "fewest": FEWEST_USERS}
        return [Note("few-differing", values)]
    return []


def _comparable(scored: NDArray[np.bool_]) -> list[int]:
    """Return columns of which every two have a user in common, those with most users first."""
    together = scored.T.astype(np.float64) @ scored.astype(np.float64) > 0
    chosen: list[int] = []
    for column in np.argsort(-scored.sum(axis=0), kind="stable").tolist():
        if together[column, column] and together[column, chosen].all():
            chosen.append(column)
    return sorted(chosen)


def by_part(
    units: Mapping[int, int],
    scores: UserScores,
    label: str,
    rows: Sequence[str],
    is_scored: NDArray[np.bool_],
    *,
    by_fold: bool,
) -> Floats:
    """Return the scores of some users in some rows, for each independent seed or each fold.

    `units` are the independent seeds, by the seed of a cell.
    """
    users = scores.frame[["seed", "fold"]]
    scored = np.flatnonzero(users["seed"].isin(units) & scores.frame[label].notna())
    parts = users.iloc[scored]
    if not by_fold:
        parts = parts["seed"].map(units).to_frame()
    numbers = parts.groupby([*parts], sort=False).ngroup().to_numpy()
    tables = (
        scores.means(label, rows, scored[numbers == number])[:, is_scored].T
        for number in range(numbers.max(initial=-1) + 1)
    )
    return np.stack([np.ascontiguousarray(table) for table in tables])


def components(
    draws: Mapping[int, Draw], nodes: Sequence[int], users: pd.DataFrame, label: str
) -> dict[str, float]:
    """Return the variance components of a row, given how many seeds of each level there are."""
    shape = [nodes[0], nodes[1] // nodes[0], nodes[2] // nodes[1]]
    if np.prod(shape) != nodes[2]:  # runs with other seeds, put into one
        return {}
    scores = users.pivot_table(index="user", columns="seed", values=label, aggfunc="mean")
    together = all(draw.split == draw.model for draw in draws.values())
    names = ["seed" if together else "split", "search", "model"]
    table = scores.reindex(columns=list(draws)).to_numpy()
    return statistics.components(table.reshape(len(table), *shape), names)


OF_TESTS = ("claim", "test-limited", "different-users")
"""Codes of `notes_on_tests`."""


def notes_on_tests(compared: Sequence[MetricComparison], tables: Sized) -> Iterator[Note]:
    """Yield what tests are about, and why some cannot decide; `tables` are the run's."""
    for claim in dict.fromkeys(comparison.about for comparison in compared):
        yield Note("claim", {"claim": claim})
    for comparison in compared:
        counts = [pair.n_users for pair in comparison.pairs if comparison.has_other_users(pair)]
        if counts:
            low, high = min(counts), max(counts)
            shared = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            values = {"metric": comparison.metric, "low": low, "high": high, "shared": shared}
            yield Note("different-users", values, comparison.place(tables), comparison.table)
    limited = grouped(
        ((comparison.place(tables), comparison.table, comparison.note), comparison.metric)
        for comparison in compared
    )
    for (where, table, reason), labels in limited.items():
        if reason:
            yield Note("test-limited", {"metrics": labels, "reason": reason}, where, table)
