"""The rows of a table in a record: values, bounds, comparisons, conventions, ties, groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from harness import metrics
from harness.config.experiment import Claim
from harness.results.cells import RowKey, RowName, TableName
from harness.results.fields import Amount, Count, Number, Record, Rows, Share, Some, Text, Word

FEWEST_OF_GROUP = 30
"""A group of fewer users gets no letters, and is left out of the gap between groups."""
Scores = dict[str, Number | None]
Bound = Literal["best", "random"]
Answer = Literal["different", "equivalent", "undecided"]
"""Words of a comparison for two algorithms, the only place where the three are declared."""
ROUNDING = 1e-12
"""Tolerance of a level, which an adjusted p-value may exceed by this."""
RANKS = "Wilcoxon"
"""What the method of a comparison by ranks names."""
BEST = "best"
"""What a row is that the others are compared with: it has the best value."""


class RowResult(RowName):
    """The value of each metric in a row of a table, and the users that it is of."""

    scores: Scores
    n_users: Count | None = None
    """Users who are evaluated in a cell of the row, each counted once; None in older runs."""
    n_undefined: dict[str, Count] = {}
    """By metric that is a mean of users' scores, how many of these users have none in any cell;
    only metrics of which there are some."""


class BoundResult(TableName):
    """What the best or, on average, a random order of the lists of a table scores."""

    bound: Bound
    scores: Scores
    deviations: Scores


class AlgorithmMean(RowKey):
    """An algorithm's mean over users with its interval; a shared letter: no difference."""

    mean: Number | None
    low: Number | None
    high: Number | None
    letters: Annotated[str, Field(pattern="^[a-z.]{0,10000}$")]
    n_users: Count
    components: dict[str, Amount] = {}
    """Variances: of users, of the seeds of each level, and the rest; none for a single seed."""


class PairDifference(Record):
    """One algorithm less another, for the users that both have: what every claim on two rows is of.

    ``difference`` is the mean over these users, which need not be the difference of the two rows'
    values: a row's own value can be of other users.
    """

    first: Word
    second: Word
    difference: Number
    low: Number | None
    high: Number | None
    effect_size: Number | None
    p: Share
    p_is_bound: bool
    p_adjusted: Share
    significant: bool
    """Whether one of the two is better: the test and the mean difference agree on which."""
    n_users: Count
    n_left_out: Count
    n_differing: Count | None = None
    """Users whose two scores differ; None in older runs."""
    can_decide: bool = True
    """Whether so many differing users can give a significant difference."""
    opposite: bool | None = None
    """Whether the test sees the two the other way round than the mean difference, as Wilcoxon's
    can; None in older runs."""
    standard_error: Amount | None = None
    degrees: Amount | None = None  # of freedom
    detectable: Amount | None = None  # the difference that such a test finds with a power of 80%
    p_equivalent: Share | None = None
    equivalent: bool | None = None
    """Whether the difference is significantly within the margin; None without one."""

    @property
    def answer(self) -> Answer:
        """What the tests say of the two.

        ``equivalent``: they differ by less than the margin, significantly or not; ``different``:
        significantly, and perhaps by more than the margin; ``undecided``: neither was found.
        """
        if self.equivalent:
            return "equivalent"
        return "different" if self.significant else "undecided"

    @property
    def greater(self) -> str | None:
        """The algorithm with significantly greater scores; None where the tests found no side."""
        if not self.significant or not self.difference or self.opposite:
            return None
        return self.first if self.difference > 0 else self.second

    def of(self, algorithm: str) -> float:
        """Return the mean difference of one of the two less the other."""
        return self.difference if algorithm == self.first else -self.difference

    def is_contradicted(self, level: float) -> bool:
        """Return whether the test rejects on the other side than the mean difference."""
        return bool(self.opposite) and self.p_adjusted <= level + ROUNDING


