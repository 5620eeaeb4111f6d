"""Significance of differences: paired tests, corrections, intervals and letters."""

from typing import TYPE_CHECKING

from harness import lazy

if TYPE_CHECKING:
    from harness.statistics.baseline import against
    from harness.statistics.bootstrap import bootstrap_interval
    from harness.statistics.comparison import Comparison, compare
    from harness.statistics.corrections import Correction, adjust, letters
    from harness.statistics.expansion import FEWEST_EFFECTIVE
    from harness.statistics.gaps import gaps
    from harness.statistics.intervals import IntervalMethod
    from harness.statistics.paired import DEFAULT_RESAMPLES, effect_size
    from harness.statistics.paired_tests import paired_t, randomisation, wilcoxon
    from harness.statistics.pairs import SEED_TESTS, PairedTest
    from harness.statistics.ranks import Friedman, PostHoc, RankComparison, compare_ranks
    from harness.statistics.resampling import MANY_USERS, Draws
    from harness.statistics.standard_error import StandardError
    from harness.statistics.variance import components

__all__ = [
    "DEFAULT_RESAMPLES",
    "FEWEST_EFFECTIVE",
    "MANY_USERS",
    "SEED_TESTS",
    "Comparison",
    "Correction",
    "Draws",
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

__getattr__ = lazy.members(
    __name__,
    {
        "baseline": ("against",),
        "bootstrap": ("bootstrap_interval",),
        "comparison": ("Comparison", "compare"),
        "corrections": ("Correction", "adjust", "letters"),
        "expansion": ("FEWEST_EFFECTIVE",),
        "resampling": ("MANY_USERS", "Draws"),
        "gaps": ("gaps",),
        "intervals": ("IntervalMethod",),
        "paired": ("DEFAULT_RESAMPLES", "effect_size"),
        "paired_tests": ("paired_t", "randomisation", "wilcoxon"),
        "pairs": ("SEED_TESTS", "PairedTest"),
        "ranks": ("Friedman", "PostHoc", "RankComparison", "compare_ranks"),
        "standard_error": ("StandardError",),
        "variance": ("components",),
    },
)
