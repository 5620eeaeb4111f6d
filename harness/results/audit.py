"""Errors that published tables contain, searched in a run or in what any program wrote."""

from __future__ import annotations

import itertools
import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness import evaluation, metrics
from harness.candidates import Rated, Sampled
from harness.errors import MetricError, ResultsError, counted
from harness.lazy import pd
from harness.metrics import Metric, Rankings
from harness.rankings.lists import QRELS, RUN, TREC, Rows, match, read_table
from harness.rankings.pairs import from_grouped, group_pairs
from harness.results.display import GROUP
from harness.results.fields import Number, Record, Text, Word
from harness.results.history import RUN_FILE
from harness.results.outputs import cells_of, evaluates
from harness.results.record import RunInfo
from harness.results.runs import ESTIMATES_FILE, Run, is_run, open_run
from harness.results.scores import chosen_metric, or_none

SHOWN = 0.001  # smaller differences by a definition are not reported
NEARLY_ALL, MOST, CLOSE = 0.9, 0.5, 0.05
"""Shares of equal estimates that are a fault; of a value, within which a random order is close."""
FEW, NEGATIVES = 5, 20
"""Estimates at one end that show a scale; unrated items in every list that look like a sample."""
PAIR = ["user", "item"]
RMSE = metrics.parse("rmse")
NUMBER = r"^\D*0*(\d+?)(?:\.0+)?$"  # the number in an id: 7 in ``m007`` and ``7.0``

One = Mapping[str, float | None]
Values = Mapping[str, One]
Roles = tuple[str, ...]
Place = str | Path | None
Tables = tuple["pd.DataFrame", "pd.DataFrame | None"]


class Finding(Record):
    """One finding of an audit.

    Attributes
    ----------
    id, level : str
        As ``unknown-ids`` or ``ties``. A ``fault`` makes numbers wrong; under a ``caution`` they
        depend on a choice, or say less than they seem to.
    what, where : str
        What was found, with its numbers; and the rows, users or algorithms.
    effect : dict of str to dict of str to float
        By metric, its values with and without the fault, or under each choice; None if unknown.
    case : str
        A published case.
    """

    id: Word
    level: Literal["fault", "caution"]
    what: Text
    where: Text
    effect: dict[Word, dict[Word, Number | None]]
    case: Text


class Audit(Record):
    """What `audit` finds; ``print`` shows it.

    Attributes
    ----------
    input, summary : str
        What was read.
    findings : list of Finding
        The most severe first.
    checked : list of str
        Ids of the checks that were made.
    not_checked : dict of str to str
        Ids of the others, with the reason and what to give.
    """

    input: Word
    summary: Text
    findings: list[Finding]
    checked: list[Word]
    not_checked: dict[Word, Text]

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.model_dump(), indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n".join(_text(self))


def _text(found: Audit) -> Iterator[str]:
    """Yield paragraphs; the published case of a check stands below its last finding."""
    levels = [each.level for each in found.findings]
    counts = {word: levels.count(word) for word in ("fault", "caution")}
    numbers = [counted(n, word) if n else f"no {word} found" for word, n in counts.items()]
    yield f"{found.input}: {found.summary}\n{', '.join(numbers)}"
    heading = ""
    for n, each in enumerate(found.findings, 1):
        if heading != (heading := f"\n{each.level} {each.id}: {each.what}"):
            yield heading
        if each.where:
            yield f"  where: {each.where}"
        for label, values in each.effect.items():
            shown = ((k, "unknown" if v is None else f"{v:.4f}") for k, v in values.items())
            yield f"  {label}: {', '.join(map(' '.join, shown))}"
        if n == len(levels) or found.findings[n].id != each.id:
            yield f"  known case: {each.case}"
    clean = [each for each in found.checked if each not in {own.id for own in found.findings}]
    yield f"\nchecked, nothing found: {', '.join(clean) or 'none'}"
    for why in dict.fromkeys(found.not_checked.values()):
        ids = [each for each, reason in found.not_checked.items() if reason == why]
        yield f"not checked: {', '.join(ids)}, because {why}"


