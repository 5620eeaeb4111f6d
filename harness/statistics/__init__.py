"""Significance of differences: paired tests, corrections, intervals and letters."""

from harness.statistics.comparison import (
    DEFAULT_RESAMPLES,
    SEED_TESTS,
    Comparison,
    Correction,
    PairedTest,
    adjust,
    against,
    compare,
    letters,
)
from harness.statistics.ranks import Friedman, PostHoc, RankComparison, compare_ranks
from harness.statistics.resampling import (
    IntervalMethod,
    bootstrap_interval,
    effect_size,
    gaps,
    paired_t,
    randomisation,
    wilcoxon,
)
from harness.statistics.variance import StandardError, components

__all__ = [
    "DEFAULT_RESAMPLES",
    "SEED_TESTS",
    "Comparison",
    "Correction",
    "Friedman",
    "IntervalMethod",
    "PairedTest",
    "PostHoc",
    "RankComparison",
    "StandardError",
    "adjust",
    "against",
    "bootstrap_interval",
    "compare",
    "compare_ranks",
    "components",
    "effect_size",
    "gaps",
    "letters",
    "paired_t",
    "randomisation",
    "wilcoxon",
]
