"""Compilation before the clock starts, so that the first row is timed like the others."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from harness.algorithms import acceleration, registry
from harness.algorithms.trainset import ColumnTrainset

__all__ = ["warm_up"]

_warm: set[str] = set()
_CHEAP: dict[str, Any] = {
    "n_epochs": 1,
    "n_factors": 2,
    "k": 2,
    "min_k": 1,
    "n_cltr_u": 1,
    "n_cltr_i": 1,
    "k_core": 1,  # filters that the toy would not pass
    "min_rating": None,
}


def warm_up(name: str, params: dict[str, Any], *, catalogue: bool = True) -> None:
    """Fit and score an algorithm on a toy, once in each process for each set of options.

    Ranking and metrics have theirs in `harness.experiment.scoring.compile_scoring`.

    Parameters
    ----------
    name : str
        As `registry.find` takes it; a class of your own is skipped.
    params : dict
        Only options and switches that select other compiled code are used.
    catalogue : bool
        Whether whole catalogues will be scored, besides pairs.
    """
    if ":" in name:
        return
    cheap = {key: _CHEAP.get(key, value) for key, value in params.items()}
    identity = json.dumps([registry.canonical(name), cheap, catalogue], sort_keys=True, default=str)
    if identity in _warm:
        return
    _warm.add(identity)
    users = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    items = np.array([0, 1, 0, 2, 1, 2], dtype=np.int32)
    toy = ColumnTrainset.from_columns(
        users,
        items,
        np.array([1.0, 2.0, 3.0, 4.0, 5.0, 3.0]),
        user_ids=np.array(["a", "b", "c"]),
        item_ids=np.array(["x", "y", "z"]),
        scale=(1.0, 5.0),
    )
    model = registry.create(name, cheap, seed=0)
    acceleration.fit(model, toy)
    acceleration.estimate(model, users, items)
    if catalogue:
        for _ in acceleration.catalogue(model, users[:1]):
            break
