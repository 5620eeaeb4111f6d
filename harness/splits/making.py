"""From a section of a config to the splits that it asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import seeds
from harness.config.splitting import SplitSection
from harness.datasets import Ratings
from harness.splits import random_parts
from harness.splits.split import Parts, Split, assemble

__all__ = ["make"]

Maker = Callable[[Any, Ratings, int], list[Parts]]

_MAKERS: dict[str, Maker] = {
    "holdout": random_parts.holdout,
    "kfold": random_parts.kfold,
    "repeated-kfold": random_parts.repeated_kfold,
}


def make(section: SplitSection, ratings: Ratings, seed: int) -> list[Split]:
    """Divide ratings as a config asks.

    Parameters
    ----------
    section : SplitSection
        Kind and options; its `validation` is left to `validation`.
    ratings : Ratings
        What to divide.
    seed : int
        The run's seed, for a section without a `random_state` of its own.

    Returns
    -------
    list of Split
        One, or one for each fold.

    Raises
    ------
    SplitError
        If the split cannot be made of these ratings.

    Examples
    --------
    >>> from harness.config.splitting import KFold
    >>> r = Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    >>> [split.test.tolist() for split in make(KFold(n_splits=2, shuffle=False), r, seed=0)]
    [[0, 1], [2, 3]]
    """
    state = getattr(section, "random_state", None)
    if state is None:
        state = seeds.derive(seed, "split", section.kind)
    return assemble(ratings, _MAKERS[section.kind](section, ratings, state), section.describe())
