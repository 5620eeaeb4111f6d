"""The names of the package, declared once; each is imported when it is first used."""

from .base import FilterSection, Fold, Split, SplitSection, make, validation
from .cores import k_core
from .filters import filter
from .saved import read, save

TEST_SHARE: float

__all__ = [
    "FilterSection",
    "Fold",
    "Split",
    "SplitSection",
    "filter",
    "k_core",
    "make",
    "read",
    "save",
    "validation",
]
