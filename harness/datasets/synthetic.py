"""Synthetic ratings: a long tail of items, users of different activity, and learnable structure."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from harness._util.kernels import each_block, kernel
from harness._util.libraries import pd
from harness._util.seeds import generator
from harness.datasets.ratings import Ratings
from harness.datasets.section import SyntheticSection

Codes = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Factors = NDArray[np.float32]

N_FACTORS = 8
ACTIVITY = 1.1
"""Spread of the logarithm of users' activity, near MovieLens's."""
MOST_TRIES = 64
"""Draws of an item that a user has rated already before the next most popular is taken."""
FIRST_SECOND = 1_000_000_000
YEARS = 10 * 365 * 86_400


def make_up(section: SyntheticSection) -> Ratings:
    r"""Draw ratings from biases, factors and noise.

    User :math:`u` and item :math:`i` get

    .. math:: r_{ui} = m + w\,(0.12\,b_u + 0.12\,b_i + 0.15\,p_u \cdot q_i + 0.15\,e_{ui})

    rounded to the step and clipped to the scale, where :math:`w` is the width of the scale,
    :math:`m` lies at 0.62 of it, and :math:`b`, :math:`p \cdot q` and :math:`e` are normal with
    variance 1. Item ids are ranks of popularity, drawn in proportion to rank to the minus exponent;
    how much a user rates is log-normal. Rows are ordered by user and time, no pair twice, the same
    for any number of threads.
    """
    n_users, n_items, n_ratings = section.n_users, section.n_items, section.n_ratings
    rng = generator(section.seed, "synthetic")
    starts = np.concatenate(([0], np.cumsum(_activity(section, rng))))
    popularity = np.arange(1, n_items + 1, dtype=np.float64) ** -section.exponent
    threshold, alias = _fill_alias(popularity * (n_items / popularity.sum()))
    # Each item is rated at least once: slots spread evenly over all rows are reserved first.
    slots = np.arange(n_items, dtype=np.int64) * n_ratings // n_items
    fixed = rng.permutation(n_items).astype(np.int32)
    user_factors = rng.standard_normal((n_users, N_FACTORS)).astype(np.float32)
    item_factors = rng.standard_normal((n_items, N_FACTORS)).astype(np.float32)
    user_biases, item_biases = rng.standard_normal(n_users), rng.standard_normal(n_items)
    began = FIRST_SECOND + rng.integers(0, YEARS, n_users)
    key = np.uint64(rng.integers(0, 2**63))
    users = np.empty(n_ratings, dtype=np.int32)
    items = np.empty(n_ratings, dtype=np.int32)
    ratings = np.empty(n_ratings)
    timestamps = np.empty(n_ratings, dtype=np.int64)

    def block(first: int, last: int) -> None:
        _draw(
            first, last, starts, slots, fixed, threshold, alias,
            user_factors, item_factors, user_biases, item_biases, began, key,
            section.scale[0], section.scale[1], section.step or 0.0,
            users, items, ratings, timestamps,
        )  # fmt: skip

    each_block(block, n_users, smallest=64)
    codes, order = pd.factorize(items)
    item_ids = np.array([str(rank) for rank in range(1, n_items + 1)], dtype=object)[order]
    user_ids = np.array([str(number) for number in range(1, n_users + 1)], dtype=object)
    return Ratings(
        users, codes.astype(np.int32), ratings, timestamps, user_ids, item_ids, section.scale,
        "synthetic",
    )  # fmt: skip


def _activity(section: SyntheticSection, rng: np.random.Generator) -> Longs:
    """Return how many ratings each user gives: 1 to 3/4 of the items, with the given total."""
    n_users, n_ratings = section.n_users, section.n_ratings
    most = max(1, section.n_items * 3 // 4, math.ceil(n_ratings / n_users))
    weight = np.exp(ACTIVITY * rng.standard_normal(n_users))
    counts = np.ones(n_users, dtype=np.int64)
    active = np.argsort(-weight, kind="stable")  # the most active first
    falling = -weight[active]
    open_to, total, remaining = counts < most, 0.0, n_ratings - n_users
    while remaining > 0:
        if not total:
            total = float(np.where(open_to, weight, 0.0).sum())
        # Each round gives to fewer users: whose share is below one rating is not looked at.
        first = active[: np.searchsorted(falling, -(1 - 1e-9) * total / remaining, side="right")]
        first = first[open_to[first]]
        more = np.floor(remaining * weight[first] / total).astype(np.int64)
        if not more.any():  # fewer left than users: one each, the most active first
            first = active[open_to[active]][:remaining]
            more = np.ones(len(first), dtype=np.int64)
        before = counts[first]
        counts[first] = np.minimum(before + more, most)
        remaining -= int((counts[first] - before).sum())
        full = first[counts[first] == most]
        if len(full):
            open_to[full], total = False, 0.0
    return counts


@kernel
def _fill_alias(scaled: Floats) -> tuple[Floats, Codes]:
    """Return an alias table (Vose 1991, doi:10.1109/32.92917): draws take constant time."""
    n = len(scaled)
    alias = np.arange(n).astype(np.int32)
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    n_small = n_large = 0
    for i in range(n):
        if scaled[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small and n_large:
        n_small -= 1
        low, high = small[n_small], large[n_large - 1]
        alias[low] = high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            n_large -= 1
            small[n_small] = high
            n_small += 1
    for place in range(n_small):
        scaled[small[place]] = 1.0
    for place in range(n_large):
        scaled[large[place]] = 1.0
    return scaled, alias


@kernel
def _mixed(state: np.uint64) -> np.uint64:
    """Return SplitMix64's output for a state: 64 well-mixed bits (doi:10.1145/2714064.2660195)."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _uniform(bits: np.uint64) -> float:
    """Return a number in [0, 1) from 64 bits."""
    return (bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def _draw(
    first: int, last: int, starts: Longs, slots: Longs, fixed: Codes, threshold: Floats,
    alias: Codes, user_factors: Factors, item_factors: Factors, user_biases: Floats,
    item_biases: Floats, began: Longs, key: np.uint64, low: float, high: float, step: float,
    users: Codes, items: Codes, ratings: Floats, timestamps: Longs,
) -> None:  # fmt: skip
    """Fill the rows of users `first` to `last`, each user from its own stream."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    n_items, n_factors = len(threshold), user_factors.shape[1]
    width = high - low
    scale = 1.0 / np.sqrt(n_factors)
    drawn_by = np.full(n_items, -1, np.int32)
    slot = np.searchsorted(slots, starts[first])
    for user in range(first, last):
        state = _mixed(key + np.uint64(user) * golden)
        end = slot
        while end < n_items and slots[end] < starts[user + 1]:
            drawn_by[fixed[end]] = user
            end += 1
        now = began[user]
        most_popular = 0
        for row in range(starts[user], starts[user + 1]):
            if slot < end and slots[slot] == row:
                item = np.int64(fixed[slot])
                slot += 1
            else:
                item = np.int64(0)
                for _ in range(MOST_TRIES):
                    state += golden
                    place = _uniform(_mixed(state)) * n_items
                    item = np.int64(place)
                    if place - item >= threshold[item]:
                        item = np.int64(alias[item])
                    if drawn_by[item] != user:
                        break
                else:  # nearly all that is popular is taken: the most popular of the rest
                    while drawn_by[most_popular] == user:
                        most_popular += 1
                    item = np.int64(most_popular)
                drawn_by[item] = user
            dot = 0.0
            for factor in range(n_factors):
                dot += user_factors[user, factor] * item_factors[item, factor]
            state += golden
            radius = np.sqrt(-2.0 * np.log(1.0 - _uniform(_mixed(state))))
            state += golden
            bits = _mixed(state)
            noise = radius * np.cos(2.0 * np.pi * _uniform(bits))
            value = (
                low
                + 0.62 * width
                + width
                * (
                    0.12 * user_biases[user]
                    + 0.12 * item_biases[item]
                    + 0.15 * scale * dot
                    + 0.15 * noise
                )
            )
            if step > 0.0:
                value = low + step * np.round((value - low) / step)
            now += 1 + np.int64(bits & np.uint64(1023))
            users[row] = user
            items[row] = item
            ratings[row] = min(max(value, low), high)
            timestamps[row] = now
