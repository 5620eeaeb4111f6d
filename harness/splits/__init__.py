"""Ratings filtered, and split into training and test, seeded, hashed and named."""

from harness.splits.base import FilterSection, Split, SplitSection, filter, make, validation
from harness.splits.filters import k_core
from harness.splits.saved import read, save

__all__ = [
    "FilterSection",
    "Split",
    "SplitSection",
    "filter",
    "k_core",
    "make",
    "read",
    "save",
    "validation",
]
