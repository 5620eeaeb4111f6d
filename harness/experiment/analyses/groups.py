"""The scores of a table by groups of its users and items, and the gaps between groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness import statistics
from harness._util import seeds
from harness._util.libraries import pd
from harness.comparison.inference import UserScores, infer
from harness.config.experiment import KNOWN, GroupSection, Inference
from harness.datasets.features import flags_of
from harness.errors import DataError, counted, suggestion
from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.experiment.execute.progress import Stage, Watch
from harness.metrics import Metric, Rankings, Scores, number
from harness.metrics.arrays import Floats
from harness.metrics.scoring import score_apart
from harness.notes.note import Note
from harness.rankings import evaluation
from harness.rankings.grouped import offsets_of
from harness.results.cells import AnyCell, RowKey, TableName, failed_metrics
from harness.results.scores import is_mean_of_users, or_none
from harness.results.statistics import AlgorithmMean, GroupGap, GroupMean, GroupResult, GroupScores
from harness.results.store import CellRecord
from harness.splits import Split
from harness.splits.base import natural

if TYPE_CHECKING:
    from harness.experiment.plan import Cell


QUANTILES = 4
MOST_VALUES = 10
"""A column of numbers with more values is divided into quantiles."""
MOST_GROUPS = 40
UNKNOWN = "unknown"
"""The group without a value, or without a training rating."""

Masks = NDArray[np.bool_]
"""Masks of shape (n_groups, n_codes)."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Who belongs to which group, in each of several splits of the same ratings."""

    names: list[str]
    masks: list[Masks]
    """One for each split; a user or item may belong to several groups."""


def divide(section: GroupSection, splits: Sequence[Split]) -> Groups:
    """Divide users or items for each fold of a table, or raise a DataError for a bad column.

    >>> from harness.config.experiment import GroupSection
    >>> from harness.datasets import load
    >>> from harness.splits import make
    >>> from harness.splits.random import Holdout
    >>> found = divide(GroupSection(items="popularity"), make(Holdout(), load("bundled"), seed=0))
    >>> dict(zip(found.names, found.masks[0].sum(axis=1).tolist()))
    {'head': 283, 'middle': 893, 'tail': 7194, 'unknown': 696}
    """
    if section.title == KNOWN.title:
        known = [split.known_users for split in splits]
        return Groups(["known", UNKNOWN], [np.array([of_split, ~of_split]) for of_split in known])
    counts = np.array([_counts(split, of_users=section.side == "users") for split in splits])
    if section.title == "items: popularity":
        return Groups(["head", "middle", "tail", UNKNOWN], [_thirds(row) for row in counts])
    if section.title == "users: training_ratings":
        tests = (split.ratings.users[split.test] for split in splits)
        tested = np.array([np.bincount(codes, minlength=counts.shape[1]) > 0 for codes in tests])
        n_tested = tested.sum(axis=0)
        means = np.rint((counts * tested).sum(axis=0) / np.maximum(n_tested, 1))
        names, masks = _quantiles(means, (n_tested > 0) & (means > 0), section.quantiles)
        without = (n_tested > 0) & (means == 0)
        if without.any():
            names, masks = ["0", *names], np.vstack([without, masks])
    else:
        names, masks = _by_column(section, splits[0])
    return Groups(names, [masks] * len(splits))


def _counts(split: Split, *, of_users: bool) -> NDArray[np.int64]:
    """Return the number of training ratings of each user or item."""
    data = split.ratings
    codes, n = (data.users, data.n_users) if of_users else (data.items, data.n_items)
    return np.bincount(codes[split.train], minlength=n)