@cache
def checks() -> dict[str, dict[str, Any]]:
    """Return the checks by id, the most severe first: level, title, published case, sentences."""
    text = files("harness.results").joinpath("audit.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def audit(
    source: str | Path | Run,
    *,
    truth: str | Path | None = None,
    train: str | Path | None = None,
    metric: str | None = None,
    results: str | Path = "runs",
) -> Audit:
    r"""Search a run, or a file of predictions or lists, for errors of published tables.

    Parameters
    ----------
    source : str, path or Run
        A run, its folder or its name; or a table of user, item, estimate and rating; or, with
        `truth`, of user, item and rank or estimate, or a TREC run.
    truth : path, optional
        User, item and, unless all are 1, rating; or TREC qrels.
    train : path, optional
        The training pairs: user, item and, if known, timestamp.
    metric : str, optional
        A label with a cut-off rank; by default ``ndcg@10``, of a run its nDCG nearest to it.
    results : path
        Folder in which a run is looked for by its name.

    Raises
    ------
    DataError, MetricError, ResultsError
        If the input or the label cannot be read.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "predictions.csv"
    >>> rows = [f"{user},{item},3.5,{2 + item % 3}" for user in "ab" for item in range(12)]
    >>> _ = path.write_text("\n".join(["user,item,estimate,rating", *rows]))
    >>> (found,) = audit(path).findings
    >>> found.id, found.effect["rmse"]["as it is"]
    ('unknown-ids', 0.957...)
    """
    if not isinstance(source, Run):
        path = Path(source)
        if path.is_file() and path.name != RUN_FILE and evaluates(path):
            path = path.parent
        if not is_run(path, Path(results)):
            return _of_file(path, truth, train, metric or "ndcg@10")
        source = open_run(str(path), Path(results))
    if truth is not None or train is not None:
        raise ResultsError(f"{source.name}: a run has its own truth and training; leave them out")
    return _of_run(source, metric)


class _Search:
    """Collects what is found, and what cannot be checked."""

    def __init__(self, label: str) -> None:
        self.metric = metrics.parse(label)
        if self.metric.k is None or self.metric.needs_items or self.metric.needs_pairs:
            raise MetricError(f"{label}: not a metric of ranks with a cut; give one as ndcg@10")
        self.label, self.k = str(self.metric), self.metric.k
        self.findings: list[Finding] = []
        self.open: dict[str, str] = {}

    def found(self, key: str, effect: Values | None = None, **values: Any) -> None:
        """Add a finding, whose sentences stand under `key` in ``audit.toml``."""
        check, _, kind = key.partition(".")
        known = {"where": ""} | checks()[check] | checks()[check][kind]
        values |= {"label": self.label, "k": self.k}
        said = {each: known[each].format(**values) for each in ("what", "where")}
        said |= {"level": known["level"], "case": known["case"]}
        sizes = {m: {name: or_none(v) for name, v in o.items()} for m, o in (effect or {}).items()}
        self.findings.append(Finding(id=check, effect=sizes, **said))

    def depends(self, key: str, label: str, values: One, **said: Any) -> None:
        """Add a finding if the values under several definitions differ by enough."""
        known = [value for value in map(or_none, values.values()) if value is not None]
        if known and max(known) - min(known) >= SHOWN:
            self.found(key, {label: values}, **said)

    def skip(self, reason: str, ids: str) -> None:
        self.open |= dict.fromkeys(ids.split(), reason)

    def results(self, name: str, summary: str) -> Audit:
        order, found = list(checks()), {each.id for each in self.findings}
        self.findings.sort(key=lambda each: order.index(each.id))
        left = {each: self.open[each] for each in order if each in self.open and each not in found}
        done, said = [each for each in order if each not in left], {"summary": summary}
        return Audit(input=name, findings=self.findings, checked=done, not_checked=left, **said)

    def scores(self, rows: pd.DataFrame, truth: pd.DataFrame | None = None) -> dict[str, float]:
        """Return the metric and, of predictions, RMSE; NaN where there is no row."""
        wanted = [self.metric] if truth is not None else [self.metric, RMSE]
        if not len(rows):
            return dict.fromkeys(map(str, wanted), math.nan)
        pairs = group_pairs(rows["user"], rows["key"], rows["rating"])[0] if truth is None else None
        found = metrics.score(wanted, _lists(rows, truth), pairs)
        return {str(each): scores.mean for each, scores in found.items()}

    def effect(self, *sides: tuple[pd.DataFrame, pd.DataFrame | None] | None) -> Values:
        """Return what changes from the tables as they are to those without a fault.

        None is for tables that cannot be scored.
        """
        before, after = ({} if each is None else self.scores(*each) for each in sides)
        return {
            label: {"as it is": before.get(label), "without the fault": value}
            for label, value in after.items()
            if value != before.get(label)
        }


