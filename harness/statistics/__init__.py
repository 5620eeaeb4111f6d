"""Significance of differences: paired tests, corrections, intervals and letters."""

from harness.statistics.bootstrap import IntervalMethod, bootstrap_interval
from harness.statistics.comparison import DEFAULT_RESAMPLES, Comparison, PairedTest, compare
from harness.statistics.corrections import Correction, adjust, letters
from harness.statistics.paired import effect_size, paired_t, randomisation, wilcoxon

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
