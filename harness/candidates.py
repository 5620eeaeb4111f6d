"""The candidates of each test user, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness import seeds
from harness.config.candidates import CandidatesSection, Rated, Sampled
from harness.errors import SplitError
from harness.splits import Split

__all__ = ["Asked", "choose"]


@dataclass(frozen=True, eq=False)
class Asked:
    """The test users of a split, their judged items and their candidates.

    All ids are the data set's codes. Users come in the order of their codes; within a user, items
    come in the order of the test set.

    Parameters
    ----------
    users : ndarray of int32, shape (n_users,)
        Every user with a test rating.
    offsets : ndarray of int64, shape (n_users + 1,)
        User ``u`` judged ``items[offsets[u]:offsets[u + 1]]``.
    items : ndarray of int32, shape (n_test,)
    ratings : ndarray of float64, shape (n_test,)
        The test ratings.
    order : ndarray of int64, shape (n_test,)
        Place of each in the test set.
    kept : ndarray of bool, shape (n_users,)
        Users whose ranking is evaluated.
    known : ndarray of bool, shape (n_test,)
        Whether training saw the item.
    extra_offsets : ndarray of int64, shape (n_users + 1,)
    extra_items : ndarray of int32, shape (n_extra,)
        Unrated items that stand among the candidates of a sample; empty otherwise.
    """

    users: NDArray[np.int32]
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    ratings: NDArray[np.float64]
    order: NDArray[np.int64]
    kept: NDArray[np.bool_]
    known: NDArray[np.bool_]
    extra_offsets: NDArray[np.int64]
    extra_items: NDArray[np.int32]

    @property
    def n_users(self) -> int:
        """How many users have a test rating."""
        return len(self.users)


def choose(section: CandidatesSection, split: Split, seed: int) -> Asked:
    """Select the test users of a split and their candidates.

    Parameters
    ----------
    section : Rated, Catalogue or Sampled
    split : Split
    seed : int
        The run's seed; a sample depends on it, on the fold and on the user, not on the algorithm.

    Raises
    ------
    SplitError
        If no test user is left, or no user has an item to sample.
    """
    ratings = split.ratings
    codes, items = ratings.users[split.test], ratings.items[split.test]
    values = ratings.ratings[split.test]
    order = np.argsort(codes, kind="stable")
    users, counts = np.unique(codes, return_counts=True)
    in_training = np.zeros(ratings.n_items, dtype=bool)
    in_training[ratings.items[split.train]] = True
    trained = np.zeros(ratings.n_users, dtype=bool)
    trained[ratings.users[split.train]] = True
    kept = trained[users] if section.unknown_users == "drop" else np.ones(len(users), dtype=bool)
    if not kept.any():
        raise SplitError(
            f"{split.name}, fold {split.fold}: no test user has a training rating; "
            "use `unknown_users: keep` or another split"
        )
    extra = (
        _sample(section.n, split, users, in_training, seed)
        if isinstance(section, Sampled)
        else (np.zeros(len(users) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
    )
    return Asked(
        users=users.astype(np.int32),
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        items=items[order],
        ratings=values[order],
        order=order,
        kept=kept,
        known=np.ones(len(items), bool)
        if isinstance(section, Rated)
        else in_training[items[order]],
        extra_offsets=extra[0],
        extra_items=extra[1],
    )


def _sample(
    n: int, split: Split, users: NDArray[np.int32], in_training: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Draw up to `n` training items for each user among those the user rated nowhere."""
    ratings = split.ratings
    order = np.argsort(ratings.users, kind="stable")
    edges = np.searchsorted(ratings.users[order], np.arange(ratings.n_users + 1))
    catalogue = np.flatnonzero(in_training)
    drawn = []
    for user in users:
        rng = seeds.generator(seed, "candidates", split.fold, ratings.user_ids[user])
        rated = ratings.items[order[edges[user] : edges[user + 1]]]
        free = in_training.copy()
        free[rated] = False
        n_free = int(free.sum())
        if n_free <= 4 * n:
            unrated = np.flatnonzero(free)
            drawn.append(rng.permutation(unrated)[:n] if n_free > n else unrated)
            continue
        # Draw from the whole catalogue and throw away what the user rated: far cheaper than
        # listing the free items, and as uniform.
        picked: list[int] = []
        seen = set(rated.tolist())
        while len(picked) < n:
            for item in catalogue[rng.integers(len(catalogue), size=2 * n)].tolist():
                if item not in seen and len(picked) < n:
                    seen.add(item)
                    picked.append(item)
        drawn.append(np.array(picked))
    lengths = [len(each) for each in drawn]
    if not any(lengths):
        raise SplitError(
            f"{split.name}: every user rated the whole catalogue, so there is nothing to sample; "
            "use `candidates: catalogue`"
        )
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return offsets, np.concatenate(drawn).astype(np.int32)
