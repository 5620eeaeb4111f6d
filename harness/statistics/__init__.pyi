"""The names of the package, declared once; each is imported when it is first used."""

from .arrays import bootstrap_interval, paired_t, randomisation, wilcoxon
from .comparison import Comparison, against, compare
from .corrections import Correction, adjust, letters
from .expansion import FEWEST_EFFECTIVE, FEWEST_FOR_INTERVAL
from .gaps import gaps
from .intervals import IntervalMethod
from .paired import DEFAULT_RESAMPLES, effect_size
from .pairs import SEED_TESTS, PairedTest
from .ranks import Friedman, PostHoc, RankComparison, compare_ranks
from .resampling import MANY_USERS, Draws
from .standard_error import StandardError
from .variance import components

__all__ = [
    "DEFAULT_RESAMPLES",
    "FEWEST_EFFECTIVE",
    "FEWEST_FOR_INTERVAL",
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
