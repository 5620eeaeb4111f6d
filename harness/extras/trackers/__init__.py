"""Where runs are logged: a file, MLflow, Weights & Biases; each imported where a run names it."""

from __future__ import annotations
