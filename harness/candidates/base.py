"""What candidates are, and two kinds: a user's test ratings, and every item of training."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from harness.errors import SplitError
from harness.metrics import Metric
from harness.notes.note import Note
from harness.schema.sections import Kind
from harness.splits import Split

OfOptions = Mapping[tuple[str, str], str]
"""Texts by option and value."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The evaluated users of a split, what they rated and their candidates, as codes of the data.

    Every number of a cell is of these users: those with a test rating and, under `unknown_users:
    drop`, with a training rating. User ``u`` judged ``items[offsets[u]:offsets[u + 1]]``, in the
    order of the test set.
    """

    users: NDArray[np.int32]
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    ratings: NDArray[np.float64]
    order: NDArray[np.int64]
    """Position of each item among the test ratings of these users."""
    known: NDArray[np.bool_]
    """Whether an item can be ranked: training saw it, or only test ratings are ranked."""
    judged: NDArray[np.bool_]
    """Whether an item counts in the ideal order."""
    extra_offsets: NDArray[np.int64]
    extra_items: NDArray[np.int32]
    """Unrated items that are among the candidates of a sample; empty otherwise."""
    n_unknown: int
    """How many of the users have no training rating."""
    n_dropped: int
    """How many users with a test rating are not evaluated."""

    @property
    def n_users(self) -> int:
        """How many users are evaluated."""
        return len(self.users)


class CandidatesSection(Kind):
    """Which items are ranked for a test user: a kind, as a name or with options.

    All that other modules need to know of a kind are these class variables and the methods below.
    """

    family = "candidates"
    plugin_kind = "candidates"
    of_record = "harness.candidates.base:RecordedCandidates"
    name: ClassVar[str]
    """The short name that tables use, with ``{0.key}`` for an option."""
    ranked: ClassVar[str]
    """The ranked items, as a sentence of the methods text, with ``{0.key}`` for an option."""
    names_of_options: ClassVar[OfOptions] = {("unknown_users", "drop"): ", known users"}
    """What follows the short name under the value of an option."""
    sentences_of_options: ClassVar[OfOptions] = {
        ("unknown_users", "drop"): " Users without a training rating are left out, of lists and of "
        "errors of estimates alike.",
    }
    """What follows the sentence under the value of an option."""
    caution: ClassVar[str] = ""
    """What readers of a paper must know about metrics over these candidates, without a full
    stop."""
    citation: ClassVar[str] = ""
    """The key of the source of `caution`."""
    only_rated: ClassVar[bool] = False
    """Whether only items with a test rating of the user are ranked."""
    is_sample: ClassVar[bool] = False
    """Whether a random sample decides which unrated items are ranked: then the seed of the split
    and the fold decide numbers."""
    is_whole_catalogue: ClassVar[bool] = False
    """Whether every training item is ranked, so that estimates are made a block of users at a
    time."""
    judges_unrated: ClassVar[bool] = False
    """Whether unrated candidates are in the lists as items of relevance 0, and not as items that
    nobody judged."""
    by_function: ClassVar[bool] = False
    """Whether your own code chooses, so that what it chose decides numbers, not its name."""
    longer: ClassVar[str] = "`candidates: catalogue` or `sampled`"
    """What to use for lists of more items, in advice."""

    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated, by metrics of lists and by errors of
    estimates."""
    least_estimate: float | None = Field(default=None, allow_inf_nan=False)
    """The least estimate of an item in a list; null for any. Items below it are not candidates;
    test ratings among them count in the ideal."""

    @property
    def least(self) -> float:
        """The least estimate of an item in a list."""
        return -math.inf if self.least_estimate is None else self.least_estimate

    @property
    def keeps_training_items(self) -> bool:
        """Whether items that the user rated in training stay among the candidates."""
        return False

    @property
    def ties_as_in_training(self) -> bool:
        """Whether lists show equal estimates in the order of the training set."""
        return False

    def describe(self) -> str:
        """Return the short name that tables use."""
        least = "" if self.least_estimate is None else f", estimated {self.least:.16g} or more"
        return self.name.format(self) + least + self._texts(self.names_of_options)

    def sentence(self) -> str:
        """Return a sentence on what was ranked, for the methods text of a report."""
        text = self.ranked.format(self) + self._texts(self.sentences_of_options)
        if self.least_estimate is None:
            return text
        return f"{text} Items estimated below {self.least:.16g} are left out of the lists."

    def notes(self, name: str, metrics: Sequence[Metric]) -> Iterator[Note]:
        """Yield what readers of metrics over these candidates have to know.

        Parameters
        ----------
        name : str
            As tables call the candidates.
        metrics : sequence of Metric
        """
        yield from ()

    def notes_on_ties(self, name: str, metrics: Sequence[Metric]) -> Iterator[Note]:
        """Yield which metrics favour a side where equal estimates are in the order of a list.

        A list holds a user's test items first and the unrated ones after them, except over the
        whole catalogue. The parameters are the same as for `notes`.
        """
        if not self.judges_unrated or self.is_whole_catalogue:
            return
        others = "the sampled ones" if self.is_sample else "the others"
        for word, place in (("first", "before"), ("last", "after")):
            if labels := [str(metric) for metric in metrics if metric.params.get("ties") == word]:
                values = {"candidates": name, "metrics": labels, "place": place, "others": others}
                yield Note("sampled-ties", values)

    @classmethod
    def of_name(cls, name: str) -> type[CandidatesSection]:
        """Return the kind whose short names begin as a name that a file keeps.

        >>> CandidatesSection.of_name("sampled 100, known users").is_sample
        True
        """
        kinds = (kind for _, kind in cls.usable_kinds() if issubclass(kind, cls))
        named = (kind for kind in kinds if name.startswith(kind.name.partition("{")[0]))
        return next(named, CandidatesSection)

    def prepare(self, folder: Path | None) -> None:
        """Read what files list; relative paths start in the folder."""

    def decisive(self) -> dict[str, Any]:
        """Return what decides numbers."""
        return self.model_dump(exclude_none=True)

    def select(self, split: Split, seed: int) -> Candidates:
        """Select the test users of a split and their candidates, or raise a SplitError.

        A sample depends on the run's seed, on the fold and on the user, not on the algorithm.
        """
        return self.tested(split)

    def tested(self, split: Split) -> Candidates:
        """Select the test users of a split and what they rated, without unrated candidates."""
        ratings, rows, n_dropped = split.ratings, split.test, 0
        known_users, known_items = split.known_users, split.known_items
        if self.unknown_users == "drop":
            is_known = known_users[ratings.users[rows]]
            n_dropped = len(np.unique(ratings.users[rows[~is_known]]))
            rows = rows[is_known]
        if not len(rows):
            raise SplitError(
                f"{split.name}, fold {split.fold + 1} of {split.n_folds}: no test user has a "
                "training rating; use `unknown_users: keep` or another split"
            )
        codes = ratings.users[rows]
        order = np.argsort(codes, kind="stable")
        rows = rows[order]
        users, counts = np.unique(codes, return_counts=True)
        items = ratings.items[rows]
        return Candidates(
            users=users.astype(np.int32),
            offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            items=items,
            ratings=ratings.ratings[rows],
            order=order,
            known=known_items[items] | self.only_rated,
            judged=self.judged_items(split)[items],
            extra_offsets=np.zeros(len(users) + 1, dtype=np.int64),
            extra_items=np.zeros(0, dtype=np.int32),
            n_unknown=int(np.count_nonzero(~known_users[users])),
            n_dropped=n_dropped,
        )

    def judged_items(self, split: Split) -> NDArray[np.bool_]:
        """Return by code which items count in the ideal order of a user who rated them: all."""
        return np.ones(split.ratings.n_items, dtype=bool)

    def n_ranked(self, split: Split, tested: Candidates) -> NDArray[np.int64] | None:
        """Return how many items the list of each of the `tested` users holds, before any fit.

        None if only the candidates themselves tell, or the estimates decide.
        """
        return None

    def _texts(self, of: OfOptions) -> str:
        """Return the texts of the options that have these values here."""
        return "".join(text for (key, value), text in of.items() if vars(self).get(key) == value)


