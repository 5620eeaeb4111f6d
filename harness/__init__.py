"""A config-driven ranking benchmark for scikit-surprise.

>>> import harness
>>> harness.ndcg([(4.5, 5), (3.5, 1), (2.5, 4)], k=2)
0.7817...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

__all__ = [
    "Ratings",
    "Run",
    "across",
    "best",
    "describe",
    "estimate",
    "fit",
    "fit_row",
    "fold_in",
    "load",
    "load_model",
    "metrics",
    "ndcg",
    "read_run",
    "recommend",
    "recommend_in_blocks",
    "run",
    "save_model",
]

if TYPE_CHECKING:
    from harness import metrics
    from harness.algorithms.model_files import load_model, save_model
    from harness.datasets import Ratings, load
    from harness.experiment.describe import describe
    from harness.experiment.final import fit_row
    from harness.experiment.run import run
    from harness.rankings import ndcg
    from harness.recommendations import estimate, fit, fold_in, recommend, recommend_in_blocks
    from harness.results import Run, read_run
    from harness.results.across import across
    from harness.results.best import best

_HOMES = {
    "Ratings": "harness.datasets",
    "Run": "harness.results",
    "across": "harness.results.across",
    "best": "harness.results.best",
    "describe": "harness.experiment.describe",
    "estimate": "harness.recommendations",
    "fit": "harness.recommendations",
    "fit_row": "harness.experiment.final",
    "fold_in": "harness.recommendations",
    "load": "harness.datasets",
    "load_model": "harness.algorithms.model_files",
    "ndcg": "harness.rankings",
    "read_run": "harness.results",
    "recommend": "harness.recommendations",
    "recommend_in_blocks": "harness.recommendations",
    "run": "harness.experiment",
    "save_model": "harness.algorithms.model_files",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import harness`` is fast."""
    from importlib import import_module

    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    if name == "metrics":
        return import_module("harness.metrics")
    raise AttributeError(f"module 'harness' has no attribute {name!r}")