def _share(mask: Any, n: int = 0) -> str:
    """Return how many there are, of how many, and their share."""
    part, n = int(np.sum(mask)), n or len(mask)
    return f"{part:,} of {n:,} ({part / n:.1%})"


def _lists(rows: pd.DataFrame, truth: pd.DataFrame | None) -> Rankings:
    """Return the lists of all users of both tables; predictions hold their own truth."""
    if truth is None:
        return from_grouped(*group_pairs(rows["user"], rows["key"], rows["rating"]))
    sides = [pd.concat([rows[role], truth[role]]) for role in PAIR]
    (users, user_ids), (items, item_ids) = (pd.factorize(each, sort=True) for each in sides)
    listed = Rows(users[: len(rows)], items[: len(rows)], rows["key"].to_numpy())
    judged = Rows(users[len(rows) :], items[len(rows) :], truth["rating"].to_numpy())
    return match(listed, judged, np.asarray(user_ids), np.asarray(item_ids))


def _check_estimates(search: _Search, rows: pd.DataFrame, known: float | None = None) -> bool:
    """Search estimates for constants and wrong scales; return whether they are of no use.

    `known` is the share of the pairs whose user or item has a training rating.
    """
    keys, ratings, n = rows["key"].to_numpy(), rows["rating"].to_numpy(), len(rows)
    values, counts = np.unique(keys, return_counts=True)
    estimate, n_same = values[counts.argmax()], counts.max()
    low, high, kind = ratings.min(), ratings.max(), ""
    if known is not None and known <= 1 - NEARLY_ALL:
        kind = "unknown-ids.training"
    elif n_same >= max(FEW, NEARLY_ALL * n):
        kind = "unknown-ids.constant" if known is None else "bad-estimates.constant"
    elif n_same >= max(FEW, MOST * n) and estimate not in (low, high):
        kind = "bad-estimates.constant"
    if kind:
        said = {"same": _share(n_same, n), "estimate": estimate, "deviation": ratings.std()}
        effect = search.effect((rows, None), (rows[keys != estimate], None))
        search.found(kind, effect, known=known, **said)
    room = high - low
    far = (keys < low - room) | (keys > high + room)
    if room and far.any():
        said = {"low": low, "high": high, "least": values[0], "most": values[-1]}
        effect = search.effect((rows, None), (rows.assign(key=keys.clip(low, high)), None))
        search.found("bad-estimates.far", effect, far=_share(far), **said)
    for end, side, sign in ((0, "below", 1), (-1, "above", -1)) if not kind and n >= FEW else ():
        n_cut, n_next, end = counts[end], counts[end + sign], values[end]
        cut, beyond = keys == end, sign * ratings < sign * end
        # Without a scale the outermost estimates are rare, also where they are rounded.
        if n_cut >= max(FEW, 2 * n_next) and end % 0.5 == 0 and beyond.any():
            free = rows.assign(key=np.where(cut & beyond, ratings, keys))
            said = {"cut": _share(cut), "beyond": _share(beyond), "end": end, "side": side}
            search.found("clipped.estimates", search.effect((rows, None), (free, None)), **said)
    return bool(kind)