def _thirds(counts: NDArray[np.int64]) -> Masks:
    """Divide items, the most rated first, where the sum of their ratings reaches a third."""
    order = np.argsort(-counts, kind="stable")
    before = np.empty_like(counts)
    before[order] = np.cumsum(counts[order]) - counts[order]
    third = np.minimum(3 * before // max(counts.sum(), 1), 2)
    return np.array([*((third == band) & (counts > 0) for band in range(3)), counts == 0])


def _quantiles(
    values: NDArray[np.float64], counted_in: NDArray[np.bool_], n: int | None
) -> tuple[list[str], Masks]:
    """Divide values into `n` groups of about equal size; equal values stay together."""
    n = n or QUANTILES
    counted_values = values[counted_in]
    if not len(counted_values):
        return [], np.zeros((0, len(values)), dtype=bool)
    tops = np.unique(np.quantile(counted_values, np.arange(1, n + 1) / n, method="inverted_cdf"))
    group = np.where(counted_in, np.searchsorted(tops, values), -1)
    names = []
    for i, top in enumerate(tops):
        low = values[group == i].min()
        names.append(number(top) if low == top else f"{number(low)} to {number(top)}")
    return names, np.array([group == i for i in range(len(tops))])


def _by_column(section: GroupSection, split: Split) -> tuple[list[str], Masks]:
    """Divide users or items by a column of their file."""
    data = split.ratings
    features, computed = data.item_features, ["popularity"]
    if section.side == "users":
        features, computed = data.user_features, ["training_ratings", "known"]
    columns = [] if features is None else [*map(str, features.columns)]
    if features is None or section.by not in columns:
        advice = suggestion(section.by, [*computed, *columns])
        lacks = f"has no column {section.by!r} of {section.side}"
        if features is None:
            lacks += f", as it has no file of {section.side}"
            advice += f"; or give `{section.side}: {{path: FILE}}` in the dataset"
        raise DataError(f"groups: {section.title}: {data.name} {lacks}; {advice}")
    column: pd.Series[str] = features[section.by].str.strip()
    column = column.where(column != "")
    known_values, missing = column.dropna(), column.isna().to_numpy()
    numbers = pd.to_numeric(known_values, errors="coerce")
    many = section.quantiles or known_values.nunique() > MOST_VALUES
    if len(numbers) and np.isfinite(numbers).all() and many:
        values = np.zeros(len(column))
        values[~missing] = numbers
        names, masks = _quantiles(values, ~missing, section.quantiles)
    else:
        if section.quantiles:
            words = known_values[~np.isfinite(numbers)]
            problem = f"{words.iloc[0]!r} is not a number" if len(words) else "the column is empty"
            raise DataError(f"groups: {section.title}: {problem}; leave `quantiles` out")
        flags = flags_of(column)
        names = sorted(flags.columns, key=natural)
        if len(names) > MOST_GROUPS:
            raise DataError(
                f"groups: {section.title}: {counted(len(names), 'value')}, such as {names[0]!r}; "
                f"use a column of numbers, or of at most {MOST_GROUPS} values"
            )
        if UNKNOWN in names:  # a genre of MovieLens
            missing = missing | (flags[UNKNOWN] > 0).to_numpy()
            names.remove(UNKNOWN)
        masks = flags[names].to_numpy().T > 0
    return ([*names, UNKNOWN], np.vstack([masks, missing])) if missing.any() else (names, masks)


Judged = tuple[NDArray[np.int64], NDArray[np.int32], Floats]
"""Columns of test ratings: the position of the user among the lists, the item, the rating."""
FinishedCell: TypeAlias = "tuple[pd.DataFrame, int, NDArray[np.int32], bool]"
"""The scores of a cell, the number of its fold, its users, and if it is the first of the fold."""
REST = ("rest", "rest_low", "rest_high")
OF_ENTRIES = ("relevance", "rank", "tie_low", "tie_high")
Means = Mapping[tuple[str, str], AlgorithmMean]
"""Means, intervals and letters of a group by metric and row."""


@dataclass(eq=False)
class _Division:
    """Users or items in groups, with the scores that their metrics have in each."""

    section: GroupSection
    metrics: list[Metric]
    groups: Groups
    of_users: bool
    scores: dict[tuple[str, int], list[Mapping[str, Floats]]] = field(
        default_factory=partial(defaultdict, list)
    )
    """By group, the scores of one cell after another by label: ``inside`` and ``outside`` are of
    lists in which only the items of the group, or of its rest, are relevant; ``random`` is of a
    random order in the first cell of each fold, for users of all groups at once."""


class _Table:
    """The scores of a table's users, and which of them belong to the groups of a division."""

    def __init__(
        self,
        division: _Division,
        cells: Sequence[FinishedCell],
        failed: Collection[tuple[str, str]],
    ) -> None:
        frames, numbers, codes, firsts = zip(*cells, strict=True)
        self.division, self.failed = division, failed
        self.frame: pd.DataFrame = pd.concat(frames, ignore_index=True)
        self.scores = UserScores(self.frame)
        self.members = [np.ones(len(self.frame), np.bool_)] * len(division.groups.names)
        """By group, whether a score is of a user in it; with items, of any user."""
        if division.of_users:
            folds = [division.groups.masks[number] for number in numbers]
            in_cells = [fold[:, users] for fold, users in zip(folds, codes, strict=True)]
            self.members = [*np.concatenate(in_cells, axis=1)]
        users, first = self.scores.users, self.members[0]
        self.order = pd.unique(np.append(users[first], users[~first]))
        """The users: the order of few decides which of them a resample draws."""
        self.is_first = np.repeat(firsts, [*map(len, frames)])
        """Whether a score is in the first cell of a fold."""
        self.ids, _ = pd.factorize(self.frame["user"][self.is_first], sort=True)

    def of(self, group: int, label: str) -> tuple[Floats, Floats]:
        """Return the scores inside a group and in its rest; NaN where there is none."""
        if self.division.of_users:  # NaN already where the metric failed in the row of a score
            values, member = self.frame[label].to_numpy(np.float64), self.members[group]
            return np.where(member, values, np.nan), np.where(member, np.nan, values)
        failed = self.frame["row"].isin([row for row, of in self.failed if of == label])
        lists = self.division.scores["inside", group], self.division.scores["outside", group]
        inside, outside = (np.concatenate([of_cell[label] for of_cell in side]) for side in lists)
        return np.where(failed, np.nan, inside), np.where(failed, np.nan, outside)

    def inside(self, group: int, labels: Sequence[str]) -> pd.DataFrame:
        """Return the scores only inside a group."""
        scores = {label: self.of(group, label)[0] for label in labels}
        return self.frame.assign(**scores)[self.members[group]]

    def random(self, group: int, label: str) -> float:
        """Return the expected score of a random order inside a group; NaN where none is known."""
        of_cells = self.division.scores["random", 0 if self.division.of_users else group]
        values = pd.Series(np.concatenate([of_cell[label] for of_cell in of_cells]))
        member = self.members[group][self.is_first]
        return float(values[member].groupby(self.ids[member]).mean().mean())


class GroupsOfTables(BuiltinAnalysis):
    """Scores, intervals, letters and gaps in groups of users and of items, by table."""

    is_decided = True
    makes = ("groups",)

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Divide the users and items of a table, of which these are the cells, into groups."""
        experiment = self.plan.experiment
        self.settings, self.seed = experiment.statistics, experiment.seed[0]
        self.splits = {(cell.seed, cell.fold): self.plan.split(cell) for cell in cells}
        self.candidates = experiment.candidates[cells[0].candidates]
        sections, splits = list(experiment.groups), list(self.splits.values())
        self.cells: list[FinishedCell] = []
        self.failed: dict[tuple[str, str], str] = {}
        """By row and label, why a metric failed on the lists of a group of items."""
        unknown = [split.unknown[0] for split in splits]
        both = max(unknown) > 0 and min(unknown) < 1 and self.candidates.unknown_users == "keep"
        self.adds_known = both and KNOWN not in sections
        averaged = [metric for metric in self.plan.metrics if is_mean_of_users(metric)]
        ranked = [m for m in averaged if m.definition.is_ranking and not m.is_weighted]
        self.divisions: list[_Division] = []
        for section in [*sections, *([KNOWN] if self.adds_known else [])]:
            of_users, groups = section.side == "users", divide(section, splits)
            scored = averaged if of_users else ranked
            self.divisions.append(_Division(section, scored, groups, of_users))

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Take a computed cell."""
        number = [*self.splits].index((cell.name.seed, cell.name.fold))
        is_first = all(number != of_other for _, of_other, *_ in self.cells)
        self.cells.append((cell.users, number, cell.record.users, is_first))
        lists, reasons = cell.record.rankings, dict[str, str]()
        for division in self.divisions:
            if division.of_users:
                if is_first:
                    division.scores["random", 0].append(_random(division.metrics, lists))
                continue
            scored, judged = division.metrics, self._judged(cell.split, cell.record)
            for group, mask in enumerate(division.groups.masks[number]):
                inside, rest = (item_lists(lists, part, judged) for part in (mask, ~mask))
                division.scores["inside", group].append(item_scores(scored, inside, reasons))
                division.scores["outside", group].append(item_scores(scored, rest, reasons))
                if is_first:
                    at_random = item_scores(scored, inside, at_random=True)
                    division.scores["random", group].append(at_random)
            for label, reason in reasons.items():
                self.failed[cell.name.row, label] = reason

    def end_table(
        self, name: TableName, cells: Sequence[AnyCell], tables: Sequence[str], watch: Watch
    ) -> None:
        """Compare the rows of a table in each group, with intervals, letters and gaps."""
        in_lists = failed_metrics(cells)
        self.failed = {key: self.failed[key] for key in self.failed if key not in in_lists}
        n_results = sum(len(division.metrics) for division in self.divisions)  # at most
        groups: list[GroupScores] = []
        of = ", ".join(name.names)
        for division in self.divisions:
            if self.cells and division.groups.names:
                watch(Stage(of, "groups", len(groups), n_results))
                for of_metric in self._scores(division, cells):
                    groups.append(of_metric)
                    watch(Stage(of, "groups", len(groups), n_results))
        self.said += self._notes(name.place(tables), groups)
        self.parts["groups"] += groups

    def _judged(self, split: Split, record: CellRecord) -> Judged:
        """Return the test ratings that count in the ideal of the users with a list."""
        data, rows = split.ratings, split.test
        position = np.full(data.n_users, -1)
        position[record.users] = np.arange(len(record.users))
        judged = self.candidates.judged_items(split)[data.items[rows]]
        rows = rows[judged & (position[data.users[rows]] >= 0)]
        return position[data.users[rows]], data.items[rows], data.ratings[rows]

    def _scores(self, division: _Division, cells: Sequence[AnyCell]) -> Iterator[GroupScores]:
        rows = {cell.row: cell.algorithm for cell in cells}
        failed = failed_metrics(cells).keys() | ({} if division.of_users else self.failed).keys()
        every = [str(metric) for metric in division.metrics]
        labels = [label for label in every if any((row, label) not in failed for row in rows)]
        table = _Table(division, self.cells, failed)
        compared: list[Means] = [{} for _ in division.groups.names]
        if (settings := self.settings) is not None:
            frames = (table.inside(group, labels) for group in range(len(compared)))
            compared = [self._compared(frame, labels, cells, settings) for frame in frames]
        # With a least estimate, each algorithm has lists of its own.
        is_same = self.candidates.least_estimate is None
        for label in labels:
            sides = [
                [table.scores.means_of(values, [*rows]).T[table.order] for values in pair]
                for pair in (table.of(group, label) for group in range(len(compared)))
            ]
            one, other = np.swapaxes(sides, 0, 1)  # each of shape (groups, users, rows)
            state = seeds.derive(self.seed, "groups", cells[0].table, division.section.title, label)
            rest = self._gaps(division, np.hstack([*one]), np.hstack([*other]), state)
            groups = []
            for place, name in enumerate(division.groups.names):
                n_all = len(pd.unique(table.scores.users[table.members[place]]))
                n_users = int((~np.isnan(one[place])).any(axis=1).sum())
                group = GroupResult(
                    group=name,
                    n_members=n_all if division.of_users else self._n_items(division, place),
                    n_users=n_users,
                    n_left_out=n_all - n_users,
                    random=or_none(table.random(place, label)) if is_same else None,
                    algorithms=[],
                )
                for j, (row, algorithm) in enumerate(rows.items()):
                    mean = compared[place].get((label, row))
                    mean = mean or self._alone(one[place][:, j], row, algorithm, state)
                    gap = zip(REST, map(or_none, rest[:, place * len(rows) + j]), strict=True)
                    letters = {"letters": "" if group.is_small else mean.letters}
                    group.algorithms.append(GroupMean(**mean.model_dump() | dict(gap) | letters))
                groups.append(group)
            yield GroupScores(
                **cells[0].only(TableName),
                side="users" if division.of_users else "items",
                by=division.section.by,
                metric=label,
                groups=groups,
                gaps=self._extremes(division, groups, one, state),
            )

    def _compared(
        self,
        frame: pd.DataFrame,
        labels: Sequence[str],
        cells: Sequence[AnyCell],
        settings: Inference,
    ) -> Means:
        """Compare the algorithms in a group."""
        design = self.plan.experiment.draws, self.plan.made()
        compared, _ = infer(frame, labels, cells, settings, self.seed, *design)
        return {
            (comparison.metric, mean.row): mean
            for comparison in compared
            for mean in comparison.algorithms
        }

    def _alone(self, scores: Floats, row: str, algorithm: str, state: int) -> AlgorithmMean:
        """Describe a row that is not compared with others."""
        defined = scores[~np.isnan(scores)]
        own: dict[str, Any] = {"low": None, "high": None, "n_users": len(defined), "letters": ""}
        if self.settings is not None:
            chosen = _interval(self.settings)
            lows, highs = statistics.bootstrap_interval(defined[:, None], seed=state, **chosen)
            own |= {"low": or_none(lows[0]), "high": or_none(highs[0])}
        own["mean"] = float(defined.mean()) if len(defined) else None
        return AlgorithmMean(row=row, algorithm=algorithm, **own)

    def _gaps(self, division: _Division, one: Floats, other: Floats, state: int) -> Floats:
        """Return differences of columns and the ends of their intervals; NaN without statistics."""
        if self.settings is None:
            return np.full((3, one.shape[1]), np.nan)
        chosen = _interval(self.settings) | {"paired": not division.of_users}
        return np.array(statistics.gaps(one, other, seed=state, **chosen))

    def _extremes(
        self, division: _Division, groups: Sequence[GroupResult], one: Floats, state: int
    ) -> list[GroupGap]:
        """Return each row's greatest group less its least, among those that are not small.

        The scores in `one` are of shape (groups, users, rows).
        """
        if sum(not group.is_small for group in groups) < 2:
            return []

        means = np.array([[row.mean for row in group.algorithms] for group in groups], dtype=float)
        means[[group.is_small for group in groups]] = np.nan
        rows = np.flatnonzero((~np.isnan(means)).sum(axis=0) > 1)
        most, least = (end(means[:, rows], axis=0) for end in (np.nanargmax, np.nanargmin))
        gaps = self._gaps(division, one[most, :, rows].T, one[least, :, rows].T, state)
        return [
            GroupGap(
                **groups[0].algorithms[row].only(RowKey),
                greatest=groups[high].group,
                least=groups[low].group,
                difference=gap[0],
                low=or_none(gap[1]),
                high=or_none(gap[2]),
            )
            for row, high, low, gap in zip(rows, most, least, gaps.T.tolist(), strict=True)
            if not np.isnan(gap[0])
        ]

    def _n_items(self, division: _Division, number: int) -> int:
        """Return how many items of a group have a test rating."""
        tested = (split.ratings.items[split.test] for split in self.splits.values())
        folds = zip(tested, division.groups.masks, strict=True)
        members = [items[masks[number][items]] for items, masks in folds]
        return int(np.count_nonzero(np.bincount(np.concatenate(members))))

    def _notes(self, where: str, results: Sequence[GroupScores]) -> Iterator[Note]:
        """Yield notes on groups that were added, on metrics left out, and on missing values.

        `where` names the table where there are several.
        """
        lacking: dict[tuple[str, ...], list[str]] = {}
        for division in self.divisions[: len(self.divisions) - self.adds_known]:
            if out := tuple(
                str(metric) for metric in self.plan.metrics if metric not in division.metrics
            ):
                lacking.setdefault(out, []).append(division.section.title)
        for labels, titles in lacking.items():
            yield Note("groups-without-metrics", {"groups": titles, "metrics": labels}, where)
        for label, reason in {label: reason for (_, label), reason in self.failed.items()}.items():
            yield Note("metric-failed-in-groups", {"metric": label, "reason": reason}, where)
        for metric in {metric.title: metric for metric in results}.values():
            n_unknown = sum(of.n_members for of in metric.groups if of.group == UNKNOWN)
            if metric.title == KNOWN.title:
                if self.adds_known:  # a user may be known in one fold and unknown in another
                    tested = (split.ratings.users[split.test] for split in self.splits.values())
                    n_users = np.count_nonzero(np.bincount(np.concatenate([*tested])))
                    yield Note("users-unknown-to-model", {"n": n_unknown, "n_all": n_users}, where)
            elif n_unknown and metric.by != "popularity":
                values = {"groups": metric.title, "n": n_unknown, "name": UNKNOWN}
                yield Note("groups-without-value", values, where)


def _interval(settings: Inference) -> dict[str, Any]:
    """Return how intervals are made."""
    resamples, method = settings.resamples, settings.interval
    return {"n_resamples": resamples, "method": method, "confidence": settings.confidence}


def item_lists(lists: Rankings, mask: NDArray[np.bool_], test: Judged) -> Rankings:
    """Return lists with the judgments of only a group of items; ranks still count all items."""
    in_group, judged = mask[lists.items], mask[test[1]]
    users = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))[in_group]
    owners, grades = test[0][judged], test[2][judged]
    return replace(
        lists,
        **{column: getattr(lists, column)[in_group] for column in OF_ENTRIES},
        offsets=offsets_of(users, lists.n_users),
        pool_offsets=offsets_of(owners, lists.n_users),
        pool=grades[np.lexsort((-grades, owners))],
        top_items=None,
        items=None,
    )


def item_scores(
    scored: Sequence[Metric],
    lists: Rankings,
    reasons: dict[str, str] | None = None,
    *,
    at_random: bool = False,
) -> dict[str, Floats]:
    """Score the lists of a group of items, or a random order; NaN without an item in the group.

    A metric that fails has NaN for all users; `reasons` get why, by its label.
    """
    scores = {}
    for metric in scored:
        rule = metric.having(undefined=None) if "undefined" in metric.params else metric
        if at_random:
            values = _random([rule], lists)[str(rule)]
        else:
            of_rule, failed = score_apart([rule], lists)
            values = of_rule[str(rule)].per_user
            if reasons is not None:
                reasons |= {str(metric): reason for reason in failed.values()}
        scores[str(metric)] = np.where(np.diff(lists.pool_offsets) > 0, values, np.nan)
    return scores


def _random(scored: Sequence[Metric], lists: Rankings) -> dict[str, Floats]:
    """Return the expected score of a random order of each list; NaN where that is not known."""
    bounds = evaluation.bound_scores(scored, lists)
    scores = {label: limits["random"].per_user for label, limits in bounds.items()}
    return dict.fromkeys(map(str, scored), np.full(lists.n_users, np.nan)) | scores