class Rated(CandidatesSection):
    """Each user's own test ratings, sorted by their estimates."""

    only_rated = True
    name = "rated"
    ranked = "Each user's own test ratings are ranked."

    kind: Literal["rated"] = "rated"
    """Rank only what the user rated in the test set."""

    def n_ranked(self, split: Split, tested: Candidates) -> NDArray[np.int64] | None:
        """Return how many test ratings each user has."""
        return None if self.least_estimate is not None else np.diff(tested.offsets)


class OfTraining(CandidatesSection):
    """Candidates that are items of the training set, so that a test item may be none."""

    names_of_options: ClassVar[OfOptions] = {
        **CandidatesSection.names_of_options,
        ("unknown_items", "drop"): ", known items",
    }
    sentences_of_options: ClassVar[OfOptions] = {
        ("unknown_items", "count"): " Test items without a training rating cannot be ranked but "
        "count in the ideal.",
        ("unknown_items", "drop"): " Test items without a training rating are left out.",
        **CandidatesSection.sentences_of_options,
    }

    unknown_items: Literal["count", "drop"] = "count"
    """Whether a test item without a training rating, so never ranked, counts in the ideal."""

    def judged_items(self, split: Split) -> NDArray[np.bool_]:
        """Return by code which items count in the ideal order, by `unknown_items`."""
        if self.unknown_items == "drop":
            return split.known_items
        return super().judged_items(split)

    def n_ranked(self, split: Split, tested: Candidates) -> NDArray[np.int64] | None:
        """Return how many items each list holds: the most that `_n_listed` allows."""
        if self.least_estimate is not None:
            return None
        ratings = split.ratings
        seen = np.bincount(ratings.users[split.train], minlength=ratings.n_users)[tested.users]
        owners = np.repeat(np.arange(tested.n_users), np.diff(tested.offsets))[tested.known]
        counts = np.bincount(owners, minlength=tested.n_users)
        n_items = int(np.count_nonzero(split.known_items))
        return np.maximum(self._n_listed(counts, n_items, seen), counts).astype(np.int64)

    @abstractmethod
    def _n_listed(
        self, n_tested: NDArray[np.int64], n_items: int, n_seen: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return how many items are listed for users with so many test and training ratings."""


class Catalogue(OfTraining):
    """Every item of the training set, for every test user."""

    name = "catalogue"
    ranked = (
        "Every item of the training set is ranked for every test user, those that the user rated "
        "in training {0.whether_training}; an item without a test rating has relevance 0."
    )
    names_of_options: ClassVar[OfOptions] = {
        ("training_items", "keep"): ", training items kept",
        **OfTraining.names_of_options,
        ("list_ties", "training"): ", ties in training order",
    }
    sentences_of_options: ClassVar[OfOptions] = {
        **OfTraining.sentences_of_options,
        ("list_ties", "training"): " Lists show equal estimates in the order of the training set.",
    }
    is_whole_catalogue = True
    longer = "data with more items"

    kind: Literal["catalogue"] = "catalogue"
    """Rank the whole catalogue; an item without a test rating has relevance 0."""
    training_items: Literal["drop", "keep"] = "drop"
    """Whether the items that the user rated in training stay among the candidates."""
    list_ties: Literal["training"] | None = None
    """The order of equal estimates in lists that are shown, and for metrics of which items are
    shown: `training` for the first appearance of the items in training, as a stable sort has it;
    null for one of the ids that differs from user to user."""

    @property
    def keeps_training_items(self) -> bool:
        """Whether `training_items` is `keep`."""
        return self.training_items == "keep"

    @property
    def ties_as_in_training(self) -> bool:
        """Whether `list_ties` is `training`."""
        return self.list_ties is not None

    @property
    def whether_training(self) -> str:
        """What the sentence says of items that the user rated in training."""
        return "included" if self.keeps_training_items else "left out"

    def _n_listed(
        self, n_tested: NDArray[np.int64], n_items: int, n_seen: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        return n_items - n_seen * (not self.keeps_training_items)


class RecordedCandidates(CandidatesSection):
    """A kind of candidates of a run that is only read: name and sentence, without its code."""

    model_config = ConfigDict(extra="allow")

    kind: str
    facts: dict[str, str] = Field(exclude=True)

    def describe(self) -> str:
        """Return the name that the run recorded."""
        return self.facts.get("name", self.kind)

    def sentence(self) -> str:
        """Return the sentence that the run recorded."""
        return self.facts.get("sentence", f"{self.kind} chooses what is ranked.")

    def select(self, split: Split, seed: int) -> Candidates:
        """Raise a SplitError."""
        raise SplitError(
            f"{self.kind}: its code was not imported, since a run that names it was only read"
        )
