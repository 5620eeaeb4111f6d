"""The verdict on a results table: which row leads, from which rows it differs, and by how much."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from harness import metrics
from harness.errors import counted, joined, listed
from harness.notes.note import SEPARATOR, Note, by_weight, plain
from harness.plugins.registry import folded
from harness.results.record import RunInfo
from harness.results.scores import is_mean_of_users
from harness.results.statistics import Answer, PairDifference, leading
from harness.results.table import (
    DEFAULT_DECIMALS,
    column_decimals,
    comparison_of,
    printable,
    rounded,
)

LONGEST_SENTENCE = 200
"""Characters of a sentence of a verdict."""
MOST_NAMES = 3
"""Rows that a sentence names; it counts the others."""
LONGEST_NAME = 48


def row_names(names: Sequence[str], most: int) -> str:
    """Return some names, and how many more there are; only their number for `most` 0."""
    if not most:
        return counted(len(names), "row")
    names = [shortened(name) for name in names]
    return listed(names, most) if len(names) > most else joined(names)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name without its middle where it is too long."""
    text = printable(name)
    end = (longest - 5) // 2
    return text if len(text) <= longest else f"{text[:end]} ... {text[-end:]}"


def fitting(text: Callable[[int], str]) -> str:
    """Return a sentence that names as many rows as fit in `LONGEST_SENTENCE`."""
    for most in range(MOST_NAMES, -1, -1):
        shown = text(most)
        if len(shown) <= LONGEST_SENTENCE:
            break
    return shown


CANNOT = "cannot decide: "
"""How a comparison begins to say why no difference could be significant."""
TOO_FEW = "too few users differ between any two rows"


def _not_compared(standing: Standing) -> Iterator[str]:
    if not is_mean_of_users(metrics.parse(standing.label)):
        why = "its values are not means over users, which the tests need"
    elif standing.info.experiment.statistics is None:
        why = "the config turns statistics off; delete `statistics: null`"
    else:
        why = "its rows were not compared; the notes say why"
    yield f"No verdict by {standing.label}: {why}."
    yield fitting(
        lambda most: (
            f"The best value is {standing.shown()}, of {row_names(standing.leaders, most)}"
            f"{standing.above_baseline()}{standing.left_out(most)}."
        )
    )


def _cannot_decide(standing: Standing) -> Iterator[str]:
    note = standing.comparison.note if standing.comparison else ""
    why = note.removeprefix(CANNOT) if note.startswith(CANNOT) else TOO_FEW
    yield f"No verdict by {standing.label}: the test cannot decide; {why}."
    yield from _best_value(standing)


def _no_leader(standing: Standing) -> Iterator[str]:
    yield (
        f"No verdict by {standing.label}: the rows have different users, and each row is "
        "significantly worse than another one for the users that the two share."
    )
    yield from _best_value(standing)


def _best_value(standing: Standing) -> Iterator[str]:
    def text(most: int) -> str:
        within = ""
        if standing.margin is not None and (names := standing.answered("equivalent")):
            within = f", within {standing.margin:g} equivalent to {row_names(names, most)}"
        began = f"The best value is {standing.shown()}, of {row_names(standing.leaders, most)}"
        return f"{began}{within}{standing.left_out(most)}."

    yield fitting(text)


def _all_equal(standing: Standing) -> Iterator[str]:
    rows = counted(len(standing.scores), "row")
    yield fitting(
        lambda most: (
            f"No verdict by {standing.label}: all {rows} have the same value, {standing.shown()}"
            f"{standing.left_out(most)}."
        )
    )


def _one_row(standing: Standing) -> Iterator[str]:
    name = shortened(standing.leaders[0])
    began = f"No verdict by {standing.label}: {name} ({standing.shown()}) is the only row"
    if len(standing.rows) == 1:  # no row can be left out
        yield f"{began}."
    else:
        yield fitting(lambda most: f"{began} with a value{standing.left_out(most)}.")


def _no_row(standing: Standing) -> Iterator[str]:
    folds = " on every fold" if standing.info.has_several_cells else ""
    yield fitting(
        lambda most: (
            f"No verdict by {standing.label}: no row has a value{folds}{standing.left_out(most)}."
        )
    )


