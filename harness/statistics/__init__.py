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
from harness.statistics.gaps import gaps
from harness.statistics.ranks import Friedman, PostHoc, RankComparison, compare_ranks
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
    "Friedman",
    "IntervalMethod",
    "PairedTest",
    "PostHoc",
    "RankComparison",
    "adjust",
    "bootstrap_interval",
    "compare",
    "compare_ranks",
    "effect_size",
    "gaps",
    "letters",
    "paired_t",
    "randomisation",
    "wilcoxon",
]