def _check_lists(search: _Search, lists: Rankings, *, whole: bool) -> None:
    """Search lists for ties and samples, and compare definitions; for short lists if `whole`."""
    metric, label, k = search.metric, search.label, search.k

    def value(other: Metric) -> float:
        return metrics.score([other], lists)[other].mean

    rules: dict[str, float | None] = {}
    for rule in ("first", "average", "worst", "best"):
        try:
            rules[rule] = value(metric.having(ties=rule))
        except MetricError as error:
            search.skip(str(error), "ties")
    tied = round(evaluation.tied_shares([metric], lists)[label] * lists.n_users)
    search.depends("ties.lists", label, rules, tied=_share(tied, lists.n_users))
    is_binary = metric.name == "ndcg" and metric.params["gain"].word == "binary"
    binary = (metric if is_binary else metrics.parse(f"ndcg(gain=binary)@{k}")).having(ideal=None)
    ideals = {f"ideal of {k}": value(binary.having(ideal="full")), "own ideal": value(binary)}
    few = _share(_per_list(lists.pool_offsets, lists.pool > 0) < k)
    search.depends("ideal.lists", str(binary), ideals, few=few)
    found, short = metrics.score([metric], lists)[metric], lists.n_ranked <= k
    random = evaluation.bound_scores([metric], lists)[label]["random"].mean
    said: dict[str, Any] = {"table": "", "best": "all lists", "short": _share(short)}
    longer = found.per_user[~short & ~np.isnan(found.per_user)]
    if not whole:
        search.skip("the items left out of the lists are not known", "indistinct")
    elif reason := evaluation.cannot_distinguish(metric, lists):
        search.found("indistinct.metric", {label: {"here": found.mean}}, reason=reason)
    elif found.mean - random < CLOSE * found.mean:
        values = {"here": found.mean, "random order": random}
        search.found("indistinct.random", {label: values}, **said)
    elif short.mean() >= MOST:
        values = {"all": found.mean, "longer lists": longer.mean() if len(longer) else math.nan}
        search.found("indistinct.short", {label: values}, **said)
    unrated = lists.n_ranked - _per_list(lists.offsets, lists.relevance > 0)
    complete = np.array_equal(lists.offsets, lists.pool_offsets) and len(unrated) > 1
    if complete and unrated[0] >= NEGATIVES and not np.ptp(unrated):
        search.found("sampled.lists", n=unrated[0])


def _per_list(offsets: Any, mask: Any) -> Any:
    """Return how many entries of each list are marked."""
    return np.diff(np.append(0, np.cumsum(mask))[offsets])


def _of_file(path: Path, truth_path: Place, train_path: Place, label: str) -> Audit:
    """Search predictions, or lists and their truth, as any program wrote them."""
    search, truth, train = _Search(label), None, None
    if truth_path is None:
        rows = _read(path, ("user", "estimate", "rating"), ("item", "timestamp"))
        if "rating" not in rows:
            raise MetricError(f"{path}: a TREC run has no ratings; give their file with --truth")
        search.skip("predictions name no other users; give --truth", "dropped-users")
    else:
        rows = _read(path, ("user", "item"), ("estimate", "rank", "timestamp"))
        if "key" not in rows:
            raise MetricError(f"{path}: no column of rank or estimate; add one")
        truth = _read(Path(truth_path), ("user", "item"), ("rating", "timestamp"), QRELS)
        truth = truth.assign(rating=truth.get("rating", 1.0))
        search.skip("a list has no estimates of ratings", "clipped")
        search.skip("the lists of several users have no common order", "one-list")
    if train_path is not None:
        train = _read(Path(train_path), ("user", "item"), ("timestamp",))
    rows, truth = _usable(search, rows, truth)
    judged = rows if truth is None else truth
    _check_training(search, rows, truth, train)
    if truth is not None:
        useless = _check_ids(search, rows, truth)
    else:
        known = None
        if train is not None:
            sides = [judged[role].isin(train[role]) for role in PAIR if role in judged]
            known = float(np.logical_or.reduce(sides).mean())
        useless = _check_estimates(search, rows, known)
    lists = _lists(rows, truth)
    if useless:
        rest = "clipped indistinct dropped-users sampled ties ideal one-list"
        search.skip("the ids or the estimates are of no use", rest)
    else:
        _check_lists(search, lists, whole=truth is None)
        _check_users(search, rows, truth, lists)
    shown = (f"{name} {value:.4f}" for name, value in search.scores(rows, truth).items())
    size = f"{counted(len(rows), 'row')}, {counted(lists.n_users, 'user')}"
    return search.results(str(path), f"{size}; {', '.join(shown)}")


