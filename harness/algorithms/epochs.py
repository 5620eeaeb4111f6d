"""The seed of a model and how many epochs its fit takes, wherever its class keeps the number."""

from __future__ import annotations

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.parameters import BSL_OPTIONS


def seed_of(model: surprise.AlgoBase) -> int:
    """Return the seed of a model; 0 for one whose ``random_state`` is no number."""
    state = getattr(model, "random_state", None)
    return int(state) if isinstance(state, int | np.integer) else 0


def epochs_of(model: surprise.AlgoBase) -> int:
    """Return how many epochs a fit takes; any number for an algorithm without epochs."""
    usual = int(BSL_OPTIONS["sgd"]["n_epochs"])
    if isinstance(model, surprise.BaselineOnly):
        return int(model.bsl_options.get("n_epochs", usual))
    return int(getattr(model, "n_epochs", usual))


def set_epochs(model: surprise.AlgoBase, n_epochs: int) -> None:
    """Let a fit take so many epochs."""
    if isinstance(model, surprise.BaselineOnly):
        model.bsl_options = {**model.bsl_options, "n_epochs": n_epochs}
    else:
        model.n_epochs = n_epochs
