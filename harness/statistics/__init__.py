"""Significance of differences: paired tests, corrections, intervals and letters."""

from harness.statistics.comparison import (
    DEFAULT_RESAMPLES,
    Comparison,
    Correction,
    PairedTest,
    adjust,
    compare,
    letters,
)
from harness.statistics.resampling import (
    IntervalMethod,
    bootstrap_interval,
    effect_size,
    paired_t,
    randomisation,
    wilcoxon,
)

__all__ = [
    "DEFAULT_RESAMPLES",
    "Comparison",
    "Correction",
    "IntervalMethod",
    "PairedTest",
    "adjust",
    "bootstrap_interval",
    "compare",
    "effect_size",
    "letters",
    "paired_t",
    "randomisation",
    "wilcoxon",
]
