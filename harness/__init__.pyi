"""The public names, declared once; each is imported when it is first used."""

from . import metrics
from .algorithms.own import TrainingData
from .comparison.across import across
from .comparison.best import best
from .config.trackers import Tracker
from .datasets import Ratings, load
from .experiment.analyses.base import Analysis
from .experiment.describe import describe
from .experiment.final_fit import fit_row
from .experiment.run import run
from .experiment.verify import verify
from .extras.accelerate import (
    patch_surprise,
    patched_surprise,
    unpatch_surprise,
)
from .extras.accelerate.report import patch_report
from .extras.audit import audit
from .extras.explain.explanations import explain
from .extras.explain.similarities import similar
from .extras.explain.updates import update
from .extras.gate.decision import gate
from .extras.power.pilot import power
from .metrics.own import metric
from .models.files import load_model, save_model
from .models.fitting import fit
from .models.new_users import fold_in
from .models.recommendations import estimate, recommend, recommend_in_blocks
from .notes.note import Note
from .rankings import ndcg
from .results import Run, read_run
from .splits.own import Filter, Split

__version__: str

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

def load_ipython_extension(_: object) -> None: ...
def unload_ipython_extension(_: object) -> None: ...