def _read(path: Path, required: Roles, optional: Roles, form: str = RUN) -> pd.DataFrame:
    """Read a table; rows that lack more than an estimate are refused.

    ``key`` orders lists, ``at`` is the place of the row.
    """
    from harness.datasets.cleaning import refuse_faults

    table = read_table(path, required, optional, form=form, refuse=False)
    sound = [np.isfinite(values) for role, values in table.numbers.items() if role != "estimate"]
    sound += [each.codes >= 0 for each in table.ids.values()]
    sound += [np.array([flaw.policy != "" or not len(flaw.rows)]) for flaw in table.flaws]
    if not all(each.all() for each in sound):
        refuse_faults(table)
    ids = {role: each.ids[each.codes] for role, each in table.ids.items()}
    rows = pd.DataFrame(ids | table.numbers | table.times)
    if {"rank", "estimate"} & {*rows}:
        rows["key"] = -rows["rank"] if "rank" in rows else rows["estimate"]
    broken = rows.duplicated(PAIR) if "item" in rows else np.zeros(len(rows), bool)
    broken = broken | ~np.isfinite(rows.get("key", 0))
    rows["at"] = [table.at(row) if wrong else "" for row, wrong in enumerate(broken)]
    trec = path.suffix.casefold() in TREC
    return rows.sort_values("item", ascending=False, kind="stable") if trec else rows


def _usable(search: _Search, rows: pd.DataFrame, truth: pd.DataFrame | None) -> Tables:
    """Return the tables without estimates that are no numbers, and the first row of each pair."""
    finite = np.isfinite(rows["key"].to_numpy())
    wrong, rows = rows[~finite], rows[finite]
    if not len(rows):
        raise MetricError(f"{wrong['at'].iloc[0]}: no estimate is a finite number; give some")
    if "item" in rows:
        given = [table for table in (rows, truth) if table is not None]
        rows = rows.drop_duplicates(PAIR)
        truth = None if truth is None else truth.drop_duplicates(PAIR)
        for table, again in ((each, each[each.duplicated(PAIR)]) for each in given):
            if len(again):
                values = [each for each in ("key", "rating") if each in table]
                groups = table[table.duplicated(PAIR, keep=False)].groupby(PAIR)[values]
                effect = search.effect((table, None) if truth is None else None, (rows, truth))
                said = {"again": _share(len(again), len(table)), **again[[*PAIR, "at"]].iloc[0]}
                said["differing"] = int((groups.nunique() > 1).any(axis=1).sum())
                search.found("duplicates.pairs", effect, **said)
    else:
        search.skip("the file has no items", "duplicates test-in-training")
    if len(wrong):
        said = {"wrong": _share(~finite), "first": wrong["at"].iloc[0]}
        search.found("bad-estimates.infinite", search.effect(None, (rows, truth)), **said)
    return rows, truth


def _check_training(
    search: _Search, rows: pd.DataFrame, truth: pd.DataFrame | None, train: pd.DataFrame | None
) -> None:
    """Compare the test with the training pairs."""
    if train is None:
        search.skip("there are no training pairs; give --train", "test-in-training future")
        return
    judged = rows if truth is None else truth
    if "item" in judged:
        pairs = [pd.MultiIndex.from_frame(table[PAIR]) for table in (judged, rows, train)]
        seen, listed = pairs[0].isin(pairs[2]), pairs[1].isin(pairs[2])
        if seen.any():
            left = rows[~listed], None if truth is None else truth[~seen]
            said = {"seen": _share(seen), **judged.loc[seen, PAIR].iloc[0]}
            search.found("test-in-training.pairs", search.effect((rows, truth), left), **said)
    if "timestamp" not in judged or "timestamp" not in train:
        search.skip("the test or the training pairs have no timestamps", "future")
        return
    later = train["timestamp"] > np.quantile(judged["timestamp"], 0.5, method="lower")
    if later.any():
        n_users = judged[judged["timestamp"] < train["timestamp"].max()]["user"].nunique()
        search.found("future.pairs", later=_share(later), users=counted(n_users, "user"))


def _check_ids(search: _Search, rows: pd.DataFrame, truth: pd.DataFrame) -> bool:
    """Return whether no listed pair is in the truth; try the numbers in the ids."""
    if len(_lists(rows, truth).relevance):
        return False
    common = [f"{role}s" for role in PAIR if rows[role].isin(truth[role]).any()]
    plain = [table.copy() for table in (rows, truth)]
    for table, role in itertools.product(plain, PAIR):
        table[role] = table[role].str.extract(NUMBER, expand=False).fillna("")
    effect: Values = {search.label: {"as it is": 0.0, "without the fault": None}}
    if not any(t.duplicated(PAIR).any() for t in plain) and len(_lists(*plain).relevance):
        effect = search.effect((rows, truth), (plain[0], plain[1]))
    listed, judged = ("user {user}, item {item}".format(**t.iloc[0]) for t in (rows, truth))
    said = {"common": " and ".join(common) or "none", "listed": listed, "judged": judged}
    search.found("unknown-ids.lists", effect, **said)
    return True


