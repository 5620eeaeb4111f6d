"""The scores of a table by groups of its users and items, and the gaps between groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness import statistics
from harness._util import seeds
from harness._util.libraries import pd
from harness.comparison.inference import infer
from harness.config.settings import KNOWN, GroupSection, Inference
from harness.datasets.features import flags_of
from harness.errors import DataError, counted, suggestion
from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
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
    from harness.experiment.plan import Cell, Plan


QUANTILES = 4
MOST_VALUES = 10
"""A column of numbers with more values is divided into quantiles."""
MOST_GROUPS = 40
UNKNOWN = "unknown"
"""The group without a value, or without a training rating."""

Masks = NDArray[np.bool_]
"""Of shape (n_groups, n_codes)."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Who belongs to which group, in each of several splits of the same ratings."""

    names: list[str]
    masks: list[Masks]
    """One for each split; a user or item may belong to several groups."""


def divide(section: GroupSection, splits: Sequence[Split]) -> Groups:
    """Divide users or items for each fold of a table, or raise a DataError for a bad column.

    >>> from harness.config.settings import GroupSection
    >>> from harness.datasets import load
    >>> from harness.splits import make
    >>> from harness.splits.random import Holdout
    >>> found = divide(GroupSection(items="popularity"), make(Holdout(), load("bundled"), seed=0))
    >>> dict(zip(found.names, found.masks[0].sum(axis=1).tolist()))
    {'head': 283, 'middle': 893, 'tail': 7194, 'unknown': 696}
    """
    users = section.side == "users"
    counts = np.array([_counts(split, users) for split in splits])
    if section.title == "users: known":
        return Groups(["known", UNKNOWN], [np.array([row > 0, row == 0]) for row in counts])
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


def _counts(split: Split, of_users: bool) -> NDArray[np.int64]:
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
            problem = f"{words.iloc[0]!r} is no number" if len(words) else "the column is empty"
            raise DataError(f"groups: {section.title}: {problem}; leave `quantiles` out")
        flags = flags_of(column)
        names = sorted(flags.columns, key=natural)
        if len(names) > MOST_GROUPS:
            raise DataError(
                f"groups: {section.title}: {counted(len(names), 'value')}, as {names[0]!r}; "
                f"use a column of numbers, or of at most {MOST_GROUPS} values"
            )
        if UNKNOWN in names:  # a genre of MovieLens
            missing = missing | (flags[UNKNOWN] > 0).to_numpy()
            names.remove(UNKNOWN)
        masks = flags[names].to_numpy().T > 0
    return ([*names, UNKNOWN], np.vstack([masks, missing])) if missing.any() else (names, masks)


Judged = tuple[NDArray[np.int64], NDArray[np.int32], Floats]
"""Columns of test ratings: the position of the user among the lists, the item, the rating."""
REST = ("rest", "rest_low", "rest_high")
OF_ENTRIES = ("relevance", "rank", "tie_low", "tie_high")
Means = Mapping[tuple[str, str], AlgorithmMean]
"""Means, intervals and letters of a group by metric and row."""


Frames: TypeAlias = "tuple[list[pd.DataFrame], list[pd.DataFrame], list[pd.DataFrame]]"


@dataclass(eq=False)
class _Division:
    """Users or items in groups."""

    section: GroupSection
    metrics: list[Metric]
    groups: Groups
    of_users: bool
    frames: list[Frames]
    """For each group scores of users inside it, in its rest, and inside it of a random order."""


