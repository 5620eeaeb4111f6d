"""A config-driven ranking benchmark for scikit-surprise.

>>> import harness
>>> harness.ndcg([(4.5, 5), (3.5, 1), (2.5, 4)], k=2)
0.7817...
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as type checkers know it; to import `typing` takes longer than all this

__version__ = "0.3.0"

__all__ = [
    "Analysis",
    "Filter",
    "Note",
    "Ratings",
    "Run",
    "Split",
    "Tracker",
    "TrainingData",
    "across",
    "audit",
    "best",
    "describe",
    "estimate",
    "explain",
    "fit",
    "fit_row",
    "fold_in",
    "gate",
    "load",
    "load_model",
    "metric",
    "metrics",
    "ndcg",
    "patch_report",
    "patch_surprise",
    "patched_surprise",
    "power",
    "read_run",
    "recommend",
    "recommend_in_blocks",
    "run",
    "save_model",
    "similar",
    "unpatch_surprise",
    "update",
    "verify",
]

# OpenBLAS's threads spin after a product, on cores that loops need: for half a millisecond (2^20
# cycles) instead of 30. OpenBLAS reads this when NumPy is imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

if TYPE_CHECKING:
    from typing import Any

    from harness import metrics
    from harness.algorithms.arrays import TrainingData
    from harness.algorithms.model_files import load_model, save_model
    from harness.analyses.base import Analysis
    from harness.comparison.across import across
    from harness.comparison.best import best
    from harness.comparison.gate import gate
    from harness.datasets import Ratings, load
    from harness.experiment.describe import describe
    from harness.experiment.final_fit import fit_row
    from harness.experiment.power_analysis import power
    from harness.experiment.run import run
    from harness.experiment.verify import verify
    from harness.explanations import explain
    from harness.extras.accelerate import (
        patch_report,
        patch_surprise,
        patched_surprise,
        unpatch_surprise,
    )
    from harness.extras.audit import audit
    from harness.fitting import fit
    from harness.metrics.functions import metric
    from harness.new_users import fold_in
    from harness.notes import Note
    from harness.rankings import ndcg
    from harness.recommendations import estimate, recommend, recommend_in_blocks
    from harness.results import Run, read_run
    from harness.similarities import similar
    from harness.splits.plugin import Filter, Split
    from harness.trackers import Tracker
    from harness.updates import update

_HOMES = {
    "harness.analyses.base": ("Analysis",),
    "harness.algorithms.arrays": ("TrainingData",),
    "harness.splits.plugin": ("Filter", "Split"),
    "harness.trackers": ("Tracker",),
    "harness.algorithms.model_files": ("load_model", "save_model"),
    "harness.datasets": ("Ratings", "load"),
    "harness.experiment.describe": ("describe",),
    "harness.experiment.final_fit": ("fit_row",),
    "harness.experiment.power_analysis": ("power",),
    "harness.experiment.run": ("run",),
    "harness.experiment.verify": ("verify",),
    "harness.explanations": ("explain",),
    "harness.metrics.functions": ("metric",),
    "harness.notes": ("Note",),
    "harness.extras.accelerate": (
        "patch_report",
        "patch_surprise",
        "patched_surprise",
        "unpatch_surprise",
    ),
    "harness.rankings": ("ndcg",),
    "harness.new_users": ("fold_in",),
    "harness.updates": ("update",),
    "harness.fitting": ("fit",),
    "harness.recommendations": ("estimate", "recommend", "recommend_in_blocks"),
    "harness.results": ("Run", "read_run"),
    "harness.similarities": ("similar",),
    "harness.comparison.across": ("across",),
    "harness.extras.audit": ("audit",),
    "harness.comparison.best": ("best",),
    "harness.comparison.gate": ("gate",),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import harness`` is fast."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(home), name)
            return value
    if name == "metrics":
        return import_module("harness.metrics")
    raise AttributeError(f"module 'harness' has no attribute {name!r}")


def load_ipython_extension(_: Any) -> None:
    """Patch Surprise: what ``%load_ext harness`` does in a notebook."""
    __getattr__("patch_surprise")()


def unload_ipython_extension(_: Any) -> None:
    """Put Surprise's own methods back: what ``%unload_ext harness`` does."""
    __getattr__("unpatch_surprise")()
