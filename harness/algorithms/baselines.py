"""Non-personalised algorithms: chance and popularity, which every run can have beside its own.

Those that Surprise does not have are ordinary `surprise.AlgoBase` classes: they work in Surprise's
own ``cross_validate`` and are fitted, dumped and used like the others. Their estimates lie within
the rating scale, so that clipping makes no ties. Below each stands what the harness knows of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from harness.algorithms import surprise
from harness.algorithms.base import MEAN, Algorithm, Estimates
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats
from harness.schema.sections import log_range

Hashes = npt.NDArray[np.uint64]
UNKNOWN = "UKN__"  # what Surprise puts before the raw id of a user or item it does not know


class Random(surprise.AlgoBase):  # type: ignore[misc]
    """Chance: a uniform random number from the rating scale for each user and item.

    The number depends only on the seed and the raw ids, not on which pairs are estimated or in
    which order.
    """

    def __init__(self, random_state: int = 0) -> None:
        super().__init__()
        self.random_state = random_state

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the draw of a user and an item."""
        user = u[len(UNKNOWN) :] if isinstance(u, str) else self.trainset.to_raw_uid(u)
        item = i[len(UNKNOWN) :] if isinstance(i, str) else self.trainset.to_raw_iid(i)
        draw = self.draws(self.hashes("user", [user]), self.hashes("item", [item]))
        return float(draw[0])

    def hashes(self, kind: str, raw_ids: Iterable[object]) -> Hashes:
        """Return 64 bits for each raw id."""
        digests = b"".join(
            blake2b(f"{self.random_state}\x1f{kind}\x1f{raw}".encode(), digest_size=8).digest()
            for raw in raw_ids
        )
        return np.frombuffer(digests, "<u8").astype(np.uint64)

    def draws(self, users: Hashes, items: Hashes) -> Floats:
        """Return a draw for each pair of hashes; the two broadcast."""
        mixed = users ^ (items * np.uint64(0x9E3779B97F4A7C15))
        # The finalizer of SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2714064.2660195).
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        lowest, highest = self.trainset.rating_scale
        draws: Floats = lowest + (highest - lowest) * ((mixed >> np.uint64(11)) * 2.0**-53)
        return draws


class RandomEntry(Algorithm):
    """Draws for whole blocks, also of users and items without training ratings."""

    model_class = Random
    kind = "baseline"
    summary = "a random number for each user and item"
    not_ratings = "a random number"
    unknown_user = "a random number, as for every user"
    is_personal = False
    style = ("grey", "X", ":", False)
    takes_codes = True
    score_methods = (*Algorithm.score_methods, "hashes", "draws")

    @cached_property
    def item_hashes(self) -> Hashes:
        """The hashes of all items of the data set, by code."""
        codes = np.arange(len(self.trainset.item_ids), dtype=np.int32)
        hashes: Hashes = self.model.hashes("item", self.trainset.raw_items(codes))
        return hashes

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        distinct, places = np.unique(users, return_inverse=True)
        hashes = self.model.hashes("user", self.trainset.raw_users(distinct))
        return self.model.draws(hashes[places].reshape(users.shape), self.item_hashes[items]), False


class OneSided(surprise.AlgoBase):  # type: ignore[misc]
    """A score of each item for any user or, where `of_users`, of each user for any item."""

    of_users: ClassVar[bool] = False

    @abstractmethod
    def learn(self, columns: ColumnTrainset) -> tuple[Floats, float]:
        """Return the scores, and the score of an unknown one: NaN where it is impossible."""

    def fit(self, trainset: surprise.Trainset) -> OneSided:
        """Compute the scores."""
        super().fit(trainset)
        self.scores, self.unknown = self.learn(ColumnTrainset.from_surprise(trainset))
        return self

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the score of one side."""
        inner = u if self.of_users else i
        score = self.unknown if isinstance(inner, str) else float(self.scores[inner])
        if np.isnan(score):
            raise surprise.PredictionImpossible("Item is unknown.")
        return score


class OneSidedEntry(Algorithm):
    """Scores for whole blocks."""

    kind = "baseline"
    items_alone = True
    compiles = False

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        inner = users if self.model.of_users else items
        scores = np.where(inner >= 0, self.model.scores[inner], self.model.unknown)
        scores = np.broadcast_to(scores, np.broadcast_shapes(users.shape, items.shape)).copy()
        return scores, np.isnan(scores)


class Popularity(OneSided):
    """Number of training ratings of an item, scaled to the rating scale.

    The most rated item is at the top of the scale, an unknown one at its bottom.
    """

    def learn(self, columns: ColumnTrainset) -> tuple[Floats, float]:
        """Count the ratings of each item."""
        counts = np.diff(columns.by_item.offsets)
        lowest, highest = columns.rating_scale
        return lowest + (highest - lowest) * (counts / counts.max(initial=1)), float(lowest)


class PopularityEntry(OneSidedEntry):
    """Counts for whole blocks."""

    model_class = Popularity
    summary = "how often the item was rated in training"
    not_ratings = "how often the item was rated, scaled to the rating scale"
    unknown_user = "its estimate for every user"
    is_personal = False
    style = ("grey", "s", ":", True)


class ItemMean(OneSided):
    """The mean rating of an item in training; impossible for an unknown one.

    So many ratings at the global mean as `damping` says are added to each item, so that an item
    with one high rating is not at the top; 0 for the plain mean.
    """

    def __init__(self, damping: float = 0.0) -> None:
        super().__init__()
        self.damping = damping

    def learn(self, columns: ColumnTrainset) -> tuple[Floats, float]:
        """Average the ratings of each item."""
        counts = np.diff(columns.by_item.offsets)
        sums = columns.by_item.means() * counts + self.damping * columns.global_mean
        return sums / (counts + self.damping), np.nan


class ItemMeanEntry(OneSidedEntry):
    """Item means for whole blocks."""

    model_class = ItemMean
    summary = "the item's mean rating in training"
    unknown_user = "its estimate for every user"
    is_personal = False
    style = ("grey", "o", "-.", True)
    space = {"damping": log_range(0.1, 100_000.0)}


class UserMean(OneSided):
    """The mean rating of a user in training; the mean of all ratings for an unknown one."""

    of_users = True

    def learn(self, columns: ColumnTrainset) -> tuple[Floats, float]:
        """Average the ratings of each user."""
        return columns.by_user.means(), float(columns.global_mean)


class UserMeanEntry(OneSidedEntry):
    """User means for whole blocks."""

    model_class = UserMean
    summary = "the user's mean rating in training, the mean of all ratings for an unknown user"
    unknown_user = MEAN
    style = ("grey", "^", "-.", True)
    items_alone = False
