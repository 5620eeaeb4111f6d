"""What metrics of shown items and of weights know of a split: its training, and propensities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pd
from harness.errors import DataError
from harness.metrics import Exposure, Metric
from harness.metrics.arrays import Floats

if TYPE_CHECKING:
    from harness.datasets import Ratings
    from harness.splits import Split


COLUMN = "propensity"
"""The metadata of items that ``weights=column`` reads."""


def exposure_of(split: Split, users: NDArray[np.int32], needing: Sequence[Metric]) -> Exposure:
    """Return what these metrics need; see `evaluation.exposure_for`."""
    ratings = split.ratings
    position = np.full(ratings.n_users, -1)
    position[users] = np.arange(len(users))
    judged = split.test[position[ratings.users[split.test]] >= 0]
    return Exposure(
        ratings.users[split.train],
        ratings.items[split.train],
        np.where(split.known_users[users], users, -1),
        n_items=ratings.n_items,
        judged=(position[ratings.users[judged]], ratings.items[judged], ratings.ratings[judged]),
        ratings=ratings.ratings[split.train],
        genres=ratings.genres if any(metric.needs_genres for metric in needing) else None,
        propensities=propensities(ratings) if any(m.needs_column for m in needing) else None,
        at_random=ratings.at_random,
    )


def propensities(ratings: Ratings) -> Floats:
    """Return the column of propensities of items, NaN where there is none, or raise a DataError."""
    known = ratings.item_features
    if known is None or COLUMN not in known:
        there = "nothing is known of items" if known is None else ", ".join(map(str, known.columns))
        raise DataError(
            f"{ratings.name}: no column {COLUMN!r} of items ({there}); give a file that has it, "
            "for "
            "example `items: items.csv` under `dataset`, or load(ratings, items=frame)"
        )
    texts = known[COLUMN]
    values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
    if (wrong := np.isnan(values) & texts.notna().to_numpy()).any():
        raise DataError(
            f"{ratings.name}: {COLUMN} of item {ratings.item_ids[wrong][0]} is "
            f"{texts[wrong].iloc[0]!r}; write a number above 0, at most 1"
        )
    return values
