"""The scores of a table under several seeds: as observations of a test, and their variances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness import statistics
from harness.config.settings import Draw
from harness.lazy import pd
from harness.metrics.arrays import Floats

if TYPE_CHECKING:
    from harness.comparison.inference import UserScores


def by_part(
    units: Mapping[int, int],
    scores: UserScores,
    label: str,
    rows: Sequence[str],
    is_scored: NDArray[np.bool_],
    *,
    by_fold: bool,
) -> Floats:
    """Return the scores of some users in some rows, for each independent seed or each fold.

    `units` are the independent seeds, by the seed of a cell.
    """
    users = scores.frame[["seed", "fold"]]
    scored = np.flatnonzero(users["seed"].isin(units) & scores.frame[label].notna())
    parts = users.iloc[scored]
    if not by_fold:
        parts = parts["seed"].map(units).to_frame()
    numbers = parts.groupby([*parts], sort=False).ngroup().to_numpy()
    tables = (
        scores.means(label, rows, scored[numbers == number])[:, is_scored].T
        for number in range(numbers.max(initial=-1) + 1)
    )
    return np.stack([np.ascontiguousarray(table) for table in tables])


def components(
    draws: Mapping[int, Draw], nodes: Sequence[int], users: pd.DataFrame, label: str
) -> dict[str, float]:
    """Return the variance components of a row, given how many seeds of each level there are."""
    shape = [nodes[0], nodes[1] // nodes[0], nodes[2] // nodes[1]]
    if np.prod(shape) != nodes[2]:  # runs with other seeds, put into one
        return {}
    scores = users.pivot_table(index="user", columns="seed", values=label, aggfunc="mean")
    together = all(draw.split == draw.model for draw in draws.values())
    names = ["seed" if together else "split", "search", "model"]
    table = scores.reindex(columns=list(draws)).to_numpy()
    return statistics.components(table.reshape(len(table), *shape), names)
