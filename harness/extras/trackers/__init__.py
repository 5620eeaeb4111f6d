"""Trackers of runs: a file, MLflow, Weights & Biases; each imported where a run names it.

Page: docs/how-to/other-plug-ins.md
"""

from __future__ import annotations
