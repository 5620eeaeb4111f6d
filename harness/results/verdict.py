"""The verdict on a results table: which row leads, from which rows it differs, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from harness import metrics
from harness.errors import counted
from harness.notes import SEPARATOR, Note, by_weight, plain
from harness.results.display import DEFAULT_DECIMALS, column_decimals, rounded
from harness.results.display import plain as printable
from harness.results.record import RunInfo
from harness.results.sentences import LONGEST_NAME, fitting, row_names, shortened
from harness.results.statistics import Answer, MetricComparison, PairDifference, RowResult
from harness.sections import folded

SIMPLE = frozenset({"random", "popularity", "itemmean"})
"""The baselines that the leading row is measured against, as `folded` writes their names."""

MOST_NOTES = 5
"""Notes that stand beside a table; the others are counted."""

CLAIMS = {
    "models": "The tests compare these fitted models, for users like these; other seeds can give "
    "other results",
    "algorithms": "The tests compare the algorithms, for users like these and other seeds",
}
"""What tests are about, for runs that do not say so themselves."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer of a results table by the headline metric; ``str(verdict)`` is its text.

    Parameters
    ----------
    code : str
        ``leads``: a row has the best value and was compared with others. Without a verdict, why:
        ``not-compared``, ``all-equal``, ``one-row`` or ``no-row``.
    table : str
        The identity of the table.
    where : str
        Names of data set, split and candidates; empty where the run has one table.
    metric : str
        The headline metric.
    sentences : tuple of str
        One to three, of at most 200 characters each.
    values : mapping of str to JSON values
        ``leaders``, the rows with the best value, and ``value``; ``equal``, rows that are not
        significantly different from the first leader, ``worse``, those that are, and ``left_out``,
        rows that were not compared; ``margin`` of equivalence and ``answers``, by row, against the
        first leader: different, equivalent or undecided; ``detectable``, the smallest difference
        that the run finds from each undecided row with a power of 80%; ``failed``, rows with a
        failed cell; ``baseline``, the best of Random, Popularity and ItemMean, ``gap``, how much
        better the leader is, in units of the metric and 0 or more, and ``gap_is_significant``;
        ``claim``, algorithms or models. None or empty where the table has none.

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
        text = " ".join(self.sentences)
        return f"{self.where}{SEPARATOR}{text}" if self.where else text

    def __repr__(self) -> str:
        return f"<Verdict {self.code}: {self}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON holds it."""
        shown = {"code": self.code, "table": self.table, "where": self.where, "metric": self.metric}
        return {**shown, "values": plain(self.values), "text": " ".join(self.sentences)}


def verdicts(info: RunInfo) -> list[Verdict]:
    """Return the verdict on each table of a run, in the order of the tables."""
    return [Standing(info, table).verdict() for table in info.tables]


def verdict_lines(info: RunInfo) -> list[str]:
    """Return the verdicts of a run as text, one for each table.

    What all of several tables say in their last sentence is said once, at the end.
    """
    all_verdicts = verdicts(info)
    last = {verdict.sentences[-1] for verdict in all_verdicts}
    is_short = any(len(verdict.sentences) < 2 for verdict in all_verdicts)
    if len(all_verdicts) == 1 or len(last) > 1 or is_short:
        return [str(verdict) for verdict in all_verdicts]
    firsts = (replace(verdict, sentences=verdict.sentences[:-1]) for verdict in all_verdicts)
    return [*map(str, firsts), *last]


def notes_beside(info: RunInfo) -> list[Note]:
    """Return the notes of a run that its verdict does not say, the weightiest first."""
    lines = verdict_lines(info)
    return [note for note in by_weight(info.notes) if not any(str(note) in s for s in lines)]


