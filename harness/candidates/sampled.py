"""Candidates that are a random sample of the items without a rating of the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness._util import seeds
from harness.candidates.base import Candidates, OfOptions, OfTraining
from harness.errors import SplitError
from harness.metrics import Metric
from harness.notes.note import Note
from harness.splits import Split


class Sampled(OfTraining):
    """A user's test ratings among a random sample of items without one."""

    name = "sampled {0.n}"
    ranked = (
        "Each user's test ratings are ranked among {0.n} items sampled at random{0.in_proportion} "
        "from those without a rating of the user, which have relevance 0."
    )
    names_of_options: ClassVar[OfOptions] = {
        **OfTraining.names_of_options,
        ("by", "popularity"): " by popularity",
    }
    caution = "Metrics over sampled candidates are biased"
    citation = "krichene2020sampled"
    is_sample = judges_unrated = True
    longer = "`candidates: catalogue`, or a greater `n`"

    kind: Literal["sampled"] = "sampled"
    """Rank the test ratings and `n` items that the user has not rated."""
    n: int = Field(default=100, ge=1, le=2**31 - 1)
    """How many unrated items each user gets; fewer if the catalogue has fewer."""
    by: Literal["popularity"] | None = None
    """`popularity`: each draw takes an item in proportion to its training ratings, from those that
    are left; null: all items are as likely."""

    @property
    def in_proportion(self) -> str:
        """What the sentence says of chances that differ."""
        return ", in proportion to their training ratings," if self.by == "popularity" else ""

    def select(self, split: Split, seed: int) -> Candidates:
        """Select the test users of a split, their test ratings and a sample for each."""
        tested = self.tested(split)
        sample = self._sample(split, tested.users, seed)
        return replace(
            tested,
            extra_offsets=np.cumsum([0, *map(len, sample)], dtype=np.int64),
            extra_items=np.concatenate(sample).astype(np.int32),
        )

    def notes(self, name: str, metrics: Sequence[Metric]) -> Iterator[Note]:
        """Yield that metrics over samples are biased."""
        yield Note("sampled-biased", {"candidates": name})

    def _n_listed(
        self, n_tested: NDArray[np.int64], n_items: int, n_seen: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        return np.minimum(n_tested + self.n, n_items - n_seen)

    def _sample(self, split: Split, users: NDArray[np.int32], seed: int) -> list[NDArray[np.int64]]:
        """Draw up to `n` training items for each user among those the user rated nowhere."""
        ratings, n = split.ratings, self.n
        order = np.argsort(ratings.users, kind="stable")
        edges = np.searchsorted(ratings.users[order], np.arange(ratings.n_users + 1))
        in_training = split.known_items
        catalogue = np.flatnonzero(in_training)
        weights = np.bincount(ratings.items[split.train], minlength=ratings.n_items)
        bounds = np.cumsum(weights[catalogue])
        drawn = []
        for user in users:
            rng = seeds.generator(seed, "candidates", split.fold, ratings.user_ids[user])
            rated = ratings.items[order[edges[user] : edges[user + 1]]]
            free = in_training.copy()
            free[rated] = False
            n_free = int(free.sum())
            if n_free <= 4 * n:
                unrated = np.flatnonzero(free)
                if n_free > n and self.by == "popularity":
                    # The first n of independent exponential times with these rates are successive
                    # draws in proportion to them (Efraimidis and Spirakis 2006).
                    times = rng.exponential(size=n_free) / weights[unrated]
                    unrated = unrated[np.argsort(times)]
                elif n_free > n:
                    unrated = rng.permutation(unrated)
                drawn.append(unrated[:n])
                continue
            # Draw from the whole catalogue and reject what the user rated: far cheaper than
            # listing the free items, and as uniform.
            picked: list[int] = []
            seen = set(rated.tolist())
            while len(picked) < n:
                if self.by == "popularity":
                    at = rng.integers(bounds[-1], size=2 * n)
                    places = np.searchsorted(bounds, at, side="right")
                else:
                    places = rng.integers(len(catalogue), size=2 * n)
                for item in catalogue[places].tolist():
                    if item not in seen and len(picked) < n:
                        seen.add(item)
                        picked.append(item)
            drawn.append(np.array(picked))
        if not any(map(len, drawn)):
            raise SplitError(
                f"{split.name}: every user rated the whole catalogue, so there is nothing to "
                "sample; use `candidates: catalogue`"
            )
        return drawn