def _check_users(
    search: _Search, rows: pd.DataFrame, truth: pd.DataFrame | None, lists: Rankings
) -> None:
    """Find users of the truth without a list; compare predictions with a single list."""
    label = search.label
    if truth is None:
        sides = {"one list": rows.assign(user="all"), "mean over users": rows}
        both = {name: search.scores(each)[label] for name, each in sides.items()}
        search.depends("one-list.pairs", label, both, n=len(rows))
        return
    owners = np.asarray(lists.users)
    without = ~np.isin(owners, rows["user"]) & np.isin(owners, truth["user"])
    if without.any():
        scores = metrics.score([search.metric], lists)[search.metric].per_user
        rest = scores[~without & ~np.isnan(scores)]
        n = len(rest) + int(without.sum())
        both = {"users with a list": rest.mean(), "others as 0": rest.sum() / n}
        said = {"without": _share(without.sum(), n), "users": ", ".join(owners[without][:5])}
        search.found("dropped-users.lists", {label: both}, **said)


def _of_run(run: Run, label: str | None) -> Audit:
    """Search a run; what its own rules exclude counts as checked."""
    info = run.info
    known = [each for each in info.metrics if metrics.parse(each).k]
    if not known:
        ways = "add ndcg@10 to its config, and run it"
        raise ResultsError(f"{run.name}: has no metric with a cut; {ways}")
    search = _Search(chosen_metric(label, known, f"{run.name}: has no", info.headline))
    if not any(each.span for each in info.descriptions):
        search.skip("the run knows no timestamps", "future")
    for check in ["ties"] * (not info.ties) + ["ideal"] * (not info.conventions):
        search.skip("the run keeps no scores by other definitions", check)
    for data, note in ((each, note) for each in info.datasets for note in each.notes):
        if note.code in ("outside-scale-clipped", "outside-scale-kept"):
            search.found("clipped.ratings", note=note, data=data.name)
    for note in info.notes:
        if note.code in ("indistinct", "all-equal"):
            search.found("indistinct.note", note=note)
    for key, rows in run.table.groupby("table", sort=False):
        up, known_rows = search.metric.higher_is_better, rows.dropna(subset=[search.label])
        if len(known_rows):
            ordered = known_rows.sort_values(search.label, ascending=up)
            _check_table(search, run, str(key), ordered)
    _check_outputs(search, run)
    size = f"run of {counted(len(info.rows), 'row')} in {counted(len(info.tables), 'table')}"
    return search.results(run.name, f"{size}, by {search.label}")


def _start(info: RunInfo, table: object) -> str:
    """Return how a place in one of several tables begins; '' where there is one table."""
    return f"{', '.join(info.tables[str(table)])}: " if len(info.tables) > 1 else ""