@dataclass
class Standing:
    """The rows of a table by the headline metric."""

    info: RunInfo
    table: str

    @cached_property
    def label(self) -> str:
        """The headline metric."""
        return self.info.primary

    @cached_property
    def rows(self) -> list[RowResult]:
        """The rows of the table."""
        return [row for row in self.info.rows if row.table == self.table]

    @cached_property
    def failed(self) -> list[str]:
        """Rows with a failed cell: their values are of other folds."""
        cells = self.info.cells_of_rows
        return [row.algorithm for row in self.rows if any(cell.error for cell in cells[row.row])]

    @cached_property
    def scores(self) -> dict[str, float]:
        """Values of the rows that have one on every fold, best first."""
        scores = {
            row.algorithm: score
            for row in self.rows
            if row.algorithm not in self.failed and (score := row.scores[self.label]) is not None
        }
        higher = metrics.parse(self.label).higher_is_better
        return dict(sorted(scores.items(), key=lambda item: item[1], reverse=higher))

    @cached_property
    def leaders(self) -> list[str]:
        """The rows with the best value: one, or several that are equal."""
        return [name for name, score in self.scores.items() if score == self.best_score]

    @cached_property
    def best_score(self) -> float:
        """The value of the leaders."""
        return next(iter(self.scores.values()))

    @cached_property
    def comparison(self) -> MetricComparison | None:
        """The comparison of the rows, where there is one."""
        return next(
            (
                comparison
                for comparison in self.info.statistics
                if (comparison.table, comparison.metric) == (self.table, self.label)
            ),
            None,
        )

    @cached_property
    def pairs(self) -> dict[str, PairDifference]:
        """The comparison of the first leader with each row, by that row."""
        return self.comparison.pairs_of(self.leaders[0]) if self.comparison else {}

    @cached_property
    def significance(self) -> dict[str, bool]:
        """Whether the first leader is significantly different from each row compared with it."""
        return {name: pair.significant for name, pair in self.pairs.items()}

    @cached_property
    def margin(self) -> float | None:
        """Below it a difference does not matter; None where the config has none."""
        return self.comparison.margin if self.comparison else None

    def answered(self, answer: Answer) -> list[str]:
        """Return the rows with an answer, best first."""
        rivals = (name for name in self.scores if name in self.pairs and name not in self.leaders)
        return [name for name in rivals if self.pairs[name].answer == answer]

    @cached_property
    def detectable(self) -> float | None:
        """The smallest difference that the run finds from each undecided row; None for no such."""
        undecided = (self.pairs[name].detectable for name in self.answered("undecided"))
        return max((size for size in undecided if size is not None), default=None)

    @cached_property
    def simple(self) -> list[str]:
        """The baselines among the rows, best first."""
        names = {config.title: config.name for config in self.info.experiment.algorithms}
        return [name for name in self.scores if folded(names.get(name, name)) in SIMPLE]

    def verdict(self) -> Verdict:
        """Return the verdict on the table."""
        code = self._code()
        values = self._values() if self.scores else {"leaders": [], "failed": self.failed}
        if code == "leads":
            sentences = self._leading(values)
        else:
            from harness.results.no_verdict import reasons

            sentences = reasons(self, code, values)
        where = shortened(self.rows[0].place(self.info.tables), 2 * LONGEST_NAME)
        texts = tuple(printable(text) for text in sentences)
        return Verdict(code, self.table, where, self.label, texts, values)

    def _code(self) -> str:
        if not self.scores:
            return "no-row"
        if len(self.scores) == 1:
            return "one-row"
        if len(self.leaders) == len(self.scores):
            return "all-equal"
        return "leads" if self.significance else "not-compared"

    def _values(self) -> dict[str, Any]:
        rivals = [name for name in self.scores if name not in self.leaders]
        baseline = next(iter(self.simple), None)
        gap = significant = None
        if baseline is not None and baseline not in self.leaders:
            gap = abs(self.best_score - self.scores[baseline])
            significant = self.significance.get(baseline)
        return {
            "leaders": self.leaders,
            "value": self.best_score,
            "equal": [name for name in rivals if self.significance.get(name) is False],
            "worse": [name for name in rivals if self.significance.get(name)],
            "margin": self.margin,
            "answers": {name: self.pairs[name].answer for name in rivals if name in self.pairs},
            "detectable": self.detectable,
            "left_out": [name for name in rivals if name not in self.significance],
            "failed": self.failed,
            "baseline": baseline,
            "gap": gap,
            "gap_is_significant": significant,
            "claim": self.comparison.claim if self.comparison else None,
        }

    def _leading(self, values: Mapping[str, Any]) -> Iterator[str]:
        def text(most: int) -> str:
            verb = "leads" if len(self.leaders) == 1 else "lead"
            began = f"{row_names(self.leaders, most)} {verb} by {self.label} ({self.shown()})"
            if self.margin is not None:
                from harness.results.margin import answers_in_words

                return f"{began}: {answers_in_words(self, most)}{self.above_baseline(values)}."
            if values["equal"]:
                said = f"not significantly different from {row_names(values['equal'], most)}"
            else:
                said = f"significantly better than {_worse(values)}"
            return f"{began}, {said}{self.above_baseline(values)}."

        yield fitting(text)
        if self.detectable is not None:
            digits = column_decimals(self.info).get((self.table, self.label), DEFAULT_DECIMALS) + 1
            size = f"{self.detectable:.{digits}f}"
            if not float(size):
                size = f"{self.detectable:.1g}"
            name = shortened(self.leaders[0])
            began = f"The smallest difference from {name} that this run could have found"
            yield f"{began} is {size} (power 80%)."
        about = self.comparison.about if self.comparison else ""
        about = about or CLAIMS[values["claim"]]
        yield fitting(lambda most: f"{about}{self.left_out(values, most)}.")

    def shown(self, score: float | None = None) -> str:
        """Return a value, that of the leaders by default, with the decimals of the table."""
        digits = column_decimals(self.info).get((self.table, self.label), DEFAULT_DECIMALS)
        return rounded(self.best_score if score is None else score, digits)

    def above_baseline(self, values: Mapping[str, Any]) -> str:
        """Return how far the leader is from the best baseline."""
        if values["baseline"] is None:
            return ""
        baseline = shortened(values["baseline"])
        if values["gap"] is None:
            return f"; no row is better than the baseline {baseline}"
        side = "above" if metrics.parse(self.label).higher_is_better else "below"
        best = "the best baseline" if len(self.simple) > 1 else "the baseline"
        unsure = ", not significant" if values["gap_is_significant"] is False else ""
        return f"; {self.shown(values['gap'])} {side} {baseline} ({best}{unsure})"

    def left_out(self, values: Mapping[str, Any], most: int) -> str:
        """Return which rows the verdict leaves out, and why."""
        parts = []
        if values["failed"]:
            parts.append(f"{row_names(values['failed'], most)} failed")
        if self.comparison and values.get("left_out"):
            were = "was" if len(values["left_out"]) == 1 else "were"
            parts.append(f"{row_names(values['left_out'], most)} {were} not compared")
        return "".join(f"; {part}" for part in parts)


def _worse(values: Mapping[str, Any]) -> str:
    n = len(values["worse"])
    if values["left_out"]:
        return f"{counted(n, 'row')} that {'was' if n == 1 else 'were'} compared"
    return "the other row" if n == 1 else f"the other {n:,} rows"
