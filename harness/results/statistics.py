"""The rows of a table in a record: values, bounds, comparisons, conventions, ties, groups."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.config.settings import Claim
from harness.results.fields import Amount, Count, Number, Record, Rows, Share, Some, Text, Word
from harness.results.names import RowKey, RowName, TableName

FEWEST_USERS = 30
"""A group of fewer users gets no letters, and is left out of the gap between groups."""
Scores = dict[str, Number | None]
Bound = Literal["best", "random"]
Answer = Literal["different", "equivalent", "undecided"]
"""What a comparison says of two algorithms, the only place where the three words are declared."""
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
    """One algorithm less another."""

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
    n_users: Count
    n_left_out: Count
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

    def pairs_of(self, algorithm: str) -> dict[str, PairDifference]:
        """Return the pairs of an algorithm, by the other one."""
        return {
            pair.second if pair.first == algorithm else pair.first: pair
            for pair in self.pairs
            if algorithm in (pair.first, pair.second)
        }

    def answers(self, *, higher_is_better: bool) -> dict[str, str]:
        """Return the answer for each algorithm against that of the best mean, itself `BEST`."""
        means = {mean.algorithm: mean.mean for mean in self.algorithms if mean.mean is not None}
        if not means:
            return {}
        leader = (max if higher_is_better else min)(means, key=means.__getitem__)
        pairs = self.pairs_of(leader)
        return {leader: BEST} | {other: pair.answer for other, pair in pairs.items()}


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
    """An algorithm's mean over the users of a group, and how far it is above that of the rest."""

    rest: Number | None
    rest_low: Number | None
    rest_high: Number | None


class GroupResult(Record):
    """A group of users or items: its members in the test part, and the users with a score."""

    group: Word
    n_members: Count
    n_users: Count
    n_left_out: Count  # users without a score, as those without a relevant item of the group
    random: Number | None  # what a random order is expected to score
    algorithms: Rows[GroupMean]

    @property
    def is_small(self) -> bool:
        """Whether its users are too few for letters and for the gap between groups."""
        return self.n_users < FEWEST_USERS


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
        """What is divided by what, as ``users: age``."""
        return f"{self.side}: {self.by}"
