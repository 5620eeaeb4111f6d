"""Small runs in which plug-ins are tried."""

from __future__ import annotations

from typing import Any

SEED = 7
CONFIG: dict[str, Any] = {
    "name": "conformance",
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600, "seed": SEED}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["ItemMean", "Random"],
    "metrics": ["ndcg@5", "rmse"],
    "analyses": ["bounds"],
    "statistics": {"resamples": 100},
}
"""Two algorithms and Popularity, on two folds of random ratings."""
