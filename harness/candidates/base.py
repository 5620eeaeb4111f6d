"""Which items are ranked for a test user: those rated in the test part, or all of training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.errors import SplitError
from harness.schema.sections import Kind
from harness.splits import Split

NAMES = {
    ("training_items", "keep"): ", training items kept",
    ("unknown_users", "drop"): ", known users",
    ("unknown_items", "drop"): ", known items",
    ("list_ties", "training"): ", ties in training order",
    ("by", "popularity"): " by popularity",
}


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
    """``rated``, ``catalogue`` or ``sampled``, as a name or with options."""

    family = "candidates"
    plugin_kind = "candidates"
    only_rated: ClassVar[bool] = False
    by_function: ClassVar[bool] = False
    """Whether code of one's own chooses, so that what it chose decides numbers, not its name."""
    name: ClassVar[str]
    longer: ClassVar[str] = "`candidates: catalogue` or `sampled`"
    """What to use for lists of more items, in advice."""

    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated, by metrics of lists and by errors of
    estimates."""
    least_estimate: float | None = Field(default=None, allow_inf_nan=False)
    """The least estimate of an item in a list; null for any. Items below it are no candidates; test
    ratings among them count in the ideal."""

    @property
    def least(self) -> float:
        """The least estimate of an item in a list."""
        return -math.inf if self.least_estimate is None else self.least_estimate

    def describe(self) -> str:
        """Return the short name that tables use."""
        least = "" if self.least_estimate is None else f", estimated {self.least:.16g} or more"
        return self.name.format(self) + least + self.texts(NAMES)

    def sentence(self) -> str:
        """Return a sentence on what was ranked, for the methods text of a report."""
        return sentence(self)

    def prepare(self, folder: Path | None) -> None:
        """Read what files list; relative paths start in the folder."""

    def decisive(self) -> dict[str, Any]:
        """Return what decides numbers."""
        return self.model_dump(exclude_none=True)

    def select(self, split: Split, seed: int) -> Candidates:
        """Select the test users of a split and their candidates, or raise a SplitError.

        A sample depends on the run's seed, on the fold and on the user, not on the algorithm.
        """
        ratings = split.ratings
        rows = split.test
        known_users, known_items = split.known_users, split.known_items
        if self.unknown_users == "drop":
            rows = rows[known_users[ratings.users[rows]]]
        if not len(rows):
            raise SplitError(
                f"{split.name}, fold {split.fold + 1} of {split.n_folds}: no test user has a "
                "training rating; use `unknown_users: keep` or another split"
            )
        codes = ratings.users[rows]
        order = np.argsort(codes, kind="stable")
        rows = rows[order]
        users, counts = np.unique(codes, return_counts=True)
        extra = self._sample(split, users, seed)
        items = ratings.items[rows]
        n_tested = int(np.count_nonzero(np.bincount(ratings.users[split.test])))
        return Candidates(
            users=users.astype(np.int32),
            offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            items=items,
            ratings=ratings.ratings[rows],
            order=order,
            known=known_items[items] | self.only_rated,
            judged=self.judged_items(split)[items],
            extra_offsets=np.cumsum([0, *map(len, extra)], dtype=np.int64),
            extra_items=np.concatenate(extra).astype(np.int32),
            n_unknown=int(np.count_nonzero(~known_users[users])),
            n_dropped=n_tested - len(users),
        )

    def judged_items(self, split: Split) -> NDArray[np.bool_]:
        """Return by code which items count in the ideal order of a user who rated them: all."""
        return np.ones(split.ratings.n_items, dtype=bool)

    def _sample(self, split: Split, users: NDArray[np.int32], seed: int) -> list[NDArray[np.int64]]:
        """Return the unrated candidates of each user: none."""
        return [np.zeros(0, dtype=np.int64)] * len(users)

    def texts(self, of: Mapping[tuple[str, str], str]) -> str:
        """Return those of some texts that are of an option and its value here."""
        options = self.model_dump()
        return "".join(text for (key, value), text in of.items() if options.get(key) == value)


class Rated(CandidatesSection):
    """Each user's own test ratings, sorted by their estimates."""

    only_rated = True
    name = "rated"

    kind: Literal["rated"] = "rated"
    """Rank only what the user rated in the test set."""


class OfTraining(CandidatesSection):
    """Candidates that are items of the training part, so that a test item may be none."""

    unknown_items: Literal["count", "drop"] = "count"
    """Whether a test item without a training rating, so never ranked, counts in the ideal."""

    def judged_items(self, split: Split) -> NDArray[np.bool_]:
        """Return by code which items count in the ideal order, as `unknown_items` says."""
        if self.unknown_items == "drop":
            return split.known_items
        return super().judged_items(split)


class Catalogue(OfTraining):
    """Every item of the training set, for every test user."""

    name = "catalogue"
    longer = "data with more items"

    kind: Literal["catalogue"] = "catalogue"
    """Rank the whole catalogue; an item without a test rating has relevance 0."""
    training_items: Literal["drop", "keep"] = "drop"
    """Whether the items that the user rated in training stay among the candidates."""
    list_ties: Literal["training"] | None = None
    """The order of equal estimates in lists that are shown, and for metrics of which items are
    shown: `training` for the first appearance of the items in training, as a stable sort has it;
    null for one of the ids that differs from user to user."""


RANKED = {
    "rated": "Each user's own test ratings are ranked.",
    "catalogue": "Every item of the training part is ranked for every test user, those that the "
    "user rated in training {training}; an item without a test rating has relevance 0.",
    "sampled": "Each user's test ratings are ranked among {0.n} items drawn at random{by} from "
    "those without a rating of the user, which have relevance 0.",
    "file": "The items that {0.file} lists for a user are ranked; an item without a test rating "
    "has relevance 0.",
    "function": "The items that the function {0.function} lists for a user are ranked; an item "
    "without a test rating has relevance 0.",
}
"""By kind of candidates."""
SENTENCES = {
    ("unknown_items", "count"): " Test items without a training rating cannot be ranked but count "
    "in the ideal.",
    ("unknown_items", "drop"): " Test items without a training rating are left out.",
    ("unknown_users", "drop"): " Users without a training rating are left out, of lists and of "
    "errors of estimates alike.",
    ("list_ties", "training"): " Lists show equal estimates in the order of the training part.",
}


def sentence(section: CandidatesSection) -> str:
    """Return a sentence on what was ranked."""
    training = "included" if getattr(section, "training_items", "") == "keep" else "left out"
    weighted = getattr(section, "by", None) == "popularity"
    by = ", in proportion to their training ratings," if weighted else ""
    text = RANKED[section.kind].format(section, training=training, by=by) + section.texts(SENTENCES)
    if section.least_estimate is None:
        return text
    return f"{text} Items estimated below {section.least:.16g} are left out of the lists."
