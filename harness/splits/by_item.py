"""Splits of items: all ratings of some items are the test, or a proportion of each item's."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness._util.libraries import pd
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.schema.sections import Share, Size, SizeOrZero, written
from harness.splits.base import (
    DrawnSplit,
    LegacySeed,
    Notes,
    Parts,
    Seed,
    SplitSection,
    natural,
    rounded,
    seeded,
)


class ItemHoldout(DrawnSplit):
    """Some items are the test: none of their ratings are given, or a part of them."""

    kind: Literal["item-holdout"] = "item-holdout"
    """A sample of items is tested, by default new ones, of which a model has seen no rating."""
    items: Size = 0.2
    """Proportion (rounded up) or count of test items."""
    given: SizeOrZero = 0
    """Proportion (rounded down) or count of a test item's ratings that are in training; an item
    with no more ratings than that is training only."""
    random_state: Seed = None

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        rng = np.random.Generator(np.random.PCG64(state))
        items = pd.unique(ratings.items)  # as they appear, whatever they are called
        n_items = rounded(self.items, len(items), up=True)
        if n_items > len(items):
            raise SplitError(
                f"{self.describe()}: {n_items:,} test items cannot be drawn from "
                f"{len(items):,}; lower items"
            )
        tested = np.zeros(ratings.n_items, bool)
        tested[items[rng.permutation(len(items))[:n_items]]] = True
        order = np.lexsort((rng.random(len(ratings)), ratings.items))
        counts = np.bincount(ratings.items, minlength=ratings.n_items)
        place = np.empty(len(ratings), np.int64)
        place[order] = np.arange(len(ratings)) - np.repeat(np.cumsum(counts) - counts, counts)
        n_given = np.array([rounded(self.given, n, up=False) for n in counts.tolist()], np.int64)
        test = tested[ratings.items] & (place >= n_given[ratings.items])
        return [(np.flatnonzero(~test), np.flatnonzero(test))], ()

    def describe(self) -> str:
        given = f", given {written(self.given)}" if self.given else ""
        return f"item holdout {written(self.items)}{given}"

    def sentence(self, part: str = "test set") -> str:
        chosen = f"sampled at random{seeded(self.random_state)}"
        who = f"For {written(self.items)} of the items, {chosen}"
        given, rest = "no rating is given and all", "all other items are training."
        if self.given:
            given = f"{written(self.given)} of their ratings are given and the others"
        return f"{who}, {given} are the {part}; {rest}"

    def inner(self) -> SplitSection:
        return ItemHoldout(items=0.2, given=self.given)


class ItemFraction(DrawnSplit):
    """The same proportion of every item's ratings."""

    kind: Literal["item-fraction"] = "item-fraction"
    """A proportion of each item's ratings, sampled at random, is the test set."""
    fraction: Share = 0.25
    """Proportion of test ratings. An item's other ratings are rounded to the nearest count, a half
    to the even one, so an item with few ratings may be in only one set."""
    random_state: LegacySeed = None
    like: Literal["recommenders"] | None = None
    """Order both sets by item and draw, row for row as `python_stratified_split` with
    `filter_by="item"` of Microsoft's Recommenders; null: the order of the data."""

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        rank = np.arange(ratings.n_items)
        if self.like == "recommenders":  # which sorts the items by their ids
            rank[sorted(rank, key=lambda code: natural(str(ratings.item_ids[code])))] = rank.copy()
        numbers = np.random.RandomState(state).random_sample(len(ratings))
        rows = np.lexsort((numbers, rank[ratings.items]))
        items = rank[ratings.items[rows]]
        place = np.arange(len(rows)) - np.searchsorted(items, items)
        train = place < np.round((1 - self.fraction) * np.bincount(items))[items]
        parts = rows[train], rows[~train]
        if self.like is None:
            parts = np.sort(parts[0]), np.sort(parts[1])
        return [parts], ()

    def describe(self) -> str:
        like = ", as recommenders" if self.like else ""
        return f"item fraction {written(self.fraction)}{like}"

    def sentence(self, part: str = "test set") -> str:
        like = " as by python_stratified_split of Recommenders" if self.like else ""
        return (
            f"{written(self.fraction)} of each item's ratings, sampled at random{like}"
            f"{seeded(self.random_state)}, are the {part}."
        )
