"""Significance of differences: paired tests, corrections, intervals and letters."""

from harness.statistics.comparison import DEFAULT_RESAMPLES, Comparison, PairedTest, compare
from harness.statistics.corrections import Correction, adjust, benjamini_hochberg, holm
from harness.statistics.intervals import IntervalMethod, bootstrap_interval
from harness.statistics.letters import letters
from harness.statistics.paired import effect_size, paired_t, randomisation, wilcoxon

__all__ = [
    "DEFAULT_RESAMPLES",
    "Comparison",
    "Correction",
    "IntervalMethod",
    "PairedTest",
    "adjust",
    "benjamini_hochberg",
    "bootstrap_interval",
    "compare",
    "effect_size",
    "holm",
    "letters",
    "paired_t",
    "randomisation",
    "wilcoxon",
]
