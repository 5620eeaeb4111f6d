"""Non-personalised algorithms: chance, popularity, means.

Those that Surprise does not have are ordinary `surprise.AlgoBase` classes: they work in Surprise's
own ``cross_validate`` and are fitted, dumped and used like the others. Their estimates lie within
the rating scale, so that clipping makes no ties. Below each stands what the harness knows of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.algorithms.algorithm import Algorithm, FitOptions
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats
from harness.sections import Range

__all__ = ["ItemMean", "Popularity", "Random", "UserMean", "borrowed_generator", "seed_draws"]

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

    def estimate(self, u: int | str, i: int | str) -> float:
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


class RandomEntry(Algorithm):
    """Draws for whole blocks, also of users and items without training ratings."""

    model_class = Random
    kind = "baseline"
    summary = "a random number for each user and item"
    style = ("grey", "X", ":", False)
    takes_codes = True
    score_methods = (*Algorithm.score_methods, "hashes", "draws")

    @cached_property
    def item_hashes(self) -> Hashes:
        """The hashes of all items of the data set, by code."""
        codes = np.arange(len(self.trainset.item_ids), dtype=np.int32)
        hashes: Hashes = self.model.hashes("item", self.trainset.raw_items(codes))
        return hashes

    def estimates(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        distinct, places = np.unique(users, return_inverse=True)
        hashes = self.model.hashes("user", self.trainset.raw_users(distinct))
        return self.model.draws(hashes[places].reshape(users.shape), self.item_hashes[items]), False


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

    def fit(self, trainset: surprise.Trainset) -> Popularity:
        """Count the ratings of each item."""
        super().fit(trainset)
        counts = np.diff(ColumnTrainset.from_surprise(trainset).by_item.offsets)
        lowest, highest = trainset.rating_scale
        self.item_scores = lowest + (highest - lowest) * (counts / counts.max(initial=1))
        return self

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the score of an item, for any user."""
        known = self.trainset.knows_item(i)
        return float(self.item_scores[i] if known else self.trainset.rating_scale[0])


class PopularityEntry(Algorithm):
    """Scores for whole blocks."""

    model_class = Popularity
    kind = "baseline"
    summary = "how often the item was rated in training"
    style = ("grey", "s", ":", True)

    def estimates(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        scores = np.where(items >= 0, self.model.item_scores[items], self.trainset.rating_scale[0])
        return _for_all(users, scores), False


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

    def fit(self, trainset: surprise.Trainset) -> ItemMean:
        """Average the ratings of each item."""
        super().fit(trainset)
        by_item = ColumnTrainset.from_surprise(trainset).by_item
        counts = np.diff(by_item.offsets)
        sums = by_item.means() * counts + self.damping * trainset.global_mean
        self.item_scores = sums / (counts + self.damping)
        return self

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the mean of an item, for any user."""
        if not self.trainset.knows_item(i):
            raise surprise.PredictionImpossible("Item is unknown.")
        return float(self.item_scores[i])


class ItemMeanEntry(Algorithm):
    """Means for whole blocks."""

    model_class = ItemMean
    kind = "baseline"
    summary = "the item's mean rating in training"
    style = ("grey", "o", "-.", True)
    space = {"damping": Range(low=0.5, high=100.0, log=True)}

    def estimates(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        return _for_all(users, self.model.item_scores[items]), items < 0


class UserMean(surprise.AlgoBase):  # type: ignore[misc]
    """The mean rating of a user in training; the mean of all ratings for an unknown one.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 1, 0], [0, 0, 1], [5, 3, 1], user_ids=["ann", "bob"], item_ids=["x", "y"],
    ...     scale=(1, 5))
    >>> model = UserMean().fit(trainset)
    >>> [model.predict(user, "y").est for user in ("bob", "eve")]
    [3.0, 3.0]
    """

    def fit(self, trainset: surprise.Trainset) -> UserMean:
        """Average the ratings of each user."""
        super().fit(trainset)
        self.user_scores = ColumnTrainset.from_surprise(trainset).by_user.means()
        return self

    def estimate(self, u: Any, i: int | str) -> float:
        """Return the mean of a user, for any item."""
        known = self.trainset.knows_user(u)
        return float(self.user_scores[u] if known else self.trainset.global_mean)


class UserMeanEntry(Algorithm):
    """Means for whole blocks."""

    model_class = UserMean
    kind = "baseline"
    summary = "the user's mean rating in training, the mean of all ratings for an unknown user"
    style = ("grey", "^", "-.", True)

    def estimates(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        scores = np.where(users >= 0, self.model.user_scores[users], self.trainset.global_mean)
        return _for_all(items, scores), False


def _for_all(others: Codes, scores: Floats) -> Floats:
    """Return the scores of one side for each of the other."""
    return np.broadcast_to(scores, np.broadcast_shapes(others.shape, scores.shape)).copy()


class NormalPredictor(Algorithm):
    """One random number for each estimate, in the order of the estimates."""

    model_class = surprise.NormalPredictor
    summary = "draws from a normal distribution fitted to the training ratings"
    style = ("grey", "h", ":", False)
    draws_in_order = True

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        squares = (trainset.by_user.ratings - trainset.global_mean) ** 2
        # Summed one after the other, as Surprise does.
        model.sigma = np.sqrt(np.add.accumulate(squares)[-1] / trainset.n_ratings)

    def estimates(self, users: Codes, items: Codes) -> tuple[Floats, Bools | bool]:
        rng = _own_generator(self.model) or surprise.utils.get_rng(None)
        shape = np.broadcast_shapes(users.shape, items.shape)
        return rng.normal(self.trainset.global_mean, self.model.sigma, shape), False


def seed_draws(model: surprise.AlgoBase) -> None:
    """Give a `surprise.NormalPredictor` that has a ``random_state`` a generator of its own.

    Surprise's class takes no seed and draws from NumPy's global generator. With an attribute
    ``random_state``, a model draws what that generator would after ``numpy.random.seed``, while
    the generator itself does not change. Every fit starts again.
    """
    seeded = getattr(model, "random_state", None) is not None
    if seeded and isinstance(model, surprise.NormalPredictor):
        model.generator = surprise.utils.get_rng(model.random_state)


@contextmanager
def borrowed_generator(model: surprise.AlgoBase) -> Iterator[None]:
    """Let calls of ``model.predict`` draw from the model's generator, if it has one."""
    own = _own_generator(model)
    if own is None:
        yield
        return
    before = np.random.get_state()  # noqa: NPY002
    np.random.set_state(own.get_state())  # noqa: NPY002
    try:
        yield
    finally:
        own.set_state(np.random.get_state())  # noqa: NPY002
        np.random.set_state(before)  # noqa: NPY002


def _own_generator(model: surprise.AlgoBase) -> np.random.RandomState | None:
    """Return what a seeded NormalPredictor draws from."""
    if isinstance(model, surprise.NormalPredictor):
        return getattr(model, "generator", None)
    return None
