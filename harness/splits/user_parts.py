"""Splits of each user's ratings: a number, a share, or of some users only."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.config.splitting import LeaveNOut, UserFraction, UserHoldout
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits.sizes import rounded_down, rounded_up
from harness.splits.split import Drawn, Parts
from harness.splits.users import in_order_of_appearance, places_from_end

__all__ = ["leave_n_out", "user_fraction", "user_holdout"]

Mask = NDArray[np.bool_]
Policy = Literal["error", "train", "drop"]


def leave_n_out(section: LeaveNOut, ratings: Ratings, state: int) -> Drawn:
    """Take the same number of test ratings from every user.

    Parameters
    ----------
    section : LeaveNOut
        How many, and which: random ones, or the latest. Of two ratings with the same timestamp the
        one further down in the data is the later one.
    ratings : Ratings
        What to divide.
    state : int
        Seed of the draws.

    Raises
    ------
    SplitError
        If timestamps are needed and missing, or a user has too few ratings.
    """
    counts = np.bincount(ratings.users, minlength=ratings.n_users)
    few = (counts > 0) & (counts < section.n + section.min_train)
    policy = _ShortUsers(section.describe(), section.too_few, few)
    need = f"fewer than {section.n + section.min_train} ratings"
    notes = policy.check(ratings, need, "lower n or min_train")
    if section.like == "surprise":
        return Drawn(_leave_one_out(section, ratings, counts, few, state), notes)
    folds = []
    rng = _generator(state)
    for _ in range(section.n_splits):
        test = _places(section, ratings, rng) < section.n
        folds.append(policy.divide(ratings, test))
    return Drawn(folds, notes)


def _leave_one_out(
    section: LeaveNOut, ratings: Ratings, counts: NDArray[np.int64], few: Mask, state: int
) -> list[Parts]:
    """Draw as ``surprise.model_selection.LeaveOneOut``: users as they appear, then their rows."""
    users = in_order_of_appearance(ratings.users, ratings.n_users)
    rank = np.empty(ratings.n_users, np.int64)
    rank[users] = np.arange(len(users))
    rows = np.argsort(rank[ratings.users], kind="stable")
    whole_in_training = few[ratings.users[rows]] & (section.too_few == "train")
    rows = rows[~few[ratings.users[rows]] | whole_in_training]
    tested = users[~few[users]]
    starts = np.zeros(ratings.n_users, np.int64)
    present = users if section.too_few == "train" else tested
    starts[present] = np.cumsum(counts[present]) - counts[present]
    rng = np.random.RandomState(state)
    folds = []
    for _ in range(section.n_splits):
        chosen = starts[tested] + rng.randint(0, counts[tested])
        folds.append((np.delete(rows, chosen), rows[chosen]))
    return folds


def user_fraction(section: UserFraction, ratings: Ratings, state: int) -> Drawn:
    """Take the same share of test ratings from every user.

    Parameters
    ----------
    section : UserFraction
        Which share. It is rounded to the nearest count, a half up, but is at least one rating and
        leaves at least one for training.
    ratings : Ratings
        What to divide.
    state : int
        Seed of the draw.

    Raises
    ------
    SplitError
        If timestamps are needed and missing, or a user has a single rating.
    """
    counts = np.bincount(ratings.users, minlength=ratings.n_users)
    policy = _ShortUsers(section.describe(), section.too_few, counts == 1)
    notes = policy.check(ratings, "a single rating", "filter with min-ratings-per-user")
    n_test = np.clip(np.floor(section.fraction * counts + 0.5 + 1e-9), 1, counts - 1)
    test = _places(section, ratings, _generator(state)) < n_test[ratings.users]
    return Drawn([policy.divide(ratings, test)], notes)


def user_holdout(section: UserHoldout, ratings: Ratings, state: int) -> Drawn:
    """Take test ratings from a sample of the users; all other users are training.

    Parameters
    ----------
    section : UserHoldout
        How many users, and how many of their ratings are in training.
    ratings : Ratings
        What to divide.
    state : int
        Seed of the draws.

    Raises
    ------
    SplitError
        If there are too few users, timestamps are needed and missing, or a test user has no rating
        left to test.
    """
    users = in_order_of_appearance(ratings.users, ratings.n_users)
    n_tested = rounded_up(section.users, len(users))
    if n_tested > len(users):
        raise SplitError(
            f"{section.describe()}: {n_tested:,} test users cannot be drawn from {len(users):,}; "
            "lower users"
        )
    rng = _generator(state)
    tested = np.zeros(ratings.n_users, bool)
    tested[users[rng.permutation(len(users))[:n_tested]]] = True
    counts = np.bincount(ratings.users, minlength=ratings.n_users)
    shares = np.unique(counts)
    given = np.array([rounded_down(section.given, n) for n in shares.tolist()], np.int64)
    n_test = (counts - given[np.searchsorted(shares, counts)]) * tested
    policy = _ShortUsers(section.describe(), section.too_few, tested & (n_test <= 0))
    need = f"no more than the {section.given} ratings that are given"
    notes = policy.check(ratings, need, "lower given")
    test = _places(section, ratings, rng) < n_test[ratings.users]
    return Drawn([policy.divide(ratings, test)], notes)


def _generator(state: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(state))


def _places(
    section: LeaveNOut | UserFraction | UserHoldout, ratings: Ratings, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return for each row how many of its user's rows go to the test part before it."""
    if section.choose == "random":
        return places_from_end(ratings.users, rng.random(len(ratings)))
    if ratings.timestamps is None:
        raise SplitError(
            f"{section.describe()}: {ratings.name} has no timestamps; use choose: random"
        )
    return places_from_end(ratings.users, ratings.timestamps)


class _ShortUsers:
    """Users with too few ratings to be tested, and the policy for them."""

    def __init__(self, name: str, policy: Policy, few: Mask) -> None:
        self.name, self.policy, self.few = name, policy, few

    def check(self, ratings: Ratings, need: str, advice: str) -> tuple[str, ...]:
        """Raise if such users are an error, else return a note on them."""
        codes = np.flatnonzero(self.few)
        if len(codes) == 0:
            return ()
        found = f"{len(codes):,} user{'s have' if len(codes) > 1 else ' has'} {need}"
        if self.policy == "error":
            first = ratings.user_ids[codes[0]]
            raise SplitError(
                f"{self.name}: {found} (as user {str(first)!r}); {advice}, or set "
                "too_few: train or too_few: drop"
            )
        where = "training only" if self.policy == "train" else "left out"
        return (f"{found}: {where}",)

    def divide(self, ratings: Ratings, test: Mask) -> Parts:
        """Return the rows of both parts, in the order of the data."""
        short = self.few[ratings.users]
        train = ~test & ~short if self.policy == "drop" else ~test | short
        return np.flatnonzero(train), np.flatnonzero(test & ~short)
