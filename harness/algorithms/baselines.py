"""Non-personalised baselines: chance, popularity, the mean of each item.

All three are ordinary `surprise.AlgoBase` classes: they work in Surprise's own ``cross_validate``
and are fitted, dumped and used like the others. Their estimates lie within the rating scale, so
that clipping makes no ties.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms.columns import mean_of_each
from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Bools,
    Codes,
    Floats,
    Progress,
    Scorer,
)
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset

__all__ = ["FLOORS", "ItemMean", "Popularity", "Random"]

Hashes = npt.NDArray[np.uint64]
UNKNOWN = "UKN__"  # what Surprise puts before the raw id of a user or item it does not know


class Random(surprise.AlgoBase):  # type: ignore[misc]
    """Chance: a uniform random number from the rating scale for each user and item.

    The number depends only on the seed and the raw ids, not on which pairs are estimated or in
    which order.

    Parameters
    ----------
    random_state : int
        The seed.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 1], [0, 1], [4, 2], user_ids=["ann", "bob"], item_ids=["x", "y"], scale=(1, 5))
    >>> model = Random(random_state=7).fit(trainset)
    >>> model.predict("ann", "y").est == model.predict("ann", "y").est
    True
    """

    def __init__(self, random_state: int = 0) -> None:
        super().__init__()
        self.random_state = random_state

    def estimate(self, u: Any, i: Any) -> float:
        """Return the draw of a user and an item."""
        user = u[len(UNKNOWN) :] if isinstance(u, str) else self.trainset.to_raw_uid(u)
        item = i[len(UNKNOWN) :] if isinstance(i, str) else self.trainset.to_raw_iid(i)
        draw = self.draws(self.hashes("user", [user]), self.hashes("item", [item]))
        return float(draw[0])

    def hashes(self, kind: str, raw_ids: Iterable[Any]) -> Hashes:
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


class Popularity(surprise.AlgoBase):  # type: ignore[misc]
    """Number of training ratings of an item, scaled to the rating scale.

    The most rated item is at the top of the scale, an unknown one at its bottom.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 1, 0], [0, 0, 1], [4, 2, 3], user_ids=["ann", "bob"], item_ids=["x", "y"],
    ...     scale=(1.0, 5.0))
    >>> model = Popularity().fit(trainset)
    >>> [model.predict("ann", item).est for item in ("x", "y", "z")]
    [5.0, 3.0, 1.0]
    """

    def fit(self, trainset: Any) -> Popularity:
        """Count the ratings of each item."""
        super().fit(trainset)
        counts = np.diff(ColumnTrainset.from_surprise(trainset).item_offsets)
        lowest, highest = trainset.rating_scale
        self.item_scores = lowest + (highest - lowest) * (counts / counts.max(initial=1))
        return self

    def estimate(self, u: Any, i: Any) -> float:
        """Return the score of an item, for any user."""
        known = self.trainset.knows_item(i)
        return float(self.item_scores[i] if known else self.trainset.rating_scale[0])


class ItemMean(surprise.AlgoBase):  # type: ignore[misc]
    """The mean rating of an item in training; impossible for an unknown one.

    Parameters
    ----------
    damping : float
        Number of ratings at the global mean that are added to each item, so that an item with one
        high rating is not at the top; 0 for the plain mean.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 1, 0], [0, 0, 1], [5, 3, 1], user_ids=["ann", "bob"], item_ids=["x", "y"],
    ...     scale=(1, 5))
    >>> ItemMean().fit(trainset).predict("bob", "x").est
    4.0
    >>> ItemMean(damping=2).fit(trainset).predict("bob", "x").est
    3.5
    """

    def __init__(self, damping: float = 0.0) -> None:
        super().__init__()
        self.damping = damping

    def fit(self, trainset: Any) -> ItemMean:
        """Average the ratings of each item."""
        super().fit(trainset)
        columns = ColumnTrainset.from_surprise(trainset)
        counts = np.diff(columns.item_offsets)
        sums = mean_of_each(columns.by_item) * counts + self.damping * trainset.global_mean
        self.item_scores = sums / (counts + self.damping)
        return self

    def estimate(self, u: Any, i: Any) -> float:
        """Return the mean of an item, for any user."""
        if not self.trainset.knows_item(i):
            raise surprise.PredictionImpossible("Item is unknown.")
        return float(self.item_scores[i])


class HashScorer(Scorer):
    """Estimates of `Random`, also for users and items without training ratings."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        trainset = self.trainset
        self.item_hashes = model.hashes("item", trainset.raw_items(trainset.item_codes))

    def pairs_of_codes(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        asked_users, user_of = np.unique(users, return_inverse=True)
        asked_items, item_of = np.unique(items, return_inverse=True)
        user_hashes = self.model.hashes("user", self.trainset.raw_users(asked_users))
        item_hashes = self.model.hashes("item", self.trainset.raw_items(asked_items))
        draws = self.model.draws(user_hashes[user_of], item_hashes[item_of])
        return draws, np.zeros(len(users), np.bool_)

    def rows_of_codes(self, users: Codes) -> Floats:
        hashes = self.model.hashes("user", self.trainset.raw_users(users))
        draws: Floats = self.model.draws(hashes[:, None], self.item_hashes)
        return draws

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        codes = self.trainset.user_codes[users], self.trainset.item_codes[items]
        return self.pairs_of_codes(*codes)

    def rows(self, users: Codes) -> Floats:
        return self.rows_of_codes(self.trainset.user_codes[users])


class ItemScorer(Scorer):
    """One score for each item, for any user."""

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        model = self.model
        impossible = (items < 0) & isinstance(model, ItemMean)
        unknown = (
            model.default_prediction()
            if isinstance(model, ItemMean)
            else self.trainset.rating_scale[0]
        )
        return np.where(items >= 0, model.item_scores[items], unknown), impossible

    def rows(self, users: Codes) -> Floats:
        return np.tile(self.model.item_scores, (len(users), 1))


class Floor(Accelerator):
    """Scores a class of this module in whole blocks; the fit is fast already."""

    def fit(
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        model.fit(trainset)


class RandomFloor(Floor):
    """Accelerates `Random`."""

    surprise_class = Random
    scorer = HashScorer
    score_methods = (*Floor.score_methods, "hashes", "draws")


class PopularityFloor(Floor):
    """Accelerates `Popularity`."""

    surprise_class = Popularity
    scorer = ItemScorer


class ItemMeanFloor(Floor):
    """Accelerates `ItemMean`."""

    surprise_class = ItemMean
    scorer = ItemScorer


FLOORS: tuple[Accelerator, ...] = (RandomFloor(), PopularityFloor(), ItemMeanFloor())