def _check_table(search: _Search, run: Run, key: str, rows: pd.DataFrame) -> None:
    """Search one table of a run, whose rows are in the order of the metric, the best one last."""
    info, label, best = run.info, search.label, rows.iloc[-1]
    where: dict[str, Any] = {"table": _start(info, key), "best": best["algorithm"]}

    def beside(column: str, name: str) -> Values:
        """Return the value of the best row, and that of its algorithm in another table."""
        same = [each for each in (*GROUP, "algorithm") if each != column]
        others = run.table[(run.table[same] == best[same]).all(axis=1)].set_index(column)[label]
        there = {str(each): float(v) for each, v in others.items() if str(each).startswith(name)}
        return {label: {best[column]: float(best[label]), **(there or {name: None})}}

    of_data = [each for each in info.splits if each.dataset == best["dataset"]]
    leaks = {s.split: [n for n in s.notes if n.code == "leak"] for s in reversed(of_data)}
    for note in leaks.get(best["split"], []):
        other = next((split for split, own in leaks.items() if not own), "a split by time")
        effect = beside("split", other)
        search.found("future.run", effect, split=best["split"], note=note, **where)
    asked = info.section("candidates", best["candidates"])
    if isinstance(asked, Sampled):
        effect = beside("candidates", "catalogue")
        search.found("sampled.run", effect, candidates=best["candidates"], **where)
    cells = [each for each in info.finished if each.row == best["row"]]
    unknown = {each.fingerprint: (each.unknown or [0.0])[0] for each in of_data}
    shares = np.array([unknown.get(each.split_fingerprint, 0.0) for each in cells])
    if getattr(asked, "unknown_users", "") == "drop" and shares.any():
        means = np.array([each.scores[label].mean for each in cells], float)
        both = {"users of training": means.mean(), "others as 0": (means * (1 - shares)).mean()}
        search.found("dropped-users.run", {label: both}, share=shares.mean(), **where)
    for entry in (each for each in info.ties if each.table == key):
        gaps = [(r.scores.get("best") or 0) - (r.scores.get("worst") or 0) for r in entry.rows]
        moved = [row for row, gap in zip(entry.rows, gaps, strict=True) if gap >= SHOWN]
        if moved:
            worst, n = entry.rows[int(np.argmax(gaps))], _share(len(moved), len(gaps))
            tied = ", ".join(f"{row.algorithm} ({row.tied or 0:.0%})" for row in moved)
            said = {"moved": n, "worst": worst.algorithm, "rows": tied}
            said["mean"] = ", the mean of the folds and seeds" * info.has_several_cells
            search.found("ties.run", {entry.metric: dict(worst.scores)}, **said, **where)
    for shown in (each for each in info.conventions if each.table == key):
        scores = {row.label: row.scores.get(best["row"]) for row in shown.rows}
        for full in (each for each in scores if "ideal=full" in each):
            own = str(metrics.parse(full).having(ideal=None))
            ideals = {f"ideal of {shown.k}": scores[full], "own ideal": scores.get(own)}
            search.depends("ideal.run", own, ideals, **where)
    bounds = {each.bound: each.scores.get(label) for each in info.bounds if each.table == key}
    if (random := bounds.get("random")) and best[label] - random < CLOSE * best[label]:
        both = {"best row": best[label], "random order": random}
        search.found("indistinct.random", {label: both}, **where)
    for compared in info.statistics:
        alike = not any(pair.significant for pair in compared.pairs)
        if (compared.table, compared.metric) == (key, label) and alike:
            both = {"first row": best[label], "last row": rows[label].iloc[0]}
            n_rows = len(compared.algorithms)
            search.found("indistinct.letters", {label: both}, n=n_rows, **where)
    described = [each for each in info.descriptions if each.name == best["dataset"]]
    splits = [split for each in described for split in each.splits]
    for split in splits if isinstance(asked, Rated) else ():
        if split.name == best["split"] and (share := split.short.get(str(search.k), 0)) >= MOST:
            search.found("indistinct.short", short=f"{share:.0%} of all", **where)
    impossible = {}
    for row, name in zip(rows["row"], rows["algorithm"], strict=True):
        counts = [(each.n_impossible, each.n_test) for each in info.finished if each.row == row]
        n, n_all = np.sum(counts, axis=0)
        if n >= MOST * n_all:
            impossible[name] = _share(n, n_all)
    if impossible:
        first = {"first": next(iter(impossible)), "rows": ", ".join(impossible)}
        where |= {"impossible": impossible[first["first"]], **first}
        search.found("bad-estimates.impossible", **where)


def _check_outputs(search: _Search, run: Run) -> None:
    """Search the estimates of each row that are ratings; the first fold with a fault counts."""
    from harness.algorithms import registry

    try:
        path = run.path(ESTIMATES_FILE)
    except ResultsError as error:
        search.skip(str(error), "unknown-ids bad-estimates clipped")
        return
    chosen = run.info.experiment.algorithms
    scores = [e.title for e in chosen if registry.entry(e.name).gives_preferences(e.params)]
    seen: set[tuple[object, str]] = set()
    for (*_, name, table, row, _, fold), cell in cells_of(path):
        if name not in scores:
            own = _Search(search.label)
            _check_estimates(own, cell.assign(key=cell["estimate"]))
            for each in (each for each in own.findings if (row, each.id) not in seen):
                seen.add((row, each.id))
                where = f"{_start(run.info, table)}{name}, fold {int(str(fold)) + 1}; {each.where}"
                search.findings.append(each.model_copy(update={"where": where}))