class MetricComparison(TableName):
    """The algorithms of a table, compared by one metric."""

    metric: Word
    method: Text
    note: Text
    claim: Claim = "models"
    about: Text = ""  # the claim as a sentence
    margin: Amount | None = None
    from_moments: bool = False  # intervals and p-values of many users, else from resamples
    algorithms: Some[AlgorithmMean]
    pairs: Rows[PairDifference]
    baseline: list[PairDifference] | None

    @model_validator(mode="after")
    def _read_older_ranks(self) -> Self:
        for pair in (*self.pairs, *(self.baseline or ())):
            pair.significant = pair.significant and not self.lacks_side(pair)
        return self

    def lacks_side(self, pair: PairDifference) -> bool:
        """Return whether no side is better, whatever the p-value of a pair is.

        In older runs the side of ranks is not known: it is then the side of the mean difference
        only where the whole interval is on that side.
        """
        if pair.opposite is not None or RANKS not in self.method:
            return bool(pair.opposite)
        end = pair.low if pair.difference > 0 else pair.high
        return end is None or end * pair.difference <= 0

    @property
    def higher_is_better(self) -> bool:
        """Whether the greater score is the better one."""
        return metrics.parse(self.metric).higher_is_better

    def favoured(self, pair: PairDifference) -> str | None:
        """Return the better algorithm of a pair; None where the tests found none."""
        greater = pair.greater
        if greater is None or self.higher_is_better:
            return greater
        return pair.second if greater == pair.first else pair.first

    def beaten(self, among: Collection[str]) -> dict[str, PairDifference]:
        """Return the algorithms that another one is significantly better than, each with a pair.

        Both are of `among`. The pair has the largest difference.
        """
        found: dict[str, PairDifference] = {}
        for pair in self.pairs:
            if (winner := self.favoured(pair)) and {pair.first, pair.second} <= {*among}:
                loser = pair.second if winner == pair.first else pair.first
                if loser not in found or abs(found[loser].difference) < abs(pair.difference):
                    found[loser] = pair
        return found

    def has_other_users(self, pair: PairDifference) -> bool:
        """Return whether one of a pair has users that the other one lacks."""
        return any(
            mean.n_users != pair.n_users
            for mean in self.algorithms
            if mean.algorithm in (pair.first, pair.second)
        )

    def pairs_of(self, algorithm: str) -> dict[str, PairDifference]:
        """Return the pairs of an algorithm, by the other one."""
        return {
            pair.second if pair.first == algorithm else pair.first: pair
            for pair in self.pairs
            if algorithm in (pair.first, pair.second)
        }

    def answers(self) -> dict[str, str]:
        """Return the answer for each algorithm against the first of `leading`, itself `BEST`."""
        means = {mean.algorithm: mean.mean for mean in self.algorithms if mean.mean is not None}
        if not means:
            return {}
        leader = leading(means, self.higher_is_better, self)[0]
        pairs = self.pairs_of(leader)
        return {leader: BEST} | {other: pair.answer for other, pair in pairs.items()}


def leading(
    values: Mapping[str, float], higher_is_better: bool, comparison: MetricComparison | None
) -> list[str]:
    """Return the rows of a table that lead: one, or several of the same value.

    They have the best value of the rows that no other is significantly better than. Values of rows
    with different users can be in another order than their pairs; where every row is worse than
    another one, only the best value decides. Among rows with the same value, compared rows lead.

    Parameters
    ----------
    values : mapping of str to float
        By row; without those that have none, or only of some folds.
    higher_is_better : bool
    comparison : MetricComparison or None
        Of these rows.
    """
    if not values:
        return []
    beaten = comparison.beaten(values) if comparison else {}
    rows = [name for name in values if name not in beaten] or [*values]
    best = (max if higher_is_better else min)(values[name] for name in rows)
    leaders = [name for name in rows if values[name] == best]
    compared = [name for name in leaders if comparison and comparison.pairs_of(name)]
    return compared or leaders


class ConventionRow(Record):
    """The scores of a table's rows by the definition of one library."""

    convention: Word
    label: Word
    scores: Scores
    note: Text


class ConventionScores(TableName):
    """The scores of a table's rows by the definitions of libraries."""

    metric: Word
    k: Annotated[Count, Field(ge=1)]
    rows: Some[ConventionRow]


class TieRow(RowKey):
    """The users whose score depends on ties in a row, and its scores under each rule for ties."""

    tied: Share | None
    scores: Scores


class TieScores(TableName):
    """The scores of a table's rows under each rule for ties."""

    metric: Word
    rows: Some[TieRow]


class GroupMean(AlgorithmMean):
    """An algorithm's mean over the users of a group, and its excess over the mean of the rest."""

    rest: Number | None
    rest_low: Number | None
    rest_high: Number | None


class GroupResult(Record):
    """A group of users or items: its members in the test set, and the users with a score."""

    group: Word
    n_members: Count
    n_users: Count
    n_left_out: Count  # users without a score, as those without a relevant item of the group
    random: Number | None  # what a random order is expected to score
    algorithms: Rows[GroupMean]

    @property
    def is_small(self) -> bool:
        """Whether its users are too few for letters and for the gap between groups."""
        return self.n_users < FEWEST_OF_GROUP


class GroupGap(RowKey):
    """An algorithm's greatest mean of a group less its least."""

    greatest: Word
    least: Word
    difference: Number
    low: Number | None
    high: Number | None


class GroupScores(TableName):
    """The algorithms of a table by one metric, in each group of its users or items."""

    side: Literal["users", "items"]
    by: Word
    metric: Word
    groups: Rows[GroupResult]
    gaps: Rows[GroupGap]

    @property
    def title(self) -> str:
        """The side and what divides it, such as ``users: age``."""
        return f"{self.side}: {self.by}"
