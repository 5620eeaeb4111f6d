"""Make the splits of a config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness import seeds
from harness.config.splitting import Predefined, SavedSplit, SplitSection
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import random_parts, time_parts, user_parts
from harness.splits.predefined import predefined
from harness.splits.saved import read
from harness.splits.split import Drawn, Split, assemble

__all__ = ["make", "validation", "validations"]

_MAKERS: dict[str, Callable[[Any, Ratings, int], Drawn]] = {
    "holdout": random_parts.holdout,
    "kfold": random_parts.kfold,
    "repeated-kfold": random_parts.repeated_kfold,
    "leave-n-out": user_parts.leave_n_out,
    "user-fraction": user_parts.user_fraction,
    "user-holdout": user_parts.user_holdout,
    "global-time": time_parts.global_time,
    "own-training": random_parts.own_training,
}


def make(
    section: SplitSection, ratings: Ratings, seed: int, base: Path | None = None
) -> list[Split]:
    """Split ratings by a section of a config.

    Parameters
    ----------
    section : SplitSection
        Kind and options; its `validation` is left to `validations`.
    ratings : Ratings
        What to divide.
    seed : int
        The run's seed, for a section without a `random_state` of its own.
    base : Path, optional
        Where relative paths of a config start; the working directory when left out.

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
    if isinstance(section, SavedSplit):
        return read(_path(section, base), ratings)
    if isinstance(section, Predefined):
        drawn = predefined(section, ratings, np.arange(len(ratings)), base)
    else:
        drawn = _draw(section, ratings, seed)
    return assemble(ratings, drawn, section.describe())


def validations(
    split: Split, section: SplitSection, seed: int, base: Path | None = None
) -> list[Split]:
    """Split the training part of a split again; its test part is never used.

    Parameters
    ----------
    split : Split
        What was divided first.
    section : SplitSection
        How to divide its training part, whose rows are taken in the order of the data.
    seed : int
        The run's seed.
    base : Path, optional
        Where relative paths of a config start.

    Returns
    -------
    list of Split
        Rows are those of the whole data, as in `split`; `test` is the part that tuning uses.

    Raises
    ------
    SplitError
        If the training part cannot be split in this way.

    Examples
    --------
    >>> from harness.config.splitting import Holdout, KFold
    >>> r = Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    >>> outer = make(Holdout(test_size=1, shuffle=False), r, seed=0)[0]
    >>> inner = validation(outer, Holdout(test_size=1, shuffle=False), seed=0)
    >>> inner.train.tolist(), inner.test.tolist(), outer.test.tolist()
    ([0, 1], [2], [3])
    """
    rows = np.sort(split.train)
    name = f"{section.describe()} of the training part"
    if isinstance(section, SavedSplit):
        return _within(read(_path(section, base), split.ratings), rows, name)
    if isinstance(section, Predefined):
        drawn = predefined(section, split.ratings, rows, base)
    else:
        inner = _draw(section, split.ratings.take(rows), seeds.derive(seed, "validation"))
        drawn = Drawn([(rows[train], rows[test]) for train, test in inner.folds], inner.notes)
    return assemble(split.ratings, drawn, name, len(rows))


def validation(split: Split, section: SplitSection, seed: int, base: Path | None = None) -> Split:
    """Divide the training part of a split into exactly two; see `validations`.

    Raises
    ------
    SplitError
        If the section makes several folds, or the training part cannot be split in this way.
    """
    made = validations(split, section, seed, base)
    if len(made) > 1:
        raise SplitError(
            f"{section.describe()}: {len(made)} validation parts where one is needed; "
            "use a split with one, as holdout"
        )
    return made[0]


def _draw(section: Any, ratings: Ratings, seed: int) -> Drawn:
    state = getattr(section, "random_state", None)
    if state is None:
        state = seeds.derive(seed, "split", section.kind)
    return _MAKERS[section.kind](section, ratings, state)


def _path(section: SavedSplit, base: Path | None) -> Path:
    return (base or Path()) / Path(section.path).expanduser()


def _within(splits: list[Split], rows: Any, name: str) -> list[Split]:
    """Refuse saved splits with rows outside of the part to split."""
    for split in splits:
        n_outside = len(np.setdiff1d(np.concatenate([split.train, split.test]), rows))
        if n_outside:
            raise SplitError(
                f"{name}: {n_outside:,} of its ratings are not in the training part; "
                "save a split of that part"
            )
    return [replace(split, name=name) for split in splits]