def answers_in_words(standing: Standing, most: int) -> str:
    """Return the rows by their answer against the leaders."""
    words = {
        "equivalent": f"within {standing.margin:g} equivalent to",
        "undecided": "undecided against",
        "different": "different from",
        "": "not the same answer against each of them:",
    }
    rows = {answer: standing.answered(answer) for answer in words}
    return "; ".join(
        f"{said} {row_names(rows[answer], most if answer != 'different' else min(most, 1))}"
        for answer, said in words.items()
        if rows[answer]
    )


REASONS = {
    "not-compared": _not_compared,
    "all-equal": _all_equal,
    "cannot-decide": _cannot_decide,
    "no-leader": _no_leader,
    "one-row": _one_row,
    "no-row": _no_row,
}
"""What writes the sentences of a table without a verdict, by its code."""

SIMPLE = frozenset({"random", "popularity", "itemmean"})
"""The baselines that the leading row is measured against; `folded` writes their names so."""

MOST_NOTES = 5
"""Notes beside a table; the others are counted."""

CLAIMS = {
    "models": "The tests compare these fitted models, for users like these; other seeds can give "
    "other results",
    "algorithms": "The tests compare the algorithms, for users like these and other seeds",
}
"""The claims of tests, for runs that do not record them."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer of a results table by the headline metric; ``str(verdict)`` is its text.

    Parameters
    ----------
    code : str
        ``leads``: a row has the best value of those that no other is significantly better than.
        Without a verdict, why: ``cannot-decide`` (too few users differ for any significant
        difference), ``no-leader`` (each row is significantly worse than another one, for the users
        that the two share), ``not-compared``, ``all-equal``, ``one-row`` or ``no-row``.
    table : str
        The identity of the table.
    where : str
        Names of data set, split and candidates; empty where the run has one table.
    metric : str
        The headline metric.
    sentences : tuple of str
        One to four, of at most 200 characters each.
    values : mapping of str to JSON values
        ``leaders``, the rows that lead, and ``value``; ``equal``, rows that no leader is
        significantly better than, ``worse``, those that each leader is significantly better than,
        ``partly``, those that some leaders are, and ``left_out``, rows that were not compared;
        ``contradicted``, rows whose test and mean difference disagree on the better side, and
        ``overtaken``, rows with a better value, over other users, that another row is significantly
        better than; ``common_users``, by row that has other users than a leader, how many they
        share; ``margin`` of equivalence and ``answers``, by row, against the leaders: different,
        equivalent, undecided, or None where leaders differ; ``detectable``, the smallest difference
        that the run finds from each undecided row with a power of 80%; ``failed``, rows with a
        failed cell; ``baseline``, the best of Random, Popularity and ItemMean, ``gap``, how much
        better the leader is, in units of the metric, for ``gap_users`` where the two have different
        users, and ``gap_is_significant``; ``claim``, algorithms or models. None or empty where the
        table has none.

    Examples
    --------
    >>> import harness
    >>> run = harness.run({
    ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
    ...     "algorithms": ["ItemMean"], "metrics": ["ndcg@5"], "baselines": False}, results=None)
    >>> [verdict] = verdicts(run.info)
    >>> verdict.code, verdict.values["leaders"]
    ('one-row', ['ItemMean'])
    """

    code: str
    table: str
    where: str
    metric: str
    sentences: tuple[str, ...]
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_decided(self) -> bool:
        """Whether rows were compared, so that there is an answer."""
        return self.code == "leads"

    def __str__(self) -> str:
        return in_words(self.where, self.sentences)

    def __repr__(self) -> str:
        return f"<Verdict {self.code}: {self}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON holds it."""
        shown = {"code": self.code, "table": self.table, "where": self.where, "metric": self.metric}
        return {**shown, "values": plain(self.values), "text": " ".join(self.sentences)}


def smallest_found(label: str, size: float, shown: str, rival: str, run: str) -> str:
    """Return the sentence on the smallest difference that a run detects.

    A size beyond what values of the metric can differ by means that the run detects none.
    """
    low, high = metrics.parse(label).range
    began = f"{run[0].upper()}{run[1:]} can miss"
    if size > high - low:
        return (
            f"{began} any difference{rival}: it detects {shown} or more with a power of 80%, and "
            f"{label} lies between {low:g} and {high:g}."
        )
    return f"{began} differences{rival} that are smaller than {shown} (power 80%)."


def in_words(where: str, sentences: Sequence[str]) -> str:
    """Return sentences on a table as text."""
    return (where + SEPARATOR if where else "") + " ".join(sentences)