class GroupsOfTables(BuiltinAnalysis):
    """Scores, intervals, letters and gaps in groups of users and of items, by table."""

    is_decided = True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.scores: list[GroupScores] = []
        self.said: list[Note] = []
        self.settings, self.seed = plan.experiment.statistics, plan.experiment.seed[0]
        self.interval: dict[str, Any] = {}
        if self.settings is not None:
            resamples, method = self.settings.resamples, self.settings.interval
            self.interval = {"n_resamples": resamples, "method": method}
            self.interval["confidence"] = self.settings.confidence

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Divide the users and items of a table, of which these are the cells, into groups."""
        plan = self.plan
        self.splits = {(cell.seed, cell.fold): plan.split(cell) for cell in cells}
        self.folds = {fold: number for number, fold in enumerate(self.splits)}
        self.candidates = plan.experiment.candidates[cells[0].candidates]
        sections, splits = list(plan.experiment.groups), list(self.splits.values())
        self.seen: set[tuple[int, int]] = set()
        self.failed: dict[tuple[str, str], str] = {}
        """By row and label, why a metric failed on the lists of a group of items."""
        are_known = np.concatenate([
            split.known_users[np.flatnonzero(np.bincount(split.ratings.users[split.test]))]
            for split in splits
        ])  # fmt: skip
        drops = self.candidates.unknown_users == "drop"
        self.adds_known = (
            KNOWN not in sections and not drops and 0 < are_known.sum() < len(are_known)
        )
        averaged = [metric for metric in plan.metrics if is_mean_of_users(metric)]
        ranked = [m for m in averaged if m.is_ranking and not m.is_weighted]
        self.divisions: list[_Division] = []
        for section in [*sections, *([KNOWN] if self.adds_known else [])]:
            groups, of_users = divide(section, splits), section.side == "users"
            frames: list[Frames] = [([], [], []) for _ in groups.names]
            scored = averaged if of_users else ranked
            self.divisions.append(_Division(section, scored, groups, of_users, frames))

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Take a finished cell."""
        fold, record, users = (cell.name.seed, cell.name.fold), cell.record, cell.users
        codes, lists, reasons = record.users, record.rankings, dict[str, str]()
        is_first, number = fold not in self.seen, self.folds[fold]
        self.seen.add(fold)
        for division in self.divisions:
            scored, masks = division.metrics, division.groups.masks[number]
            if division.of_users:
                chance = users.assign(**_random(scored, lists)) if is_first else None
                for mask, (inside, outside, random) in zip(masks, division.frames, strict=True):
                    inside.append(users[mask[codes]])
                    outside.append(users[~mask[codes]])
                    random += [] if chance is None else [chance[mask[codes]]]
                continue
            judged = self._judged(self.splits[fold], record)
            for mask, (inside, outside, random) in zip(masks, division.frames, strict=True):
                inside_group, rest = (item_lists(lists, part, judged) for part in (mask, ~mask))
                inside.append(users.assign(**item_scores(scored, inside_group, reasons)))
                outside.append(users.assign(**item_scores(scored, rest, reasons)))
                if is_first:
                    random.append(users.assign(**item_scores(scored, inside_group, at_random=True)))
            for label, reason in reasons.items():
                self.failed[users["row"].iloc[0], label] = reason

    def end_table(
        self,
        name: TableName,
        cells: Sequence[AnyCell],
        tables: Iterable[str],
        report: Callable[[str, int, int], object],
    ) -> None:
        """Compare the rows of a table in each group, with intervals, letters and gaps."""
        in_lists = failed_metrics(cells)
        self.failed = {key: self.failed[key] for key in self.failed if key not in in_lists}
        n_results = sum(len(division.metrics) for division in self.divisions)  # at most
        groups: list[GroupScores] = []
        report("groups", 0, n_results)
        for division in self.divisions:
            if any(inside for inside, *_ in division.frames):  # a cell finished
                for of_metric in self._scores(division, cells):
                    groups.append(of_metric)
                    report("groups", len(groups), n_results)
        self.said += self._notes(name.place([*tables]), groups)
        self.scores += groups

    def notes(self) -> list[Note]:
        """Return the notes on the groups of all tables."""
        return self.said

    def parts(self) -> dict[str, Any]:
        """Return the scores of each table in its groups."""
        return {"groups": self.scores}

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
        labels = [
            str(metric)
            for metric in division.metrics
            if not all((row, str(metric)) in failed for row in rows)
        ]
        inside, outside, random = (
            [pd.concat(frames[part], ignore_index=True) for frames in division.frames]
            for part in range(3)
        )
        for row, label in failed:
            for frame in (*inside, *outside) if label in labels else ():
                frame.loc[frame["row"] == row, label] = np.nan
        compared: list[Means] = [{} for _ in inside]
        if self.settings is not None:
            compared = [self._compared(frame, labels, cells, self.settings) for frame in inside]
        users = pd.concat([inside[0]["user"], outside[0]["user"]]).unique()
        for label in labels:
            # Of shape (groups, users, rows).
            one, other = (
                np.stack([_wide(frame, label, users, rows) for frame in frames])
                for frames in (inside, outside)
            )
            state = seeds.derive(self.seed, "groups", cells[0].table, division.section.title, label)
            rest = self._gaps(division, np.hstack([*one]), np.hstack([*other]), state)
            groups = []
            for place, name in enumerate(division.groups.names):
                chance = random[place].groupby("user")[label].mean().mean()
                n_users = int((~np.isnan(one[place])).any(axis=1).sum())
                group = GroupResult(
                    group=name,
                    n_members=self._n_members(division, place, inside[place]),
                    n_users=n_users,
                    n_left_out=inside[place]["user"].nunique() - n_users,
                    # With a least estimate, each algorithm has lists of its own.
                    random=None if self.candidates.least_estimate is not None else or_none(chance),
                    algorithms=[],
                )
                for j, (row, algorithm) in enumerate(rows.items()):
                    mean = compared[place].get((label, row))
                    mean = mean or self._alone(one[place, :, j], row, algorithm, state)
                    gap = rest[:, place * len(rows) + j]
                    described = mean.model_dump() | dict(zip(REST, map(or_none, gap), strict=True))
                    described["letters"] = "" if group.is_small else mean.letters
                    group.algorithms.append(GroupMean.model_validate(described))
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
        defined, ends = scores[~np.isnan(scores)], (np.nan, np.nan)
        if self.settings is not None:
            low, high = statistics.bootstrap_interval(defined[:, None], seed=state, **self.interval)
            ends = (low[0], high[0])
        return AlgorithmMean(
            row=row,
            algorithm=algorithm,
            mean=float(defined.mean()) if len(defined) else None,
            low=or_none(ends[0]),
            high=or_none(ends[1]),
            letters="",
            n_users=len(defined),
        )

    def _gaps(self, division: _Division, one: Floats, other: Floats, state: int) -> Floats:
        """Return differences of columns and the ends of their intervals; NaN without statistics."""
        if self.settings is None:
            return np.full((3, one.shape[1]), np.nan)
        paired = not division.of_users
        return np.array(statistics.gaps(one, other, paired=paired, seed=state, **self.interval))

    def _extremes(
        self, division: _Division, groups: Sequence[GroupResult], one: Floats, state: int
    ) -> list[GroupGap]:
        """Return each row's greatest group less its least, among those that are not small."""
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

    def _n_members(self, division: _Division, number: int, frame: pd.DataFrame) -> int:
        """Return the users in a group, or its items with a test rating."""
        if division.of_users:
            return int(frame["user"].nunique())
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
        reasons = {label: reason for (_, label), reason in self.failed.items()}
        for label, reason in reasons.items():
            yield Note("metric-failed-in-groups", {"metric": label, "reason": reason}, where)
        for metric in {metric.title: metric for metric in results}.values():
            sizes = {group.group: group.n_members for group in metric.groups}
            n_unknown = sizes.get(UNKNOWN, 0)
            if metric.title == KNOWN.title:
                if self.adds_known:  # a user may be known in one fold and unknown in another
                    tested = (split.ratings.users[split.test] for split in self.splits.values())
                    n_users = np.count_nonzero(np.bincount(np.concatenate([*tested])))
                    yield Note("users-unknown-to-model", {"n": n_unknown, "n_all": n_users}, where)
            elif n_unknown and metric.by != "popularity":
                values = {"groups": metric.title, "n": n_unknown, "name": UNKNOWN}
                yield Note("groups-without-value", values, where)


def _wide(
    frame: pd.DataFrame, label: str, users: NDArray[np.object_], rows: Mapping[str, str]
) -> Floats:
    """Return scores with a row for each user, whose folds and seeds are averaged first."""
    scores = frame.pivot_table(index="user", columns="row", values=label, aggfunc="mean")
    return scores.reindex(index=users, columns=[*rows]).to_numpy(np.float64)


def item_lists(lists: Rankings, mask: NDArray[np.bool_], test: Judged) -> Rankings:
    """Return lists with the judgments of a group of items alone; ranks stay those of all items."""
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
            of_rule, failed = score_apart([rule], lists.n_users, lists)
            values = of_rule[rule].per_user
            if reasons is not None:
                reasons |= {str(metric): reason for reason in failed.values()}
        scores[str(metric)] = np.where(np.diff(lists.pool_offsets) > 0, values, np.nan)
    return scores


def _random(scored: Sequence[Metric], lists: Rankings) -> dict[str, Floats]:
    """Return the expected score of a random order of each list; NaN where that is not known."""
    bounds = evaluation.bound_scores(scored, lists)
    scores = {label: limits["random"].per_user for label, limits in bounds.items()}
    return dict.fromkeys(map(str, scored), np.full(lists.n_users, np.nan)) | scores