def verdicts(info: RunInfo) -> list[Verdict]:
    """Return the verdict on each table of a run, in the order of the tables."""
    return [Standing(info, table).verdict() for table in info.tables]


def verdict_lines(info: RunInfo) -> list[str]:
    """Return the verdicts of a run as text, one for each table.

    If all of several tables have the same last sentence, it is given once, at the end.
    """
    said = [(of.where, of.sentences()) for of in (Standing(info, table) for table in info.tables)]
    last = {sentences[-1] for _, sentences in said}
    if len(said) == 1 or len(last) > 1 or any(len(sentences) < 2 for _, sentences in said):
        return [in_words(*of_table) for of_table in said]
    return [*(in_words(where, sentences[:-1]) for where, sentences in said), *last]


def notes_beside(info: RunInfo) -> list[Note]:
    """Return the notes of a run that its verdict does not say, the weightiest first."""
    lines = verdict_lines(info)
    return [note for note in by_weight(info.notes) if not any(str(note) in s for s in lines)]


class Standing:
    """The rows of a table by one metric, by default the headline.

    Every claim on two rows is one of their pair in the comparison: see `PairDifference`.
    """

    def __init__(self, info: RunInfo, table: str, metric: str | None = None) -> None:
        self.info, self.table = info, table
        self.label = metric or info.primary
        self.sign = 1.0 if metrics.parse(self.label).definition.higher_is_better else -1.0
        self.rows = [row for row in info.rows if row.table == table]
        failed = {cell.row for cell in info.cells if cell.error}
        # Rows with a failed cell: their values are of other folds.
        self.failed = [row.algorithm for row in self.rows if row.row in failed]
        kept = {row.algorithm: row.scores[self.label] for row in self.rows if row.row not in failed}
        known = [(name, score) for name, score in kept.items() if score is not None]
        # Values of the rows that have one on every fold, best first.
        self.scores = dict(sorted(known, key=lambda item: -self.sign * item[1]))
        self.comparison = comparison_of(info, table, self.label)
        # The rows that lead: one, or several of the same value.
        self.leaders = leading(self.scores, self.sign > 0, self.comparison)
        self.best_score = self.scores[self.leaders[0]] if self.leaders else math.nan

    @property
    def margin(self) -> float | None:
        """Below it a difference does not matter; None where the config has none."""
        return self.comparison.margin if self.comparison else None

    @cached_property
    def rivals(self) -> dict[str, list[PairDifference]]:
        """The rows that were compared with each leader, best first, and their pairs with them."""
        of_leaders = [
            self.comparison.pairs_of(row) if self.comparison else {} for row in self.leaders
        ]
        return {
            name: [pairs[name] for pairs in of_leaders]
            for name in self.scores
            if name not in self.leaders and all(name in pairs for pairs in of_leaders)
        }

    @cached_property
    def beaten(self) -> dict[str, PairDifference]:
        """The rows that another one is significantly better than, each with a pair."""
        return self.comparison.beaten(self.scores) if self.comparison else {}

    @cached_property
    def overtaken(self) -> list[str]:
        """Rows with a better value than the leaders: of other users, for another row beats them."""
        return [
            name for name in self.scores if self.sign * (self.scores[name] - self.best_score) > 0
        ]

    def is_better(self, name: str) -> list[bool]:
        """Return, for each leader, whether it is significantly better than a rival."""
        if self.comparison is None:
            return []
        winners = map(self.comparison.favoured, self.rivals[name])
        return [winner == leader for winner, leader in zip(winners, self.leaders, strict=True)]

    def is_contradicted(self, name: str) -> bool:
        """Return whether test and mean difference of a rival and a leader disagree on the side."""
        settings = self.info.experiment.statistics
        level = 0.0 if settings is None else 1 - settings.confidence
        return any(pair.is_contradicted(level) for pair in self.rivals[name])

    @cached_property
    def of_other_users(self) -> list[PairDifference]:
        """The pairs of leaders and rivals of which one has users that the other one lacks."""
        pairs = (pair for of_rival in self.rivals.values() for pair in of_rival)
        return [pair for pair in pairs if self.comparison and self.comparison.has_other_users(pair)]

    @cached_property
    def can_decide(self) -> bool:
        """Whether some pair of the table could have been significant."""
        return self.comparison is None or any(
            pair.significant or (pair.can_decide and not self.comparison.note.startswith(CANNOT))
            for pair in self.comparison.pairs
        )

    def answer(self, name: str) -> Answer | Literal[""]:
        """Return the answer on a rival and each of the leaders; empty where it is not the same."""
        answers = {pair.answer for pair in self.rivals[name]}
        return answers.pop() if len(answers) == 1 else ""

    def answered(self, answer: str) -> list[str]:
        """Return the rivals with an answer, best first."""
        return [name for name in self.rivals if self.answer(name) == answer]

    @cached_property
    def detectable(self) -> float | None:
        """The smallest difference that the run finds from the first leader in undecided pairs.

        Pairs of which too few users differ for any significant difference do not count; None for
        no pair.
        """
        firsts = (pairs[0] for pairs in self.rivals.values())
        sizes = (
            pair.detectable for pair in firsts if pair.answer == "undecided" and pair.can_decide
        )
        return max((size for size in sizes if size is not None), default=None)

    @cached_property
    def simple(self) -> list[str]:
        """The baselines among the rows, best first."""
        algorithms = self.info.config["algorithms"]
        names = {config["label"] or config["name"]: config["name"] for config in algorithms}
        return [name for name in self.scores if folded(names.get(name, name)) in SIMPLE]

    @property
    def where(self) -> str:
        """Names of data set, split and candidates; empty where the run has one table."""
        return shortened(self.rows[0].place(self.info.tables), 2 * LONGEST_NAME)

    def sentences(self) -> tuple[str, ...]:
        """Return what the verdict on the table says."""
        said = self._leading() if self.code == "leads" else REASONS[self.code](self)
        return tuple(printable(text) for text in said)

    def verdict(self) -> Verdict:
        """Return the verdict on the table."""
        values = self.values if self.scores else {"leaders": [], "failed": self.failed}
        return Verdict(self.code, self.table, self.where, self.label, self.sentences(), values)

    @property
    def code(self) -> str:
        """The answer in a word; see `Verdict`."""
        if not self.scores:
            return "no-row"
        if len(self.scores) == 1:
            return "one-row"
        if len({*self.scores.values()}) == 1 and not self.beaten:
            return "all-equal"
        if self.comparison is None or not self.comparison.pairs_of(self.leaders[0]):
            return "not-compared"
        if self.leaders[0] in self.beaten:
            return "no-leader"
        return "leads" if self.can_decide else "cannot-decide"

    @cached_property
    def values(self) -> dict[str, Any]:
        """Values in the sentences about the rows; see `Verdict`."""
        better = {name: self.is_better(name) for name in self.rivals}
        others = [name for name in self.scores if name not in self.leaders]
        baseline = next((name for name in self.simple if name in self.leaders), None)
        baseline = baseline or next(iter(self.simple), None)
        gap = n_users = significant = None
        if baseline is not None and baseline not in self.leaders:
            gap = self.sign * (self.best_score - self.scores[baseline])
            for pair in self.rivals.get(baseline, ())[:1]:
                if pair in self.of_other_users:
                    gap, n_users = self.sign * pair.of(self.leaders[0]), pair.n_users
                significant = all(better[baseline])
        return {
            "leaders": self.leaders,
            "value": self.best_score,
            "equal": [name for name, sides in better.items() if not any(sides)],
            "partly": [name for name, sides in better.items() if any(sides) and not all(sides)],
            "worse": [name for name, sides in better.items() if all(sides)],
            "contradicted": [name for name in better if self.is_contradicted(name)],
            "overtaken": self.overtaken,
            "common_users": {
                name: min(pair.n_users for pair in pairs)
                for name, pairs in self.rivals.items()
                if any(pair in self.of_other_users for pair in pairs)
            },
            "margin": self.margin,
            "answers": {name: self.answer(name) or None for name in self.rivals},
            "detectable": self.detectable,
            "left_out": [name for name in others if name not in self.rivals],
            "failed": self.failed,
            "baseline": baseline,
            "gap": gap,
            "gap_users": n_users,
            "gap_is_significant": significant,
            "claim": self.comparison.claim if self.comparison else None,
        }

    def _leading(self) -> Iterator[str]:
        def text(most: int) -> str:
            verb = "leads" if len(self.leaders) == 1 else "lead"
            began = f"{row_names(self.leaders, most)} {verb} by {self.label} ({self.shown()})"
            if self.margin is not None and self.rivals:
                return f"{began}: {answers_in_words(self, most)}{self.above_baseline()}."
            return f"{began}{_against(self.values, most)}{self.above_baseline()}."

        yield fitting(text)
        if users := self.about_users():
            yield users
        if self.detectable is not None:
            digits = column_decimals(self.info).get((self.table, self.label), DEFAULT_DECIMALS) + 1
            size = f"{self.detectable:.{digits}f}"
            if not float(size):
                size = f"{self.detectable:.1g}"
            name = shortened(self.leaders[0])
            yield smallest_found(self.label, self.detectable, size, f" from {name}", "this run")
        about = self.comparison.about if self.comparison else ""
        about = about or CLAIMS[self.values["claim"]]
        yield fitting(lambda most: f"{about}{self.left_out(most)}.")

    def shown(self, score: float | None = None) -> str:
        """Return a value, the leaders' by default, with the decimals of the table."""
        digits = column_decimals(self.info).get((self.table, self.label), DEFAULT_DECIMALS)
        return rounded(self.best_score if score is None else score, digits)

    def about_users(self) -> str:
        """Return a sentence on rows with different users; empty where all have the same."""
        if self.overtaken and self.comparison:
            name = self.overtaken[0]
            pair = self.beaten[name]
            for of_leader in self.rivals.get(name, ()):
                if self.comparison.favoured(of_leader):
                    pair = of_leader
            winner = pair.second if pair.first == name else pair.first
            other = ", over other users" * self.comparison.has_other_users(pair)
            return (
                f"{shortened(name)} has the value {self.shown(self.scores[name])}{other}: for the "
                f"{counted(pair.n_users, 'user')} of both, {shortened(winner)} is significantly "
                "better."
            )
        if not self.of_other_users:
            return ""
        low, *_, high = sorted([pair.n_users for pair in self.of_other_users] * 2)
        users = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        return f"The rows have different users: the tests compare the {users} that two rows share."

    def above_baseline(self) -> str:
        """Return how far the leader is from the best baseline."""
        values = self.values
        if values["baseline"] is None:
            return ""
        baseline = shortened(values["baseline"])
        if values["gap"] is None:
            return f"; no row is {self._exceeds(values['baseline'])} the baseline {baseline}"
        if values["gap_users"] is not None and len(self.leaders) > 1:
            return ""  # each leader has another difference
        side = "above" if self.sign * values["gap"] >= 0 else "below"
        best = "the best baseline" if len(self.simple) > 1 else "the baseline"
        if values["gap_users"] is not None:
            best += f", for the {counted(values['gap_users'], 'user')} of both"
        unsure = ", not significant" if values["gap_is_significant"] is False else ""
        return f"; {self.shown(abs(values['gap']))} {side} {baseline} ({best}{unsure})"

    def _exceeds(self, baseline: str) -> str:
        """Return in which sense no row is better than a baseline that leads."""
        place = self.leaders.index(baseline)
        of_baseline = {name: pairs[place] for name, pairs in self.rivals.items()}
        behind = (self.sign * pair.of(baseline) >= 0 for pair in of_baseline.values())
        if all(behind) and not self.overtaken and not any(map(self.is_contradicted, self.rivals)):
            return "better than"
        return "significantly better than"

    def left_out(self, most: int) -> str:
        """Return which rows the verdict leaves out, and why."""
        parts = []
        if self.failed:
            parts.append(f"{row_names(self.failed, most)} failed")
        if self.comparison and self.scores and (names := self.values["left_out"]):
            were = "was" if len(names) == 1 else "were"
            parts.append(f"{row_names(names, most)} {were} not compared")
        return "".join(f"; {part}" for part in parts)


def _against(values: Mapping[str, Any], most: int) -> str:
    """Return how the leaders stand against the other rows, without a margin."""
    equal = [name for name in values["equal"] if name not in values["contradicted"]]
    said = []
    if equal:
        said.append(f"not significantly different from {row_names(equal, most)}")
    if values["partly"]:
        names = row_names(values["partly"], most)
        said.append(f"not all of them significantly better than {names}")
    if values["contradicted"]:
        names = row_names(values["contradicted"], most)
        said.append(f"undecided against {names} (test and mean point in opposite directions)")
    if not said and values["worse"]:
        said.append(f"significantly better than {_worse(values)}")
    return "".join(f", {part}" for part in said)


def _worse(values: Mapping[str, Any]) -> str:
    n = len(values["worse"])
    if values["left_out"]:
        return f"{counted(n, 'row')} that {'was' if n == 1 else 'were'} compared"
    return "the other row" if n == 1 else f"the other {n:,} rows"
